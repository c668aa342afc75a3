package duckdb

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"fanfare/internal/analytics"
	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/ident"
	"fanfare/internal/money"
)

// words has the values of fixed sets and their numbers. It is never changed, only
// replaced by a longer one; "" is 0.
type words struct {
	code map[string]int32
	text []string
}

// workspace is the cached state of a workspace, replaced after each committed
// write. So a query that sees a new generation sees its facts.
type workspace struct {
	key        int32
	generation int64
	mirrored   clock.Instant
	// sources is a new slice after each change.
	sources []source
	parts   map[part]extent
	rolled  map[clock.Date]bool
	covered []fact.Coverage
	// texts is nil while a write that changes names commits; writeEnded is closed
	// then.
	texts      *dictionary
	writeEnded <-chan struct{}
	// epoch changes when statements built from this state become invalid.
	epoch int64
}

type source struct {
	key int32
	fact.Source
}

// part is a month of a family of a source.
type part struct {
	family fact.Family
	source int32
	month  clock.Date
}

// extent is the number of facts of a part, and their first and last day.
type extent struct {
	rows        int64
	first, last clock.Date
}

// month is a month of a workspace.
type month struct {
	workspace int32
	first     clock.Date
}

// pentad is the number of days in one sum for ranges that end within a month. A
// month has six pentads; the last one ends with the month.
const pentad = 5

// firstOfPentad returns the first day of a day's pentad.
func firstOfPentad(d clock.Date) clock.Date {
	first := d.FirstOfMonth()
	return first + min((d-first)/pentad, 5)*pentad
}

// nextPentad returns the first day of the pentad after a day's.
func nextPentad(d clock.Date) clock.Date {
	next, month := firstOfPentad(d)+pentad, d.FirstOfMonth()
	if next-month > 5*pentad {
		return month.NextMonth()
	}
	return next
}

// loadCommon reads what all workspaces share.
func (e *Engine) loadCommon(ctx context.Context, c *conn) error {
	w := &words{code: map[string]int32{"": 0}, text: []string{""}}
	if err := c.query(ctx, func(row []driver.Value) error {
		if int(row[0].(int32)) != len(w.text) {
			return fmt.Errorf("word %d is out of order", row[0])
		}
		w.code[row[1].(string)] = row[0].(int32)
		w.text = append(w.text, row[1].(string))
		return nil
	}, "SELECT code, text FROM word ORDER BY code"); err != nil {
		return fmt.Errorf("read words: %w", err)
	}
	e.words.Store(w)
	if err := e.loadIdentity(ctx, c); err != nil {
		return err
	}
	for _, n := range []struct {
		next *int32
		text string
	}{
		{&e.next.workspace, "SELECT coalesce(max(key), 0) + 1 FROM workspace"},
		{&e.next.source, "SELECT coalesce(max(key), 0) + 1 FROM source"},
		{&e.next.entity, "SELECT coalesce(max(key), 0) + 1 FROM entity"},
		// Old imports are deleted, but facts still name them.
		{&e.next.imported, `SELECT greatest((SELECT coalesce(max(key), 0) FROM import),
			(SELECT coalesce(max(import), 0) FROM base), (SELECT coalesce(max(import), 0) FROM geo),
			(SELECT coalesce(max(import), 0) FROM demographic), (SELECT coalesce(max(import), 0) FROM device)) + 1`},
	} {
		if err := c.query(ctx, func(row []driver.Value) error { *n.next = row[0].(int32); return nil }, n.text); err != nil {
			return fmt.Errorf("read last keys: %w", err)
		}
	}
	return nil
}

// workspace returns the cached state of a workspace, nil if it has no facts.
func (e *Engine) workspace(ctx context.Context, id ident.ID) (*workspace, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if w, known := e.known[id]; known {
		return w, nil
	}
	// The lock is held meanwhile, so that this older state does not overwrite
	// what a write publishes.
	var w *workspace
	err := e.pool.use(ctx, func(c *conn) (err error) {
		w, err = load(ctx, c, id)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read workspace %s: %w", id, err)
	}
	if w != nil {
		e.epochs++
		w.epoch = e.epochs
	}
	// Nil is cached too: another read for each query would delay all others.
	e.known[id] = w
	return w, nil
}

// announce publishes new sources, words and invalidated sums and names before the
// commit, so that a query sees them or a new epoch.
func (e *Engine) announce(id ident.ID, was *workspace, t *change) {
	w := &workspace{}
	if was != nil {
		*w = *was
	}
	w.key, w.sources, w.rolled, w.texts, w.writeEnded = t.w.key, t.w.sources, t.w.rolled, t.w.texts, t.ended
	e.mu.Lock()
	defer e.mu.Unlock()
	e.epochs++
	w.epoch, t.w.epoch = e.epochs, e.epochs
	e.known[id] = w
	e.words.Store(t.words)
}

// retract removes what announce published, after a rollback.
func (e *Engine) retract(id ident.ID, words *words) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.known, id)
	e.words.Store(words)
}

