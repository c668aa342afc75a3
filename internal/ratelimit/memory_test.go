package ratelimit_test

import (
	"context"
	"errors"
	"maps"
	"testing"
	"time"

	"fanfare/internal/ident"
	"fanfare/internal/ratelimit"
)

// fakeUsageStore stores counters in memory.
type fakeUsageStore struct {
	stored map[ident.ID]ratelimit.Usage
	saves  []int // how many counters each save wrote
	fault  error
}

func (k *fakeUsageStore) LoadUsage(context.Context) (map[ident.ID]ratelimit.Usage, error) {
	return maps.Clone(k.stored), k.fault
}

func (k *fakeUsageStore) SaveUsage(_ context.Context, changed map[ident.ID]ratelimit.Usage) error {
	if k.fault != nil {
		return k.fault
	}
	k.saves = append(k.saves, len(changed))
	maps.Copy(k.stored, changed)
	return nil
}

func take(t *testing.T, c ratelimit.Counter, workspace ident.ID, l ratelimit.Limits, now time.Time) ratelimit.Decision {
	t.Helper()
	d, err := c.Take(t.Context(), workspace, l, now)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestMemoryRestart is R1 over a restart: saved counters continue, and only
// changed counters are written.
func TestMemoryRestart(t *testing.T) {
	t.Parallel()
	ctx, k := t.Context(), &fakeUsageStore{stored: map[ident.ID]ratelimit.Usage{}}
	limits := ratelimit.Limits{PerMinute: 3, PerDay: 5}
	m := ratelimit.NewMemory()
	take(t, m, "wks_a", limits, at(0))
	take(t, m, "wks_b", limits, at(0))
	save := func(m *ratelimit.Memory, want ...int) {
		t.Helper()
		k.saves = nil
		if err := m.Save(ctx, k); err != nil {
			t.Fatal(err)
		}
		if len(k.saves) != len(want) || len(want) > 0 && k.saves[0] != want[0] {
			t.Errorf("got saves of %v counters, want %v", k.saves, want)
		}
	}
	save(m, 2)
	save(m)
	d := take(t, m, "wks_a", limits, at(1))
	save(m, 1)
	if err := m.Refund(ctx, "wks_a", d.Ticket, at(2)); err != nil {
		t.Fatal(err)
	}
	save(m, 1)
	if d := take(t, m, "wks_c", ratelimit.Limits{PerMinute: 1}, at(1)); !d.OK {
		t.Errorf("got %+v, want admitted", d)
	}
	take(t, m, "wks_a", limits, at(3))

	next := ratelimit.NewMemory()
	if err := next.Load(ctx, k); err != nil {
		t.Fatal(err)
	}
	if d := take(t, next, "wks_a", limits, at(4)); d.Minute.Remaining != 1 || d.Day.Remaining != 3 {
		t.Errorf("got %+v after a restart, want what was saved and no more", d)
	}
	if d, _ := next.Peek(ctx, "wks_b", limits, at(4)); d.Minute.Remaining != 2 {
		t.Errorf("got %+v for the other workspace, want 2 left", d)
	}
}

// TestMemorySaveFails checks that counters are written again after a failed
// save.
func TestMemorySaveFails(t *testing.T) {
	t.Parallel()
	ctx, broken := t.Context(), errors.New("disk full")
	k := &fakeUsageStore{stored: map[ident.ID]ratelimit.Usage{}, fault: broken}
	m := ratelimit.NewMemory()
	if err := m.Load(ctx, k); !errors.Is(err, broken) {
		t.Errorf("got %v from Load, want the cause", err)
	}
	take(t, m, "wks_a", ratelimit.Limits{PerMinute: 3}, at(0))
	if err := m.Save(ctx, k); !errors.Is(err, broken) {
		t.Errorf("got %v from Save, want the cause", err)
	}
	k.fault = nil
	if err := m.Save(ctx, k); err != nil {
		t.Fatal(err)
	}
	if got := k.stored["wks_a"].Minute; got != 1 {
		t.Errorf("got %d stored, want 1", got)
	}
}
