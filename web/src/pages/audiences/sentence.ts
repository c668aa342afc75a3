// A definition as a sentence, so that one sees at once whom it means.
import { platformName } from "../connections/glyph";
import type { Audience, Lookalike, Targeting } from "./data";
import { country, language } from "./places";

// The sentence around the lists is English whatever the viewer's locale.
const and = new Intl.ListFormat("en-GB", { type: "conjunction" });
const or = new Intl.ListFormat("en-GB", { type: "disjunction" });

const people: Record<string, string> = {
  female: "women",
  male: "men",
  other: "people of other genders",
  unknown: "people of unknown gender",
};

function aged(age: Targeting["age"]): string {
  const { min, max } = age ?? { min: null, max: null };
  if (min && max) return min === max ? ` aged ${min}` : ` aged ${min} to ${max}`;
  if (min) return ` aged ${min} and over`;
  return max ? ` aged up to ${max}` : "";
}

/** Names of audiences by id. */
export type Named = (id: string) => string;

export function targetingSentence(d: Targeting, named: Named): string {
  const who = d.genders.length > 0 && d.genders.length < 4 ? and.format(d.genders.map((g) => people[g] ?? g)) : "";
  const parts = [
    (who || "people") + aged(d.age),
    d.regions.length + d.countries.length > 0 ? `in ${or.format([...d.regions, ...d.countries.map(country)])}` : "",
    d.languages.length > 0 ? `who read ${or.format(d.languages.map(language))}` : "",
    d.interests.length > 0 ? `interested in ${or.format(d.interests)}` : "",
    d.devices.length > 0 && d.devices.length < 4
      ? `on ${or.format(d.devices.map((x) => (x === "tv" ? "TV" : x)))}`
      : "",
    d.include_audience_ids.length > 0 ? `who are in ${or.format(d.include_audience_ids.map(named))}` : "",
    d.exclude_audience_ids.length > 0 ? `but not in ${or.format(d.exclude_audience_ids.map(named))}` : "",
  ].filter(Boolean);
  if (parts.length === 1 && parts[0] === "people") return "Everyone.";
  const text = parts.join(", ").replace(/^([^,]+), in /, "$1 in ");
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

export function lookalikeSentence(d: Lookalike, named: Named): string {
  const where = d.countries.length > 0 ? ` in ${or.format(d.countries.map(country))}` : "";
  return `The ${d.size_percent} % of people${where} who are most like ${named(d.seed_audience_id)}.`;
}

/** Whom an audience means. */
export function sentence(a: Audience, named: Named): string {
  switch (a.type) {
    case "targeting":
      return targetingSentence(a.definition as Targeting, named);
    case "lookalike":
      return lookalikeSentence(a.definition as Lookalike, named);
    case "customer_list":
      return "The people whose hashed addresses are on the list.";
    default:
      return `Defined on ${[...new Set(a.external_refs.map((r) => platformName(r.platform)))].join(", ") || "its platform"}.`;
  }
}
