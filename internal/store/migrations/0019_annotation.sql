-- kind: expand
-- Notes on charts. last_day is that of a range of days, or the same as day.
CREATE TABLE annotation (
  workspace_id KEY NOT NULL,
  id           KEY NOT NULL,
  version      BIGINT NOT NULL,
  rev          BIGINT NOT NULL,
  shape        BIGINT NOT NULL,
  status       KEY NOT NULL,
  created_at   BIGINT NOT NULL,
  updated_at   BIGINT NOT NULL,
  day          BIGINT NOT NULL,
  last_day     BIGINT NOT NULL,
  campaign_id  KEY NOT NULL,
  doc          TEXT NOT NULL,
  checksum     BIGINT,
  PRIMARY KEY (workspace_id, id)
);
CREATE INDEX annotation_day ON annotation (workspace_id, day, id, status);
