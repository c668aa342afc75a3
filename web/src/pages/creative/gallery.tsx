import { useInfiniteQuery } from "@tanstack/react-query";
import { ImagePlus, LayoutGrid, List, Palette, Sparkles } from "lucide-react";
import { Link, ToggleButton, ToggleButtonGroup } from "react-aria-components";
import { ago, words } from "../../lib/format";
import { useMay } from "../../lib/session";
import { useTyped, useView, type View } from "../../lib/view";
import { common } from "../../text/common";
import { t } from "../../text/creative";
import { Button } from "../../ui/button";
import { Badge, Card, PageHeader, Status } from "../../ui/display";
import { Empty, Failed, Skeleton, SkeletonRows } from "../../ui/feedback";
import { SearchField, Select } from "../../ui/fields";
import { ShowCall } from "../../ui/showcall";
import { DataTable, RowLink, type TableColumn } from "../../ui/table";
import { type Creative, channels, creativesQuery, type Filter, listQuery, named, options } from "./data";
import { Thumb } from "./frames";
import { Generate } from "./generate";
import { Upload } from "./upload";

const filters = ["type", "status", "approval", "channel", "tag"] as const;

function filterOf(view: View): Filter {
  const names = ["q", ...filters, "sort", "order"] as const;
  return Object.fromEntries(names.map((n) => [n, view(n)]).filter(([, v]) => v));
}

export function Gallery() {
  const [view, set] = useView();
  const may = useMay("editor");
  const filter = filterOf(view);
  const list = useInfiniteQuery(creativesQuery(filter));
  const rows = list.data?.pages.flatMap((p) => p.data) ?? [];
  const filtered = Boolean(filter.q) || filters.some((f) => filter[f]);
  const clear = () => set(Object.fromEntries(["q", ...filters].map((f) => [f, ""])));
  const table = view("view") === "table";
  const open = (which: string) => set({ new: which });
  return (
    <>
      <PageHeader title={t.title} sub={t.gallery.sub}>
        <ShowCall call={{ method: "GET", path: "/v1/creative", query: listQuery(filter) }} />
        {may ? (
          <>
            <Button onPress={() => open("own")}>
              <ImagePlus aria-hidden="true" />
              {t.addOwn}
            </Button>
            <Button look="primary" onPress={() => open("1")}>
              <Sparkles aria-hidden="true" />
              {t.gallery.generate}
            </Button>
          </>
        ) : null}
      </PageHeader>
      <Filters view={view} set={set} rows={rows} />
      {list.isError ? (
        <Card>
          <Failed error={list.error} retry={() => list.refetch()} />
        </Card>
      ) : list.isPending ? (
        table ? (
          <Card flush>
            <SkeletonRows />
          </Card>
        ) : (
          <SkeletonCards />
        )
      ) : rows.length === 0 ? (
        <Card>{filtered ? <NoMatch clear={clear} /> : <Nothing make={may ? () => open("1") : undefined} />}</Card>
      ) : table ? (
        <Rows rows={rows} view={view} set={set} more={list.hasNextPage ? () => list.fetchNextPage() : undefined} />
      ) : (
        <Cards rows={rows} />
      )}
      {!table && list.hasNextPage ? (
        <div className="mt-5 flex justify-center">
          <Button onPress={() => list.fetchNextPage()} busy={list.isFetchingNextPage}>
            {t.gallery.more}
          </Button>
        </div>
      ) : null}
      <Generate isOpen={may && view("new") === "1"} onOpenChange={(o) => open(o ? "1" : "")} />
      <Upload isOpen={may && view("new") === "own"} onOpenChange={(o) => open(o ? "own" : "")} />
    </>
  );
}

interface ViewProps {
  view: View;
  set: (next: Record<string, string>) => void;
  rows: Creative[];
}

const any = (label: string, ids: readonly string[]) => [{ id: "any", label }, ...options(ids)];

function Filters({ view, set, rows }: ViewProps) {
  const [text, setText] = useTyped(view("q"), (q) => set({ q }));
  const tags = [...new Set([...rows.flatMap((r) => r.tags), view("tag")])].filter(Boolean).sort();
  const pick = (name: string, label: string, first: string, ids: readonly string[]) => (
    <Select
      label={label}
      hideLabel
      className="w-36"
      value={view(name) || "any"}
      onChange={(v) => set({ [name]: v === "any" ? "" : v })}
      options={any(first, ids)}
    />
  );
  return (
    <div role="search" className="mb-4 flex flex-wrap items-center gap-2 no-print">
      <SearchField label={t.gallery.search} value={text} onChange={setText} className="w-56 max-sm:w-full" />
      {pick("type", t.type, t.gallery.anyType, ["text", "image", "video", "audio", "carousel", "email", "html"])}
      {pick("status", t.status, t.gallery.notArchived, ["generating", "ready", "failed", "archived", "all"])}
      {pick("approval", t.approval, t.gallery.anyApproval, ["not_required", "pending", "approved", "rejected"])}
      {pick("channel", t.channel, t.gallery.anyChannel, channels)}
      {tags.length > 0 ? (
        <Select
          label={t.gallery.tag}
          hideLabel
          className="w-32"
          value={view("tag") || "any"}
          onChange={(v) => set({ tag: v === "any" ? "" : v })}
          options={[{ id: "any", label: t.gallery.anyTag }, ...tags.map((id) => ({ id, label: id }))]}
        />
      ) : null}
      <ToggleButtonGroup
        aria-label={common.showAs}
        selectionMode="single"
        disallowEmptySelection
        selectedKeys={[view("view") || "cards"]}
        onSelectionChange={(k) => set({ view: [...k][0] === "table" ? "table" : "" })}
        className="ml-auto flex rounded-md border border-line-strong p-0.5"
      >
        <Mode id="cards" label={t.gallery.cards} icon={LayoutGrid} />
        <Mode id="table" label={common.table} icon={List} />
      </ToggleButtonGroup>
    </div>
  );
}

