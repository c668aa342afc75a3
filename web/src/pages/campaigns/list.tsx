// All campaigns with their numbers.
import { useInfiniteQuery, useQueries, useQuery } from "@tanstack/react-query";
import { Megaphone, Plus } from "lucide-react";
import { useEffect, useMemo, useRef, useState } from "react";
import { catalogueQuery, useMetric } from "../../lib/catalogue";
import { count } from "../../lib/format";
import { type Range, useRange } from "../../lib/range";
import { useMay, useSession } from "../../lib/session";
import { Button } from "../../ui/button";
import { Card, PageHeader } from "../../ui/display";
import { Empty, Failed, SkeletonRows } from "../../ui/feedback";
import { RangePicker } from "../../ui/range";
import { ShowCall } from "../../ui/showcall";
import { DataTable, type Selection } from "../../ui/table";
import { type Progress, useAct, useActOnMany } from "./act";
import { BulkBar, BulkProgress } from "./bulk";
import { columnsOf, type Line, metricsOf, sorted, tableColumns } from "./columns";
import { CreateDialog } from "./create";
import {
  type Campaign,
  campaignsQuery,
  listQuery,
  type Metric,
  type Numbers,
  numbersQuery,
  ofCampaigns,
  ofPage,
  serverSorts,
} from "./data";
import { Export } from "./export";
import { ColumnPicker, Filters } from "./filters";
import { useRowKeys } from "./keys";
import { descriptor, nextSort, nothing, useView, type View } from "./view";

// Choice: a column that the server cannot sort by is sorted here, for which all
// campaigns must be loaded. Beyond this many only the loaded ones are sorted.
const mostSortedHere = 2000;

/** As many values as one question about numbers may name. */
const mostIds = 500;

export function Campaigns() {
  const [view, set] = useView();
  const [range] = useRange();
  const may = useMay("editor");
  const query = listQuery(view.filter, view.sort, view.order);
  const list = useInfiniteQuery(campaignsQuery(query));
  const columns = columnsOf(view.preset, view.columns);
  const campaigns = useMemo(() => list.data?.pages.flatMap((p) => p.data) ?? [], [list.data]);
  const lines = useLines(list.data?.pages ?? [], campaigns, metricsOf(columns), range, view);
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = list;
  const sortsHere = !serverSorts(view.sort) && campaigns.length < mostSortedHere;
  useEffect(() => {
    if (sortsHere && hasNextPage && !isFetchingNextPage) fetchNextPage();
  }, [sortsHere, hasNextPage, isFetchingNextPage, fetchNextPage]);
  const tags = [...new Set(campaigns.flatMap((c) => c.tags))].sort();
  const fresh = list.isSuccess && !list.isPlaceholderData && campaigns.length === 0 && view.narrowed === 0;
  return (
    <>
      <PageHeader
        title="Campaigns"
        sub={list.isSuccess && !fresh ? told(campaigns.length, hasNextPage, view) : undefined}
      >
        {fresh ? null : <RangePicker />}
        <ShowCall call={{ method: "GET", path: "/v1/campaigns", query }} />
        {fresh ? null : <Export query={query} columns={columns} range={range} />}
        {may ? (
          <Button look="primary" onPress={() => set({ new: "1" })}>
            <Plus aria-hidden="true" />
            New campaign
          </Button>
        ) : null}
      </PageHeader>
      {may ? null : <p className="mb-3 text-xs text-muted">You can look. Editors can change campaigns.</p>}
      {fresh ? (
        <Card>
          <FirstCampaign
            create={may ? () => set({ new: "1" }) : undefined}
            archived={() => set({ status: "archived" })}
          />
        </Card>
      ) : (
        <>
          <div className="mb-3 flex flex-wrap items-center justify-between gap-2">
            <Filters view={view} set={set} tags={tags} />
            <ColumnPicker view={view} set={set} />
          </div>
          {list.isPending ? (
            <Card flush>
              <SkeletonRows rows={10} />
            </Card>
          ) : list.isError ? (
            <Card>
              <Failed error={list.error} retry={() => list.refetch()} />
            </Card>
          ) : (
            <Table
              lines={lines}
              columns={columns}
              view={view}
              set={set}
              range={range}
              may={may}
              complete={!hasNextPage}
              more={hasNextPage ? () => fetchNextPage() : undefined}
              loadingMore={isFetchingNextPage}
            />
          )}
        </>
      )}
      <CreateDialog isOpen={view.creating && may} onOpenChange={(open) => set({ new: open ? "1" : "" })} />
    </>
  );
}

function told(n: number, more: boolean, view: View): string {
  const loaded = `${count(n)}${more ? "+" : ""} ${n === 1 && !more ? "campaign" : "campaigns"}`;
  if (!more || serverSorts(view.sort) || n < mostSortedHere) return loaded;
  return `${loaded}, sorted among the first ${count(n)}`;
}

