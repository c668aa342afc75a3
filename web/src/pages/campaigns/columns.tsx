// The columns of the list: what each shows, what it is sorted by and what it is
// called in a file.

import type { ReactNode } from "react";
import { better, type useMetric } from "../../lib/catalogue";
import { ago, day, figure, money, none, percent } from "../../lib/format";
import { t } from "../../text/campaigns";
import { Bar, Delta, Status } from "../../ui/display";
import { MetricName } from "../../ui/metric";
import { RowLink, type TableColumn } from "../../ui/table";
import { named } from "../creative/data";
import type { Action } from "./act";
import { type Campaign, type Metric, plainSorts, type Values } from "./data";
import { describe, issuesOf } from "./issues";
import { Toggle } from "./toggle";

/** A campaign and its numbers in the period, and how they changed; undefined while they are not there. */
export interface Line {
  campaign: Campaign;
  values?: Values;
  change?: Values | null;
}

export const metricColumns: Metric[] = [
  "spend",
  "impressions",
  "clicks",
  "ctr",
  "cpc",
  "cpm",
  "conversions",
  "cvr",
  "cpa",
  "revenue",
  "roas",
  "aov",
  "leads",
  "cpl",
  "engagements",
  "video_views",
];

const plainColumns: Record<string, string> = t.columns;

export const presets: Record<string, { label: string; columns: string[] }> = {
  performance: {
    label: t.presets.performance,
    columns: ["status", "budget", "spend", "impressions", "ctr", "conversions", "cpa", "roas"],
  },
  delivery: { label: t.presets.delivery, columns: ["status", "delivery", "budget", "pacing", "schedule", "spend"] },
  conversions: {
    label: t.presets.conversions,
    columns: ["status", "spend", "conversions", "cvr", "cpa", "revenue", "roas", "aov"],
  },
};

/** All columns that can be chosen, with their names. */
export function allColumns(metric: ReturnType<typeof useMetric>): { id: string; label: string }[] {
  return [
    ...Object.entries(plainColumns).map(([id, label]) => ({ id, label })),
    ...metricColumns.map((id) => ({ id, label: metric(id).label })),
  ];
}

/** The columns of a view; what nobody knows is left out. */
export function columnsOf(preset: string, chosen: string[]): string[] {
  const ids = preset === "custom" ? chosen : (presets[preset] ?? presets.performance)?.columns;
  return (ids ?? []).filter((id) => id in plainColumns || metricColumns.includes(id as Metric));
}

/** Whether campaigns can be sorted by a column. A budget cannot: amounts per day and in total do not compare. */
export const sorts = (id: string) => id in plainSorts || id === "pacing" || metricColumns.includes(id as Metric);

/** Which numbers the columns need. */
export function metricsOf(columns: string[]): Metric[] {
  const shown = columns.filter((id) => metricColumns.includes(id as Metric)) as Metric[];
  if (columns.includes("pacing") || columns.includes("budget")) shown.push("pacing");
  return shown.length > 0 ? shown : ["spend"];
}

interface Surroundings {
  currency: string;
  metric: ReturnType<typeof useMetric>;
  totals?: Values;
  /** How the totals changed; undefined where nothing is compared. */
  totalChange?: Values | null;
  may: boolean;
  act: (c: Campaign, action: Action) => void;
}

const widths: Record<string, number> = {
  status: 138,
  delivery: 232,
  budget: 148,
  schedule: 168,
  spend: 112,
  revenue: 112,
  impressions: 108,
  conversions: 108,
  engagements: 108,
  video_views: 108,
  cpa: 96,
};

const plainCells: Record<string, (line: Line, s: Surroundings) => ReactNode> = {
  status: ({ campaign }, s) => <Toggle campaign={campaign} may={s.may} act={s.act} />,
  delivery: ({ campaign }) => <DeliveryCell campaign={campaign} />,
  budget: (line) => <BudgetCell line={line} />,
  pacing: ({ values }) => percent(values?.pacing, 0),
  schedule: ({ campaign }) => <ScheduleCell campaign={campaign} />,
  objective: ({ campaign }) => (campaign.objective ? named(campaign.objective) : none),
  created_at: ({ campaign }) => <span className="whitespace-nowrap">{ago(campaign.created_at)}</span>,
  updated_at: ({ campaign }) => <span className="whitespace-nowrap">{ago(campaign.updated_at)}</span>,
};

