// What stands beside a creative: who has approved it, where it comes from and
// which campaigns show it.

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Form } from "react-aria-components";
import { take, v1 } from "../../api/client";
import { count, instant, money, words } from "../../lib/format";
import { useMay } from "../../lib/session";
import { useView } from "../../lib/view";
import { common } from "../../text/common";
import { t } from "../../text/creative";
import { Button, TextLink } from "../../ui/button";
import { Badge, Card, Facts, Status } from "../../ui/display";
import { Failed, Note, Skeleton } from "../../ui/feedback";
import { TextField } from "../../ui/fields";
import { Actions, Dialog } from "../../ui/overlay";
import { say } from "../../ui/toast";
import { type Creative, named, usePatch } from "./data";
import { Generate } from "./generate";
import { FallbackNote } from "./progress";
import { FactList } from "./understood";

export function Approval({ creative: c }: { creative: Creative }) {
  const [deciding, setDeciding] = useState<"approved" | "rejected" | null>(null);
  const may = useMay("editor") && c.status === "ready";
  const { status, by, at, note } = c.approval;
  return (
    <Card
      title={t.approval}
      action={status === "not_required" ? <Badge>{words("not_required")}</Badge> : <Status value={status} />}
    >
      <p className="text-sm text-muted">{t.approvals[status]}</p>
      {note ? <blockquote className="mt-2 border-l-2 border-line-strong pl-3 text-sm">{note}</blockquote> : null}
      {at ? (
        <p className="mt-2 text-xs text-muted">{t.approvals.by(by?.name ?? t.approvals.unknown, instant(at))}</p>
      ) : null}
      {may ? (
        <div className="mt-3 flex gap-2">
          {status === "approved" ? null : (
            <Button size="sm" look="primary" onPress={() => setDeciding("approved")}>
              {t.approve}
            </Button>
          )}
          {status === "rejected" ? null : (
            <Button size="sm" onPress={() => setDeciding("rejected")}>
              {t.reject}
            </Button>
          )}
        </div>
      ) : null}
      <Dialog
        title={deciding === "rejected" ? t.approvals.rejectTitle : t.approvals.approveTitle}
        isOpen={deciding !== null}
        onOpenChange={(o) => !o && setDeciding(null)}
      >
        {(close) => <Decide creative={c} decision={deciding ?? "approved"} close={close} />}
      </Dialog>
    </Card>
  );
}

function Decide({
  creative: c,
  decision,
  close,
}: {
  creative: Creative;
  decision: "approved" | "rejected";
  close: () => void;
}) {
  const [note, setNote] = useState("");
  const patch = usePatch(c.id, true);
  const back = usePatch(c.id);
  const was = c.approval;
  const decide = () =>
    patch.mutate(
      { approval: { status: decision, note: note.trim() || null } },
      {
        onSuccess: () => {
          close();
          say(decision === "approved" ? t.approvals.approveDone : t.approvals.rejectDone, () =>
            back.mutate({ approval: { status: was.status, note: was.note } }),
          );
        },
      },
    );
  return (
    <Form
      className="grid gap-4"
      onSubmit={(e) => {
        e.preventDefault();
        decide();
      }}
    >
      {c.policy.status === "pass" ? null : <Note tone="warn">{t.approvals.policy(c.policy.findings.length)}</Note>}
      <TextField
        label={t.approvals.note}
        hint={decision === "rejected" ? t.approvals.rejectHint : t.approvals.noteHint}
        rows={3}
        value={note}
        onChange={setNote}
        maxLength={1000}
        error={patch.error?.message}
        autoFocus
      />
      <Actions>
        <Button onPress={close}>{common.cancel}</Button>
        <Button type="submit" look={decision === "rejected" ? "danger" : "primary"} busy={patch.isPending}>
          {decision === "rejected" ? t.reject : t.approve}
        </Button>
      </Actions>
    </Form>
  );
}

