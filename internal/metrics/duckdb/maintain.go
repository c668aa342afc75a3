package duckdb

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"time"

	duckdb "github.com/duckdb/duckdb-go/v2"

	"fanfare/internal/fact"
	"fanfare/internal/fairqueue"
)

// maintenanceLimits says when maintenance runs.
type maintenanceLimits struct {
	// every is the time between two runs.
	every time.Duration
	// unsaved is the number of writes before a checkpoint: after 450 window
	// replacements reads took three times as long.
	unsaved int
	// unsorted is the number of unsorted rows from which a family is rewritten;
	// unsortedShare and busyShare are shares of all rows.
	unsorted int64
	// sumFrom is the number of base rows in one month from which a workspace
	// gets sums of its months: below it a scan takes only a few milliseconds.
	sumFrom int64
}

var defaultMaintenance = maintenanceLimits{every: 30 * time.Second, unsaved: 50, unsorted: 200_000, sumFrom: 50_000}

// A family is rewritten if a fifth of its rows are unsorted, or half of them
// while facts are written.
const (
	unsortedShare = 5
	busyShare     = 2
)

// maintainLoop maintains the file until ctx ends.
func (e *Engine) maintainLoop(ctx context.Context) {
	defer close(e.done)
	tick := time.NewTicker(e.maintenance.every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if err := e.maintain(ctx, false); err != nil && ctx.Err() == nil {
			e.log.WarnContext(ctx, "duckdb maintenance failed", "error", err)
		}
	}
}

// Maintain runs all maintenance now: deletes undo data of old imports, sorts
// facts, sums months and moves the log into the file. Queries run meanwhile and a
// crash loses nothing; writes wait.
func (e *Engine) Maintain(ctx context.Context) error { return e.maintain(ctx, true) }

// maintain runs the maintenance that is due, or all of it.
func (e *Engine) maintain(ctx context.Context, all bool) error {
	ctx = fairqueue.InBackground(ctx)
	err := errors.Join(
		e.withoutWriters(ctx, func(c *conn) error { return e.forgetOldImports(ctx, c) }),
		e.sort(ctx, all),
		e.sumMonths(ctx, all),
		e.withoutWriters(ctx, func(c *conn) error { return e.checkpoint(ctx, c, all) }),
	)
	if err != nil {
		return fmt.Errorf("maintain facts: %w", err)
	}
	return nil
}

// withoutWriters runs f while no write runs.
func (e *Engine) withoutWriters(ctx context.Context, f func(*conn) error) error {
	unlock, err := e.lock(ctx, "", 0)
	if err != nil {
		return err
	}
	defer unlock()
	return e.pool.use(ctx, f)
}

// logged logs the begin and the end of a step of maintenance.
func (e *Engine) logged(ctx context.Context, what string, f func() error) error {
	e.log.DebugContext(ctx, "duckdb maintenance started", "what", what)
	err := f()
	e.log.DebugContext(ctx, "duckdb maintenance finished", "what", what)
	return err
}

// checkpoint moves the log into the file.
func (e *Engine) checkpoint(ctx context.Context, c *conn, all bool) error {
	if e.unsaved == 0 || e.unsaved < e.maintenance.unsaved && !all {
		return nil
	}
	err := e.logged(ctx, "checkpoint", func() error {
		_, err := c.exec(ctx, "CHECKPOINT")
		return err
	})
	var failed *duckdb.Error
	if errors.As(err, &failed) && failed.Type == duckdb.ErrorTypeTransaction {
		return nil // a dump reads an older snapshot: the next run retries
	}
	if err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	e.unsaved = 0
	return nil
}

// sort rewrites families with many unsorted rows, by workspace and day. Queries
// read the old table until the end of the statement.
func (e *Engine) sort(ctx context.Context, all bool) error {
	for f, table := range fact.Families {
		if err := e.withoutWriters(ctx, func(c *conn) error { return e.sortFamily(ctx, c, fact.Family(f), all) }); err != nil {
			return fmt.Errorf("sort %s: %w", table, err)
		}
	}
	return nil
}

// sortFamily rewrites a family if it is due.
// Choice: it does so in one statement, rarely, although writes wait meanwhile. On
// two cores with ten times as much other work, 3 million rows took 23 s. In
// pieces of 150,000 rows they took 97 s and one piece 23 s, because DuckDB
// removes deleted rows in a checkpoint, which it starts by itself.
func (e *Engine) sortFamily(ctx context.Context, c *conn, f fact.Family, all bool) error {
	var unsorted, rows int64
	if err := c.query(ctx, func(row []driver.Value) error { unsorted, rows = row[0].(int64), row[1].(int64); return nil },
		"SELECT loose, (SELECT count(*) FROM "+f.String()+") FROM layout WHERE family = ?", int32(f)); err != nil {
		return fmt.Errorf("read layout: %w", err)
	}
	share := int64(unsortedShare)
	if len(e.writtenMonths) > 0 {
		share = busyShare
	}
	if unsorted == 0 || !all && (unsorted < e.maintenance.unsorted || unsorted*share < rows) {
		return nil
	}
	if err := e.logged(ctx, "order", func() error { return e.inChange(ctx, c, func() error { return rewrite(ctx, c, f) }) }); err != nil {
		return err
	}
	e.unsaved += e.maintenance.unsaved
	return nil
}

// rewrite sorts a family.
func rewrite(ctx context.Context, c *conn, f fact.Family) error {
	table := f.String()
	for _, text := range []string{
		"CREATE TABLE sorted (" + factColumns() + ")",
		"INSERT INTO sorted SELECT " + columnList + " FROM " + table + " ORDER BY workspace, day, source, campaign, creative",
		"DROP TABLE " + table,
		"ALTER TABLE sorted RENAME TO " + table,
	} {
		if _, err := c.exec(ctx, text); err != nil {
			return err
		}
	}
	_, err := c.exec(ctx, "UPDATE layout SET loose = 0 WHERE family = ?", int32(f))
	return err
}
