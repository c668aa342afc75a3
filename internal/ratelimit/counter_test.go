package ratelimit_test

import (
	"errors"
	"testing"

	"fanfare/internal/ident"
	"fanfare/internal/ratelimit"
)

// fakeShared is a counter that nodes share.
type fakeShared struct {
	*ratelimit.Memory
	*fakeUsageStore
}

// TestOpenCounter checks where a node counts: alone in memory, which continues
// the stored counts and is saved, and else in the shared counter.
func TestOpenCounter(t *testing.T) {
	t.Parallel()
	limits := ratelimit.Limits{PerMinute: 3, PerDay: 5}
	open := func(s fakeShared, alone bool) *ratelimit.NodeCounter {
		t.Helper()
		c, err := ratelimit.OpenCounter(t.Context(), s, alone)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	used := func(c ratelimit.Counter) int64 {
		t.Helper()
		d, err := c.Peek(t.Context(), "wks_a", limits, at(0))
		if err != nil {
			t.Fatal(err)
		}
		return limits.PerDay - d.Day.Remaining
	}
	for _, alone := range []bool{true, false} {
		s := fakeShared{ratelimit.NewMemory(), &fakeUsageStore{stored: map[ident.ID]ratelimit.Usage{}}}
		c := open(s, alone)
		take(t, c, "wks_a", limits, at(0))
		if err := c.Save(t.Context()); err != nil {
			t.Fatal(err)
		}
		shared, saves := used(s.Memory), len(s.saves)
		if alone && (shared != 0 || saves != 1) || !alone && (shared != 1 || saves != 0) {
			t.Errorf("alone %v: got %d shared counts and %d saves", alone, shared, saves)
		}
		if next := used(open(s, alone)); next != 1 {
			t.Errorf("alone %v: after a restart got %d counts want 1", alone, next)
		}
	}
	failure := errors.New("database unavailable")
	if _, err := ratelimit.OpenCounter(t.Context(), fakeShared{ratelimit.NewMemory(), &fakeUsageStore{fault: failure}}, true); !errors.Is(err, failure) {
		t.Errorf("got %v want %v", err, failure)
	}
}
