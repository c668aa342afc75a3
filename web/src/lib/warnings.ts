import type { Schemas } from "../api/client";
import { metrics } from "../text/metrics";
import { words } from "./format";

type Warning = Pick<Schemas["QueryWarning"], "code" | "message"> & Partial<Schemas["QueryWarning"]>;

const w = metrics.warnings;
const label = (name = "") => (metrics.labels as Record<string, string>)[name] ?? words(name);

/** Texts of warnings by code. */
const texts: Record<string, (x: Warning) => string> = {
  sandbox_data: () => w.sandbox,
  stale_connections: (x) => w.stale(x.connection_ids?.length ?? 1),
  mixed_timezones: (x) => w.timezones((x.timezones ?? []).join(", ")),
  overlapping: () => w.overlapping,
  overlapping_conversions: (x) => w.overlappingConversions((x.platforms ?? []).map(words).join(", ")),
  non_additive: (x) => w.nonAdditive(label(x.metric)),
  missing_rate: (x) =>
    x.metric === "pacing" ? w.missingRatePacing(x.currency ?? "") : w.missingRate(x.currency ?? "", x.day_count ?? 1),
  missing_report: (x) => (x.dimension ? w.missingReport(label(x.dimension)) : w.missingReportOther),
  incomplete_data: (x) => w.incomplete(x.day_count ?? 1),
  data_lost: () => w.dataLost,
  changes_lost: () => w.changesLost,
  no_facts: () => w.noFacts,
  no_totals: () => w.noTotals,
  no_breakdown: (x) => w.noBreakdown(label(x.dimension)),
};

/** A warning about numbers in the words of the console. */
export function warningText(x: Warning): string {
  return texts[x.code]?.(x) ?? x.message;
}
