// What the pages before sign-in share: where the token comes from, where one
// goes next, and how a try ends.

import { useState } from "react";
import { Refusal } from "../../api/client";
import type { SignInResult } from "../../api/console";
import { next } from "../../lib/next";
import { locale } from "../../text/language";
import { t } from "../../text/signin";

/** What came in the fragment. It is taken out of the address at once, so that it stays in no history. */
export const token = location.hash.slice(1);
if (token) history.replaceState(null, "", location.pathname + location.search);
// Another link opened in this tab changes only the fragment.
window.addEventListener("hashchange", () => location.reload());

export interface Try<A extends unknown[]> {
  run: (...args: A) => Promise<void>;
  busy: boolean;
  /** What is wrong with each field. */
  fields: Record<string, string>;
  /** What is wrong with no field of its own. */
  message: string;
}

/** Does something once at a time and keeps what went wrong. */
export function useTry<A extends unknown[]>(action: (...args: A) => Promise<void>): Try<A> {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<Error | null>(null);
  const fields = error instanceof Refusal ? error.fields : {};
  return {
    busy,
    fields,
    message: error && Object.keys(fields).length === 0 ? told(error) : "",
    run: async (...args) => {
      if (busy) return;
      setBusy(true);
      setError(null);
      try {
        await action(...args);
      } catch (e) {
        setError(e as Error);
      }
      setBusy(false);
    },
  };
}

export function told(error: Error): string {
  // Before sign-in, only links can be missing.
  if (error instanceof Refusal && error.status === 404) return t.linkUsed;
  const wait = error instanceof Refusal ? error.retryAfter : 0;
  if (!wait) return error.message;
  const at = new Date(Date.now() + wait * 1000).toLocaleTimeString(locale, { timeStyle: "short" });
  return t.retryAt(error.message, at);
}

/** Goes in, or to the second step. */
export async function enter(result: SignInResult, second: (ticket: string) => void): Promise<void> {
  if (result.state === "totp") return second(result.ticket);
  location.assign(next());
  return new Promise(() => {}); // the browser is on its way
}
