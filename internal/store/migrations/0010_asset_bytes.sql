-- kind: expand
-- The size of the file, for the sum of a workspace. 0 for assets that were
-- stored before.
ALTER TABLE asset ADD COLUMN bytes BIGINT NOT NULL DEFAULT 0;
CREATE INDEX asset_bytes ON asset (workspace_id, bytes);
