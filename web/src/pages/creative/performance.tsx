// How a creative does over the period of the page.

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { type Schemas, take, v1 } from "../../api/client";
import { better, useMetric } from "../../lib/catalogue";
import { day, figure, words } from "../../lib/format";
import { type Range, useRange } from "../../lib/range";
import { useView } from "../../lib/view";
import { warningText } from "../../lib/warnings";
import { t } from "../../text/creative";
import { Chart } from "../../ui/chart";
import { Card, Delta } from "../../ui/display";
import { Empty, Failed, Note, Skeleton } from "../../ui/feedback";
import { Select } from "../../ui/fields";
import { MetricName } from "../../ui/metric";
import { RangePicker } from "../../ui/range";

const metrics = ["impressions", "clicks", "ctr", "conversions", "cpa", "spend"] as const;
type Metric = (typeof metrics)[number];

function question(id: string, range: Range): Schemas["AnalyticsQuery"] {
  return {
    metrics: [...metrics],
    granularity: range.granularity,
    date_range: { start_date: range.from, end_date: range.to },
    filters: [{ field: "creative_id", op: "eq", values: [id] }],
    ...(range.compare === "none" ? {} : { compare: { to: range.compare, match_weekday: false } }),
    limit: 1000,
    dry_run: false,
  };
}

export function Performance({ id }: { id: string }) {
  const [range] = useRange();
  const { data, error, refetch } = useQuery({
    queryKey: ["analytics", "creative", id, range.query, range.granularity],
    queryFn: () =>
      take(v1.POST("/v1/analytics/query", { body: question(id, range) })) as Promise<Schemas["QueryResult"]>,
    placeholderData: keepPreviousData,
  });
  return (
    <Card
      title={t.performance.title}
      sub={
        data
          ? t.performance.rangeIn(day(range.from), day(range.to), data.meta.timezone)
          : t.performance.range(day(range.from), day(range.to))
      }
      action={
        <div className="flex flex-wrap gap-2">
          <RangePicker />
        </div>
      }
    >
      {error ? (
        <Failed error={error} retry={refetch} />
      ) : !data ? (
        <Skeleton className="h-80 w-full" />
      ) : data.meta.totals?.metrics.impressions ? (
        <Result result={data} />
      ) : (
        <Empty title={t.performance.empty}>{t.performance.emptyHint}</Empty>
      )}
    </Card>
  );
}

function Result({ result }: { result: Schemas["QueryResult"] }) {
  const { meta, data: rows } = result;
  const info = useMetric();
  const [view, set] = useView();
  const metric = metrics.find((m) => m === view("metric")) ?? "clicks";
  const m = info(metric);
  const series = [{ name: m.label, values: rows.map((r) => r.metrics[metric] ?? null), format: m.format }];
  const before = rows.some((r) => r.previous)
    ? [
        {
          name: words("previous_period"),
          values: rows.map((r) => r.previous?.[metric] ?? null),
          format: m.format,
          before: true,
        },
      ]
    : [];
  return (
    <>
      <dl className="mb-4 grid grid-cols-2 gap-x-6 gap-y-4 sm:grid-cols-3 lg:grid-cols-6">
        {metrics.map((name) => (
          <div key={name}>
            <dt className="text-xs text-muted">
              <MetricName name={name} freshness={meta.freshness} asOf={meta.as_of} />
            </dt>
            <dd className="mt-0.5 flex flex-wrap items-baseline gap-x-2">
              <span className="num text-lg font-semibold">
                {figure(meta.totals?.metrics[name], info(name).format, meta.currency, true)}
              </span>
              {meta.totals?.change ? <Delta value={meta.totals.change[name] ?? null} better={better(name)} /> : null}
            </dd>
          </div>
        ))}
      </dl>
      {meta.warnings.map((w) => (
        <div key={w.code + w.message} className="mb-3">
          <Note tone="warn">{warningText(w)}</Note>
        </div>
      ))}
      <Chart
        title={t.performance.overTime(m.label)}
        toolbar={
          <Select
            label={t.performance.metric}
            hideLabel
            className="w-36"
            value={metric}
            onChange={(v) => set({ metric: v as Metric })}
            options={metrics.map((id) => ({ id, label: info(id).label }))}
          />
        }
        data={{
          kind: "line",
          dates: true,
          categories: rows.map((r) => r.dimensions.date ?? r.previous_date ?? ""),
          series: [...series, ...before],
          currency: meta.currency,
        }}
      />
    </>
  );
}
