// The page that a person wanted before sign-in.

/** An address of this server, or its start page for anything else. */
function own(asked: string | null): string {
  try {
    const url = new URL(asked ?? "/", location.origin);
    if (asked?.startsWith("/") && url.origin === location.origin) return url.href;
  } catch {
    // It is no address at all.
  }
  return `${location.origin}/`;
}

/** The address of a page before sign-in that leads back to the current page. */
export function before(path: "/sign-in" | "/setup"): string {
  const back = location.pathname + location.search;
  return back === "/" ? path : `${path}?next=${encodeURIComponent(back)}`;
}

/** Where to go after sign-in. */
export const next = () => own(new URLSearchParams(location.search).get("next"));

const key = "fanfare.next";

/** Keeps the wanted page while the browser is at the single sign-on, which returns to the start page. */
export const keepNext = () => sessionStorage.setItem(key, next());

/** Goes to the kept page, once. */
export function goToKept() {
  const kept = sessionStorage.getItem(key);
  sessionStorage.removeItem(key);
  if (kept && location.pathname === "/") history.replaceState(null, "", kept);
}
