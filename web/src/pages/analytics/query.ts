// A query as it stands in the URL: the body of POST /v1/analytics/query, so that
// what is built here can be sent by any program.

import type { Detail, Schemas } from "../../api/client";
import type { Catalogue } from "../../lib/catalogue";
import { day, words } from "../../lib/format";
import { addDays } from "../../lib/range";
import { t } from "../../text/analytics";
import { locale } from "../../text/language";

type Full = Schemas["AnalyticsQuery"];
export type Row = Schemas["QueryRow"];
export type Result = Schemas["QueryResult"];
export type Leaf = Schemas["FilterLeaf"];
export type Node = Schemas["FilterNode"];
export type DateRange = Schemas["DateRange"];

/** What is left out has the server's default. */
export type Query = Omit<Full, "limit" | "dry_run" | "cursor" | "compare" | "include"> & {
  limit?: number;
  compare?: Partial<Schemas["Compare"]> & Pick<Schemas["Compare"], "to">;
  include?: Partial<Schemas["QueryInclude"]>;
};

export const starters: { name: string; query: Query }[] = [
  {
    name: t.starters.spend,
    query: { metrics: ["spend"], dimensions: ["channel"], date_range: { preset: "last_90_days" }, granularity: "week" },
  },
  {
    name: t.starters.efficiency,
    query: {
      metrics: ["spend", "conversions", "cpa", "roas"],
      dimensions: ["campaign_id"],
      date_range: { preset: "last_30_days" },
      compare: { to: "previous_period" },
    },
  },
  {
    name: t.starters.winners,
    query: {
      metrics: ["ctr", "cvr", "conversions", "spend"],
      dimensions: ["creative_id"],
      date_range: { preset: "last_30_days" },
      filters: { and: [{ field: "impressions", op: "gte", values: [1000] }] },
      order_by: [{ field: "ctr", order: "desc" }],
    },
  },
  {
    name: t.starters.year,
    query: {
      metrics: ["spend", "revenue", "roas"],
      date_range: { preset: "this_month" },
      granularity: "day",
      compare: { to: "previous_year", match_weekday: true },
    },
  },
  {
    name: t.starters.weekdays,
    query: {
      metrics: ["conversions", "cvr", "cpa"],
      dimensions: ["weekday"],
      date_range: { preset: "last_90_days" },
      order_by: [{ field: "weekday", order: "asc" }],
    },
  },
];

const isNames = (v: unknown) => Array.isArray(v) && v.every((x) => typeof x === "string");
const isObject = (v: unknown): v is Record<string, unknown> => typeof v === "object" && v !== null && !Array.isArray(v);

/** What keeps a value from being shown as a query, or null. All else is for the server to judge. */
export function misshapen(v: unknown): string | null {
  if (!isObject(v)) return t.body.query;
  if (!isNames(v.metrics)) return t.body.list("metrics");
  if (v.dimensions !== undefined && !isNames(v.dimensions)) return t.body.list("dimensions");
  for (const name of ["date_range", "compare", "include"]) {
    if (v[name] !== undefined && !isObject(v[name])) return t.body.object(name);
  }
  if (v.filters !== undefined && !conditions(v.filters as Query["filters"]).every(isNode)) {
    return t.body.filters("filters");
  }
  if (v.order_by !== undefined && !(Array.isArray(v.order_by) && v.order_by.every(isObject))) {
    return t.body.objects("order_by");
  }
  return null;
}

function isNode(v: unknown): boolean {
  if (!isObject(v)) return false;
  const inner = v.and ?? v.or;
  if (inner !== undefined) return Array.isArray(inner) && inner.every(isNode);
  if (v.not !== undefined) return isNode(v.not);
  return typeof v.field === "string" && typeof v.op === "string" && (v.values === undefined || Array.isArray(v.values));
}

export function readQuery(v: unknown): Query {
  return misshapen(v) === null ? (v as Query) : (starters[0] as (typeof starters)[0]).query;
}

/** Where a query is shown. */
export function linkTo(q: Query): string {
  return `/analytics?q=${encodeURIComponent(JSON.stringify(q))}`;
}

/** The conditions that must all hold. */
export function conditions(f: Query["filters"]): Node[] {
  if (!f) return [];
  if (Array.isArray(f)) return f;
  return "and" in f ? f.and : [f];
}

export function withConditions(q: Query, list: Node[]): Query {
  return { ...q, filters: list.length > 0 ? { and: list } : undefined };
}

