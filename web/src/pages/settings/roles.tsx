import type { Role } from "../../api/console";
import { words } from "../../lib/format";
import { reaches, useSession } from "../../lib/session";
import type { Option } from "../../ui/fields";

/** What each role may do beyond the one before it. */
export const roles: { id: Role; may: string }[] = [
  { id: "viewer", may: "Sees everything, reads reports, makes keys that can do the same." },
  { id: "editor", may: "Also makes and changes campaigns, creative and audiences, launches, and brings in numbers." },
  { id: "admin", may: "Also manages people, connections, models, all keys and the workspace; sees the audit log." },
  { id: "owner", may: "Also makes other owners and other workspaces." },
];

/** The roles that whoever is signed in may give: none above one's own. */
export function useRoleOptions(): Option[] {
  const { role } = useSession();
  return roles.filter((r) => reaches(role, r.id)).map((r) => ({ id: r.id, label: words(r.id), hint: r.may }));
}
