package duckdb

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"time"

	duckdb "github.com/duckdb/duckdb-go/v2"

	"fanfare/internal/analytics"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/metrics/numbers"
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
	heavy, used := false, kindsOf(p)
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
		if waited, err := w.waitForTexts(ctx, used); err != nil {
			return nil, err
		} else if waited {
			continue
		}
		heavy = e.isHeavy(p, w)
		words := e.words.Load()
		groups, err := e.answer(ctx, p, w, words, used, heavy)
		if err != nil {
			return nil, err
		}
		if e.stillValid(p.Workspace, w, words, used, groups.Incomplete()) {
			return groups.List()
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
// ran. incomplete means that the facts had a number without a text.
func (e *Engine) stillValid(id ident.ID, w *workspace, words *words, used usedKinds, incomplete bool) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	now := e.known[id]
	return now != nil && now.version == w.version && e.words.Load() == words && w.sameTexts(now, used, incomplete)
}

// answer runs the statement of a plan and collects its groups.
func (e *Engine) answer(ctx context.Context, p *analytics.Plan, w *workspace, words *words, used usedKinds, heavy bool) (*numbers.Groups, error) {
	texts, err := e.textsFor(ctx, w, words, used)
	if err != nil {
		return nil, err
	}
	q, err := numbers.Translate(p, texts)
	if err != nil {
		return nil, err
	}
	in := runDirectly
	if heavy {
		in = withLowPriority
	}
	s := e.newStatement(p, q, w)
	for {
		s.compile()
		groups, rows, err := e.collect(ctx, s, in, func() *numbers.Groups { return numbers.NewGroups(p, q, texts) })
		switch tooLarge := isOutOfRange(err); {
		case tooLarge && !s.exact:
			s.exact = true
		case tooLarge:
			// Only sums can be out of range.
			return nil, analytics.ErrTooLarge
		case err != nil && ctx.Err() != nil:
			return nil, ctx.Err()
		case err == nil && s.maxRows > 0 && rows == s.maxRows:
			// Rows of one text were merged into few groups, and there may be more.
			s.maxRows = 0
		default:
			return groups, err
		}
	}
}

// newStatement returns the first statement to try. Usually each row is a group, so
// more rows than twice the groups are rarely needed.
func (e *Engine) newStatement(p *analytics.Plan, q *numbers.Question, w *workspace) *statement {
	return &statement{question: q, workspace: w.key, sums: e.summed(p, w), maxRows: 2*int64(p.MaxGroups) + 1}
}

// isOutOfRange reports whether a number was too large for its type.
func isOutOfRange(err error) bool {
	var failed *duckdb.Error
	return errors.As(err, &failed) && (failed.Type == duckdb.ErrorTypeConversion || failed.Type == duckdb.ErrorTypeOutOfRange)
}

// collect runs a statement and adds its rows to new groups.
func (e *Engine) collect(ctx context.Context, s *statement, in func(func() error) error, newGroups func() *numbers.Groups) (groups *numbers.Groups, rows int64, err error) {
	r := s.newRow()
	each := func(row []driver.Value) error {
		rows++
		if err := s.read(r, row); err != nil {
			return err
		}
		return groups.Add(r)
	}
	err = e.pool.use(ctx, func(c *conn) error {
		groups = newGroups()
		if done, err := e.runPlanned(ctx, c, s, in, each); done {
			return err
		}
		groups, rows = newGroups(), 0
		return c.queryIn(ctx, in, each, s.text, s.args...)
	})
	return groups, rows, err
}

// runPlanned runs a statement with its cached plan. done is false if there is
// none or if facts changed.
func (e *Engine) runPlanned(ctx context.Context, c *conn, s *statement, in func(func() error) error, each func(row []driver.Value) error) (done bool, err error) {
	changes := e.changes.Load()
	text, whole := s.literal()
	if !whole || changes%2 != 0 {
		return false, nil
	}
	planned, err := c.planned(ctx, text, changes)
	if planned != nil {
		err = readRows(ctx, in, each, planned, nil)
	}
	return (planned != nil || err != nil) && e.changes.Load() == changes, err
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
	texts, err := e.textsFor(ctx, w, e.words.Load(), kindsOf(p))
	if err != nil {
		return "", nil, fmt.Errorf("explain: %w", err)
	}
	q, err := numbers.Translate(p, texts)
	if err != nil {
		return "", nil, fmt.Errorf("explain: %w", err)
	}
	s := e.newStatement(p, q, w)
	s.compile()
	return s.text, s.args, nil
}
