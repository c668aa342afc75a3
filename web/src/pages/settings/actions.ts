// The audit log's actions in words.
import { words } from "../../lib/format";

/** Groups of actions, by how their names begin. */
export const groups = [
  { id: "", label: "All actions" },
  { id: "campaign.", label: "Campaigns" },
  { id: "creative.", label: "Creative" },
  { id: "audience.", label: "Audiences" },
  { id: "connection.", label: "Connections" },
  { id: "api_key.", label: "API keys" },
  { id: "user.", label: "Members" },
  { id: "invitation.", label: "Invitations" },
  { id: "signin", label: "Sign-ins" },
  { id: "session.", label: "Sessions" },
  { id: "workspace.", label: "Workspace" },
  { id: "model_provider.", label: "Models" },
];

/** What the names do not say well by themselves. */
const said: Record<string, string> = {
  signin: "Signed in",
  "signin.failed": "Failed to sign in",
  "signin.link": "Made a sign-in link",
  signout: "Signed out",
  setup: "Set the server up",
  "api_key.create": "Made an API key",
  "api_key.rotate": "Rotated an API key",
  "api_key.revoke": "Revoked an API key",
  "api_key.exposed": "Sent an API key in the open",
  "api_key.notice": "Warned of an ending API key",
  "user.create": "Added a member",
  "user.remove": "Removed a member",
  "user.rename": "Changed a name",
  "user.set_role": "Changed a role",
  "invitation.create": "Invited somebody",
  "invitation.accept": "Accepted an invitation",
  "invitation.withdraw": "Withdrew an invitation",
  "password.change": "Changed the password",
  "password.reset": "Set a new password by link",
  "password.reset_link": "Made a reset link",
  "passkey.add": "Added a passkey",
  "passkey.remove": "Removed a passkey",
  "totp.add": "Turned two-factor on",
  "totp.remove": "Turned two-factor off",
  "identity.add": "Linked single sign-on",
  "session.prove": "Confirmed who they are",
  "session.revoke": "Ended a session",
  "session.revoke_all": "Ended all sessions",
  "sync.succeeded": "Finished a sync",
  "sync.partial": "Finished a sync in part",
  "workspace.suspend": "Suspended the workspace",
  "workspace.reopen": "Reopened the workspace",
  "workspace.set_plan": "Changed the plan",
  "workspace.set_approval": "Changed the approval rule",
  "workspace.set_model_budget": "Changed the model budget",
  "model_provider.set": "Set a model up",
  "model_provider.removed": "Removed a model",
};

/** An action in words: "campaign.launched" is "Launched a campaign". */
export function actionWords(action: string): string {
  const known = said[action];
  if (known) return known;
  const [noun = "", verb = ""] = action.split(".");
  const thing = noun.replaceAll("_", " ");
  const past = verb.endsWith("e") ? `${verb}d` : verb;
  if (past.endsWith("ed") && !past.includes("_"))
    return `${words(past)} ${/^[aeiou]/.test(thing) ? "an" : "a"} ${thing}`;
  return verb ? `${words(thing)}: ${verb.replaceAll("_", " ")}` : words(thing);
}

/** Where a record is shown, by what its id begins with. */
export function placeOf(id: string): string | undefined {
  const rooms: Record<string, string> = { cmp: "campaigns", crv: "creative", aud: "audiences", con: "connections" };
  const room = rooms[id.split("_")[0] ?? ""];
  return room ? `/${room}/${id}` : undefined;
}
