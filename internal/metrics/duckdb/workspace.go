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
