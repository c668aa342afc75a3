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
	// interval and appInterval are the times between two calls of an account and
	// of an OAuth client.
	interval, appInterval time.Duration
	// day has the pace and the reserve of the calls of a day.
	day    Turn
	budget Budget

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
	p.interval, p.appInterval = paced(o.PerSecond), paced(o.AppPerSecond)
	if o.AppPerDay > 0 {
		p.day.Interval = time.Duration(float64(24*time.Hour) / (float64(o.AppPerDay) * spreadPart))
		p.day.Burst = time.Duration(max(1, float64(o.AppPerDay)*burstPart-1) * float64(p.day.Interval))
	}
	return p
}

// burstPart is the part of a day's calls that can be used at once, spreadPart the
// part that becomes free over the day. Both together leave a twentieth in any 24
// hours for urgent calls, which take none.
const (
	burstPart  = 0.25
	spreadPart = 0.70
)

// paced returns the time between two calls of a limit per second, a quarter more
// than the limit needs.
func paced(perSecond float64) time.Duration {
	if perSecond <= 0 {
		return 0
	}
	interval := time.Duration(float64(time.Second) / perSecond)
	return interval + interval/4
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
	app, waived := connection.AppOf(ctx), connection.HoldsWaived(ctx)
	// A person who waits uses what the day's calls leave free.
	if p.day.Interval > 0 && app == "" && !waived {
		if err := p.take(ctx, t, "calls of the day", p.day); err != nil {
			return err
		}
	}
	if err := p.take(ctx, t, appName(app), Turn{Interval: p.appInterval, HoldsAge: appHoldsAge, Waived: waived}); err != nil {
		return err
	}
	return p.take(ctx, t, c.Account, Turn{Interval: p.interval, PausedUntil: p.pausedUntil(), Waived: waived})
}

// appHoldsAge is how late a node may learn that an OAuth client is held. Until
// then the platform refuses its calls.
const appHoldsAge = 10 * time.Second

// take takes a call of an account, or of another name in the budget, and waits
// until it may be sent.
func (p *pacer) take(ctx context.Context, t *Transport, name string, turn Turn) error {
	wait, err := p.budget.Take(ctx, name, turn)
	if err != nil || wait <= 0 {
		return err
	}
	return t.o.Sleep(ctx, wait)
}

// appName is the name of an OAuth client in the budget. No account has it: their
// ids have no spaces.
func appName(id string) string { return "app " + id }

// pausedUntil returns until when calls pause after failures.
func (p *pacer) pausedUntil() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.resumeAt
}

// recordAnswer updates the limits after an answer.
func (p *pacer) recordAnswer(ctx context.Context, account string, e *connection.Error, now time.Time) {
	if e != nil && e.Class == connection.Throttled && !e.Until.IsZero() {
		p.hold(ctx, account, e, now)
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

// quotaReserve is for how much longer than the platform asks calls are held if a
// quota of all accounts is used up. Otherwise every call that becomes free would
// go to a sync, and a pause would be refused.
const quotaReserve = 5 * time.Minute

// hold holds the calls of an account, or of all accounts of the OAuth client, for
// the time that the platform has named.
func (p *pacer) hold(ctx context.Context, account string, e *connection.Error, now time.Time) {
	until := e.Until
	if e.WholeApp {
		account = appName(connection.AppOf(ctx))
		if until.Sub(now) > MaxThrottleWait {
			until = until.Add(quotaReserve)
		}
	}
	p.budget.Hold(ctx, account, connection.Holds{NotBefore: until})
}

// Hold delays all but urgent calls of an account until a time, because most of
// its quota is used.
func (t *Transport) Hold(ctx context.Context, account string, until time.Time) {
	t.pacer.budget.Hold(ctx, account, connection.Holds{HeldUntil: until})
}
