// What is known about an audience: figures, who it is made of, when and what
// works. Nothing is guessed; what nobody has reported is said to be missing.

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { take, v1 } from "../../api/client";
import { better, useMetric } from "../../lib/catalogue";
import { ago, count, day, figure, percent, words } from "../../lib/format";
import { useRange } from "../../lib/range";
import { useSession } from "../../lib/session";
import { useView } from "../../lib/view";
import { warningText } from "../../lib/warnings";
import { t } from "../../text/audiences";
import { common } from "../../text/common";
import { TextLink } from "../../ui/button";
import { Chart } from "../../ui/chart";
import { Card, Delta } from "../../ui/display";
import { Failed, Note, Skeleton } from "../../ui/feedback";
import { Select } from "../../ui/fields";
import { MetricName } from "../../ui/metric";
import { RangePicker } from "../../ui/range";
import { type Insights as Data, namesOf, namesQuery } from "./data";
import { country } from "./places";
import { type BarRow, BarTable, Week } from "./shares";

export function Insights({ id }: { id: string }) {
  const [range] = useRange();
  const [view, set] = useView();
  const baseline = view("baseline") || "workspace";
  const zone = useSession().workspace.timezone;
  const { data: others } = useQuery(namesQuery);
  const period = { start_date: range.from, end_date: range.to };
  const { data, error, refetch } = useQuery({
    queryKey: ["audiences", id, "insights", period, baseline],
    queryFn: async () =>
      (await take(v1.GET("/v1/audiences/{id}/insights", { params: { path: { id }, query: { ...period, baseline } } })))
        .data,
    placeholderData: keepPreviousData,
  });
  return (
    <section aria-label={t.insights.title} className="grid min-w-0 gap-5">
      <div className="flex flex-wrap items-end justify-between gap-3">
        <div>
          <h2 className="text-lg font-semibold">{t.insights.title}</h2>
          <p className="text-xs text-muted">
            {data
              ? t.insights.periodAsOf(day(range.from), day(range.to), zone, ago(data.as_of))
              : t.insights.period(day(range.from), day(range.to), zone)}
          </p>
        </div>
        <div className="flex flex-wrap gap-2 no-print">
          <Select
            label={common.compareWith}
            hideLabel
            className="w-44"
            value={baseline}
            onChange={(v) => set({ baseline: v === "workspace" ? "" : v })}
            options={[
              { id: "workspace", label: t.insights.workspace },
              ...namesOf(others?.filter((a) => a.id !== id)).map((o) => ({ ...o, label: t.insights.versus(o.label) })),
            ]}
          />
          <RangePicker comparable={false} />
        </div>
      </div>
      {error ? (
        <Card>
          <Failed error={error} retry={refetch} />
        </Card>
      ) : data ? (
        <Cards data={data} />
      ) : (
        <Skeleton className="h-96 w-full rounded-lg" />
      )}
    </section>
  );
}

function Cards({ data }: { data: Data }) {
  return (
    <>
      {data.warnings.length > 0 ? (
        <Note tone="warn" title={data.warnings.length > 1 ? t.insights.missing : undefined}>
          {data.warnings.map((w) => (
            <p key={w.code + w.message}>{warningText(w)}</p>
          ))}
        </Note>
      ) : null}
      {data.trend.length > 0 ? <Figures data={data} /> : null}
      <Composition data={data} />
      <div className="grid gap-5 lg:grid-cols-2">
        {data.by_channel.length > 0 ? <Channels data={data} /> : null}
        {data.best_times.length > 0 ? (
          <Card title={t.insights.bestDays} sub={t.insights.bestDaysHint}>
            <Week days={data.best_times} />
          </Card>
        ) : null}
        {data.overlap.length > 0 ? <Overlap data={data} /> : null}
        {data.top_creatives.length > 0 ? <TopCreatives data={data} /> : null}
        {data.campaigns.length > 0 ? <Campaigns data={data} /> : null}
      </div>
    </>
  );
}

const charted = ["impressions", "clicks", "conversions", "spend"] as const;

/** Amounts are parts of the workspace's; the others compare with it. */
const amounts = new Set(["impressions", "clicks", "conversions", "spend", "revenue"]);
const order = ["impressions", "clicks", "ctr", "cpc", "conversions", "cvr", "cpa", "spend", "revenue", "roas"];

