const rules = new Intl.PluralRules("de");
const numbers = new Intl.NumberFormat("de");

/** One of two texts for a number. # stands for the number. */
export function plural(n: number, one: string, other: string): string {
  return (rules.select(n) === "one" ? one : other).replace("#", numbers.format(n));
}
