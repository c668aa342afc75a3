package duckdb

import (
	"context"
	"database/sql/driver"
	"fmt"
	"strings"
	"time"

	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/ident"
	"fanfare/internal/metrics/numbers"
)

// undoFor is how long an import can be undone.
const undoFor = 30 * 24 * time.Hour

// Undo leaves the facts as if the import had never been. Writes are numbered in
// their order, and what an import replaces is kept with its number: a replaced
// fact counts again if no fact has its key, and neither the import that replaced
// it nor a later one has emptied its day.
func (e *Engine) Undo(ctx context.Context, id, imported ident.ID) (int64, error) {
	var removed int64
	err := e.changeWorkspace(ctx, id, 0, func(t *change) error {
		batches, err := t.writesOf(ctx, imported)
		if t.unchanged = len(batches) == 0; err != nil || t.unchanged {
			return err
		}
		in := " IN " + inList(batches)
		days, err := t.daysOf(ctx, in)
		if err != nil {
			return err
		}
		for f, table := range fact.Families {
			if err := t.touchParts(ctx, fact.Family(f), "FROM "+table+" WHERE workspace = ? AND import"+in, t.w.key); err != nil {
				return err
			}
			n, err := t.c.exec(ctx, "DELETE FROM "+table+" WHERE workspace = ? AND import"+in, t.w.key)
			if err != nil {
				return err
			}
			removed += n
		}
		for _, text := range []string{
			"DELETE FROM replaced WHERE workspace = ? AND import" + in,
			"DELETE FROM cover WHERE workspace = ? AND import" + in,
		} {
			if _, err := t.c.exec(ctx, text, t.w.key); err != nil {
				return err
			}
		}
		for f := range fact.Families {
			if err := t.putBack(ctx, fact.Family(f), days[f]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("undo import %s: %w", imported, err)
	}
	return removed, nil
}

// writesOf returns the numbers of an import's writes. They stay after its undo, so
// that the import is not written again.
func (t *change) writesOf(ctx context.Context, imported ident.ID) (list []int32, err error) {
	err = t.c.query(ctx, func(row []driver.Value) error {
		list = append(list, row[0].(int32))
		return nil
	}, "SELECT key FROM import WHERE workspace = ? AND id = ?", t.w.key, string(imported))
	return list, err
}

// daysOf returns, by family, the days that an import has changed: those with its
// facts, and those it emptied. in selects its writes.
func (t *change) daysOf(ctx context.Context, in string) ([]numbers.SourceDays, error) {
	days := make([]numbers.SourceDays, len(fact.Families))
	for f, table := range fact.Families {
		days[f] = numbers.SourceDays{}
		if err := t.c.query(ctx, func(row []driver.Value) error {
			days[f].Add(row[0].(int32), row[1].(int32), row[2].(int32))
			return nil
		}, "SELECT source, min(day), max(day) FROM "+table+" WHERE workspace = ? AND import"+in+` GROUP BY source
			UNION ALL SELECT source, first, last FROM cover WHERE workspace = ? AND family = ? AND import`+in, t.w.key, t.w.key, int32(f)); err != nil {
			return nil, err
		}
	}
	return days, nil
}

// touchParts marks the parts of the selected facts as changed.
func (t *change) touchParts(ctx context.Context, f fact.Family, from string, args ...any) error {
	return t.c.query(ctx, func(row []driver.Value) error {
		t.touched[part{f, row[0].(int32), clock.Date(row[1].(int32)).FirstOfMonth()}] = true
		return nil
	}, "SELECT DISTINCT source, day "+from, args...)
}

// putBack restores replaced facts of these days that count again. Facts of other
// days are not looked at: an account that is imported every hour has replaced
// millions.
func (t *change) putBack(ctx context.Context, f fact.Family, days numbers.SourceDays) error {
	if len(days) == 0 {
		return nil
	}
	var changed []string
	for source, d := range days {
		changed = append(changed, fmt.Sprintf("r.source = %d AND r.day BETWEEN %d AND %d", source, d.First, d.Last))
	}
	table := f.String()
	_, err := t.c.exec(ctx, `CREATE OR REPLACE TEMP TABLE back AS SELECT `+prefixed("r.", columns)+`, r.family, r.above FROM replaced r
		WHERE r.workspace = ? AND r.family = ? AND (`+strings.Join(changed, " OR ")+`)
		AND `+numbers.NotEmptiedSince("cover")+`
		AND NOT EXISTS (SELECT 1 FROM `+table+` f WHERE f.workspace = ? AND `+numbers.SameKey("f", "r")+`)
		QUALIFY row_number() OVER (PARTITION BY `+prefixed("r.", numbers.KeyColumns)+` ORDER BY r.above DESC) = 1`, t.w.key, int32(f), t.w.key)
	if err != nil {
		return fmt.Errorf("find facts that count again: %w", err)
	}
	if err := t.touchParts(ctx, f, "FROM temp.back"); err != nil {
		return err
	}
	if _, err := t.c.exec(ctx, "INSERT INTO "+table+" SELECT "+columnList+" FROM temp.back"); err != nil {
		return fmt.Errorf("put back: %w", err)
	}
	_, err = t.c.exec(ctx, "DELETE FROM replaced USING temp.back b WHERE replaced.workspace = ? AND replaced.family = b.family AND replaced.above = b.above AND "+numbers.SameKey("replaced", "b"), t.w.key)
	if err != nil {
		return fmt.Errorf("put back: %w", err)
	}
	return nil
}

// forgetOldImports deletes what the undo of old imports needs. Imports are
// numbered in the order of time, so all up to the last old one are deleted.
func (e *Engine) forgetOldImports(ctx context.Context, c *conn) error {
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
		return e.writeRecorded(ctx, c, *e.id.Load())
	})
}
