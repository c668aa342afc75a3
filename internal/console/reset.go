package console

import (
	"context"
	"strings"
	"sync"
	"time"

	"fanfare/internal/fault"
	"fanfare/internal/httpapi"
	"fanfare/internal/record"
)

const (
	// resetEvery is how often a mail with a new password's link goes to one
	// address.
	resetEvery = 5 * time.Minute
	// maxResets bounds how many addresses are remembered for that.
	maxResets = 10_000
	// sendingTime is how long a mail may take.
	sendingTime = time.Minute
)

// resets remembers to which addresses a mail went lately, so that nobody can
// be flooded.
type resets struct {
	mu   sync.Mutex
	last map[string]time.Time
}

// take reports whether a mail may go to an address now.
func (r *resets) take(email string, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.last == nil {
		r.last = map[string]time.Time{}
	}
	if at, there := r.last[email]; there && now.Sub(at) < resetEvery {
		return false
	}
	if len(r.last) >= maxResets {
		for old, at := range r.last {
			if now.Sub(at) >= resetEvery {
				delete(r.last, old)
			}
		}
	}
	if len(r.last) >= maxResets {
		return false
	}
	r.last[email] = now
	return true
}

// askReset sends somebody a link for a new password. The answer is the same,
// and takes as long, for those who are known here and those who are not.
func (c *Console) askReset(ctx context.Context, v *visit) (any, error) {
	var email string
	if err := v.Read(func(f httpapi.Fields) { email = strings.ToLower(f.Text("email", 1, maxEmail)) }); err != nil {
		return nil, err
	}
	if c.Mail == nil || !c.resets.take(email, v.Now) {
		return nothing{}, nil
	}
	cause := record.Cause{Actor: record.System, RequestID: v.ID, Address: v.From.String()}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), sendingTime)
	c.sending.Go(func() {
		defer cancel()
		if err := c.mailReset(ctx, cause, email); err != nil {
			c.Log.Error("send reset", "request_id", cause.RequestID, "error", err)
		}
	})
	return nothing{}, nil
}

func (c *Console) mailReset(ctx context.Context, cause record.Cause, email string) error {
	link, err := c.SignIn.Reset(ctx, cause, email)
	if fault.Is(err, fault.NotFound) || fault.Is(err, fault.InvalidState) {
		return nil
	}
	if err != nil {
		return err
	}
	return c.Mail.Reset(ctx, email, link)
}
