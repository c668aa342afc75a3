-- kind: expand
-- As in step 0012, a transaction sees the words of one workspace.
ALTER TABLE word ENABLE ROW LEVEL SECURITY;
ALTER TABLE word FORCE ROW LEVEL SECURITY;
CREATE POLICY workspace ON word USING (
  workspace_id = (SELECT substr(nullif(current_setting('fanfare.workspace', true), ''), 2))
  OR (SELECT current_setting('fanfare.workspace', true)) = '*'
);
