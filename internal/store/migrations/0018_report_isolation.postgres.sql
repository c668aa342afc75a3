-- kind: expand
-- As in step 0012, a transaction sees the records of one workspace.
ALTER TABLE saved_view ENABLE ROW LEVEL SECURITY;
ALTER TABLE saved_view FORCE ROW LEVEL SECURITY;
CREATE POLICY workspace ON saved_view USING (
  workspace_id = (SELECT substr(nullif(current_setting('fanfare.workspace', true), ''), 2))
  OR (SELECT current_setting('fanfare.workspace', true)) = '*'
);
ALTER TABLE dashboard ENABLE ROW LEVEL SECURITY;
ALTER TABLE dashboard FORCE ROW LEVEL SECURITY;
CREATE POLICY workspace ON dashboard USING (
  workspace_id = (SELECT substr(nullif(current_setting('fanfare.workspace', true), ''), 2))
  OR (SELECT current_setting('fanfare.workspace', true)) = '*'
);
