// The language of the console and the locale of its numbers and dates.

/** The languages that the console speaks, by what they are called in themselves. */
export const languages = { en: "English", de: "Deutsch" } as const;
export type Language = keyof typeof languages;

const key = "fanfare.language";
const plain: Record<Language, string> = { en: "en-US", de: "de-DE" };

// Choice: the language is kept in the browser, as the theme is. The server has
// no field for it, and the sign-in page needs it before it knows the user.
/** The language that the user has set, null to follow the browser. */
export function chosenLanguage(): Language | null {
  const v = localStorage.getItem(key);
  return v !== null && v in languages ? (v as Language) : null;
}

/** Sets the language, null to follow the browser. The page has to be loaded again. */
export function chooseLanguage(language: Language | null) {
  if (language === null) localStorage.removeItem(key);
  else localStorage.setItem(key, language);
}

const wanted: readonly string[] = navigator.languages ?? [navigator.language];
const base = (tag: string) => tag.slice(0, 2).toLowerCase();

/** The first language of the browser that the console speaks. */
export const browserLanguage: Language =
  (wanted.map(base).find((tag) => tag in languages) as Language | undefined) ?? "en";

/** The language of this page. It stays the same until the page is loaded again. */
export const language: Language = chosenLanguage() ?? browserLanguage;

// Choice: numbers and dates follow the language of the text around them, in the
// variant of the browser: "3. Nov." inside an English sentence reads as an error.
/** The locale of numbers and dates. */
export const locale: string = wanted.find((tag) => base(tag) === language) ?? plain[language];
