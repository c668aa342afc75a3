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

// A body must arrive at slowestBody bytes per second on average after
// bodyGrace. A client that sends nothing is disconnected within 7 seconds; a
// client with a slow connection can still send the largest file.
const (
	bodyGrace   = 6 * time.Second
	minBodyRate = 64 << 10
)

// unreservedBytes is the number of bytes of a body that need no reservation.
const unreservedBytes = 64 << 10

// readAll reads a body of the expected size, which is the limit if the size is
// unknown. It calls take before it allocates more memory, and allocates only as
// bytes arrive, not by the announced size. It calls within with the deadline of
// the next bytes.
func readAll(in io.Reader, expected int64, take func(more int64) error, within func(time.Time)) ([]byte, error) {
	start := time.Now() //nolint:forbidigo // sockets know only the machine's own time
	// One extra byte lets Read reach the end of the body without growing the
	// buffer.
	body := make([]byte, 0, min(expected, 4<<10)+1)
	for {
		if len(body) == cap(body) {
			size := 2 * int64(cap(body))
			if expected >= int64(cap(body)) {
				size = min(size, expected+1)
			}
			if size > unreservedBytes {
				if err := take(size - max(int64(cap(body)), unreservedBytes)); err != nil {
					return nil, err
				}
			}
			grown := make([]byte, len(body), size)
			copy(grown, body)
			body = grown
		}
		piece := body[len(body):min(cap(body), len(body)+minBodyRate)]
		within(start.Add(bodyGrace + time.Duration(len(body)+len(piece))*time.Second/minBodyRate))
		n, err := in.Read(piece)
		if body = body[:len(body)+n]; errors.Is(err, io.EOF) {
			return body, nil
		} else if err != nil {
			return nil, err
		}
	}
}

// uploads divides the memory for request bodies among the workspaces of a node.
type uploads struct {
	most int64

	mu    sync.Mutex
	total int64
	per   map[ident.ID]int64
}

// Uploads is the default maximum of bytes of request bodies in memory.
const Uploads = 512 << 20

// leastUploads is the minimum: a workspace gets a quarter of it, which fits one
// file of the maximum size.
const leastUploads = 4 * 32 << 20

func newUploads(most int64) *uploads {
	if most == 0 {
		most = Uploads
	}
	return &uploads{most: max(most, leastUploads), per: map[ident.ID]int64{}}
}

// take reserves n bytes for a workspace. A workspace gets at most a quarter of
// the memory. The last eighth is only for workspaces with at most 1 MiB.
func (u *uploads) take(workspace ident.ID, n int64) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	own, limit := u.per[workspace]+n, u.most
	if own > 1<<20 {
		limit -= u.most / 8
	}
	switch {
	case own > u.most/4:
		return uploadLimitExceeded(u.most / 4)
	case u.total+n > limit:
		return overloaded()
	}
	u.total += n
	u.per[workspace] = own
	return nil
}

// release releases n bytes of a workspace.
func (u *uploads) release(workspace ident.ID, n int64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.total -= n
	if u.per[workspace] -= n; u.per[workspace] == 0 {
		delete(u.per, workspace)
	}
}

// uploadLimitExceeded returns the fault for a workspace whose concurrent bodies exceed its
// share.
func uploadLimitExceeded(limit int64) error {
	message := fmt.Sprintf("The bodies that this workspace is sending have more than %d MiB together. Wait for one to finish.", limit>>20)
	f := fault.New(fault.RateLimitExceeded, message, fault.Detail{Code: "concurrency", Message: message, Meta: fault.Meta{"limit_bytes": limit, "retry_after": 1}})
	f.RetryAfter = time.Second
	return f
}
