package duckdb

import (
	"context"
	"database/sql/driver"
	"fmt"
	"time"

	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/ident"
	"fanfare/internal/metrics/numbers"
)

// undoFor is how long an import can be taken back.
const undoFor = 30 * 24 * time.Hour

// Undo leaves the facts as if the import had never been: all other batches in
// their order, without it. It works because batches are numbered in that order
// and whatever an import puts aside is kept with the number of the one above:
// a fact put aside is the one that counts when no fact has its key and no
// window of a later import, or of the one above, has emptied its day.
func (e *Engine) Undo(ctx context.Context, id, imported ident.ID) (int64, error) {
	var gone int64
	err := e.write(ctx, id, 0, func(t *change) error {
		var batches []int32
		if err := t.c.query(ctx, func(row []driver.Value) error {
			batches = append(batches, row[0].(int32))
			return nil
		}, "SELECT key FROM import WHERE workspace = ? AND id = ?", t.w.key, string(imported)); err != nil {
			return err
		}
		if t.same = len(batches) == 0; t.same {
			return nil
		}
		in := " IN " + list(batches)
		for f, table := range fact.Families {
			if err := t.touchBy(ctx, fact.Family(f), "FROM "+table+" WHERE workspace = ? AND import"+in, t.w.key); err != nil {
				return err
			}
			n, err := t.c.exec(ctx, "DELETE FROM "+table+" WHERE workspace = ? AND import"+in, t.w.key)
			if err != nil {
				return err
			}
			gone += n
		}
		for _, text := range []string{
			"DELETE FROM replaced WHERE workspace = ? AND import" + in,
			"DELETE FROM cover WHERE workspace = ? AND import" + in,
			"DELETE FROM import WHERE workspace = ? AND key" + in,
		} {
			if _, err := t.c.exec(ctx, text, t.w.key); err != nil {
				return err
			}
		}
		for f := range fact.Families {
			if err := t.putBack(ctx, fact.Family(f)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("undo import %s: %w", imported, err)
	}
	return gone, nil
}

// touchBy marks the parts that a selection of facts lies in.
func (t *change) touchBy(ctx context.Context, f fact.Family, from string, args ...any) error {
	return t.c.query(ctx, func(row []driver.Value) error {
		t.touched[part{f, row[0].(int32), clock.Date(row[1].(int32)).FirstOfMonth()}] = true
		return nil
	}, "SELECT DISTINCT source, day "+from, args...)
}

// putBack returns facts that were put aside and that nothing keeps out.
func (t *change) putBack(ctx context.Context, f fact.Family) error {
	table := f.String()
	_, err := t.c.exec(ctx, `CREATE OR REPLACE TEMP TABLE back AS SELECT r.* FROM replaced r
		WHERE r.workspace = ? AND r.family = ?
		AND NOT EXISTS (SELECT 1 FROM cover c WHERE c.workspace = r.workspace AND c.family = r.family AND c.source = r.source
			AND r.day BETWEEN c.first AND c.last AND c.import >= r.above)
		AND NOT EXISTS (SELECT 1 FROM `+table+` f WHERE f.workspace = ? AND `+numbers.SameKey("f", "r")+`)
		QUALIFY row_number() OVER (PARTITION BY `+prefixed("r.", numbers.KeyColumns)+` ORDER BY r.above DESC) = 1`, t.w.key, int32(f), t.w.key)
	if err != nil {
		return fmt.Errorf("find what comes back: %w", err)
	}
	if err := t.touchBy(ctx, f, "FROM temp.back"); err != nil {
		return err
	}
	for _, text := range []string{
		"INSERT INTO " + table + " SELECT " + columnList + " FROM temp.back",
		"DELETE FROM replaced USING temp.back b WHERE replaced.family = b.family AND replaced.above = b.above AND " + numbers.SameKey("replaced", "b"),
	} {
		if _, err := t.c.exec(ctx, text); err != nil {
			return fmt.Errorf("put back: %w", err)
		}
	}
	return nil
}

// settle forgets what can be taken back no more. Batches are numbered in time,
// so that all those below the last one too old are.
func (e *Engine) settle(ctx context.Context, c *conn) error {
	return c.inTransaction(ctx, func() error {
		last := int32(0)
		if err := c.query(ctx, func(row []driver.Value) error { last = row[0].(int32); return nil },
			"SELECT coalesce(max(key), 0) FROM import WHERE written < ?", int64(clock.At(e.now().Add(-undoFor)))); err != nil || last == 0 {
			return err
		}
		for _, text := range []string{
			"DELETE FROM replaced WHERE above <= ?", "DELETE FROM cover WHERE import <= ?", "DELETE FROM import WHERE key <= ?",
		} {
			if _, err := c.exec(ctx, text, last); err != nil {
				return err
			}
		}
		return e.keepNoted(ctx, c, *e.id.Load())
	})
}
