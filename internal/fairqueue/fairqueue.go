// Package fairqueue limits work of which only some may run at once, such as
// queries of facts. The next turn goes to the founder whose workspaces have used
// the least time, and among these to the workspace that has used the least;
// where two have used the same, to the one with less work waiting. So nobody
// gets more by having many workspaces, and a caller with little work waits for
// one turn of others at most, however much they have waiting. Where no workspace
// is known, the network of the caller stands for it.
package fairqueue

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"fanfare/internal/fault"
	"fanfare/internal/ident"
)

// Limits are the limits of a queue.
type Limits struct {
	// Work names the work in messages, in the plural.
	Work string
	// Running is how much runs at once. One founder may use all places but the
	// last one, and so may work in the background, so that others do not wait
	// until this work has ended.
	Running int
	// PerWorkspace is how many requests a workspace may have running and
	// waiting.
	PerWorkspace int
	// Caller names in messages what PerWorkspace limits where it is not a
	// workspace.
	Caller string
}

// FounderOf returns the founder of a workspace.
type FounderOf func(ctx context.Context, workspace ident.ID) (ident.ID, error)

const (
	// requestsInRow is how many turns of requests come before one of work in
	// the background that waits.
	requestsInRow = 4
	// turnCost is what a turn counts for besides its time, so that turns
	// alternate also where they take no time.
	turnCost = time.Millisecond
	// maxRemembered is how many members are remembered that have no work.
	maxRemembered = 10_000
	// retryAfter is when a caller may try again for whom a wait was too long.
	retryAfter = 5 * time.Second
)

// Queue decides whose work runs next.
type Queue struct {
	limits  Limits
	founder FounderOf
	// share is how much of one founder runs at once.
	share int

	mu                   sync.Mutex
	free                 int
	running              map[ident.ID]int // by founder
	requests, background rank
	// inRow is how many turns of requests have come in a row while work in the
	// background waited.
	inRow int
}

// rank is either the requests or the work in the background.
type rank struct {
	running  int
	waiting  []*turn // in the order of arrival
	founders members
}

func (r *rank) drop(t *turn) {
	r.waiting = slices.DeleteFunc(r.waiting, func(other *turn) bool { return other == t })
}

// turn is one piece of work.
type turn struct {
	ready                  chan struct{}
	founderID, workspaceID ident.ID
	rank                   *rank
	founder, workspace     *member
	began                  time.Time
}

// New returns an empty queue. With a nil founder, every workspace is its own.
func New(l Limits, founder FounderOf) *Queue {
	return &Queue{limits: l, founder: founder, share: max(l.Running-1, 1), free: l.Running, running: map[ident.ID]int{}}
}

// backgroundKey is the key of contexts of work in the background.
type backgroundKey struct{}

// InBackground returns a context whose work comes after requests. Of five turns
// one is left for such work, so that it goes on beside any number of requests.
func InBackground(ctx context.Context) context.Context {
	return context.WithValue(ctx, backgroundKey{}, true)
}

// yieldKey is the key of contexts with what Take does while it waits.
type yieldKey struct{}

// WithYield returns a context in which Take calls give before it waits, and what
// give returns when it has waited. Both may be called by several goroutines.
func WithYield(ctx context.Context, give func() (back func())) context.Context {
	return context.WithValue(ctx, yieldKey{}, give)
}

func yield(ctx context.Context) (back func()) {
	if give, ok := ctx.Value(yieldKey{}).(func() func()); ok {
		return give()
	}
	return func() {}
}

// Take waits for a turn. leave ends the work and must be called once.
//
// With a wait, a workspace at its limit is a rate_limit_exceeded fault, and a
// turn that does not come in time an unavailable fault. Without one, and in the
// background, work waits until ctx ends and is never refused.
func (q *Queue) Take(ctx context.Context, workspace ident.ID, wait time.Duration) (leave func(), err error) {
	t := &turn{ready: make(chan struct{}), workspaceID: workspace, founderID: workspace, rank: &q.requests}
	if ctx.Value(backgroundKey{}) != nil {
		t.rank, wait = &q.background, 0
	}
	// Work without a workspace has no founder.
	if q.founder != nil && workspace != "" {
		if t.founderID, err = q.founder(ctx, workspace); err != nil {
			return nil, fmt.Errorf("find founder: %w", err)
		}
	}
	if err := q.join(t, wait > 0); err != nil {
		return nil, err
	}
	leave = func() { q.leave(t) }
	select {
	case <-t.ready:
		return leave, nil
	default:
	}
	defer yield(ctx)()
	var late <-chan time.Time
	if wait > 0 {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		late = timer.C
	}
	select {
	case <-t.ready:
		return leave, nil
	case <-ctx.Done():
		err = fmt.Errorf("wait for a turn: %w", ctx.Err())
	case <-late:
		err = q.tooLate(wait)
	}
	if !q.giveUp(t) {
		// The turn came in the same moment.
		leave()
	}
	return nil, err
}

