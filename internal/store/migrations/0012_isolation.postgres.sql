-- kind: contract
-- The database itself keeps workspaces apart: a transaction names its workspace
-- in fanfare.workspace, as a dot and the id, and sees no other rows. Without a
-- name it sees none; '*' is for work on all workspaces. FORCE binds the owner of
-- the tables too. The subqueries are evaluated once for a statement, not for
-- each row.
DO $$
DECLARE
  name text;
  own  text := '(SELECT substr(nullif(current_setting(''fanfare.workspace'', true), ''''), 2))';
  whole text := '(SELECT current_setting(''fanfare.workspace'', true)) = ''*''';
BEGIN
  FOREACH name IN ARRAY ARRAY[
    'member', 'api_key', 'api_key_use', 'quota', 'campaign', 'ref', 'event', 'once', 'audit', 'audit_head', 'job',
    'audience', 'audience_member', 'creative', 'variant', 'asset', 'model_provider', 'model_spend', 'connection',
    'import', 'rate', 'result', 'result_rows', 'sync_run', 'link', 'token'
  ] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
    EXECUTE format('CREATE POLICY workspace ON %I USING (workspace_id = %s OR %s)', name, own, whole);
  END LOOP;
  -- Models that the operator has set up for all workspaces can be read by each.
  EXECUTE format('CREATE POLICY operator ON model_provider FOR SELECT USING (workspace_id = '''' AND %s IS NOT NULL)', own);
  ALTER TABLE workspace ENABLE ROW LEVEL SECURITY;
  ALTER TABLE workspace FORCE ROW LEVEL SECURITY;
  EXECUTE format('CREATE POLICY workspace ON workspace USING (id = %s OR %s)', own, whole);
END
$$;
