package postgres

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/ident"
	"fanfare/internal/metrics/numbers"
	"fanfare/internal/metrics/pgtables"
	"fanfare/internal/pgdriver"
)

// change is a write to one workspace.
type change struct {
	*pgtables.Change
	// touched has the months with changed facts, and the first and the last
	// changed day of each.
	touched map[part]days
}

// part is a month of a family of a source.
type part struct {
	family fact.Family
	source int32
	month  clock.Date
}

// days are the days from first to last.
type days struct{ first, last clock.Date }

// touch records that facts of a day have changed.
func (c *change) touch(f fact.Family, source int32, day clock.Date) {
	p := part{f, source, day.FirstOfMonth()}
	d, known := c.touched[p]
	if !known {
		d = days{day, day}
	}
	c.touched[p] = days{min(d.first, day), max(d.last, day)}
}

// changeWorkspace runs f in a transaction, as the only writer of the workspace. It
// waits that long for its turn, 0 for as long as its context. When it returns
// nil, the change is on disk and visible.
func (e *Engine) changeWorkspace(ctx context.Context, id ident.ID, wait time.Duration, mirrored *clock.Instant, f func(c *change) error) error {
	leave, err := e.writes.Take(ctx, id, wait)
	if err != nil {
		return err
	}
	defer leave()
	err = pgdriver.Transact(ctx, e.DB, func(tx pgx.Tx) error {
		locked, err := pgtables.Lock(ctx, tx, id)
		if err != nil {
			return err
		}
		c := &change{locked, map[part]days{}}
		if err := f(c); err != nil {
			return err
		}
		if err := c.updateSums(ctx); err != nil {
			return fmt.Errorf("sum facts: %w", err)
		}
		return c.Finish(ctx, mirrored)
	})
	return pgtables.ToFault(ctx, err)
}

// Mirror stores copies of records.
func (e *Engine) Mirror(ctx context.Context, id ident.ID, records []fact.Record, through clock.Instant) error {
	err := e.changeWorkspace(ctx, id, 0, &through, func(c *change) error { return c.Mirror(ctx, records) })
	if err != nil {
		return fmt.Errorf("mirror records: %w", err)
	}
	return nil
}

// Write writes a batch, all of it or nothing.
func (e *Engine) Write(ctx context.Context, b *fact.Batch) error {
	if err := pgtables.CheckBatch(b); err != nil {
		return fmt.Errorf("write facts: %w", err)
	}
	err := e.writeBatch(ctx, b)
	if pgdriver.Constraint(err) {
		// A partition is missing: another node has replaced all facts.
		e.partitions.Clear()
		err = e.writeBatch(ctx, b)
	}
	if err != nil {
		return fmt.Errorf("write facts: %w", err)
	}
	return nil
}

func (e *Engine) writeBatch(ctx context.Context, b *fact.Batch) error {
	if err := e.createPartitionsOfBatch(ctx, b); err != nil {
		return pgtables.ToFault(ctx, err)
	}
	return e.changeWorkspace(ctx, b.Workspace, b.MaxWait, nil, func(c *change) error { return c.batch(ctx, b, clock.At(e.now())) })
}

// createPartitionsOfBatch creates the partitions that a batch needs.
func (e *Engine) createPartitionsOfBatch(ctx context.Context, b *fact.Batch) error {
	months := make([]map[clock.Date]bool, len(fact.Families))
	for i := range b.Rows {
		r := &b.Rows[i]
		if months[r.Family] == nil {
			months[r.Family] = map[clock.Date]bool{}
		}
		months[r.Family][r.Date.FirstOfMonth()] = true
	}
	for f, set := range months {
		if err := e.createPartitions(ctx, tableOf(fact.Families[f]), sortedMonths(set)); err != nil {
			return err
		}
	}
	return e.createPartitions(ctx, dayTable, sortedMonths(months[fact.Base]))
}

