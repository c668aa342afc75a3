-- kind: expand
-- Workspaces of one founder share turns. The founder of a workspace never
-- changes. A user's is the one of the workspaces that the user creates; '' is
-- the user. Of workspaces that are there, the first user among the owners is
-- the founder.
ALTER TABLE workspace ADD COLUMN founder KEY NOT NULL DEFAULT '';
UPDATE workspace SET founder = coalesce((SELECT min(m.user_id) FROM member m WHERE m.workspace_id = workspace.id AND m.role = 'owner'), '');
ALTER TABLE account_user ADD COLUMN founder KEY NOT NULL DEFAULT '';
