-- kind: expand
-- What the service remembers of a connection and nobody is shown, its sealed
-- credentials among it.
ALTER TABLE connection ADD COLUMN private TEXT NOT NULL DEFAULT '';

CREATE TABLE sync_run (
  workspace_id  KEY NOT NULL,
  id            KEY NOT NULL,
  version       BIGINT NOT NULL,
  rev           BIGINT NOT NULL,
  shape         BIGINT NOT NULL,
  status        KEY NOT NULL,
  created_at    BIGINT NOT NULL,
  updated_at    BIGINT NOT NULL,
  connection_id KEY NOT NULL,
  plan          TEXT NOT NULL,
  doc           TEXT NOT NULL,
  PRIMARY KEY (workspace_id, id)
);
CREATE INDEX sync_run_created ON sync_run (workspace_id, connection_id, created_at, id, status);
CREATE INDEX sync_run_updated ON sync_run (workspace_id, connection_id, updated_at, id, status);
CREATE INDEX sync_run_age ON sync_run (created_at);

-- What platforms have, and which records of ours that is; record_id is '' for
-- none, name in lower case. runs says what the platform's status means, wanted
-- what was last to be written there: 'run', 'pause' or ''.
CREATE TABLE link (
  workspace_id  KEY NOT NULL,
  connection_id KEY NOT NULL,
  kind          KEY NOT NULL,
  external_id   KEY NOT NULL,
  account_id    KEY NOT NULL,
  record_id     KEY NOT NULL,
  name          KEY NOT NULL,
  runs          BIGINT NOT NULL,
  wanted        TEXT NOT NULL,
  doc           TEXT NOT NULL,
  PRIMARY KEY (workspace_id, connection_id, kind, external_id)
);
CREATE INDEX link_record ON link (workspace_id, record_id) WHERE record_id <> '';
