// The answer to a query: totals, a chart, every row.

import type { InfiniteData, UseInfiniteQueryResult } from "@tanstack/react-query";
import { ArrowUpRight, SearchX } from "lucide-react";
import { useMemo, useState } from "react";
import { Link, ToggleButton, ToggleButtonGroup } from "react-aria-components";
import { better, type Catalogue, useMetric } from "../../lib/catalogue";
import { ago, count, day, figure, words } from "../../lib/format";
import { warningText } from "../../lib/warnings";
import { t } from "../../text/analytics";
import { common } from "../../text/common";
import { Button } from "../../ui/button";
import { Chart } from "../../ui/chart";
import { Badge, Card, Delta } from "../../ui/display";
import { Empty, Note, Skeleton, SkeletonRows } from "../../ui/feedback";
import { MetricName } from "../../ui/metric";
import { DataTable, type SortDescriptor, type TableColumn } from "../../ui/table";
import { chartOf } from "./chartof";
import { conditions, isSeries, nameIn, type Query, type Result, type Row, titleOf } from "./query";
import type { Answered } from "./values";

interface Props {
  catalogue: Catalogue | undefined;
  answer: UseInfiniteQueryResult<InfiniteData<Answered>>;
  /** The metric that the chart is to show, if the query has it. */
  show: string | undefined;
  onMetric: (name: string) => void;
  onDrill: (row: Row) => void;
  onChange: (q: Query) => void;
}

/** The parts show the query that was answered, which may be an older one than the builder shows. */
interface Shown extends Props {
  query: Query;
  metric: string;
}

/** How many rows are put on the page at a time; an answer may have ten thousand. */
const step = 100;

export function Results(props: Props) {
  const { answer, catalogue } = props;
  const pages = answer.data?.pages;
  const meta = pages?.[0]?.meta;
  const q = pages?.[0]?.asked;
  const rows = useMemo(() => pages?.flatMap((page) => page.data) ?? [], [pages]);
  if (!meta || !q) {
    return (
      <div role="status" aria-label={common.loading} className="grid gap-4">
        <div className="card p-4">
          <Skeleton className="h-5 w-64" />
          <Skeleton className="mt-4 h-72 w-full" />
        </div>
        <div className="card">
          <SkeletonRows />
        </div>
      </div>
    );
  }
  if (rows.length === 0) {
    return (
      <Card>
        <Empty
          icon={<SearchX aria-hidden="true" />}
          title={t.results.empty}
          action={
            conditions(q.filters).length > 0 ? (
              <Button onPress={() => props.onChange({ ...q, filters: undefined })}>{t.results.clear}</Button>
            ) : undefined
          }
        >
          {t.results.emptyHint(day(meta.start_date, true), day(meta.end_date, true), conditions(q.filters).length > 0)}
        </Empty>
      </Card>
    );
  }
  const p: Shown = { ...props, query: q, metric: q.metrics.find((m) => m === props.show) ?? q.metrics[0] ?? "" };
  return (
    <div className={`grid min-w-0 gap-4 transition-opacity ${answer.isPlaceholderData ? "opacity-60" : ""}`}>
      {meta.warnings.length > 0 ? <Warnings list={meta.warnings} /> : null}
      <Card
        title={titleOf(q, catalogue)}
        sub={t.results.about(day(meta.start_date, true), day(meta.end_date, true), meta.timezone, meta.currency)}
      >
        <Totals {...p} meta={meta} />
        <Picture {...p} rows={rows} currency={meta.currency} />
      </Card>
      <Card
        flush
        title={t.results.rows}
        sub={t.results.rowsHint}
        action={<Freshness meta={meta} rows={rows.length} more={answer.hasNextPage} />}
      >
        <RowTable {...p} rows={rows} meta={meta} />
      </Card>
    </div>
  );
}

function Warnings({ list }: { list: Result["meta"]["warnings"] }) {
  return (
    <Note tone="warn" title={list.length === 1 ? undefined : t.results.warnings}>
      {list.length === 1 ? (
        list[0] && warningText(list[0])
      ) : (
        <ul className="list-disc pl-4">
          {list.map((w) => (
            <li key={w.code + w.message}>{warningText(w)}</li>
          ))}
        </ul>
      )}
    </Note>
  );
}

