import { useEffect } from "react";

/** Sets what the browser shows for the page in its tab, its history and its bookmarks. */
export function useTitle(name: string) {
  useEffect(() => {
    document.title = `${name} · Fanfare`;
  }, [name]);
}
