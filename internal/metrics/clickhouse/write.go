package clickhouse

import (
	"cmp"
	"context"
	"errors"
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
	facts *client
	now   clock.Instant
	// next is the next slot of this write.
	next int64
}

// slotBits is the number of bits of a slot that count the slots of one write. The
// other bits are the number of the write.
const slotBits = 28

// changeWorkspace runs f as the only writer of the workspace. When it returns
// nil, the change is on disk and visible.
//
// Choice: the transaction stays open while ClickHouse stores the facts. So the
// lock of the workspace ends with its node, without a lease and without a clock.
// A batch takes seconds.
func (e *Engine) changeWorkspace(ctx context.Context, id ident.ID, wait time.Duration, f func(c *change) error) error {
	leave, err := e.writes.Take(ctx, id, wait)
	if err != nil {
		return err
	}
	defer leave()
	pending, err := e.reserve(ctx)
	if err != nil {
		return err
	}
	err = pgdriver.Transact(ctx, e.DB, func(tx pgx.Tx) error {
		locked, err := pgtables.Lock(ctx, tx, id)
		if err != nil {
			return err
		}
		// The row stays locked until the write ends, so that a cleaning does not
		// treat a long write as failed.
		if err := markFinished(ctx, tx, pending); err != nil {
			return err
		}
		c := &change{Change: locked, facts: e.facts, now: clock.At(e.now()), next: pending << slotBits}
		if err := f(c); err != nil {
			return err
		}
		return c.Finish(ctx, nil)
	})
	return pgtables.ToFault(ctx, err)
}

// reserve returns the number of a write. It is committed before any fact is
// inserted, so that it is used once even if the write or PostgreSQL fails.
func (e *Engine) reserve(ctx context.Context) (pending int64, err error) {
	err = e.pool.QueryRow(ctx, "INSERT INTO metrics_pending (started) VALUES ($1) RETURNING write", int64(clock.At(e.now()))).Scan(&pending)
	return pending, pgtables.ToFault(ctx, err)
}

// markFinished marks a write as not failed, if the transaction commits.
func markFinished(ctx context.Context, tx pgx.Tx, pending int64) error {
	tag, err := tx.Exec(ctx, "DELETE FROM metrics_pending WHERE write = $1", pending)
	if err == nil && tag.RowsAffected() == 0 {
		err = errors.New("the write waited too long and was given up: try again")
	}
	return err
}

// Mirror stores copies of records.
func (e *Engine) Mirror(ctx context.Context, id ident.ID, records []fact.Record, through clock.Instant) error {
	leave, err := e.writes.Take(ctx, id, 0)
	if err != nil {
		return fmt.Errorf("mirror records: %w", err)
	}
	defer leave()
	err = pgdriver.Transact(ctx, e.DB, func(tx pgx.Tx) error {
		c, err := pgtables.Lock(ctx, tx, id)
		if err != nil {
			return err
		}
		if err := c.Mirror(ctx, records); err != nil {
			return err
		}
		return c.Finish(ctx, &through)
	})
	if err != nil {
		return fmt.Errorf("mirror records: %w", pgtables.ToFault(ctx, err))
	}
	return nil
}

// Write writes a batch, all of it or nothing.
func (e *Engine) Write(ctx context.Context, b *fact.Batch) error {
	err := pgtables.CheckBatch(b)
	if err == nil {
		err = e.changeWorkspace(ctx, b.Workspace, b.MaxWait, func(c *change) error { return c.batch(ctx, b) })
	}
	if err != nil {
		return fmt.Errorf("write facts: %w", err)
	}
	return nil
}

func (c *change) batch(ctx context.Context, b *fact.Batch) error {
	imported, err := c.BeginImport(ctx, b.Import, c.now)
	if err != nil || c.Unchanged {
		return err
	}
	numbered, err := c.NumberRows(ctx, b)
	if err != nil {
		return err
	}
	for _, w := range b.Replace {
		if err := c.emptyWindow(ctx, w, imported); err != nil {
			return fmt.Errorf("empty window: %w", err)
		}
	}
	for f, from := range numbered {
		rows := make([]row, len(from))
		for i := range from {
			rows[i] = newRow(&from[i], imported)
		}
		write := c.store
		if len(b.Replace) == 0 {
			write = func(ctx context.Context, f fact.Family, rows []row) error { return c.merge(ctx, f, rows, imported) }
		}
		if err := write(ctx, fact.Family(f), rows); err != nil {
			return fmt.Errorf("insert facts: %w", err)
		}
	}
	return nil
}

