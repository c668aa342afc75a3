-- kind: contract
-- The database keeps the kits of workspaces apart, as all tables since 0012.
ALTER TABLE brand_kit ENABLE ROW LEVEL SECURITY;
ALTER TABLE brand_kit FORCE ROW LEVEL SECURITY;
CREATE POLICY workspace ON brand_kit USING (workspace_id = (SELECT substr(nullif(current_setting('fanfare.workspace', true), ''), 2))
  OR (SELECT current_setting('fanfare.workspace', true)) = '*');