func (c *change) batch(ctx context.Context, b *fact.Batch, now clock.Instant) error {
	imported, err := c.BeginImport(ctx, b.Import, now)
	if err != nil || c.Unchanged {
		return err
	}
	rows, err := c.NumberRows(ctx, b)
	if err != nil {
		return err
	}
	for _, w := range b.Replace {
		if err := c.emptyWindow(ctx, w, imported); err != nil {
			return fmt.Errorf("empty window: %w", err)
		}
	}
	if err := c.stage(ctx, rows, imported); err != nil {
		return fmt.Errorf("stage facts: %w", err)
	}
	for f, list := range rows {
		for i := range list {
			c.touch(fact.Family(f), list[i].Source, list[i].Date)
		}
		if len(list) == 0 {
			continue
		}
		if len(b.Replace) == 0 {
			if err := c.deleteSameKeys(ctx, fact.Family(f), list, imported); err != nil {
				return fmt.Errorf("replace facts: %w", err)
			}
		}
		if _, err := c.Tx.Exec(ctx, "INSERT INTO "+tableOf(fact.Families[f])+" ("+factList+") SELECT "+factList+" FROM metrics_staged WHERE family = $1 ORDER BY day", int16(f)); err != nil {
			return fmt.Errorf("insert facts: %w", err)
		}
	}
	return nil
}

// emptyWindow deletes the facts of a window. An import keeps them for its undo.
func (c *change) emptyWindow(ctx context.Context, w fact.Window, imported int32) error {
	source, err := c.Source(ctx, w.Source)
	if err != nil {
		return err
	}
	if err := c.RecordEmptied(ctx, w, source, imported); err != nil {
		return err
	}
	return c.remove(ctx, w.Family, imported, "", "f.source = $2 AND f.day BETWEEN $3 AND $4", c.Workspace, source, int32(w.First), int32(w.Last))
}

// remove deletes facts, keeps them for the undo of an import, and marks their
// months. The first argument is the workspace.
func (c *change) remove(ctx context.Context, f fact.Family, imported int32, using, where string, args ...any) error {
	table := tableOf(f.String())
	keep := fmt.Sprintf("WITH gone AS (DELETE FROM %s f %s WHERE f.workspace = $1 AND %s RETURNING %s)", table, using, where, factsOf("f"))
	if imported != 0 {
		keep += fmt.Sprintf(", kept AS (INSERT INTO metrics_replaced (%s, family, above) SELECT %s, %d, %d FROM gone)", factList, factList, f, imported)
	}
	return pgtables.EachPair(ctx, c.Tx, func(source, day int32) error {
		c.touch(f, source, clock.Date(day))
		return nil
	}, keep+" SELECT DISTINCT source, day FROM gone", args...)
}

// deleteSameKeys deletes the facts that have the keys of staged rows.
func (c *change) deleteSameKeys(ctx context.Context, f fact.Family, rows []pgtables.Row, imported int32) error {
	// PostgreSQL has no statistics of staged rows and would compare each of them
	// with every fact. Collecting statistics would write to the catalog every time.
	if _, err := c.Tx.Exec(ctx, "SET LOCAL enable_nestloop = off"); err != nil {
		return err
	}
	first, last := int32(rows[0].Date), int32(rows[len(rows)-1].Date)
	err := c.remove(ctx, f, imported, "USING metrics_staged s", "s.family = $4 AND f.day BETWEEN $2 AND $3 AND "+numbers.SameKey("f", "s"), c.Workspace, first, last, int16(f))
	if err != nil {
		return err
	}
	_, err = c.Tx.Exec(ctx, "SET LOCAL enable_nestloop = on")
	return err
}

// stage copies rows into a temporary table, because PostgreSQL does not copy into
// tables with row-level security.
func (c *change) stage(ctx context.Context, families [][]pgtables.Row, imported int32) error {
	if _, err := c.Tx.Exec(ctx, "CREATE TEMP TABLE IF NOT EXISTS metrics_staged ("+pgtables.FactDefinition()+", family int2 NOT NULL) ON COMMIT DELETE ROWS"); err != nil {
		return err
	}
	columns := append(slices.Clone(numbers.FactColumns), "family")
	for f, rows := range families {
		_, err := c.Tx.CopyFrom(ctx, pgx.Identifier{"metrics_staged"}, columns, pgx.CopyFromSlice(len(rows), func(i int) ([]any, error) {
			return append(factValues(&rows[i], c.Workspace, imported), int16(f)), nil
		}))
		if err != nil {
			return err
		}
	}
	return nil
}

// factValues returns the values of FactColumns.
func factValues(r *pgtables.Row, workspace, imported int32) []any {
	out := append(make([]any, 0, len(numbers.FactColumns)+1), workspace)
	for _, key := range r.Keys() {
		out = append(out, key)
	}
	for m := range fact.Measure(fact.NumMeasures) {
		if v, known := r.Values.Get(m); known {
			out = append(out, v)
		} else {
			out = append(out, nil)
		}
	}
	return append(out, imported)
}
