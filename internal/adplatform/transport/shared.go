package transport

import (
	"cmp"
	"context"
	"sync"
	"time"

	"fanfare/internal/connection"
)

// BudgetStore stores the budgets that several nodes share.
type BudgetStore interface {
	// Reserve reserves the next free span of an account's time, from now on at
	// the earliest. Spans of an account do not overlap. It returns the start of
	// the span and the holds of the account.
	Reserve(ctx context.Context, account string, now time.Time, span time.Duration) (start time.Time, h connection.Holds, err error)
	// Holds returns the holds of an account.
	Holds(ctx context.Context, account string) (connection.Holds, error)
	// Hold stores holds of an account. It never shortens one.
	Hold(ctx context.Context, account string, h connection.Holds) error
}

const (
	// maxSpan is the longest time that a node reserves at once, and how old its
	// knowledge of holds may be. So a busy account costs a node about one
	// statement per second.
	maxSpan = time.Second
	// storeTime limits a statement of the store.
	storeTime = 2 * time.Second
	// maxReservations is how often a call reserves time that has passed when the
	// store answers.
	maxReservations = 6
)

// sharedBudget is the budget of accounts that several nodes call. A node reserves
// time of an account and sends calls only then, at the interval of the platform.
// So the calls of all nodes together are as far apart as those of one.
//
// A node reserves time for one call first and for more while it needs them, so
// that an account which is called rarely on several nodes loses no time. It does
// not reserve more before its time has ended, so that nodes take turns.
type sharedBudget struct {
	store    BudgetStore
	client   string
	now      func() time.Time
	sleep    func(ctx context.Context, d time.Duration) error
	mu       sync.Mutex
	accounts map[string]*sharedAccount
}

// sharedAccount is what a node knows of an account.
type sharedAccount struct {
	// turn is full while a call takes its time. Calls wait for it in their order.
	// It guards all but holds.
	turn chan struct{}
	// next is when the next call may be sent in the reserved time, which ends at
	// end.
	next, end time.Time
	// calls is for how many calls time was reserved last, and reserved when.
	calls    int
	reserved time.Time
	// read is when the holds were read last.
	read time.Time

	mu    sync.Mutex
	holds connection.Holds
}

func newSharedBudget(s BudgetStore, o *Options) *sharedBudget {
	return &sharedBudget{store: s, client: o.Name, now: o.Now, sleep: o.Sleep, accounts: map[string]*sharedAccount{}}
}

func (b *sharedBudget) account(name string) *sharedAccount {
	b.mu.Lock()
	defer b.mu.Unlock()
	a := b.accounts[name]
	if a == nil {
		a = &sharedAccount{turn: make(chan struct{}, 1)}
		b.accounts[name] = a
	}
	return a
}

// key is the name of an account in the store.
func (b *sharedBudget) key(account string) string { return b.client + " " + account }

