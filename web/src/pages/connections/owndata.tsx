// Data of one's own: files and rows that are sent, for what no platform brings.
import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import { take, v1 } from "../../api/client";
import { ago, count, day, instant, none } from "../../lib/format";
import { useMay } from "../../lib/session";
import { useView } from "../../lib/view";
import { Button } from "../../ui/button";
import { Badge, Card, type Tone } from "../../ui/display";
import { Failed, SkeletonRows } from "../../ui/feedback";
import { ShowCall } from "../../ui/showcall";
import { DataTable, type TableColumn } from "../../ui/table";
import { say } from "../../ui/toast";
import type { Import } from "./queries";

const example = [{ date: "2026-11-01", channel: "email", campaign_name: "November letter", sends: 18250, opens: 7120 }];

export function OwnData() {
  const [, set] = useView();
  const editor = useMay("editor");
  const list = useInfiniteQuery({
    queryKey: ["imports", "list"],
    queryFn: ({ pageParam }) =>
      take(v1.GET("/v1/imports", { params: { query: pageParam ? { limit: 50, cursor: pageParam } : { limit: 50 } } })),
    initialPageParam: "",
    getNextPageParam: (last) => last.next_cursor ?? undefined,
  });
  const rows = list.data?.pages.flatMap((p) => p.data) ?? [];
  return (
    <Card
      flush
      title="Data of your own"
      sub="Numbers that no platform brings: upload files, or have a program send rows. Each source appears above once it has numbers."
      action={
        <div className="flex flex-wrap gap-2 no-print">
          <ShowCall
            size="sm"
            call={{ method: "POST", path: "/v1/ingest/metrics", query: { source: "Newsletter tool" }, body: example }}
          />
          {editor ? (
            <Button size="sm" onPress={() => set({ import: "1" })}>
              Import a file
            </Button>
          ) : null}
        </div>
      }
    >
      {list.error ? (
        <Failed error={list.error} retry={() => list.refetch()} />
      ) : list.isPending ? (
        <SkeletonRows rows={2} />
      ) : (
        <DataTable
          label="Imports"
          columns={columns}
          rows={rows}
          rowKey={(i) => i.id}
          onAction={editor ? (i) => set({ import: i.id }) : undefined}
          more={list.hasNextPage ? () => list.fetchNextPage() : undefined}
          loadingMore={list.isFetchingNextPage}
          empty={
            <p className="px-6 py-8 text-center text-sm text-muted">
              No file was imported yet. CSV, TSV and Parquet are read; exports of the common tools are known.
            </p>
          }
        />
      )}
    </Card>
  );
}

const tones: Record<Import["status"], Tone> = {
  ready: "info",
  needs_mapping: "warn",
  committing: "info",
  committed: "good",
  undone: "none",
  failed: "bad",
};

const called: Record<Import["status"], string> = {
  ready: "Waits for you",
  needs_mapping: "Needs mapping",
  committing: "Storing",
  committed: "Stored",
  undone: "Taken out",
  failed: "Failed",
};

export function ImportState({ value }: { value: Import["status"] }) {
  return (
    <Badge tone={tones[value]} dot>
      {called[value]}
    </Badge>
  );
}

const columns: TableColumn<Import>[] = [
  {
    id: "file",
    name: "File",
    minWidth: 150,
    cell: (i) => <span className="block truncate font-medium">{i.file.name}</span>,
  },
  { id: "status", name: "Status", width: 130, cell: (i) => <ImportState value={i.status} /> },
  {
    id: "source",
    name: "Source",
    wide: true,
    cell: (i) => <span className="block truncate">{i.source}</span>,
  },
  {
    id: "days",
    name: "Days",
    width: 150,
    wide: true,
    cell: (i) => (
      <span className="whitespace-nowrap">
        {i.preview.start_date ? `${day(i.preview.start_date)} – ${day(i.preview.end_date)}` : none}
      </span>
    ),
  },
  { id: "rows", name: "Rows", width: 90, align: "end", cell: (i) => count(i.rows_written ?? i.preview.valid_count) },
  {
    id: "when",
    name: "Uploaded",
    width: 120,
    align: "end",
    wide: true,
    cell: (i) => (
      <span className="whitespace-nowrap" title={instant(i.created_at)}>
        {ago(i.created_at)}
      </span>
    ),
  },
];

/** Takes an import out again. */
export function useUndoImport() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: async (id: string) =>
      (await take(v1.POST("/v1/imports/{id}/undo", { params: { path: { id } }, body: {} as never }))).data,
    onSuccess: (i) => {
      say(`Took ${i.file.name} out again`);
      for (const key of ["imports", "connections", "analytics"]) client.invalidateQueries({ queryKey: [key] });
    },
  });
}
