// Numbers, money and dates in the viewer's locale. Amounts are decimal strings
// and stay exact until they are shown.
import { common } from "../text/common";
import { labels } from "../text/labels";
import { locale } from "../text/language";

const whole = new Intl.NumberFormat(locale, { maximumFractionDigits: 0 });
const compact = new Intl.NumberFormat(locale, { notation: "compact", maximumFractionDigits: 1 });
const fraction = new Intl.NumberFormat(locale, { maximumFractionDigits: 2, minimumFractionDigits: 2 });

/** What stands where there is no figure. */
export const none = "–";

type Figure = string | number | null | undefined;

const missing = (v: Figure): v is null | undefined | "" => v === null || v === undefined || v === "";

export function count(v: Figure): string {
  return missing(v) ? none : whole.format(v as Intl.StringNumericLiteral);
}

export function shortCount(v: Figure): string {
  return missing(v) ? none : compact.format(v as Intl.StringNumericLiteral);
}

const moneyFormats = new Map<string, Intl.NumberFormat>();

/** Formats are costly to make and few. */
function moneyFormat(currency: string, how: "full" | "whole" | "compact"): Intl.NumberFormat {
  const id = `${currency} ${how}`;
  let f = moneyFormats.get(id);
  if (!f) {
    f = new Intl.NumberFormat(locale, {
      style: "currency",
      currency,
      ...(how === "compact" ? { notation: "compact", maximumFractionDigits: 1 } : {}),
      ...(how === "whole" ? { maximumFractionDigits: 0 } : {}),
    });
    moneyFormats.set(id, f);
  }
  return f;
}

export function money(v: Figure, currency: string): string {
  return missing(v) ? none : moneyFormat(currency, "full").format(v as Intl.StringNumericLiteral);
}

export function shortMoney(v: Figure, currency: string): string {
  if (missing(v)) return none;
  const n = Number(v);
  const how = Math.abs(n) >= 10_000 ? "compact" : Number.isInteger(n) ? "whole" : "full";
  return moneyFormat(currency, how).format(v as Intl.StringNumericLiteral);
}

/** A share such as 0.0234 as 2.34 %. */
export function percent(v: Figure, digits = 2): string {
  if (missing(v)) return none;
  return new Intl.NumberFormat(locale, {
    style: "percent",
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  }).format(v as Intl.StringNumericLiteral);
}

export function ratio(v: Figure): string {
  return missing(v) ? none : fraction.format(v as Intl.StringNumericLiteral);
}

/** The formats of the catalogue of metrics. */
export type Format = "count" | "decimal" | "currency" | "ratio" | "number";

/** A figure of a metric; short is for axes and cards. */
export function figure(v: Figure, format: Format | null | undefined, currency: string, short = false): string {
  switch (format) {
    case "currency":
      return short ? shortMoney(v, currency) : money(v, currency);
    case "ratio":
      return percent(v);
    case "number":
      return ratio(v);
    default:
      return short ? shortCount(v) : count(v);
  }
}

const thisYear = new Date().getUTCFullYear();
const shortDay = new Intl.DateTimeFormat(locale, { day: "numeric", month: "short", timeZone: "UTC" });
const longDay = new Intl.DateTimeFormat(locale, { day: "numeric", month: "short", year: "numeric", timeZone: "UTC" });

/** A day such as 2026-11-03, which has no zone. */
export function day(v: string | null | undefined, withYear = false): string {
  if (!v) return none;
  const d = new Date(`${v.slice(0, 10)}T00:00:00Z`);
  return (withYear || d.getUTCFullYear() !== thisYear ? longDay : shortDay).format(d);
}

/** An instant in a zone, the viewer's unless one is given. */
export function instant(v: string | null | undefined, zone?: string): string {
  if (!v) return none;
  return new Date(v).toLocaleString(locale, { dateStyle: "medium", timeStyle: "short", timeZone: zone });
}

const steps: [Intl.RelativeTimeFormatUnit, number][] = [
  ["second", 60],
  ["minute", 60],
  ["hour", 24],
  ["day", 30],
  ["month", 12],
  ["year", Number.POSITIVE_INFINITY],
];

const relative = new Intl.RelativeTimeFormat(locale, { numeric: "auto", style: "short" });

/** How long ago something was or how soon it is. */
export function ago(v: string | null | undefined, now = Date.now()): string {
  if (!v) return none;
  let n = (new Date(v).getTime() - now) / 1000;
  if (Math.abs(n) < 45) return n > 0 ? common.inAMoment : common.justNow;
  for (const [unit, size] of steps) {
    if (Math.abs(n) < size) return relative.format(Math.round(n), unit);
    n /= size;
  }
  return none;
}

/** A value of the API as words: "pending_start" becomes "Pending start", in the language of the page. */
export function words(v: string): string {
  const label = labels[v];
  if (label) return label;
  const s = v.replaceAll("_", " ");
  return s.charAt(0).toUpperCase() + s.slice(1);
}