/** The facts that it was generated from, and the way to correct them. */
export function UsedFacts({ creative: c }: { creative: Creative }) {
  const [view, set] = useView();
  const may = useMay("editor");
  if (!c.generation) return null;
  return (
    <Card title={t.brief} sub={t.briefForm.sub}>
      <FactList creative={c} />
      {may && c.status !== "generating" ? (
        <Button className="mt-3" size="sm" onPress={() => set({ again: "1" })}>
          {t.editBrief}
        </Button>
      ) : null}
      <Generate
        key={c.id}
        from={c}
        isOpen={may && view("again") === "1"}
        onOpenChange={(o) => set({ again: o ? "1" : "" })}
      />
    </Card>
  );
}

export function Origin({ creative: c }: { creative: Creative }) {
  const g = c.generation;
  const cost = g?.cost;
  return (
    <Card title={t.origin.title}>
      <Facts
        items={[
          [t.origin.source, named(c.source)],
          [t.origin.createdBy, c.created_by.name ?? named(c.created_by.type)],
          [t.origin.created, instant(c.created_at)],
          [t.origin.updated, instant(c.updated_at)],
          ...(g
            ? ([
                [t.origin.model, [named(g.provider), g.model].filter(Boolean).join(", ")],
                [
                  t.origin.cost,
                  cost ? (cost.amount === null ? t.origin.costUnknown : money(cost.amount, cost.currency)) : "–",
                ],
                ...(cost && cost.input_tokens + cost.output_tokens > 0
                  ? ([
                      [t.origin.tokens, t.origin.tokenCounts(count(cost.input_tokens), count(cost.output_tokens))],
                    ] as const)
                  : []),
                [
                  t.origin.seed,
                  <span className="num" key="seed">
                    {g.seed}
                  </span>,
                ],
              ] as [string, React.ReactNode][])
            : []),
          ...(c.rights?.licence ? ([[t.origin.license, c.rights.licence]] as [string, string][]) : []),
          ...(c.rights?.expires_at ? ([[t.origin.rightsEnd, instant(c.rights.expires_at)]] as [string, string][]) : []),
          ...(c.tags.length > 0 ? ([[t.tags, c.tags.join(", ")]] as [string, string][]) : []),
          [
            t.origin.id,
            <code className="font-mono text-xs" key="id">
              {c.id}
            </code>,
          ],
        ]}
      />
      {g ? (
        <>
          {g.prompt ? (
            <>
              <h3 className="mt-4 mb-1 text-xs text-muted">{t.origin.prompt}</h3>
              <p className="text-sm whitespace-pre-line break-words">{g.prompt}</p>
            </>
          ) : null}
          {g.negative_prompt ? <p className="mt-1 text-xs text-muted">{t.origin.avoid(g.negative_prompt)}</p> : null}
          <div className="mt-2">
            <FallbackNote creative={c} />
          </div>
          {g.dropped.map((why) => (
            <p key={why} className="mt-2 text-xs text-muted">
              {why}
            </p>
          ))}
        </>
      ) : null}
    </Card>
  );
}

export function UsedIn({ id }: { id: string }) {
  const { data, error, refetch } = useQuery({
    queryKey: ["campaigns", "with-creative", id],
    queryFn: async () =>
      (await take(v1.GET("/v1/campaigns", { params: { query: { creative_id: id, limit: 20 } } }))).data,
  });
  return (
    <Card title={t.origin.campaigns}>
      {error ? (
        <Failed error={error} retry={refetch} />
      ) : !data ? (
        <Skeleton className="h-10 w-full" />
      ) : data.length === 0 ? (
        <p className="text-sm text-muted">{t.origin.noCampaigns}</p>
      ) : (
        <ul className="grid gap-2 text-sm">
          {data.map((c) => (
            <li key={c.id} className="flex items-center justify-between gap-3">
              <TextLink href={`/campaigns/${c.id}`} className="min-w-0 truncate">
                {c.name}
              </TextLink>
              <Status value={c.status} />
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}
