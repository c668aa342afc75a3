import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Plus, UsersRound } from "lucide-react";
import { ago, count, none, words } from "../../lib/format";
import { useMay } from "../../lib/session";
import { useTyped, useView, type View } from "../../lib/view";
import { t } from "../../text/audiences";
import { common } from "../../text/common";
import { Button } from "../../ui/button";
import { Card, PageHeader, Status } from "../../ui/display";
import { Empty, Failed, SkeletonRows } from "../../ui/feedback";
import { SearchField, Select } from "../../ui/fields";
import { ShowCall } from "../../ui/showcall";
import { DataTable, RowLink, type TableColumn } from "../../ui/table";
import { platformName } from "../connections/glyph";
import { useNamed } from "./builder";
import { Create } from "./create";
import { type Audience, audiencesQuery, type Filter, listQuery, typeNames, usesQuery } from "./data";
import { type Named, sentence } from "./sentence";
import { Size } from "./size";

const filters = ["q", "type", "status", "tag"] as const;

function filterOf(view: View): Filter {
  const names = [...filters, "sort", "order"] as const;
  return Object.fromEntries(names.map((n) => [n, view(n)]).filter(([, v]) => v));
}

export function Audiences() {
  const [view, set] = useView();
  const may = useMay("editor");
  const filter = filterOf(view);
  const list = useInfiniteQuery(audiencesQuery(filter));
  const { data: uses } = useQuery(usesQuery);
  const named = useNamed();
  const rows = list.data?.pages.flatMap((p) => p.data) ?? [];
  const filtered = filters.some((f) => filter[f]);
  const make = () => set({ new: "1" });
  return (
    <>
      <PageHeader title={t.title} sub={t.list.sub}>
        <ShowCall call={{ method: "GET", path: "/v1/audiences", query: listQuery(filter) }} />
        {may ? (
          <Button look="primary" onPress={make}>
            <Plus aria-hidden="true" />
            {t.newAudience}
          </Button>
        ) : null}
      </PageHeader>
      <Filters view={view} set={set} rows={rows} />
      <Card flush>
        {list.isError ? (
          <Failed error={list.error} retry={() => list.refetch()} />
        ) : list.isPending ? (
          <SkeletonRows />
        ) : rows.length === 0 ? (
          filtered ? (
            <NoMatch clear={() => set(Object.fromEntries(filters.map((f) => [f, ""])))} />
          ) : (
            <Nothing make={may ? make : undefined} />
          )
        ) : (
          <DataTable
            label={t.title}
            columns={columns(named, uses)}
            rows={rows}
            rowKey={(a) => a.id}
            href={(a) => `/audiences/${a.id}`}
            sort={{ column: view("sort"), direction: view("order") === "asc" ? "ascending" : "descending" }}
            onSort={(s) => set({ sort: String(s.column), order: s.direction === "ascending" ? "asc" : "desc" })}
            more={list.hasNextPage ? () => list.fetchNextPage() : undefined}
            loadingMore={list.isFetchingNextPage}
            empty={null}
          />
        )}
      </Card>
      <Create isOpen={may && view("new") === "1"} onOpenChange={(o) => set({ new: o ? "1" : "" })} />
    </>
  );
}

function Filters({ view, set, rows }: { view: View; set: (next: Record<string, string>) => void; rows: Audience[] }) {
  const [text, setText] = useTyped(view("q"), (q) => set({ q }));
  const tags = [...new Set([...rows.flatMap((r) => r.tags), view("tag")])].filter(Boolean).sort();
  const pick = (name: string, label: string, first: string, ids: readonly string[], of = words) => (
    <Select
      label={label}
      hideLabel
      className="w-36"
      value={view(name) || "any"}
      onChange={(v) => set({ [name]: v === "any" ? "" : v })}
      options={[{ id: "any", label: first }, ...ids.map((id) => ({ id, label: of(id) }))]}
    />
  );
  return (
    <div role="search" className="mb-4 flex flex-wrap items-center gap-2 no-print">
      <SearchField label={t.list.search} value={text} onChange={setText} className="w-56 max-sm:w-full" />
      {pick("type", t.type, t.list.anyType, Object.keys(typeNames), (type) => typeNames[type as Audience["type"]])}
      {pick("status", t.status, t.list.notArchived, ["ready", "processing", "too_small", "failed", "archived", "all"])}
      {tags.length > 0 ? pick("tag", t.list.tag, t.list.anyTag, tags, (tag) => tag) : null}
    </div>
  );
}

function columns(named: Named, uses?: Map<string, number>): TableColumn<Audience>[] {
  return [
    {
      id: "name",
      name: common.name,
      sortable: true,
      cell: (a) => (
        <span className="block">
          <RowLink href={`/audiences/${a.id}`}>{a.name}</RowLink>
          <span className="block truncate text-xs text-muted">
            {a.description || (a.type === "customer_list" ? "" : sentence(a, named))}
          </span>
        </span>
      ),
    },
    { id: "type", name: t.type, width: 130, wide: true, cell: (a) => typeNames[a.type] },
    { id: "status", name: t.status, width: 110, cell: (a) => <Status value={a.status} /> },
    {
      id: "size.estimate",
      name: t.size,
      width: 120,
      align: "end",
      sortable: true,
      cell: (a) => <Size size={a.size} />,
    },
    {
      id: "platforms",
      name: t.list.platforms,
      width: 210,
      wide: true,
      cell: (a) => [...new Set(a.external_refs.map((r) => platformName(r.platform)))].join(", ") || none,
    },
    {
      id: "campaigns",
      name: t.list.campaigns,
      width: 105,
      align: "end",
      wide: true,
      cell: (a) => (uses ? count(uses.get(a.id) ?? 0) : none),
    },
    {
      id: "updated_at",
      name: t.list.updated,
      width: 120,
      align: "end",
      sortable: true,
      wide: true,
      cell: (a) => <span className="whitespace-nowrap text-muted">{ago(a.updated_at)}</span>,
    },
  ];
}

function NoMatch({ clear }: { clear: () => void }) {
  return (
    <Empty title={t.list.noMatch} action={<Button onPress={clear}>{t.list.clear}</Button>}>
      {t.list.noMatchHint}
    </Empty>
  );
}

function Nothing({ make }: { make?: () => void }) {
  return (
    <Empty
      icon={<UsersRound aria-hidden="true" />}
      title={t.list.empty}
      action={
        make ? (
          <Button look="primary" onPress={make}>
            {t.create}
          </Button>
        ) : null
      }
    >
      {t.list.emptyHint}
    </Empty>
  );
}
