// Figures of a period with those of the period before: cards and one chart.

import { useNavigate, useSearch } from "@tanstack/react-router";
import { useMemo } from "react";
import type { Schemas } from "../../api/client";
import { better, useMetric } from "../../lib/catalogue";
import { day, type Format, figure } from "../../lib/format";
import { warningText } from "../../lib/warnings";
import { t } from "../../text/overview";
import { Chart, type ChartData } from "../../ui/chart";
import { Card, Delta, Sparkline } from "../../ui/display";
import { Note, Skeleton } from "../../ui/feedback";
import { Select } from "../../ui/fields";
import { MetricName } from "../../ui/metric";

type Values = Schemas["MetricValues"];

/** What a report says about a period, however it was asked for. */
export interface Trend {
  metrics: Values;
  previous: Values | null;
  change: Values | null;
  series: Schemas["OverviewPoint"][];
  meta: Schemas["QueryMeta"];
}

/** One card per metric; grey ones until the figures are there. */
export function Cards({ names, trend, className }: { names: readonly string[]; trend?: Trend; className: string }) {
  return (
    <ul className={`grid gap-px overflow-hidden card bg-line! ${className}`}>
      {names.map((name) => (
        <li key={name} className="@container min-w-0 bg-surface px-4 py-3">
          <p className="truncate text-xs font-medium text-muted">
            <MetricName name={name} freshness={trend?.meta.freshness} asOf={trend?.meta.as_of} />
          </p>
          {trend ? <Figure name={name} trend={trend} /> : <Skeleton className="mt-1.5 h-10 w-28" />}
        </li>
      ))}
    </ul>
  );
}

/** Large figures are shortened; the exact one is in the title. */
const long = 100_000;

function Figure({ name, trend }: { name: string; trend: Trend }) {
  const metric = useMetric()(name);
  const shown = (v?: number | null) =>
    figure(v, metric.format, trend.meta.currency, typeof v === "number" && Math.abs(v) >= long);
  const values = trend.series.map((p) => p.metrics[name]).filter((v): v is number => typeof v === "number");
  const top = Math.max(...values);
  return (
    <div className="mt-0.5 flex items-end justify-between gap-3">
      <div className="min-w-0">
        <p
          className="num text-xl font-semibold tracking-tight"
          title={figure(trend.metrics[name], metric.format, trend.meta.currency)}
        >
          {shown(trend.metrics[name])}
        </p>
        {trend.previous ? (
          <p className="truncate text-xs text-faint">
            <Delta value={trend.change?.[name] ?? null} better={better(name)} />{" "}
            <span className="num">{t.trend.from(shown(trend.previous[name]))}</span>
          </p>
        ) : null}
      </div>
      {values.length > 1 && top > 0 ? (
        <span className="hidden pb-1 @[13rem]:block">
          <Sparkline values={values.map((v) => v / top)} width={72} label={t.trend.sparkline(metric.label)} />
        </span>
      ) : null}
    </div>
  );
}

/** One metric over the period, with the period before drawn faintly. Which one stands in the URL. */
export function TrendCard({ names, trend, height }: { names: readonly string[]; trend?: Trend; height?: number }) {
  const search = useSearch({ strict: false }) as { metric?: string };
  const navigate = useNavigate();
  const metric = useMetric();
  const name = names.find((n) => n === search.metric) ?? names[0] ?? "";
  const { label, format } = metric(name);
  const data = useMemo(() => (trend ? chartOf(trend, name, label, format) : null), [trend, name, label, format]);
  const choose = (v: string) =>
    navigate({ to: ".", replace: true, search: ((old: object) => ({ ...old, metric: v })) as never });
  return (
    <Card>
      {data && trend ? (
        <Chart
          title={t.trend.over(label)}
          data={data}
          height={height}
          toolbar={
            <>
              <div className="mr-auto min-w-0">
                <h2 className="text-base font-semibold">{label}</h2>
                <p className="text-xs text-muted">{through(trend.meta)}</p>
              </div>
              <Select
                label={t.trend.metric}
                hideLabel
                className="w-40 sm:w-48"
                value={name}
                onChange={choose}
                options={names.map((id) => ({ id, label: metric(id).label }))}
              />
            </>
          }
        />
      ) : (
        <Skeleton className="h-72 w-full" />
      )}
    </Card>
  );
}

function chartOf(trend: Trend, name: string, label: string, format: Format): ChartData {
  const of = (values?: Values | null) => values?.[name] ?? null;
  const now = { name: label, values: trend.series.map((p) => of(p.metrics)), format };
  const before = { name: t.trend.previous, values: trend.series.map((p) => of(p.previous)), format, before: true };
  return {
    kind: "line",
    categories: trend.series.map((p) => p.date ?? p.previous_date ?? ""),
    dates: true,
    currency: trend.meta.currency,
    series: trend.previous ? [now, before] : [now],
  };
}

/** What the reader should know about the numbers. */
export function Warnings({ meta }: { meta?: Schemas["QueryMeta"] }) {
  const list = meta?.warnings ?? [];
  if (list.length === 0) return null;
  return (
    <Note tone="warn" title={list.length === 1 ? undefined : t.trend.warnings}>
      <ul className="grid gap-1">
        {list.map((w) => (
          <li key={w.code + w.message}>{warningText(w)}</li>
        ))}
      </ul>
    </Note>
  );
}

/** How far the numbers go, and in whose days. */
function through(meta: Schemas["QueryMeta"]): string {
  const until = meta.freshness.data_through;
  const days = t.trend.days(day(meta.start_date), day(meta.end_date), meta.timezone);
  return until && until < meta.end_date ? t.trend.through(days, day(until)) : days;
}
