package duckdb

import (
	"context"
	"database/sql/driver"

	"fanfare/internal/ident"
)

// SumFrom makes smaller workspaces get sums of months.
func (e *Engine) SumFrom(rows int64) { e.maintenance.sumFrom = rows }

// HeavyFrom makes queries of fewer facts heavy.
func (e *Engine) HeavyFrom(rows int64) { e.heavyFrom = rows }

// Exec runs any statement, like an attacker who can run SQL.
func (e *Engine) Exec(ctx context.Context, text string) error {
	return e.withoutWriters(ctx, func(c *conn) error {
		_, err := c.exec(ctx, text)
		return err
	})
}

// Count runs a statement that returns one number.
func (e *Engine) Count(ctx context.Context, text string) (n int64, err error) {
	err = e.pool.use(ctx, func(c *conn) error {
		return c.query(ctx, func(row []driver.Value) error { n = row[0].(int64); return nil }, text)
	})
	return n, err
}

// CodesAbove lists codes with a statement that is cached between calls.
func (e *Engine) CodesAbove(ctx context.Context, code int32) (list []int32, err error) {
	err = e.pool.use(ctx, func(c *conn) error {
		return c.query(ctx, func(row []driver.Value) error { list = append(list, row[0].(int32)); return nil },
			"SELECT code FROM word WHERE code > ? ORDER BY code", code)
	})
	return list, err
}

// SummedMonths returns the number of months of a workspace that have sums.
func (e *Engine) SummedMonths(ctx context.Context, id ident.ID) (int, error) {
	w, err := e.workspace(ctx, id)
	if err != nil || w == nil {
		return 0, err
	}
	return len(w.summedMonths), nil
}

// CacheNoTexts makes each query drop the cached texts of other workspaces.
func (e *Engine) CacheNoTexts() { e.maxCachedEntities = 0 }

// WhileWriting calls f during a write that changes nothing.
func (e *Engine) WhileWriting(ctx context.Context, f func()) error {
	return e.withoutWriters(ctx, func(*conn) error { f(); return nil })
}
