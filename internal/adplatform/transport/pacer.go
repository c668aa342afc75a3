package transport

import (
	"context"
	"sync"
	"time"

	"fanfare/internal/connection"
)

// pacer limits the calls of a client: by the budget of the account, and for a
// while after repeated failures.
type pacer struct {
	interval time.Duration
	budget   Budget

	// Choice: failures count in this process alone, because they can be of its
	// network, while the other nodes reach the platform.
	mu       sync.Mutex
	failures int
	resumeAt time.Time
}

const (
	// maxFailures is the number of successive failures after which calls pause
	// for failureWait.
	maxFailures = 10
	failureWait = time.Minute
)

func newPacer(o *Options) *pacer {
	p := &pacer{budget: newMemoryBudget(o.Now)}
	if o.Budgets != nil {
		p.budget = newSharedBudget(o.Budgets, o)
	}
	if o.PerSecond > 0 {
		interval := time.Duration(float64(time.Second) / o.PerSecond)
		p.interval = interval + interval/4
	}
	return p
}

// waitForCall waits until a call may be sent.
//
// Choice: urgent calls do not wait, because they stop spend. The rate leaves a
// fifth of every second free for them. The time that the platform has named to
// another call can be for another resource or a whole day; the sender of an
// urgent call respects the time in its own answer.
func (p *pacer) waitForCall(ctx context.Context, t *Transport, c *Call) error {
	if c.Urgent {
		return nil
	}
	wait, err := p.budget.Take(ctx, c.Account, Turn{Interval: p.interval, PausedUntil: p.pausedUntil(), Waived: connection.HoldsWaived(ctx)})
	if err != nil || wait <= 0 {
		return err
	}
	return t.o.Sleep(ctx, wait)
}

// pausedUntil returns until when calls pause after failures.
func (p *pacer) pausedUntil() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.resumeAt
}

// recordAnswer updates the limits after an answer.
func (p *pacer) recordAnswer(ctx context.Context, account string, e *connection.Error, now time.Time) {
	if e != nil && e.Class == connection.Throttled && !e.Until.IsZero() {
		p.budget.Hold(ctx, account, connection.Holds{NotBefore: e.Until})
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case e == nil:
		p.failures = 0
	case e.Class == connection.Transient:
		if p.failures++; p.failures >= maxFailures {
			p.failures, p.resumeAt = 0, now.Add(failureWait)
		}
	}
}

// Hold delays all but urgent calls of an account until a time, because most of
// its quota is used.
func (t *Transport) Hold(ctx context.Context, account string, until time.Time) {
	t.pacer.budget.Hold(ctx, account, connection.Holds{HeldUntil: until})
}
