// Data of one's own: files and rows that are sent, for what no platform brings.

import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import { take, v1 } from "../../api/client";
import { ago, count, day, instant, none } from "../../lib/format";
import { useMay } from "../../lib/session";
import { useView } from "../../lib/view";
import { common } from "../../text/common";
import { t } from "../../text/connections";
import { Button } from "../../ui/button";
import { Badge, Card, type Tone } from "../../ui/display";
import { Failed, SkeletonRows } from "../../ui/feedback";
import { ShowCall } from "../../ui/showcall";
import { DataTable, type TableColumn } from "../../ui/table";
import { say } from "../../ui/toast";
import type { Import } from "./queries";

const example = [
  { date: "2026-11-01", channel: "email", campaign_name: t.own.exampleCampaign, sends: 18250, opens: 7120 },
];

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
      title={t.own.title}
      sub={t.own.sub}
      action={
        <div className="flex flex-wrap gap-2 no-print">
          <ShowCall
            size="sm"
            call={{ method: "POST", path: "/v1/ingest/metrics", query: { source: t.own.exampleSource }, body: example }}
          />
          {editor ? (
            <Button size="sm" onPress={() => set({ import: "1" })}>
              {t.importFile}
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
          label={t.own.imports}
          columns={columns}
          rows={rows}
          rowKey={(i) => i.id}
          onAction={editor ? (i) => set({ import: i.id }) : undefined}
          more={list.hasNextPage ? () => list.fetchNextPage() : undefined}
          loadingMore={list.isFetchingNextPage}
          empty={<p className="px-6 py-8 text-center text-sm text-muted">{t.own.empty}</p>}
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

export function ImportState({ value }: { value: Import["status"] }) {
  return (
    <Badge tone={tones[value]} dot>
      {t.own.states[value]}
    </Badge>
  );
}

const columns: TableColumn<Import>[] = [
  {
    id: "file",
    name: t.file,
    minWidth: 150,
    cell: (i) => <span className="block truncate font-medium">{i.file.name}</span>,
  },
  { id: "status", name: t.status, width: 130, cell: (i) => <ImportState value={i.status} /> },
  {
    id: "source",
    name: t.source,
    wide: true,
    cell: (i) => <span className="block truncate">{i.source}</span>,
  },
  {
    id: "days",
    name: common.days,
    width: 150,
    wide: true,
    cell: (i) => (
      <span className="whitespace-nowrap">
        {i.preview.start_date ? `${day(i.preview.start_date)} – ${day(i.preview.end_date)}` : none}
      </span>
    ),
  },
  { id: "rows", name: t.rows, width: 90, align: "end", cell: (i) => count(i.rows_written ?? i.preview.valid_count) },
  {
    id: "when",
    name: t.own.uploaded,
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
      say(t.own.undone(i.file.name));
      for (const key of ["imports", "connections", "analytics"]) client.invalidateQueries({ queryKey: [key] });
    },
  });
}
