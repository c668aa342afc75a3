package pgtables

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/ident"
)

// BeginImport assigns a number to a write that can be undone. It deletes the undo
// data of imports that are too old to undo. If the import was written before,
// Unchanged is set and the caller writes nothing.
func (c *Change) BeginImport(ctx context.Context, id ident.ID, now clock.Instant) (int32, error) {
	if id == "" {
		return 0, nil
	}
	if err := c.forgetOldImports(ctx, now); err != nil {
		return 0, fmt.Errorf("delete undo data: %w", err)
	}
	if err := c.Tx.QueryRow(ctx, "SELECT EXISTS (SELECT 1 FROM metrics_import WHERE workspace = $1 AND id = $2)", c.Workspace, []byte(id)).Scan(&c.Unchanged); err != nil || c.Unchanged {
		return 0, err
	}
	n := c.nextImport
	c.nextImport++
	if _, err := c.Tx.Exec(ctx, "INSERT INTO metrics_import (workspace, key, id, written) VALUES ($1, $2, $3, $4)", c.Workspace, n, []byte(id), int64(now)); err != nil {
		return 0, fmt.Errorf("insert import: %w", err)
	}
	return n, nil
}

// RecordEmptied records that a write empties a window. An import keeps what it replaces;
// what other writes replace is deleted.
func (c *Change) RecordEmptied(ctx context.Context, w fact.Window, source, imported int32) (err error) {
	if imported == 0 {
		_, err = c.Tx.Exec(ctx, "DELETE FROM metrics_replaced WHERE workspace = $1 AND source = $2 AND day BETWEEN $3 AND $4 AND family = $5",
			c.Workspace, source, int32(w.First), int32(w.Last), int16(w.Family))
	} else {
		_, err = c.Tx.Exec(ctx, "INSERT INTO metrics_cover (workspace, import, family, source, first, last) VALUES ($1, $2, $3, $4, $5, $6)", c.Workspace, imported, int16(w.Family), source, int32(w.First), int32(w.Last))
	}
	return err
}

// WritesOf returns the numbers of an import's writes. Without any, the undo of
// the import changes nothing.
func (c *Change) WritesOf(ctx context.Context, id ident.ID) ([]int32, error) {
	rows, err := c.Tx.Query(ctx, "SELECT key FROM metrics_import WHERE workspace = $1 AND id = $2", c.Workspace, []byte(id))
	if err != nil {
		return nil, err
	}
	writes, err := pgx.CollectRows(rows, pgx.RowTo[int32])
	c.Unchanged = len(writes) == 0
	return writes, err
}

// DeleteUndoData deletes what the undo of an import's writes needs. Their rows in
// metrics_import stay, so that the import is not written again.
func (c *Change) DeleteUndoData(ctx context.Context, writes []int32) error {
	for _, text := range []string{
		"DELETE FROM metrics_replaced WHERE workspace = $1 AND import = ANY($2)",
		"DELETE FROM metrics_cover WHERE workspace = $1 AND import = ANY($2)",
	} {
		if _, err := c.Tx.Exec(ctx, text, c.Workspace, writes); err != nil {
			return err
		}
	}
	return nil
}

// undoFor is how long an import can be undone.
const undoFor = 30 * 24 * time.Hour

// forgetOldImports deletes the undo data of imports that are too old to undo.
// Imports are numbered in the order of time.
func (c *Change) forgetOldImports(ctx context.Context, now clock.Instant) error {
	var last int32
	if err := c.Tx.QueryRow(ctx, "SELECT coalesce(max(key), 0) FROM metrics_import WHERE workspace = $1 AND written < $2", c.Workspace, int64(now.Add(-undoFor))).Scan(&last); err != nil || last == 0 {
		return err
	}
	for _, text := range []string{
		"DELETE FROM metrics_replaced WHERE workspace = $1 AND above <= $2",
		"DELETE FROM metrics_cover WHERE workspace = $1 AND import <= $2",
		"DELETE FROM metrics_import WHERE workspace = $1 AND key <= $2",
	} {
		if _, err := c.Tx.Exec(ctx, text, c.Workspace, last); err != nil {
			return err
		}
	}
	return nil
}
