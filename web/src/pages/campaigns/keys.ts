// j and k move between the rows, x selects; arrows, Space and Enter the table knows itself.
import { type RefObject, useEffect } from "react";

/** The rows that are in the page, from the top. */
function rowsIn(box: HTMLElement | null): HTMLElement[] {
  const rows = [...(box?.querySelectorAll<HTMLElement>("[role=row][data-key]") ?? [])];
  const index = (row: HTMLElement) => Number(row.getAttribute("aria-rowindex"));
  return rows.sort((a, b) => index(a) - index(b));
}

/** Listens while the box with the table is there. toggle selects or unselects a row by its key. */
export function useRowKeys(box: RefObject<HTMLElement | null>, toggle?: (key: string) => void) {
  useEffect(() => {
    const press = (e: KeyboardEvent) => {
      const target = e.target as HTMLElement;
      if (e.metaKey || e.ctrlKey || e.altKey || !/^[jkx]$/.test(e.key)) return;
      if (/^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName) && !box.current?.contains(target)) return;
      if (document.querySelector("[role=dialog]")) return;
      const rows = rowsIn(box.current);
      const at = rows.findIndex((r) => r.contains(target));
      // The table would take the letter for the start of a name.
      e.stopPropagation();
      e.preventDefault();
      if (e.key !== "x") rows[Math.max(0, at + (e.key === "j" ? 1 : -1))]?.focus();
      else if (at >= 0) toggle?.(rows[at]?.dataset.key ?? "");
    };
    document.addEventListener("keydown", press, true);
    return () => document.removeEventListener("keydown", press, true);
  });
}
