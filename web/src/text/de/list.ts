const all = new Intl.ListFormat("de", { type: "conjunction" });
const one = new Intl.ListFormat("de", { type: "disjunction" });

/** Words as a list: "a, b und c". */
export const and = (list: readonly string[]) => all.format(list);
/** Words as alternatives: "a, b oder c". */
export const or = (list: readonly string[]) => one.format(list);
