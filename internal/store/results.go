package store

import (
	"bytes"
	"context"
	"fmt"

	"fanfare/internal/analytics"
	"fanfare/internal/clock"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
)

// Results stores the rows of long query results until they expire.
type Results struct{ db *DB }

var _ analytics.Results = (*Results)(nil)

// Results returns the store of results.
func (db *DB) Results() *Results { return &Results{db} }

// resultRows is how many rows of a result share one row of the table, so that
// few statements write a large result and few rows serve a page.
const resultRows = 500

// resultChunks is how many rows of the table one transaction writes or deletes.
// Others wait for the transaction, such as a caller who pauses a campaign, and
// not for a whole result, which may have 20 MB.
const resultChunks = 8

// maxResultChunks is how many rows of the table a workspace may have: ten of the
// longest results, about 200 MB. Otherwise a workspace could fill the disk with
// queries.
const maxResultChunks = 2000

var (
	resultTable = newTable(table{
		name: "result", key: workspaceID, doc: "meta",
		columns: names("workspace_id", "id", "hash", "meta", "checksum", "total", "expires_at"),
	})
	resultRowsTable = newTable(table{
		name: "result_rows", key: []string{"workspace_id", "id", "chunk"}, doc: "doc", lines: true,
		columns: names("workspace_id", "id", "chunk", "expires_at", "doc", "checksum"),
	})
)

const (
	selectResult     = `SELECT meta, checksum, total FROM result WHERE workspace_id = $1 AND id = $2 AND expires_at > $3`
	selectResultRows = `SELECT doc, checksum FROM result_rows WHERE workspace_id = $1 AND id = $2 AND chunk >= $3 AND chunk <= $4 ORDER BY chunk`
)

// pruneResultRows deletes up to resultChunks expired rows.
const pruneResultRows = `DELETE FROM result_rows WHERE (workspace_id, id, chunk) IN (
	SELECT workspace_id, id, chunk FROM result_rows WHERE workspace_id = $1 AND expires_at <= $2 ORDER BY expires_at LIMIT 8)`

// deleteOldRows keeps the newest $2 rows of a workspace and deletes up to
// resultChunks of the others.
const deleteOldRows = `DELETE FROM result_rows WHERE (workspace_id, id, chunk) IN (
	SELECT workspace_id, id, chunk FROM result_rows WHERE workspace_id = $1 ORDER BY expires_at DESC, id, chunk LIMIT 8 OFFSET $2)`

// makeRoom deletes the oldest results of a workspace until it has room for more
// rows of the table. A page of a deleted result is not found.
func (s *Results) makeRoom(ctx context.Context, workspace ident.ID, more int) error {
	for {
		var deleted int64
		err := s.db.writeTx(Within(ctx, workspace), func(tx Tx) (err error) {
			deleted, err = tx.Exec(deleteOldRows, string(workspace), max(maxResultChunks-more, 0))
			return err
		})
		if err != nil || deleted < resultChunks {
			return err
		}
	}
}

// Save stores a result. Its head is written with its last rows: rows without one
// are never read, and expire.
func (s *Results) Save(ctx context.Context, workspace ident.ID, k *analytics.StoredResult) error {
	if err := s.makeRoom(ctx, workspace, (len(k.Rows)+resultRows-1)/resultRows); err != nil {
		return err
	}
	for from := 0; ; from += resultChunks * resultRows {
		last := from+resultChunks*resultRows >= len(k.Rows)
		err := s.db.writeTx(Within(ctx, workspace), func(tx Tx) error {
			if err := saveRows(tx, workspace, k, from); err != nil || !last {
				return err
			}
			if _, err := tx.Exec(resultTable.insert, string(workspace), string(k.ID), k.Hash, k.Meta, checksum(k.Meta), len(k.Rows), int64(k.ExpiresAt)); err != nil {
				return fmt.Errorf("keep result: %w", err)
			}
			return nil
		})
		if err != nil || last {
			return err
		}
	}
}

// saveRows writes resultChunks rows of the table, beginning with a row of the
// result.
func saveRows(tx Tx, workspace ident.ID, k *analytics.StoredResult, from int) error {
	for end := min(len(k.Rows), from+resultChunks*resultRows); from < end; from += resultRows {
		// A line break separates rows: encoded rows have none outside of
		// strings, and strings encode them as \n.
		doc := bytes.Join(k.Rows[from:min(end, from+resultRows)], []byte("\n"))
		if _, err := tx.Exec(resultRowsTable.insert, string(workspace), string(k.ID), from/resultRows, int64(k.ExpiresAt), doc, checksum(doc)); err != nil {
			return fmt.Errorf("keep rows of a result: %w", err)
		}
	}
	return nil
}

// Page returns rows of a result that has not expired, its metadata and its
// total number of rows.
func (s *Results) Page(ctx context.Context, workspace, id ident.ID, offset, limit int) (rows [][]byte, meta []byte, total int, err error) {
	head, err := s.db.engine.Query(Within(ctx, workspace), selectResult, string(workspace), string(id), int64(clock.At(s.db.now())))
	if err != nil {
		return nil, nil, 0, toFault(fmt.Errorf("read result: %w", err))
	}
	if !head.Next() {
		return nil, nil, 0, fault.Missing()
	}
	if meta, err = readDocument(head, resultTable, string(id)); err != nil {
		return nil, nil, 0, err
	}
	total = int(head.Int())
	end := min(total, offset+limit)
	if offset >= end {
		return nil, meta, total, nil
	}
	first := offset / resultRows
	chunks, err := s.db.engine.Query(Within(ctx, workspace), selectResultRows, string(workspace), string(id), first, (end-1)/resultRows)
	if err != nil {
		return nil, nil, 0, toFault(fmt.Errorf("read rows of a result: %w", err))
	}
	for chunks.Next() {
		doc, err := readDocument(chunks, resultRowsTable, string(id))
		if err != nil {
			return nil, nil, 0, err
		}
		rows = append(rows, bytes.Split(doc, []byte("\n"))...)
	}
	from := offset - first*resultRows
	if len(rows) < from+end-offset {
		return nil, nil, 0, fault.Missing() // expired and deleted since the first query
	}
	return rows[from : from+end-offset], meta, total, nil
}
