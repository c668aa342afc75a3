package transport_test

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"fanfare/internal/adplatform/transport"
	"fanfare/internal/connection"
	"fanfare/internal/store"
	"fanfare/internal/store/pgtest"
	"fanfare/internal/store/postgres"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// countedStore counts the statements of a node. If broken is set, each fails.
type countedStore struct {
	transport.BudgetStore
	statements atomic.Int64
	broken     atomic.Bool
}

var errBroken = errors.New("no database")

func (s *countedStore) count() error {
	s.statements.Add(1)
	if s.broken.Load() {
		return errBroken
	}
	return nil
}

func (s *countedStore) Reserve(ctx context.Context, account string, now time.Time, span time.Duration) (time.Time, connection.Holds, error) {
	if err := s.count(); err != nil {
		return time.Time{}, connection.Holds{}, err
	}
	return s.BudgetStore.Reserve(ctx, account, now, span)
}

func (s *countedStore) Holds(ctx context.Context, account string) (connection.Holds, error) {
	if err := s.count(); err != nil {
		return connection.Holds{}, err
	}
	return s.BudgetStore.Holds(ctx, account)
}

func (s *countedStore) Hold(ctx context.Context, account string, h connection.Holds) error {
	if err := s.count(); err != nil {
		return err
	}
	return s.BudgetStore.Hold(ctx, account, h)
}

// openStores returns the budgets of nodes with one PostgreSQL. Each has one
// connection, which is open before a test begins to simulate time.
func openStores(t *testing.T, nodes int) (list []*countedStore) {
	t.Helper()
	url := pgtest.URL(t)
	for range nodes {
		e, err := postgres.Open(t.Context(), url, postgres.Options{MaxConns: 1})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = e.Close() })
		if _, err := store.Migrate(t.Context(), e, time.Now); err != nil {
			t.Fatal(err)
		}
		list = append(list, &countedStore{BudgetStore: store.New(e, 0, time.Now, rand.Reader).CallBudgets()})
	}
	return list
}

// sharedPlatform answers the calls of all nodes and notes their times.
type sharedPlatform struct {
	mu    sync.Mutex
	calls map[string][]time.Time // by node
	// takes is how long an answer takes, throttle whether it is 429.
	takes    time.Duration
	throttle atomic.Bool
}

// callerOf is the Doer of one node.
type callerOf struct {
	*sharedPlatform
	node string
}

func (c callerOf) Do(req *http.Request) (*http.Response, error) {
	c.mu.Lock()
	c.calls[c.node] = append(c.calls[c.node], time.Now())
	c.mu.Unlock()
	if err := transport.Sleep(req.Context(), c.takes); err != nil {
		return nil, err
	}
	status := http.StatusOK
	if c.throttle.Load() {
		status = http.StatusTooManyRequests
	}
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(`{}`))}, nil
}

// throttleTime is the time that a throttling platform names.
const throttleTime = 10 * time.Minute

func readStatus(status int, _ http.Header, _ []byte, now time.Time) *connection.Error {
	if status == http.StatusOK {
		return nil
	}
	return &connection.Error{Class: connection.Throttled, Until: now.Add(throttleTime)}
}

// node returns the transport of a node. A nil store is a process of its own.
func (p *sharedPlatform) node(name string, s transport.BudgetStore, perSecond float64) *transport.Transport {
	return transport.New(transport.Options{Base: base, Do: callerOf{p, name}, Name: "platform", Budgets: s, PerSecond: perSecond, ReadError: readStatus, Now: time.Now})
}

// mostWithin returns the largest number of calls in any window of a length.
func mostWithin(calls []time.Time, length time.Duration) (most int) {
	for i := range calls {
		n := i
		for n < len(calls) && calls[n].Sub(calls[i]) < length {
			n++
		}
		most = max(most, n-i)
	}
	return most
}

// all returns the times of all nodes in order.
func (p *sharedPlatform) all() (list []time.Time) {
	for _, calls := range p.calls {
		list = append(list, calls...)
	}
	slices.SortFunc(list, time.Time.Compare)
	return list
}

