package httpapi_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"fanfare/internal/account"
	"fanfare/internal/analytics"
	"fanfare/internal/app"
	"fanfare/internal/fanfaretest"
	"fanfare/internal/metrics"
	"fanfare/internal/metrics/duckdb"
	"fanfare/internal/ratelimit"
	"fanfare/internal/store"
)

// faulty is an engine that fails or waits when the test says so.
type faulty struct {
	store.Engine
	mu             sync.Mutex
	reads, writes  error
	calls          int
	watching       bool
	left           []time.Duration
	holding        chan struct{}
	arrived, leave chan struct{}
	facts          *faultyFacts
}

// faultyFacts is an engine of facts that fails when the test says so.
type faultyFacts struct {
	metrics.Engine
	mu  sync.Mutex
	err error
}

// fail makes queries fail from now on; nil makes them work again.
func (f *faultyFacts) fail(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.err = err
}

func (f *faultyFacts) Query(ctx context.Context, p *analytics.Plan) ([]analytics.Group, error) {
	f.mu.Lock()
	err := f.err
	f.mu.Unlock()
	if err != nil {
		return nil, err
	}
	return f.Engine.Query(ctx, p)
}

// errPanic makes the engine panic instead of returning it.
var errPanic = errors.New("a bug at " + leak)

func newFaulty(e store.Engine) *faulty { return &faulty{Engine: e, facts: &faultyFacts{}} }

// fail makes reads and writes fail from now on; nil lets them work again.
func (f *faulty) fail(reads, writes error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.reads, f.writes, f.calls = reads, writes, 0
}

// asked returns how often the engine was called since the last call of fail.
func (f *faulty) asked() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls
}

// hold blocks the next write. It returns a channel that closes when the write
// has started, and a function that releases it.
func (f *faulty) hold() (arrived <-chan struct{}, release func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.holding = make(chan struct{})
	f.arrived, f.leave = f.holding, make(chan struct{})
	return f.arrived, sync.OnceFunc(func() { close(f.leave) })
}

// watch records from now on how much time each call has left.
func (f *faulty) watch() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.watching = true
}

func (f *faulty) note(ctx context.Context) {
	if !f.watching {
		return
	}
	left := time.Duration(-1)
	if end, ok := ctx.Deadline(); ok {
		left = time.Until(end)
	}
	f.left = append(f.left, left)
}

// deadlines returns how much time each call had left.
func (f *faulty) deadlines() []time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.left)
}

func (f *faulty) Query(ctx context.Context, query string, args ...any) (*store.Rows, error) {
	f.mu.Lock()
	err := f.reads
	f.calls++
	f.note(ctx)
	f.mu.Unlock()
	if errors.Is(err, errPanic) {
		panic(err)
	}
	if err != nil {
		return nil, err
	}
	return f.Engine.Query(ctx, query, args...)
}

func (f *faulty) Write(ctx context.Context, fn func(store.Tx) error) error {
	f.mu.Lock()
	err := f.writes
	f.calls++
	f.note(ctx)
	holding, leave := f.holding, f.leave
	f.holding = nil
	f.mu.Unlock()
	if holding != nil {
		close(holding)
		<-leave
	}
	if err != nil {
		return err
	}
	return f.Engine.Write(ctx, fn)
}

func (f *faulty) WriteAsync(ctx context.Context, fn func(store.Tx) error) error {
	return f.Write(ctx, fn)
}

// ample are limits that no test reaches by accident.
func ample(c *app.Config) {
	c.Limits = map[account.Plan]ratelimit.Limits{account.Starter: {PerMinute: 1}, account.Growth: {}, account.Enterprise: {}}
}

// uncached makes every read go to the engine.
func uncached(c *app.Config) { c.CachedRecords = 0 }

// newFaultyService starts a service on faulty engines.
func newFaultyService(t testing.TB, open func(testing.TB) store.Engine, options ...func(*app.Config)) (*fanfaretest.Service, *faulty) {
	t.Helper()
	f := newFaulty(open(t))
	facts := func(c *app.Config) {
		e, err := duckdb.Open(t.Context(), c.Facts, duckdb.Options{Now: c.Now, Log: c.Log})
		if err != nil {
			t.Fatal(err)
		}
		f.facts.Engine, c.FactsEngine = e, f.facts
	}
	w := fanfaretest.New(t, f, append([]func(*app.Config){ample, uncached, facts}, options...)...)
	// Tests of faults are about the time limit of servers.
	w.App.API.TimeLimit = 30 * time.Second
	return w, f
}