// join adds work. Its channel is closed when it may run.
func (q *Queue) join(t *turn, limited bool) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	t.founder = t.rank.founders.enter(t.founderID)
	t.workspace = t.founder.workspaces.enter(t.workspaceID)
	t.rank.waiting = append(t.rank.waiting, t)
	if limited && t.workspace.running+t.workspace.waiting > q.limits.PerWorkspace {
		t.dismiss()
		return q.tooMany()
	}
	q.next()
	return nil
}

// next starts work while there are free places.
func (q *Queue) next() {
	for q.free > 0 {
		t := q.pick()
		if t == nil {
			return
		}
		t.rank.drop(t)
		q.free--
		t.rank.running++
		q.running[t.founderID]++
		t.rank.founders.begin(t.founder)
		t.founder.workspaces.begin(t.workspace)
		t.began = now()
		close(t.ready)
	}
}

// pick returns the work that may run next, nil if there is none.
func (q *Queue) pick() *turn {
	request := q.first(&q.requests)
	var background *turn
	if q.background.running < q.share {
		background = q.first(&q.background)
	}
	if background == nil {
		return request
	}
	if request == nil || q.inRow >= requestsInRow {
		q.inRow = 0
		return background
	}
	q.inRow++
	return request
}

// first returns the next work of a rank, nil if none may run.
func (q *Queue) first(r *rank) *turn {
	var best *turn
	for _, t := range r.waiting {
		if q.running[t.founderID] >= q.share {
			continue
		}
		if best == nil || t.before(best) {
			best = t
		}
	}
	return best
}

// before reports whether the next turn goes to t and not to other, which came
// earlier.
func (t *turn) before(other *turn) bool {
	if t.founder == other.founder {
		return t.workspace.before(other.workspace)
	}
	return t.founder.before(other.founder)
}

func (q *Queue) leave(t *turn) {
	q.mu.Lock()
	defer q.mu.Unlock()
	took := now().Sub(t.began)
	for _, m := range []*member{t.founder, t.workspace} {
		m.running--
		m.used += took
	}
	t.rank.running--
	if q.running[t.founderID]--; q.running[t.founderID] == 0 {
		delete(q.running, t.founderID)
	}
	q.free++
	t.remove()
	q.next()
}

// giveUp removes work that waits. It returns false if the work may run already.
func (q *Queue) giveUp(t *turn) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !slices.Contains(t.rank.waiting, t) {
		return false
	}
	t.dismiss()
	return true
}

// dismiss removes work that waits.
func (t *turn) dismiss() {
	t.rank.drop(t)
	t.founder.waiting--
	t.workspace.waiting--
	t.remove()
}

// remove drops the members of a turn that have no other work.
func (t *turn) remove() {
	t.founder.workspaces.remove(t.workspaceID)
	t.rank.founders.remove(t.founderID)
}

// now is the machine's own time, like that of its timers.
func now() time.Time { return time.Now() } //nolint:forbidigo // turns are measured, no moment is stored

// tooMany is the fault for a workspace at its limit.
func (q *Queue) tooMany() error {
	message := fmt.Sprintf("%d %s of this %s are running or waiting on this server. Wait for one to finish.", q.limits.PerWorkspace, q.limits.Work, cmp.Or(q.limits.Caller, "workspace"))
	f := fault.New(fault.RateLimitExceeded, message, fault.Detail{Code: "concurrency", Message: message, Meta: fault.Meta{"limit": q.limits.PerWorkspace, "retry_after": 1}})
	f.RetryAfter = time.Second
	return f
}

// tooLate is the fault for a turn that did not come in time.
func (q *Queue) tooLate(wait time.Duration) error {
	f := fault.New(fault.Unavailable, fmt.Sprintf("The server is busy: no place for one more of the %s was free within %d seconds. Nothing was changed. Try again in %d seconds.",
		q.limits.Work, int64(wait/time.Second), int64(retryAfter/time.Second)))
	f.RetryAfter = retryAfter
	return f.Because(fault.ErrBusy)
}
