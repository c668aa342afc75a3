// Rows of an answer as a chart: lines for a series, bars for one dimension, groups of bars for two.

import type { MetricInfo } from "../../lib/catalogue";
import { t } from "../../text/analytics";
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
  if (isSeries(q)) return lines(dims, rows, metric, currency);
  if (dims.length === 0) return null;
  return dims.length === 1 ? bars(dims[0] as string, rows, metric, currency) : groups(dims, rows, metric, currency);
}

const value = (r: Row | undefined, m: Metric) => r?.metrics[m.name] ?? null;

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
  // What has stopped counts as much as what runs.
  const sum = (list: Row[], of: (r: Row) => number | null) => list.reduce((n, r) => n + Math.abs(of(r) ?? 0), 0);
  const size = (list: Row[]) =>
    Math.max(
      sum(list, (r) => value(r, m)),
      sum(list, (r) => r.previous?.[m.name] ?? null),
    );
  return [...by].toSorted((a, b) => size(b[1]) - size(a[1]));
}

/** The buckets of both periods in one order. A bucket that only the previous period has follows the others. */
function bucketsOf(rows: Row[]): { names: string[]; of: (r: Row) => string } {
  const partners = new Map(rows.map((r) => [r.previous_date ?? "", r.dimensions.date ?? ""]));
  const of = (r: Row) => r.dimensions.date || partners.get(r.previous_date ?? "") || r.previous_date || "";
  const dates = new Set(rows.flatMap((r) => (r.dimensions.date ? [r.dimensions.date] : [])));
  const others = new Set(rows.map(of).filter((d) => !dates.has(d)));
  return { names: [...[...dates].toSorted(), ...[...others].toSorted()], of };
}

/** One line for each combination of values, and where there is a comparison another for the previous period. */
function lines(dims: string[], rows: Row[], m: Metric, currency: string): Drawn {
  const { names, of } = bucketsOf(rows);
  const compared = rows.some((r) => r.previous);
  const most = compared ? mostLines / 2 : mostLines;
  const all = ranked(rows, dims, m);
  const drawn = all.slice(0, most).flatMap(([name, list], color) => {
    const now = new Map(list.filter((r) => r.dimensions.date).map((r) => [of(r), r]));
    const before = new Map(list.filter((r) => r.previous).map((r) => [of(r), r]));
    const own = names.map((d) => now.get(d));
    const line = { name: name || m.label, rows: own, values: own.map((r) => value(r, m)), before: false, color };
    if (!compared) return [line];
    const earlier = names.map((d) => before.get(d));
    const values = earlier.map((r) => r?.previous?.[m.name] ?? null);
    return [line, { name: previousOf(name), rows: earlier, values, before: true, color }];
  });
  return {
    data: {
      kind: "line",
      dates: true,
      categories: names,
      series: drawn.map(({ name, values, before, color }) => ({
        name,
        values,
        format: m.format,
        ...(before ? { before } : {}),
        ...(compared && dims.length > 0 ? { color } : {}),
      })),
      currency,
    },
    height: dims.length === 0 ? 300 : 320,
    left: all.length > most ? { drawn: most, of: all.length } : undefined,
    row: (i, s) => drawn[s]?.rows[i],
  };
}

const previousOf = (name: string) => (name ? t.chart.previousOf(name) : t.chart.previous);

function bars(dim: string, rows: Row[], m: Metric, currency: string): Drawn {
  const shown = rows.slice(0, mostBars);
  const upright = ordered.has(dim);
  const series: ChartData["series"] = [{ name: m.label, values: shown.map((r) => value(r, m)), format: m.format }];
  if (shown.some((r) => r.previous)) {
    series.push({
      name: previousOf(""),
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
