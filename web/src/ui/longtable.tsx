// biome-ignore-all lint/a11y/useFocusableInteractive: rows have the focus, their cells do not
// biome-ignore-all lint/a11y/useSemanticElements: rows of a table element cannot be positioned
// The table for thousands of rows: only the rows in view are in the page. Its
// rows are one Tab stop. Arrows, Home, End and the Page keys move between rows,
// Space selects, Enter opens; Tab moves through the controls of a row, then out.

import { useNavigate } from "@tanstack/react-router";
import { useVirtualizer } from "@tanstack/react-virtual";
import { ArrowDown, ArrowUp } from "lucide-react";
import { type KeyboardEvent, type MouseEvent, memo, type ReactNode, useEffect, useMemo, useRef } from "react";
import { common } from "../text/common";
import { Checkbox } from "./fields";
import { HintPress } from "./overlay";
import { Spinner } from "./spinner";
import { type SortDescriptor, type TableColumn, useMedia, useRoom } from "./table";
import { useFocusedRow } from "./tablefocus";

interface Props<T> {
  label: string;
  columns: TableColumn<T>[];
  rows: T[];
  rowKey: (row: T) => string;
  /** What the row is called, for its checkbox. */
  rowName: (row: T) => string;
  /** Where a row leads. */
  href: (row: T) => string;
  sort: SortDescriptor;
  onSort: (sort: SortDescriptor) => void;
  /** The keys of the selected rows; undefined where rows cannot be selected. */
  selected?: ReadonlySet<string>;
  onSelect: (selected: Set<string>) => void;
  /** Shown when there are no rows. */
  empty: ReactNode;
  /** Loads more rows; undefined where there are none. */
  more?: () => void;
  loadingMore?: boolean;
  className?: string;
}

const rowHeight = 54;
/** How many rows are in the page above and below those in view, so that the next one can be focused. */
const around = 8;
/** How many rows before the end the next ones are loaded. */
const ahead = 40;
/** How many rows are printed at most. */
const mostPrinted = 1000;

const cell = "min-w-0 px-3 first:pl-4 last:pr-4";
const aligned = (c: { align?: "end" }) => (c.align === "end" ? "text-right num" : "");

/** The widths of the columns; the one without a width takes what is left. */
function template<T>(columns: TableColumn<T>[], selects: boolean): string {
  const widths = columns.map((c) => (c.width ? `${c.width}px` : `minmax(${c.minWidth ?? 120}px, 1fr)`));
  return [...(selects ? ["40px"] : []), ...widths].join(" ");
}

export function LongTable<T extends object>(p: Props<T>) {
  const roomy = useRoom();
  const printing = useMedia("print");
  const columns = useMemo(() => (roomy ? p.columns : p.columns.filter((c) => !c.wide)), [roomy, p.columns]);
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: p.rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: around,
    // The headings cover the top of the box and the totals its end.
    scrollPaddingStart: 36,
    scrollPaddingEnd: 44,
  });
  const items = virtual.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;
  const { more, loadingMore } = p;
  useEffect(() => {
    if (more && !loadingMore && !printing && last >= p.rows.length - ahead) more();
  }, [more, loadingMore, printing, last, p.rows.length]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another order is read from its start
  useEffect(() => virtual.scrollToOffset(0), [p.sort.column, p.sort.direction]);
  const focus = useFocusedRow(p.rows.length, (index) => virtual.scrollToIndex(index));
  const toggle = useToggle(p);
  const grid = { gridTemplateColumns: template(columns, p.selected !== undefined) };
  const totals = p.rows.length > 0 && columns.some((c) => c.total !== undefined);
  const shown = printing ? p.rows.slice(0, mostPrinted).map((_, index) => ({ index, start: undefined })) : items;
  return (
    <div ref={scroller} className={`overflow-auto print:max-h-none! print:overflow-visible ${p.className ?? ""}`}>
      <div
        role="grid"
        aria-label={p.label}
        aria-rowcount={more ? -1 : p.rows.length + (totals ? 2 : 1)}
        aria-multiselectable={p.selected ? true : undefined}
        className="w-fit min-w-full text-sm"
      >
        <Head {...p} columns={columns} grid={grid} />
        {p.rows.length === 0 ? <div className="sticky left-0">{p.empty}</div> : null}
        <div
          role="rowgroup"
          className="relative"
          style={printing ? undefined : { height: virtual.getTotalSize() }}
          onFocus={focus.onFocus}
          onKeyDown={focus.onKeyDown}
        >
          {shown.map(({ index, start }) => {
            const row = p.rows[index] as T;
            return (
              <Line
                key={p.rowKey(row)}
                {...p}
                {...{ row, index, start, grid, columns, toggle }}
                current={index === focus.current}
              />
            );
          })}
        </div>
        {loadingMore ? (
          <div role="status" aria-label={common.loadingMore} className="sticky left-0 flex justify-center py-3">
            <Spinner />
          </div>
        ) : null}
        {totals ? <Totals columns={columns} grid={grid} selects={p.selected !== undefined} /> : null}
      </div>
      {focus.end}
    </div>
  );
}

/** Selects or unselects a row, or with Shift all rows from the last one on. */
function useToggle<T>(p: Props<T>): (index: number, range: boolean) => void {
  const anchor = useRef(0);
  return (index, range) => {
    if (!p.selected) return;
    const next = new Set(p.selected);
    const on = !next.has(p.rowKey(p.rows[index] as T));
    const from = range ? Math.min(anchor.current, index) : index;
    const to = range ? Math.max(anchor.current, index) : index;
    for (const row of p.rows.slice(from, to + 1)) {
      if (on) next.add(p.rowKey(row));
      else next.delete(p.rowKey(row));
    }
    anchor.current = index;
    p.onSelect(next);
  };
}

