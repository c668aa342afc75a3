// The copy of one channel: its lines with the room they take, and what the
// check says about them.

import { CircleAlert, RefreshCw, TriangleAlert } from "lucide-react";
import { t } from "../../text/creative";
import { Button } from "../../ui/button";
import type { Copy, Finding, Variant } from "./data";
import { isList, type Limit, length, limitsOf, lineNames, texts } from "./limits";

/** How much of its room a text takes; over it is said in words too. */
export function Counter({ text, limit }: { text: string; limit: Limit }) {
  const n = length(text, limit.count);
  const cut = limit.soft > 0 && n > limit.soft;
  const over = n > limit.hard;
  return (
    <span
      className={`num text-xs whitespace-nowrap ${over ? "font-medium text-bad" : cut ? "text-warn" : "text-faint"}`}
    >
      {over || cut ? <span className="sr-only">{over ? t.over : t.cut} </span> : null}
      {n}/{cut || limit.soft === 0 ? limit.hard : limit.soft}
    </span>
  );
}

/** What the check found in one line. */
export function Findings({ list }: { list: Finding[] }) {
  if (list.length === 0) return null;
  return (
    <ul className="mt-1 grid gap-1">
      {list.map((f) => {
        const Icon = f.severity === "block" ? CircleAlert : TriangleAlert;
        return (
          <li
            key={`${f.rule}${f.start}`}
            className={`flex items-start gap-1.5 text-xs ${f.severity === "block" ? "text-bad" : "text-warn"}`}
          >
            <Icon className="mt-0.5 size-3 shrink-0" aria-hidden="true" />
            <span>
              <span className="sr-only">{f.severity === "block" ? t.blocking : t.warning} </span>
              {f.message}
            </span>
          </li>
        );
      })}
    </ul>
  );
}

/** A text with the places that the check names underlined. */
function Marked({ text, findings }: { text: string; findings: Finding[] }) {
  const letters = [...text];
  const parts = [];
  let from = 0;
  for (const f of findings) {
    if (f.start < from || f.end > letters.length) continue;
    parts.push(letters.slice(from, f.start).join(""));
    parts.push(
      <mark
        key={f.start}
        className={`bg-transparent text-inherit underline decoration-2 underline-offset-3 ${f.severity === "block" ? "decoration-bad" : "decoration-warn"}`}
      >
        {letters.slice(f.start, f.end).join("")}
      </mark>,
    );
    from = f.end;
  }
  return (
    <>
      {parts}
      {letters.slice(from).join("")}
    </>
  );
}

export const foundIn = (policy: Variant["policy"], channel: string, field: string, index: number) =>
  policy.findings.filter((f) => f.channel === channel && f.field === field && f.index === index);

export function CopyLines({
  channel,
  copy,
  policy,
  lang,
  regenerate,
  isBusy,
}: {
  channel: string;
  copy: Copy;
  policy: Variant["policy"];
  lang: string | null;
  /** Asks for another line in a place, undefined where that is not possible. */
  regenerate?: (field: string) => void;
  isBusy?: boolean;
}) {
  return (
    <dl className="grid gap-x-6 gap-y-4 text-sm sm:grid-cols-[8rem_1fr]">
      {limitsOf(channel)
        .map((limit) => ({ limit, lines: texts(copy, limit.field) }))
        .filter(({ lines }) => lines.length > 0)
        .map(({ limit, lines }) => (
          <div key={limit.field} className="contents">
            <dt className="text-muted max-sm:-mb-3">{lineNames(limit.field).label}</dt>
            <dd className={`grid min-w-0 items-start gap-x-8 gap-y-1.5 ${limit.hard <= 40 ? "sm:grid-cols-2" : ""}`}>
              {lines.map((text, i) => {
                const found = foundIn(policy, channel, limit.field, i);
                return (
                  <div key={text}>
                    <div className="flex items-baseline justify-between gap-4">
                      <span lang={lang ?? undefined} className="min-w-0 whitespace-pre-line break-words">
                        <Marked text={text} findings={found} />
                      </span>
                      <span className="flex shrink-0 items-center gap-1.5">
                        <Counter text={text} limit={limit} />
                        {regenerate && limit.field !== "business_name" ? (
                          <Button
                            icon
                            size="sm"
                            look="quiet"
                            isDisabled={isBusy}
                            aria-label={t.regenerate(
                              isList(limit.field)
                                ? t.item(lineNames(limit.field).one, i + 1)
                                : lineNames(limit.field).one,
                            )}
                            onPress={() =>
                              regenerate(
                                `content.by_channel.${channel}.${limit.field}${isList(limit.field) ? `[${i}]` : ""}`,
                              )
                            }
                          >
                            <RefreshCw aria-hidden="true" />
                          </Button>
                        ) : null}
                      </span>
                    </div>
                    <Findings list={found} />
                  </div>
                );
              })}
            </dd>
          </div>
        ))}
    </dl>
  );
}