function Freshness({ meta, rows, more }: { meta: Result["meta"]; rows: number; more: boolean }) {
  const { data_through, final_through } = meta.freshness;
  return (
    <p className="num text-xs text-muted">
      {[
        (more ? t.results.countMore : t.results.count)(rows),
        t.results.through(day(data_through)),
        final_through && final_through !== data_through ? t.results.final(day(final_through)) : "",
        (meta.cache === "hit" ? t.results.cached : t.results.read)(ago(meta.as_of), count(meta.elapsed_ms)),
      ]
        .filter(Boolean)
        .join(" · ")}
    </p>
  );
}

/** The totals; the chosen one is what the chart shows. */
function Totals({ query: q, metric, onMetric, meta }: Shown & { meta: Result["meta"] }) {
  const info = useMetric();
  return (
    <ToggleButtonGroup
      aria-label={t.chart.metric}
      selectionMode="single"
      disallowEmptySelection
      selectedKeys={[metric]}
      onSelectionChange={(keys) => onMetric(String([...keys][0]))}
      className="mb-3 flex flex-wrap gap-1"
    >
      {q.metrics.map((m) => (
        <ToggleButton
          key={m}
          id={m}
          className="min-w-32 cursor-default rounded-lg border border-transparent px-3 py-2 text-left outline-none data-[hovered]:bg-hover data-[selected]:border-line data-[selected]:bg-sunken data-[focus-visible]:ring-focus"
        >
          <span className="block text-xs text-muted">{info(m).label}</span>
          <span className="mt-0.5 flex items-baseline gap-2">
            <span className="num text-lg font-semibold">
              {figure(meta.totals?.metrics[m], info(m).format, meta.currency, true)}
            </span>
            {q.compare ? <Delta value={meta.totals?.change?.[m] ?? null} better={better(m)} /> : null}
          </span>
        </ToggleButton>
      ))}
    </ToggleButtonGroup>
  );
}

function Picture({ query: q, rows, metric, currency, onDrill, catalogue }: Shown & { rows: Row[]; currency: string }) {
  const info = useMetric();
  const { label, format } = info(metric);
  const drawn = useMemo(
    () => chartOf(q, rows, { name: metric, label, format }, currency),
    [q, rows, metric, label, format, currency],
  );
  if (!drawn) return null;
  return (
    <Chart
      title={titleOf({ ...q, metrics: [metric as Query["metrics"][number]] }, catalogue)}
      data={drawn.data}
      height={drawn.height}
      toolbar={
        drawn.left ? (
          <span className="text-xs text-muted">{t.chart.first(drawn.left.drawn, count(drawn.left.of))}</span>
        ) : undefined
      }
      onPick={(category, series) => {
        const row = drawn.row(category, series);
        if (row) onDrill(row);
      }}
    />
  );
}

const pagesOf: Record<string, string> = {
  campaign_id: "/campaigns/",
  creative_id: "/creative/",
  audience_id: "/audiences/",
  connection_id: "/connections/",
};

