// The variants side by side: what each says, how it does, and what to do with it.

import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useMetric } from "../../lib/catalogue";
import { count, figure, words } from "../../lib/format";
import { useMay, useSession } from "../../lib/session";
import { t } from "../../text/creative";
import { Button } from "../../ui/button";
import { Badge, Card, Status } from "../../ui/display";
import { Failed, Note, Skeleton } from "../../ui/feedback";
import { MetricName } from "../../ui/metric";
import { type Creative, useDecide, useMoreLike, type Variant, variantsQuery } from "./data";
import { Edit } from "./edit";
import { Frame } from "./frames";

const metrics = ["impressions", "clicks", "ctr", "conversions", "cvr", "spend", "cpa"] as const;

export function Variants({
  creative: c,
  channel,
  shown,
  show,
}: {
  creative: Creative;
  channel: string;
  /** The variant that the preview shows. */
  shown?: string;
  show: (id: string) => void;
}) {
  const { data, error, refetch } = useQuery(variantsQuery(c.id));
  return (
    <Card title={t.variants} sub={t.variant.sub}>
      {error ? (
        <Failed error={error} retry={refetch} />
      ) : data ? (
        <ul className="-m-1 grid auto-cols-[minmax(15rem,1fr)] grid-flow-col gap-4 overflow-x-auto p-1">
          {data.map((v) => (
            <li key={v.id} className="flex min-w-0 flex-col gap-3">
              <Head variant={v} shown={v.id === shown} show={() => show(v.id)} />
              <div className="grow rounded-lg bg-sunken p-3">
                {v.status === "failed" ? <Blocked variant={v} /> : <Frame channel={channel} content={v.content} />}
              </div>
              <Work creative={c} variant={v} />
              <Figures variant={v} />
            </li>
          ))}
        </ul>
      ) : (
        <div className="flex gap-4">
          <Skeleton className="h-64 w-72" />
          <Skeleton className="h-64 w-72" />
        </div>
      )}
    </Card>
  );
}

const parts: Record<string, string> = t.variant.parts;

function Head({ variant: v, shown, show }: { variant: Variant; shown: boolean; show: () => void }) {
  return (
    <div>
      <div className="flex min-h-7 items-center justify-between gap-2">
        <h3 className="truncate text-sm font-medium">{v.name}</h3>
        {shown ? (
          <span className="text-xs text-muted">{t.variant.shown}</span>
        ) : (
          <Button size="sm" look="quiet" onPress={show} aria-label={t.variant.showOf(v.name)}>
            {t.variant.show}
          </Button>
        )}
      </div>
      <div className="mt-1 flex min-h-5 flex-wrap items-center gap-1.5">
        {v.status === "ready" ? null : <Status value={v.status} />}
        {v.is_primary ? <Badge tone="accent">{t.variant.primary}</Badge> : null}
        {v.approval ? <Status value={v.approval.status} /> : null}
        {v.is_control ? <Badge>{t.variant.control}</Badge> : null}
        <span className="num text-xs text-muted">{t.variant.traffic(v.weight)}</span>
      </div>
      <p className="mt-1 truncate text-xs text-muted">
        {v.differences.length > 0
          ? t.variant.differs(v.differences.map((d) => parts[d] ?? words(d)).join(", "))
          : t.variant.baseline}
      </p>
    </div>
  );
}

/** What people do with a variant. */
function Work({ creative: c, variant: v }: { creative: Creative; variant: Variant }) {
  const [editing, setEditing] = useState(false);
  const decide = useDecide(v);
  const more = useMoreLike();
  const navigate = useNavigate();
  if (!useMay("editor") || c.status !== "ready") return null;
  const decision = v.approval?.status;
  return (
    <div className="flex flex-wrap gap-1.5">
      <Button size="sm" onPress={() => setEditing(true)} aria-label={t.variant.editOf(v.name)}>
        {t.edit}
      </Button>
      {decision === "approved" || v.status !== "ready" ? null : (
        <Button
          size="sm"
          busy={decide.isPending && decide.variables === "approve"}
          onPress={() => decide.mutate("approve")}
          aria-label={t.variant.approveOf(v.name)}
        >
          {t.approve}
        </Button>
      )}
      {decision === "rejected" || v.status !== "ready" ? null : (
        <Button
          size="sm"
          busy={decide.isPending && decide.variables === "reject"}
          onPress={() => decide.mutate("reject")}
          aria-label={t.variant.rejectOf(v.name)}
        >
          {t.reject}
        </Button>
      )}
      {c.generation ? (
        <Button
          size="sm"
          busy={more.isPending}
          aria-label={t.variant.likeOf(v.name)}
          onPress={() =>
            more.mutate(v.id, { onSuccess: (made) => navigate({ to: "/creative/$id", params: { id: made.id } }) })
          }
        >
          {t.variant.like}
        </Button>
      ) : null}
      <Edit creative={c} variant={v} isOpen={editing} onOpenChange={setEditing} />
    </div>
  );
}

function Blocked({ variant: v }: { variant: Variant }) {
  return (
    <Note tone="bad" title={t.variant.blocked}>
      {v.policy.findings
        .filter((f) => f.severity === "block")
        .map((f) => f.message)
        .join(" ")}
    </Note>
  );
}

function Figures({ variant: v }: { variant: Variant }) {
  const currency = useSession().workspace.currency;
  const info = useMetric();
  const known = v.metrics && Object.values(v.metrics).some((n) => n !== null);
  return (
    <div className="text-xs">
      {known ? (
        <dl>
          {metrics.map((m) => (
            <div key={m} className="flex min-h-6 items-center justify-between gap-4">
              <dt className="text-muted">
                <MetricName name={m} />
              </dt>
              <dd className="num">
                {m === "impressions" || m === "clicks"
                  ? count(v.metrics?.[m])
                  : figure(v.metrics?.[m], info(m).format, currency)}
              </dd>
            </div>
          ))}
        </dl>
      ) : (
        <p className="text-muted">{t.variant.noMetrics}</p>
      )}
    </div>
  );
}