// Take implements Budget.
func (b *sharedBudget) Take(ctx context.Context, account string, t Turn) (time.Duration, error) {
	a := b.account(account)
	select {
	case a.turn <- struct{}{}:
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	defer func() { <-a.turn }()
	// What this node knows saves a statement.
	if err := t.heldBack(a.later(connection.Holds{}), b.now()); err != nil {
		return 0, err
	}
	if t.Interval == 0 {
		b.readHolds(ctx, account, a, cmp.Or(t.HoldsAge, maxSpan))
		return 0, t.heldBack(a.later(connection.Holds{}), b.now())
	}
	if t.Burst > 0 {
		return b.takeAhead(ctx, account, a, t)
	}
	return b.takeTime(ctx, account, a, t)
}

// takeAhead takes a call of a quota that may be used ahead of time. The time of a
// refused call stays reserved for the next call of this node, so that refusals
// use up nothing.
func (b *sharedBudget) takeAhead(ctx context.Context, account string, a *sharedAccount, t Turn) (time.Duration, error) {
	now := b.time()
	if a.next.IsZero() {
		ctx, cancel := context.WithTimeout(ctx, storeTime)
		defer cancel()
		at, h, err := b.store.Reserve(ctx, b.key(account), now, t.Interval)
		if err != nil {
			return 0, unavailable(err)
		}
		a.next = at
		a.later(h)
	}
	if err := cmp.Or(t.heldBack(a.later(connection.Holds{}), now), t.tooFar(a.next, now)); err != nil {
		return 0, err
	}
	wait := a.next.Sub(now) - t.Burst
	a.next = time.Time{}
	return wait, nil
}

// takeTime takes the next call in the reserved time, and reserves more at its
// end.
func (b *sharedBudget) takeTime(ctx context.Context, account string, a *sharedAccount, t Turn) (time.Duration, error) {
	now := b.time()
	for range maxReservations {
		at := a.next
		if at.Before(now) {
			at = now
		}
		if at.Before(a.end) {
			a.next = at.Add(t.Interval)
			return at.Sub(now), nil
		}
		if rest := a.end.Sub(now); rest > 0 {
			if err := b.sleep(ctx, rest); err != nil {
				return 0, err
			}
			now = a.end
		}
		if later := b.time(); later.After(now) {
			now = later
		}
		if err := b.reserve(ctx, account, a, now, t.Interval); err != nil {
			return 0, err
		}
		if err := t.heldBack(a.later(connection.Holds{}), now); err != nil {
			return 0, err
		}
		if later := b.time(); later.After(now) {
			now = later
		}
	}
	return 0, unavailable(nil)
}

// time is the time as the store has it.
func (b *sharedBudget) time() time.Time { return b.now().Truncate(time.Microsecond) }

// reserve reserves time of an account.
//
// Choice: without the store a call fails, and is tried again as after any failure
// of the platform. It is never one that stops spend: urgent calls take no time of
// the budget, so that they are sent while the database is out of reach. All other
// paced calls are for work that needs the database anyway.
func (b *sharedBudget) reserve(ctx context.Context, account string, a *sharedAccount, now time.Time, interval time.Duration) error {
	n := a.nextCalls(now, max(1, int(maxSpan/interval)))
	ctx, cancel := context.WithTimeout(ctx, storeTime)
	defer cancel()
	span := time.Duration(n) * interval
	start, h, err := b.store.Reserve(ctx, b.key(account), now, span)
	if err != nil {
		return unavailable(err)
	}
	a.calls, a.reserved, a.read = n, now, now
	a.next, a.end = start, start.Add(span)
	a.later(h)
	return nil
}

// nextCalls returns for how many calls to reserve time: for one after a while
// without calls, for twice as many if the last time was used up or was short.
func (a *sharedAccount) nextCalls(now time.Time, most int) int {
	switch {
	case a.calls == 0 || now.Sub(a.end) >= maxSpan:
		return 1
	case !a.next.Before(a.end) || now.Sub(a.reserved) < maxSpan:
		return min(2*a.calls, most)
	}
	return min(a.calls, most)
}

// readHolds reads the holds of an account without a rate limit, once in a while.
//
// Choice: without the store the holds that this node knows count, because the
// calls without a limit refresh tokens too, which a pause can need.
func (b *sharedBudget) readHolds(ctx context.Context, account string, a *sharedAccount, age time.Duration) {
	now := b.now()
	if !a.read.IsZero() && now.Sub(a.read) < age {
		return
	}
	a.read = now
	ctx, cancel := context.WithTimeout(ctx, storeTime)
	defer cancel()
	if h, err := b.store.Holds(ctx, b.key(account)); err == nil {
		a.later(h)
	}
}

// Hold implements Budget. It returns when the other nodes can know the hold, or
// the store does not answer.
func (b *sharedBudget) Hold(ctx context.Context, account string, h connection.Holds) {
	a := b.account(account)
	a.mu.Lock()
	was := a.holds
	a.holds = was.Later(h)
	known := a.holds == was
	a.mu.Unlock()
	if known {
		return
	}
	// The hold matters to other nodes also if the call that led to it is
	// canceled. If it is not stored, they learn it from the platform.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTime)
	defer cancel()
	_ = b.store.Hold(ctx, b.key(account), h)
}

// later adds holds and returns all.
func (a *sharedAccount) later(h connection.Holds) connection.Holds {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.holds = a.holds.Later(h)
	return a.holds
}

// unavailable returns the error of a call whose time could not be reserved.
func unavailable(cause error) error {
	return &connection.Error{Class: connection.Transient, Code: "budget_unavailable", Message: "The calls of all nodes to the platform could not be counted.", Cause: cause}
}
