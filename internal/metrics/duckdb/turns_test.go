package duckdb_test

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"fanfare/internal/analytics"
	"fanfare/internal/fact"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/metrics/duckdb"
)

// plan asks for all clicks of a workspace.
func plannedStatement(workspace ident.ID) *analytics.Plan {
	return &analytics.Plan{Workspace: workspace, First: first, Last: first + 364, Granularity: analytics.Whole, Measures: []fact.Measure{fact.Clicks}, MaxGroups: 10}
}

// requests are requests for metrics that keep their turn until the test ends.
type requests struct {
	t   *testing.T
	e   *duckdb.Engine
	end chan struct{}
}

// withRequests opens an engine with facts of some workspaces.
func withRequests(t *testing.T, heavyFrom int64, test func(r *requests)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := &requests{t, openFiles(t, t.TempDir()), make(chan struct{})}
		r.e.HeavyFrom(heavyFrom)
		for _, workspace := range []ident.ID{"wks_many", "wks_more", "wks_one"} {
			b := batchOf(1)
			b.Workspace = workspace
			write(t, r.e, b)
		}
		test(r)
		close(r.end)
		synctest.Wait()
	})
}

// fill begins so many requests of a workspace. It returns how many have a turn.
func (r *requests) fill(workspace ident.ID, n int) (running int) {
	var mu sync.Mutex
	for range n {
		go func() {
			_, end, err := r.e.Begin(r.t.Context(), workspace, time.Hour, plannedStatement(workspace))
			if err != nil {
				r.t.Errorf("begin of %s: %v", workspace, err)
				return
			}
			mu.Lock()
			running++
			mu.Unlock()
			<-r.end
			end()
		}()
	}
	synctest.Wait()
	mu.Lock()
	defer mu.Unlock()
	return running
}

// ask runs a request for all clicks of a workspace.
func (r *requests) ask(workspace ident.ID) error {
	turn, end, err := r.e.Begin(r.t.Context(), workspace, time.Second, plannedStatement(workspace))
	if err != nil {
		return err
	}
	defer end()
	groups, err := r.e.Query(turn, plannedStatement(workspace))
	if err == nil && (len(groups) != 1 || groups[0].Sums[0].N != 10) {
		r.t.Errorf("got %v want 10 clicks", groups)
	}
	return err
}

// TestQueriesLeaveAPlace checks that one workspace never uses all places of
// queries, small or large. A request without a place is refused with a time to
// retry.
func TestQueriesLeaveAPlace(t *testing.T) {
	t.Parallel()
	for name, heavyFrom := range map[string]int64{"light": 1_000_000, "heavy": 0} {
		t.Run(name, func(t *testing.T) {
			withRequests(t, heavyFrom, func(r *requests) {
				if running := r.fill("wks_many", 10); running == 0 || running == 10 {
					r.t.Errorf("got %d of 10 requests running want some", running)
				}
				if err := r.ask("wks_one"); err != nil {
					r.t.Errorf("beside one busy workspace: got %v want an answer", err)
				}
				if running := r.fill("wks_more", 10); running != 1 {
					r.t.Errorf("got %d requests of a second workspace running want the last place", running)
				}
				if err := r.ask("wks_one"); !fault.Is(err, fault.Unavailable) {
					r.t.Errorf("without a place: got %v want unavailable", err)
				}
			})
		})
	}
}

// TestLightBesideHeavy wants small queries not to wait for large ones.
func TestLightBesideHeavy(t *testing.T) {
	withRequests(t, 0, func(r *requests) {
		r.fill("wks_many", 10)
		r.fill("wks_more", 10)
		r.e.HeavyFrom(1_000_000)
		if err := r.ask("wks_one"); err != nil {
			r.t.Errorf("got %v want an answer", err)
		}
	})
}

// TestTooManyQueries wants a workspace with too many requests to be refused, and
// a query in the background to wait for its turn.
func TestTooManyQueries(t *testing.T) {
	withRequests(t, 0, func(r *requests) {
		r.fill("wks_many", 16)
		if err := r.ask("wks_many"); !fault.Is(err, fault.RateLimitExceeded) {
			r.t.Errorf("got %v want rate_limit_exceeded", err)
		}
		answered := false
		go func() {
			if _, err := r.e.Query(r.t.Context(), plannedStatement("wks_many")); err != nil {
				r.t.Errorf("in the background: got %v want an answer", err)
			}
			answered = true
		}()
		synctest.Wait()
		if answered {
			r.t.Error("got an answer before the turn")
		}
	})
}

