// The facts of an ad as the form has them: filled by people or from a text,
// and sent as the brief of a generation.

import { type Detail, Refusal, type Schemas } from "../../api/client";
import { count, words } from "../../lib/format";
import { t } from "../../text/creative";
import { language } from "../../text/language";
import type { Creative } from "./data";

export type Understood = NonNullable<Schemas["Understood"]>;
export type Found = Schemas["BriefFact"];
type BriefInput = NonNullable<Schemas["BriefInput"]>;

/** A fact that is one text. */
export interface TextFact {
  id: TextName;
  label: string;
  hint?: string;
  example: string;
  /** Rows of a text area. */
  rows?: number;
  /** Takes the whole width of the form. */
  full?: boolean;
}

type TextName =
  | "product"
  | "brand"
  | "offer"
  | "price"
  | "previous_price"
  | "deadline"
  | "code"
  | "audience"
  | "call_to_action"
  | "place"
  | "when"
  | "contact"
  | "terms"
  | "occasion";

type ListName = "benefits" | "proof" | "must_include";

export type Facts = Record<TextName, string> & Record<ListName, string[]> & { kind: string; avoid: string };

const fact = (id: TextName, rest: Partial<TextFact> = {}): TextFact => ({ id, ...t.fields[id], ...rest });

/** The facts before the lists, in the order of the form. */
export const firstFacts: TextFact[] = [
  fact("product", { full: true }),
  fact("brand"),
  fact("audience"),
  fact("offer", { full: true }),
  fact("price"),
  fact("previous_price"),
  fact("deadline"),
  fact("code"),
];

/** The facts after the lists. */
export const lastFacts: TextFact[] = [
  fact("call_to_action"),
  fact("contact"),
  fact("place"),
  fact("when"),
  fact("terms", { rows: 2, full: true }),
];

export const occasion = fact("occasion", { full: true });

/** A fact that is a list of texts. */
export interface ListFact {
  id: ListName;
  label: string;
  /** The label of one item. */
  one: string;
  hint: string;
  example: string;
  most: number;
}

const list = (id: ListName, most: number): ListFact => ({ id, ...t.lists[id], most });

export const listFacts: ListFact[] = [list("benefits", 10), list("proof", 5)];

export const mustInclude = list("must_include", 5);

const kinds = [
  "product",
  "food",
  "service",
  "software",
  "course",
  "event",
  "travel",
  "property",
  "hiring",
  "appeal",
  "finance",
  "health",
  "beauty",
  "fitness",
  "fashion",
  "home",
  "auto",
  "pets",
  "kids",
  "media",
  "b2b",
] as const;

export const kindOptions = [
  { id: "none", label: t.briefForm.anyCategory },
  ...kinds.map((id) => ({ id, label: t.categories[id] })),
];

const textFacts = [...firstFacts, ...lastFacts, occasion];
const lists = [...listFacts, mustInclude];

export const blankFacts: Facts = {
  ...(Object.fromEntries(textFacts.map((f) => [f.id, ""])) as Record<TextName, string>),
  benefits: [],
  proof: [],
  must_include: [],
  avoid: "",
  kind: "none",
};

/** Below this confidence a fact is marked for a check. The server fills lines only with surer facts. */
const sure = 0.7;
/** From this confidence the kind of an ad is taken from its text, as the server does. */
const sureKind = 0.8;

export const isUnsure = (f: Found) => f.confidence < sure;

/** The name of the form's field for a type of fact, undefined for those without. */
const fieldOf = (type: string): TextName | ListName | undefined =>
  type === "benefit" || type === "sentence"
    ? "benefits"
    : [...textFacts, ...lists].find((f) => f.id === type && f.id !== "must_include")?.id;

/** The label of a type of fact or of a field of the brief. */
export const labelOf = (type: string): string => {
  if (type === "avoid") return t.briefForm.avoid;
  if (type === "kind") return t.briefForm.category;
  return [...textFacts, ...lists].find((f) => f.id === (fieldOf(type) ?? type))?.label ?? words(type);
};

/** The facts to show: without sentences that other facts are parts of. */
export function shownFacts(u: Understood): Found[] {
  const parts = u.facts.filter((f) => f.type !== "sentence");
  const covered = (s: Found) =>
    parts.some((f) => f.start !== null && f.end !== null && f.start >= (s.start ?? 0) && f.end <= (s.end ?? 0));
  return [
    ...parts,
    // A sentence alone can be repeated, but nobody has said what it is.
    ...u.facts.filter((f) => f.type === "sentence" && !covered(f)).map((f) => ({ ...f, confidence: 0 })),
  ];
}

