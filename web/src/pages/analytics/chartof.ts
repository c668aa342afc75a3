// Rows of an answer as a chart: lines for a series, bars for one dimension, groups of bars for two.
import type { MetricInfo } from "../../lib/catalogue";
import type { ChartData } from "../../ui/chart";
import { isSeries, nameIn, type Query, type Row } from "./query";

const mostLines = 8;
const mostBars = 20;
const mostGroups = 12;

/** Dimensions whose values have an order that is not one of size. */
const ordered = new Set(["weekday", "age_range"]);

export interface Drawn {
  data: ChartData;
  height: number;
  /** How many of how many values are drawn, where it is not all. */
  left?: { drawn: number; of: number };
  /** The row behind a point. */
  row: (category: number, series: number) => Row | undefined;
}

type Metric = Pick<MetricInfo, "label"> & { name: string; format: ChartData["series"][number]["format"] };

/** Draws one metric of the rows; null where there is only one number. */
export function chartOf(q: Query, rows: Row[], metric: Metric, currency: string): Drawn | null {
  const dims = q.dimensions ?? [];
  if (rows.length === 0) return null;
  if (isSeries(q)) return dims.length === 0 ? line(rows, metric, currency) : lines(dims, rows, metric, currency);
  if (dims.length === 0) return null;
  return dims.length === 1 ? bars(dims[0] as string, rows, metric, currency) : groups(dims, rows, metric, currency);
}

const value = (r: Row | undefined, m: Metric) => r?.metrics[m.name] ?? null;

function line(rows: Row[], m: Metric, currency: string): Drawn {
  const sorted = rows.toSorted((a, b) => String(a.dimensions.date).localeCompare(String(b.dimensions.date)));
  const series: ChartData["series"] = [{ name: m.label, values: sorted.map((r) => value(r, m)), format: m.format }];
  if (sorted.some((r) => r.previous)) {
    const values = sorted.map((r) => r.previous?.[m.name] ?? null);
    series.push({ name: "Before", values, format: m.format, before: true });
  }
  return {
    data: { kind: "line", dates: true, categories: sorted.map((r) => String(r.dimensions.date)), series, currency },
    height: 300,
    row: (i) => sorted[i],
  };
}

const keyOf = (r: Row, dims: string[]) => dims.map((d) => nameIn(r, d)).join(" · ");

/** The largest values first, and the rows of each. */
function ranked(rows: Row[], dims: string[], m: Metric): [string, Row[]][] {
  const by = new Map<string, Row[]>();
  for (const r of rows) {
    const key = keyOf(r, dims);
    const list = by.get(key);
    if (list) list.push(r);
    else by.set(key, [r]);
  }
  const sum = (list: Row[]) => list.reduce((n, r) => n + Math.abs(value(r, m) ?? 0), 0);
  return [...by].toSorted((a, b) => sum(b[1]) - sum(a[1]));
}

function lines(dims: string[], rows: Row[], m: Metric, currency: string): Drawn {
  const dates = [...new Set(rows.map((r) => String(r.dimensions.date)))].toSorted();
  const all = ranked(rows, dims, m);
  const shown = all.slice(0, mostLines).map(([name, list]) => {
    const byDate = new Map(list.map((r) => [String(r.dimensions.date), r]));
    return { name, rows: dates.map((d) => byDate.get(d)) };
  });
  return {
    data: {
      kind: "line",
      dates: true,
      categories: dates,
      series: shown.map((s) => ({ name: s.name, values: s.rows.map((r) => value(r, m)), format: m.format })),
      currency,
    },
    height: 320,
    left: all.length > mostLines ? { drawn: mostLines, of: all.length } : undefined,
    row: (i, s) => shown[s]?.rows[i],
  };
}

function bars(dim: string, rows: Row[], m: Metric, currency: string): Drawn {
  const shown = rows.slice(0, mostBars);
  const upright = ordered.has(dim);
  const series: ChartData["series"] = [{ name: m.label, values: shown.map((r) => value(r, m)), format: m.format }];
  if (shown.some((r) => r.previous)) {
    series.push({
      name: "Before",
      values: shown.map((r) => r.previous?.[m.name] ?? null),
      format: m.format,
      before: true,
    });
  }
  return {
    data: { kind: upright ? "bar" : "hbar", categories: shown.map((r) => nameIn(r, dim)), series, currency },
    height: upright ? 300 : 56 + shown.length * (series.length > 1 ? 34 : 26),
    left: rows.length > mostBars ? { drawn: mostBars, of: rows.length } : undefined,
    row: (i) => shown[i],
  };
}

function groups(dims: string[], rows: Row[], m: Metric, currency: string): Drawn {
  const [first, ...rest] = dims as [string, ...string[]];
  const names = [...new Set(rows.map((r) => nameIn(r, first)))];
  const categories = names.slice(0, mostGroups);
  const all = ranked(rows, rest, m);
  const shown = all.slice(0, mostLines).map(([name, list]) => {
    const byName = new Map(list.map((r) => [nameIn(r, first), r]));
    return { name, rows: categories.map((c) => byName.get(c)) };
  });
  return {
    data: {
      kind: "bar",
      categories,
      series: shown.map((s) => ({ name: s.name, values: s.rows.map((r) => value(r, m)), format: m.format })),
      currency,
    },
    height: 340,
    left: names.length > mostGroups ? { drawn: mostGroups, of: names.length } : undefined,
    row: (i, s) => shown[s]?.rows[i],
  };
}