// TestWritesTakeTurns wants a write of one workspace to come before the second
// of another, and queries of all to go on meanwhile.
func TestWritesTakeTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		next := make(chan struct{})
		wait := false
		e, err := duckdb.Open(t.Context(), t.TempDir(), duckdb.Options{Threads: 2, MemoryMB: 512, Log: slog.New(slog.DiscardHandler), Now: func() time.Time {
			if wait {
				// A write looks at the clock when its turn has come.
				<-next
			}
			return start
		}})
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := e.Close(); err != nil {
				t.Errorf("close: %v", err)
			}
		}()
		write(t, e, batchOf(1))
		wait = true
		written := make(chan ident.ID)
		for _, workspace := range []ident.ID{"wks_many", "wks_many", "wks_many", "wks_many", "wks_one"} {
			go func() {
				b := batchOf(1)
				b.Workspace, b.MaxWait = workspace, time.Hour
				if err := e.Write(t.Context(), b); err != nil {
					t.Errorf("write of %s: %v", workspace, err)
				}
				written <- workspace
			}()
			synctest.Wait()
		}
		if got := clicks(t, e); got != 10 {
			t.Errorf("during a write: got %d clicks want 10", got)
		}
		late := batchOf(1)
		late.MaxWait = time.Second
		if err := e.Write(t.Context(), late); !fault.Is(err, fault.Unavailable) {
			t.Errorf("a write that waits too long: got %v want unavailable", err)
		}
		var order []ident.ID
		for range 5 {
			next <- struct{}{}
			order = append(order, <-written)
		}
		if want := []ident.ID{"wks_many", "wks_one", "wks_many", "wks_many", "wks_many"}; !slices.Equal(order, want) {
			t.Errorf("got %v want %v", order, want)
		}
	})
}

// watch is a log handler that records which months are summed, and blocks until
// the test continues.
type watch struct {
	slog.Handler
	events chan string
	next   chan struct{}
}

func (*watch) Enabled(context.Context, slog.Level) bool { return true }

func (w *watch) Handle(_ context.Context, r slog.Record) error {
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "what" && a.Value.String() == "sums" && r.Message == "duckdb maintenance started" {
			w.events <- "month"
			<-w.next
		}
		return true
	})
	return nil
}

// TestMonthsTakeTurns wants a write to come before the next of many months that
// are summed up.
func TestMonthsTakeTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		writing := false
		w := &watch{slog.DiscardHandler, make(chan string, 100), make(chan struct{})}
		e, err := duckdb.Open(t.Context(), t.TempDir(), duckdb.Options{Threads: 2, MemoryMB: 512, Log: slog.New(w), Now: func() time.Time {
			if writing {
				// A write looks at the clock when its turn has come.
				w.events <- "write"
			}
			return start
		}})
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := e.Close(); err != nil {
				t.Errorf("close: %v", err)
			}
		}()
		e.SumFrom(1)
		many := []ident.ID{"wks_1", "wks_2", "wks_3"}
		for _, workspace := range many {
			b := batchOf(1)
			b.Workspace = workspace
			write(t, e, b)
		}
		go func() {
			if err := e.Maintain(t.Context()); err != nil {
				t.Errorf("maintain: %v", err)
			}
			w.events <- "maintained"
		}()
		synctest.Wait()
		writing = true
		go func() {
			b := batchOf(1)
			b.Workspace, b.MaxWait = "wks_one", time.Hour
			if err := e.Write(t.Context(), b); err != nil {
				t.Errorf("write: %v", err)
			}
		}()
		synctest.Wait()
		var order []string
		for range many {
			w.next <- struct{}{}
			synctest.Wait()
		}
		for range len(many) + 2 {
			order = append(order, <-w.events)
		}
		if want := []string{"month", "write", "month", "month", "maintained"}; !slices.Equal(order, want) {
			t.Errorf("got %v want %v", order, want)
		}
		for _, workspace := range many {
			if n, err := e.SummedMonths(t.Context(), workspace); err != nil || n == 0 {
				t.Errorf("%s: got %d months summed up, %v want some", workspace, n, err)
			}
		}
	})
}

// TestNoFacts checks that a workspace without facts is read from the file once.
func TestNoFacts(t *testing.T) {
	t.Parallel()
	e := openFiles(t, t.TempDir())
	if groups, err := e.Query(t.Context(), plannedStatement("wks_1")); err != nil || groups != nil {
		t.Errorf("got %v, %v want nothing", groups, err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.State(gone, "wks_1"); err != nil {
		t.Errorf("again: got %v want an answer without the file", err)
	}
	write(t, e, batchOf(1))
	if got := clicks(t, e); got != 10 {
		t.Errorf("after a write: got %d clicks want 10", got)
	}
}
