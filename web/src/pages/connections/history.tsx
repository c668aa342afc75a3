// The runs of a connection: how long, how much, and what went wrong.

import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { History as HistoryIcon, SearchX } from "lucide-react";
import { take, v1 } from "../../api/client";
import { ago, count, day, instant, none, words } from "../../lib/format";
import { useView } from "../../lib/view";
import { common } from "../../text/common";
import { t } from "../../text/connections";
import { locale } from "../../text/language";
import { Button } from "../../ui/button";
import { Card, Facts, Status } from "../../ui/display";
import { Empty, Failed, Note, SkeletonRows } from "../../ui/feedback";
import { Select } from "../../ui/fields";
import { Dialog } from "../../ui/overlay";
import { DataTable, type TableColumn } from "../../ui/table";
import { stepsOf } from "./progress";
import { type Connection, type SyncRun, syncQuery } from "./queries";

const outcomes = [
  { id: "", label: t.history.all },
  { id: "failed", label: words("failed") },
  { id: "partial", label: words("partial") },
  { id: "succeeded", label: words("succeeded") },
  { id: "canceled", label: words("canceled") },
];

export function History({ connection: c }: { connection: Connection }) {
  const [view, set] = useView();
  const status = view("outcome");
  const list = useInfiniteQuery({
    queryKey: ["connections", "syncs", c.id, status],
    queryFn: ({ pageParam }) =>
      take(
        v1.GET("/v1/connections/{id}/syncs", {
          params: {
            path: { id: c.id },
            query: {
              limit: 50,
              ...(status ? { status: [status as SyncRun["status"]] } : {}),
              ...(pageParam ? { cursor: pageParam } : {}),
            },
          },
        }),
      ),
    initialPageParam: "",
    getNextPageParam: (last) => last.next_cursor ?? undefined,
  });
  const rows = list.data?.pages.flatMap((p) => p.data) ?? [];
  return (
    <Card
      flush
      title={t.history.title}
      sub={t.history.sub}
      action={
        <Select
          label={t.status}
          hideLabel
          className="w-36"
          value={status}
          onChange={(v) => set({ outcome: v })}
          options={outcomes}
        />
      }
    >
      {list.error ? (
        <Failed error={list.error} retry={() => list.refetch()} />
      ) : list.isPending ? (
        <SkeletonRows rows={4} />
      ) : (
        <DataTable
          label={t.history.title}
          columns={columns}
          rows={rows}
          rowKey={(r) => r.id}
          onAction={(r) => set({ sync: r.id })}
          more={list.hasNextPage ? () => list.fetchNextPage() : undefined}
          loadingMore={list.isFetchingNextPage}
          empty={
            status ? (
              <Empty
                icon={<SearchX aria-hidden="true" />}
                title={t.history.noMatch}
                action={<Button onPress={() => set({ outcome: "" })}>{t.clearFilter}</Button>}
              />
            ) : (
              <Empty icon={<HistoryIcon aria-hidden="true" />} title={t.history.empty} />
            )
          }
        />
      )}
      <RunDialog id={view("sync")} close={() => set({ sync: "" })} />
    </Card>
  );
}

const span = (n: number, unit: string, digits = 0) =>
  new Intl.NumberFormat(locale, { style: "unit", unit, unitDisplay: "short", maximumFractionDigits: digits }).format(n);

/** A span of time such as 1.5 sec or 3 min. */
function took(ms: number | null): string {
  if (ms === null) return none;
  if (ms < 1000) return span(ms, "millisecond");
  const s = ms / 1000;
  return s < 90 ? span(s, "second", 1) : span(s / 60, "minute");
}

