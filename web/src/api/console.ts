// The console's own backend under /console/api: sign-in, keys, members,
// workspace, logs. It is private to this program (the public API is /v1), so
// these types are its description; internal/console answers them.

/** What the browser may know before and after sign-in. */
export type Session = SetUp | SignedOut | SignedIn;

interface Ways {
  /** Ways to sign in that this server offers. */
  ways: {
    password: boolean;
    passkey: boolean;
    /** What the single sign-on button says, null without one. */
    oidc: string | null;
  };
  /** Whether invitations and resets are sent by e-mail, or shown as links. */
  mail: boolean;
  /** The version of the server. */
  build: string;
}

/** Nobody has an account yet: the first person sets the server up. */
export interface SetUp extends Ways {
  state: "setup";
}

export interface SignedOut extends Ways {
  state: "signed_out";
}

export interface SignedIn extends Ways {
  state: "signed_in";
  session_id: string;
  user: User;
  role: Role;
  workspace: Workspace;
  /** All workspaces the user is a member of, for the switcher. */
  workspaces: { id: string; name: string; role: Role }[];
  /** File of the authority that the server's certificate is from; null where clients know it anyway. */
  authority: string | null;
  /** Until when keys can be made without proving oneself again; null for not now. */
  proved_until: string | null;
}

export type Role = "viewer" | "editor" | "admin" | "owner";
export type Plan = "starter" | "growth" | "enterprise";

export interface User {
  id: string;
  email: string;
  name: string;
  /** What the user can sign in with. */
  password: boolean;
  totp: boolean;
  passkeys: number;
}

export interface Workspace {
  id: string;
  name: string;
  plan: Plan;
  timezone: string;
  currency: string;
  require_approval: boolean;
  /** Decimal string of US dollars a month, null for no limit. */
  model_budget: string | null;
  /** Whether keys may be made that never expire. */
  endless_keys: boolean;
  created_at: string;
}

/** POST /session, /session/totp, /session/passkey, /session/link, /setup, /link. */
export type SignInResult = { state: "signed_in" } | { state: "totp"; ticket: string };

/** A passkey ceremony's first half; options go to the browser as they are. */
export interface Ceremony {
  ticket: string;
  options: unknown;
}

/** POST /link/look: what a one-time link is for. */
export interface Link {
  kind: "invite" | "reset" | "sign_in";
  email: string;
  name: string;
  workspace: string | null;
  /** Whether the person has a password already and only accepts. */
  known: boolean;
}

export interface OpenSession {
  id: string;
  current: boolean;
  created_at: string;
  last_used_at: string;
  expires_at: string;
  ip: string;
  user_agent: string;
  /** password, passkey, oidc or link. */
  method: string;
}

export interface Passkey {
  id: string;
  name: string;
  created_at: string;
  last_used_at: string | null;
}

export type Access = "read" | "write";

export interface Key {
  id: string;
  name: string;
  last4: string;
  user: { id: string; email: string; name: string };
  mine: boolean;
  scopes: Record<string, Access> | null;
  ip_allow_list: string[] | null;
  created_at: string;
  expires_at: string | null;
  revoked_at: string | null;
  revoke_reason: string;
  last_used_at: string | null;
  last_ip: string;
  last_user_agent: string;
  requests_30d: number;
  /** Calls on each of the last 30 days (UTC), oldest first. */
  daily: number[];
  status: "active" | "expiring" | "expired" | "revoked";
  /** The key was sent where others can read it and should be rotated. */
  exposed: boolean;
}

/** POST /keys. */
export interface NewKey {
  /** A service user for whom an admin makes it; without one it is one's own. */
  user_id?: string;
  name: string;
  /** 0 for never. */
  expires_in_days: number;
  scopes: Record<string, Access> | null;
  ip_allow_list: string[] | null;
}

/** POST /keys and /keys/{id}/rotate: the only sight of the secret. */
export interface MadeKey {
  key: Key;
  secret: string;
}

export interface Member {
  id: string;
  email: string;
  name: string;
  role: Role;
  service: boolean;
  /** Whether the person has ever set up a way to sign in. */
  can_sign_in: boolean;
  last_seen_at: string | null;
}

export interface Invitation {
  id: string;
  email: string;
  role: Role;
  created_at: string;
  expires_at: string;
}

/** POST /members, /members/{id}/reset: a link where no mail is sent. */
export interface Sent {
  mailed: boolean;
  link: string | null;
}

export interface Usage {
  minute: { limit: number; remaining: number; reset_at: string } | null;
  day: { limit: number; remaining: number; reset_at: string } | null;
  /** API calls of all keys on each of the last 30 days (UTC), oldest first. */
  daily: number[];
  model: { spent: string; budget: string | null };
}

export interface AuditEntry {
  seq: number;
  at: string;
  action: string;
  actor: { type: string; id: string; name: string };
  target: string;
  ip: string;
  request_id: string;
}

export interface LoggedRequest {
  id: string;
  at: string;
  method: string;
  path: string;
  operation: string;
  status: number;
  code: string;
  /** Microseconds. */
  took: number;
  key: { id: string; name: string; last4: string } | null;
  ip: string;
  user_agent: string;
}

export interface Provider {
  kind: string;
  name: string;
  /** Whose: the workspace's own, or everybody's, set up by the operator. */
  scope: "workspace" | "server";
  settings: {
    base_url: string;
    model: string;
    image_model: string;
    default: boolean;
    /** Whether its price is known, so that budgets can count it. */
    priced: boolean;
  };
}
