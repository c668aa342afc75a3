CREATE TABLE account_user (
  id         TEXT NOT NULL PRIMARY KEY,
  email      TEXT NOT NULL UNIQUE,
  name       TEXT NOT NULL,
  service    BIGINT NOT NULL,
  created_at BIGINT NOT NULL
, founder TEXT NOT NULL DEFAULT '');
CREATE TABLE annotation (
  workspace_id TEXT NOT NULL,
  id           TEXT NOT NULL,
  version      BIGINT NOT NULL,
  rev          BIGINT NOT NULL,
  shape        BIGINT NOT NULL,
  status       TEXT NOT NULL,
  created_at   BIGINT NOT NULL,
  updated_at   BIGINT NOT NULL,
  day          BIGINT NOT NULL,
  last_day     BIGINT NOT NULL,
  campaign_id  TEXT NOT NULL,
  doc          TEXT NOT NULL,
  checksum     BIGINT,
  PRIMARY KEY (workspace_id, id)
);
CREATE INDEX annotation_day ON annotation (workspace_id, day, id, status);
CREATE TABLE api_key (
  workspace_id    TEXT NOT NULL,
  id              TEXT NOT NULL,
  user_id         TEXT NOT NULL,
  hash            TEXT NOT NULL UNIQUE,
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
  last_agent      TEXT NOT NULL, exposed_at BIGINT,
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id, user_id) REFERENCES member (workspace_id, user_id)
);
CREATE TABLE api_key_use (
  workspace_id TEXT NOT NULL,
  key_id       TEXT NOT NULL,
  day          BIGINT NOT NULL,
  count        BIGINT NOT NULL,
  PRIMARY KEY (workspace_id, key_id, day)
) WITHOUT ROWID;
CREATE TABLE asset (
  workspace_id TEXT NOT NULL,
  id           TEXT NOT NULL,
  sha256       TEXT NOT NULL,
  touched_at   BIGINT NOT NULL,
  doc          TEXT NOT NULL, checksum BIGINT, bytes BIGINT NOT NULL DEFAULT 0,
  PRIMARY KEY (workspace_id, id),
  UNIQUE (workspace_id, sha256)
);
CREATE INDEX asset_bytes ON asset (workspace_id, bytes);
CREATE INDEX asset_touched ON asset (workspace_id, touched_at);
CREATE TABLE audience (
  workspace_id TEXT NOT NULL,
  id           TEXT NOT NULL,
  version      BIGINT NOT NULL,
  rev          BIGINT NOT NULL,
  shape        BIGINT NOT NULL,
  status       TEXT NOT NULL,
  created_at   BIGINT NOT NULL,
  updated_at   BIGINT NOT NULL,
  name         TEXT NOT NULL,
  type         TEXT NOT NULL,
  size         BIGINT,
  doc          TEXT NOT NULL, checksum BIGINT,
  PRIMARY KEY (workspace_id, id)
);
CREATE INDEX audience_created ON audience (workspace_id, created_at, id, status);
CREATE INDEX audience_name ON audience (workspace_id, name, id, status);
CREATE INDEX audience_size ON audience (workspace_id, size, id, status) WHERE size IS NOT NULL;
CREATE INDEX audience_updated ON audience (workspace_id, updated_at, id, status);
CREATE TABLE audience_member (
  workspace_id TEXT NOT NULL,
  audience_id  TEXT NOT NULL,
  hash         TEXT NOT NULL,
  PRIMARY KEY (workspace_id, audience_id, hash)
) WITHOUT ROWID;
CREATE INDEX audience_member_hash ON audience_member (workspace_id, hash, audience_id);
CREATE TABLE audit (
  workspace_id TEXT NOT NULL,
  seq          BIGINT NOT NULL,
  at           BIGINT NOT NULL,
  entry        TEXT NOT NULL,
  hash         TEXT NOT NULL,
  PRIMARY KEY (workspace_id, seq)
) WITHOUT ROWID;
CREATE TABLE audit_head (
  workspace_id TEXT NOT NULL PRIMARY KEY,
  seq          BIGINT NOT NULL,
  hash         TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE brand_kit (
  workspace_id TEXT NOT NULL PRIMARY KEY,
  version      BIGINT NOT NULL,
  updated_at   BIGINT NOT NULL,
  doc          TEXT NOT NULL,
  checksum     BIGINT
) WITHOUT ROWID;
CREATE TABLE call_budget (
  account    TEXT NOT NULL PRIMARY KEY,
  free_at    BIGINT NOT NULL,
  not_before BIGINT NOT NULL,
  held_until BIGINT NOT NULL
);
CREATE TABLE campaign (
  workspace_id    TEXT NOT NULL,
  id              TEXT NOT NULL,
  version         BIGINT NOT NULL,
  rev             BIGINT NOT NULL,
  shape           BIGINT NOT NULL,
  status          TEXT NOT NULL,
  created_at      BIGINT NOT NULL,
  updated_at      BIGINT NOT NULL,
  name            TEXT NOT NULL,
  delivery_status TEXT NOT NULL,
  objective       TEXT,
  start_at        BIGINT,
  end_at          BIGINT,
  launched_at     BIGINT,
  spend           BIGINT,
  doc             TEXT NOT NULL, checksum BIGINT,
  PRIMARY KEY (workspace_id, id)
);
CREATE INDEX campaign_created ON campaign (workspace_id, created_at, id, status);
CREATE INDEX campaign_end ON campaign (workspace_id, end_at, id, status) WHERE end_at IS NOT NULL;
CREATE INDEX campaign_launched ON campaign (workspace_id, launched_at, id, status) WHERE launched_at IS NOT NULL;
CREATE INDEX campaign_name ON campaign (workspace_id, name, id, status);
CREATE INDEX campaign_spend ON campaign (workspace_id, spend, id, status) WHERE spend IS NOT NULL;
CREATE INDEX campaign_start ON campaign (workspace_id, start_at, id, status) WHERE start_at IS NOT NULL;
CREATE INDEX campaign_status ON campaign (workspace_id, status, id);
CREATE INDEX campaign_updated ON campaign (workspace_id, updated_at, id, status);
CREATE TABLE connection (
  workspace_id    TEXT NOT NULL,
  id              TEXT NOT NULL,
  version         BIGINT NOT NULL,
  rev             BIGINT NOT NULL,
  shape           BIGINT NOT NULL,
  status          TEXT NOT NULL,
  created_at      BIGINT NOT NULL,
  updated_at      BIGINT NOT NULL,
  name            TEXT NOT NULL,
  platform        TEXT NOT NULL,
  last_success_at BIGINT,
  doc             TEXT NOT NULL, private TEXT NOT NULL DEFAULT '', checksum BIGINT,
  PRIMARY KEY (workspace_id, id)
);
CREATE INDEX connection_created ON connection (workspace_id, created_at, id, status);
CREATE UNIQUE INDEX connection_name ON connection (workspace_id, platform, name) WHERE status <> 'disconnected';
CREATE INDEX connection_platform ON connection (workspace_id, platform, id, status);
CREATE INDEX connection_success ON connection (workspace_id, last_success_at, id, status) WHERE last_success_at IS NOT NULL;
CREATE INDEX connection_updated ON connection (workspace_id, updated_at, id, status);
CREATE TABLE creative (
  workspace_id TEXT NOT NULL,
  id           TEXT NOT NULL,
  version      BIGINT NOT NULL,
  rev          BIGINT NOT NULL,
  shape        BIGINT NOT NULL,
  status       TEXT NOT NULL,
  created_at   BIGINT NOT NULL,
  updated_at   BIGINT NOT NULL,
  name         TEXT NOT NULL,
  type         TEXT NOT NULL,
  source       TEXT NOT NULL,
  approval     TEXT NOT NULL,
  doc          TEXT NOT NULL, checksum BIGINT,
  PRIMARY KEY (workspace_id, id)
);
CREATE INDEX creative_created ON creative (workspace_id, created_at, id, status);
CREATE INDEX creative_name ON creative (workspace_id, name, id, status);
CREATE INDEX creative_updated ON creative (workspace_id, updated_at, id, status);
CREATE TABLE credential (
  kind    TEXT NOT NULL,
  id      TEXT NOT NULL,
  user_id TEXT NOT NULL REFERENCES account_user (id),
  rev     BIGINT NOT NULL,
  doc     TEXT NOT NULL,
  sealed  TEXT NOT NULL,
  PRIMARY KEY (kind, id)
);
CREATE INDEX credential_person ON credential (user_id);
CREATE TABLE dashboard (
  workspace_id TEXT NOT NULL,
  id           TEXT NOT NULL,
  version      BIGINT NOT NULL,
  rev          BIGINT NOT NULL,
  shape        BIGINT NOT NULL,
  status       TEXT NOT NULL,
  created_at   BIGINT NOT NULL,
  updated_at   BIGINT NOT NULL,
  name         TEXT NOT NULL,
  visibility   TEXT NOT NULL,
  owner_id     TEXT NOT NULL,
  doc          TEXT NOT NULL,
  checksum     BIGINT,
  PRIMARY KEY (workspace_id, id)
);
CREATE INDEX dashboard_created ON dashboard (workspace_id, created_at, id, status);
CREATE INDEX dashboard_name ON dashboard (workspace_id, name, id, status);
CREATE INDEX dashboard_updated ON dashboard (workspace_id, updated_at, id, status);
CREATE TABLE event (
  workspace_id TEXT NOT NULL,
  id           TEXT NOT NULL,
  created_at   BIGINT NOT NULL,
  type         TEXT NOT NULL,
  resource_id  TEXT NOT NULL,
  restricted   BIGINT NOT NULL,
  doc          TEXT NOT NULL, checksum BIGINT,
  PRIMARY KEY (workspace_id, id)
);
CREATE INDEX event_created ON event (workspace_id, created_at, id, type);
CREATE INDEX event_resource ON event (workspace_id, resource_id, created_at);
CREATE TABLE import (
  workspace_id TEXT NOT NULL,
  id           TEXT NOT NULL,
  version      BIGINT NOT NULL,
  rev          BIGINT NOT NULL,
  shape        BIGINT NOT NULL,
  status       TEXT NOT NULL,
  created_at   BIGINT NOT NULL,
  updated_at   BIGINT NOT NULL,
  name         TEXT NOT NULL,
  source       TEXT NOT NULL,
  sha256       TEXT NOT NULL,
  doc          TEXT NOT NULL, checksum BIGINT,
  PRIMARY KEY (workspace_id, id)
);
CREATE INDEX import_created ON import (workspace_id, created_at, id, status);
CREATE INDEX import_name ON import (workspace_id, name, id, status);
CREATE INDEX import_sha256 ON import (workspace_id, sha256, created_at);
CREATE INDEX import_updated ON import (workspace_id, updated_at, id, status);
CREATE TABLE job (
  id           TEXT NOT NULL PRIMARY KEY,
  workspace_id TEXT NOT NULL,
  kind         TEXT NOT NULL,
  args         TEXT NOT NULL,
  uniq         TEXT UNIQUE,
  run_at       BIGINT NOT NULL,
  attempt      BIGINT NOT NULL,
  last_error   TEXT NOT NULL
);
CREATE INDEX job_begun ON job (run_at) WHERE attempt > 0;
CREATE INDEX job_due ON job (run_at);
CREATE TABLE link (
  workspace_id  TEXT NOT NULL,
  connection_id TEXT NOT NULL,
  kind          TEXT NOT NULL,
  external_id   TEXT NOT NULL,
  account_id    TEXT NOT NULL,
  record_id     TEXT NOT NULL,
  name          TEXT NOT NULL,
  runs          BIGINT NOT NULL,
  wanted        TEXT NOT NULL,
  doc           TEXT NOT NULL, checksum BIGINT,
  PRIMARY KEY (workspace_id, connection_id, kind, external_id)
);
CREATE INDEX link_record ON link (workspace_id, record_id) WHERE record_id <> '';
CREATE TABLE member (
  workspace_id TEXT NOT NULL REFERENCES workspace (id),
  user_id      TEXT NOT NULL REFERENCES account_user (id),
  role         TEXT NOT NULL,
  inactive_at  BIGINT,
  PRIMARY KEY (workspace_id, user_id)
);
CREATE INDEX member_user ON member (user_id);
CREATE TABLE model_provider (
  workspace_id TEXT NOT NULL,
  kind         TEXT NOT NULL,
  settings     TEXT NOT NULL,
  sealed       TEXT NOT NULL,
  updated_at   BIGINT NOT NULL,
  PRIMARY KEY (workspace_id, kind)
) WITHOUT ROWID;
CREATE TABLE model_spend (
  workspace_id TEXT NOT NULL,
  month        TEXT NOT NULL,
  micros       BIGINT NOT NULL,
  PRIMARY KEY (workspace_id, month)
) WITHOUT ROWID;
CREATE TABLE once (
  workspace_id TEXT NOT NULL,
  key          TEXT NOT NULL,
  fingerprint  TEXT NOT NULL,
  status       BIGINT NOT NULL,
  resource_id  TEXT NOT NULL,
  version      BIGINT NOT NULL,
  rev          BIGINT NOT NULL,
  doc          TEXT NOT NULL,
  created_at   BIGINT NOT NULL, checksum BIGINT,
  PRIMARY KEY (workspace_id, key)
);
CREATE INDEX once_age ON once (workspace_id, created_at);
CREATE TABLE platform_grant (
  connection_id TEXT NOT NULL,
  hash          TEXT NOT NULL,
  PRIMARY KEY (connection_id, hash)
) WITHOUT ROWID;
CREATE INDEX platform_grant_hash ON platform_grant (hash);
CREATE TABLE quota (
  workspace_id TEXT NOT NULL PRIMARY KEY,
  opened_at    BIGINT NOT NULL,
  minute       BIGINT NOT NULL,
  day_of       BIGINT NOT NULL,
  day          BIGINT NOT NULL
) WITHOUT ROWID;
CREATE TABLE rate (
  workspace_id TEXT NOT NULL,
  currency     TEXT NOT NULL,
  day          BIGINT NOT NULL,
  per_euro     BIGINT NOT NULL,
  carried      BIGINT NOT NULL,
  updated_at   BIGINT NOT NULL,
  PRIMARY KEY (workspace_id, currency, day)
) WITHOUT ROWID;
CREATE INDEX rate_day ON rate (workspace_id, day, currency);
CREATE TABLE ref (
  workspace_id TEXT NOT NULL,
  kind         TEXT NOT NULL,
  value        TEXT NOT NULL,
  record_id    TEXT NOT NULL,
  PRIMARY KEY (workspace_id, kind, value, record_id)
) WITHOUT ROWID;
CREATE TABLE result (
  workspace_id TEXT NOT NULL,
  id           TEXT NOT NULL,
  hash         TEXT NOT NULL,
  meta         TEXT NOT NULL,
  total        BIGINT NOT NULL,
  expires_at   BIGINT NOT NULL, checksum BIGINT,
  PRIMARY KEY (workspace_id, id)
);
CREATE INDEX result_age ON result (workspace_id, expires_at);
CREATE TABLE result_rows (
  workspace_id TEXT NOT NULL,
  id           TEXT NOT NULL,
  chunk        BIGINT NOT NULL,
  expires_at   BIGINT NOT NULL,
  doc          TEXT NOT NULL, checksum BIGINT,
  PRIMARY KEY (workspace_id, id, chunk)
);
CREATE INDEX result_rows_age ON result_rows (workspace_id, expires_at);
CREATE TABLE saved_view (
  workspace_id TEXT NOT NULL,
  id           TEXT NOT NULL,
  version      BIGINT NOT NULL,
  rev          BIGINT NOT NULL,
  shape        BIGINT NOT NULL,
  status       TEXT NOT NULL,
  created_at   BIGINT NOT NULL,
  updated_at   BIGINT NOT NULL,
  name         TEXT NOT NULL,
  kind         TEXT NOT NULL,
  page         TEXT NOT NULL,
  visibility   TEXT NOT NULL,
  owner_id     TEXT NOT NULL,
  doc          TEXT NOT NULL,
  checksum     BIGINT,
  PRIMARY KEY (workspace_id, id)
);
CREATE INDEX saved_view_created ON saved_view (workspace_id, created_at, id, status);
CREATE INDEX saved_view_name ON saved_view (workspace_id, name, id, status);
CREATE INDEX saved_view_updated ON saved_view (workspace_id, updated_at, id, status);
CREATE TABLE schema_migration (version TEXT NOT NULL PRIMARY KEY, name TEXT NOT NULL, sum TEXT NOT NULL, applied_at BIGINT NOT NULL, kind TEXT NOT NULL DEFAULT '');
CREATE TABLE session (
  hash              TEXT NOT NULL PRIMARY KEY,
  id                TEXT NOT NULL UNIQUE,
  user_id           TEXT NOT NULL REFERENCES account_user (id),
  current_workspace TEXT NOT NULL,
  method            TEXT NOT NULL,
  created_at        BIGINT NOT NULL,
  used_at           BIGINT NOT NULL,
  expires_at        BIGINT NOT NULL,
  proved_at         BIGINT NOT NULL,
  address           TEXT NOT NULL,
  agent             TEXT NOT NULL
);
CREATE INDEX session_person ON session (user_id);
CREATE TABLE setting (
  name       TEXT NOT NULL PRIMARY KEY,
  value      TEXT NOT NULL,
  updated_at BIGINT NOT NULL
) WITHOUT ROWID;
CREATE TABLE sync_run (
  workspace_id  TEXT NOT NULL,
  id            TEXT NOT NULL,
  version       BIGINT NOT NULL,
  rev           BIGINT NOT NULL,
  shape         BIGINT NOT NULL,
  status        TEXT NOT NULL,
  created_at    BIGINT NOT NULL,
  updated_at    BIGINT NOT NULL,
  connection_id TEXT NOT NULL,
  plan          TEXT NOT NULL,
  doc           TEXT NOT NULL, checksum BIGINT,
  PRIMARY KEY (workspace_id, id)
);
CREATE INDEX sync_run_age ON sync_run (created_at);
CREATE INDEX sync_run_created ON sync_run (workspace_id, connection_id, created_at, id, status);
CREATE INDEX sync_run_updated ON sync_run (workspace_id, connection_id, updated_at, id, status);
CREATE TABLE token (
  hash         TEXT NOT NULL PRIMARY KEY,
  id           TEXT NOT NULL,
  kind         TEXT NOT NULL,
  workspace_id TEXT NOT NULL,
  subject      TEXT NOT NULL,
  doc          TEXT NOT NULL,
  tries        BIGINT NOT NULL,
  created_at   BIGINT NOT NULL,
  expires_at   BIGINT NOT NULL,
  UNIQUE (kind, workspace_id, subject)
);
CREATE INDEX token_subject ON token (kind, subject);
CREATE TABLE variant (
  workspace_id TEXT NOT NULL,
  id           TEXT NOT NULL,
  version      BIGINT NOT NULL,
  rev          BIGINT NOT NULL,
  shape        BIGINT NOT NULL,
  status       TEXT NOT NULL,
  created_at   BIGINT NOT NULL,
  updated_at   BIGINT NOT NULL,
  creative_id  TEXT NOT NULL,
  position     BIGINT NOT NULL,
  name         TEXT NOT NULL,
  doc          TEXT NOT NULL, checksum BIGINT,
  PRIMARY KEY (workspace_id, id)
);
CREATE INDEX variant_creative ON variant (workspace_id, creative_id, position, id);
CREATE TABLE word (
  workspace_id TEXT NOT NULL,
  kind         TEXT NOT NULL,
  word         TEXT NOT NULL,
  record_id    TEXT NOT NULL,
  PRIMARY KEY (workspace_id, kind, word, record_id)
) WITHOUT ROWID;
CREATE INDEX word_record ON word (workspace_id, kind, record_id, word);
CREATE TABLE worker_lock (
  name    TEXT PRIMARY KEY,
  holder  TEXT NOT NULL,
  ends_at BIGINT NOT NULL
);
CREATE TABLE workspace (
  id         TEXT NOT NULL PRIMARY KEY,
  name       TEXT NOT NULL,
  plan       TEXT NOT NULL,
  timezone   TEXT NOT NULL,
  currency   TEXT NOT NULL,
  suspended  BIGINT NOT NULL,
  created_at BIGINT NOT NULL
, require_approval BIGINT NOT NULL DEFAULT 0, model_budget BIGINT, endless_keys BIGINT NOT NULL DEFAULT 1, founder TEXT NOT NULL DEFAULT '');
