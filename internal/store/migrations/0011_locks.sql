-- kind: expand
-- Work that only one node may do at a time. A lock without its holder ends by
-- itself.
CREATE TABLE worker_lock (
  name    TEXT PRIMARY KEY,
  holder  TEXT NOT NULL,
  ends_at BIGINT NOT NULL
);