// emptyWindow ends the slots of a window. An import keeps the facts that it
// replaces.
func (c *change) emptyWindow(ctx context.Context, w fact.Window, imported int32) error {
	source, err := c.Source(ctx, w.Source)
	if err != nil {
		return err
	}
	ended, err := c.endSlots(ctx, w.Family, "s.source = $4 AND s.day BETWEEN $5 AND $6", source, int32(w.First), int32(w.Last))
	if err != nil {
		return err
	}
	if err := c.RecordEmptied(ctx, w, source, imported); err != nil || imported == 0 {
		return err
	}
	for part := range chunks(ended, func(s slot) int { return s.n }) {
		rows, err := c.readSlots(ctx, w.Family, part)
		if err != nil {
			return err
		}
		if err := c.keepReplaced(ctx, w.Family, rows, imported); err != nil {
			return err
		}
	}
	return nil
}

// maxRows is the number of facts in memory and in one insert, unless one day has
// more.
const maxRows = 100_000

// chunks divides a list so that each chunk has about maxRows facts.
func chunks[T any](list []T, size func(T) int) func(func([]T) bool) {
	return func(yield func([]T) bool) {
		start, n := 0, 0
		for i, item := range list {
			if n += size(item); n >= maxRows || i == len(list)-1 {
				if !yield(list[start : i+1]) {
					return
				}
				start, n = i+1, 0
			}
		}
	}
}

// endSlots removes slots from those that count and returns them. Their facts stay
// until no query can read them.
func (c *change) endSlots(ctx context.Context, f fact.Family, where string, args ...any) ([]slot, error) {
	return readSlots(ctx, c.Tx, `WITH gone AS (DELETE FROM metrics_slot s WHERE s.workspace = $1 AND s.family = $2 AND `+where+` RETURNING s.source, s.day, s.slot, s.n),
		dead AS (INSERT INTO metrics_dead (workspace, family, slot, died) SELECT $1, $2, slot, $3 FROM gone)
		SELECT source, day, slot, n FROM gone ORDER BY day, source`, append([]any{c.Workspace, int16(f), int64(c.now)}, args...)...)
}

// sourceDay is a day of a source.
type sourceDay struct {
	day    clock.Date
	source int32
}

func (r *row) sourceDay() sourceDay { return sourceDay{r.day(), r.source()} }

func compareDays(a, b sourceDay) int {
	return cmp.Or(cmp.Compare(a.day, b.day), cmp.Compare(a.source, b.source))
}

// rewrite replaces all facts of days: change gets the facts of some of the days
// and returns the new ones.
func (c *change) rewrite(ctx context.Context, f fact.Family, days []sourceDay, change func(days []sourceDay, old []row) ([]row, error)) error {
	sources, dates := make([]int32, len(days)), make([]int32, len(days))
	for i, d := range days {
		sources[i], dates[i] = d.source, int32(d.day)
	}
	ended, err := c.endSlots(ctx, f, "EXISTS (SELECT 1 FROM unnest($4::int4[], $5::int4[]) AS d(source, day) WHERE d.source = s.source AND d.day = s.day)", sources, dates)
	if err != nil {
		return err
	}
	had := make(map[sourceDay]slot, len(ended))
	for _, s := range ended {
		had[sourceDay{s.day, s.source}] = s
	}
	for part := range chunks(days, func(p sourceDay) int { return had[p].n }) {
		var slots []slot
		for _, p := range part {
			if s, found := had[p]; found {
				slots = append(slots, s)
			}
		}
		old, err := c.readSlots(ctx, f, slots)
		if err != nil {
			return err
		}
		rows, err := change(part, old)
		if err != nil {
			return err
		}
		if err := c.store(ctx, f, rows); err != nil {
			return err
		}
	}
	return nil
}

