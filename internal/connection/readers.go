package connection

import (
	"context"
	"sync"
)

// readersPerPlatform is the number of accounts that this process reads from one
// platform at the same time, for all connections together.
//
// Choice: a process with many connections opens few connections to a platform,
// and each account in memory is a report of some days.
const readersPerPlatform = 8

// readers limits how many accounts of a platform are read at the same time.
type readers struct {
	mu    sync.Mutex
	slots map[string]chan struct{}
}

func (r *readers) slot(platform string) chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.slots == nil {
		r.slots = map[string]chan struct{}{}
	}
	slot := r.slots[platform]
	if slot == nil {
		slot = make(chan struct{}, readersPerPlatform)
		r.slots[platform] = slot
	}
	return slot
}

// wait waits until an account of the platform may be read.
func (r *readers) wait(ctx context.Context, platform string) error {
	select {
	case r.slot(platform) <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// leave lets another account be read.
func (r *readers) leave(platform string) { <-r.slot(platform) }
