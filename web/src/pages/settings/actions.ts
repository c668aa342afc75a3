// The audit log's actions in words.
import { words } from "../../lib/format";
import { t } from "../../text/settings";

const g = t.audit.groups;

/** Groups of actions, by how their names begin. */
export const groups = [
  { id: "", label: g.all },
  { id: "campaign.", label: words("campaigns") },
  { id: "creative.", label: words("creative") },
  { id: "audience.", label: words("audiences") },
  { id: "connection.", label: words("connections") },
  { id: "api_key.", label: g.keys },
  { id: "user.", label: g.members },
  { id: "invitation.", label: g.invitations },
  { id: "signin", label: g.signIns },
  { id: "session.", label: g.sessions },
  { id: "workspace.", label: g.workspace },
  { id: "model_provider.", label: g.models },
];

const done: Record<string, string> = t.done;

/** An action in words: "campaign.launched" is "Launched a campaign", one without a text "Kind: event". */
export function actionWords(action: string): string {
  return (
    done[action.replace(".", "_")] ??
    action
      .split(".")
      .map((part) => words(part))
      .join(": ")
  );
}

/** Where a record is shown, by what its id begins with. */
export function placeOf(id: string): string | undefined {
  const rooms: Record<string, string> = { cmp: "campaigns", crv: "creative", aud: "audiences", con: "connections" };
  const room = rooms[id.split("_")[0] ?? ""];
  return room ? `/${room}/${id}` : undefined;
}
