package transport

import (
	"context"
	"sync"
	"time"

	"fanfare/internal/connection"
)

// Budget decides when the calls of accounts may be sent.
type Budget interface {
	// Take takes the next call of an account and returns how long to wait before
	// it. If the account is held, it takes none and returns a *connection.Error.
	Take(ctx context.Context, account string, t Turn) (wait time.Duration, err error)
	// Hold holds the calls of an account. It never shortens a hold.
	Hold(ctx context.Context, account string, h connection.Holds)
}

// Turn is what a call asks a Budget for.
type Turn struct {
	// Interval is the time between two calls, 0 for any number of calls.
	Interval time.Duration
	// Burst is how far ahead of time calls may be taken without waiting. If it is
	// set, a call that would have to wait long is not taken.
	Burst time.Duration
	// HoldsAge is how old a node's knowledge of holds may be if there is no
	// interval, 0 for a second.
	HoldsAge time.Duration
	// PausedUntil is how long the client itself pauses.
	PausedUntil time.Time
	// Waived says that a person waits: only what the platform has named counts.
	Waived bool
}

// heldBack returns the error of a call that is held now, nil if it is not.
func (t Turn) heldBack(h connection.Holds, now time.Time) error {
	until := h.NotBefore
	for _, own := range []time.Time{t.PausedUntil, h.HeldUntil} {
		if own.After(until) && !t.Waived {
			until = own
		}
	}
	if until.Sub(now) <= 0 {
		return nil
	}
	return &connection.Error{Class: connection.Throttled, Code: "held_back", Message: "The platform asked to be left alone for a while.", Until: until}
}

// tooFar returns the error of a call for which the quota has no room soon.
func (t Turn) tooFar(at, now time.Time) error {
	if t.Burst == 0 || at.Sub(now)-t.Burst <= MaxThrottleWait {
		return nil
	}
	return &connection.Error{
		Class: connection.Throttled, Code: "daily_calls", Until: at.Add(-t.Burst), WholeApp: true,
		Message: "The calls that the operator allows to this platform for the day are used. Syncing goes on by itself as they become free.",
	}
}

// memoryBudget is the budget of the only process that calls the accounts.
type memoryBudget struct {
	now      func() time.Time
	mu       sync.Mutex
	accounts map[string]*callTimes
}

// callTimes has the times from which an account may be called: by the rate
// limit, and by its holds.
type callTimes struct {
	next  time.Time
	holds connection.Holds
}

func newMemoryBudget(now func() time.Time) *memoryBudget {
	return &memoryBudget{now: now, accounts: map[string]*callTimes{}}
}

func (b *memoryBudget) timesOf(account string) *callTimes {
	t := b.accounts[account]
	if t == nil {
		t = &callTimes{}
		b.accounts[account] = t
	}
	return t
}

// Take implements Budget.
func (b *memoryBudget) Take(_ context.Context, account string, t Turn) (time.Duration, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now, times := b.now(), b.timesOf(account)
	if err := t.heldBack(times.holds, now); err != nil || t.Interval == 0 {
		return 0, err
	}
	at := times.next
	if at.Before(now) {
		at = now
	}
	if err := t.tooFar(at, now); err != nil {
		return 0, err
	}
	times.next = at.Add(t.Interval)
	return at.Sub(now) - t.Burst, nil
}

// Hold implements Budget.
func (b *memoryBudget) Hold(_ context.Context, account string, h connection.Holds) {
	b.mu.Lock()
	defer b.mu.Unlock()
	times := b.timesOf(account)
	times.holds = times.holds.Later(h)
}