// TestNodesShareBudget has three nodes with much work for one account: together
// they stay within the rate limit in every second and use most of it, each has
// its share, and none sends many statements.
func TestNodesShareBudget(t *testing.T) {
	t.Parallel()
	const perSecond, runs = 10, 20 * time.Second
	for _, test := range []struct {
		name           string
		nodes, workers int
		takes          time.Duration
		// least is the least number of calls of all nodes.
		least int
	}{
		// Four fifths of the rate are 8 calls a second.
		{"one", 1, 4, 50 * time.Millisecond, 150},
		{"three", 3, 4, 50 * time.Millisecond, 150},
		{"three with slow answers", 3, 8, 900 * time.Millisecond, 130},
		{"three with one call at a time", 3, 1, 200 * time.Millisecond, 80},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			stores := openStores(t, test.nodes)
			synctest.Test(t, func(t *testing.T) {
				p := &sharedPlatform{calls: map[string][]time.Time{}, takes: test.takes}
				ctx, cancel := context.WithTimeout(t.Context(), runs)
				defer cancel()
				var group sync.WaitGroup
				for i, s := range stores {
					tr := p.node(string(rune('a'+i)), s, perSecond)
					for range test.workers {
						group.Go(func() {
							for ctx.Err() == nil {
								if _, err := tr.Do(ctx, getCall("/x"), nil); err != nil && ctx.Err() == nil {
									t.Error(err)
									return
								}
							}
						})
					}
				}
				group.Wait()
				all := p.all()
				if most := mostWithin(all, time.Second); most > perSecond {
					t.Errorf("got %d calls in a second want %d at most", most, perSecond)
				}
				if len(all) < test.least {
					t.Errorf("got %d calls want %d at least", len(all), test.least)
				}
				for i, s := range stores {
					n := len(p.calls[string(rune('a'+i))])
					if share := len(all) / test.nodes; n < share/2 {
						t.Errorf("node %d: got %d of %d calls want a share", i, n, len(all))
					}
					if got, most := s.statements.Load(), int64(runs/time.Second)+5; got > most {
						t.Errorf("node %d: got %d statements want %d at most", i, got, most)
					}
					t.Logf("node %d: %d of %d calls, %d statements", i, n, len(all), s.statements.Load())
				}
			})
		})
	}
}

// TestRareCalls checks that an account which two nodes call now and then makes
// neither wait longer than one process would.
func TestRareCalls(t *testing.T) {
	t.Parallel()
	stores := openStores(t, 2)
	synctest.Test(t, func(t *testing.T) {
		p := &sharedPlatform{calls: map[string][]time.Time{}}
		nodes := []*transport.Transport{p.node("a", stores[0], 10), p.node("b", stores[1], 10)}
		for range 3 {
			for _, tr := range nodes {
				start := time.Now()
				if _, err := tr.Do(t.Context(), getCall("/x"), nil); err != nil {
					t.Fatal(err)
				}
				if waited := time.Since(start); waited > 130*time.Millisecond {
					t.Errorf("a call waited for %s", waited)
				}
			}
			time.Sleep(3 * time.Second)
		}
		if most := mostWithin(p.all(), 124*time.Millisecond); most != 1 {
			t.Errorf("got %d calls at once want 1", most)
		}
	})
}

