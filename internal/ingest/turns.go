package ingest

import (
	"context"
	"fmt"
	"sync"

	"fanfare/internal/ident"
)

// turns lets one file be read at a time: one of the largest takes some 150 MB.
// Workspaces take turns, so that a workspace with many files delays the files
// of others by one at most.
type turns struct {
	place chan struct{}

	mu     sync.Mutex
	queues map[ident.ID]*queue
}

// queue is where the files of one workspace wait for each other. The first one
// waits for the place.
type queue struct {
	first chan struct{}
	// length is how many wait or are read.
	length int
}

func newTurns() *turns {
	return &turns{place: make(chan struct{}, 1), queues: map[ident.ID]*queue{}}
}

// take waits for a turn. release ends it.
func (t *turns) take(ctx context.Context, workspace ident.ID) (release func(), err error) {
	q := t.join(workspace)
	select {
	case q.first <- struct{}{}:
	case <-ctx.Done():
		t.leave(workspace)
		return nil, fmt.Errorf("wait for other files of the workspace: %w", ctx.Err())
	}
	select {
	case t.place <- struct{}{}:
	case <-ctx.Done():
		<-q.first
		t.leave(workspace)
		return nil, fmt.Errorf("wait for other files: %w", ctx.Err())
	}
	return func() {
		<-t.place
		<-q.first
		t.leave(workspace)
	}, nil
}

func (t *turns) join(workspace ident.ID) *queue {
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

func (t *turns) leave(workspace ident.ID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	q := t.queues[workspace]
	if q.length--; q.length == 0 {
		delete(t.queues, workspace)
	}
}
