// Errors in the words of the console: the server's messages are for developers
// and name fields of the API.
import { errors } from "../text/errors";
import { locale } from "../text/language";
import type { Detail } from "./client";

const { field: texts, format } = errors;

/** What a field takes, by the end of its path. The first that fits applies. */
const kinds: [RegExp, string][] = [
  [/(^|\.)(timezone|time_zone)$/, format.timeZone],
  [/(^|\.)currency$/, format.currency],
  [/(^|\.)(owner|email)$/, format.email],
  [/(^|\.)(amount|daily_cap|model_budget|budget|price)$/, format.amount],
  [/(^|\.)(target)$/, format.number],
  [/_at$/, format.dateTime],
  [/(^|[._])date$/, format.date],
  [/(url|link|logo)$/, format.url],
  [/countr(y|ies)(\[\d+\])?$/, format.country],
  [/colou?rs?(\[\d+\])?$/, format.color],
];

/** Values that are wrong in one way only. */
const values: [RegExp, string][] = [
  [/^schedule\.end_at$|^end_date$/, format.endAfterStart],
  [/^code$/, format.totp],
  [/^current$/, format.oldPassword],
  [/^next$|^password$/, format.newPassword],
  [/(^|\.)name$/, format.shortName],
];

const find = (list: [RegExp, string][], name: string) => list.find(([pattern]) => pattern.test(name))?.[1];

function labelOf(name: string): string {
  const last = name.replace(/\[\d+\]/g, "").replace(/^.*\./, "");
  return (errors.labels as Record<string, string>)[last] ?? "";
}

/** A limit as text, "" where the server names none. */
function limit(d: Detail, name: "minimum" | "maximum"): string {
  const n = d.meta?.[name];
  return typeof n === "number" ? n.toLocaleString(locale) : typeof n === "string" ? n : "";
}

/** What is wrong with a field, by the detail's code; the server's message where the console has no words for it. */
export function explainField(d: Detail): string {
  const name = d.field ?? "";
  switch (d.code) {
    case "required":
    case "not_nullable":
      return texts.required(labelOf(name));
    case "too_short":
      return limit(d, "minimum") === "1" ? texts.required(labelOf(name)) : texts.tooShort(limit(d, "minimum"));
    case "too_long":
      return texts.tooLong(limit(d, "maximum"));
    case "too_small":
      return texts.tooSmall(limit(d, "minimum"));
    case "too_large":
      return texts.tooLarge(limit(d, "maximum"));
    case "too_few_items":
      return texts.tooFew(limit(d, "minimum"));
    case "too_many_items":
      return texts.tooMany(limit(d, "maximum"));
    case "duplicate_item":
      return texts.duplicate;
    case "not_found":
      return texts.notFound;
    case "archived":
      return texts.archived;
    case "immutable":
      return texts.immutable;
    case "currency_mismatch":
      return texts.currencyMismatch;
    case "invalid_format":
    case "invalid_type":
      return find(kinds, name) ?? d.message;
    case "invalid_value":
      return find(values, name) ?? find(kinds, name) ?? d.message;
    default:
      return d.message;
  }
}

/** How many messages are said together. */
const most = 3;

/** What went wrong, by the code of the error or of its only detail. */
export function explain(code: string, message: string, details: Detail[]): string {
  const codes: Record<string, string> = errors.codes;
  const [first] = details;
  if (details.length === 1 && first && !first.field && codes[first.code]) return codes[first.code] as string;
  if (code === "validation_failed" || code === "invalid_parameter") {
    const said = [...new Set(details.map(explainField))];
    if (said.length > most) return errors.checkFields;
    return said.join(" ") || message;
  }
  return codes[code] ?? message;
}
