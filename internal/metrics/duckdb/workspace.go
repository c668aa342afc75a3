package duckdb

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"

	"fanfare/internal/analytics"
	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/ident"
	"fanfare/internal/metrics/numbers"
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
	sources      []numbers.Source
	parts        map[part]extent
	summedMonths map[clock.Date]bool
	covered      []fact.Coverage
	texts        allTexts
	// version changes when sources, words or sums become invalid that a statement
	// was built from.
	version int64
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
		e.lastVersion++
		w.version = e.lastVersion
	}
	// Nil is cached too: another read for each query would delay all others.
	e.known[id] = w
	return w, nil
}

// publishBeforeCommit publishes new sources, words and texts and deleted sums before the
// commit, so that a query sees them or is run again.
func (e *Engine) publishBeforeCommit(id ident.ID, was *workspace, t *change) {
	w := &workspace{}
	if was != nil {
		*w = *was
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.lastVersion++
	if t.invalidates {
		t.w.version = e.lastVersion
	}
	for kind := range t.w.texts {
		if t.changedTexts[kind] {
			t.w.texts[kind] = &kindTexts{changed: e.lastVersion, ready: t.ended}
		} else if t.addedTexts[kind] {
			t.w.texts[kind] = &kindTexts{changed: t.w.texts[kind].changed, ready: t.ended}
		}
	}
	w.key, w.sources, w.summedMonths, w.texts, w.version = t.w.key, t.w.sources, t.w.summedMonths, t.w.texts, t.w.version
	e.known[id] = w
	e.words.Store(t.words)
}

// unpublish removes what publishBeforeCommit published, after a rollback.
func (e *Engine) unpublish(id ident.ID, words *words) {
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
	w := &workspace{parts: map[part]extent{}, summedMonths: map[clock.Date]bool{}, texts: newTexts()}
	err := c.inTransaction(ctx, func() error {
		return errors.Join(
			c.query(ctx, func(row []driver.Value) error {
				w.key, w.generation, w.mirrored = row[0].(int32), row[1].(int64), clock.Instant(row[2].(int64))
				return nil
			}, "SELECT key, generation, mirrored FROM workspace WHERE id = ?", string(id)),
			c.query(ctx, func(row []driver.Value) error {
				w.sources = append(w.sources, numbers.Source{Key: row[0].(int32), Source: fact.Source{
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
				w.summedMonths[clock.Date(row[0].(int32))] = true
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
func coverage(sources []numbers.Source, parts map[part]extent) []fact.Coverage {
	return numbers.Coverage(sources, func(yield func(numbers.Part) bool) {
		for p, x := range parts {
			if !yield(numbers.Part{Family: p.family, Source: p.source, Facts: x.rows, First: x.first, Last: x.last}) {
				return
			}
		}
	})
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
func (w *workspace) toRead(p *analytics.Plan, sums summedDays) int64 {
	days := w.rows(p.Family, sums.first, sums.last)
	months := w.rows(p.Family, sums.firstMonth, sums.lastMonth)
	return w.rows(p.Family, p.First, p.Last) - days + (days-months)/periodDays + months/30
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
