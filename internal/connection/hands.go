package connection

import (
	"context"
	"sync"
	"time"

	"fanfare/internal/ident"
)

// hands keeps a connection from being worked on twice in this process. Records
// are guarded by their stamps, and facts by a lock: a worker on another node
// that has lost its lease without knowing writes nothing after its successor.
type hands struct {
	mu   sync.Mutex
	held map[ident.ID]*grip
	wg   sync.WaitGroup
}

// grip is that of one worker; done is closed when it lets go.
type grip struct {
	cancel context.CancelFunc
	done   chan struct{}
}

// take has a connection or run held by one worker at a time; false where
// another has it.
func (h *hands) take(ctx context.Context, id ident.ID) (context.Context, func(), bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, there := h.held[id]; there {
		return nil, nil, false
	}
	ctx, cancel := context.WithCancel(ctx)
	g := &grip{cancel, make(chan struct{})}
	h.held[id] = g
	return ctx, func() {
		cancel()
		h.mu.Lock()
		delete(h.held, id)
		h.mu.Unlock()
		close(g.done)
	}, true
}

// let breaks off whoever holds something, and returns what waits for that.
func (h *hands) let(id ident.ID) (wait func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	g := h.held[id]
	if g == nil {
		return func() {}
	}
	g.cancel()
	return func() { <-g.done }
}

// background does something that nobody waits for, but for Wait.
func (h *hands) background(ctx context.Context, f func(context.Context)) {
	ctx = context.WithoutCancel(ctx)
	h.wg.Go(func() {
		ctx, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		f(ctx)
	})
}
