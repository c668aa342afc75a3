-- kind: expand
-- The words by which records are found. kind is the prefix of the record's id.
-- Only records that lists show without being asked have words.
CREATE TABLE word (
  workspace_id KEY NOT NULL,
  kind         KEY NOT NULL,
  word         KEY NOT NULL,
  record_id    KEY NOT NULL,
  PRIMARY KEY (workspace_id, kind, word, record_id)
) CLUSTERED;
-- For the other words of a record.
CREATE INDEX word_record ON word (workspace_id, kind, record_id, word);
