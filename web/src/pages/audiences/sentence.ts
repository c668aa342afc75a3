// A definition as a sentence, so that a viewer sees at once who is in the audience.
import { percent } from "../../lib/format";
import { t } from "../../text/audiences";
import { platformName } from "../connections/glyph";
import type { Audience, Lookalike, Targeting } from "./data";
import { country, language } from "./places";

/** Names of audiences by id. */
export type Named = (id: string) => string;

/** All four genders or devices are the same as none: no limit. */
const limiting = (list: readonly string[]) => (list.length < 4 ? list : []);

export function targetingSentence(d: Targeting, named: Named): string {
  return t.describe({
    genders: limiting(d.genders),
    age: d.age,
    places: [...d.regions, ...d.countries.map(country)],
    languages: d.languages.map(language),
    interests: d.interests,
    devices: limiting(d.devices),
    included: d.include_audience_ids.map(named),
    excluded: d.exclude_audience_ids.map(named),
  });
}

export function lookalikeSentence(d: Lookalike, named: Named): string {
  return t.describeLookalike(percent(d.size_percent / 100, 0), named(d.seed_audience_id), d.countries.map(country));
}

/** Who is in an audience. */
export function sentence(a: Audience, named: Named): string {
  switch (a.type) {
    case "targeting":
      return targetingSentence(a.definition as Targeting, named);
    case "lookalike":
      return lookalikeSentence(a.definition as Lookalike, named);
    case "customer_list":
      return t.describeList;
    default: {
      const platforms = [...new Set(a.external_refs.map((r) => platformName(r.platform)))];
      return platforms.length > 0 ? t.describePlatforms(platforms) : t.describePlatform;
    }
  }
}
