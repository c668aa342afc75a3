package transport

import (
	"context"
	"sync"
	"time"

	"fanfare/internal/connection"
)

// pacer limits the calls of a client: by the known rate limit, until the time
// that the platform has named, and for a while after repeated failures.
type pacer struct {
	interval time.Duration

	mu       sync.Mutex
	accounts map[string]*callTimes
	failures int
	resumeAt time.Time
}

// callTimes has the times from which an account may be called: by the rate
// limit, by the time that the platform returned, and by a hold of the client.
type callTimes struct{ next, notBefore, heldUntil time.Time }

const (
	// maxFailures is the number of successive failures after which calls pause
	// for failureWait.
	maxFailures = 10
	failureWait = time.Minute
)

func newPacer(perSecond float64) *pacer {
	p := &pacer{accounts: map[string]*callTimes{}}
	if perSecond > 0 {
		p.interval = time.Duration(float64(time.Second) / perSecond)
	}
	return p
}

func (p *pacer) timesOf(account string) *callTimes {
	t := p.accounts[account]
	if t == nil {
		t = &callTimes{}
		p.accounts[account] = t
	}
	return t
}

// waitForCall waits until a call may be sent.
//
// Choice: urgent calls do not wait, because they stop spend. The rate leaves a
// fifth of every second free for them. The time that the platform has named to
// another call can be for another resource or a whole day; the sender of an
// urgent call respects the time in its own answer.
func (p *pacer) waitForCall(ctx context.Context, t *Transport, c *Call) error {
	p.mu.Lock()
	now := t.o.Now()
	turn := p.timesOf(c.Account)
	until := turn.notBefore
	for _, own := range []time.Time{p.resumeAt, turn.heldUntil} {
		if own.After(until) && !connection.HoldsWaived(ctx) {
			until = own
		}
	}
	if until.Sub(now) > 0 && !c.Urgent {
		p.mu.Unlock()
		return &connection.Error{Class: connection.Throttled, Code: "held_back", Message: "The platform asked to be left alone for a while.", Until: until}
	}
	var wait time.Duration
	if p.interval > 0 && !c.Urgent {
		at := turn.next
		if at.Before(now) {
			at = now
		}
		turn.next = at.Add(p.interval + p.interval/4)
		wait = at.Sub(now)
	}
	p.mu.Unlock()
	if wait <= 0 {
		return nil
	}
	return t.o.Sleep(ctx, wait)
}

// recordAnswer updates the limits after an answer.
func (p *pacer) recordAnswer(account string, e *connection.Error, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case e == nil:
		p.failures = 0
	case e.Class == connection.Throttled && !e.Until.IsZero():
		if turn := p.timesOf(account); turn.notBefore.Before(e.Until) {
			turn.notBefore = e.Until
		}
	case e.Class == connection.Transient:
		if p.failures++; p.failures >= maxFailures {
			p.failures, p.resumeAt = 0, now.Add(failureWait)
		}
	}
}

// Hold delays all but urgent calls of an account until a time, because most of
// its quota is used.
func (t *Transport) Hold(account string, until time.Time) {
	t.pacer.mu.Lock()
	defer t.pacer.mu.Unlock()
	if turn := t.pacer.timesOf(account); turn.heldUntil.Before(until) {
		turn.heldUntil = until
	}
}
