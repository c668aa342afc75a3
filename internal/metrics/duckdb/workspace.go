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

// words are the values of fixed sets and their numbers. They are never changed,
// only replaced by longer ones; "" is 0.
type words struct {
	code map[string]int32
	text []string
}

// workspace is what is known of a workspace without asking the file. It is
// never changed, only replaced, after the write that changes it is on disk: who
// sees a new generation sees new facts too.
type workspace struct {
	key        int32
	generation int64
	mirrored   clock.Instant
	// sources are replaced by a new slice whenever one of them changes.
	sources []source
	parts   map[part]extent
	rolled  map[clock.Date]bool
	covered []fact.Coverage
	// texts is nil from when a write has changed what entities are called until
	// it is on disk, which settled tells.
	texts   *dictionary
	settled <-chan struct{}
	// epoch is another one whenever a statement that was written with what is
	// known here may not be right any more.
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

// extent is how many facts a part has, and of which days.
type extent struct {
	rows        int64
	first, last clock.Date
}

// month is a month of a workspace.
type month struct {
	workspace int32
	first     clock.Date
}

// pentad is how many days are summed up together where a range ends within a
// month. A month has six, of which the last goes to its end.
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
		// Batches whose undoing has ended are forgotten, but facts still name them.
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

// workspace returns what is known of a workspace, nil if there is nothing.
func (e *Engine) workspace(ctx context.Context, id ident.ID) (*workspace, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if w, known := e.known[id]; known {
		return w, nil
	}
	// The lock is held meanwhile, so that what a write publishes after this
	// reading cannot be overwritten by it.
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
	// That there are no facts is known too: reading it again for each query
	// would hold up all others.
	e.known[id] = w
	return w, nil
}

// shift tells new sources and words, and takes back months that are summed up
// no more and names that are others now, before the change that brings it is committed. So a query that sees
// the change either knows all of it from the start or finds another epoch
// afterwards.
func (e *Engine) shift(id ident.ID, was *workspace, t *change) {
	w := &workspace{}
	if was != nil {
		*w = *was
	}
	w.key, w.sources, w.rolled, w.texts, w.settled = t.w.key, t.w.sources, t.w.rolled, t.w.texts, t.ended
	e.mu.Lock()
	defer e.mu.Unlock()
	e.epochs++
	w.epoch, t.w.epoch = e.epochs, e.epochs
	e.known[id] = w
	e.words.Store(t.words)
}

// unshift forgets what shift told of a change that did not come.
func (e *Engine) unshift(id ident.ID, words *words) {
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

// load reads a workspace. All of it is one statement's snapshot or older, and
// whoever writes publishes after it.
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

// coverage sums up the parts of each source. Sources without any fact are left
// out.
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

// rows estimates how many facts of a family lie in a range of days.
func (w *workspace) rows(f fact.Family, first, last clock.Date) int64 {
	var n int64
	for p, x := range w.parts {
		if days := min(x.last, last) - max(x.first, first) + 1; p.family == f && days > 0 {
			n += x.rows * int64(days) / int64(x.last-x.first+1)
		}
	}
	return n
}

// toRead estimates how many facts and sums it takes to answer a plan.
func (w *workspace) toRead(p *analytics.Plan, rolled run) int64 {
	days := w.rows(p.Family, rolled.first, rolled.last)
	months := w.rows(p.Family, rolled.firstMonth, rolled.lastMonth)
	return w.rows(p.Family, p.First, p.Last) - days + (days-months)/pentad + months/30
}

// State tells what there is of a workspace. It costs no query but the first.
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
	// w is a copy of what is known, to be published after the commit.
	w       *workspace
	words   *words
	touched map[part]bool
	// same says that every answer is as before.
	same bool
	// shifts says that statements written before are not right after it.
	shifts bool
	// ended is closed when the change is known to all, or undone.
	ended chan struct{}
}

// write runs f as the only one that changes anything, after at most so long a
// wait for its turn. What it did is on disk and known to all when write returns
// nil, else nothing of it is.
func (e *Engine) write(ctx context.Context, id ident.ID, wait time.Duration, f func(t *change) error) error {
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
	// Maps are shared with readers until they differ.
	t.w.parts, t.w.rolled = maps.Clone(t.w.parts), maps.Clone(t.w.rolled)
	err = e.pool.use(ctx, func(c *conn) error {
		t.c = c
		return e.inChange(ctx, c, func() error {
			if err := t.begin(ctx, id); err != nil {
				return err
			}
			if err := f(t); err != nil {
				return err
			}
			if err := t.finish(ctx); err != nil {
				return err
			}
			if t.shifts {
				e.shift(id, was, t)
			}
			return nil
		})
	})
	if err != nil {
		if t.shifts {
			e.unshift(id, words)
		}
		return err
	}
	for p := range t.touched {
		e.fresh[month{t.w.key, p.month}] = true
	}
	e.unsaved++
	if !t.same {
		e.generation.Add(1)
	}
	if t.w.texts == nil {
		t.w.texts = newDictionary()
	}
	e.publish(id, t.w)
	return nil
}

// lock waits until the caller is the only one that changes anything. Waits are
// those of fairqueue.Queue. Changes that concern no workspace have the id "".
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
		e.noteFiles(e.changes.Load() + 1)
		e.changes.Add(1)
		leave()
	}, nil
}

func (t *change) begin(ctx context.Context, id ident.ID) error {
	if t.w.key != 0 {
		return nil
	}
	t.w.key, t.w.parts, t.w.rolled = t.e.next.workspace, map[part]extent{}, map[clock.Date]bool{}
	t.e.next.workspace++
	if _, err := t.c.exec(ctx, "INSERT INTO workspace VALUES (?, ?, 0, 0)", t.w.key, string(id)); err != nil {
		return fmt.Errorf("note workspace: %w", err)
	}
	return nil
}

// finish brings what is derived from facts up to date and raises the
// generation.
func (t *change) finish(ctx context.Context) error {
	if err := t.unroll(ctx); err != nil {
		return err
	}
	if err := t.recount(ctx); err != nil {
		return err
	}
	if !t.same {
		t.w.generation++
	}
	if _, err := t.c.exec(ctx, "UPDATE workspace SET generation = ?, mirrored = ? WHERE key = ?", t.w.generation, int64(t.w.mirrored), t.w.key); err != nil {
		return fmt.Errorf("raise generation: %w", err)
	}
	return nil
}

// recount counts the touched parts anew.
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

// countParts fills the table part for a family of a workspace. The days are
// counted first, because finding the month of every fact would take longer.
func countParts(f fact.Family, where string) string {
	return fmt.Sprintf(`INSERT INTO part SELECT workspace, %d, source,
		CAST(CAST(date_trunc('month', DATE '1970-01-01' + day) AS DATE) - DATE '1970-01-01' AS INTEGER) AS month, sum(n), min(day), max(day)
		FROM (SELECT workspace, source, day, count(*) AS n FROM %s WHERE workspace = ? %s GROUP BY ALL) GROUP BY ALL`, f, f, where)
}