export function tableColumns(ids: string[], s: Surroundings): TableColumn<Line>[] {
  const name: TableColumn<Line> = {
    id: "name",
    name: t.campaign,
    sortable: true,
    minWidth: 180,
    cell: ({ campaign }) => <NameCell campaign={campaign} />,
    total: s.totals ? t.total : undefined,
  };
  const rest = ids.map((id): TableColumn<Line> => {
    const plain = plainCells[id];
    const shown = (values?: Values, change?: Values | null) => (
      <Changed now={figure(values?.[id], s.metric(id).format, s.currency)} change={change} metric={id} />
    );
    if (id === "pacing") {
      const cell = (line: Line) => plainCells.pacing?.(line, s);
      return {
        id,
        name: <MetricName name={id} />,
        label: t.columns.pacing,
        sortable: true,
        align: "end",
        width: 88,
        cell,
      };
    }
    if (plain) {
      const sortable = sorts(id);
      return { id, name: plainColumns[id], sortable, width: widths[id] ?? 110, cell: (line) => plain(line, s) };
    }
    return {
      id,
      name: <MetricName name={id} short />,
      label: s.metric(id).label,
      align: "end",
      sortable: true,
      width: widths[id] ?? 84,
      cell: ({ values, change }) => shown(values, change),
      total: s.totals ? shown(s.totals, s.totalChange) : undefined,
    };
  });
  return [name, ...rest];
}

/** A number, and below it how it changed where the period is compared. */
function Changed({ now, change, metric }: { now: string; change?: Values | null; metric: string }) {
  if (!change) return now;
  return (
    <span className="flex flex-col items-end whitespace-nowrap">
      <span>{now}</span>
      <Delta value={change[metric] ?? null} better={better(metric)} />
    </span>
  );
}

function NameCell({ campaign: c }: { campaign: Campaign }) {
  const about = [...c.channels.map(named), ...c.tags.map((t) => `#${t}`)].join(" · ");
  return (
    <div className="min-w-0">
      <RowLink href={`/campaigns/${c.id}`}>{c.name}</RowLink>
      {about ? <span className="block truncate text-xs text-muted">{about}</span> : null}
    </div>
  );
}

function DeliveryCell({ campaign: c }: { campaign: Campaign }) {
  const [first, ...more] = issuesOf(c);
  return (
    <div className="min-w-0">
      <Status value={c.delivery.status} />
      {first ? (
        <span className="mt-0.5 block truncate text-xs text-muted">
          {describe(first, c).title}
          {more.length > 0 ? ` +${more.length}` : ""}
        </span>
      ) : null}
    </div>
  );
}

/** The part of a lifetime budget that is spent; null where there is none or nobody knows. */
export function spentShare(c: Campaign): number | null {
  if (c.budget?.type !== "lifetime" || !c.spend_to_date || c.spend_to_date.currency !== c.budget.currency) return null;
  const amount = Number(c.budget.amount);
  return amount > 0 ? Number(c.spend_to_date.amount) / amount : null;
}

/** The budget, and below it what is spent of it, or for a daily one how spend keeps to the plan. */
function BudgetCell({ line: { campaign: c, values } }: { line: Line }) {
  if (!c.budget) return <span className="text-faint">{none}</span>;
  const spent = spentShare(c);
  const share = spent ?? values?.pacing ?? null;
  const onPlan = share !== null && Math.abs(share - 1) <= 0.1;
  return (
    <div className="min-w-0">
      <span className="num whitespace-nowrap">
        {money(c.budget.amount, c.budget.currency)}
        <span className="text-xs text-muted"> {c.budget.type === "daily" ? t.perDay : t.inTotal}</span>
      </span>
      {share !== null ? (
        <div className="flex items-center gap-2">
          <Bar
            share={share}
            label={(spent === null ? t.planBar : t.budgetBar)(c.name)}
            tone={spent === null ? (onPlan ? "accent" : "warn") : undefined}
          />
          <span className="num shrink-0 text-2xs text-muted">
            {(spent === null ? t.ofPlan : t.ofBudget)(percent(share, 0))}
          </span>
        </div>
      ) : null}
    </div>
  );
}

function ScheduleCell({ campaign: c }: { campaign: Campaign }) {
  const start = c.schedule.start_at ?? c.launched_at;
  if (!start && !c.schedule.end_at) return <span className="text-faint">{none}</span>;
  return (
    <span className="num whitespace-nowrap">
      {start ? day(start) : t.atLaunch} – {c.schedule.end_at ? day(c.schedule.end_at) : t.openEnd}
    </span>
  );
}

/** A line as it stands in a file, in the order of the columns. */
export function fileCells(line: Line, ids: string[]): (string | number | null)[] {
  const c = line.campaign;
  return [
    c.id,
    c.name,
    c.channels.join(" "),
    ...ids.map((id) => {
      if (id === "status") return c.status;
      if (id === "delivery") return c.delivery.status;
      if (id === "objective") return c.objective;
      if (id === "budget") return c.budget ? `${c.budget.amount} ${c.budget.currency} ${c.budget.type}` : null;
      if (id === "schedule") return `${c.schedule.start_at ?? ""}/${c.schedule.end_at ?? ""}`;
      if (id === "created_at") return c.created_at;
      if (id === "updated_at") return c.updated_at;
      return line.values?.[id] ?? null;
    }),
  ];
}
