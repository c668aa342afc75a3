// British rules write no comma before the last word, as the other texts do.
const all = new Intl.ListFormat("en-GB", { type: "conjunction" });
const one = new Intl.ListFormat("en-GB", { type: "disjunction" });

/** Words as a list: "a, b and c". */
export const and = (list: readonly string[]) => all.format(list);
/** Words as alternatives: "a, b or c". */
export const or = (list: readonly string[]) => one.format(list);
