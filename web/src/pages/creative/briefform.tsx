// The form for the facts of an ad, and the text that can fill it.

import { useMutation } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { take, v1 } from "../../api/client";
import { t } from "../../text/creative";
import { rich } from "../../text/rich";
import { Button } from "../../ui/button";
import { Badge } from "../../ui/display";
import { Note } from "../../ui/feedback";
import { Select, TextField } from "../../ui/fields";
import {
  around,
  type Facts,
  type Found,
  firstFacts,
  foundFor,
  isUnsure,
  kindOptions,
  type ListFact,
  labelOf,
  lastFacts,
  listFacts,
  mustInclude,
  occasion,
  shownFacts,
  type TextFact,
  type Understood,
  wrongOf,
} from "./brief";
import { Lines } from "./lines";
import { More } from "./more";

const b = t.briefForm;

/** What was read from a text. */
export interface Reading {
  text: string;
  understood: Understood;
}

interface PasteProps {
  text: string;
  setText: (text: string) => void;
  read: ReturnType<typeof useRead>;
  reading: Reading | null;
}

/** Reads the facts of a text. */
export function useRead(done: (r: Reading) => void) {
  return useMutation({
    meta: { quiet: true },
    mutationFn: async (prompt: string) => {
      const { data } = await take(v1.POST("/v1/creative/understand", { body: { prompt } }));
      return { text: prompt, understood: data as Understood };
    },
    onSuccess: done,
  });
}

export function Paste({ text, setText, read, reading }: PasteProps) {
  const wrong = wrongOf(read.error);
  return (
    <div className="grid gap-2">
      <TextField
        label={b.paste}
        hint={b.pasteHint}
        rows={4}
        value={text}
        onChange={setText}
        error={wrong.fields.prompt ?? wrong.summary}
      />
      <div>
        <Button size="sm" isDisabled={!text.trim()} busy={read.isPending} onPress={() => read.mutate(text)}>
          {b.fill}
        </Button>
      </div>
      <div aria-live="polite">{reading ? <Outcome reading={reading} /> : null}</div>
    </div>
  );
}

/** How much was found in a text, and what would help. */
function Outcome({ reading: { understood: u } }: { reading: Reading }) {
  const facts = shownFacts(u);
  const unsure = facts.filter(isUnsure).length;
  const missing = [...new Set(u.missing.map(labelOf))];
  if (facts.length === 0) return <Note tone="warn">{b.nothing}</Note>;
  return (
    <Note tone={unsure > 0 ? "warn" : "info"}>
      {[
        b.found(facts.length),
        unsure > 0 ? b.check(unsure) : "",
        missing.length > 0 ? b.missing(missing.join(", ")) : "",
        u.ignored_lines > 0 ? b.ignored(u.ignored_lines) : "",
      ]
        .filter(Boolean)
        .join(" ")}
    </Note>
  );
}

/** Where a fact stands in the text it was read from. */
export function Source({ text, found }: { text: string; found: Found }) {
  const { before, after } = around(text, found);
  return (
    <span className="wrap-anywhere">
      {isUnsure(found) ? (
        <>
          <Badge tone="warn">{b.unsure}</Badge>{" "}
        </>
      ) : null}
      {rich(b.source, {
        before,
        found: <mark className="bg-accent-soft font-medium text-accent-text">{found.text}</mark>,
        after,
      })}
    </span>
  );
}

export interface FormProps {
  facts: Facts;
  set: (next: Partial<Facts>) => void;
  /** Messages by field; those of facts begin with "fact.". */
  wrong: Record<string, string>;
  reading: Reading | null;
}

export function FactFields({ facts, set, wrong, reading }: FormProps) {
  const props = { facts, set, wrong, reading };
  return (
    <>
      <div className="grid gap-4 sm:grid-cols-2">
        {firstFacts.map((f) => (
          <One key={f.id} fact={f} {...props} />
        ))}
      </div>
      {listFacts.map((f) => (
        <Several key={f.id} fact={f} {...props} />
      ))}
      <div className="grid gap-4 sm:grid-cols-2">
        {lastFacts.map((f) => (
          <One key={f.id} fact={f} {...props} />
        ))}
      </div>
      <Select
        label={b.category}
        value={facts.kind}
        onChange={(kind) => set({ kind })}
        options={kindOptions}
        error={wrong["fact.kind"]}
      />
      <More
        title={b.more}
        isNeeded={
          Boolean(facts.occasion || facts.avoid) ||
          facts.must_include.length > 0 ||
          Object.keys(wrong).some((k) => /^(fact\.(must_include|avoid|occasion)|negative_prompt)/.test(k))
        }
      >
        <One fact={occasion} {...props} />
        <div className="sm:col-span-2">
          <Several fact={mustInclude} {...props} />
        </div>
        <TextField
          className="sm:col-span-2"
          label={b.avoid}
          hint={b.avoidHint}
          value={facts.avoid}
          onChange={(avoid) => set({ avoid })}
          error={itemError(wrong, "fact.avoid")}
        />
      </More>
    </>
  );
}

/** The message about a list or the first of its items that has one. */
function itemError(wrong: Record<string, string>, field: string): string | undefined {
  return Object.entries(wrong).find(([k]) => k === field || k.startsWith(`${field}[`))?.[1];
}

function hintOf(reading: Reading | null, field: string, value: string, hint?: string): ReactNode {
  const found = reading ? foundFor(shownFacts(reading.understood), field, value) : undefined;
  return reading && found ? <Source text={reading.text} found={found} /> : hint;
}

function One({ fact: f, facts, set, wrong, reading }: FormProps & { fact: TextFact }) {
  return (
    <TextField
      className={f.full ? "sm:col-span-2" : undefined}
      label={f.label}
      hint={hintOf(reading, f.id, facts[f.id], f.hint)}
      placeholder={f.example}
      rows={f.rows}
      value={facts[f.id]}
      onChange={(v) => set({ [f.id]: v })}
      error={wrong[`fact.${f.id}`]}
    />
  );
}

function Several({ fact: f, facts, set, wrong, reading }: FormProps & { fact: ListFact }) {
  const values = facts[f.id];
  const whole = wrong[`fact.${f.id}`];
  const id = `facts-${f.id}`;
  return (
    <fieldset className="grid gap-1" aria-describedby={`${id}-hint`}>
      <legend className="text-sm font-medium">{f.label}</legend>
      <p id={`${id}-hint`} className={`mb-1 text-xs ${whole ? "text-bad" : "text-muted"}`}>
        {whole ?? b.listHint(f.hint, f.example)}
      </p>
      <Lines one={f.one} values={values} most={f.most} set={(list) => set({ [f.id]: list })}>
        {(text, i, label, autoFocus) => (
          <TextField
            label={label}
            autoFocus={autoFocus}
            hint={hintOf(reading, f.id, text)}
            value={text}
            onChange={(v) => set({ [f.id]: values.map((x, n) => (n === i ? v : x)) })}
            error={wrong[`fact.${f.id}[${i}]`]}
          />
        )}
      </Lines>
    </fieldset>
  );
}
