// What stands beside a creative: who has approved it, where it comes from and
// which campaigns show it.
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Form } from "react-aria-components";
import { take, v1 } from "../../api/client";
import { count, instant, money } from "../../lib/format";
import { useMay } from "../../lib/session";
import { useView } from "../../lib/view";
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

const said: Record<Creative["approval"]["status"], string> = {
  not_required: "No approval is asked for in this workspace. A decision can be noted all the same.",
  pending: "Campaigns show it once it is approved.",
  approved: "Campaigns may show it.",
  rejected: "Campaigns do not show it.",
};

export function Approval({ creative: c }: { creative: Creative }) {
  const [deciding, setDeciding] = useState<"approved" | "rejected" | null>(null);
  const may = useMay("editor") && c.status === "ready";
  const { status, by, at, note } = c.approval;
  return (
    <Card title="Approval" action={status === "not_required" ? <Badge>Not required</Badge> : <Status value={status} />}>
      <p className="text-sm text-muted">{said[status]}</p>
      {note ? <blockquote className="mt-2 border-l-2 border-line-strong pl-3 text-sm">{note}</blockquote> : null}
      {at ? (
        <p className="mt-2 text-xs text-muted">
          {by?.name ?? "Somebody"}, {instant(at)}
        </p>
      ) : null}
      {may ? (
        <div className="mt-3 flex gap-2">
          {status === "approved" ? null : (
            <Button size="sm" look="primary" onPress={() => setDeciding("approved")}>
              Approve
            </Button>
          )}
          {status === "rejected" ? null : (
            <Button size="sm" onPress={() => setDeciding("rejected")}>
              Reject
            </Button>
          )}
        </div>
      ) : null}
      <Dialog
        title={deciding === "rejected" ? "Reject this creative" : "Approve this creative"}
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
          say(decision === "approved" ? "Approved." : "Rejected.", () =>
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
      {c.policy.status === "pass" ? null : (
        <Note tone="warn">
          The policy check has {c.policy.findings.length} {c.policy.findings.length === 1 ? "finding" : "findings"}.
        </Note>
      )}
      <TextField
        label="Note"
        hint={decision === "rejected" ? "What should change" : "Optional"}
        rows={3}
        value={note}
        onChange={setNote}
        maxLength={1000}
        error={patch.error?.message}
        autoFocus
      />
      <Actions>
        <Button onPress={close}>Cancel</Button>
        <Button type="submit" look={decision === "rejected" ? "danger" : "primary"} busy={patch.isPending}>
          {decision === "rejected" ? "Reject" : "Approve"}
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
    <Card title="Facts" sub="The ad says nothing else.">
      <FactList creative={c} />
      {may && c.status !== "generating" ? (
        <Button className="mt-3" size="sm" onPress={() => set({ again: "1" })}>
          Correct the facts
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
    <Card title="Where it comes from">
      <Facts
        items={[
          ["Source", named(c.source)],
          ["Made by", c.created_by.name ?? named(c.created_by.type)],
          ["Made", instant(c.created_at)],
          ["Changed", instant(c.updated_at)],
          ...(g
            ? ([
                ["Provider", [named(g.provider), g.model].filter(Boolean).join(", ")],
                ["Cost", cost ? (cost.amount === null ? "Not known" : money(cost.amount, cost.currency)) : "–"],
                ...(cost && cost.input_tokens + cost.output_tokens > 0
                  ? ([["Tokens", `${count(cost.input_tokens)} in, ${count(cost.output_tokens)} out`]] as const)
                  : []),
                [
                  "Seed",
                  <span className="num" key="seed">
                    {g.seed}
                  </span>,
                ],
              ] as [string, React.ReactNode][])
            : []),
          ...(c.rights?.licence ? ([["Licence", c.rights.licence]] as [string, string][]) : []),
          ...(c.rights?.expires_at ? ([["Rights end", instant(c.rights.expires_at)]] as [string, string][]) : []),
          ...(c.tags.length > 0 ? ([["Tags", c.tags.join(", ")]] as [string, string][]) : []),
          [
            "Id",
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
              <h3 className="mt-4 mb-1 text-xs text-muted">Prompt</h3>
              <p className="text-sm whitespace-pre-line break-words">{g.prompt}</p>
            </>
          ) : null}
          {g.negative_prompt ? <p className="mt-1 text-xs text-muted">Without: {g.negative_prompt}</p> : null}
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
    <Card title="Campaigns">
      {error ? (
        <Failed error={error} retry={refetch} />
      ) : !data ? (
        <Skeleton className="h-10 w-full" />
      ) : data.length === 0 ? (
        <p className="text-sm text-muted">No campaign shows it yet.</p>
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