func (e *Engine) publish(id ident.ID, w *workspace) {
	w.covered = coverage(w.sources, w.parts)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.known[id] = w
}

// load reads a workspace from one snapshot. A write publishes its state later.
func load(ctx context.Context, c *conn, id ident.ID) (*workspace, error) {
	w := &workspace{parts: map[part]extent{}, rolled: map[clock.Date]bool{}, texts: newDictionary()}
	err := c.inTransaction(ctx, func() error {
		return errors.Join(
			c.query(ctx, func(row []driver.Value) error {
				w.key, w.generation, w.mirrored = row[0].(int32), row[1].(int64), clock.Instant(row[2].(int64))
				return nil
			}, "SELECT key, generation, mirrored FROM workspace WHERE id = ?", string(id)),
			c.query(ctx, func(row []driver.Value) error {
				w.sources = append(w.sources, source{row[0].(int32), fact.Source{
					Connection: ident.ID(row[1].(string)), Platform: row[2].(string), Account: row[3].(string), Currency: money.Currency(row[4].(string)), Zone: row[5].(string),
				}})
				return nil
			}, "SELECT key, connection, platform, account, currency, zone FROM source WHERE workspace = ? ORDER BY key", w.key),
			c.query(ctx, func(row []driver.Value) error {
				p, x := readPart(row)
				w.parts[p] = x
				return nil
			}, "SELECT family, source, month, n, first, last FROM part WHERE workspace = ?", w.key),
			c.query(ctx, func(row []driver.Value) error {
				w.rolled[clock.Date(row[0].(int32))] = true
				return nil
			}, "SELECT month FROM rolled WHERE workspace = ?", w.key),
		)
	})
	if err != nil || w.key == 0 {
		return nil, err
	}
	w.covered = coverage(w.sources, w.parts)
	return w, nil
}

func readPart(row []driver.Value) (part, extent) {
	return part{fact.Family(row[0].(int32)), row[1].(int32), clock.Date(row[2].(int32))},
		extent{row[3].(int64), clock.Date(row[4].(int32)), clock.Date(row[5].(int32))}
}

// coverage returns the days of each source that has facts.
func coverage(sources []source, parts map[part]extent) []fact.Coverage {
	bySource := map[int32]*fact.Coverage{}
	for p, x := range parts {
		c := bySource[p.source]
		if c == nil {
			c = &fact.Coverage{First: x.first, Last: x.last}
			bySource[p.source] = c
		}
		c.First, c.Last = min(c.First, x.first), max(c.Last, x.last)
		c.Families[p.family].Add(x.rows, x.first, x.last)
	}
	var list []fact.Coverage
	for _, s := range sources {
		if c := bySource[s.key]; c != nil {
			c.Source = s.Source
			list = append(list, *c)
		}
	}
	return list
}

// rows estimates the number of facts of a family in a range of days.
func (w *workspace) rows(f fact.Family, first, last clock.Date) int64 {
	var n int64
	for p, x := range w.parts {
		if days := min(x.last, last) - max(x.first, first) + 1; p.family == f && days > 0 {
			n += x.rows * int64(days) / int64(x.last-x.first+1)
		}
	}
	return n
}

// toRead estimates the number of facts and sums that a plan reads.
func (w *workspace) toRead(p *analytics.Plan, rolled summedDays) int64 {
	days := w.rows(p.Family, rolled.first, rolled.last)
	months := w.rows(p.Family, rolled.firstMonth, rolled.lastMonth)
	return w.rows(p.Family, p.First, p.Last) - days + (days-months)/pentad + months/30
}

// State returns the coverage and generation of a workspace. Only the first call
// reads the file.
func (e *Engine) State(ctx context.Context, id ident.ID) (analytics.State, error) {
	w, err := e.workspace(ctx, id)
	if err != nil || w == nil {
		return analytics.State{}, err
	}
	return analytics.State{Generation: w.generation, Sources: slices.Clone(w.covered), Mirrored: w.mirrored}, nil
}

// change is one write to one workspace.
type change struct {
	e   *Engine
	c   *conn
	now time.Time
	// w is the new state, published after the commit.
	w       *workspace
	words   *words
	touched map[part]bool
	// unchanged means that every query returns the same as before.
	unchanged bool
	// invalidates means that statements built before the write become invalid.
	invalidates bool
	// ended is closed when the write is visible or rolled back.
	ended chan struct{}
}