function Figures({ data }: { data: Data }) {
  const info = useMetric();
  const currency = useSession().workspace.currency;
  const [view, set] = useView();
  const metric = charted.find((m) => m === view("metric")) ?? "conversions";
  const m = info(metric);
  const shown = order.filter((k) => (data.performance.metrics[k] ?? null) !== null);
  return (
    <Card title={t.insights.performance} sub={t.insights.performanceHint}>
      <dl className="mb-4 grid grid-cols-2 gap-x-6 gap-y-4 sm:grid-cols-5">
        {shown.map((name) => {
          const versus = data.performance.versus_workspace[name];
          return (
            <div key={name}>
              <dt className="text-xs text-muted">
                <MetricName name={name} asOf={data.as_of} />
              </dt>
              <dd className="mt-0.5 flex flex-wrap items-baseline gap-x-2">
                <span className="num text-lg font-semibold">
                  {figure(data.performance.metrics[name], info(name).format, currency, true)}
                </span>
                {versus === null || versus === undefined ? null : amounts.has(name) ? (
                  <span className="num text-xs text-muted">{t.insights.ofWorkspace(percent(versus, 1))}</span>
                ) : (
                  <Delta value={versus - 1} better={better(name)} />
                )}
              </dd>
            </div>
          );
        })}
      </dl>
      <Chart
        title={t.insights.byDay(m.label)}
        toolbar={
          <Select
            label={t.insights.metric}
            hideLabel
            className="w-36"
            value={metric}
            onChange={(v) => set({ metric: v })}
            options={charted.map((id) => ({ id, label: info(id).label }))}
          />
        }
        data={{
          kind: "line",
          dates: true,
          categories: data.trend.map((p) => p.date),
          series: [{ name: m.label, values: data.trend.map((p) => p[metric]), format: m.format }],
          currency,
        }}
      />
    </Card>
  );
}

/** From young to old; who does not say comes last, as letters do. */
const byAge = (a: { value: string }, b: { value: string }) => a.value.localeCompare(b.value);

function Composition({ data }: { data: Data }) {
  const c = data.composition;
  const groups: [string, Data["composition"]["age_range"], (v: string) => string][] = [
    [t.insights.age, c.age_range.toSorted(byAge), words],
    [t.insights.country, c.country, (v) => words(country(v))],
    [t.insights.gender, c.gender, words],
    [t.insights.device, c.device, words],
  ];
  const known = groups.filter(([, parts]) => parts.length > 0);
  if (known.length === 0) return null;
  return (
    <div className="grid gap-5 lg:grid-cols-2">
      {known.map(([name, parts, named]) => (
        <Card key={name} title={name} sub={t.insights.shareHint}>
          <BarTable
            label={t.insights.shareOf(name)}
            heads={[t.insights.share, t.insights.index]}
            rows={parts.slice(0, 10).map((p) => ({
              key: p.value,
              name: named(p.value),
              share: p.share,
              cells: [percent(p.share, 1), count(p.index)],
            }))}
          />
        </Card>
      ))}
    </div>
  );
}

function Channels({ data }: { data: Data }) {
  const info = useMetric();
  const currency = useSession().workspace.currency;
  const shown = ["spend", "conversions", "ctr", "cpa"].filter((m) => data.by_channel.some((c) => m in c.metrics));
  const top = Math.max(...data.by_channel.map((c) => c.metrics.impressions ?? 0), 1);
  return (
    <Card title={t.insights.channels} sub={t.insights.channelsHint}>
      <BarTable
        label={t.insights.channels}
        heads={shown.map((m) => <MetricName key={m} name={m} />)}
        rows={data.by_channel.map((c) => ({
          key: c.channel,
          name: words(c.channel),
          share: (c.metrics.impressions ?? 0) / top,
          cells: shown.map((m) => figure(c.metrics[m], info(m).format, currency, true)),
        }))}
      />
    </Card>
  );
}

const link = (to: string, name: string): ReactNode => <TextLink href={to}>{name}</TextLink>;

function Overlap({ data }: { data: Data }) {
  return (
    <Card title={t.insights.overlap} sub={t.insights.overlapHint}>
      <BarTable
        label={t.insights.overlapLabel}
        heads={[t.insights.shared, t.insights.ofThis, t.insights.ofBoth]}
        rows={data.overlap.map((o) => ({
          key: o.audience_id,
          name: link(`/audiences/${o.audience_id}`, o.name),
          share: o.share_of_this,
          cells: [count(o.shared), percent(o.share_of_this, 1), percent(o.jaccard, 1)],
        }))}
      />
    </Card>
  );
}

function TopCreatives({ data }: { data: Data }) {
  const top = Math.max(...data.top_creatives.map((c) => c.conversions ?? 0), 1);
  const rows: BarRow[] = data.top_creatives.map((c) => ({
    key: c.creative_id,
    name: link(`/creative/${c.creative_id}`, c.name),
    share: (c.conversions ?? 0) / top,
    cells: [count(c.conversions), percent(c.ctr), percent(c.cvr)],
  }));
  return (
    <Card title={t.insights.topCreatives}>
      <BarTable
        label={t.insights.topCreatives}
        heads={["conversions", "ctr", "cvr"].map((m) => <MetricName key={m} name={m} />)}
        rows={rows}
      />
    </Card>
  );
}

function Campaigns({ data }: { data: Data }) {
  const currency = useSession().workspace.currency;
  const top = Math.max(...data.campaigns.map((c) => c.spend ?? 0), 1);
  return (
    <Card title={t.insights.campaigns}>
      <BarTable
        label={t.insights.campaignsLabel}
        heads={["spend", "conversions"].map((m) => <MetricName key={m} name={m} />)}
        rows={data.campaigns.map((c) => ({
          key: c.campaign_id,
          name: link(`/campaigns/${c.campaign_id}`, c.name),
          share: (c.spend ?? 0) / top,
          cells: [figure(c.spend, "currency", currency, true), count(c.conversions)],
        }))}
      />
    </Card>
  );
}
