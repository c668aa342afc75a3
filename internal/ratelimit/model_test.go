package ratelimit_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"testing"
	"time"

	"fanfare/internal/ident"
	"fanfare/internal/ratelimit"
)

// longDrills enables the long drills.
var longDrills = os.Getenv("FANFARE_DRILL") == "full"

// model is a naive implementation of the rule: it stores every window and every
// day with its count.
type model struct {
	limits  ratelimit.Limits
	windows []modelWindow
	days    map[string]int64
}

type modelWindow struct {
	opened time.Time
	count  int64
}

func newModel(l ratelimit.Limits) *model { return &model{limits: l, days: map[string]int64{}} }

func date(t time.Time) string { return t.UTC().Format(time.DateOnly) }

// open returns the open minute window, or nil.
func (m *model) open(now time.Time) *modelWindow {
	if len(m.windows) == 0 {
		return nil
	}
	w := &m.windows[len(m.windows)-1]
	if w.count == 0 || now.Sub(w.opened) >= time.Minute {
		return nil
	}
	return w
}

// admits returns how many of n requests the rule admits.
func (m *model) admits(now time.Time, n int64) int64 {
	if w := m.open(now); m.limits.PerMinute > 0 {
		left := m.limits.PerMinute
		if w != nil {
			left -= w.count
		}
		n = min(n, left)
	}
	if m.limits.PerDay > 0 {
		n = min(n, m.limits.PerDay-m.days[date(now)])
	}
	return n
}

func (m *model) take(now time.Time, n int64) {
	if n == 0 {
		return
	}
	w := m.open(now)
	if w == nil {
		m.windows = append(m.windows, modelWindow{opened: now})
		w = &m.windows[len(m.windows)-1]
	}
	w.count += n
	m.days[date(now)] += n
}

// refund takes one request back that was admitted at a moment into a window
// that opened at another.
func (m *model) refund(taken, opened, now time.Time) {
	if w := m.open(now); w != nil && w.opened.Equal(opened) {
		w.count--
	}
	if date(taken) == date(now) {
		m.days[date(now)]--
	}
}

// testWorkspace is a workspace under test.
type testWorkspace struct {
	workspace ident.ID
	limits    ratelimit.Limits
}

// testWorkspaces are the plans, and limits that are small enough to be met
// often.
func testWorkspaces() []testWorkspace {
	list := []testWorkspace{}
	for i, l := range []ratelimit.Limits{
		{PerMinute: 60, PerDay: 10_000},
		{PerMinute: 300, PerDay: 100_000},
		{PerMinute: 1_000},
		{PerMinute: 5, PerDay: 100},
		{PerMinute: 1, PerDay: 3},
		{PerDay: 50},
		{PerMinute: 7},
	} {
		list = append(list, testWorkspace{ident.ID(fmt.Sprintf("wks_%d", i)), l})
	}
	return list
}

// loggedDecision is one line of the log of a drill.
type loggedDecision struct {
	subject  int
	at       time.Time
	decision ratelimit.Decision
}

// burst sends n requests at one moment from many goroutines, each to a
// counter and a workspace of its choice.
func burst(t *testing.T, counters []ratelimit.Counter, list []testWorkspace, now time.Time, n, goroutines int, seed uint64) []loggedDecision {
	t.Helper()
	logs := make([][]loggedDecision, goroutines)
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			random := rand.New(rand.NewPCG(seed, uint64(g)))
			for i := g; i < n; i += goroutines {
				s := random.IntN(len(list))
				d, err := counters[random.IntN(len(counters))].Take(t.Context(), list[s].workspace, list[s].limits, now)
				if err != nil {
					t.Errorf("take: %v", err)
					return
				}
				logs[g] = append(logs[g], loggedDecision{s, now, d})
			}
		})
	}
	wg.Wait()
	var all []loggedDecision
	for _, l := range logs {
		all = append(all, l...)
	}
	return all
}

// edgeClock moves time so that it meets every kind of window edge.
type edgeClock struct {
	random *rand.Rand
	now    time.Time
	// resets are the ends of windows that were seen; waits what callers were
	// told to wait.
	resets []time.Time
	waits  []time.Duration
}

