package google

import (
	"errors"
	"sync"
	"time"

	"fanfare/internal/adplatform/transport"
	"fanfare/internal/connection"
)

// errProjectQuota marks errors of a quota that all accounts share: that of the
// Cloud project, which Google calls DEVELOPER.
var errProjectQuota = errors.New("the quota belongs to the Google Cloud project")

// projectHold holds the calls to all accounts of an app after Google has refused
// one for the quota of its project. Calls of other accounts would be refused too.
type projectHold struct {
	mu    sync.Mutex
	until map[string]time.Time
}

// check returns the error of a call that is held.
func (h *projectHold) check(app string, now time.Time) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	until := h.until[app]
	if !now.Before(until) {
		return nil
	}
	return &connection.Error{Class: connection.Throttled, Code: heldBack, Message: projectQuotaMessage, Remedy: quotaRemedy, Until: until, Stated: true, Cause: errProjectQuota}
}

// record stores the time that an error names.
func (h *projectHold) record(app string, err error, now time.Time) {
	e, ok := errors.AsType[*connection.Error](err)
	if !ok || e.Class != connection.Throttled || !errors.Is(err, errProjectQuota) {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.until == nil {
		h.until = map[string]time.Time{}
	}
	until := e.Until
	if until.Sub(now) > transport.MaxThrottleWait {
		until = until.Add(quotaReserve)
	}
	if until.After(h.until[app]) {
		h.until[app] = until
	}
}

// quotaReserve is for how much longer than Google asks calls are held if a quota of
// the day is used up. Otherwise every operation that becomes free would go to a
// sync, and a pause would be refused.
const quotaReserve = 5 * time.Minute

// heldBack is the code of calls that are not sent.
const heldBack = "held_back"

const projectQuotaMessage = "The Google Cloud project has used its operations for now."
