// Which campaigns do best, and which do worst.

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Link } from "react-aria-components";
import { type Schemas, take, v1 } from "../../api/client";
import { better, useMetric } from "../../lib/catalogue";
import { figure, money } from "../../lib/format";
import type { Range } from "../../lib/range";
import { t } from "../../text/overview";
import { Card, Delta } from "../../ui/display";
import { Empty, Failed, SkeletonRows } from "../../ui/feedback";
import { Select } from "../../ui/fields";

type Row = Schemas["CampaignReport"]["data"][number];

const ranks = ["roas", "cpa", "conversions", "spend"] as const;
type Rank = (typeof ranks)[number];

// Choice: campaigns with less than a hundredth of the spend are left out, so that
// noise does not win. At most a hundred can have that much: one page holds them all.
const leastShare = 0.01;

const shown = 5;

export const rankOf = (v: unknown): Rank => (ranks.includes(v as Rank) ? (v as Rank) : "roas");

export function Ranking({ range, by }: { range: Range; by: Rank }) {
  const navigate = useNavigate();
  const metric = useMetric();
  const query = {
    ...range.query,
    metrics: ["spend", "spend_share", "conversions", "cpa", "roas"] as const,
    limit: 100,
  };
  const report = useQuery({
    queryKey: ["analytics", "campaigns", query],
    queryFn: () =>
      take(v1.GET("/v1/analytics/campaigns", { params: { query: { ...query, metrics: [...query.metrics] } } })),
    placeholderData: keepPreviousData,
  });
  const rows = ranked(report.data?.data ?? [], by);
  const half = rows.length > shown;
  const currency = report.data?.meta.currency ?? "USD";
  const titles = by === "spend" ? [t.ranking.most, t.ranking.least] : [t.ranking.best, t.ranking.worst];
  return (
    <Card
      title={t.ranking.title}
      sub={t.ranking.sub}
      action={
        <Select
          label={t.ranking.rankedBy}
          hideLabel
          className="w-52 no-print"
          value={by}
          onChange={(v) =>
            navigate({
              to: ".",
              replace: true,
              search: ((old: object) => ({ ...old, by: v === "roas" ? undefined : v })) as never,
            })
          }
          options={ranks.map((id) => ({ id, label: t.ranking.by(metric(id).label) }))}
        />
      }
      flush
    >
      {report.isPending ? (
        <SkeletonRows rows={5} />
      ) : report.isError ? (
        <Failed error={report.error} retry={() => report.refetch()} />
      ) : rows.length === 0 ? (
        <Empty title={t.ranking.empty}>{t.emptyHint}</Empty>
      ) : (
        <div className={`grid border-t border-line ${half ? "lg:grid-cols-2 lg:divide-x lg:divide-line" : ""}`}>
          <Rows title={half ? titles[0] : undefined} rows={rows.slice(0, shown)} by={by} currency={currency} />
          {half ? (
            <Rows
              title={titles[1]}
              rows={rows.slice(Math.max(shown, rows.length - shown)).reverse()}
              by={by}
              currency={currency}
            />
          ) : null}
        </div>
      )}
    </Card>
  );
}

/** From the best to the weakest. */
function ranked(rows: Row[], by: Rank): Row[] {
  const sign = better(by) === "down" ? 1 : -1;
  return rows
    .filter((r) => (r.metrics.spend_share ?? 0) >= leastShare && typeof r.metrics[by] === "number")
    .sort((a, b) => sign * ((a.metrics[by] as number) - (b.metrics[by] as number)));
}

function Rows({ title, rows, by, currency }: { title?: string; rows: Row[]; by: Rank; currency: string }) {
  const metric = useMetric()(by);
  return (
    <div className="min-w-0 py-2">
      {title ? <h3 className="px-4 py-1.5 text-xs font-medium text-muted">{title}</h3> : null}
      <ul>
        {rows.map((r) => (
          <li
            key={r.campaign.id ?? r.campaign.external_id}
            className="flex items-center gap-3 px-4 py-1.5 text-sm hover:bg-hover"
          >
            <CampaignName of={r.campaign} />
            {by === "spend" ? null : (
              <span className="num hidden w-24 shrink-0 text-right text-xs text-muted sm:block">
                {money(r.metrics.spend, currency)}
              </span>
            )}
            <span className="num w-20 shrink-0 text-right font-medium">
              {figure(r.metrics[by], metric.format, currency)}
            </span>
            <span className="w-14 shrink-0 text-right">
              <Delta value={r.change?.[by] ?? null} better={better(by)} />
            </span>
          </li>
        ))}
      </ul>
    </div>
  );
}

function CampaignName({ of: c }: { of: Row["campaign"] }) {
  const name = c.name ?? c.external_id ?? t.ranking.unnamed;
  if (!c.id) {
    return (
      <span className="min-w-0 grow truncate text-muted" title={t.ranking.platformOnly}>
        {name}
      </span>
    );
  }
  return (
    <Link
      href={`/campaigns/${c.id}`}
      className="min-w-0 grow truncate rounded-sm py-0.5 outline-none hover:underline focus-visible:ring-focus"
    >
      {name}
    </Link>
  );
}
