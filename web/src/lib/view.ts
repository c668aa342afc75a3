// What makes a view stands in the URL, so that a link shows the same.
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useEffect, useState } from "react";

/** Reads a word of the URL; the router has made numbers of what looks like one. */
export type View = (name: string) => string;

/** The words of the URL, and how to change some; empty ones are taken out. */
export function useView(): [View, (next: Record<string, string>) => void] {
  const search = useSearch({ strict: false }) as Record<string, unknown>;
  const navigate = useNavigate();
  const set = (next: Record<string, string>) =>
    navigate({
      to: ".",
      replace: true,
      resetScroll: false,
      search: ((old: Record<string, unknown>) => {
        const all = Object.entries({ ...old, ...next });
        return Object.fromEntries(all.filter(([, v]) => v !== "" && v !== undefined));
      }) as never,
    });
  return [(name) => String(search[name] ?? ""), set];
}

/** A text that is typed: what the field shows at once, passed on when the typing rests. */
export function useTyped(value: string, commit: (v: string) => void): [string, (v: string) => void] {
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: only typing starts the wait
  useEffect(() => {
    if (text.trim() === value) return;
    const wait = setTimeout(() => commit(text.trim()), 250);
    return () => clearTimeout(wait);
  }, [text]);
  return [text, setText];
}