// writeWorkspace runs f as the only write. wait limits the wait for its turn.
// If it returns nil, the changes are on disk and visible; otherwise nothing
// changed.
func (e *Engine) writeWorkspace(ctx context.Context, id ident.ID, wait time.Duration, f func(t *change) error) error {
	unlock, err := e.lock(ctx, id, wait)
	if err != nil {
		return err
	}
	defer unlock()
	was, err := e.workspace(ctx, id)
	if err != nil {
		return err
	}
	words := e.words.Load()
	t := &change{e: e, now: e.now(), w: &workspace{}, words: words, touched: map[part]bool{}, ended: make(chan struct{})}
	defer close(t.ended)
	if was != nil {
		*t.w = *was
	}
	// Queries read the old maps.
	t.w.parts, t.w.rolled = maps.Clone(t.w.parts), maps.Clone(t.w.rolled)
	err = e.pool.use(ctx, func(c *conn) error {
		t.c = c
		return e.inChange(ctx, c, func() error {
			if err := t.addWorkspace(ctx, id); err != nil {
				return err
			}
			if err := f(t); err != nil {
				return err
			}
			if err := t.updateDerived(ctx); err != nil {
				return err
			}
			if t.invalidates {
				e.announce(id, was, t)
			}
			return nil
		})
	})
	if err != nil {
		if t.invalidates {
			e.retract(id, words)
		}
		return err
	}
	for p := range t.touched {
		e.writtenMonths[month{t.w.key, p.month}] = true
	}
	e.unsaved++
	if !t.unchanged {
		e.generation.Add(1)
	}
	if t.w.texts == nil {
		t.w.texts = newDictionary()
	}
	e.publish(id, t.w)
	return nil
}

// lock waits until no other write runs. For wait see fairqueue.Queue. Changes
// that belong to no workspace have the id "".
func (e *Engine) lock(ctx context.Context, id ident.ID, wait time.Duration) (unlock func(), err error) {
	leave, err := e.writes.Take(ctx, id, wait)
	if err != nil {
		return nil, err
	}
	if err := e.CheckFiles(); errors.Is(err, ErrOverwritten) {
		leave()
		return nil, err
	}
	e.changes.Add(1)
	return func() {
		e.recordFiles(e.changes.Load() + 1)
		e.changes.Add(1)
		leave()
	}, nil
}

func (t *change) addWorkspace(ctx context.Context, id ident.ID) error {
	if t.w.key != 0 {
		return nil
	}
	t.w.key, t.w.parts, t.w.rolled = t.e.next.workspace, map[part]extent{}, map[clock.Date]bool{}
	t.e.next.workspace++
	if _, err := t.c.exec(ctx, "INSERT INTO workspace VALUES (?, ?, 0, 0)", t.w.key, string(id)); err != nil {
		return fmt.Errorf("store workspace: %w", err)
	}
	return nil
}

// updateDerived updates what is derived from facts and raises the generation.
func (t *change) updateDerived(ctx context.Context) error {
	if err := t.unroll(ctx); err != nil {
		return err
	}
	if err := t.recount(ctx); err != nil {
		return err
	}
	if !t.unchanged {
		t.w.generation++
	}
	if _, err := t.c.exec(ctx, "UPDATE workspace SET generation = ?, mirrored = ? WHERE key = ?", t.w.generation, int64(t.w.mirrored), t.w.key); err != nil {
		return fmt.Errorf("raise generation: %w", err)
	}
	return nil
}

// recount counts the touched parts again.
func (t *change) recount(ctx context.Context) error {
	type span struct{ first, last clock.Date }
	spans := map[part]span{}
	for p := range t.touched {
		all := part{family: p.family, source: p.source}
		s, there := spans[all]
		if !there {
			s = span{p.month, p.month}
		}
		spans[all] = span{min(s.first, p.month), max(s.last, p.month)}
	}
	for p, s := range spans {
		maps.DeleteFunc(t.w.parts, func(q part, _ extent) bool {
			return q.family == p.family && q.source == p.source && q.month >= s.first && q.month <= s.last
		})
		if _, err := t.c.exec(ctx, "DELETE FROM part WHERE workspace = ? AND family = ? AND source = ? AND month BETWEEN ? AND ?",
			t.w.key, int32(p.family), p.source, int32(s.first), int32(s.last)); err != nil {
			return fmt.Errorf("count facts: %w", err)
		}
		err := t.c.query(ctx, func(row []driver.Value) error {
			q, x := readPart(row)
			t.w.parts[q] = x
			return nil
		}, countParts(p.family, "AND source = ? AND day BETWEEN ? AND ?")+" RETURNING family, source, month, n, first, last",
			t.w.key, p.source, int32(s.first), int32(s.last.NextMonth()-1))
		if err != nil {
			return fmt.Errorf("count facts: %w", err)
		}
	}
	return nil
}

// countParts returns the statement that fills the table part for a family of a
// workspace. It counts days first, because finding the month of every fact takes
// longer.
func countParts(f fact.Family, where string) string {
	return fmt.Sprintf(`INSERT INTO part SELECT workspace, %d, source,
		CAST(CAST(date_trunc('month', DATE '1970-01-01' + day) AS DATE) - DATE '1970-01-01' AS INTEGER) AS month, sum(n), min(day), max(day)
		FROM (SELECT workspace, source, day, count(*) AS n FROM %s WHERE workspace = ? %s GROUP BY ALL) GROUP BY ALL`, f, f, where)
}