const columns: TableColumn<SyncRun>[] = [
  {
    id: "when",
    name: t.history.started,
    minWidth: 140,
    cell: (r) => (
      <span className="block whitespace-nowrap" title={instant(r.started_at ?? r.created_at)}>
        {ago(r.started_at ?? r.created_at)}
      </span>
    ),
  },
  {
    id: "status",
    name: t.status,
    minWidth: 150,
    cell: (r) => (
      <>
        <Status value={r.status} />
        {r.error ? <span className="mt-1 block truncate text-xs text-muted">{r.error.message}</span> : null}
      </>
    ),
  },
  {
    id: "kind",
    name: t.history.type,
    wide: true,
    cell: (r) => `${words(r.trigger)}${r.mode === "incremental" || r.mode === r.trigger ? "" : ` · ${words(r.mode)}`}`,
  },
  {
    id: "days",
    name: common.days,
    wide: true,
    minWidth: 150,
    cell: (r) => (
      <span className="whitespace-nowrap">
        {day(r.window.start_date)} – {day(r.window.end_date)}
      </span>
    ),
  },
  { id: "rows", name: t.rows, align: "end", width: 100, cell: (r) => count(r.totals.records_written) },
  { id: "took", name: t.history.duration, align: "end", width: 90, wide: true, cell: (r) => took(r.duration_ms) },
];

// byThemselves is what happens with errors that nobody has to do anything about.
const byThemselves: Record<string, string> = {
  rate: t.history.rate,
  transient: t.history.transient,
  internal: t.history.internal,
};

function RunDialog({ id, close }: { id: string; close: () => void }) {
  const run = useQuery({ ...syncQuery(id), enabled: id !== "" });
  const r = run.data;
  return (
    <Dialog title={t.history.sync} side isOpen={id !== ""} onOpenChange={(open) => open || close()}>
      {run.error ? <Failed error={run.error} retry={() => run.refetch()} /> : r ? <Run run={r} /> : <SkeletonRows />}
    </Dialog>
  );
}

const metrics: Record<string, string> = t.review.fields;

function Run({ run: r }: { run: SyncRun }) {
  return (
    <div className="grid gap-5">
      {r.error ? (
        <Note tone="bad" title={r.error.message}>
          {r.error.remediation ?? byThemselves[r.error.class]}
          {r.error.code ? <span className="text-muted"> {t.history.platformCode(r.error.code)}</span> : null}
        </Note>
      ) : null}
      <Facts
        items={[
          [t.status, <Status key="s" value={r.status} />],
          [t.history.started, instant(r.started_at ?? r.created_at)],
          [t.history.startedBy, `${words(r.trigger)} · ${r.requested_by.name || words(r.requested_by.type)}`],
          [common.days, `${day(r.window.start_date, true)} – ${day(r.window.end_date, true)}`],
          [t.history.duration, took(r.duration_ms)],
          [t.rows, t.history.rowsReadWritten(count(r.totals.records_read), count(r.totals.records_written))],
          [t.history.calls, t.history.callsWaited(count(r.totals.api_calls), count(r.totals.throttled_seconds))],
          [t.history.restated, r.restated_days.length === 0 ? t.none : count(r.restated_days.length)],
          [
            t.history.id,
            <code key="id" className="font-mono text-xs">
              {r.id}
            </code>,
          ],
        ]}
      />
      <section aria-label={t.history.streams}>
        <h3 className="mb-2 text-sm font-medium">{t.history.streams}</h3>
        <ul className="divide-y divide-line rounded-lg border border-line">
          {r.streams.map((s) => (
            <li key={s.name} className="px-3 py-2">
              <div className="flex flex-wrap items-center justify-between gap-2">
                <span className="text-sm">{words(s.name)}</span>
                <Status value={s.status} />
              </div>
              <p className="num mt-0.5 text-xs text-muted">
                {s.records_quarantined ? t.history.rejected(stepsOf(s), s.records_quarantined) : stepsOf(s)}
              </p>
              {s.error ? (
                <p className="mt-1 text-xs text-bad">
                  {s.error.message} {s.error.remediation ?? byThemselves[s.error.class]}
                </p>
              ) : null}
            </li>
          ))}
        </ul>
      </section>
      {r.drift.length > 0 ? (
        <Note tone="warn" title={t.history.drift}>
          <ul>
            {r.drift.slice(0, 8).map((d) => (
              <li key={`${d.date}${d.account_id}${d.metric}`} className="num">
                {t.history.driftOf(
                  day(d.date),
                  metrics[d.metric] ?? words(d.metric),
                  count(d.platform_total),
                  count(d.stored_total),
                )}
              </li>
            ))}
          </ul>
        </Note>
      ) : null}
    </div>
  );
}
