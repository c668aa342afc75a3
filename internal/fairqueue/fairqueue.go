// Package fairqueue limits work of which only some may run at once, such as
// queries of facts. Workspaces take turns: one with much work delays each of
// the others by one piece of work at most. Where no workspace is known, the
// network of the caller stands for it.
package fairqueue

import (
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
	// Running is how much runs at once. One workspace may use all places but
	// the last one, so that others do not wait until its work has ended.
	Running int
	// PerWorkspace is how much a workspace may have running and waiting.
	PerWorkspace int
}

// Queue decides whose work runs next.
type Queue struct {
	limits Limits
	// share is how much of one workspace runs at once.
	share int

	mu   sync.Mutex
	free int
	// turns are the workspaces that have work waiting and may run more, in
	// their order.
	turns []ident.ID
	// work has the workspaces with work.
	work map[ident.ID]*work
}

// work is the work of one workspace.
type work struct {
	running int
	waiting []chan struct{}
	// queued says that the workspace is in turns.
	queued bool
}

// New returns an empty queue.
func New(l Limits) *Queue {
	return &Queue{limits: l, share: max(l.Running-1, 1), free: l.Running, work: map[ident.ID]*work{}}
}

// retryAfter is when a caller may try again for whom a wait was too long.
const retryAfter = 5 * time.Second

// Take waits for a turn. leave ends the work and must be called once.
//
// With a wait, a workspace at its limit is a rate_limit_exceeded fault, and a
// turn that does not come in time an unavailable fault. Without one, the work is
// in the background: it waits until ctx ends and is never refused.
func (q *Queue) Take(ctx context.Context, workspace ident.ID, wait time.Duration) (leave func(), err error) {
	turn, err := q.join(workspace, wait > 0)
	if err != nil {
		return nil, err
	}
	leave = func() { q.leave(workspace) }
	select {
	case <-turn:
		return leave, nil
	default:
	}
	var late <-chan time.Time
	if wait > 0 {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		late = timer.C
	}
	select {
	case <-turn:
		return leave, nil
	case <-ctx.Done():
		err = fmt.Errorf("wait for a turn: %w", ctx.Err())
	case <-late:
		err = q.tooLate(wait)
	}
	if !q.giveUp(workspace, turn) {
		// The turn came in the same moment.
		leave()
	}
	return nil, err
}

// join adds work. turn is closed when it may run.
func (q *Queue) join(workspace ident.ID, limited bool) (turn chan struct{}, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	w := q.work[workspace]
	if w == nil {
		w = &work{}
		q.work[workspace] = w
	}
	if limited && w.running+len(w.waiting) >= q.limits.PerWorkspace {
		return nil, q.tooMany()
	}
	turn = make(chan struct{})
	w.waiting = append(w.waiting, turn)
	q.queue(workspace, w)
	q.next()
	return turn, nil
}

// queue adds a workspace at the end of turns if it has work waiting and may run
// more. One that runs as much as it may is added when some of it ends, so that
// its next turn comes after those of all others that wait by then.
func (q *Queue) queue(workspace ident.ID, w *work) {
	if !w.queued && len(w.waiting) > 0 && w.running < q.share {
		w.queued = true
		q.turns = append(q.turns, workspace)
	}
}

// next starts work while there are free places.
func (q *Queue) next() {
	for q.free > 0 && len(q.turns) > 0 {
		workspace := q.turns[0]
		q.turns = q.turns[1:]
		w := q.work[workspace]
		close(w.waiting[0])
		w.waiting, w.queued = w.waiting[1:], false
		w.running++
		q.free--
		q.queue(workspace, w)
	}
}

func (q *Queue) leave(workspace ident.ID) {
	q.mu.Lock()
	defer q.mu.Unlock()
	w := q.work[workspace]
	w.running--
	q.free++
	q.queue(workspace, w)
	q.next()
	q.forget(workspace, w)
}

// giveUp removes work that waits. It returns false if the work may run already.
func (q *Queue) giveUp(workspace ident.ID, turn chan struct{}) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	w := q.work[workspace]
	if w == nil {
		return false
	}
	i := slices.Index(w.waiting, turn)
	if i < 0 {
		return false
	}
	w.waiting = slices.Delete(w.waiting, i, i+1)
	if len(w.waiting) == 0 && w.queued {
		w.queued = false
		q.turns = slices.DeleteFunc(q.turns, func(id ident.ID) bool { return id == workspace })
	}
	q.forget(workspace, w)
	return true
}

// forget drops a workspace without work.
func (q *Queue) forget(workspace ident.ID, w *work) {
	if w.running == 0 && len(w.waiting) == 0 {
		delete(q.work, workspace)
	}
}

// tooMany is the fault for a workspace at its limit.
func (q *Queue) tooMany() error {
	message := fmt.Sprintf("%d %s of this workspace are running or waiting on this server. Wait for one to finish.", q.limits.PerWorkspace, q.limits.Work)
	f := fault.New(fault.RateLimitExceeded, message, fault.Detail{Code: "concurrency", Message: message, Meta: fault.Meta{"limit": q.limits.PerWorkspace, "retry_after": 1}})
	f.RetryAfter = time.Second
	return f
}

// tooLate is the fault for a turn that did not come in time.
func (q *Queue) tooLate(wait time.Duration) error {
	f := fault.New(fault.Unavailable, fmt.Sprintf("The server is busy: no place for one more of the %s was free within %d seconds. Nothing was changed. Try again in %d seconds.",
		q.limits.Work, int64(wait/time.Second), int64(retryAfter/time.Second)))
	f.RetryAfter = retryAfter
	return f
}
