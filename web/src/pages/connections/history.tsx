// The runs of a connection: how long, how much, and what went wrong.
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { History as HistoryIcon, SearchX } from "lucide-react";
import { take, v1 } from "../../api/client";
import { ago, count, day, instant, none, words } from "../../lib/format";
import { useView } from "../../lib/view";
import { Button } from "../../ui/button";
import { Card, Facts, Status } from "../../ui/display";
import { Empty, Failed, Note, SkeletonRows } from "../../ui/feedback";
import { Select } from "../../ui/fields";
import { Dialog } from "../../ui/overlay";
import { DataTable, type TableColumn } from "../../ui/table";
import { streamNames } from "./progress";
import { type Connection, type SyncRun, syncQuery } from "./queries";

const outcomes = [
  { id: "", label: "All runs" },
  { id: "failed", label: "Failed" },
  { id: "partial", label: "Partial" },
  { id: "succeeded", label: "Succeeded" },
  { id: "canceled", label: "Canceled" },
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
      title="Syncs"
      sub="Kept for 90 days."
      action={
        <Select
          label="Outcome"
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
          label="Syncs"
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
                title="No run ended like that"
                action={<Button onPress={() => set({ outcome: "" })}>Clear the filter</Button>}
              />
            ) : (
              <Empty icon={<HistoryIcon aria-hidden="true" />} title="Nothing was synced yet" />
            )
          }
        />
      )}
      <RunDialog id={view("sync")} close={() => set({ sync: "" })} />
    </Card>
  );
}

/** A span of time such as 1.5 s or 3 min. */
function took(ms: number | null): string {
  if (ms === null) return none;
  if (ms < 1000) return `${count(ms)} ms`;
  const s = ms / 1000;
  return s < 90 ? `${s.toFixed(1)} s` : `${count(s / 60)} min`;
}

const columns: TableColumn<SyncRun>[] = [
  {
    id: "when",
    name: "Started",
    minWidth: 140,
    cell: (r) => (
      <span className="block whitespace-nowrap" title={instant(r.started_at ?? r.created_at)}>
        {ago(r.started_at ?? r.created_at)}
      </span>
    ),
  },
  {
    id: "status",
    name: "Status",
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
    name: "Kind",
    wide: true,
    cell: (r) => `${words(r.trigger)}${r.mode === "incremental" || r.mode === r.trigger ? "" : `, ${r.mode}`}`,
  },
  {
    id: "days",
    name: "Days",
    wide: true,
    minWidth: 150,
    cell: (r) => (
      <span className="whitespace-nowrap">
        {day(r.window.start_date)} – {day(r.window.end_date)}
      </span>
    ),
  },
  { id: "rows", name: "Rows", align: "end", width: 100, cell: (r) => count(r.totals.records_written) },
  { id: "took", name: "Took", align: "end", width: 90, wide: true, cell: (r) => took(r.duration_ms) },
];

// byThemselves is what happens with errors that nobody has to do anything about.
const byThemselves: Record<string, string> = {
  rate: "The platform wants fewer calls. The next run goes on by itself.",
  transient: "It is tried again by itself.",
  internal: "It is tried again by itself. If it stays, look into the server's log.",
};

function RunDialog({ id, close }: { id: string; close: () => void }) {
  const run = useQuery({ ...syncQuery(id), enabled: id !== "" });
  const r = run.data;
  return (
    <Dialog title="Sync" side isOpen={id !== ""} onOpenChange={(open) => open || close()}>
      {run.error ? <Failed error={run.error} retry={() => run.refetch()} /> : r ? <Run run={r} /> : <SkeletonRows />}
    </Dialog>
  );
}

function Run({ run: r }: { run: SyncRun }) {
  return (
    <div className="grid gap-5">
      {r.error ? (
        <Note tone="bad" title={r.error.message}>
          {r.error.remediation ?? byThemselves[r.error.class]}
          {r.error.code ? <span className="text-muted"> The platform's code is {r.error.code}.</span> : null}
        </Note>
      ) : null}
      <Facts
        items={[
          ["Status", <Status key="s" value={r.status} />],
          ["Started", instant(r.started_at ?? r.created_at)],
          ["By", `${words(r.trigger)}, ${r.requested_by.name || words(r.requested_by.type)}`],
          ["Days", `${day(r.window.start_date, true)} – ${day(r.window.end_date, true)}`],
          ["Took", took(r.duration_ms)],
          ["Rows", `${count(r.totals.records_read)} read, ${count(r.totals.records_written)} written`],
          ["Calls", `${count(r.totals.api_calls)}, waited ${count(r.totals.throttled_seconds)} s`],
          ["Days that changed", r.restated_days.length === 0 ? "None" : count(r.restated_days.length)],
          [
            "Id",
            <code key="id" className="font-mono text-xs">
              {r.id}
            </code>,
          ],
        ]}
      />
      <section aria-label="Streams">
        <h3 className="mb-2 text-sm font-medium">What was read</h3>
        <ul className="divide-y divide-line rounded-lg border border-line">
          {r.streams.map((s) => (
            <li key={s.name} className="px-3 py-2">
              <div className="flex flex-wrap items-center justify-between gap-2">
                <span className="text-sm">{streamNames[s.name] ?? words(s.name)}</span>
                <Status value={s.status} />
              </div>
              <p className="num mt-0.5 text-xs text-muted">
                {count(s.slices_done)} of {count(s.slices_total)} parts, {count(s.records_written)} rows
                {s.records_quarantined ? `, ${count(s.records_quarantined)} could not be stored` : ""}
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
        <Note tone="warn" title="The platform's totals differ from what is stored">
          <ul>
            {r.drift.slice(0, 8).map((d) => (
              <li key={`${d.date}${d.account_id}${d.metric}`} className="num">
                {day(d.date)}, {words(d.metric).toLowerCase()}: {count(d.platform_total)} there, {count(d.stored_total)}{" "}
                here
              </li>
            ))}
          </ul>
        </Note>
      ) : null}
    </div>
  );
}
