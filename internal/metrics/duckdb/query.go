package duckdb

import (
	"context"
	"database/sql/driver"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	duckdb "github.com/duckdb/duckdb-go/v2"

	"fanfare/internal/analytics"
	"fanfare/internal/fact"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
)

// maxTries is the number of times that a statement is built and run, if its
// inputs change meanwhile.
const maxTries = 4

// heavyFrom is the number of facts above which a query is heavy.
const heavyFrom = 1_000_000

// Query answers a plan from one snapshot of the facts. No two groups have the
// same bucket and values.
func (e *Engine) Query(ctx context.Context, p *analytics.Plan) ([]analytics.Group, error) {
	if ctx.Value(inTurn{}) != e {
		turn, end, err := e.Begin(ctx, p.Workspace, 0, p)
		if err != nil {
			return nil, err
		}
		defer end()
		ctx = turn
	}
	groups, err := e.queryConsistently(ctx, p)
	if err != nil {
		return nil, fmt.Errorf("query facts: %w", err)
	}
	return groups, nil
}

// inTurn is the key of contexts with a turn. The value is its engine.
type inTurn struct{}

// Begin implements analytics.Facts.
func (e *Engine) Begin(ctx context.Context, id ident.ID, wait time.Duration, plans ...*analytics.Plan) (turn context.Context, end func(), err error) {
	w, err := e.workspace(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	queue := e.light
	if w != nil && slices.ContainsFunc(plans, func(p *analytics.Plan) bool { return e.isHeavy(p, w) }) {
		queue = e.heavy
	}
	leave, err := queue.Take(ctx, id, wait)
	if err != nil {
		return nil, nil, err
	}
	return context.WithValue(ctx, inTurn{}, e), leave, nil
}

func (e *Engine) isHeavy(p *analytics.Plan, w *workspace) bool {
	return w.toRead(p, e.summed(p, w)) > e.heavyFrom
}

// queryConsistently runs the query again if the inputs of its statement changed
// while it ran.
func (e *Engine) queryConsistently(ctx context.Context, p *analytics.Plan) ([]analytics.Group, error) {
	heavy := false
	for try := 1; ; try++ {
		if try == maxTries {
			if heavy {
				return nil, changesTooFast()
			}
			// After maxTries, a small query blocks writes; a large one fails
			// instead, because the writes may be of other workspaces.
			unlock, err := e.lock(ctx, p.Workspace, 0)
			if err != nil {
				return nil, err
			}
			defer unlock()
		}
		w, err := e.workspace(ctx, p.Workspace)
		if err != nil || w == nil {
			return nil, err
		}
		if w.texts == nil {
			// Wait for a write that changes names, so that facts and names are of
			// one snapshot.
			select {
			case <-w.writeEnded:
			case <-ctx.Done():
				return nil, ctx.Err()
			}
			continue
		}
		heavy = e.isHeavy(p, w)
		words := e.words.Load()
		groups, err := e.answer(ctx, p, w, words, heavy)
		if err != nil || e.stillValid(p.Workspace, w, words) {
			return groups, err
		}
	}
}

// changesTooFast is the fault of a heavy query whose facts changed during each
// try.
func changesTooFast() error {
	f := fault.New(fault.Unavailable, "The metrics of this workspace change faster than the query reads them. Ask for fewer days, or try again in 5 seconds.")
	f.RetryAfter = 5 * time.Second
	return f
}

// stillValid reports whether the inputs of a statement did not change while it
// ran.
func (e *Engine) stillValid(id ident.ID, w *workspace, words *words) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	now := e.known[id]
	return now != nil && now.epoch == w.epoch && e.words.Load() == words
}

func (e *Engine) answer(ctx context.Context, p *analytics.Plan, w *workspace, words *words, heavy bool) ([]analytics.Group, error) {
	rolled := e.summed(p, w)
	in := runDirectly
	if heavy {
		in = withLowPriority
	}
	var groups []analytics.Group
	var err error
	// A sum that is unknown because it is too large must not be added.
	for _, grouped := range []bool{p.UnknownIfTooLarge, true} {
		var b *builder
		if b, err = compile(p, w, words, rolled, grouped); err != nil {
			return nil, err
		}
		// There may be too many groups only before they are merged.
		if groups, err = e.collect(ctx, b, w, in); !b.merged || !errors.Is(err, analytics.ErrTooMany) {
			break
		}
	}
	var failed *duckdb.Error
	if errors.As(err, &failed) && (failed.Type == duckdb.ErrorTypeConversion || failed.Type == duckdb.ErrorTypeOutOfRange) {
		// Only sums are converted in a statement.
		return nil, analytics.ErrTooLarge
	}
	if err != nil && ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return groups, err
}

// collect runs a statement and reads its groups.
func (e *Engine) collect(ctx context.Context, b *builder, w *workspace, in func(func() error) error) (groups []analytics.Group, err error) {
	each := func(row []driver.Value) error {
		if row[1].(int64) == 0 {
			return nil // the row of an empty result
		}
		if len(groups) == b.p.MaxGroups {
			return analytics.ErrTooMany
		}
		groups = append(groups, b.readGroup(row))
		return nil
	}
	err = e.pool.use(ctx, func(c *conn) error {
		if done, err := e.runPlanned(ctx, c, b, in, each); done {
			return err
		}
		groups, b.entities = nil, nil
		return c.queryIn(ctx, in, each, b.String(), b.args...)
	})
	if err != nil || !b.merged {
		return groups, err
	}
	values, err := e.entityValues(ctx, w, b.entities)
	if err != nil {
		return nil, err
	}
	for i := range groups {
		for j, d := range b.p.Dimensions {
			if entityAttributes[d].attribute == "id" {
				groups[i].Values[j], values = values[0], values[1:]
			}
		}
	}
	return merge(groups, b.p.Measures)
}

