package duckdb

import (
	"context"
	"database/sql/driver"

	"fanfare/internal/ident"
)

// RollFrom lets smaller workspaces have their months summed up.
func (e *Engine) RollFrom(rows int64) { e.care.rollFrom = rows }

// HeavyFrom makes queries of fewer facts heavy.
func (e *Engine) HeavyFrom(rows int64) { e.heavyFrom = rows }

// Exec runs any statement, as somebody would who had found a way in.
func (e *Engine) Exec(ctx context.Context, text string) error {
	return e.alone(ctx, func(c *conn) error {
		_, err := c.exec(ctx, text)
		return err
	})
}

// Count runs a statement that gives one number.
func (e *Engine) Count(ctx context.Context, text string) (n int64, err error) {
	err = e.pool.use(ctx, func(c *conn) error {
		return c.query(ctx, func(row []driver.Value) error { n = row[0].(int64); return nil }, text)
	})
	return n, err
}

// Above lists codes with a statement that is kept between calls.
func (e *Engine) Above(ctx context.Context, code int32) (list []int32, err error) {
	err = e.pool.use(ctx, func(c *conn) error {
		return c.query(ctx, func(row []driver.Value) error { list = append(list, row[0].(int32)); return nil },
			"SELECT code FROM word WHERE code > ? ORDER BY code", code)
	})
	return list, err
}

// Rolled is how many months of a workspace are summed up.
func (e *Engine) Rolled(ctx context.Context, id ident.ID) (int, error) {
	w, err := e.workspace(ctx, id)
	if err != nil || w == nil {
		return 0, err
	}
	return len(w.rolled), nil
}

// RememberTooMuch pretends that as many entities are remembered as may be.
func (e *Engine) RememberTooMuch() { e.told.Store(maxTold) }
