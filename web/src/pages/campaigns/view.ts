// What the list shows stands in the URL, so that a link shows the same.
import { useNavigate, useSearch } from "@tanstack/react-router";
import type { SortDescriptor } from "../../ui/table";
import { sorts } from "./columns";
import type { Filter } from "./data";

export interface View {
  filter: Filter;
  /** How many filters are set, the search among them. */
  narrowed: number;
  sort: string;
  order: "asc" | "desc";
  preset: string;
  /** Columns of the viewer's own choice. */
  columns: string[];
  creating: boolean;
}

type Search = Record<string, unknown>;

const text = (v: unknown) => (typeof v === "string" || typeof v === "number" ? String(v) : "");
const list = (v: unknown) => text(v).split(",").filter(Boolean);

export function readView(search: Search): View {
  const filter: Filter = {
    q: text(search.q),
    status: list(search.status),
    delivery: list(search.delivery),
    channel: list(search.channel),
    objective: list(search.objective),
    tag: text(search.tag),
  };
  return {
    filter,
    narrowed: Object.values(filter).filter((v) => v.length > 0).length,
    sort: sorts(text(search.sort)) ? text(search.sort) : "created_at",
    order: search.order === "asc" ? "asc" : "desc",
    preset: text(search.view) || "performance",
    columns: list(search.columns),
    creating: Boolean(search.new),
  };
}

/** The parts of a view that can be set; an empty one leaves the URL. */
export type Change = Partial<Record<keyof Filter | "sort" | "order" | "view" | "columns" | "new", string | string[]>>;

export function useView(): [View, (change: Change) => void] {
  const search = useSearch({ strict: false }) as Search;
  const navigate = useNavigate();
  const set = (change: Change) => {
    const next = Object.fromEntries(
      Object.entries(change).map(([k, v]) => [k, (Array.isArray(v) ? v.join(",") : v) || undefined]),
    );
    navigate({ to: ".", replace: true, search: ((old: Search) => ({ ...old, ...next })) as never });
  };
  return [readView(search), set];
}

export const nothing: Change = { q: "", status: "", delivery: "", channel: "", objective: "", tag: "" };

export const descriptor = (v: View): SortDescriptor => ({
  column: v.sort,
  direction: v.order === "asc" ? "ascending" : "descending",
});

const texts = ["name", "status", "delivery", "objective"];

/** How to sort after a press on a heading: words from a, figures and days from the highest. */
export function nextSort(v: View, pressed: SortDescriptor): Change {
  const column = String(pressed.column);
  if (column !== v.sort) return { sort: column, order: texts.includes(column) ? "asc" : "desc" };
  return { sort: column, order: v.order === "asc" ? "desc" : "asc" };
}
