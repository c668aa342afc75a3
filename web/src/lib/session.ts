import { queryOptions, useSuspenseQuery } from "@tanstack/react-query";
import { believeIn, own, toSignIn } from "../api/client";
import type { Role, Session, SignedIn } from "../api/console";
import { before } from "./next";
import { trust } from "./snippet";

export const sessionQuery = queryOptions({
  queryKey: ["session"],
  queryFn: async (): Promise<SignedIn> => {
    const s = await own<Session>("GET", "/session");
    if (s.state === "setup") location.assign(before("/setup"));
    else if (s.state === "signed_out") toSignIn();
    if (s.state !== "signed_in") return new Promise(() => {}); // the browser is on its way
    believeIn(s.workspace.id);
    trust(s.authority);
    return s;
  },
  staleTime: 60_000,
});

/** Who is signed in, and where. */
export function useSession(): SignedIn {
  return useSuspenseQuery(sessionQuery).data;
}

const ranks: Role[] = ["viewer", "editor", "admin", "owner"];

/** Whether a role may do what another may. */
export function reaches(role: Role, least: Role): boolean {
  return ranks.indexOf(role) >= ranks.indexOf(least);
}

/** Whether whoever is signed in has at least this role. */
export function useMay(least: Role): boolean {
  return reaches(useSession().role, least);
}
