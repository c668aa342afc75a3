package sqlite

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"fanfare/internal/store"
)

var errClosed = fmt.Errorf("%w: closed", store.ErrUnavailable)

// readers lends connections for reading. The one that came back last goes out
// first, because its cache is warm.
//
// A caller that finds no connection waits in a queue. A released connection is
// not reserved for the queue: the first waiter wakes and tries again. Only if it
// then finds none does it get the next released connection directly. Direct
// handover every time would halve the rate, because each read would wait until
// a goroutine is scheduled.
type readers struct {
	mu   sync.Mutex
	idle []*conn
	line []*waiter
	// waking is set until a woken waiter has tried again.
	waking bool
	lent   int
	paused bool
	closed bool
	// empty is closed when the last connection comes back, if not nil.
	empty chan struct{}
}

type waiter struct {
	// wake receives a connection, or nil to try again.
	wake   chan *conn
	hungry bool
}

func (r *readers) acquire(ctx context.Context) (*conn, error) {
	r.mu.Lock()
	if c := r.takeIdle(); c != nil {
		r.mu.Unlock()
		return c, nil
	}
	w := &waiter{wake: make(chan *conn, 1)}
	for !r.closed {
		if w.hungry {
			r.line = slices.Insert(r.line, 0, w)
		} else {
			r.line = append(r.line, w)
		}
		r.mu.Unlock()
		select {
		case c := <-w.wake:
			if c != nil {
				return c, nil
			}
		case <-ctx.Done():
			r.leave(w)
			return nil, ctx.Err()
		}
		r.mu.Lock()
		r.waking = false
		c := r.takeIdle()
		r.wakeNext()
		if c != nil {
			r.mu.Unlock()
			return c, nil
		}
		w.hungry = true
	}
	r.mu.Unlock()
	return nil, errClosed
}

func (r *readers) takeIdle() *conn {
	n := len(r.idle)
	if n == 0 || r.paused || r.closed {
		return nil
	}
	c := r.idle[n-1]
	r.idle = r.idle[:n-1]
	r.lent++
	return c
}

// leave removes a waiter from the queue and releases a connection that was just
// sent to it.
func (r *readers) leave(w *waiter) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if i := slices.Index(r.line, w); i >= 0 {
		r.line = slices.Delete(r.line, i, i+1)
		return
	}
	if c := <-w.wake; c != nil {
		r.giveBack(c)
		return
	}
	r.waking = false
	r.wakeNext()
}

func (r *readers) release(c *conn) {
	r.mu.Lock()
	r.giveBack(c)
	r.mu.Unlock()
}

func (r *readers) giveBack(c *conn) {
	if len(r.line) > 0 && r.line[0].hungry && !r.paused {
		r.line[0].wake <- c
		r.line = r.line[1:]
		return
	}
	r.idle = append(r.idle, c)
	r.lent--
	if r.lent == 0 && r.empty != nil {
		close(r.empty)
		r.empty = nil
	}
	r.wakeNext()
}

func (r *readers) wakeNext() {
	if r.waking || r.paused || len(r.line) == 0 || len(r.idle) == 0 {
		return
	}
	r.waking = true
	r.line[0].wake <- nil
	r.line = r.line[1:]
}

// letGo ends the open transactions of idle connections that are older than
// seq, so that they do not keep the write-ahead log from being reused.
func (r *readers) letGo(seq uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.idle {
		if c.seq != 0 && c.seq != seq {
			c.letGo()
		}
	}
}

// pause lends no connection until resume. It returns true when all connections
// are released and have no open transaction, and false if that exceeds the
// limit.
func (r *readers) pause(limit time.Duration) bool {
	r.mu.Lock()
	r.paused = true
	back := r.whenEmpty()
	r.mu.Unlock()
	select {
	case <-back:
		r.letGo(0)
		return true
	case <-time.After(limit):
		return false
	}
}

func (r *readers) resume() {
	r.mu.Lock()
	r.paused = false
	r.empty = nil
	r.wakeNext()
	r.mu.Unlock()
}

func (r *readers) whenEmpty() chan struct{} {
	back := make(chan struct{})
	if r.lent == 0 {
		close(back)
	} else {
		r.empty = back
	}
	return back
}

// close fails all waiters, waits for the lent connections and closes all.
func (r *readers) close() {
	r.mu.Lock()
	r.closed = true
	for _, w := range r.line {
		w.wake <- nil
	}
	r.line = nil
	back := r.whenEmpty()
	r.mu.Unlock()
	<-back
	for _, c := range r.idle {
		c.close()
	}
}
