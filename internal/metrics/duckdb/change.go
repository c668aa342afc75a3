package duckdb

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"maps"
	"time"

	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/ident"
	"fanfare/internal/metrics/numbers"
)

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
	// invalidates means that sources, words or sums changed, so that statements
	// built before the write become invalid.
	invalidates bool
	// changedTexts are the kinds of entities whose texts changed, addedTexts those
	// with new entities.
	changedTexts, addedTexts [len(numbers.Kinds)]bool
	// ended is closed when the write is visible or rolled back.
	ended chan struct{}
}

// changeWorkspace runs f as the only write. wait limits the wait for its turn.
// If it returns nil, the changes are on disk and visible; otherwise nothing
// changed.
func (e *Engine) changeWorkspace(ctx context.Context, id ident.ID, wait time.Duration, f func(t *change) error) error {
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
	t := &change{e: e, now: e.now(), w: &workspace{texts: newTexts()}, words: words, touched: map[part]bool{}, ended: make(chan struct{})}
	defer close(t.ended)
	if was != nil {
		*t.w = *was
	}
	// Queries read the old maps.
	t.w.parts, t.w.summedMonths = maps.Clone(t.w.parts), maps.Clone(t.w.summedMonths)
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
			if t.changesInputs() {
				e.publishBeforeCommit(id, was, t)
			}
			return nil
		})
	})
	if err != nil {
		if t.changesInputs() {
			e.unpublish(id, words)
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
	e.publish(id, t.w)
	return nil
}

// changesInputs reports whether the write changes what statements are built from,
// so that queries must know of it before its commit.
func (t *change) changesInputs() bool {
	none := [len(numbers.Kinds)]bool{}
	return t.invalidates || t.changedTexts != none || t.addedTexts != none
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
	t.w.key, t.w.parts, t.w.summedMonths = t.e.next.workspace, map[part]extent{}, map[clock.Date]bool{}
	t.e.next.workspace++
	if _, err := t.c.exec(ctx, "INSERT INTO workspace VALUES (?, ?, 0, 0)", t.w.key, string(id)); err != nil {
		return fmt.Errorf("store workspace: %w", err)
	}
	return nil
}

// updateDerived updates what is derived from facts and raises the generation.
func (t *change) updateDerived(ctx context.Context) error {
	if err := t.deleteSums(ctx); err != nil {
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
