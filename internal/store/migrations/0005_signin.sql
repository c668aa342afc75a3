-- kind: expand
-- Whether keys may be made that never expire.
ALTER TABLE workspace ADD COLUMN endless_keys BIGINT NOT NULL DEFAULT 1;
-- When a key was first sent where others can read it and was left alive.
ALTER TABLE api_key ADD COLUMN exposed_at BIGINT;
-- Who signs in is asked in which workspaces he is.
CREATE INDEX member_user ON member (user_id);

-- What people sign in with: passwords and second steps under the id of the
-- person, passkeys under one of their own, identities elsewhere under the name
-- that they have there. sealed is '' for none.
CREATE TABLE credential (
  kind    KEY NOT NULL,
  id      KEY NOT NULL,
  user_id KEY NOT NULL REFERENCES account_user (id),
  rev     BIGINT NOT NULL,
  doc     TEXT NOT NULL,
  sealed  TEXT NOT NULL,
  PRIMARY KEY (kind, id)
);
CREATE INDEX credential_person ON credential (user_id);

-- Who is in. A session belongs to a person, not to a workspace;
-- current_workspace is where the person is at the moment.
CREATE TABLE session (
  hash              KEY NOT NULL PRIMARY KEY,
  id                KEY NOT NULL UNIQUE,
  user_id           KEY NOT NULL REFERENCES account_user (id),
  current_workspace KEY NOT NULL,
  method            TEXT NOT NULL,
  created_at        BIGINT NOT NULL,
  used_at           BIGINT NOT NULL,
  expires_at        BIGINT NOT NULL,
  proved_at         BIGINT NOT NULL,
  address           TEXT NOT NULL,
  agent             TEXT NOT NULL
);
CREATE INDEX session_person ON session (user_id);

-- What works once: links, of which invitations have a workspace, and tickets
-- from one step of a sign-in to the next.
CREATE TABLE token (
  hash         KEY NOT NULL PRIMARY KEY,
  id           KEY NOT NULL,
  kind         KEY NOT NULL,
  workspace_id KEY NOT NULL,
  subject      KEY NOT NULL,
  doc          TEXT NOT NULL,
  tries        BIGINT NOT NULL,
  created_at   BIGINT NOT NULL,
  expires_at   BIGINT NOT NULL,
  UNIQUE (kind, workspace_id, subject)
);
CREATE INDEX token_subject ON token (kind, subject);
