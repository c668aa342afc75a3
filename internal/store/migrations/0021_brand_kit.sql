-- kind: expand
-- How the ads of a workspace look and sound: one document for each.
CREATE TABLE brand_kit (
  workspace_id KEY NOT NULL PRIMARY KEY,
  version      BIGINT NOT NULL,
  updated_at   BIGINT NOT NULL,
  doc          TEXT NOT NULL,
  checksum     BIGINT
) CLUSTERED;
