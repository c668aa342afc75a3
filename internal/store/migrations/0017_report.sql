-- kind: expand
-- Saved views, saved reports and dashboards. Private ones are for their owner.
CREATE TABLE saved_view (
  workspace_id KEY NOT NULL,
  id           KEY NOT NULL,
  version      BIGINT NOT NULL,
  rev          BIGINT NOT NULL,
  shape        BIGINT NOT NULL,
  status       KEY NOT NULL,
  created_at   BIGINT NOT NULL,
  updated_at   BIGINT NOT NULL,
  name         KEY NOT NULL,
  kind         TEXT NOT NULL,
  page         TEXT NOT NULL,
  visibility   TEXT NOT NULL,
  owner_id     KEY NOT NULL,
  doc          TEXT NOT NULL,
  checksum     BIGINT,
  PRIMARY KEY (workspace_id, id)
);
CREATE INDEX saved_view_created ON saved_view (workspace_id, created_at, id, status);
CREATE INDEX saved_view_updated ON saved_view (workspace_id, updated_at, id, status);
CREATE INDEX saved_view_name ON saved_view (workspace_id, name, id, status);

CREATE TABLE dashboard (
  workspace_id KEY NOT NULL,
  id           KEY NOT NULL,
  version      BIGINT NOT NULL,
  rev          BIGINT NOT NULL,
  shape        BIGINT NOT NULL,
  status       KEY NOT NULL,
  created_at   BIGINT NOT NULL,
  updated_at   BIGINT NOT NULL,
  name         KEY NOT NULL,
  visibility   TEXT NOT NULL,
  owner_id     KEY NOT NULL,
  doc          TEXT NOT NULL,
  checksum     BIGINT,
  PRIMARY KEY (workspace_id, id)
);
CREATE INDEX dashboard_created ON dashboard (workspace_id, created_at, id, status);
CREATE INDEX dashboard_updated ON dashboard (workspace_id, updated_at, id, status);
CREATE INDEX dashboard_name ON dashboard (workspace_id, name, id, status);