func (s *edgeClock) step() {
	r := s.random
	switch kind := r.IntN(12); {
	case kind == 0:
	case kind <= 3 && len(s.resets) > 0:
		edge := s.resets[r.IntN(len(s.resets))].Add(time.Duration(r.IntN(3)-1) * time.Microsecond)
		if edge.After(s.now) && edge.Sub(s.now) < 25*time.Hour {
			s.now = edge
		}
	case kind == 4 && len(s.waits) > 0:
		// Retry-After is in whole seconds, rounded up.
		wait := s.waits[r.IntN(len(s.waits))]
		s.now = s.now.Add((wait + time.Second - 1).Truncate(time.Second))
	case kind == 5 && r.IntN(10) == 0:
		s.now = s.now.Truncate(24 * time.Hour).Add(24*time.Hour + time.Duration(r.IntN(3)-1)*time.Microsecond)
	case kind == 6:
		s.now = s.now.Add(time.Minute - time.Microsecond)
	case kind == 7:
		s.now = s.now.Add(time.Minute)
	default:
		s.now = s.now.Add(time.Duration(r.Int64N(int64(20 * time.Second))).Truncate(time.Microsecond))
	}
	s.resets, s.waits = s.resets[:0], s.waits[:0]
}

// burstDrill is a drill whose clock stands still while requests are under way:
// after each volley what was admitted must be exactly what the model allows.
// Some of it is refunded later, in its window or after.
func burstDrill(t *testing.T, counters []ratelimit.Counter, rounds, each, goroutines int, seed uint64) (takes, admitted int) {
	t.Helper()
	list := testWorkspaces()
	models := make([]*model, len(list))
	for i, s := range list {
		models[i] = newModel(s.limits)
	}
	clock := &edgeClock{random: rand.New(rand.NewPCG(seed, 1)), now: noon}
	var refundable []loggedDecision
	for round := range rounds {
		clock.step()
		now := clock.now
		for _, o := range refundable {
			if err := counters[round%len(counters)].Refund(t.Context(), list[o.subject].workspace, o.decision.Ticket, now); err != nil {
				t.Fatal(err)
			}
			models[o.subject].refund(o.at, o.decision.Ticket.Opened, now)
		}
		refundable = refundable[:0]
		log := burst(t, counters, list, now, each, goroutines, seed+uint64(round))
		sent, got := make([]int64, len(list)), make([]int64, len(list))
		for _, o := range log {
			sent[o.subject]++
			if o.decision.OK {
				got[o.subject]++
				if clock.random.IntN(50) == 0 {
					refundable = append(refundable, o)
				}
			}
		}
		for i, m := range models {
			want := m.admits(now, sent[i])
			if got[i] != want {
				t.Fatalf("seed %d round %d: got %d of %d admitted for %+v at %v, want %d", seed, round, got[i], sent[i], list[i].limits, now, want)
			}
			m.take(now, got[i])
		}
		for _, o := range log {
			checkDecision(t, models[o.subject], o)
			if !o.decision.OK {
				clock.waits = append(clock.waits, o.decision.Wait)
			}
			if tight := o.decision.Tightest(); tight.Limit > 0 {
				clock.resets = append(clock.resets, tight.Reset)
			}
		}
		takes += len(log)
		for _, n := range got {
			admitted += int(n)
		}
	}
	return takes, admitted
}

// checkDecision holds what a caller is told against the model after the whole
// volley: the windows are the model's, a refusal names a policy that is used
// up, and after the wait the next request is admitted.
func checkDecision(t *testing.T, m *model, o loggedDecision) {
	d := o.decision
	if w := m.open(o.at); m.limits.PerMinute > 0 && w != nil && !d.Minute.Reset.Equal(w.opened.Add(time.Minute)) {
		t.Fatalf("got minute reset %v, want %v", d.Minute.Reset, w.opened.Add(time.Minute))
	}
	midnight := o.at.UTC().Truncate(24 * time.Hour).Add(24 * time.Hour)
	if m.limits.PerDay > 0 && !d.Day.Reset.Equal(midnight) {
		t.Fatalf("got day reset %v, want %v", d.Day.Reset, midnight)
	}
	if d.OK {
		return
	}
	if d.Wait <= 0 || d.Minute.Limit > 0 && d.Policy == "minute" && d.Minute.Remaining != 0 || d.Policy == "day" && d.Day.Remaining != 0 {
		t.Fatalf("got a refusal %+v, want a policy that is used up and a wait", d)
	}
	if left := m.admits(o.at.Add(d.Wait), 1); left != 1 {
		// The minute is over but the day may be used up by then, or the
		// other way round; then the day is what was named.
		t.Fatalf("got a wait of %v for %+v after which nothing is admitted", d.Wait, d)
	}
}
