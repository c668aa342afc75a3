package transport

import (
	"context"
	"sync"
	"time"

	"fanfare/internal/connection"
)

// pace keeps a client from asking faster than the platform wants: by its known
// limit, until the moment that the platform has named, and not at all for a
// while when it only fails.
type pace struct {
	every time.Duration

	mu       sync.Mutex
	accounts map[string]*turn
	failed   int
	openAt   time.Time
}

// turn is when an account may be asked next: by the pace, not before the moment
// that the platform has named, and not before the one until which we hold back
// by ourselves.
type turn struct{ next, notBefore, held time.Time }

const (
	// broken is after how many failures in a row a platform is left alone,
	// rest for how long.
	broken = 10
	rest   = time.Minute
)

func newPace(perSecond float64) *pace {
	p := &pace{accounts: map[string]*turn{}}
	if perSecond > 0 {
		p.every = time.Duration(float64(time.Second) / perSecond)
	}
	return p
}

func (p *pace) turn(account string) *turn {
	t := p.accounts[account]
	if t == nil {
		t = &turn{}
		p.accounts[account] = t
	}
	return t
}

// take waits for a call's turn.
//
// Choice: urgent calls wait for nothing: stopping spend goes first. The pace
// leaves a fifth of every second free for them. A moment that the platform has
// named to another call may be about another resource, or about a whole day; who
// makes urgent calls obeys the moment that they are told themselves.
func (p *pace) take(ctx context.Context, t *Transport, c *Call) error {
	p.mu.Lock()
	now := t.o.Now()
	turn := p.turn(c.Account)
	until := turn.notBefore
	for _, own := range []time.Time{p.openAt, turn.held} {
		if own.After(until) && !connection.HoldsWaived(ctx) {
			until = own
		}
	}
	if until.Sub(now) > 0 && !c.Urgent {
		p.mu.Unlock()
		return &connection.Error{Class: connection.Throttled, Code: "held_back", Message: "The platform asked to be left alone for a while.", Until: until}
	}
	var wait time.Duration
	if p.every > 0 && !c.Urgent {
		at := turn.next
		if at.Before(now) {
			at = now
		}
		turn.next = at.Add(p.every + p.every/4)
		wait = at.Sub(now)
	}
	p.mu.Unlock()
	if wait <= 0 {
		return nil
	}
	return t.o.Sleep(ctx, wait)
}

// note learns from an answer.
func (p *pace) note(account string, e *connection.Error, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case e == nil:
		p.failed = 0
	case e.Class == connection.Throttled && !e.Until.IsZero():
		if turn := p.turn(account); turn.notBefore.Before(e.Until) {
			turn.notBefore = e.Until
		}
	case e.Class == connection.Transient:
		if p.failed++; p.failed >= broken {
			p.failed, p.openAt = 0, now.Add(rest)
		}
	}
}

// Hold keeps all but urgent calls from an account until a moment, because it
// has used much of what the platform allows.
func (t *Transport) Hold(account string, until time.Time) {
	t.pace.mu.Lock()
	defer t.pace.mu.Unlock()
	if turn := t.pace.turn(account); turn.held.Before(until) {
		turn.held = until
	}
}
