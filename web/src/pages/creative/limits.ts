// The room that each text has on its channel, so that a counter can show it
// while one types. The numbers are those of internal/creative/limits.go; the
// server's check has the last word.
import { t } from "../../text/creative";
import type { Copy } from "./data";

type Count = "characters" | "width" | "message";

export interface Limit {
  field: keyof Copy;
  /** How many lines it may have; a single text has one. */
  most: number;
  /** Where platforms begin to cut, 0 for nowhere. */
  soft: number;
  /** Where they refuse. */
  hard: number;
  count?: Count;
}

const line = (field: keyof Copy, most: number, soft: number, hard: number, count?: Count): Limit => ({
  field,
  most,
  soft,
  hard,
  count,
});

const table: Record<string, Limit[]> = {
  search: [
    line("headlines", 15, 0, 30, "width"),
    line("descriptions", 4, 0, 90, "width"),
    line("paths", 2, 0, 15, "width"),
  ],
  social: [
    line("primary_text", 1, 125, 600),
    line("headlines", 5, 40, 200),
    line("descriptions", 5, 30, 300),
    line("short_text", 1, 0, 100, "width"),
  ],
  display: [
    line("headlines", 5, 0, 30, "width"),
    line("long_headline", 1, 0, 90, "width"),
    line("descriptions", 5, 0, 90, "width"),
    line("business_name", 1, 0, 25, "width"),
  ],
  video: [
    line("headlines", 5, 0, 30, "width"),
    line("long_headline", 1, 0, 90, "width"),
    line("descriptions", 5, 0, 90, "width"),
    line("script", 1, 350, 700),
  ],
  audio: [line("script", 1, 450, 700)],
  email: [line("subject", 1, 50, 150), line("preheader", 1, 90, 150), line("body", 1, 1500, 10000)],
  sms: [line("primary_text", 1, 0, 160, "message")],
  push: [line("headlines", 1, 40, 65), line("primary_text", 1, 120, 178)],
  affiliate: [line("headlines", 5, 60, 100), line("primary_text", 1, 300, 600)],
  influencer: [line("primary_text", 1, 300, 2200)],
  direct_mail: [line("headlines", 3, 60, 100), line("body", 1, 700, 2000)],
  other: [line("headlines", 3, 60, 100), line("primary_text", 1, 300, 600)],
};

export const limitsOf = (channel: string): Limit[] => table[channel] ?? [];

const lists = new Set<keyof Copy>(["headlines", "descriptions", "paths"]);

export const isList = (field: keyof Copy) => lists.has(field);

/** What the lines of a field are called, together and one of them. */
export const lineNames = (field: keyof Copy) => t.lines[field];

/** The lines of a field, none where it is empty. */
export function texts(copy: Partial<Copy> | undefined, field: keyof Copy): string[] {
  const v = copy?.[field];
  return Array.isArray(v) ? v : v ? [v] : [];
}

const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3040-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/gu;
const gsm = new Set(
  "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà",
);
const gsmExtended = new Set("\f^{}\\[~]|€");

/** Counts a text the way its channel does. */
export function length(text: string, count: Count = "characters"): number {
  const letters = [...text];
  if (count === "width") return letters.length + (text.match(wide)?.length ?? 0);
  if (count === "characters") return letters.length;
  if (letters.every((c) => gsm.has(c) || gsmExtended.has(c))) {
    return letters.reduce((n, c) => n + (gsmExtended.has(c) ? 2 : 1), 0);
  }
  // One letter outside of the alphabet leaves a part of 70 instead of 160.
  return Math.ceil((text.length * 160) / 70);
}
