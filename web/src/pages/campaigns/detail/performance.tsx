// How one campaign does in the period.

import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { useRange } from "../../../lib/range";
import { t } from "../../../text/campaigns";
import { Card } from "../../../ui/display";
import { Empty, Failed } from "../../../ui/feedback";
import { RangePicker } from "../../../ui/range";
import { Cards, type Trend, TrendCard, Warnings } from "../../overview/figures";
import { type Campaign, type Metric, type Numbers, numbersQuery, type Query } from "../data";

const metrics: Metric[] = ["spend", "conversions", "cpa", "revenue", "roas", "impressions", "clicks", "ctr"];

function trendOf({ data, meta }: Numbers): Trend {
  const { metrics: now = {}, previous = null, change = null } = meta.totals ?? {};
  return {
    metrics: now,
    previous,
    change,
    series: data.map((r) => ({ ...r, date: r.dimensions.date ?? null })),
    meta,
  };
}

export function Performance({ campaign }: { campaign: Campaign }) {
  const [range] = useRange();
  const body: Query = {
    metrics,
    date_range: { start_date: range.from, end_date: range.to },
    granularity: range.granularity,
    filters: { field: "campaign_id", op: "eq", values: [campaign.id] },
    ...(range.compare === "none" ? {} : { compare: { to: range.compare, match_weekday: false } }),
  };
  const report = useQuery(numbersQuery(body));
  const trend = useMemo(() => (report.data ? trendOf(report.data) : undefined), [report.data]);
  const silent = trend?.series.every((p) => Object.values(p.metrics).every((v) => !v));
  return (
    <section aria-labelledby="performance">
      <div className="mb-3 flex flex-wrap items-center justify-between gap-2">
        <h2 id="performance" className="text-base font-semibold">
          {t.detail.performance}
        </h2>
        <div className="flex flex-wrap gap-2 no-print">
          <RangePicker />
        </div>
      </div>
      {report.isError ? (
        <Card>
          <Failed error={report.error} retry={() => report.refetch()} />
        </Card>
      ) : silent ? (
        <Card>
          <Empty title={t.detail.noMetrics}>{why(campaign)}</Empty>
        </Card>
      ) : (
        <div className="grid gap-4">
          <Warnings meta={trend?.meta} />
          <Cards names={metrics} trend={trend} className="grid-cols-2 sm:grid-cols-4" />
          <TrendCard names={metrics} trend={trend} height={220} />
        </div>
      )}
    </section>
  );
}

function why(c: Campaign): string {
  if (!c.launched_at) return t.detail.notLaunched;
  if (c.external_refs.length === 0) return t.detail.notLinkedMetrics;
  return t.detail.otherPeriod;
}
