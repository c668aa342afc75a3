package storetest

import (
	"slices"
	"sync"
	"testing"
	"time"

	"fanfare/internal/connection"
)

// recordsCallBudgets checks that reserved times of an account follow each other,
// and that holds only become longer.
func recordsCallBudgets(t *testing.T, w *Fixture) {
	b, now := w.DB.CallBudgets(), w.Clock.Now()
	reserve := func(account string, at time.Time, span time.Duration) (time.Time, connection.Holds) {
		t.Helper()
		start, h, err := b.Reserve(t.Context(), account, at, span)
		w.must(err)
		return start, h
	}
	want := func(what string, got time.Time, want time.Duration) {
		t.Helper()
		if !got.Equal(now.Add(want)) {
			t.Errorf("%s: got %s want %s", what, got.Sub(now), want)
		}
	}
	var mu sync.Mutex
	var starts []time.Time
	together(16, func(int) {
		start, _ := reserve("1", now, 125*time.Millisecond)
		mu.Lock()
		defer mu.Unlock()
		starts = append(starts, start)
	})
	slices.SortFunc(starts, time.Time.Compare)
	for i, start := range starts {
		want("one of 16", start, time.Duration(i)*125*time.Millisecond)
	}
	other, none := reserve("2", now, time.Second)
	want("another account", other, 0)
	if none != (connection.Holds{}) {
		t.Errorf("got %v want no holds", none)
	}
	past, _ := reserve("1", now.Add(5*time.Second), 333_333_333)
	want("after the last one", past, 5*time.Second)
	next, _ := reserve("1", now, time.Second)
	want("of a slower clock", next, 5*time.Second+333_334*time.Microsecond)
	far, _ := reserve("1", now.Add(-time.Minute), time.Second)
	want("of a much slower clock", far, -time.Minute)

	until := now.Add(time.Hour)
	w.must(b.Hold(t.Context(), "3", connection.Holds{NotBefore: until}))
	w.must(b.Hold(t.Context(), "3", connection.Holds{NotBefore: now, HeldUntil: until.Add(time.Minute)}))
	start, held := reserve("3", now, time.Second)
	want("of an account that was only held", start, 0)
	read, err := b.Holds(t.Context(), "3")
	w.must(err)
	for _, h := range []connection.Holds{held, read} {
		if !h.NotBefore.Equal(until) || !h.HeldUntil.Equal(until.Add(time.Minute)) {
			t.Errorf("got %v want the longest holds", h)
		}
	}
	if h, err := b.Holds(t.Context(), "4"); err != nil || h != (connection.Holds{}) {
		t.Errorf("got %v, %v want no holds", h, err)
	}
	w.Clock.Advance(24*time.Hour + 30*time.Minute)
	_, err = w.DB.Prune(t.Context())
	w.must(err)
	w.Count(1, `SELECT count(*) FROM call_budget`)
}
