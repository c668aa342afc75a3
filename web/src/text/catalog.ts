// English is part of the code that uses it. German is one file, which only
// browsers in German load, before the rest of the program.
import type { Catalog } from "./de";
import { language } from "./language";

let loaded: Catalog | null = null;

// Choice: a program starts after its texts, so that constants of modules can be
// made of texts. A change of the language therefore loads the page again.
/** Loads the texts of the page's language, then the program. */
export async function withTexts(program: () => Promise<unknown>) {
  if (language === "de") loaded = (await import("./de")).catalog;
  await program();
}

/** An area of the catalog in the language of the page. */
export function area<K extends keyof Catalog>(name: K, english: Catalog[K]): Catalog[K] {
  return loaded ? loaded[name] : english;
}
