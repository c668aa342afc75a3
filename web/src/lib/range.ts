// The period that pages show. It stands in the URL, so that a link shows the
// same to whoever opens it.
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useSession } from "./session";

export type Comparison = "none" | "previous_period" | "previous_year";

export interface RangeSearch {
  /** Days such as 2026-11-03; without them the last 30 full days. */
  from?: string;
  to?: string;
  compare?: Comparison;
}

export interface Range {
  from: string;
  to: string;
  days: number;
  compare: Comparison;
  /** As parameters of reports. */
  query: { start_date: string; end_date: string; compare?: "previous_period" | "previous_year" };
  granularity: "day" | "week" | "month";
}

const dayMs = 86_400_000;

/** Today in a zone, as a day. */
export function today(zone: string, now = Date.now()): string {
  return new Intl.DateTimeFormat("en-CA", { timeZone: zone, year: "numeric", month: "2-digit", day: "2-digit" }).format(
    now,
  );
}

export function addDays(day: string, n: number): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + n * dayMs).toISOString().slice(0, 10);
}

export function daysBetween(from: string, to: string): number {
  return Math.round((Date.parse(`${to}T00:00:00Z`) - Date.parse(`${from}T00:00:00Z`)) / dayMs) + 1;
}

const isDay = (v: unknown): v is string =>
  typeof v === "string" && /^\d{4}-\d\d-\d\d$/.test(v) && !Number.isNaN(Date.parse(v));

/** Reads the period from a URL; what makes no sense is left out. */
export function readRange(search: Record<string, unknown>): RangeSearch {
  const out: RangeSearch = {};
  if (isDay(search.from) && isDay(search.to) && search.from <= search.to) {
    out.from = search.from;
    out.to = search.to;
  }
  if (search.compare === "none" || search.compare === "previous_year") out.compare = search.compare;
  return out;
}

export function rangeOf(search: RangeSearch, zone: string): Range {
  const to = search.to ?? addDays(today(zone), -1);
  const from = search.from ?? addDays(to, -29);
  const days = daysBetween(from, to);
  const compare = search.compare ?? "previous_period";
  return {
    from,
    to,
    days,
    compare,
    query: { start_date: from, end_date: to, ...(compare === "none" ? {} : { compare }) },
    granularity: days <= 62 ? "day" : days <= 400 ? "week" : "month",
  };
}

/** The period of the page that is open, and how to change it. */
export function useRange(): [Range, (next: RangeSearch) => void] {
  const search = useSearch({ strict: false }) as RangeSearch;
  const navigate = useNavigate();
  const zone = useSession().workspace.timezone;
  const set = (next: RangeSearch) =>
    navigate({ to: ".", replace: true, search: ((old: Record<string, unknown>) => ({ ...old, ...next })) as never });
  return [rangeOf(search, zone), set];
}
