-- kind: expand
-- The CRC-32C of the document beside it, so that a document whose bytes have
-- changed on disk is found when it is read. NULL for rows that were written
-- before; the background job that rewrites old shapes fills most of them in,
-- and the others are short-lived.
ALTER TABLE campaign ADD COLUMN checksum BIGINT;
ALTER TABLE audience ADD COLUMN checksum BIGINT;
ALTER TABLE creative ADD COLUMN checksum BIGINT;
ALTER TABLE variant ADD COLUMN checksum BIGINT;
ALTER TABLE asset ADD COLUMN checksum BIGINT;
ALTER TABLE connection ADD COLUMN checksum BIGINT;
ALTER TABLE sync_run ADD COLUMN checksum BIGINT;
ALTER TABLE link ADD COLUMN checksum BIGINT;
ALTER TABLE import ADD COLUMN checksum BIGINT;
ALTER TABLE result ADD COLUMN checksum BIGINT;
ALTER TABLE result_rows ADD COLUMN checksum BIGINT;
ALTER TABLE event ADD COLUMN checksum BIGINT;
ALTER TABLE once ADD COLUMN checksum BIGINT;
