// Addresses become hashes here, in the browser; nothing else leaves it.
import { take, v1 } from "../../api/client";

const hash = /^[0-9a-f]{64}$/i;
const email = /^[^\s@]+@[^\s@]+\.[^\s@]+$/;
const phone = /^\+[1-9]\d{6,14}$/;

/** How many values go in one call. */
const batch = 10_000;

export interface Read {
  /** What goes as it is: hashes that somebody else has made. */
  hashes: string[];
  /** What is hashed first, each once and as the platforms want it. */
  plain: string[];
  /** What is neither an address, nor a number, nor a hash. */
  skipped: number;
}

/** Finds the members in a text: one per line, or a CSV with any columns. */
export function readMembers(text: string): Read {
  const hashes = new Set<string>();
  const plain = new Set<string>();
  let skipped = 0;
  for (const line of text.split(/\r?\n/)) {
    let found = false;
    for (const cell of line.split(/[,;\t]/)) {
      const v = cell.trim().replace(/^"|"$/g, "").trim().toLowerCase();
      const number = v.replace(/[\s().-]/g, "");
      if (hash.test(v)) hashes.add(v);
      else if (email.test(v)) plain.add(v);
      else if (phone.test(number)) plain.add(number);
      else continue;
      found = true;
    }
    if (!found && line.trim()) skipped++;
  }
  return { hashes: [...hashes], plain: [...plain], skipped };
}

export async function sha256(text: string): Promise<string> {
  const bytes = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return Array.from(new Uint8Array(bytes), (b) => b.toString(16).padStart(2, "0")).join("");
}

/** Hashes what is in clear and sends all of it, batch by batch. done goes from 0 to 1. */
export async function sendMembers(
  id: string,
  read: Read,
  way: "add" | "remove",
  done: (share: number) => void,
): Promise<{ changed: number; count: number }> {
  const all = new Set(read.hashes);
  for (let i = 0; i < read.plain.length; i += 1000) {
    for (const h of await Promise.all(read.plain.slice(i, i + 1000).map(sha256))) all.add(h);
    done((0.3 * i) / read.plain.length);
  }
  const list = [...all];
  const sum = { changed: 0, count: 0 };
  for (let i = 0; i < list.length; i += batch) {
    const body = { [way]: list.slice(i, i + batch) };
    const { data } = await take(v1.POST("/v1/audiences/{id}/members", { params: { path: { id } }, body }));
    sum.changed += data.added + data.removed;
    sum.count = data.count;
    done(0.3 + 0.7 * Math.min(1, (i + batch) / list.length));
  }
  return sum;
}
