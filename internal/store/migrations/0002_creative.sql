-- kind: expand
CREATE TABLE audience (
  workspace_id KEY NOT NULL,
  id           KEY NOT NULL,
  version      BIGINT NOT NULL,
  rev          BIGINT NOT NULL,
  shape        BIGINT NOT NULL,
  status       KEY NOT NULL,
  created_at   BIGINT NOT NULL,
  updated_at   BIGINT NOT NULL,
  name         KEY NOT NULL,
  type         TEXT NOT NULL,
  size         BIGINT,
  doc          TEXT NOT NULL,
  PRIMARY KEY (workspace_id, id)
);
CREATE INDEX audience_created ON audience (workspace_id, created_at, id, status);
CREATE INDEX audience_updated ON audience (workspace_id, updated_at, id, status);
CREATE INDEX audience_name ON audience (workspace_id, name, id, status);
CREATE INDEX audience_size ON audience (workspace_id, size, id, status) WHERE size IS NOT NULL;

-- Members of customer lists: SHA-256 of an address, never the address.
CREATE TABLE audience_member (
  workspace_id KEY NOT NULL,
  audience_id  KEY NOT NULL,
  hash         KEY NOT NULL,
  PRIMARY KEY (workspace_id, audience_id, hash)
) CLUSTERED;
-- For the overlap of two lists.
CREATE INDEX audience_member_hash ON audience_member (workspace_id, hash, audience_id);

CREATE TABLE creative (
  workspace_id KEY NOT NULL,
  id           KEY NOT NULL,
  version      BIGINT NOT NULL,
  rev          BIGINT NOT NULL,
  shape        BIGINT NOT NULL,
  status       KEY NOT NULL,
  created_at   BIGINT NOT NULL,
  updated_at   BIGINT NOT NULL,
  name         KEY NOT NULL,
  type         TEXT NOT NULL,
  source       TEXT NOT NULL,
  approval     TEXT NOT NULL,
  doc          TEXT NOT NULL,
  PRIMARY KEY (workspace_id, id)
);
CREATE INDEX creative_created ON creative (workspace_id, created_at, id, status);
CREATE INDEX creative_updated ON creative (workspace_id, updated_at, id, status);
CREATE INDEX creative_name ON creative (workspace_id, name, id, status);

CREATE TABLE variant (
  workspace_id KEY NOT NULL,
  id           KEY NOT NULL,
  version      BIGINT NOT NULL,
  rev          BIGINT NOT NULL,
  shape        BIGINT NOT NULL,
  status       KEY NOT NULL,
  created_at   BIGINT NOT NULL,
  updated_at   BIGINT NOT NULL,
  creative_id  KEY NOT NULL,
  position     BIGINT NOT NULL,
  name         KEY NOT NULL,
  doc          TEXT NOT NULL,
  PRIMARY KEY (workspace_id, id)
);
CREATE INDEX variant_creative ON variant (workspace_id, creative_id, position, id);

-- Files by their content. touched_at is when one was last uploaded or referred
-- to; what nobody refers to long after that is removed.
CREATE TABLE asset (
  workspace_id KEY NOT NULL,
  id           KEY NOT NULL,
  sha256       KEY NOT NULL,
  touched_at   BIGINT NOT NULL,
  doc          TEXT NOT NULL,
  PRIMARY KEY (workspace_id, id),
  UNIQUE (workspace_id, sha256)
);
CREATE INDEX asset_touched ON asset (workspace_id, touched_at);

-- Language models that creatives can be generated with. A workspace_id of ''
-- is every workspace; sealed is the key to the provider, encrypted.
CREATE TABLE model_provider (
  workspace_id KEY NOT NULL,
  kind         KEY NOT NULL,
  settings     TEXT NOT NULL,
  sealed       TEXT NOT NULL,
  updated_at   BIGINT NOT NULL,
  PRIMARY KEY (workspace_id, kind)
) CLUSTERED;

-- What a workspace has spent on models in a month, such as 2026-11, in
-- millionths of a US dollar.
CREATE TABLE model_spend (
  workspace_id KEY NOT NULL,
  month        KEY NOT NULL,
  micros       BIGINT NOT NULL,
  PRIMARY KEY (workspace_id, month)
) CLUSTERED;

-- model_budget is the most a workspace may spend on models in a month, in the
-- same unit; null for no limit.
ALTER TABLE workspace ADD COLUMN require_approval BIGINT NOT NULL DEFAULT 0;
ALTER TABLE workspace ADD COLUMN model_budget BIGINT;
