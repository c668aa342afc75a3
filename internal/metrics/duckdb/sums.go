package duckdb

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	duckdb "github.com/duckdb/duckdb-go/v2"

	"fanfare/internal/analytics"
	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/ident"
	"fanfare/internal/metrics/numbers"
)

// summedDays is a range of days that have stored sums: by periods, and from
// firstMonth to lastMonth by whole months, if there are any.
type summedDays struct{ first, last, firstMonth, lastMonth clock.Date }

// noSums is the range of queries that read only facts.
var noSums = summedDays{first: 1, firstMonth: 1}

// summed returns the days whose sums are read.
func (e *Engine) summed(p *analytics.Plan, w *workspace) summedDays {
	if e.factsOnly {
		return noSums
	}
	return longestSummed(p, w)
}

// longestSummed returns the longest sequence of whole periods in the days of a
// plan that have sums, noSums if the plan needs single days or facts.
func longestSummed(p *analytics.Plan, w *workspace) summedDays {
	byDay := p.Granularity == analytics.Day || p.Granularity == analytics.Week || numbers.GroupedBy(p, numbers.WeekdayColumn) || numbers.FilteredBy(p, numbers.WeekdayColumn)
	if byDay || p.Family != fact.Base || len(w.summedMonths) == 0 || slices.Contains(p.Measures, fact.Reach) || numbers.Converts(p, w.sources) {
		return noSums
	}
	d := periodStart(p.First)
	if d < p.First {
		d = nextPeriod(d)
	}
	best, from := noSums, d
	for d <= p.Last {
		next := nextPeriod(d)
		if !w.summedMonths[d.FirstOfMonth()] || next-1 > p.Last {
			from = next
		} else if next-from > best.last-best.first+1 {
			best.first, best.last = from, next-1
		}
		d = next
	}
	if best == noSums {
		return noSums
	}
	best.firstMonth, best.lastMonth = best.first.FirstOfMonth(), (best.last+1).FirstOfMonth()-1
	if best.firstMonth < best.first {
		best.firstMonth = best.first.NextMonth()
	}
	return best
}

// month is a month of a workspace.
type month struct {
	workspace int32
	first     clock.Date
}

// periodDays is the number of days in one sum for ranges that end within a month. A
// month has six such periods; the last one ends with the month. In the file their
// tables are called pentad.
const periodDays = 5

// periodStart returns the first day of a day's period.
func periodStart(d clock.Date) clock.Date {
	first := d.FirstOfMonth()
	return first + min((d-first)/periodDays, 5)*periodDays
}

// nextPeriod returns the first day of the period after a day's.
func nextPeriod(d clock.Date) clock.Date {
	next, month := periodStart(d)+periodDays, d.FirstOfMonth()
	if next-month > 5*periodDays {
		return month.NextMonth()
	}
	return next
}

// sumMonths stores the sums of the months of every workspace that has a large one.
// Each month is one turn, so that writes wait for one month at most.
func (e *Engine) sumMonths(ctx context.Context, all bool) error {
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
			return e.logged(ctx, "sums", func() error { return e.sumMonth(ctx, c, ids[m.workspace], m) })
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
		GROUP BY ALL HAVING max(m.n) >= ? ORDER BY w.key`, e.maintenance.sumFrom); err != nil {
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

// The first days of a day's month and period.
const (
	startOfMonth  = "day - day(DATE '1970-01-01' + day) + 1"
	startOfPeriod = "day - CASE day(DATE '1970-01-01' + day) WHEN 31 THEN 5 ELSE (day(DATE '1970-01-01' + day) - 1) % 5 END"
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

// sumMonth stores the sums of one month, by periods and for the whole month:
// with the same keys except the day, and then without the audience, of which an
// ad may have many.
func (e *Engine) sumMonth(ctx context.Context, c *conn, id ident.ID, m month) error {
	w, err := e.workspace(ctx, id)
	if err != nil || w == nil || w.summedMonths[m.first] {
		// The workspace is deleted, or the month was summed meanwhile.
		return err
	}
	err = e.inChange(ctx, c, func() error {
		for _, text := range []string{
			sumStatement("base_pentad", "base", startOfPeriod), sumStatement("base_month", "base_pentad", startOfMonth),
			sumStatement("base_ad_pentad", "base_pentad", startOfPeriod, "audience"), sumStatement("base_ad_month", "base_ad_pentad", startOfMonth, "audience"),
		} {
			if _, err := c.exec(ctx, text, m.workspace, int32(m.first), int32(m.first.NextMonth()-1)); err != nil {
				return err
			}
		}
		_, err := c.exec(ctx, "INSERT INTO rolled (workspace, month) VALUES (?, ?)", m.workspace, int32(m.first))
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
	with.summedMonths = maps.Clone(w.summedMonths)
	with.summedMonths[m.first] = true
	e.publish(id, &with)
	return nil
}

// deleteSums deletes the sums of months that a change has touched.
func (t *change) deleteSums(ctx context.Context) error {
	// The first period of a month begins with it.
	var days []clock.Date
	for p := range t.touched {
		if p.family != fact.Base || !t.w.summedMonths[p.month] {
			continue
		}
		delete(t.w.summedMonths, p.month)
		for d := p.month; d < p.month.NextMonth(); d = nextPeriod(d) {
			days = append(days, d)
		}
	}
	if len(days) == 0 {
		return nil
	}
	t.invalidates = true
	slices.Sort(days)
	in := inList(days)
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