/** The fact that a value of the form comes from, undefined once the value was changed. */
export function foundFor(found: Found[], field: string, value: string): Found | undefined {
  return found.find(
    (f) =>
      f.start !== null &&
      fieldOf(f.type) === field &&
      (f.text === value || (field === "terms" && value.includes(f.text))),
  );
}

/** The words of a text around a fact. Positions count characters, not UTF-16 units. */
export function around(text: string, f: Found, room = 28): { before: string; after: string } {
  const letters = [...text];
  const start = f.start ?? 0;
  const end = f.end ?? 0;
  const flat = (s: string) => s.replace(/\s+/g, " ");
  return {
    before: (start > room ? "…" : "") + flat(letters.slice(Math.max(0, start - room), start).join("")),
    after: flat(letters.slice(end, end + room).join("")) + (end + room < letters.length ? "…" : ""),
  };
}

/**
 * Fills the form with what a text says. What people typed stays; what an
 * earlier text filled in and nobody changed gives way.
 */
export function fill(facts: Facts, u: Understood, earlier: Found[] = []): Facts {
  const next: Facts = { ...facts };
  for (const { id } of textFacts) if (foundFor(earlier, id, next[id])) next[id] = "";
  for (const { id } of lists) next[id] = next[id].filter((v) => v.trim() && !foundFor(earlier, id, v));
  const typed = new Set(textFacts.map((f) => f.id).filter((id) => next[id].trim()));
  for (const f of shownFacts(u)) {
    const field = fieldOf(f.type);
    const list = lists.find((l) => l.id === field);
    if (list) {
      const fits = next[list.id].length < list.most && [...f.text].length <= 200;
      if (fits && !next[list.id].includes(f.text)) next[list.id] = [...next[list.id], f.text];
    } else if (field && !typed.has(field as TextName)) {
      const name = field as TextName;
      next[name] = name === "terms" && next.terms ? `${next.terms} ${f.text}` : f.text;
    }
  }
  if (u.kind_confidence >= sureKind && kinds.some((k) => k === u.kind) && next.kind === "none") next.kind = u.kind;
  return next;
}

const clean = (s: string) => s.trim() || undefined;

/** The words of a list that people separate by commas. */
const commas = (s: string) => [...new Set(s.split(/[,;\n]+/).map((w) => w.trim()))].filter(Boolean);

/** The facts as a brief; undefined without any. The brand is not a field of the brief. */
export function briefOf(f: Facts): BriefInput | undefined {
  const { brand: _, ...texts } = Object.fromEntries(textFacts.map(({ id }) => [id, clean(f[id])]));
  const several = Object.fromEntries(
    lists.map(({ id }) => {
      const values = f[id].map((v) => v.trim()).filter(Boolean);
      return [id, values.length > 0 ? values : undefined];
    }),
  );
  const avoid = commas(f.avoid);
  const brief = {
    ...texts,
    ...several,
    avoid: avoid.length > 0 ? avoid : undefined,
    kind: f.kind === "none" ? undefined : f.kind,
  };
  return Object.values(brief).some((v) => v !== undefined) ? (brief as BriefInput) : undefined;
}

/** Whether the form says nothing about what is advertised. */
export function isBlank(f: Facts): boolean {
  return textFacts.every(({ id }) => !f[id].trim()) && listFacts.every(({ id }) => f[id].every((v) => !v.trim()));
}

/** The facts of a creative, as a start for another one. */
export function factsOf(c: Creative): Facts {
  const g = c.generation;
  const sent = (g?.brief ?? {}) as BriefInput;
  const brand = (g?.parameters as { brand?: { name?: string } | null } | undefined)?.brand?.name ?? "";
  const start: Facts = {
    ...blankFacts,
    brand,
    must_include: sent.must_include ?? [],
    avoid: (sent.avoid ?? []).join(", "),
    kind: sent.kind ?? "none",
  };
  return g?.understood ? fill(start, g.understood) : start;
}

