-- kind: expand
CREATE TABLE connection (
  workspace_id    KEY NOT NULL,
  id              KEY NOT NULL,
  version         BIGINT NOT NULL,
  rev             BIGINT NOT NULL,
  shape           BIGINT NOT NULL,
  status          KEY NOT NULL,
  created_at      BIGINT NOT NULL,
  updated_at      BIGINT NOT NULL,
  name            KEY NOT NULL,
  platform        KEY NOT NULL,
  last_success_at BIGINT,
  doc             TEXT NOT NULL,
  PRIMARY KEY (workspace_id, id)
);
CREATE INDEX connection_created ON connection (workspace_id, created_at, id, status);
CREATE INDEX connection_updated ON connection (workspace_id, updated_at, id, status);
CREATE INDEX connection_platform ON connection (workspace_id, platform, id, status);
CREATE INDEX connection_success ON connection (workspace_id, last_success_at, id, status) WHERE last_success_at IS NOT NULL;
-- A name means one connection of a platform for as long as it lives.
CREATE UNIQUE INDEX connection_name ON connection (workspace_id, platform, name) WHERE status <> 'disconnected';

CREATE TABLE import (
  workspace_id KEY NOT NULL,
  id           KEY NOT NULL,
  version      BIGINT NOT NULL,
  rev          BIGINT NOT NULL,
  shape        BIGINT NOT NULL,
  status       KEY NOT NULL,
  created_at   BIGINT NOT NULL,
  updated_at   BIGINT NOT NULL,
  name         KEY NOT NULL,
  source       KEY NOT NULL,
  sha256       KEY NOT NULL,
  doc          TEXT NOT NULL,
  PRIMARY KEY (workspace_id, id)
);
CREATE INDEX import_created ON import (workspace_id, created_at, id, status);
CREATE INDEX import_updated ON import (workspace_id, updated_at, id, status);
CREATE INDEX import_name ON import (workspace_id, name, id, status);
-- For the same file again.
CREATE INDEX import_sha256 ON import (workspace_id, sha256, created_at);

-- What a euro was worth on a day (in days since 1970), in units of a currency
-- times 100,000,000. A workspace_id of '' is every workspace; carried says that
-- nothing was published for the day and that the rate is of the one before.
CREATE TABLE rate (
  workspace_id KEY NOT NULL,
  currency     KEY NOT NULL,
  day          BIGINT NOT NULL,
  per_euro     BIGINT NOT NULL,
  carried      BIGINT NOT NULL,
  updated_at   BIGINT NOT NULL,
  PRIMARY KEY (workspace_id, currency, day)
) CLUSTERED;
CREATE INDEX rate_day ON rate (workspace_id, day, currency);

-- Results of queries that are longer than a page, until they expire: what goes
-- with all rows, and the rows in chunks, one per line.
CREATE TABLE result (
  workspace_id KEY NOT NULL,
  id           KEY NOT NULL,
  hash         TEXT NOT NULL,
  meta         TEXT NOT NULL,
  total        BIGINT NOT NULL,
  expires_at   BIGINT NOT NULL,
  PRIMARY KEY (workspace_id, id)
);
CREATE INDEX result_age ON result (workspace_id, expires_at);
CREATE TABLE result_rows (
  workspace_id KEY NOT NULL,
  id           KEY NOT NULL,
  chunk        BIGINT NOT NULL,
  expires_at   BIGINT NOT NULL,
  doc          TEXT NOT NULL,
  PRIMARY KEY (workspace_id, id, chunk)
);
CREATE INDEX result_rows_age ON result_rows (workspace_id, expires_at);
