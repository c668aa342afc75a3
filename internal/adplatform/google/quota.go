package google

import (
	"errors"
	"sync"
	"time"

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
	return &connection.Error{Class: connection.Throttled, Code: "held_back", Message: projectQuotaMessage, Until: until, Stated: true, Cause: errProjectQuota}
}

// record stores the time that an error names.
func (h *projectHold) record(app string, err error) {
	e, ok := errors.AsType[*connection.Error](err)
	if !ok || e.Class != connection.Throttled || !errors.Is(err, errProjectQuota) {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.until == nil {
		h.until = map[string]time.Time{}
	}
	if e.Until.After(h.until[app]) {
		h.until[app] = e.Until
	}
}

const projectQuotaMessage = "The Google Cloud project has used its operations for now (Explorer access: 2,880 per day, Basic: 15,000). " +
	"Syncing goes on by itself; apply for a higher access level on " + overviewPage + " to sync more accounts."
