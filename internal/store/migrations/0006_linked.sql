-- kind: expand
-- Campaigns depend on the connections of linked platform campaigns too.
INSERT INTO ref (workspace_id, kind, value, record_id)
SELECT DISTINCT workspace_id, 'connection_id', connection_id, record_id FROM link WHERE kind = 'campaign' AND record_id <> ''
ON CONFLICT DO NOTHING;

-- What keeps a campaign from delivering is derived anew.
INSERT INTO job (id, workspace_id, kind, args, uniq, run_at, attempt, last_error)
SELECT 'job_' || substr(id, 5), workspace_id, 'campaign.settle', id, 'campaign.settle:' || id, 0, 0, '' FROM campaign WHERE status IN ('draft', 'active', 'paused')
ON CONFLICT (uniq) DO UPDATE SET run_at = 0;
