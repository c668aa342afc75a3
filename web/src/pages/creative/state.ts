// The form of a generation: facts, and how the ad should be.
import type { Schemas } from "../../api/client";
import { blankFacts, briefOf, type Facts, factsOf } from "./brief";
import { type Creative, callOf } from "./data";

type Request = Schemas["GenerateRequest"];

/** The fields beside the facts; all text, as they are typed. */
export const blankSettings = {
  type: "text",
  channels: [] as string[],
  variants: "3",
  aspect_ratios: [] as string[],
  sizes: [] as string[],
  audience: "none",
  campaign: "none",
  language: "",
  tone: "",
  call: "none",
  landing: "",
  voice: "",
  colors: "",
  provider: "none",
  fallback: "none",
};

export type Settings = typeof blankSettings;

export interface State {
  facts: Facts;
  settings: Settings;
  /** The text to read facts from. */
  text: string;
  /** What an earlier request asked for and the form does not show. */
  kept: Partial<Request>;
}

export const blankState: State = { facts: blankFacts, settings: blankSettings, text: "", kept: {} };

const text = (s: string) => s.trim() || undefined;
const chosen = (id: string) => (id === "none" ? undefined : id);
const list = (s: string) => s.split(/[\s,;]+/).filter(Boolean);
const some = <T>(values: T[]) => (values.length > 0 ? values : undefined);

/** The request of a form. It has the facts alone: a text only fills them in. */
export function requestOf({ facts, settings: s, kept }: State): Request {
  const brand = {
    ...kept.brand,
    name: text(facts.brand),
    voice: text(s.voice),
    colors: s.colors ? list(s.colors) : undefined,
  };
  return {
    ...kept,
    brief: briefOf(facts),
    type: s.type as Request["type"],
    channels: some(s.channels) as Request["channels"],
    variants: Number(s.variants),
    aspect_ratios: some(s.aspect_ratios) as Request["aspect_ratios"],
    sizes: some(s.sizes) as Request["sizes"],
    audience_id: chosen(s.audience),
    campaign_id: chosen(s.campaign),
    language: text(s.language),
    tone: text(s.tone),
    call_to_action: s.call === "none" ? undefined : callOf(s.call),
    landing_url: text(s.landing),
    brand: Object.values(brand).some(Boolean) ? brand : undefined,
    provider: chosen(s.provider) as Request["provider"],
    fallback: s.fallback === "fail" ? "none" : (chosen(s.fallback) as Request["fallback"]),
  };
}

/** The form that would generate a creative again. */
export function stateOf(c: Creative): State {
  const g = c.generation;
  // The contract leaves parameters open; they are the fields of the request.
  const p = (g?.parameters ?? {}) as Partial<Request>;
  const { logo_url, banned_words } = p.brand ?? {};
  return {
    facts: factsOf(c),
    settings: {
      type: p.type ?? "text",
      channels: p.channels ?? [],
      variants: String(p.variants ?? 3),
      aspect_ratios: p.aspect_ratios ?? [],
      sizes: p.sizes ?? [],
      audience: p.audience_id ?? "none",
      campaign: p.campaign_id ?? "none",
      language: p.language ?? "",
      tone: p.tone ?? "",
      call: p.call_to_action ?? "none",
      landing: p.landing_url ?? "",
      voice: p.brand?.voice ?? "",
      colors: (p.brand?.colors ?? []).join(", "),
      provider: g?.provider ?? "none",
      fallback: p.fallback === "none" ? "fail" : (p.fallback ?? "none"),
    },
    text: g?.prompt ?? "",
    kept: {
      negative_prompt: g?.negative_prompt || undefined,
      formats: p.formats,
      references: p.references,
      tags: c.tags,
      brand: logo_url || banned_words?.length ? { logo_url: logo_url || undefined, banned_words } : undefined,
    },
  };
}
