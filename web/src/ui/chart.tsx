// Charts. The library comes with the first chart, not before; every chart can be
// read as a table too.

import { ChartColumn, Table2 } from "lucide-react";
import { lazy, type ReactNode, Suspense, useState } from "react";
import { ToggleButton, ToggleButtonGroup } from "react-aria-components";
import { day, type Format, figure } from "../lib/format";
import { common } from "../text/common";
import { Skeleton } from "./feedback";

const Plot = lazy(() => import("./plot"));

export interface Series {
  name: string;
  values: (number | null)[];
  format: Format;
  /** Another period, drawn faintly. */
  before?: boolean;
  /** Index of the palette color; a line and its previous period share one. */
  color?: number;
  /** Measured on the right. */
  right?: boolean;
}

export interface ChartData {
  kind: "line" | "bar" | "hbar" | "donut" | "area";
  /** Days, or names. */
  categories: string[];
  dates?: boolean;
  series: Series[];
  currency: string;
  stacked?: boolean;
}

/** A chart with a switch to the table of its numbers. title is what it shows, in words. */
export function Chart({
  title,
  data,
  height = 260,
  toolbar,
  onPick,
}: {
  title: string;
  data: ChartData;
  height?: number;
  toolbar?: ReactNode;
  /** A point was pressed. Who cannot point needs another way to the same. */
  onPick?: (category: number, series: number) => void;
}) {
  const [asTable, setTable] = useState(false);
  return (
    <figure aria-label={title}>
      <div className="mb-1 flex items-center justify-end gap-2 no-print">
        {toolbar}
        <ToggleButtonGroup
          aria-label={common.showAs}
          selectionMode="single"
          disallowEmptySelection
          selectedKeys={[asTable ? "table" : "chart"]}
          onSelectionChange={(k) => setTable([...k][0] === "table")}
          className="flex rounded-md border border-line p-0.5"
        >
          <Toggle id="chart" label={common.chart}>
            <ChartColumn className="size-3.5" aria-hidden="true" />
          </Toggle>
          <Toggle id="table" label={common.table}>
            <Table2 className="size-3.5" aria-hidden="true" />
          </Toggle>
        </ToggleButtonGroup>
      </div>
      <div style={{ height }} className="overflow-auto">
        {asTable ? (
          <ChartTable title={title} data={data} />
        ) : (
          <Suspense fallback={<Skeleton className="h-full w-full" />}>
            <Plot title={title} data={data} onPick={onPick} />
          </Suspense>
        )}
      </div>
    </figure>
  );
}

function Toggle({ id, label, children }: { id: string; label: string; children: ReactNode }) {
  return (
    <ToggleButton
      id={id}
      aria-label={label}
      className="grid size-6 cursor-default place-items-center rounded text-faint outline-none data-[hovered]:text-ink data-[selected]:bg-sunken data-[selected]:text-ink data-[focus-visible]:ring-focus"
    >
      {children}
    </ToggleButton>
  );
}

function ChartTable({ title, data }: { title: string; data: ChartData }) {
  return (
    <div
      tabIndex={0}
      role="region"
      aria-label={common.asTable(title)}
      className="h-full overflow-auto outline-none focus-visible:ring-focus"
    >
      <table className="w-full text-sm">
        <thead>
          <tr className="text-xs text-muted">
            <th scope="col" className="sticky top-0 bg-surface py-1.5 text-left font-medium">
              {data.dates ? common.date : common.name}
            </th>
            {data.series.map((s) => (
              <th key={s.name} scope="col" className="sticky top-0 bg-surface py-1.5 text-right font-medium">
                {s.name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {data.categories.map((c, i) => (
            <tr key={c} className="border-t border-line">
              <th scope="row" className="py-1.5 text-left font-normal">
                {data.dates ? day(c) : c}
              </th>
              {data.series.map((s) => (
                <td key={s.name} className="num py-1.5 text-right">
                  {figure(s.values[i], s.format, data.currency)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
