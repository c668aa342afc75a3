package transport_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"fanfare/internal/adplatform/transport"
	"fanfare/internal/connection"
)

// appNode returns the transport of a node whose OAuth client has limits.
func (p *sharedPlatform) appNode(name string, s transport.BudgetStore, perSecond float64, perDay int64) *transport.Transport {
	return transport.New(transport.Options{
		Base: base, Do: callerOf{p, name}, Name: "platform", Budgets: s, AppPerSecond: perSecond, AppPerDay: perDay, ReadError: readStatus, Now: time.Now,
	})
}

// TestCallsOfTheDay has nodes sync as much as they can for two days: in no 24
// hours they send more than 95 of 100 allowed calls, they use most of them, and
// pauses are sent at any time.
func TestCallsOfTheDay(t *testing.T) {
	t.Parallel()
	for name, nodes := range map[string]int{"one process": 0, "three nodes": 3} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const perDay = 1000
			stores := slices.Repeat([]transport.BudgetStore{&timeStore{next: map[string]time.Time{}, holds: map[string]connection.Holds{}}}, nodes)
			if nodes == 0 {
				stores = []transport.BudgetStore{nil}
			}
			synctest.Test(t, func(t *testing.T) {
				p := &sharedPlatform{calls: map[string][]time.Time{}, takes: 10 * time.Millisecond}
				ctx, cancel := context.WithTimeout(t.Context(), 48*time.Hour)
				defer cancel()
				var group sync.WaitGroup
				for i, s := range stores {
					n := p.appNode(string(rune('a'+i)), s, 0, perDay)
					group.Go(func() { syncWhatFits(ctx, t, n) })
				}
				group.Wait()
				most, all := mostWithin(p.all(), 24*time.Hour), len(p.all())
				if most > perDay*95/100 || all < perDay*3/2 {
					t.Errorf("got %d calls within 24 hours and %d in two days, want at most 950 and at least 1500", most, all)
				}
				before := len(p.calls["a"])
				n := p.appNode("a", stores[0], 0, perDay)
				for range 20 {
					if _, err := n.Do(t.Context(), transport.Call{Method: http.MethodPost, Path: "/pause", Account: "1", Urgent: true}, nil); err != nil {
						t.Fatalf("a pause waits for the calls of the day: %v", err)
					}
				}
				if got := len(p.calls["a"]) - before; got != 20 {
					t.Errorf("got %d pauses sent, want 20", got)
				}
			})
		})
	}
}

// timeStore stores the budgets of nodes in memory: connections to a database do
// not live through days of simulated time. TestNodesShareBudget has a database.
type timeStore struct {
	mu    sync.Mutex
	next  map[string]time.Time
	holds map[string]connection.Holds
}

func (s *timeStore) Reserve(_ context.Context, account string, now time.Time, span time.Duration) (time.Time, connection.Holds, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	start := s.next[account]
	if start.Before(now) {
		start = now
	}
	s.next[account] = start.Add(span)
	return start, s.holds[account], nil
}

func (s *timeStore) Holds(_ context.Context, account string) (connection.Holds, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.holds[account], nil
}

func (s *timeStore) Hold(_ context.Context, account string, h connection.Holds) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.holds[account] = s.holds[account].Later(h)
	return nil
}

// syncWhatFits sends calls until ctx ends, and waits when it is told to.
func syncWhatFits(ctx context.Context, t *testing.T, n *transport.Transport) {
	for ctx.Err() == nil {
		_, err := n.Do(ctx, transport.Call{Method: http.MethodGet, Path: "/report", Account: "1"}, nil)
		if connection.ClassOf(err) != connection.Throttled || ctx.Err() != nil {
			continue
		}
		refusal, _ := errors.AsType[*connection.Error](err)
		// Stores have microseconds.
		wait := time.Until(refusal.Until.Add(time.Microsecond))
		if wait <= 0 {
			t.Errorf("got a refusal without a later time: %v", err)
			return
		}
		_ = transport.Sleep(ctx, wait)
	}
}

// TestAppPerSecond has one OAuth client call many accounts: all of them together
// stay within its limit.
func TestAppPerSecond(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := &sharedPlatform{calls: map[string][]time.Time{}}
		n := p.appNode("a", nil, 10, 0)
		var group sync.WaitGroup
		for i := range 50 {
			group.Go(func() {
				_, _ = n.Do(t.Context(), transport.Call{Method: http.MethodGet, Path: "/report", Account: string(rune('A' + i))}, nil)
			})
		}
		group.Wait()
		if most := mostWithin(p.all(), time.Second); most > 10 || len(p.all()) != 50 {
			t.Errorf("got %d calls within a second, want at most 10", most)
		}
	})
}

// TestWholeAppHold has the platform refuse a call because of a quota of the OAuth
// client: calls of other accounts wait too, those of another client do not.
func TestWholeAppHold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := &sharedPlatform{calls: map[string][]time.Time{}}
		n := transport.New(transport.Options{Base: base, Do: callerOf{p, "a"}, Now: time.Now, ReadError: func(status int, _ http.Header, _ []byte, now time.Time) *connection.Error {
			if status == http.StatusOK {
				return nil
			}
			return &connection.Error{Class: connection.Throttled, Until: now.Add(time.Hour), WholeApp: true}
		}})
		call := func(app, account string) error {
			_, err := n.Do(connection.WithApp(t.Context(), app), transport.Call{Method: http.MethodGet, Path: "/report", Account: account}, nil)
			return err
		}
		p.throttle.Store(true)
		if err := call("", "1"); connection.ClassOf(err) != connection.Throttled {
			t.Fatalf("got %v want a refusal", err)
		}
		p.throttle.Store(false)
		if err := call("", "2"); connection.ClassOf(err) != connection.Throttled || len(p.all()) != 1 {
			t.Errorf("another account: got %v after %d calls, want that it waits", err, len(p.all()))
		}
		if err := call("another", "2"); err != nil {
			t.Errorf("another OAuth client: got %v want no wait", err)
		}
		time.Sleep(time.Hour + time.Minute)
		if err := call("", "2"); connection.ClassOf(err) != connection.Throttled {
			t.Errorf("right after the quota has room: got %v want that syncs leave it to pauses for a while", err)
		}
		time.Sleep(5 * time.Minute)
		if err := call("", "2"); err != nil {
			t.Errorf("later: got %v want no wait", err)
		}
	})
}
