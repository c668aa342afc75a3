CREATE TABLE account_user (
  id text COLLATE "C" NOT NULL,
  email text COLLATE "C" NOT NULL,
  name text NOT NULL,
  service bigint NOT NULL,
  created_at bigint NOT NULL,
  founder text COLLATE "C" NOT NULL DEFAULT ''::text,
  PRIMARY KEY (id),
  UNIQUE (email)
);
CREATE TABLE annotation (
  workspace_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  version bigint NOT NULL,
  rev bigint NOT NULL,
  shape bigint NOT NULL,
  status text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  day bigint NOT NULL,
  last_day bigint NOT NULL,
  campaign_id text COLLATE "C" NOT NULL,
  doc text NOT NULL,
  checksum bigint,
  PRIMARY KEY (workspace_id, id)
);
CREATE INDEX annotation_day ON annotation USING btree (workspace_id, day, id, status);
CREATE TABLE api_key (
  workspace_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  hash text COLLATE "C" NOT NULL,
  name text NOT NULL,
  last4 text NOT NULL,
  scopes text,
  addresses text,
  created_at bigint NOT NULL,
  expires_at bigint,
  revoked_at bigint,
  revoke_reason text NOT NULL,
  notified bigint NOT NULL,
  last_used_at bigint,
  last_address text NOT NULL,
  last_agent text NOT NULL,
  exposed_at bigint,
  PRIMARY KEY (workspace_id, id),
  UNIQUE (hash),
  FOREIGN KEY (workspace_id, user_id) REFERENCES member(workspace_id, user_id)
);
CREATE TABLE api_key_use (
  workspace_id text COLLATE "C" NOT NULL,
  key_id text COLLATE "C" NOT NULL,
  day bigint NOT NULL,
  count bigint NOT NULL,
  PRIMARY KEY (workspace_id, key_id, day)
);
CREATE TABLE asset (
  workspace_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  sha256 text COLLATE "C" NOT NULL,
  touched_at bigint NOT NULL,
  doc text NOT NULL,
  checksum bigint,
  bytes bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (workspace_id, id),
  UNIQUE (workspace_id, sha256)
);
CREATE INDEX asset_bytes ON asset USING btree (workspace_id, bytes);
CREATE INDEX asset_touched ON asset USING btree (workspace_id, touched_at);
CREATE TABLE audience (
  workspace_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  version bigint NOT NULL,
  rev bigint NOT NULL,
  shape bigint NOT NULL,
  status text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  name text COLLATE "C" NOT NULL,
  type text NOT NULL,
  size bigint,
  doc text NOT NULL,
  checksum bigint,
  PRIMARY KEY (workspace_id, id)
);
CREATE INDEX audience_created ON audience USING btree (workspace_id, created_at, id, status);
CREATE INDEX audience_name ON audience USING btree (workspace_id, name, id, status);
CREATE INDEX audience_size ON audience USING btree (workspace_id, size, id, status) WHERE (size IS NOT NULL);
CREATE INDEX audience_updated ON audience USING btree (workspace_id, updated_at, id, status);
CREATE TABLE audience_member (
  workspace_id text COLLATE "C" NOT NULL,
  audience_id text COLLATE "C" NOT NULL,
  hash text COLLATE "C" NOT NULL,
  PRIMARY KEY (workspace_id, audience_id, hash)
);
CREATE INDEX audience_member_hash ON audience_member USING btree (workspace_id, hash, audience_id);
CREATE TABLE audit (
  workspace_id text COLLATE "C" NOT NULL,
  seq bigint NOT NULL,
  at bigint NOT NULL,
  entry text NOT NULL,
  hash text NOT NULL,
  PRIMARY KEY (workspace_id, seq)
);
CREATE TABLE audit_head (
  workspace_id text COLLATE "C" NOT NULL,
  seq bigint NOT NULL,
  hash text NOT NULL,
  PRIMARY KEY (workspace_id)
);
CREATE TABLE brand_kit (
  workspace_id text COLLATE "C" NOT NULL,
  version bigint NOT NULL,
  updated_at bigint NOT NULL,
  doc text NOT NULL,
  checksum bigint,
  PRIMARY KEY (workspace_id)
);
CREATE TABLE call_budget (
  account text COLLATE "C" NOT NULL,
  free_at bigint NOT NULL,
  not_before bigint NOT NULL,
  held_until bigint NOT NULL,
  PRIMARY KEY (account)
);
CREATE TABLE campaign (
  workspace_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  version bigint NOT NULL,
  rev bigint NOT NULL,
  shape bigint NOT NULL,
  status text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  name text COLLATE "C" NOT NULL,
  delivery_status text NOT NULL,
  objective text,
  start_at bigint,
  end_at bigint,
  launched_at bigint,
  spend bigint,
  doc text NOT NULL,
  checksum bigint,
  PRIMARY KEY (workspace_id, id)
);
CREATE INDEX campaign_created ON campaign USING btree (workspace_id, created_at, id, status);
CREATE INDEX campaign_end ON campaign USING btree (workspace_id, end_at, id, status) WHERE (end_at IS NOT NULL);
CREATE INDEX campaign_launched ON campaign USING btree (workspace_id, launched_at, id, status) WHERE (launched_at IS NOT NULL);
CREATE INDEX campaign_name ON campaign USING btree (workspace_id, name, id, status);
CREATE INDEX campaign_spend ON campaign USING btree (workspace_id, spend, id, status) WHERE (spend IS NOT NULL);
CREATE INDEX campaign_start ON campaign USING btree (workspace_id, start_at, id, status) WHERE (start_at IS NOT NULL);
CREATE INDEX campaign_status ON campaign USING btree (workspace_id, status, id);
CREATE INDEX campaign_updated ON campaign USING btree (workspace_id, updated_at, id, status);
CREATE TABLE connection (
  workspace_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  version bigint NOT NULL,
  rev bigint NOT NULL,
  shape bigint NOT NULL,
  status text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  name text COLLATE "C" NOT NULL,
  platform text COLLATE "C" NOT NULL,
  last_success_at bigint,
  doc text NOT NULL,
  private text NOT NULL DEFAULT ''::text,
  checksum bigint,
  PRIMARY KEY (workspace_id, id)
);
CREATE INDEX connection_created ON connection USING btree (workspace_id, created_at, id, status);
CREATE UNIQUE INDEX connection_name ON connection USING btree (workspace_id, platform, name) WHERE (status <> 'disconnected'::text);
CREATE INDEX connection_platform ON connection USING btree (workspace_id, platform, id, status);
CREATE INDEX connection_success ON connection USING btree (workspace_id, last_success_at, id, status) WHERE (last_success_at IS NOT NULL);
CREATE INDEX connection_updated ON connection USING btree (workspace_id, updated_at, id, status);
CREATE TABLE creative (
  workspace_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  version bigint NOT NULL,
  rev bigint NOT NULL,
  shape bigint NOT NULL,
  status text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  name text COLLATE "C" NOT NULL,
  type text NOT NULL,
  source text NOT NULL,
  approval text NOT NULL,
  doc text NOT NULL,
  checksum bigint,
  PRIMARY KEY (workspace_id, id)
);
CREATE INDEX creative_created ON creative USING btree (workspace_id, created_at, id, status);
CREATE INDEX creative_name ON creative USING btree (workspace_id, name, id, status);
CREATE INDEX creative_updated ON creative USING btree (workspace_id, updated_at, id, status);
CREATE TABLE credential (
  kind text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  rev bigint NOT NULL,
  doc text NOT NULL,
  sealed text NOT NULL,
  PRIMARY KEY (kind, id),
  FOREIGN KEY (user_id) REFERENCES account_user(id)
);
CREATE INDEX credential_person ON credential USING btree (user_id);
CREATE TABLE dashboard (
  workspace_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  version bigint NOT NULL,
  rev bigint NOT NULL,
  shape bigint NOT NULL,
  status text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  name text COLLATE "C" NOT NULL,
  visibility text NOT NULL,
  owner_id text COLLATE "C" NOT NULL,
  doc text NOT NULL,
  checksum bigint,
  PRIMARY KEY (workspace_id, id)
);
CREATE INDEX dashboard_created ON dashboard USING btree (workspace_id, created_at, id, status);
CREATE INDEX dashboard_name ON dashboard USING btree (workspace_id, name, id, status);
CREATE INDEX dashboard_updated ON dashboard USING btree (workspace_id, updated_at, id, status);
CREATE TABLE event (
  workspace_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  type text COLLATE "C" NOT NULL,
  resource_id text COLLATE "C" NOT NULL,
  restricted bigint NOT NULL,
  doc text NOT NULL,
  checksum bigint,
  PRIMARY KEY (workspace_id, id)
);
CREATE INDEX event_created ON event USING btree (workspace_id, created_at, id, type);
CREATE INDEX event_resource ON event USING btree (workspace_id, resource_id, created_at);
CREATE TABLE import (
  workspace_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  version bigint NOT NULL,
  rev bigint NOT NULL,
  shape bigint NOT NULL,
  status text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  name text COLLATE "C" NOT NULL,
  source text COLLATE "C" NOT NULL,
  sha256 text COLLATE "C" NOT NULL,
  doc text NOT NULL,
  checksum bigint,
  PRIMARY KEY (workspace_id, id)
);
CREATE INDEX import_created ON import USING btree (workspace_id, created_at, id, status);
CREATE INDEX import_name ON import USING btree (workspace_id, name, id, status);
CREATE INDEX import_sha256 ON import USING btree (workspace_id, sha256, created_at);
CREATE INDEX import_updated ON import USING btree (workspace_id, updated_at, id, status);
CREATE TABLE job (
  id text COLLATE "C" NOT NULL,
  workspace_id text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL,
  args text NOT NULL,
  uniq text COLLATE "C",
  run_at bigint NOT NULL,
  attempt bigint NOT NULL,
  last_error text NOT NULL,
  PRIMARY KEY (id),
  UNIQUE (uniq)
);
CREATE INDEX job_begun ON job USING btree (run_at) WHERE (attempt > 0);
CREATE INDEX job_due ON job USING btree (run_at);
CREATE TABLE link (
  workspace_id text COLLATE "C" NOT NULL,
  connection_id text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL,
  external_id text COLLATE "C" NOT NULL,
  account_id text COLLATE "C" NOT NULL,
  record_id text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  runs bigint NOT NULL,
  wanted text NOT NULL,
  doc text NOT NULL,
  checksum bigint,
  PRIMARY KEY (workspace_id, connection_id, kind, external_id)
);
CREATE INDEX link_record ON link USING btree (workspace_id, record_id) WHERE (record_id <> ''::text);
CREATE TABLE member (
  workspace_id text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  role text NOT NULL,
  inactive_at bigint,
  PRIMARY KEY (workspace_id, user_id),
  FOREIGN KEY (user_id) REFERENCES account_user(id),
  FOREIGN KEY (workspace_id) REFERENCES workspace(id)
);
CREATE INDEX member_user ON member USING btree (user_id);
CREATE TABLE model_provider (
  workspace_id text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL,
  settings text NOT NULL,
  sealed text NOT NULL,
  updated_at bigint NOT NULL,
  PRIMARY KEY (workspace_id, kind)
);
CREATE TABLE model_spend (
  workspace_id text COLLATE "C" NOT NULL,
  month text COLLATE "C" NOT NULL,
  micros bigint NOT NULL,
  PRIMARY KEY (workspace_id, month)
);
CREATE TABLE once (
  workspace_id text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  fingerprint text NOT NULL,
  status bigint NOT NULL,
  resource_id text NOT NULL,
  version bigint NOT NULL,
  rev bigint NOT NULL,
  doc text NOT NULL,
  created_at bigint NOT NULL,
  checksum bigint,
  PRIMARY KEY (workspace_id, key)
);
CREATE INDEX once_age ON once USING btree (workspace_id, created_at);
CREATE TABLE platform_grant (
  connection_id text COLLATE "C" NOT NULL,
  hash text COLLATE "C" NOT NULL,
  PRIMARY KEY (connection_id, hash)
);
CREATE INDEX platform_grant_hash ON platform_grant USING btree (hash);
CREATE TABLE quota (
  workspace_id text COLLATE "C" NOT NULL,
  opened_at bigint NOT NULL,
  minute bigint NOT NULL,
  day_of bigint NOT NULL,
  day bigint NOT NULL,
  PRIMARY KEY (workspace_id)
);
CREATE TABLE rate (
  workspace_id text COLLATE "C" NOT NULL,
  currency text COLLATE "C" NOT NULL,
  day bigint NOT NULL,
  per_euro bigint NOT NULL,
  carried bigint NOT NULL,
  updated_at bigint NOT NULL,
  PRIMARY KEY (workspace_id, currency, day)
);
CREATE INDEX rate_day ON rate USING btree (workspace_id, day, currency);
CREATE TABLE ref (
  workspace_id text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL,
  value text COLLATE "C" NOT NULL,
  record_id text COLLATE "C" NOT NULL,
  PRIMARY KEY (workspace_id, kind, value, record_id)
);
CREATE TABLE result (
  workspace_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  hash text NOT NULL,
  meta text NOT NULL,
  total bigint NOT NULL,
  expires_at bigint NOT NULL,
  checksum bigint,
  PRIMARY KEY (workspace_id, id)
);
CREATE INDEX result_age ON result USING btree (workspace_id, expires_at);
CREATE TABLE result_rows (
  workspace_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  chunk bigint NOT NULL,
  expires_at bigint NOT NULL,
  doc text NOT NULL,
  checksum bigint,
  PRIMARY KEY (workspace_id, id, chunk)
);
CREATE INDEX result_rows_age ON result_rows USING btree (workspace_id, expires_at);
CREATE TABLE saved_view (
  workspace_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  version bigint NOT NULL,
  rev bigint NOT NULL,
  shape bigint NOT NULL,
  status text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  name text COLLATE "C" NOT NULL,
  kind text NOT NULL,
  page text NOT NULL,
  visibility text NOT NULL,
  owner_id text COLLATE "C" NOT NULL,
  doc text NOT NULL,
  checksum bigint,
  PRIMARY KEY (workspace_id, id)
);
CREATE INDEX saved_view_created ON saved_view USING btree (workspace_id, created_at, id, status);
CREATE INDEX saved_view_name ON saved_view USING btree (workspace_id, name, id, status);
CREATE INDEX saved_view_updated ON saved_view USING btree (workspace_id, updated_at, id, status);
CREATE TABLE schema_migration (
  version text NOT NULL,
  name text NOT NULL,
  sum text NOT NULL,
  applied_at bigint NOT NULL,
  kind text NOT NULL DEFAULT ''::text,
  PRIMARY KEY (version)
);
CREATE TABLE session (
  hash text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  current_workspace text COLLATE "C" NOT NULL,
  method text NOT NULL,
  created_at bigint NOT NULL,
  used_at bigint NOT NULL,
  expires_at bigint NOT NULL,
  proved_at bigint NOT NULL,
  address text NOT NULL,
  agent text NOT NULL,
  PRIMARY KEY (hash),
  UNIQUE (id),
  FOREIGN KEY (user_id) REFERENCES account_user(id)
);
CREATE INDEX session_person ON session USING btree (user_id);
CREATE TABLE setting (
  name text COLLATE "C" NOT NULL,
  value text NOT NULL,
  updated_at bigint NOT NULL,
  PRIMARY KEY (name)
);
CREATE TABLE sync_run (
  workspace_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  version bigint NOT NULL,
  rev bigint NOT NULL,
  shape bigint NOT NULL,
  status text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  connection_id text COLLATE "C" NOT NULL,
  plan text NOT NULL,
  doc text NOT NULL,
  checksum bigint,
  PRIMARY KEY (workspace_id, id)
);
CREATE INDEX sync_run_age ON sync_run USING btree (created_at);
CREATE INDEX sync_run_created ON sync_run USING btree (workspace_id, connection_id, created_at, id, status);
CREATE INDEX sync_run_updated ON sync_run USING btree (workspace_id, connection_id, updated_at, id, status);
CREATE TABLE token (
  hash text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL,
  workspace_id text COLLATE "C" NOT NULL,
  subject text COLLATE "C" NOT NULL,
  doc text NOT NULL,
  tries bigint NOT NULL,
  created_at bigint NOT NULL,
  expires_at bigint NOT NULL,
  PRIMARY KEY (hash),
  UNIQUE (kind, workspace_id, subject)
);
CREATE INDEX token_subject ON token USING btree (kind, subject);
CREATE TABLE variant (
  workspace_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  version bigint NOT NULL,
  rev bigint NOT NULL,
  shape bigint NOT NULL,
  status text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  creative_id text COLLATE "C" NOT NULL,
  position bigint NOT NULL,
  name text COLLATE "C" NOT NULL,
  doc text NOT NULL,
  checksum bigint,
  PRIMARY KEY (workspace_id, id)
);
CREATE INDEX variant_creative ON variant USING btree (workspace_id, creative_id, "position", id);
CREATE TABLE word (
  workspace_id text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL,
  word text COLLATE "C" NOT NULL,
  record_id text COLLATE "C" NOT NULL,
  PRIMARY KEY (workspace_id, kind, word, record_id)
);
CREATE INDEX word_record ON word USING btree (workspace_id, kind, record_id, word);
CREATE TABLE worker_lock (
  name text NOT NULL,
  holder text NOT NULL,
  ends_at bigint NOT NULL,
  PRIMARY KEY (name)
);
CREATE TABLE workspace (
  id text COLLATE "C" NOT NULL,
  name text NOT NULL,
  plan text NOT NULL,
  timezone text NOT NULL,
  currency text NOT NULL,
  suspended bigint NOT NULL,
  created_at bigint NOT NULL,
  require_approval bigint NOT NULL DEFAULT 0,
  model_budget bigint,
  endless_keys bigint NOT NULL DEFAULT 1,
  founder text COLLATE "C" NOT NULL DEFAULT ''::text,
  PRIMARY KEY (id)
);