function Mode({ id, label, icon: Icon }: { id: string; label: string; icon: typeof List }) {
  return (
    <ToggleButton
      id={id}
      aria-label={label}
      className="grid h-6.5 w-7 cursor-default place-items-center rounded text-faint outline-none data-[hovered]:text-ink data-[selected]:bg-sunken data-[selected]:text-ink data-[focus-visible]:ring-focus"
    >
      <Icon className="size-4" aria-hidden="true" />
    </ToggleButton>
  );
}

const grid = "grid grid-cols-[repeat(auto-fill,minmax(15rem,1fr))] gap-4";

function Cards({ rows }: { rows: Creative[] }) {
  return (
    <ul className={grid}>
      {rows.map((c) => (
        <li key={c.id} className="min-w-0">
          <Link
            href={`/creative/${c.id}`}
            className="card block overflow-hidden outline-none transition-colors hover:border-line-strong focus-visible:ring-focus"
          >
            <span className="block aspect-3/2 overflow-hidden border-b border-line bg-sunken">
              {c.status === "generating" ? (
                <Skeleton className="size-full rounded-none" />
              ) : (
                <Thumb content={c.content} type={c.type} />
              )}
            </span>
            <span className="block p-3">
              <span className="block truncate text-sm font-medium">{c.name}</span>
              <span className="mt-0.5 block truncate text-xs text-muted">
                {[named(c.type), ...c.channels.map(named)].join(" · ")}
              </span>
              <span className="mt-2 flex flex-wrap items-center gap-1.5">
                <Marks creative={c} />
              </span>
            </span>
          </Link>
        </li>
      ))}
    </ul>
  );
}

/** How it stands: its status, the approval where somebody decides, what the check found. */
function Marks({ creative: c }: { creative: Creative }) {
  return (
    <>
      <Status value={c.status} />
      {c.approval.status === "not_required" ? null : (
        <Badge tone={{ approved: "good", rejected: "bad", pending: "warn" }[c.approval.status] as "good"}>
          {
            { approved: words("approved"), rejected: words("rejected"), pending: t.gallery.needsApproval }[
              c.approval.status
            ]
          }
        </Badge>
      )}
      {c.policy.status === "pass" ? null : (
        <Badge tone={c.policy.status === "block" ? "bad" : "warn"}>{t.issues(c.policy.findings.length)}</Badge>
      )}
    </>
  );
}

const columns: TableColumn<Creative>[] = [
  {
    id: "name",
    name: t.name,
    sortable: true,
    cell: (c) => (
      <span className="flex min-w-0 items-center gap-3">
        <span className="grid h-9 w-12 shrink-0 place-items-center overflow-hidden rounded border border-line bg-sunken text-2xs text-faint">
          {c.content.media.length > 0 ? <Thumb content={c.content} type={c.type} /> : "Aa"}
        </span>
        <RowLink href={`/creative/${c.id}`}>{c.name}</RowLink>
      </span>
    ),
  },
  { id: "type", name: t.type, width: 100, wide: true, cell: (c) => named(c.type) },
  {
    id: "status",
    name: t.status,
    width: 200,
    cell: (c) => (
      <span className="flex flex-wrap gap-1.5">
        <Marks creative={c} />
      </span>
    ),
  },
  { id: "channels", name: t.channels, width: 180, wide: true, cell: (c) => c.channels.map(named).join(", ") },
  { id: "variants", name: t.variants, width: 90, align: "end", wide: true, cell: (c) => c.variant_count },
  { id: "source", name: t.gallery.source, width: 100, wide: true, cell: (c) => named(c.source) },
  {
    id: "updated_at",
    name: t.gallery.updated,
    width: 120,
    align: "end",
    sortable: true,
    wide: true,
    cell: (c) => <span className="whitespace-nowrap text-muted">{ago(c.updated_at)}</span>,
  },
];

function Rows({ rows, view, set, more }: ViewProps & { more?: () => void }) {
  return (
    <Card flush>
      <DataTable
        label={t.gallery.label}
        columns={columns}
        rows={rows}
        rowKey={(c) => c.id}
        href={(c) => `/creative/${c.id}`}
        sort={{ column: view("sort"), direction: view("order") === "asc" ? "ascending" : "descending" }}
        onSort={(s) => set({ sort: String(s.column), order: s.direction === "ascending" ? "asc" : "desc" })}
        more={more}
        empty={null}
      />
    </Card>
  );
}

function SkeletonCards() {
  return (
    <div role="status" aria-label={common.loading} className={grid}>
      {["a", "b", "c", "d", "e", "f", "g", "h"].map((k) => (
        <div key={k} className="card overflow-hidden">
          <Skeleton className="aspect-3/2 w-full rounded-none" />
          <div className="grid gap-2 p-3">
            <Skeleton className="h-4 w-2/3" />
            <Skeleton className="h-3 w-1/3" />
          </div>
        </div>
      ))}
    </div>
  );
}

function NoMatch({ clear }: { clear: () => void }) {
  return (
    <Empty title={t.gallery.noMatch} action={<Button onPress={clear}>{t.gallery.clear}</Button>}>
      {t.gallery.noMatchHint}
    </Empty>
  );
}

function Nothing({ make }: { make?: () => void }) {
  return (
    <Empty
      icon={<Palette aria-hidden="true" />}
      title={t.gallery.empty}
      action={
        make ? (
          <Button look="primary" onPress={make}>
            {t.gallery.generate}
          </Button>
        ) : null
      }
    >
      {t.gallery.emptyHint}
    </Empty>
  );
}