/** Joins campaigns with their numbers, a page at a time. */
function useLines(
  pages: { data: Campaign[] }[],
  campaigns: Campaign[],
  metrics: Metric[],
  range: Range,
  view: View,
): Line[] {
  const values = useQueries({
    queries: pages.filter((p) => p.data.length > 0).map((p) => numbersQuery(ofPage(p.data, metrics, range))),
    combine: byCampaign,
  });
  return useMemo(
    () =>
      sorted(
        campaigns.map((campaign) => ({ campaign, ...values.get(campaign.id) })),
        view.sort,
        view.order,
      ),
    [campaigns, values, view.sort, view.order],
  );
}

function byCampaign(answers: { data?: Numbers }[]): Map<string, Pick<Line, "values" | "change">> {
  return new Map(
    answers.flatMap((a) =>
      (a.data?.data ?? []).map(
        (r) => [r.dimensions.campaign_id ?? "", { values: r.metrics, change: r.change }] as const,
      ),
    ),
  );
}

/** What the totals are over: the campaigns shown, or where these are too many to name, all of their statuses. */
function useTotals(lines: Line[], complete: boolean, metrics: Metric[], range: Range, view: View) {
  const ids = lines.map((l) => l.campaign.id).sort();
  const byStatus = view.narrowed === (view.filter.status.length > 0 ? 1 : 0);
  const statuses = view.filter.status.length > 0 ? view.filter.status : ["draft", "active", "paused", "completed"];
  const filters =
    complete && ids.length <= mostIds
      ? ({ field: "campaign_id", op: "in", values: ids } as const)
      : ({ field: "campaign_status", op: "in", values: statuses } as const);
  return useQuery({
    ...numbersQuery({ ...ofCampaigns(filters, metrics, range), limit: 1 }),
    enabled: ids.length > 0 && (byStatus || (complete && ids.length <= mostIds)),
  }).data?.meta;
}

interface TableProps {
  lines: Line[];
  columns: string[];
  view: View;
  set: ReturnType<typeof useView>[1];
  range: Range;
  may: boolean;
  complete: boolean;
  more?: () => void;
  loadingMore: boolean;
}

function Table({ lines, columns, view, set, range, may, complete, more, loadingMore }: TableProps) {
  const metric = useMetric();
  const { data: catalogue } = useQuery(catalogueQuery);
  const workspace = useSession().workspace;
  const act = useAct();
  const meta = useTotals(lines, complete, metricsOf(columns), range, view);
  const [selected, setSelected] = useState<Selection>(new Set());
  const [progress, setProgress] = useState<Progress | null>(null);
  const runMany = useActOnMany(setProgress);
  const chosen = lines.filter((l) => selected === "all" || selected.has(l.campaign.id)).map((l) => l.campaign);
  const currency = meta?.currency ?? workspace.currency;
  const totals = meta?.totals?.metrics;
  const totalChange = meta?.totals?.change;
  const ids = columns.join();
  // biome-ignore lint/correctness/useExhaustiveDependencies: metric tells what is in the catalogue, which seldom changes
  const shown = useMemo(
    () => tableColumns(ids.split(",").filter(Boolean), { currency, metric, totals, totalChange, may, act }),
    [ids, currency, catalogue, totals, totalChange, may, act],
  );
  const toggle = (key: string) => {
    const next = new Set(chosen.map((c) => c.id));
    if (!next.delete(key)) next.add(key);
    setSelected(next);
  };
  const box = useRef<HTMLDivElement>(null);
  useRowKeys(box, may ? toggle : undefined);
  return (
    <div ref={box}>
      {progress ? <BulkProgress progress={progress} close={() => setProgress(null)} /> : null}
      <Card flush>
        {chosen.length > 0 ? (
          <BulkBar
            selected={chosen}
            busy={progress !== null && progress.finished < progress.total}
            clear={() => setSelected(new Set())}
            run={async (campaigns, action) => {
              await runMany(campaigns, action);
              setSelected(new Set());
            }}
          />
        ) : null}
        <DataTable
          label="Campaigns"
          className="max-h-[calc(100dvh-13rem)]"
          columns={shown}
          rows={lines}
          rowKey={(l) => l.campaign.id}
          href={(l) => `/campaigns/${l.campaign.id}`}
          sort={descriptor(view)}
          onSort={(s) => set(nextSort(view, s))}
          selected={may ? selected : undefined}
          onSelect={may ? setSelected : undefined}
          more={more}
          loadingMore={loadingMore}
          empty={
            <Empty title="No campaign matches" action={<Button onPress={() => set(nothing)}>Clear filters</Button>}>
              None has all of what is asked for here.
            </Empty>
          }
        />
      </Card>
      <p className="mt-2 text-xs text-faint">Days in {workspace.timezone}. Press j and k to walk, x to select.</p>
    </div>
  );
}

function FirstCampaign({ create, archived }: { create?: () => void; archived: () => void }) {
  return (
    <Empty
      icon={<Megaphone aria-hidden="true" />}
      title="No campaigns yet"
      action={
        <div className="flex gap-2">
          {create ? (
            <Button look="primary" onPress={create}>
              New campaign
            </Button>
          ) : null}
          <Button look="quiet" onPress={archived}>
            Show archived
          </Button>
        </div>
      }
    >
      A campaign holds budget, schedule, audiences and creatives, and shows what its platforms report.
    </Empty>
  );
}
