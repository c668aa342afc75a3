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

// A body must arrive at minBodyRate bytes per second and may fall at most
// bodyGrace behind. What came earlier and faster does not count: a client that
// sends nothing is disconnected after bodyGrace, whatever it has sent before,
// because its body takes up memory. A client with a slow connection can still
// send the largest file.
const (
	bodyGrace   = 10 * time.Second
	minBodyRate = 64 << 10
)

// Bytes of a body that need no reservation, with a caller and without. Clients
// that are not signed in can open many thousands of streams, so that larger
// bodies of theirs share the memory of one owner. What the console sends to
// sign in is smaller.
const (
	unreservedBytes     = 64 << 10
	anonymousUnreserved = 4 << 10
	anonymousOwner      = "anonymous"
)

// readAll reads a body of the expected size, which is the limit if the size is
// unknown. It calls reserve before it allocates more memory than free, and
// allocates only as bytes arrive, not by the announced size. It calls
// setDeadline with the deadline of the next bytes.
func readAll(in io.Reader, expected, free int64, reserve func(more int64) error, setDeadline func(time.Time)) ([]byte, error) {
	// One extra byte lets Read reach the end of the body without growing the
	// buffer.
	body := make([]byte, 0, min(expected, 4<<10)+1)
	end := bodyDeadline(time.Time{}, 0)
	for {
		if len(body) == cap(body) {
			size := 2 * int64(cap(body))
			if expected >= int64(cap(body)) {
				size = min(size, expected+1)
			}
			if size > free {
				if err := reserve(size - max(int64(cap(body)), free)); err != nil {
					return nil, err
				}
			}
			grown := make([]byte, len(body), size)
			copy(grown, body)
			body = grown
		}
		setDeadline(end)
		n, err := in.Read(body[len(body):min(cap(body), len(body)+minBodyRate)])
		if body = body[:len(body)+n]; errors.Is(err, io.EOF) {
			return body, nil
		} else if err != nil {
			return nil, err
		}
		end = bodyDeadline(end, n)
	}
}

// bodyDeadline returns the deadline that follows end after n more bytes of a
// body. A zero end means that the body begins.
func bodyDeadline(end time.Time, n int) time.Time {
	latest := time.Now().Add(bodyGrace) //nolint:forbidigo // sockets know only the machine's own time
	if end = end.Add(time.Duration(n) * time.Second / minBodyRate); end.IsZero() || end.After(latest) {
		return latest
	}
	return end
}

// uploads divides the memory for request bodies and responses on a node among
// its owners: founders for their workspaces, and users, because one user can be
// a member of many workspaces.
type uploads struct {
	most int64

	mu    sync.Mutex
	total int64
	per   map[ident.ID]int64
}

// Uploads is the default maximum of bytes of request bodies in memory.
const Uploads = 512 << 20

// leastUploads is the minimum: an owner gets a quarter of it, which fits one
// file of the maximum size.
const leastUploads = 4 * 32 << 20

func newUploads(most int64) *uploads {
	if most == 0 {
		most = Uploads
	}
	return &uploads{most: max(most, leastUploads), per: map[ident.ID]int64{}}
}

// reserveBytes reserves n bytes for all of the owners. An owner gets at most a
// quarter of the memory. The last eighth is only for owners with at most 1 MiB.
func (u *uploads) reserveBytes(n int64, owners ...ident.ID) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	limit := u.most
	for _, owner := range owners {
		switch own := u.per[owner] + n; {
		case own > u.most/4:
			return uploadLimitExceeded(u.most / 4)
		case own > 1<<20:
			limit = u.most - u.most/8
		}
	}
	if u.total+n > limit {
		return overloaded()
	}
	u.total += n
	for _, owner := range owners {
		u.per[owner] += n
	}
	return nil
}

// release releases n bytes of the owners.
func (u *uploads) release(n int64, owners ...ident.ID) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.total -= n
	for _, owner := range owners {
		if u.per[owner] -= n; u.per[owner] == 0 {
			delete(u.per, owner)
		}
	}
}

// uploadLimitExceeded returns the fault for an owner whose concurrent bodies
// exceed its share.
func uploadLimitExceeded(limit int64) error {
	message := fmt.Sprintf("What this workspace and others of the same founder, or this user in all workspaces, are sending and reading has more than %d MiB together. Wait for one to finish.", limit>>20)
	f := fault.New(fault.RateLimitExceeded, message, fault.Detail{Code: "concurrency", Message: message, Meta: fault.Meta{"limit_bytes": limit, "retry_after": 1}})
	f.RetryAfter = time.Second
	return f
}