/** What the server finds wrong at a field of the body, or below it. */
export function faultAt(details: Detail[], ...fields: string[]): string | undefined {
  const at = (name: string) =>
    fields.some((f) => name === f || (name.startsWith(f) && [".", "["].includes(name.charAt(f.length))));
  return (
    details
      .filter((d) => d.field && at(d.field))
      .map((d) => d.message)
      .join(" ") || undefined
  );
}

export const isSeries = (q: Query) => !!q.granularity && q.granularity !== "none";

/** What a query asks for, in words. */
export function titleOf(q: Query, catalogue: Catalogue | undefined): string {
  const metric = (n: string) => catalogue?.metrics.find((m) => m.name === n)?.label ?? words(n);
  const dimension = (n: string) => catalogue?.dimensions.find((d) => d.name === n)?.label ?? words(n);
  const list = new Intl.ListFormat(locale, { type: "conjunction" });
  const what = list.format(q.metrics.map((m, i) => (i === 0 ? metric(m) : t.within(metric(m)))));
  const each = isSeries(q) ? t.each[q.granularity as keyof typeof t.each] : "";
  return t.titled(what, list.format((q.dimensions ?? []).map(dimension)), each);
}

const plain = new Set([
  "channel",
  "platform",
  "campaign_status",
  "objective",
  "creative_type",
  "gender",
  "device",
  "weekday",
]);
const regions = new Intl.DisplayNames(locale, { type: "region", fallback: "code" });

/** A value of a dimension as people call it. */
export function valueName(dimension: string, value: string | null, label?: string | null): string {
  if (label) return label;
  if (value === null) return dimension === "date" ? t.value.previousOnly : t.value.missing;
  if (dimension === "date") return day(value);
  if (dimension === "country" && /^[A-Z]{2}$/.test(value)) return regions.of(value) ?? value;
  return plain.has(dimension) ? words(value) : value;
}

/** The value of a dimension in a row, as people call it. */
export function nameIn(row: Row, dimension: string): string {
  return valueName(dimension, row.dimensions[dimension] ?? null, row.labels?.[dimension]);
}

/** What to break down by next, when one value of a dimension is looked at alone. */
const next: Record<string, Schemas["DimensionName"]> = {
  campaign_id: "creative_id",
  campaign_name: "creative_name",
  creative_id: "campaign_id",
  creative_name: "campaign_name",
  creative_type: "creative_id",
};

const finer: Record<string, Schemas["Granularity"]> = {
  year: "month",
  quarter: "month",
  month: "day",
  week: "day",
};

/** The last day of a bucket that begins on a day. */
function bucketEnd(start: string, granularity: string): string {
  if (granularity === "day") return start;
  if (granularity === "week") return addDays(start, 6);
  const months = { month: 1, quarter: 3, year: 12 }[granularity] ?? 1;
  const d = new Date(`${start}T00:00:00Z`);
  d.setUTCMonth(d.getUTCMonth() + months);
  return addDays(d.toISOString().slice(0, 10), -1);
}

function clip(v: string, from: string, to: string): string {
  if (v < from) return from;
  return v > to ? to : v;
}

/** Looks at what a row stands for alone: its values become filters, its bucket the period. */
export function drill(q: Query, row: Row, within: { start_date: string; end_date: string }): Query {
  const had = q.dimensions ?? [];
  const leaves = had.map((field): Leaf => {
    const value = row.dimensions[field];
    return value == null ? { field, op: "is_null" } : { field, op: "eq", values: [value] };
  });
  const out = withConditions({ ...q, order_by: undefined }, [...conditions(q.filters), ...leaves]);
  const filtered = new Set(conditions(out.filters).map((n) => ("field" in n ? n.field : "")));
  const dimension = had.length > 0 ? (next[had[0] as string] ?? "campaign_id") : undefined;
  out.dimensions = dimension && !filtered.has(dimension) ? [dimension] : undefined;
  const date = row.dimensions.date;
  if (date && q.granularity) {
    const end = bucketEnd(date, q.granularity);
    out.date_range = {
      start_date: clip(date, within.start_date, within.end_date),
      end_date: clip(end, within.start_date, within.end_date),
    };
    out.granularity = finer[q.granularity];
  }
  if (!out.dimensions && !out.granularity) out.granularity = out.date_range === q.date_range ? "day" : "none";
  return out;
}

/** The words for operators. */
export const operators: Record<Leaf["op"], string> = t.filter.operators;

/** How many values an operator takes. */
export function operands(op: Leaf["op"]): { least: number; many: boolean } {
  if (op === "is_null" || op === "is_not_null") return { least: 0, many: false };
  if (op === "between") return { least: 2, many: false };
  return { least: 1, many: ["in", "not_in", "contains", "not_contains", "starts_with"].includes(op) };
}
