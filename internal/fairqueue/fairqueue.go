// Package fairqueue limits work of which only some may run at once, such as
// queries of facts. The next turn goes to the founder whose workspaces have used
// the least time, and among these to the workspace that has used the least. If
// two have used the same, it goes to the one with less work waiting. So a founder
// gains nothing by having many workspaces, and a caller with little work waits
// for one turn of others at most, however much they have waiting. Without a
// workspace, the network of the caller is used instead.
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
	// Running is the number of places; one founder, and background work, may use
	// Running - 1, so that others do not wait until this work has ended.
	Running int
	// PerWorkspace is the number of requests of a workspace that may run and
	// wait.
	PerWorkspace int
	// Caller is the name of what PerWorkspace limits, in messages. Empty means
	// workspace.
	Caller string
}

// FounderOf returns the founder of a workspace.
type FounderOf func(ctx context.Context, workspace ident.ID) (ident.ID, error)

const (
	// requestsPerBackground is the number of turns of requests before one of
	// background work, if both wait.
	requestsPerBackground = 4
	// turnCost is added to each turn's time, so that very short turns alternate
	// too.
	turnCost = time.Millisecond
	// maxRemembered is the number of members without work whose used time is
	// kept.
	maxRemembered = 10_000
	// retryAfter is when a caller may retry after a timeout.
	retryAfter = 5 * time.Second
)

// Queue decides whose work runs next.
type Queue struct {
	limits  Limits
	founder FounderOf
	// maxPerFounder is the number of turns of one founder that run at once.
	maxPerFounder int

	mu                   sync.Mutex
	free                 int
	running              map[ident.ID]int // by founder
	requests, background class
	// requestsSinceBackground is the number of turns of requests since the last
	// turn of background work, while some waited.
	requestsSinceBackground int
}

// class is either the requests or the background work.
type class struct {
	running  int
	waiting  []*turn // in the order of arrival
	founders members
}

func (c *class) dequeue(t *turn) {
	c.waiting = slices.DeleteFunc(c.waiting, func(other *turn) bool { return other == t })
}

// turn is one piece of work.
type turn struct {
	ready                  chan struct{}
	founderID, workspaceID ident.ID
	class                  *class
	founder, workspace     *member
	began                  time.Time
}

// New returns an empty queue. With a nil founder, every workspace is its own
// founder.
func New(l Limits, founder FounderOf) *Queue {
	return &Queue{limits: l, founder: founder, maxPerFounder: max(l.Running-1, 1), free: l.Running, running: map[ident.ID]int{}}
}

// backgroundKey is the context key of background work.
type backgroundKey struct{}

// InBackground returns a context whose work comes after requests. One of five
// turns is left for background work, so that it proceeds beside any number of
// requests.
func InBackground(ctx context.Context) context.Context {
	return context.WithValue(ctx, backgroundKey{}, true)
}

// yieldKey is the context key of the function of WithYield.
type yieldKey struct{}

// WithYield returns a context in which Take calls give before it waits, and the
// function that give returns after the wait. Both may be called by several
// goroutines.
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
// If wait > 0, a workspace at its limit gets a rate_limit_exceeded fault, and a
// turn that does not come in time is an unavailable fault. If wait is 0, or in
// the background, Take waits until ctx ends and never refuses.
func (q *Queue) Take(ctx context.Context, workspace ident.ID, wait time.Duration) (leave func(), err error) {
	t := &turn{ready: make(chan struct{}), workspaceID: workspace, founderID: workspace, class: &q.requests}
	if ctx.Value(backgroundKey{}) != nil {
		t.class, wait = &q.background, 0
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
	if !q.cancel(t) {
		// The turn came at the same time.
		leave()
	}
	return nil, err
}

// join adds work. Its channel is closed when it may run.
func (q *Queue) join(t *turn, limited bool) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	t.founder = t.class.founders.enter(t.founderID)
	t.workspace = t.founder.workspaces.enter(t.workspaceID)
	t.class.waiting = append(t.class.waiting, t)
	if limited && t.workspace.running+t.workspace.waiting > q.limits.PerWorkspace {
		t.removeWaiting()
		return q.tooMany()
	}
	q.startWaiting()
	return nil
}

// startWaiting starts waiting work while there are free places.
func (q *Queue) startWaiting() {
	for q.free > 0 {
		t := q.pick()
		if t == nil {
			return
		}
		t.class.dequeue(t)
		q.free--
		t.class.running++
		q.running[t.founderID]++
		t.class.founders.startTurn(t.founder)
		t.founder.workspaces.startTurn(t.workspace)
		t.began = now()
		close(t.ready)
	}
}

// pick returns the work that may run next, nil if there is none.
func (q *Queue) pick() *turn {
	request := q.first(&q.requests)
	var background *turn
	if q.background.running < q.maxPerFounder {
		background = q.first(&q.background)
	}
	if background == nil {
		return request
	}
	if request == nil || q.requestsSinceBackground >= requestsPerBackground {
		q.requestsSinceBackground = 0
		return background
	}
	q.requestsSinceBackground++
	return request
}

// first returns the next work of a class, nil if none may run.
func (q *Queue) first(c *class) *turn {
	var best *turn
	for _, t := range c.waiting {
		if q.running[t.founderID] >= q.maxPerFounder {
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
	t.class.running--
	if q.running[t.founderID]--; q.running[t.founderID] == 0 {
		delete(q.running, t.founderID)
	}
	q.free++
	t.releaseMembers()
	q.startWaiting()
}

// cancel removes work that waits. It returns false if the work may already run.
func (q *Queue) cancel(t *turn) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !slices.Contains(t.class.waiting, t) {
		return false
	}
	t.removeWaiting()
	return true
}

// removeWaiting removes work that waits.
func (t *turn) removeWaiting() {
	t.class.dequeue(t)
	t.founder.waiting--
	t.workspace.waiting--
	t.releaseMembers()
}

// releaseMembers removes the members of a turn that have no other work.
func (t *turn) releaseMembers() {
	t.founder.workspaces.removeIdle(t.workspaceID)
	t.class.founders.removeIdle(t.founderID)
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
