// Countries and languages by their codes, in the language of the page. The
// countries are the officially assigned codes of ISO 3166-1 alpha-2.
import { locale } from "../../text/language";
import type { Option } from "../../ui/fields";
import places from "./places.json";

function namer(type: "region" | "language"): (code: string) => string {
  const names = new Intl.DisplayNames([locale, "en"], { type });
  return (code) => {
    try {
      return names.of(code) ?? code;
    } catch {
      return code;
    }
  };
}

export const country = namer("region");
export const language = namer("language");

const sorted = (list: Option[]) => list.sort((a, b) => a.label.localeCompare(b.label, locale));

export const countries: Option[] = sorted(places.countries.map((id) => ({ id, label: country(id) })));
export const languages: Option[] = sorted(places.languages.map((id) => ({ id, label: language(id) })));
