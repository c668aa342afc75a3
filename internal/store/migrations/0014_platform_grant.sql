-- kind: expand
-- Which living connections use a grant at an ad platform: what a person has
-- granted to an OAuth client. A revocation ends it for all of them, in all
-- workspaces. The hash is keyed with the master key, so that the table does not
-- show who the person is.
CREATE TABLE platform_grant (
  connection_id KEY NOT NULL,
  hash          KEY NOT NULL,
  PRIMARY KEY (connection_id, hash)
) CLUSTERED;
CREATE INDEX platform_grant_hash ON platform_grant (hash);
