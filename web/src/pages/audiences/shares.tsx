// Small tables that are charts as well: each row has a bar behind its name.

import type { ReactNode } from "react";
import { count, words } from "../../lib/format";
import { t } from "../../text/audiences";
import { common } from "../../text/common";
import type { Insights } from "./data";

export interface BarRow {
  key: string;
  name: ReactNode;
  /** How long the bar is, 0 to 1. */
  share: number;
  cells: ReactNode[];
}

export function BarTable({ label, heads, rows }: { label: string; heads: ReactNode[]; rows: BarRow[] }) {
  return (
    <div
      tabIndex={0}
      role="region"
      aria-label={label}
      className="overflow-x-auto outline-none focus-visible:ring-focus"
    >
      <table className={`w-full text-sm ${heads.length > 2 ? "min-w-md" : ""}`}>
        <thead>
          <tr className="text-xs text-muted">
            <th scope="col" className="pb-1 text-left font-medium">
              <span className="sr-only">{common.name}</span>
            </th>
            {heads.map((h, i) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: the columns are written out where it is used
              <th key={i} scope="col" className="pb-1 pl-4 text-right font-medium whitespace-nowrap">
                {h}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((r) => (
            <tr key={r.key}>
              <th scope="row" className="relative w-full max-w-0 py-0.5 text-left font-normal">
                <span
                  aria-hidden="true"
                  className="absolute inset-y-0.5 left-0 rounded bg-accent-soft"
                  style={{ width: `${Math.min(Math.max(r.share, 0), 1) * 100}%` }}
                />
                <span className="relative block min-w-20 truncate px-2 py-1">{r.name}</span>
              </th>
              {r.cells.map((c, i) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: the columns are written out where it is used
                <td key={i} className="num pl-4 text-right whitespace-nowrap">
                  {c}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The days of a week by how well they do; the darker the better, and the figure says it too. */
export function Week({ days }: { days: Insights["best_times"] }) {
  const all = days.map((d) => d.index ?? 0);
  const top = Math.max(...all, 1);
  const low = Math.min(...all);
  const strength = (n: number | null) => (n === null || top === low ? 0 : Math.round(((n - low) / (top - low)) * 45));
  return (
    <table className="w-full table-fixed border-separate border-spacing-1 text-center text-sm">
      <thead>
        <tr className="text-xs text-muted">
          {days.map((d) => (
            <th key={d.weekday} scope="col" className="pb-1 font-medium">
              <span className="sr-only">{words(d.weekday)}</span>
              <span aria-hidden="true">{t.insights.shortDay(words(d.weekday))}</span>
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        <tr>
          {days.map((d) => (
            <td
              key={d.weekday}
              className="num h-12 rounded-md font-medium"
              style={{ background: `color-mix(in oklab, var(--accent) ${strength(d.index)}%, var(--sunken))` }}
            >
              {count(d.index)}
            </td>
          ))}
        </tr>
      </tbody>
    </table>
  );
}
