// Where numbers come from: what is connected, whether it works, and what to do where it does not.

import { keepPreviousData, useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Cable, Plus, SearchX, Upload } from "lucide-react";
import { take, v1 } from "../../api/client";
import { ago, count, day, instant, none } from "../../lib/format";
import { useMay } from "../../lib/session";
import { useTyped, useView } from "../../lib/view";
import { t } from "../../text/connections";
import { Button } from "../../ui/button";
import { Card, PageHeader, Status } from "../../ui/display";
import { Empty, Failed, SkeletonRows } from "../../ui/feedback";
import { SearchField, Switch } from "../../ui/fields";
import { ShowCall } from "../../ui/showcall";
import { Spinner } from "../../ui/spinner";
import { DataTable, RowLink, type TableColumn } from "../../ui/table";
import { Connect } from "./connect";
import { explain } from "./explain";
import { Glyph, platformName } from "./glyph";
import { ImportDialog } from "./importdialog";
import { OwnData } from "./owndata";
import { type Connection, syncQuery } from "./queries";

export function Connections() {
  const [view, set] = useView();
  const q = view("q");
  const all = view("all") === "1";
  const [text, setText] = useTyped(q, (v) => set({ q: v }));
  const admin = useMay("admin");
  const editor = useMay("editor");
  const query = { limit: 100, ...(q ? { q } : {}), ...(all ? { status: ["all" as const] } : {}) };
  const list = useInfiniteQuery({
    queryKey: ["connections", "list", query],
    queryFn: ({ pageParam }) =>
      take(v1.GET("/v1/connections", { params: { query: pageParam ? { ...query, cursor: pageParam } : query } })),
    initialPageParam: "",
    getNextPageParam: (last) => last.next_cursor ?? undefined,
    placeholderData: keepPreviousData,
    refetchInterval: 15_000,
  });
  const rows = list.data?.pages.flatMap((p) => p.data) ?? [];
  const narrowed = q !== "" || all;
  return (
    <>
      <PageHeader title={t.title} sub={t.list.sub}>
        <ShowCall call={{ method: "GET", path: "/v1/connections", query }} />
        {editor ? (
          <Button onPress={() => set({ import: "1" })}>
            <Upload aria-hidden="true" />
            {t.importFile}
          </Button>
        ) : null}
        {admin ? (
          <Button look="primary" onPress={() => set({ new: "1" })}>
            <Plus aria-hidden="true" />
            {t.connect.title}
          </Button>
        ) : null}
      </PageHeader>
      <div className="mb-3 flex flex-wrap items-center gap-x-4 gap-y-2 no-print">
        <SearchField label={t.list.search} value={text} onChange={setText} className="w-64 max-sm:w-full" />
        <Switch isSelected={all} onChange={(on) => set({ all: on ? "1" : "" })}>
          {t.list.showDisconnected}
        </Switch>
      </div>
      <Card flush className="mb-6">
        {list.error ? (
          <Failed error={list.error} retry={() => list.refetch()} />
        ) : list.isPending ? (
          <SkeletonRows rows={4} />
        ) : rows.length === 0 && !narrowed ? (
          <Nothing connect={admin ? () => set({ new: "1" }) : undefined} />
        ) : (
          <DataTable
            label={t.title}
            columns={columns}
            rows={rows}
            rowKey={(c) => c.id}
            href={(c) => `/connections/${c.id}`}
            more={list.hasNextPage ? () => list.fetchNextPage() : undefined}
            loadingMore={list.isFetchingNextPage}
            empty={
              <Empty
                icon={<SearchX aria-hidden="true" />}
                title={t.list.noMatch}
                action={<Button onPress={() => set({ q: "", all: "" })}>{t.list.clearFilters}</Button>}
              />
            }
          />
        )}
      </Card>
      <OwnData />
      <Connect isOpen={admin && view("new") === "1"} onOpenChange={(open) => set({ new: open ? "1" : "" })} />
      <ImportDialog
        id={view("import")}
        isOpen={editor && view("import") !== ""}
        onChange={(id) => set({ import: id })}
      />
    </>
  );
}

function Nothing({ connect }: { connect?: () => void }) {
  return (
    <Empty
      icon={<Cable aria-hidden="true" />}
      title={t.list.empty}
      action={
        connect ? (
          <Button look="primary" onPress={connect}>
            {t.connect.title}
          </Button>
        ) : undefined
      }
    >
      {connect ? t.list.emptyHint : t.list.emptyHintOther}
    </Empty>
  );
}

/** The remedy where there is one, otherwise what is wrong. */
function whatToDo(c: Connection, reason: NonNullable<Connection["status_reason"]>): string {
  const { message, fix } = explain(c, reason);
  return c.data_lost_at ? message : (fix ?? message);
}

const columns: TableColumn<Connection>[] = [
  {
    id: "name",
    name: t.connection,
    minWidth: 190,
    cell: (c) => (
      <span className="flex items-center gap-3 py-1">
        <Glyph platform={c.platform} />
        <span className="min-w-0">
          <RowLink href={`/connections/${c.id}`}>{c.name}</RowLink>
          <span className="block text-xs text-muted">{platformName(c.platform)}</span>
        </span>
      </span>
    ),
  },
  {
    id: "status",
    name: t.status,
    minWidth: 140,
    cell: (c) => (
      <span className="block">
        <Status value={c.status} />
        {c.status_reason ? <span className="mt-1 block text-xs text-muted">{whatToDo(c, c.status_reason)}</span> : null}
      </span>
    ),
  },
  {
    id: "accounts",
    width: 96,
    name: t.accounts,
    align: "end",
    wide: true,
    cell: (c) => {
      const on = c.accounts.filter((a) => a.enabled).length;
      return on === c.accounts.length ? count(on) : t.list.accountsOf(count(on), count(c.accounts.length));
    },
  },
  {
    id: "last",
    width: 120,
    name: t.lastSync,
    wide: true,
    cell: (c) =>
      c.sync.state === "idle" ? (
        <span className="whitespace-nowrap" title={instant(c.sync.last_success_at)}>
          {c.sync.last_success_at ? ago(c.sync.last_success_at) : t.never}
        </span>
      ) : (
        <span className="flex items-center gap-1.5 text-info">
          <Spinner /> {t.syncing}
        </span>
      ),
  },
  {
    id: "next",
    width: 120,
    name: t.nextSync,
    wide: true,
    cell: (c) => (
      <span className="whitespace-nowrap" title={instant(c.sync.next_run_at)}>
        {c.sync.interval_minutes === null ? t.list.noSchedule : ago(c.sync.next_run_at)}
      </span>
    ),
  },
  { id: "rows", name: t.rows, width: 100, align: "end", wide: true, cell: (c) => <LastRows id={c.sync.last_run_id} /> },
  {
    id: "through",
    width: 120,
    name: t.dataThrough,
    align: "end",
    wide: true,
    cell: (c) => <span className="whitespace-nowrap">{day(c.sync.data_through)}</span>,
  },
];

/** How many rows the last run has brought. */
function LastRows({ id }: { id: string | null }) {
  const run = useQuery({ ...syncQuery(id ?? ""), enabled: !!id, staleTime: 60_000 });
  return run.data ? count(run.data.totals.records_written) : none;
}
