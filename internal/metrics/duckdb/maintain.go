package duckdb

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	duckdb "github.com/duckdb/duckdb-go/v2"

	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/fairqueue"
	"fanfare/internal/ident"
	"fanfare/internal/metrics/numbers"
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
	// rollFrom is the number of base rows in one month from which a workspace
	// gets sums of its months: below it a scan takes only a few milliseconds.
	rollFrom int64
}

var defaultMaintenance = maintenanceLimits{every: 30 * time.Second, unsaved: 50, unsorted: 200_000, rollFrom: 50_000}

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
		e.rollUp(ctx, all),
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
		"INSERT INTO sorted SELECT * FROM " + table + " ORDER BY workspace, day, source, campaign, creative",
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

// rollUp stores the sums of the months of every workspace that has a large one.
// Each month is one turn, so that writes wait for one month at most.
func (e *Engine) rollUp(ctx context.Context, all bool) error {
	var due []month
	var ids map[int32]ident.ID
	if err := e.withoutWriters(ctx, func(c *conn) (err error) {
		due, ids, err = e.monthsToSum(ctx, c, all)
		return err
	}); err != nil {
		return err
	}
	for _, m := range due {
		if err := e.withoutWriters(ctx, func(c *conn) error {
			return e.logged(ctx, "sums", func() error { return e.rollMonth(ctx, c, ids[m.workspace], m) })
		}); err != nil {
			return fmt.Errorf("sum %s: %w", m.first, err)
		}
	}
	return nil
}

// monthsToSum returns the months to sum, with the ids of their workspaces. Months
// that were written since the last run wait for the next one, because more writes
// are likely.
func (e *Engine) monthsToSum(ctx context.Context, c *conn, all bool) (due []month, ids map[int32]ident.ID, err error) {
	written := e.writtenMonths
	e.writtenMonths = map[month]bool{}
	if all {
		written = nil
	}
	ids = map[int32]ident.ID{}
	if err := c.query(ctx, func(row []driver.Value) error {
		w := row[0].(int32)
		ids[w] = ident.ID(row[1].(string))
		for m, last := clock.Date(row[2].(int32)), clock.Date(row[3].(int32)); m <= last; m = m.NextMonth() {
			if !written[month{w, m}] {
				due = append(due, month{w, m})
			}
		}
		return nil
	}, `SELECT w.key, w.id, min(m.month), max(m.month) FROM workspace w
		JOIN (SELECT workspace, month, sum(n) AS n FROM part WHERE family = 0 GROUP BY ALL) m ON m.workspace = w.key
		GROUP BY ALL HAVING max(m.n) >= ? ORDER BY w.key`, e.maintenance.rollFrom); err != nil {
		return nil, nil, fmt.Errorf("find months to sum: %w", err)
	}
	if err := c.query(ctx, func(row []driver.Value) error {
		due = slices.DeleteFunc(due, func(m month) bool { return m.workspace == row[0].(int32) && m.first == clock.Date(row[1].(int32)) })
		return nil
	}, "SELECT workspace, month FROM rolled"); err != nil {
		return nil, nil, fmt.Errorf("find summed months: %w", err)
	}
	return due, ids, nil
}

// The first days of a day's month and pentad.
const (
	ofMonth  = "day - day(DATE '1970-01-01' + day) + 1"
	ofPentad = "day - CASE day(DATE '1970-01-01' + day) WHEN 31 THEN 5 ELSE (day(DATE '1970-01-01' + day) - 1) % 5 END"
)

// sumStatement returns the statement that stores sums of a month, one row for
// each combination of keys, sorted by day.
func sumStatement(into, from, day string, without ...string) string {
	named := []string{"workspace", "CAST(" + day + " AS INTEGER) AS first"}
	for _, k := range numbers.KeyColumns[1:] {
		if slices.Contains(without, k) {
			k = "0"
		}
		named = append(named, k)
	}
	sums := make([]string, fact.NumMeasures)
	for i, measure := range fact.Measures {
		sums[i] = "CAST(sum(" + measure + ") AS BIGINT)"
	}
	sums[fact.Reach] = "NULL"
	return "INSERT INTO " + into + " SELECT " + strings.Join(append(named, sums...), ", ") +
		", 0 FROM " + from + " WHERE workspace = ? AND day BETWEEN ? AND ? GROUP BY ALL ORDER BY first"
}

// rollMonth stores the sums of one month, by pentads and for the whole month:
// with the same keys except the day, and then without the audience, of which an
// ad may have many.
func (e *Engine) rollMonth(ctx context.Context, c *conn, id ident.ID, m month) error {
	w, err := e.workspace(ctx, id)
	if err != nil || w == nil || w.rolled[m.first] {
		// The workspace is deleted, or the month was summed meanwhile.
		return err
	}
	err = e.inChange(ctx, c, func() error {
		for _, text := range []string{
			sumStatement("base_pentad", "base", ofPentad), sumStatement("base_month", "base_pentad", ofMonth),
			sumStatement("base_ad_pentad", "base_pentad", ofPentad, "audience"), sumStatement("base_ad_month", "base_ad_pentad", ofMonth, "audience"),
		} {
			if _, err := c.exec(ctx, text, m.workspace, int32(m.first), int32(m.first.NextMonth()-1)); err != nil {
				return err
			}
		}
		_, err := c.exec(ctx, "INSERT INTO rolled VALUES (?, ?)", m.workspace, int32(m.first))
		return err
	})
	var failed *duckdb.Error
	if errors.As(err, &failed) && (failed.Type == duckdb.ErrorTypeConversion || failed.Type == duckdb.ErrorTypeOutOfRange) {
		return nil // too large for a column: queries read the facts
	}
	if err != nil {
		return err
	}
	with := *w
	with.rolled = maps.Clone(w.rolled)
	with.rolled[m.first] = true
	e.publish(id, &with)
	return nil
}

// unroll deletes the sums of months that a change has touched.
func (t *change) unroll(ctx context.Context) error {
	// The first pentad of a month begins with it.
	var days []clock.Date
	for p := range t.touched {
		if p.family != fact.Base || !t.w.rolled[p.month] {
			continue
		}
		delete(t.w.rolled, p.month)
		for d := p.month; d < p.month.NextMonth(); d = nextPentad(d) {
			days = append(days, d)
		}
	}
	if len(days) == 0 {
		return nil
	}
	t.invalidates = true
	slices.Sort(days)
	in := list(days)
	for _, text := range []string{
		"DELETE FROM rolled WHERE workspace = ? AND month IN " + in,
		"DELETE FROM base_month WHERE workspace = ? AND day IN " + in,
		"DELETE FROM base_ad_month WHERE workspace = ? AND day IN " + in,
		"DELETE FROM base_pentad WHERE workspace = ? AND day IN " + in,
		"DELETE FROM base_ad_pentad WHERE workspace = ? AND day IN " + in,
	} {
		if _, err := t.c.exec(ctx, text, t.w.key); err != nil {
			return fmt.Errorf("delete sums: %w", err)
		}
	}
	return nil
}
