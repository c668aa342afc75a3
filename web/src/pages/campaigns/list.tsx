// All campaigns with their numbers.

import { useInfiniteQuery, useQueries, useQuery } from "@tanstack/react-query";
import { Megaphone, Plus } from "lucide-react";
import { useMemo, useRef, useState } from "react";
import { catalogueQuery, useMetric } from "../../lib/catalogue";
import { type Range, useRange } from "../../lib/range";
import { useMay, useSession } from "../../lib/session";
import { t } from "../../text/campaigns";
import { common } from "../../text/common";
import { Button } from "../../ui/button";
import { Card, PageHeader } from "../../ui/display";
import { Empty, Failed, SkeletonRows } from "../../ui/feedback";
import { LongTable } from "../../ui/longtable";
import { RangePicker } from "../../ui/range";
import { ShowCall } from "../../ui/showcall";
import { type Progress, useAct, useActOnMany } from "./act";
import { BulkBar, BulkProgress } from "./bulk";
import { columnsOf, type Line, metricsOf, tableColumns } from "./columns";
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
} from "./data";
import { Export } from "./export";
import { ColumnPicker, Filters } from "./filters";
import { useRowKeys } from "./keys";
import { descriptor, nextSort, nothing, useView, type View } from "./view";

/** As many values as one question about numbers may name. */
const mostIds = 500;

export function Campaigns() {
  const [view, set] = useView();
  const [range] = useRange();
  const may = useMay("editor");
  const query = listQuery(view.filter, view.sort, view.order, range);
  const list = useInfiniteQuery(campaignsQuery(query));
  const columns = columnsOf(view.preset, view.columns);
  const campaigns = useMemo(() => list.data?.pages.flatMap((p) => p.data) ?? [], [list.data]);
  const lines = useLines(list.data?.pages ?? [], campaigns, metricsOf(columns), range);
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = list;
  const tags = useMemo(() => [...new Set(campaigns.flatMap((c) => c.tags))].sort(), [campaigns]);
  const fresh = list.isSuccess && !list.isPlaceholderData && campaigns.length === 0 && view.narrowed === 0;
  return (
    <>
      <PageHeader
        title={t.title}
        sub={list.isSuccess && !fresh ? (hasNextPage ? t.countMore : t.count)(campaigns.length) : undefined}
      >
        {fresh ? null : <RangePicker />}
        <ShowCall call={{ method: "GET", path: "/v1/campaigns", query }} />
        {fresh ? null : <Export query={query} columns={columns} range={range} />}
        {may ? (
          <Button look="primary" onPress={() => set({ new: "1" })}>
            <Plus aria-hidden="true" />
            {t.newCampaign}
          </Button>
        ) : null}
      </PageHeader>
      {may ? null : <p className="mb-3 text-xs text-muted">{t.list.readOnly}</p>}
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
              old={list.isPlaceholderData}
            />
          )}
        </>
      )}
      <CreateDialog isOpen={view.creating && may} onOpenChange={(open) => set({ new: open ? "1" : "" })} />
    </>
  );
}

/** Joins campaigns with their numbers, a page at a time. A line that has not changed stays the same object, so that it is not drawn again. */
function useLines(pages: { data: Campaign[] }[], campaigns: Campaign[], metrics: Metric[], range: Range): Line[] {
  const values = useQueries({
    queries: pages.filter((p) => p.data.length > 0).map((p) => numbersQuery(ofPage(p.data, metrics, range))),
    combine: byCampaign,
  });
  const kept = useRef(new Map<string, Line>());
  return useMemo(() => {
    const lines = campaigns.map((campaign): Line => {
      const old = kept.current.get(campaign.id);
      const now = values.get(campaign.id);
      const same = old?.campaign === campaign && old.values === now?.values && old.change === now?.change;
      return same ? old : { campaign, ...now };
    });
    kept.current = new Map(lines.map((line) => [line.campaign.id, line]));
    return lines;
  }, [campaigns, values]);
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
  const ids = useMemo(() => lines.map(keyOf).sort(), [lines]);
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

const keyOf = (l: Line) => l.campaign.id;

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
  /** Whether the lines are still those of another view. */
  old: boolean;
}

function Table({ lines, columns, view, set, range, may, complete, more, loadingMore, old }: TableProps) {
  const metric = useMetric();
  const { data: catalogue } = useQuery(catalogueQuery);
  const workspace = useSession().workspace;
  const act = useAct();
  const meta = useTotals(lines, complete, metricsOf(columns), range, view);
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [progress, setProgress] = useState<Progress | null>(null);
  const runMany = useActOnMany(setProgress);
  const chosen = useMemo(
    () => lines.filter((l) => selected.has(l.campaign.id)).map((l) => l.campaign),
    [lines, selected],
  );
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
    const next = new Set(selected);
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
        <LongTable
          label={t.title}
          className={`max-h-[calc(100dvh-13rem)] transition-opacity ${old ? "opacity-60" : ""}`}
          columns={shown}
          rows={lines}
          rowKey={keyOf}
          rowName={(l) => l.campaign.name}
          href={(l) => `/campaigns/${l.campaign.id}`}
          sort={descriptor(view)}
          onSort={(s) => set(nextSort(view, s))}
          selected={may ? selected : undefined}
          onSelect={setSelected}
          more={more}
          loadingMore={loadingMore}
          empty={
            <Empty title={t.list.noMatch} action={<Button onPress={() => set(nothing)}>{t.list.clear}</Button>}>
              {t.list.noMatchHint}
            </Empty>
          }
        />
      </Card>
      <p className="mt-2 text-xs text-faint">
        {common.daysIn(workspace.timezone)}
        <span className="max-md:hidden"> {t.list.keys}</span>
      </p>
    </div>
  );
}

function FirstCampaign({ create, archived }: { create?: () => void; archived: () => void }) {
  return (
    <Empty
      icon={<Megaphone aria-hidden="true" />}
      title={t.list.empty}
      action={
        <div className="flex gap-2">
          {create ? (
            <Button look="primary" onPress={create}>
              {t.newCampaign}
            </Button>
          ) : null}
          <Button look="quiet" onPress={archived}>
            {t.list.showArchived}
          </Button>
        </div>
      }
    >
      {t.list.emptyHint}
    </Empty>
  );
}
