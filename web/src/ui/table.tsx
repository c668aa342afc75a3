// The one table: a grid that the keyboard can walk, with sorting, selection, a
// row of totals and more rows as one scrolls.
import { ArrowDown, ArrowUp } from "lucide-react";
import { type ReactNode, useSyncExternalStore } from "react";
import {
  Cell,
  Collection,
  Column,
  Link,
  ResizableTableContainer,
  Row,
  type Selection,
  type SortDescriptor,
  Table,
  TableBody,
  TableFooter,
  TableHeader,
  TableLoadMoreItem,
} from "react-aria-components";
import { Checkbox } from "./fields";
import { Spinner } from "./spinner";

export type { Selection, SortDescriptor };

export interface TableColumn<T> {
  id: string;
  name: ReactNode;
  /** What a reader hears where name is no text. */
  label?: string;
  cell: (row: T) => ReactNode;
  /** What the last row shows. */
  total?: ReactNode;
  align?: "end";
  sortable?: boolean;
  width?: number;
  /** The table scrolls before the column gets narrower. */
  minWidth?: number;
  /** Hidden where there is little room. */
  wide?: boolean;
}

interface Props<T> {
  label: string;
  columns: TableColumn<T>[];
  rows: T[];
  rowKey: (row: T) => string;
  /** Where a row leads. */
  href?: (row: T) => string;
  onAction?: (row: T) => void;
  sort?: SortDescriptor;
  onSort?: (sort: SortDescriptor) => void;
  selected?: Selection;
  onSelect?: (selected: Selection) => void;
  /** What stands there when there are no rows. */
  empty: ReactNode;
  more?: () => void;
  loadingMore?: boolean;
  className?: string;
}

const edge = "first:pl-4 last:pr-4";

/** Whether a media query matches now. */
export function useMedia(query: string): boolean {
  return useSyncExternalStore(
    (tell) => {
      const media = matchMedia(query);
      media.addEventListener("change", tell);
      return () => media.removeEventListener("change", tell);
    },
    () => matchMedia(query).matches,
  );
}

/** Whether wide columns have room. A column that style sheets hide would still take its share of the width. */
export const useRoom = () => useMedia("(min-width: 48rem)");

/** The name of a row that leads somewhere: a real link, which can be opened in a new tab. */
export function RowLink({ href, children }: { href: string; children: ReactNode }) {
  return (
    <Link
      href={href}
      className="block min-w-0 truncate rounded-sm font-medium outline-none hover:underline focus-visible:ring-focus"
    >
      {children}
    </Link>
  );
}

export function DataTable<T extends object>(p: Props<T>) {
  const totals = p.columns.some((c) => c.total !== undefined) && p.rows.length > 0;
  const roomy = useRoom();
  const shown = roomy ? p.columns : p.columns.filter((c) => !c.wide);
  const columns = p.onSelect ? [{ id: "select" } as TableColumn<T>, ...shown] : shown;
  const at = (c: TableColumn<T>) => (c.align === "end" ? "text-right num" : "");
  return (
    <ResizableTableContainer className={`overflow-auto print:max-h-none! print:overflow-visible ${p.className ?? ""}`}>
      <Table
        aria-label={p.label}
        className="w-full border-separate border-spacing-0 text-sm"
        sortDescriptor={p.sort}
        onSortChange={p.onSort}
        selectionMode={p.onSelect ? "multiple" : "none"}
        selectionBehavior="toggle"
        selectedKeys={p.selected}
        onSelectionChange={p.onSelect}
      >
        <TableHeader columns={columns} dependencies={[p.columns, roomy]}>
          {(c) =>
            c.id === "select" ? (
              <Column
                id="select"
                width={40}
                minWidth={40}
                className="sticky top-0 z-10 border-b border-line bg-surface pl-4"
              >
                <Checkbox slot="selection" />
              </Column>
            ) : (
              <Column
                id={c.id}
                isRowHeader={c.id === p.columns[0]?.id}
                allowsSorting={c.sortable}
                textValue={c.label ?? (typeof c.name === "string" ? c.name : c.id)}
                width={c.width}
                minWidth={c.minWidth}
                className={`group sticky top-0 z-10 h-9 border-b border-line bg-surface px-3 text-left text-xs font-medium whitespace-nowrap text-muted outline-none data-[focus-visible]:ring-focus ${edge} ${at(c)} ${c.sortable ? "cursor-default hover:text-ink" : ""}`}
              >
                {({ sortDirection }) => (
                  <span className={`inline-flex items-center gap-1 ${c.align === "end" ? "justify-end" : ""}`}>
                    {c.name}
                    {c.sortable && sortDirection ? (
                      sortDirection === "ascending" ? (
                        <ArrowUp className="size-3" aria-hidden="true" />
                      ) : (
                        <ArrowDown className="size-3" aria-hidden="true" />
                      )
                    ) : null}
                  </span>
                )}
              </Column>
            )
          }
        </TableHeader>
        <TableBody renderEmptyState={() => p.empty}>
          <Collection items={p.rows} dependencies={[p.columns, roomy]}>
            {(row) => (
              <Row
                id={p.rowKey(row)}
                href={p.href?.(row)}
                onAction={p.onAction ? () => p.onAction?.(row) : undefined}
                columns={columns}
                dependencies={[p.columns, roomy, row]}
                className={`group/row outline-none data-[focus-visible]:ring-focus data-[focus-visible]:-outline-offset-2 data-[selected]:bg-accent-soft ${p.href || p.onAction ? "cursor-default data-[hovered]:bg-hover" : ""}`}
              >
                {(c) =>
                  c.id === "select" ? (
                    <Cell className="border-b border-line pl-4">
                      <Checkbox slot="selection" />
                    </Cell>
                  ) : (
                    <Cell
                      className={`h-11 border-b border-line px-3 py-1.5 outline-none data-[focus-visible]:ring-focus data-[focus-visible]:-outline-offset-2 ${edge} ${at(c)}`}
                    >
                      {c.cell(row)}
                    </Cell>
                  )
                }
              </Row>
            )}
          </Collection>
          {p.more ? (
            <TableLoadMoreItem onLoadMore={p.more} isLoading={p.loadingMore}>
              <span className="flex justify-center py-3">
                <Spinner />
              </span>
            </TableLoadMoreItem>
          ) : null}
        </TableBody>
        {totals ? (
          <TableFooter>
            <Row id="totals" columns={columns} dependencies={[p.columns, roomy]} className="outline-none">
              {(c) => (
                <Cell
                  className={`sticky bottom-0 h-10 border-t border-line bg-sunken px-3 font-medium ${edge} ${at(c)}`}
                >
                  {c.total}
                </Cell>
              )}
            </Row>
          </TableFooter>
        ) : null}
      </Table>
    </ResizableTableContainer>
  );
}
