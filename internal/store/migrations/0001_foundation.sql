-- kind: expand
-- KEY is text that is compared byte by byte on every engine. A table that ends
-- in CLUSTERED is kept in the order of its key where the engine can do that:
-- right for small rows, which then need no second place on disk.

CREATE TABLE setting (
  name       KEY NOT NULL PRIMARY KEY,
  value      TEXT NOT NULL,
  updated_at BIGINT NOT NULL
) CLUSTERED;

CREATE TABLE workspace (
  id         KEY NOT NULL PRIMARY KEY,
  name       TEXT NOT NULL,
  plan       TEXT NOT NULL,
  timezone   TEXT NOT NULL,
  currency   TEXT NOT NULL,
  suspended  BIGINT NOT NULL,
  created_at BIGINT NOT NULL
);

CREATE TABLE account_user (
  id         KEY NOT NULL PRIMARY KEY,
  email      KEY NOT NULL UNIQUE,
  name       TEXT NOT NULL,
  service    BIGINT NOT NULL,
  created_at BIGINT NOT NULL
);

CREATE TABLE member (
  workspace_id KEY NOT NULL REFERENCES workspace (id),
  user_id      KEY NOT NULL REFERENCES account_user (id),
  role         TEXT NOT NULL,
  inactive_at  BIGINT,
  PRIMARY KEY (workspace_id, user_id)
);

CREATE TABLE api_key (
  workspace_id    KEY NOT NULL,
  id              KEY NOT NULL,
  user_id         KEY NOT NULL,
  hash            KEY NOT NULL UNIQUE,
  name            TEXT NOT NULL,
  last4           TEXT NOT NULL,
  scopes          TEXT,
  addresses       TEXT,
  created_at      BIGINT NOT NULL,
  expires_at      BIGINT,
  revoked_at      BIGINT,
  revoke_reason   TEXT NOT NULL,
  notified        BIGINT NOT NULL,
  last_used_at    BIGINT,
  last_address    TEXT NOT NULL,
  last_agent      TEXT NOT NULL,
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id, user_id) REFERENCES member (workspace_id, user_id)
);

CREATE TABLE api_key_use (
  workspace_id KEY NOT NULL,
  key_id       KEY NOT NULL,
  day          BIGINT NOT NULL,
  count        BIGINT NOT NULL,
  PRIMARY KEY (workspace_id, key_id, day)
) CLUSTERED;

-- How many requests a workspace has made in its minute and its day.
CREATE TABLE quota (
  workspace_id KEY NOT NULL PRIMARY KEY,
  opened_at    BIGINT NOT NULL,
  minute       BIGINT NOT NULL,
  day_of       BIGINT NOT NULL,
  day          BIGINT NOT NULL
) CLUSTERED;

CREATE TABLE campaign (
  workspace_id    KEY NOT NULL,
  id              KEY NOT NULL,
  version         BIGINT NOT NULL,
  rev             BIGINT NOT NULL,
  shape           BIGINT NOT NULL,
  status          KEY NOT NULL,
  created_at      BIGINT NOT NULL,
  updated_at      BIGINT NOT NULL,
  name            KEY NOT NULL,
  delivery_status TEXT NOT NULL,
  objective       TEXT,
  start_at        BIGINT,
  end_at          BIGINT,
  launched_at     BIGINT,
  spend           BIGINT,
  doc             TEXT NOT NULL,
  PRIMARY KEY (workspace_id, id)
);
-- The status ends each index so that a filter on it reads no rows in vain.
CREATE INDEX campaign_created ON campaign (workspace_id, created_at, id, status);
CREATE INDEX campaign_updated ON campaign (workspace_id, updated_at, id, status);
CREATE INDEX campaign_name ON campaign (workspace_id, name, id, status);
CREATE INDEX campaign_status ON campaign (workspace_id, status, id);
CREATE INDEX campaign_start ON campaign (workspace_id, start_at, id, status) WHERE start_at IS NOT NULL;
CREATE INDEX campaign_end ON campaign (workspace_id, end_at, id, status) WHERE end_at IS NOT NULL;
CREATE INDEX campaign_launched ON campaign (workspace_id, launched_at, id, status) WHERE launched_at IS NOT NULL;
CREATE INDEX campaign_spend ON campaign (workspace_id, spend, id, status) WHERE spend IS NOT NULL;

-- What a record refers to, for filters on sets such as tags.
CREATE TABLE ref (
  workspace_id KEY NOT NULL,
  kind         KEY NOT NULL,
  value        KEY NOT NULL,
  record_id    KEY NOT NULL,
  PRIMARY KEY (workspace_id, kind, value, record_id)
) CLUSTERED;

-- The outbox: what happened, written in the transaction of the change.
CREATE TABLE event (
  workspace_id KEY NOT NULL,
  id           KEY NOT NULL,
  created_at   BIGINT NOT NULL,
  type         KEY NOT NULL,
  resource_id  KEY NOT NULL,
  restricted   BIGINT NOT NULL,
  doc          TEXT NOT NULL,
  PRIMARY KEY (workspace_id, id)
);
CREATE INDEX event_created ON event (workspace_id, created_at, id, type);
CREATE INDEX event_resource ON event (workspace_id, resource_id, created_at);

-- Answers remembered under the caller's Idempotency-Key.
CREATE TABLE once (
  workspace_id KEY NOT NULL,
  key          KEY NOT NULL,
  fingerprint  TEXT NOT NULL,
  status       BIGINT NOT NULL,
  resource_id  TEXT NOT NULL,
  version      BIGINT NOT NULL,
  rev          BIGINT NOT NULL,
  doc          TEXT NOT NULL,
  created_at   BIGINT NOT NULL,
  PRIMARY KEY (workspace_id, key)
);
CREATE INDEX once_age ON once (workspace_id, created_at);

-- The audit log: one chain of hashes per workspace. head holds its end, so
-- that a missing tail shows.
CREATE TABLE audit (
  workspace_id KEY NOT NULL,
  seq          BIGINT NOT NULL,
  at           BIGINT NOT NULL,
  entry        TEXT NOT NULL,
  hash         TEXT NOT NULL,
  PRIMARY KEY (workspace_id, seq)
) CLUSTERED;
CREATE TABLE audit_head (
  workspace_id KEY NOT NULL PRIMARY KEY,
  seq          BIGINT NOT NULL,
  hash         TEXT NOT NULL
) CLUSTERED;

-- Background work. run_at is when a job is due; a claim moves it to the end of
-- the lease, so that the job of a dead worker becomes due by itself.
CREATE TABLE job (
  id           KEY NOT NULL PRIMARY KEY,
  workspace_id KEY NOT NULL,
  kind         KEY NOT NULL,
  args         TEXT NOT NULL,
  uniq         KEY UNIQUE,
  run_at       BIGINT NOT NULL,
  attempt      BIGINT NOT NULL,
  last_error   TEXT NOT NULL
);
CREATE INDEX job_due ON job (run_at);
