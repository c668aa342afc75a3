package httpapi_test

import (
	"runtime"
	"testing"

	"fanfare/internal/account"
	"fanfare/internal/fanfaretest"
	"fanfare/internal/httpapi"
)

// TestUrgentRequestsTakeTurns: a founder with many pauses leaves a place to those
// of others, the next one of the founder waits and is not refused, and only very
// many at once are.
func TestUrgentRequestsTakeTurns(t *testing.T) {
	t.Parallel()
	w := fanfaretest.New(t, nil)
	many, other := w.Tenant(account.Growth), w.Tenant(account.Growth)
	launch := func(c *fanfaretest.Tenant) string {
		path := c.Do("POST", "/v1/campaigns", map[string]any{"name": "One"}).Want(201).Header.Get("Location")
		c.Do("POST", path+"/launch", nil).Want(200)
		return path
	}
	own, path := launch(many), launch(other)
	release, err := w.App.API.HoldCritical(t.Context(), many.Workspace, httpapi.CriticalAtOnce-1, httpapi.MaxCritical-1)
	if err != nil {
		t.Fatal(err)
	}
	paused := make(chan struct{})
	go func() {
		defer close(paused)
		many.Do("POST", own+"/pause", nil).Want(200)
	}()
	other.Do("POST", path+"/pause", nil).Want(200)
	for waits := true; waits; {
		// From when the pause waits on, one more is too many.
		waits = w.App.API.Critical(t.Context(), many.Workspace) < httpapi.MaxCritical
		runtime.Gosched()
	}
	many.Do("POST", own+"/pause", nil).WantError(429, "rate_limit_exceeded")
	release()
	<-paused
}
