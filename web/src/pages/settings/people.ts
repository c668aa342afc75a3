import { useQuery } from "@tanstack/react-query";
import { own } from "../../api/client";
import type { Invitation, Member } from "../../api/console";
import { useMay } from "../../lib/session";

export interface People {
  members: Member[];
  invitations: Invitation[];
}

/** Who is in the workspace; only admins may ask. */
export function usePeople() {
  const may = useMay("admin");
  return useQuery({ queryKey: ["members"], queryFn: () => own<People>("GET", "/members"), enabled: may });
}
