// Package turn lets workspaces take turns at what only some may do at once,
// such as reading a large file: a workspace with much to do delays each of the
// others by one piece of work at most. Where no workspace is known, the network
// of the caller stands for it.
package turn

import (
	"context"
	"fmt"
	"sync"

	"fanfare/internal/ident"
)

// Turns hands out places. Only the first piece of work of each workspace waits
// for one; the others wait for the first.
type Turns struct {
	places chan struct{}

	mu     sync.Mutex
	queues map[ident.ID]*queue
}

// queue is where the work of one workspace waits.
type queue struct {
	first chan struct{}
	// length is how much waits or is under way.
	length int
}

// New makes turns with so many places.
func New(places int) *Turns {
	return &Turns{places: make(chan struct{}, places), queues: map[ident.ID]*queue{}}
}

// Take waits for a turn until ctx ends. release ends the turn.
func (t *Turns) Take(ctx context.Context, workspace ident.ID) (release func(), err error) {
	q := t.join(workspace)
	select {
	case q.first <- struct{}{}:
	case <-ctx.Done():
		t.leave(workspace)
		return nil, fmt.Errorf("wait for other work of the workspace: %w", ctx.Err())
	}
	select {
	case t.places <- struct{}{}:
	case <-ctx.Done():
		<-q.first
		t.leave(workspace)
		return nil, fmt.Errorf("wait for a turn: %w", ctx.Err())
	}
	return func() {
		<-t.places
		<-q.first
		t.leave(workspace)
	}, nil
}

func (t *Turns) join(workspace ident.ID) *queue {
	t.mu.Lock()
	defer t.mu.Unlock()
	q := t.queues[workspace]
	if q == nil {
		q = &queue{first: make(chan struct{}, 1)}
		t.queues[workspace] = q
	}
	q.length++
	return q
}

func (t *Turns) leave(workspace ident.ID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	q := t.queues[workspace]
	if q.length--; q.length == 0 {
		delete(t.queues, workspace)
	}
}
