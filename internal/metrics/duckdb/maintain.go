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

// care says when the engine looks after its file.
type care struct {
	// every is how often it looks whether something is due.
	every time.Duration
	// unsaved is how many writes may lie in the log: after 450 window
	// replacements reads took three times as long.
	unsaved int
	// loose is how many rows must lie out of order for a family to be
	// rewritten; looseShare and busyShare are parts of all rows.
	loose int64
	// rollFrom is how many base rows a workspace must have in one month for
	// its months to be summed up ahead: below it a scan takes but a few
	// milliseconds.
	rollFrom int64
}

var usual = care{every: 30 * time.Second, unsaved: 50, loose: 200_000, rollFrom: 50_000}

// A family is rewritten if a fifth of its rows are out of order, or half of them
// while facts are written.
const (
	looseShare = 5
	busyShare  = 2
)

// tendAlways looks after the file until ctx ends.
func (e *Engine) tendAlways(ctx context.Context) {
	defer close(e.done)
	tick := time.NewTicker(e.care.every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if err := e.tend(ctx, false); err != nil && ctx.Err() == nil {
			e.log.WarnContext(ctx, "facts are not in best order", "error", err)
		}
	}
}

// Maintain does at once all that the engine does by itself from time to time:
// forgets what cannot be taken back any more, puts facts in order, sums up
// months and writes the log into the file. Queries go on meanwhile and a crash
// loses nothing; writes wait.
func (e *Engine) Maintain(ctx context.Context) error { return e.tend(ctx, true) }

// tend does what is due, or with all, everything.
func (e *Engine) tend(ctx context.Context, all bool) error {
	ctx = fairqueue.InBackground(ctx)
	err := errors.Join(
		e.alone(ctx, func(c *conn) error { return e.settle(ctx, c) }),
		e.sort(ctx, all),
		e.rollUp(ctx, all),
		e.alone(ctx, func(c *conn) error { return e.save(ctx, c, all) }),
	)
	if err != nil {
		return fmt.Errorf("maintain facts: %w", err)
	}
	return nil
}

// alone runs f while nobody writes.
func (e *Engine) alone(ctx context.Context, f func(*conn) error) error {
	unlock, err := e.lock(ctx, "", 0)
	if err != nil {
		return err
	}
	defer unlock()
	return e.pool.use(ctx, f)
}

// note tells what is being done to the file, and that it is done.
func (e *Engine) note(ctx context.Context, what string, f func() error) error {
	e.log.DebugContext(ctx, "looking after facts", "what", what)
	err := f()
	e.log.DebugContext(ctx, "looked after facts", "what", what)
	return err
}

// save writes the log into the file.
func (e *Engine) save(ctx context.Context, c *conn, all bool) error {
	if e.unsaved == 0 || e.unsaved < e.care.unsaved && !all {
		return nil
	}
	err := e.note(ctx, "checkpoint", func() error {
		_, err := c.exec(ctx, "CHECKPOINT")
		return err
	})
	var failed *duckdb.Error
	if errors.As(err, &failed) && failed.Type == duckdb.ErrorTypeTransaction {
		return nil // a dump holds an older state: the next time will do
	}
	if err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	e.unsaved = 0
	return nil
}

// sort rewrites the families that have many rows out of order, by workspace and
// day. Whoever reads has the old table until the end of the statement.
func (e *Engine) sort(ctx context.Context, all bool) error {
	for f, table := range fact.Families {
		if err := e.alone(ctx, func(c *conn) error { return e.sortFamily(ctx, c, fact.Family(f), all) }); err != nil {
			return fmt.Errorf("sort %s: %w", table, err)
		}
	}
	return nil
}