// runPlanned runs a statement with its cached plan. done is false if there is
// none or if facts changed.
func (e *Engine) runPlanned(ctx context.Context, c *conn, b *builder, in func(func() error) error, each func(row []driver.Value) error) (done bool, err error) {
	changes := e.changes.Load()
	text, whole := b.literal()
	if !whole || changes%2 != 0 {
		return false, nil
	}
	s, err := c.planned(ctx, text, changes)
	if s != nil {
		err = readRows(ctx, in, each, s, nil)
	}
	return (s != nil || err != nil) && e.changes.Load() == changes, err
}

// merge merges groups with the same values.
func merge(groups []analytics.Group, measures []fact.Measure) ([]analytics.Group, error) {
	index := make(map[string]int, len(groups))
	kept := groups[:0]
	var key []byte
	for _, g := range groups {
		key = binary.AppendVarint(key[:0], int64(g.Bucket))
		for _, v := range g.Values {
			for _, text := range []string{v.ID, v.External} {
				key = append(binary.AppendUvarint(key, uint64(len(text))), text...)
			}
			if v.Null {
				key = append(key, v.Label...)
			}
			key = append(key, 0)
		}
		i, there := index[string(key)]
		if !there {
			index[string(key)] = len(kept)
			kept = append(kept, g)
			continue
		}
		if err := addGroup(&kept[i], &g, measures); err != nil {
			return nil, err
		}
	}
	return kept, nil
}

// addGroup adds b to a.
func addGroup(a, b *analytics.Group, measures []fact.Measure) error {
	for i := range a.Values {
		if x, y := &a.Values[i].Label, b.Values[i].Label; *x == "" || y != "" && y < *x {
			*x = y
		}
	}
	for i, m := range measures {
		x, y := &a.Sums[i], &b.Sums[i]
		switch {
		case m == fact.Reach:
			*x = analytics.Sum{Mixed: x.Known || x.Mixed || y.Known || y.Mixed}
		case x.NoRate || y.NoRate:
			*x = analytics.Sum{NoRate: true}
		case y.Known:
			sum := x.N + y.N
			if (sum > x.N) != (y.N > 0) {
				return analytics.ErrTooLarge
			}
			x.N, x.Known = sum, true
		}
	}
	return nil
}

// Explain returns the statement that answers a plan now, and its arguments. It
// depends on the cached state of the workspace, so it is valid until the next
// write.
func (e *Engine) Explain(ctx context.Context, p *analytics.Plan) (text string, args []any, err error) {
	w, err := e.workspace(ctx, p.Workspace)
	if err != nil {
		return "", nil, err
	}
	if w == nil {
		return "", nil, fmt.Errorf("explain: there are no facts of workspace %s", p.Workspace)
	}
	b, err := compile(p, w, e.words.Load(), e.summed(p, w), false)
	if err != nil {
		return "", nil, fmt.Errorf("explain: %w", err)
	}
	return b.String(), b.args, nil
}

// readGroup reads a group from a row: bucket, number of facts, the columns of
// dimensionColumns for every dimension and those of sum for every measure.
func (b *builder) readGroup(row []driver.Value) analytics.Group {
	g := analytics.Group{
		Bucket: bucketStart(b.p.Granularity, row[0].(int64)),
		Values: make([]analytics.Value, 0, len(b.p.Dimensions)), Sums: make([]analytics.Sum, 0, len(b.p.Measures)),
	}
	rows := row[1].(int64)
	row = row[2:]
	for _, d := range b.p.Dimensions {
		v, width := b.value(d, row)
		g.Values, row = append(g.Values, v), row[width:]
	}
	for _, m := range b.p.Measures {
		n, known := row[0].(int64)
		s := analytics.Sum{N: n, Known: known}
		switch {
		case m == fact.Reach:
			if rows > 1 {
				s = analytics.Sum{Mixed: row[1].(int64) > 0}
			}
			row = row[1:]
		case m.Money() && b.converts:
			s.NoRate = row[1].(int64) > 0
			row = row[1:]
		}
		g.Sums, row = append(g.Sums, s), row[1:]
	}
	return g
}

// value returns the value of a dimension and the number of its columns.
func (b *builder) value(dimension string, row []driver.Value) (v analytics.Value, width int) {
	switch {
	case entityAttributes[dimension].attribute == "id" && b.merged:
		b.entities = append(b.entities, row[0].(int32))
		return v, 1
	case entityAttributes[dimension].attribute == "id":
		v.ID, _ = row[0].(string)
		v.Null = v.ID == ""
		v.External, _ = row[1].(string)
		v.Label, _ = row[3].(string)
		return v, 4
	case dimension == "weekday":
		v.ID = analytics.Weekdays[row[0].(int32)]
	case slices.Contains(wordDimensions, dimension):
		v.ID = b.words.text[row[0].(int32)]
	default:
		v.ID, _ = row[0].(string)
	}
	v.Null = v.ID == ""
	return v, 1
}