// readSlots reads the facts of slots.
func (c *change) readSlots(ctx context.Context, f fact.Family, slots []slot) ([]row, error) {
	if len(slots) == 0 {
		return nil, nil
	}
	return c.facts.readRows(ctx, c.Workspace, f, slots)
}

// merge adds facts one by one: each replaces the one with its key.
func (c *change) merge(ctx context.Context, f fact.Family, rows []row, imported int32) error {
	byDay, byKey := map[sourceDay][]row{}, map[[10]int32]bool{}
	for i := range rows {
		p := rows[i].sourceDay()
		byDay[p] = append(byDay[p], rows[i])
		byKey[rows[i].keys] = true
	}
	return c.rewrite(ctx, f, sortedDays(byDay), func(days []sourceDay, old []row) ([]row, error) {
		var out, replaced []row
		for i := range old {
			if byKey[old[i].keys] {
				replaced = append(replaced, old[i])
			} else {
				out = append(out, old[i])
			}
		}
		for _, d := range days {
			out = append(out, byDay[d]...)
		}
		if imported == 0 {
			return out, nil
		}
		return out, c.keepReplaced(ctx, f, replaced, imported)
	})
}

func sortedDays[T any](set map[sourceDay]T) []sourceDay {
	list := make([]sourceDay, 0, len(set))
	for p := range set {
		list = append(list, p)
	}
	slices.SortFunc(list, compareDays)
	return list
}

// keepReplaced stores facts that an import replaces, for its undo.
func (c *change) keepReplaced(ctx context.Context, f fact.Family, rows []row, above int32) error {
	if len(rows) == 0 {
		return nil
	}
	return pgtables.Copy(ctx, c.Tx, "metrics_replaced", append(slices.Clone(numbers.FactColumns), "family", "above"), pgx.CopyFromSlice(len(rows), func(i int) ([]any, error) {
		r := &rows[i]
		out := append(make([]any, 0, len(numbers.FactColumns)+2), c.Workspace)
		for _, k := range r.keys {
			out = append(out, k)
		}
		for m, v := range r.values {
			if r.known>>m&1 == 1 {
				out = append(out, v)
			} else {
				out = append(out, nil)
			}
		}
		return append(out, r.imported, int16(f), above), nil
	}))
}

// store inserts facts under new slots, which count when the transaction commits.
// No slot of these days may count.
func (c *change) store(ctx context.Context, f fact.Family, rows []row) error {
	slices.SortStableFunc(rows, func(a, b row) int { return compareDays(a.sourceDay(), b.sourceDay()) })
	var days [][]row
	for start, i := 0, 1; i <= len(rows); i++ {
		if i == len(rows) || rows[i].sourceDay() != rows[start].sourceDay() {
			days = append(days, rows[start:i])
			start = i
		}
	}
	for part := range chunks(days, func(day []row) int { return len(day) }) {
		if err := c.storeDays(ctx, f, part); err != nil {
			return err
		}
	}
	return nil
}

func (c *change) storeDays(ctx context.Context, f fact.Family, days [][]row) error {
	var all []row
	slots, dates, sources, used, n := make(map[sourceDay]int64, len(days)), make([]int32, len(days)), make([]int32, len(days)), make([]int64, len(days)), make([]int32, len(days))
	first := c.next
	for i, day := range days {
		p := day[0].sourceDay()
		slots[p] = c.next
		dates[i], sources[i], used[i], n[i] = int32(p.day), p.source, c.next, int32(len(day))
		all = append(all, day...)
		c.next++
	}
	if err := c.facts.insertRows(ctx, c.Workspace, f, all, func(r *row) int64 { return slots[r.sourceDay()] }); err != nil {
		return err
	}
	p := params{}
	if err := c.facts.checkCount(ctx, f, "workspace = "+number(p, c.Workspace)+" AND slot BETWEEN "+number(p, first)+" AND "+number(p, c.next-1), p, len(all)); err != nil {
		return err
	}
	_, err := c.Tx.Exec(ctx, "INSERT INTO metrics_slot (workspace, family, day, source, slot, n) SELECT $1, $2, * FROM unnest($3::int4[], $4::int4[], $5::int8[], $6::int4[])",
		c.Workspace, int16(f), dates, sources, used, n)
	return err
}