const otherLabels: Record<string, string> = {
  prompt: t.text,
  type: t.type,
  channels: t.channels,
  variants: t.variants,
  aspect_ratios: t.options.ratios,
  sizes: t.options.sizes,
  campaign_id: t.options.campaign,
  audience_id: t.options.audience,
  "brand.name": t.fields.brand.label,
  "brand.colors": t.options.colors,
  "brand.voice": t.options.voice,
  "brand.logo_url": t.options.logo,
  negative_prompt: t.briefForm.avoid,
  tone: t.options.tone,
  language: t.options.language,
  call_to_action: t.options.button,
  landing_url: t.landingPage,
  provider: t.options.model,
};

/** The label of a field of the request. */
const labelAt = (path: string) => {
  const name = path.replace(/\[\d+\].*$/, "");
  return name.startsWith("brief.") ? labelOf(name.slice(6)) : (otherLabels[name] ?? words(name.replace(/^.*\./, "")));
};

const examples: Record<string, string> = Object.fromEntries([...textFacts, ...lists].map((f) => [f.id, f.example]));

/** Two or more labels as one phrase. */
export const either = (labels: string[]) => new Intl.ListFormat(language, { type: "disjunction" }).format(labels);

function languageName(tag: unknown): string {
  try {
    return new Intl.DisplayNames(language, { type: "language" }).of(String(tag)) ?? String(tag);
  } catch {
    return String(tag);
  }
}

/** What is wrong with a field, in the words of the form. */
function worded(d: Detail): string {
  const path = d.field ?? "";
  const label = labelAt(path);
  const m = d.meta ?? {};
  switch (d.code) {
    case "brief_not_understood":
      return t.errors.fillIn(label, examples[path.replace(/^brief\./, "")] ?? "");
    case "required":
      return t.errors.required(label);
    case "too_long":
      return t.errors.tooLong(label, count(Number(m.maximum)), count(Number(m.actual)));
    case "too_many_items":
      return t.errors.tooMany(label, count(Number(m.maximum)), count(Number(m.actual)));
    case "duplicate_item":
      return t.errors.duplicate;
    case "invalid_format":
      if (path === "landing_url") return t.errors.url;
      break;
    case "language_mismatch":
      return t.errors.language(languageName(m.prompt_language));
  }
  return plain(d.message);
}

/** A message of the server with the labels of the form instead of API names. */
export function plain(message: string): string {
  return message
    .replace(/,? for example \{.*\}/, "")
    .replace(/\b(?:brief|brand)\.[a-z_]+(?:\[\d+\])?/g, (path) => labelAt(path))
    .replace(/^([a-z_]+)(?:\[\d+\])? (?=must|is|has|cannot)/, (all, path) =>
      otherLabels[path] ? `${otherLabels[path]} ` : all,
    );
}

export interface Wrong {
  /** Messages by field: those of facts by their name in the form, items with their place. */
  fields: Record<string, string>;
  /** What concerns no single field. */
  summary?: string;
}

/** What a refused generation says, by the fields of the form. */
export function wrongOf(error: Error | null): Wrong {
  if (!error) return { fields: {} };
  if (!(error instanceof Refusal)) return { fields: {}, summary: error.message };
  const fields: Record<string, string> = {};
  const rest: string[] = [];
  for (const d of error.details) {
    const path = (d.field ?? "").replace(/^brief\./, "fact.").replace(/^brand\.name$/, "fact.brand");
    if (d.field === "prompt" && d.code === "required") fields["fact.product"] = t.errors.nothing;
    else if (d.field && (path.startsWith("fact.") || otherLabels[path.replace(/\[\d+\].*$/, "")]))
      fields[path] = worded(d);
    else rest.push(plain(d.message));
  }
  if (error.says("brief_not_understood")) {
    const labels = error.details.map((d) => labelAt(d.field ?? ""));
    return { fields, summary: t.errors.notEnough(either(labels)) };
  }
  if (rest.length > 0) return { fields, summary: rest.join(" ") };
  return Object.keys(fields).length > 0 ? { fields } : { fields, summary: plain(error.message) };
}

/** Why a generation failed, with the labels of the form. */
export function reasonOf(e: { code: string; message: string }): string {
  if (e.code !== "brief_not_understood") return plain(e.message);
  const names = [...e.message.matchAll(/brief\.([a-z_]+)/g)].map((m) => labelOf(m[1] as string));
  return t.errors.notEnough(either(names));
}