interface Part<T> {
  columns: TableColumn<T>[];
  grid: { gridTemplateColumns: string };
}

function Head<T>(p: Props<T> & Part<T>) {
  const all = p.rows.length > 0 && p.rows.every((r) => p.selected?.has(p.rowKey(r)));
  return (
    <div role="rowgroup" className="sticky top-0 z-10">
      <div
        role="row"
        aria-rowindex={1}
        style={p.grid}
        className="grid h-9 items-center border-b border-line bg-surface text-xs font-medium whitespace-nowrap text-muted"
      >
        {p.selected ? (
          <div role="columnheader" className={cell}>
            <Checkbox
              aria-label={common.selectAll}
              isSelected={all}
              isIndeterminate={!all && p.selected.size > 0}
              onChange={(on) => p.onSelect(new Set(on ? p.rows.map(p.rowKey) : []))}
            />
          </div>
        ) : null}
        {p.columns.map((c) => (
          <Heading key={c.id} column={c} sort={p.sort} onSort={p.onSort} />
        ))}
      </div>
    </div>
  );
}

function Heading<T>({ column: c, sort, onSort }: { column: TableColumn<T> } & Pick<Props<T>, "sort" | "onSort">) {
  const direction = sort.column === c.id ? sort.direction : undefined;
  const Arrow = direction === "ascending" ? ArrowUp : ArrowDown;
  const press = () => onSort({ column: c.id, direction: direction === "ascending" ? "descending" : "ascending" });
  return (
    <div
      role="columnheader"
      aria-sort={c.sortable ? (direction ?? "none") : undefined}
      className={`flex items-center gap-1 ${cell} ${c.align === "end" ? "justify-end" : ""} ${c.sortable ? "hover:text-ink" : ""}`}
    >
      {!c.sortable ? (
        c.name
      ) : typeof c.name === "string" ? (
        <button
          type="button"
          onClick={press}
          className="cursor-default rounded-sm py-1 outline-none focus-visible:ring-focus"
        >
          {c.name}
        </button>
      ) : (
        <HintPress value={press}>{c.name}</HintPress>
      )}
      {direction ? <Arrow className="size-3 shrink-0" aria-hidden="true" /> : null}
    </div>
  );
}

interface LineProps<T> extends Props<T>, Part<T> {
  row: T;
  index: number;
  /** How far from the top the row is; undefined where rows follow each other. */
  start: number | undefined;
  current: boolean;
  toggle: (index: number, range: boolean) => void;
}

/** What in a row does something else than open it. */
const controls = "a, button, input, label, [role=dialog]";

function Line<T>({ row, index, start, current, toggle, grid, columns, ...p }: LineProps<T>) {
  const navigate = useNavigate();
  const key = p.rowKey(row);
  const open = (e: MouseEvent | KeyboardEvent) => {
    if (e.metaKey || e.ctrlKey) window.open(p.href(row), "_blank", "noopener");
    else navigate({ to: p.href(row) });
  };
  const press = (e: KeyboardEvent) => {
    if (e.target !== e.currentTarget || (e.key !== "Enter" && e.key !== " ")) return;
    e.preventDefault();
    if (e.key === "Enter") open(e);
    else toggle(index, e.shiftKey);
  };
  const place = start === undefined ? {} : { transform: `translateY(${start}px)` };
  return (
    <div
      role="row"
      data-key={key}
      data-index={index}
      aria-rowindex={index + 2}
      aria-selected={p.selected?.has(key)}
      tabIndex={current ? 0 : -1}
      onKeyDown={press}
      onClick={(e) => {
        if (!(e.target as Element).closest(controls)) open(e);
      }}
      style={{ ...grid, ...place, height: rowHeight }}
      className={`grid w-full cursor-default items-center border-b border-line outline-none hover:bg-hover focus-visible:ring-focus focus-visible:-outline-offset-2 aria-selected:bg-accent-soft ${start === undefined ? "" : "absolute top-0 left-0"}`}
    >
      {p.selected ? (
        <div role="gridcell" className={cell} onClickCapture={(e) => withShift(e, () => toggle(index, true))}>
          <Checkbox
            aria-label={common.selectRow(p.rowName(row))}
            isSelected={p.selected.has(key)}
            onChange={() => toggle(index, false)}
          />
        </div>
      ) : null}
      <Cells row={row} columns={columns} />
    </div>
  );
}

/** Does something else on a click with Shift. */
function withShift(e: MouseEvent, act: () => void) {
  if (!e.shiftKey) return;
  e.preventDefault();
  e.stopPropagation();
  act();
}

/** The cells of a row. They are drawn again when the row or the columns change, not when one scrolls. */
const Cells = memo(function Cells<T>({ row, columns }: { row: T; columns: TableColumn<T>[] }) {
  return columns.map((c, i) => (
    <div key={c.id} role={i === 0 ? "rowheader" : "gridcell"} className={`${cell} ${aligned(c)}`}>
      {c.cell(row)}
    </div>
  ));
}) as <T>(p: { row: T; columns: TableColumn<T>[] }) => ReactNode;

function Totals<T>({ columns, grid, selects }: Part<T> & { selects: boolean }) {
  return (
    <div role="rowgroup" className="sticky bottom-0 z-10">
      <div role="row" style={grid} className="grid h-11 items-center border-t border-line bg-sunken font-medium">
        {selects ? <div role="gridcell" /> : null}
        {columns.map((c) => (
          <div key={c.id} role="gridcell" className={`${cell} ${aligned(c)}`}>
            {c.total}
          </div>
        ))}
      </div>
    </div>
  );
}