// sortFamily rewrites a family if it is due.
// Choice: it does so at once, although writes wait meanwhile. On two cores with
// ten times as much other work, 3 million rows took 23 s. In pieces of 150,000
// rows they took 97 s and one piece 23 s, because DuckDB removes what was deleted
// in a checkpoint, which it begins by itself. So it is done seldom while facts
// are written.
func (e *Engine) sortFamily(ctx context.Context, c *conn, f fact.Family, all bool) error {
	var loose, rows int64
	if err := c.query(ctx, func(row []driver.Value) error { loose, rows = row[0].(int64), row[1].(int64); return nil },
		"SELECT loose, (SELECT count(*) FROM "+f.String()+") FROM layout WHERE family = ?", int32(f)); err != nil {
		return fmt.Errorf("read layout: %w", err)
	}
	share := int64(looseShare)
	if len(e.fresh) > 0 {
		share = busyShare
	}
	if loose == 0 || !all && (loose < e.care.loose || loose*share < rows) {
		return nil
	}
	if err := e.note(ctx, "order", func() error { return e.inChange(ctx, c, func() error { return rewrite(ctx, c, f) }) }); err != nil {
		return err
	}
	e.unsaved += e.care.unsaved
	return nil
}

// rewrite puts a family in order.
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

// rollUp sums up the months of every workspace that has a large one. Each month
// is a turn of its own, so that writes of facts wait for one month at most.
func (e *Engine) rollUp(ctx context.Context, all bool) error {
	var due []month
	var ids map[int32]ident.ID
	if err := e.alone(ctx, func(c *conn) (err error) {
		due, ids, err = e.monthsToSum(ctx, c, all)
		return err
	}); err != nil {
		return err
	}
	for _, m := range due {
		if err := e.alone(ctx, func(c *conn) error {
			return e.note(ctx, "sums", func() error { return e.rollMonth(ctx, c, ids[m.workspace], m) })
		}); err != nil {
			return fmt.Errorf("sum up %s: %w", m.first, err)
		}
	}
	return nil
}

// monthsToSum lists the months that are to be summed up, with the ids of their
// workspaces. Months that were written to since the last look are left for the
// next, because they will be again.
func (e *Engine) monthsToSum(ctx context.Context, c *conn, all bool) (due []month, ids map[int32]ident.ID, err error) {
	fresh := e.fresh
	e.fresh = map[month]bool{}
	if all {
		fresh = nil
	}
	ids = map[int32]ident.ID{}
	if err := c.query(ctx, func(row []driver.Value) error {
		w := row[0].(int32)
		ids[w] = ident.ID(row[1].(string))
		for m, last := clock.Date(row[2].(int32)), clock.Date(row[3].(int32)); m <= last; m = m.NextMonth() {
			if !fresh[month{w, m}] {
				due = append(due, month{w, m})
			}
		}
		return nil
	}, `SELECT w.key, w.id, min(m.month), max(m.month) FROM workspace w
		JOIN (SELECT workspace, month, sum(n) AS n FROM part WHERE family = 0 GROUP BY ALL) m ON m.workspace = w.key
		GROUP BY ALL HAVING max(m.n) >= ? ORDER BY w.key`, e.care.rollFrom); err != nil {
		return nil, nil, fmt.Errorf("find months to sum up: %w", err)
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

// sumUp is the statement that writes sums of rows of a table for a month, as
// one row for each combination of keys, in the order of days.
func sumUp(into, from, day string, without ...string) string {
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

// rollMonth sums up one month, by pentads and whole: the same keys without the
// day, and from that without the audience, of which an ad may have many.
func (e *Engine) rollMonth(ctx context.Context, c *conn, id ident.ID, m month) error {
	w, err := e.workspace(ctx, id)
	if err != nil || w == nil || w.rolled[m.first] {
		// It is gone, or was summed up since the look.
		return err
	}
	err = e.inChange(ctx, c, func() error {
		for _, text := range []string{
			sumUp("base_pentad", "base", ofPentad), sumUp("base_month", "base_pentad", ofMonth),
			sumUp("base_ad_pentad", "base_pentad", ofPentad, "audience"), sumUp("base_ad_month", "base_ad_pentad", ofMonth, "audience"),
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
		return nil // too large for a column: the facts themselves are asked
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

// unroll takes back the sums of months that a change has touched.
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
	t.shifts = true
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
			return fmt.Errorf("take back sums: %w", err)
		}
	}
	return nil
}
