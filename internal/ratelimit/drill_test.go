package ratelimit_test

import (
	"crypto/rand"
	mathrand "math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"fanfare/internal/ratelimit"
	"fanfare/internal/store"
	"fanfare/internal/store/pgtest"
	"fanfare/internal/store/postgres"
	"fanfare/internal/store/sqlitetest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// TestDrillExact is R1 on one node: of a million concurrent requests across
// window edges not one more and not one fewer is admitted than the rule allows.
// Half of them come in bursts against the model, half while the clock runs.
func TestDrillExact(t *testing.T) {
	t.Parallel()
	const seed, rounds, each = 20261115, 2_500, 200
	takes, admitted := burstDrill(t, []ratelimit.Counter{ratelimit.NewMemory()}, rounds, each, 16, seed)
	more, admittedMore := raceDrill(t, ratelimit.NewMemory(), 500_000, seed)
	t.Logf("rate_limit_exactness %d requests, %d admitted, 0 too many, 0 too few", takes+more, admitted+admittedMore)
}

// raceDrill sends requests while the clock runs under them. The order in which
// they were counted is not known, but each decision names its windows and
// what remains in them. The remaining counts must be all numbers below the
// limit, each exactly once, and every rejection must name a full window.
func raceDrill(t *testing.T, counter ratelimit.Counter, n int, seed uint64) (takes, admitted int) {
	t.Helper()
	list := testWorkspaces()
	const goroutines = 16
	clock := &movingClock{now: noon.Add(11*time.Hour + 30*time.Minute)} // midnight comes halfway
	clock.lastRead = make([]time.Time, goroutines)
	var sent atomic.Int64
	logs := make([][]loggedDecision, goroutines)
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			random := mathrand.New(mathrand.NewPCG(seed, uint64(g)))
			for sent.Add(1) <= int64(n) {
				s := random.IntN(len(list))
				// The time is read before the request is counted, as in a
				// server, so that requests overtake each other.
				now := clock.read(g)
				if random.IntN(64) == 0 {
					clock.advance(time.Duration(random.Int64N(int64(time.Second))))
				}
				d, err := counter.Take(t.Context(), list[s].workspace, list[s].limits, now)
				if err != nil {
					t.Error(err)
					return
				}
				logs[g] = append(logs[g], loggedDecision{s, now, d})
			}
		})
	}
	wg.Wait()
	type window struct {
		subject int
		day     bool
		reset   int64
	}
	type tally struct {
		left    map[int64]int
		refused bool
	}
	windows := map[window]*tally{}
	in := func(o loggedDecision, day bool) *tally {
		w := o.decision.Minute
		if day {
			w = o.decision.Day
		}
		if w.Limit == 0 {
			return &tally{left: map[int64]int{}}
		}
		key := window{o.subject, day, w.Reset.UnixNano()}
		if windows[key] == nil {
			windows[key] = &tally{left: map[int64]int{}}
		}
		return windows[key]
	}
	for _, log := range logs {
		for _, o := range log {
			takes++
			minute, day := in(o, false), in(o, true)
			if o.decision.OK {
				admitted++
				minute.left[o.decision.Minute.Remaining]++
				day.left[o.decision.Day.Remaining]++
				continue
			}
			minute.refused = minute.refused || o.decision.Policy == "minute"
			day.refused = day.refused || o.decision.Policy == "day"
		}
	}
	for key, w := range windows {
		limit := list[key.subject].limits.PerMinute
		if key.day {
			limit = list[key.subject].limits.PerDay
		}
		for i := range int64(len(w.left)) {
			if w.left[limit-1-i] != 1 {
				t.Fatalf("seed %d: got %d requests that leave %d in window %+v, want 1", seed, w.left[limit-1-i], limit-1-i, key)
			}
		}
		if w.refused && int64(len(w.left)) != limit {
			t.Fatalf("seed %d: got a refusal in window %+v with %d of %d used", seed, key, len(w.left), limit)
		}
	}
	return takes, admitted
}

// movingClock is a clock that moves while requests are under way, but never so
// far that one of them would seem to come from another age.
type movingClock struct {
	mu       sync.Mutex
	now      time.Time
	lastRead []time.Time // by goroutine
}

func (c *movingClock) read(g int) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lastRead[g] = c.now
	return c.now
}

func (c *movingClock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, held := range c.lastRead {
		if !held.IsZero() && c.now.Sub(held) > 5*time.Minute {
			return
		}
	}
	c.now = c.now.Add(d)
}

// nodes opens three stores on one database. They share one engine if only one
// process may open the database.
func nodes(t *testing.T, name string) []ratelimit.Counter {
	t.Helper()
	now := func() time.Time { return noon }
	url, e := "", store.Engine(nil)
	if name == "postgres" {
		url = pgtest.URL(t)
	} else {
		e = sqlitetest.Open(t)
	}
	var list []ratelimit.Counter
	for range 3 {
		if url != "" {
			var err error
			if e, err = postgres.Open(t.Context(), url, postgres.Options{MaxConns: 6}); err != nil {
				t.Fatal(err)
			}
		}
		t.Cleanup(func() { _ = e.Close() })
		db := store.New(e, 0, now, rand.Reader)
		if _, err := store.Migrate(t.Context(), e, now); err != nil {
			t.Fatal(err)
		}
		list = append(list, db.Quotas())
	}
	return list
}

// TestDrillExactStored is R2 across nodes: the same bursts through the
// counter in the store, from three nodes on one database.
func TestDrillExactStored(t *testing.T) {
	rounds, each := 30, 60
	if longDrills {
		rounds, each = 1_000, 100
	}
	for _, name := range []string{"sqlite", "postgres"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			takes, admitted := burstDrill(t, nodes(t, name), rounds, each, 12, 7)
			t.Logf("rate_limit_exactness_stored %s %d requests on 3 nodes, %d admitted, 0 too many, 0 too few", name, takes, admitted)
		})
	}
}
