import { type FocusEvent, type KeyboardEvent, useEffect, useRef, useState } from "react";

const rowAt = (body: Element, index: number) => body.querySelector<HTMLElement>(`[data-index="${index}"]`);
const controls = (row: Element) => [...row.querySelectorAll<HTMLElement>("a, button, input, [tabindex='0']")];

/** A page of rows, for the Page keys. */
const leap = 10;

/** Which row of a long table has the focus. The table is one Tab stop, although only some of its rows are in the page. */
export function useFocusedRow(count: number, show: (index: number) => void) {
  const [current, setCurrent] = useState(0);
  const wanted = useRef<{ body: Element; index: number } | null>(null);
  const end = useRef<HTMLSpanElement>(null);
  // A row that was not in the page is there once it has been scrolled to.
  useEffect(() => {
    const row = wanted.current && rowAt(wanted.current.body, wanted.current.index);
    if (!row) return;
    wanted.current = null;
    row.focus({ preventScroll: true });
  });
  const go = (body: Element, index: number) => {
    const next = Math.max(0, Math.min(index, count - 1));
    setCurrent(next);
    show(next);
    wanted.current = { body, index: next };
  };
  const onFocus = (e: FocusEvent<HTMLElement>) => {
    const body = e.currentTarget;
    const row = (e.target as Element).closest("[data-index]");
    if (!row) return;
    const index = Number(row.getAttribute("data-index"));
    const inside = e.relatedTarget instanceof Node && body.contains(e.relatedTarget);
    // By Tab one comes to the row that had the focus before; by pointer to the one that was pressed.
    if (!inside && index !== current && e.target.matches(":focus-visible") && rowAt(body, current)) {
      rowAt(body, current)?.focus();
    } else {
      setCurrent(index);
    }
  };
  const onKeyDown = (e: KeyboardEvent<HTMLElement>) => {
    const body = e.currentTarget;
    const row = (e.target as Element).closest("[data-index]");
    if (!row || e.altKey || e.ctrlKey || e.metaKey) return;
    const steps: Record<string, number> = {
      ArrowDown: current + 1,
      ArrowUp: current - 1,
      PageDown: current + leap,
      PageUp: current - leap,
      Home: 0,
      End: count - 1,
    };
    const step = steps[e.key];
    if (step !== undefined) {
      e.preventDefault();
      go(body, step);
    } else if (e.key === "Tab" && !e.shiftKey && (controls(row).at(-1) ?? row) === e.target) {
      // The browser goes on from here, past all other rows.
      end.current?.focus({ preventScroll: true });
    } else if (e.key === "Tab" && e.shiftKey && row === e.target && body.previousElementSibling) {
      e.preventDefault();
      controls(body.previousElementSibling).at(-1)?.focus();
    }
  };
  return {
    current: Math.min(current, Math.max(0, count - 1)),
    onFocus,
    onKeyDown,
    end: <span ref={end} tabIndex={-1} />,
  };
}
