import type { Role } from "../../api/console";
import { words } from "../../lib/format";
import { reaches, useSession } from "../../lib/session";
import { t } from "../../text/settings";
import type { Option } from "../../ui/fields";

/** What each role may do beyond the one before it. */
export const roles: { id: Role; may: string }[] = [
  { id: "viewer", may: t.roles.viewer },
  { id: "editor", may: t.roles.editor },
  { id: "admin", may: t.roles.admin },
  { id: "owner", may: t.roles.owner },
];

/** The roles that whoever is signed in may give: none above one's own. */
export function useRoleOptions(): Option[] {
  const { role } = useSession();
  return roles.filter((r) => reaches(role, r.id)).map((r) => ({ id: r.id, label: words(r.id), hint: r.may }));
}
