package httpapi

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"fanfare/internal/fault"
	"fanfare/internal/ident"
)

// A body has to come at a rate of slowestBody bytes per second once bodyGrace
// is over, so that a client that sends nothing is cut within 7 seconds and one
// on a slow line can still send the largest file.
const (
	bodyGrace   = 6 * time.Second
	slowestBody = 64 << 10
)

// freeBody is how much of a body is read before it counts.
const freeBody = 64 << 10

// receive reads a body of an expected size, which may be the most that is
// allowed. Memory is asked for as bytes come, by take, and never for what was
// only announced. within sets the moment by which the next bytes must have come.
func receive(in io.Reader, expected int64, take func(more int64) error, within func(time.Time)) ([]byte, error) {
	start := time.Now() //nolint:forbidigo // sockets know only the machine's own time
	// One byte more than is expected, so that the end is seen without growing.
	body := make([]byte, 0, min(expected, 4<<10)+1)
	for {
		if len(body) == cap(body) {
			size := 2 * int64(cap(body))
			if expected >= int64(cap(body)) {
				size = min(size, expected+1)
			}
			if size > freeBody {
				if err := take(size - max(int64(cap(body)), freeBody)); err != nil {
					return nil, err
				}
			}
			grown := make([]byte, len(body), size)
			copy(grown, body)
			body = grown
		}
		piece := body[len(body):min(cap(body), len(body)+slowestBody)]
		within(start.Add(bodyGrace + time.Duration(len(body)+len(piece))*time.Second/slowestBody))
		n, err := in.Read(piece)
		if body = body[:len(body)+n]; errors.Is(err, io.EOF) {
			return body, nil
		} else if err != nil {
			return nil, err
		}
	}
}

// uploads shares the memory for bodies between the workspaces of a node.
type uploads struct {
	most int64

	mu    sync.Mutex
	total int64
	per   map[ident.ID]int64
}

// Uploads is how many bytes of bodies a node keeps in memory at once unless it
// has less memory.
const Uploads = 512 << 20

// leastUploads is room for one of the largest files of a workspace.
const leastUploads = 4 * 32 << 20

func newUploads(most int64) *uploads {
	if most == 0 {
		most = Uploads
	}
	return &uploads{most: max(most, leastUploads), per: map[ident.ID]int64{}}
}

// take reserves bytes for a workspace. No workspace gets more than a quarter,
// and the last eighth is for those that have little.
func (u *uploads) take(workspace ident.ID, n int64) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	own, limit := u.per[workspace]+n, u.most
	if own > 1<<20 {
		limit -= u.most / 8
	}
	switch {
	case own > u.most/4:
		return crowded(u.most / 4)
	case u.total+n > limit:
		return overloaded()
	}
	u.total += n
	u.per[workspace] = own
	return nil
}

// give returns bytes.
func (u *uploads) give(workspace ident.ID, n int64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.total -= n
	if u.per[workspace] -= n; u.per[workspace] == 0 {
		delete(u.per, workspace)
	}
}

// crowded says that a workspace sends too much at once.
func crowded(limit int64) error {
	message := fmt.Sprintf("The bodies that this workspace is sending have more than %d MiB together. Wait for one to finish.", limit>>20)
	f := fault.New(fault.RateLimitExceeded, message, fault.Detail{Code: "concurrency", Message: message, Meta: fault.Meta{"limit_bytes": limit, "retry_after": 1}})
	f.RetryAfter = time.Second
	return f
}
