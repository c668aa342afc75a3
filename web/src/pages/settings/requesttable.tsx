import { type ReactNode, useState } from "react";
import type { LoggedRequest } from "../../api/console";
import { ago, count, instant } from "../../lib/format";
import { locale } from "../../text/language";
import { t } from "../../text/settings";
import { Button } from "../../ui/button";
import { Badge, type Tone } from "../../ui/display";
import { DataTable, type TableColumn } from "../../ui/table";

/** How many rows come at once; drawing a thousand takes long. */
const step = 100;

export function RequestTable(p: { rows: LoggedRequest[]; open: (r: LoggedRequest) => void; empty: ReactNode }) {
  const [shown, setShown] = useState(step);
  return (
    <>
      <DataTable
        label={t.requests.title}
        columns={columns}
        rows={p.rows.slice(0, shown)}
        rowKey={(r) => r.id}
        onAction={p.open}
        empty={p.empty}
      />
      {p.rows.length > shown ? (
        <div className="flex items-center justify-center gap-3 py-3 text-sm text-muted">
          {t.requests.shown(count(shown), count(p.rows.length))}
          <Button size="sm" onPress={() => setShown(shown + step)}>
            {t.showMore}
          </Button>
        </div>
      ) : null}
    </>
  );
}

const columns: TableColumn<LoggedRequest>[] = [
  {
    id: "path",
    name: t.requests.request,
    cell: (r) => (
      <span className="flex min-w-0 items-baseline gap-2 font-mono text-xs">
        <span className="w-12 shrink-0 font-medium">{r.method}</span>
        <span className="truncate">{r.path}</span>
      </span>
    ),
  },
  { id: "status", name: t.status, width: 76, cell: (r) => <StatusCode of={r} /> },
  {
    id: "code",
    name: t.requests.errorCode,
    wide: true,
    width: 150,
    cell: (r) => <span className="block truncate text-xs text-muted">{r.code}</span>,
  },
  { id: "took", name: t.requests.duration, align: "end", width: 84, wide: true, cell: (r) => took(r.took) },
  {
    id: "key",
    name: t.requests.key,
    wide: true,
    width: 130,
    cell: (r) => <span className="block truncate">{r.key?.name}</span>,
  },
  { id: "at", name: t.when, wide: true, width: 104, cell: (r) => <span title={instant(r.at)}>{ago(r.at)}</span> },
];

const tones: Record<string, Tone> = { 2: "good", 3: "none", 4: "warn", 5: "bad" };

export function StatusCode({ of }: { of: LoggedRequest }) {
  return <Badge tone={tones[String(of.status)[0] ?? ""] ?? "none"}>{of.status}</Badge>;
}

/** Microseconds as people read them. */
export function took(us: number): string {
  const ms = us / 1000;
  return ms < 10 ? `${ms.toLocaleString(locale, { maximumFractionDigits: 1 })} ms` : `${count(ms)} ms`;
}
