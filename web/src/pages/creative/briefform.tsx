// The form for the facts of an ad, and the text that can fill it.
import { useMutation } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { take, v1 } from "../../api/client";
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
        label="Paste a text"
        hint="A page of your website, a brief or notes. It fills in the form below. Only the form is used for the ad."
        rows={4}
        value={text}
        onChange={setText}
        error={wrong.fields.prompt ?? wrong.summary}
      />
      <div>
        <Button size="sm" isDisabled={!text.trim()} busy={read.isPending} onPress={() => read.mutate(text)}>
          Fill in the form
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
  if (facts.length === 0) return <Note tone="warn">No facts were found in the text. Fill in the form.</Note>;
  return (
    <Note tone={unsure > 0 ? "warn" : "info"}>
      {facts.length} {facts.length === 1 ? "fact was" : "facts were"} found.
      {unsure > 0 ? ` Please check ${unsure === 1 ? "the one" : `the ${unsure}`} marked below.` : ""}
      {missing.length > 0 ? ` These would help most: ${missing.join(", ")}.` : ""}
      {u.ignored_lines > 0
        ? ` ${u.ignored_lines} ${u.ignored_lines === 1 ? "line" : "lines"} that ads do not use were left out, such as navigation, legal text or reviews.`
        : ""}
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
          <Badge tone="warn">Please check</Badge>{" "}
        </>
      ) : null}
      From the text: “{before}
      <mark className="bg-accent-soft font-medium text-accent-text">{found.text}</mark>
      {after}”
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
        label="Kind of ad"
        value={facts.kind}
        onChange={(kind) => set({ kind })}
        options={kindOptions}
        error={wrong["fact.kind"]}
      />
      <More
        title="More about the text"
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
          label="Avoid"
          hint="Words that must not appear, separated by commas."
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
        {whole ?? `${f.hint} For example “${f.example}”.`}
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