// TestNodesShareHolds checks that what a platform says to one node holds calls of
// the others, within a second, and never a call that stops spend.
func TestNodesShareHolds(t *testing.T) {
	t.Parallel()
	for _, perSecond := range []float64{0, 10} {
		stores := openStores(t, 2)
		synctest.Test(t, func(t *testing.T) {
			p := &sharedPlatform{calls: map[string][]time.Time{}}
			first, second := p.node("a", stores[0], perSecond), p.node("b", stores[1], perSecond)
			call := func(ctx context.Context, tr *transport.Transport, set func(*transport.Call)) connection.Class {
				c := getCall("/x")
				if set != nil {
					set(&c)
				}
				if _, err := tr.Do(ctx, c, nil); err != nil {
					return connection.ClassOf(err)
				}
				return ""
			}
			want := func(what string, got, want connection.Class) {
				t.Helper()
				if got != want {
					t.Errorf("%v calls per second, %s: got %q want %q", perSecond, what, got, want)
				}
			}
			urgent := func(c *transport.Call) { c.Urgent = true }
			other := func(c *transport.Call) { c.Account = "2" }
			want("before", call(t.Context(), second, nil), "")
			p.throttle.Store(true)
			want("throttled", call(t.Context(), first, nil), connection.Throttled)
			p.throttle.Store(false)
			time.Sleep(time.Second)
			want("held by the other node", call(t.Context(), second, nil), connection.Throttled)
			want("waived", call(connection.WaiveHolds(t.Context()), second, nil), connection.Throttled)
			want("urgent", call(t.Context(), second, urgent), "")
			want("another account", call(t.Context(), second, other), "")
			time.Sleep(throttleTime)
			want("when it is ready", call(t.Context(), second, nil), "")
			second.Hold(t.Context(), "1", time.Now().Add(throttleTime))
			time.Sleep(2 * time.Second)
			want("most of the quota is used", call(t.Context(), first, nil), connection.Throttled)
			want("a person waits", call(connection.WaiveHolds(t.Context()), first, nil), "")
			time.Sleep(throttleTime)
			want("at the end", call(t.Context(), first, nil), "")
		})
	}
}

// TestBudgetOutOfReach checks that calls that stop spend, and those without a
// limit, are sent without the database. Paced ones fail as if the platform had.
func TestBudgetOutOfReach(t *testing.T) {
	t.Parallel()
	stores := openStores(t, 1)
	synctest.Test(t, func(t *testing.T) {
		p := &sharedPlatform{calls: map[string][]time.Time{}}
		s := stores[0]
		paced, free := p.node("paced", s, 10), p.node("free", s, 0)
		s.broken.Store(true)
		urgent := getCall("/x")
		urgent.Urgent = true
		for range 20 {
			if _, err := paced.Do(t.Context(), urgent, nil); err != nil {
				t.Errorf("urgent: %v", err)
			}
		}
		if n := s.statements.Load(); n != 0 {
			t.Errorf("urgent calls made %d statements", n)
		}
		if _, err := free.Do(t.Context(), getCall("/x"), nil); err != nil {
			t.Errorf("without a limit: %v", err)
		}
		free.Hold(t.Context(), "1", time.Now().Add(throttleTime))
		if _, err := free.Do(t.Context(), getCall("/x"), nil); connection.ClassOf(err) != connection.Throttled {
			t.Errorf("held by this node: got %v", err)
		}
		_, err := paced.Do(t.Context(), getCall("/x"), nil)
		if e, ok := errors.AsType[*connection.Error](err); !ok || e.Class != connection.Transient || e.Code != "budget_unavailable" || !errors.Is(e, errBroken) {
			t.Errorf("paced: got %v", err)
		}
		if n := len(p.calls["paced"]); n != 20 {
			t.Errorf("got %d calls want the urgent ones only", n)
		}
		s.broken.Store(false)
		if _, err := paced.Do(t.Context(), getCall("/x"), nil); err != nil {
			t.Errorf("when it is back: %v", err)
		}
	})
}

// TestUrgentCallsPassQueue checks that a call that stops spend does not wait for
// calls that wait for their time.
func TestUrgentCallsPassQueue(t *testing.T) {
	t.Parallel()
	stores := openStores(t, 2)
	synctest.Test(t, func(t *testing.T) {
		p := &sharedPlatform{calls: map[string][]time.Time{}, takes: time.Millisecond}
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		nodes := []*transport.Transport{p.node("a", stores[0], 10), p.node("b", stores[1], 10)}
		var group sync.WaitGroup
		for i := range 100 {
			group.Go(func() { _, _ = nodes[i%2].Do(ctx, getCall("/x"), nil) })
		}
		for range 10 {
			time.Sleep(173 * time.Millisecond)
			urgent := getCall("/x")
			urgent.Urgent = true
			start := time.Now()
			if _, err := nodes[0].Do(t.Context(), urgent, nil); err != nil || time.Since(start) > p.takes {
				t.Errorf("got %v after %s want an answer at once", err, time.Since(start))
			}
		}
		group.Wait()
	})
}
