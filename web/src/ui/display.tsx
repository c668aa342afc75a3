import type { ReactNode } from "react";
import { words } from "../lib/format";
import { useTitle } from "../lib/title";
import { common } from "../text/common";
import { locale } from "../text/language";
import { Boundary } from "./feedback";

export type Tone = "good" | "warn" | "bad" | "info" | "accent" | "none";

const tones: Record<Tone, string> = {
  good: "bg-good-soft text-good",
  warn: "bg-warn-soft text-warn",
  bad: "bg-bad-soft text-bad",
  info: "bg-info-soft text-info",
  accent: "bg-accent-soft text-accent-text",
  none: "bg-sunken text-muted",
};

export function Badge({ tone = "none", dot, children }: { tone?: Tone; dot?: boolean; children: ReactNode }) {
  return (
    <span
      className={`inline-flex h-5 items-center gap-1.5 rounded-full px-2 text-xs font-medium whitespace-nowrap ${tones[tone]}`}
    >
      {dot ? <span aria-hidden="true" className="size-1.5 rounded-full bg-current" /> : null}
      {children}
    </span>
  );
}

/** What the states of records look like, everywhere the same. */
const statusTones: Record<string, Tone> = {
  active: "good",
  delivering: "good",
  ready: "good",
  connected: "good",
  succeeded: "good",
  approved: "good",
  applied: "good",
  paused: "warn",
  limited: "warn",
  pending: "warn",
  pending_start: "info",
  expiring: "warn",
  partial: "warn",
  too_small: "warn",
  reauth_required: "bad",
  blocked: "bad",
  failed: "bad",
  error: "bad",
  rejected: "bad",
  generating: "info",
  processing: "info",
  running: "info",
  queued: "info",
  completed: "accent",
};

export function Status({ value }: { value: string }) {
  return (
    <Badge tone={statusTones[value] ?? "none"} dot>
      {words(value)}
    </Badge>
  );
}

/** The head of a page, and its title in the browser. icon stands before the title. */
export function PageHeader({
  title,
  icon,
  sub,
  back,
  badge,
  children,
}: {
  title: string;
  icon?: ReactNode;
  sub?: ReactNode;
  back?: ReactNode;
  badge?: ReactNode;
  children?: ReactNode;
}) {
  useTitle(title);
  return (
    <header className="mb-5 flex flex-wrap items-start justify-between gap-x-6 gap-y-3">
      <div className="min-w-0">
        {back ? <div className="mb-1 text-sm">{back}</div> : null}
        <div className="flex flex-wrap items-center gap-2.5">
          {icon}
          <h1 className="text-xl font-semibold wrap-anywhere">{title}</h1>
          {badge}
        </div>
        {sub ? <p className="mt-0.5 text-sm text-muted">{sub}</p> : null}
      </div>
      {children ? <div className="flex flex-wrap items-center gap-2 no-print">{children}</div> : null}
    </header>
  );
}

/** A part of a page. An error in its content stays inside. */
export function Card({
  title,
  sub,
  action,
  flush,
  className,
  children,
}: {
  title?: ReactNode;
  sub?: ReactNode;
  action?: ReactNode;
  /** The content reaches the edges, for tables. */
  flush?: boolean;
  className?: string;
  children: ReactNode;
}) {
  return (
    <section className={`card min-w-0 overflow-hidden ${className ?? ""}`}>
      {title ? (
        <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-1 px-4 pt-3.5">
          <div>
            <h2 className="text-base font-semibold">{title}</h2>
            {sub ? <p className="text-xs text-muted">{sub}</p> : null}
          </div>
          {action}
        </div>
      ) : null}
      <div className={flush ? (title ? "pt-3" : "") : "p-4"}>
        <Boundary>{children}</Boundary>
      </div>
    </section>
  );
}

/** Names and values of one record. */
export function Facts({ items }: { items: [ReactNode, ReactNode][] }) {
  return (
    <dl className="grid grid-cols-[minmax(6rem,auto)_1fr] gap-x-6 gap-y-2 text-sm">
      {items.map(([name, value], i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the list is written out where it is used
        <div key={i} className="contents">
          <dt className="text-muted">{name}</dt>
          <dd className="min-w-0 break-words">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** How a figure has changed; better says which way is good. */
export function Delta({ value, better = "up" }: { value: number | null; better?: "up" | "down" | "none" }) {
  if (value === null || !Number.isFinite(value)) return <span className="text-xs text-faint">–</span>;
  const flat = Math.abs(value) < 0.0005;
  const good = value > 0 === (better === "up");
  const tone = flat || better === "none" ? "text-muted" : good ? "text-good" : "text-bad";
  const text = new Intl.NumberFormat(locale, {
    style: "percent",
    maximumFractionDigits: 1,
    signDisplay: "exceptZero",
  }).format(value);
  return (
    <span className={`num text-xs font-medium ${tone}`}>
      <span className="sr-only">{value > 0 ? common.up : common.down} </span>
      {text}
    </span>
  );
}

/** A line of a few days. */
export function Sparkline({
  values,
  width = 96,
  height = 24,
  label,
}: {
  values: number[];
  width?: number;
  height?: number;
  label: string;
}) {
  const top = Math.max(...values, 1);
  const step = values.length > 1 ? width / (values.length - 1) : width;
  const points = values.map(
    (v, i) => `${(i * step).toFixed(1)},${(height - 1.5 - (v / top) * (height - 3)).toFixed(1)}`,
  );
  return (
    <svg
      width={width}
      height={height}
      viewBox={`0 0 ${width} ${height}`}
      role="img"
      aria-label={label}
      className="text-accent"
    >
      <polyline
        points={points.join(" ")}
        fill="none"
        stroke="currentColor"
        strokeWidth="1.5"
        strokeLinejoin="round"
        strokeLinecap="round"
      />
    </svg>
  );
}

/** How much of a limit is used. */
export function Bar({ share, label, tone }: { share: number; label: string; tone?: "accent" | "warn" | "bad" }) {
  const used = Math.min(Math.max(share, 0), 1);
  const colour = { accent: "bg-accent", warn: "bg-warn", bad: "bg-bad-solid" }[
    tone ?? (used >= 1 ? "bad" : used >= 0.8 ? "warn" : "accent")
  ];
  return (
    <div
      role="meter"
      aria-label={label}
      aria-valuenow={Math.round(used * 100)}
      aria-valuemin={0}
      aria-valuemax={100}
      className="h-1.5 w-full overflow-hidden rounded-full bg-sunken"
    >
      <div className={`h-full rounded-full ${colour}`} style={{ width: `${used * 100}%` }} />
    </div>
  );
}

export function Kbd({ children }: { children: ReactNode }) {
  return (
    <kbd className="inline-grid h-4.5 min-w-4.5 place-items-center rounded border border-line bg-sunken px-1 font-sans text-2xs text-muted">
      {children}
    </kbd>
  );
}