function RowTable({
  query: q,
  catalogue,
  rows,
  meta,
  answer,
  onDrill,
  onChange,
}: Shown & { rows: Row[]; meta: Result["meta"] }) {
  const [shown, setShown] = useState(step);
  // Every cell is drawn anew when the columns are others, so they change only with the answer.
  const columns = useMemo(() => {
    const info = (name: string) =>
      catalogue?.metrics.find((m) => m.name === name) ?? { label: words(name), format: null };
    const dims = [...(isSeries(q) ? ["date"] : []), ...(q.dimensions ?? [])];
    const first: TableColumn<Row>[] = dims.map((d, i) => ({
      id: d,
      name: d === "date" ? t.results.date : (catalogue?.dimensions.find((x) => x.name === d)?.label ?? words(d)),
      sortable: true,
      minWidth: d === "date" ? 128 : /_(id|name)$/.test(d) ? 200 : 108,
      cell: (r) => <Value row={r} dimension={d} />,
      total: i === 0 ? t.results.total : undefined,
    }));
    if (first.length === 0) first.push({ id: "all", name: t.results.all, cell: () => t.results.everything });
    const numbers: TableColumn<Row>[] = q.metrics.map((m) => ({
      id: m,
      name: <MetricName name={m} freshness={meta.freshness} asOf={meta.as_of} />,
      label: info(m).label,
      align: "end",
      sortable: true,
      minWidth: q.compare ? 150 : 120,
      cell: (r) => (
        <Figures
          now={figure(r.metrics[m], info(m).format, meta.currency)}
          before={q.compare ? figure(r.previous?.[m], info(m).format, meta.currency) : undefined}
          change={r.change?.[m] ?? null}
          metric={m}
        />
      ),
      total:
        meta.totals && dims.length > 0 ? (
          <Figures
            now={figure(meta.totals.metrics[m], info(m).format, meta.currency)}
            before={q.compare ? figure(meta.totals.previous?.[m], info(m).format, meta.currency) : undefined}
            change={meta.totals.change?.[m] ?? null}
            metric={m}
          />
        ) : undefined,
    }));
    return [...first, ...numbers];
  }, [q, catalogue, meta]);
  const order = q.order_by?.[0];
  const sort: SortDescriptor | undefined = order && {
    column: order.field,
    direction:
      (order.order ?? (q.metrics.some((m) => m === order.field) ? "desc" : "asc")) === "asc"
        ? "ascending"
        : "descending",
  };
  const more =
    shown < rows.length ? () => setShown(shown + step) : answer.hasNextPage ? () => answer.fetchNextPage() : undefined;
  return (
    <DataTable
      label={t.results.rows}
      columns={columns}
      rows={rows.slice(0, shown)}
      rowKey={(r) => JSON.stringify([r.dimensions, r.external_ids, r.previous_date])}
      onAction={isSeries(q) || q.dimensions?.length ? onDrill : undefined}
      sort={sort}
      onSort={(s) => onChange({ ...q, order_by: nextOrder(q, s) })}
      more={more}
      loadingMore={answer.isFetchingNextPage}
      empty={null}
      className="max-h-160"
    />
  );
}

/** Metrics are sorted from high to low first, because that is what one looks for. */
function nextOrder(q: Query, s: SortDescriptor): Query["order_by"] {
  const field = String(s.column);
  const was = q.order_by?.[0];
  if (was?.field !== field && q.metrics.some((m) => m === field)) return [{ field, order: "desc" }];
  return [{ field, order: s.direction === "ascending" ? "asc" : "desc" }];
}

function Value({ row, dimension }: { row: Row; dimension: string }) {
  const id = row.dimensions[dimension];
  const name = nameIn(row, dimension);
  const page = id ? pagesOf[dimension] : undefined;
  return (
    <span className="flex items-center gap-2">
      <span className={`truncate ${id === null && !row.labels?.[dimension] ? "text-muted" : ""}`}>{name}</span>
      {dimension === "date" && row.previous_date ? (
        <span className="text-xs whitespace-nowrap text-faint">{t.results.vs(day(row.previous_date))}</span>
      ) : null}
      {dimension === "date" && row.partial ? <Badge>{t.results.partial}</Badge> : null}
      {row.external_ids?.[dimension] ? <Badge>{t.results.notLinked}</Badge> : null}
      {page ? (
        <Link
          href={`${page}${id}`}
          aria-label={t.results.open(name)}
          className="grid size-6 shrink-0 place-items-center rounded text-faint outline-none hover:text-ink focus-visible:ring-focus"
        >
          <ArrowUpRight className="size-3.5" aria-hidden="true" />
        </Link>
      ) : null}
    </span>
  );
}

function Figures({
  now,
  before,
  change,
  metric,
}: {
  now: string;
  before?: string;
  change: number | null;
  metric: string;
}) {
  if (before === undefined) return now;
  return (
    <span className="flex flex-col items-end whitespace-nowrap">
      <span>{now}</span>
      <span className="flex items-baseline gap-1.5 text-xs font-normal">
        <span className="text-faint">
          <span className="sr-only">{t.results.previous} </span>
          {before}
        </span>
        <Delta value={change} better={better(metric)} />
      </span>
    </span>
  );
}
