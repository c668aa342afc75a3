-- kind: expand
-- As in step 0012, a transaction sees the records of one workspace.
ALTER TABLE annotation ENABLE ROW LEVEL SECURITY;
ALTER TABLE annotation FORCE ROW LEVEL SECURITY;
CREATE POLICY workspace ON annotation USING (
  workspace_id = (SELECT substr(nullif(current_setting('fanfare.workspace', true), ''), 2))
  OR (SELECT current_setting('fanfare.workspace', true)) = '*'
);
