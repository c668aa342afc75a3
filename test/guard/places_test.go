package guard_test

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"

	"fanfare/internal/account"
	"fanfare/internal/fanfaretest"
	"fanfare/internal/httpapi"
	"fanfare/internal/ident"
	"fanfare/internal/page"
	"fanfare/internal/record"
)

// heldEvents holds every read of events until release is closed.
type heldEvents struct {
	httpapi.Events
	arrived, release chan struct{}
}

func (h *heldEvents) List(ctx context.Context, workspace ident.ID, q page.Query) (page.Page, error) {
	h.arrived <- struct{}{}
	<-h.release
	return h.Events.List(ctx, workspace, q)
}

func (h *heldEvents) Doc(ctx context.Context, workspace, id ident.ID, restricted bool) (record.Doc, error) {
	h.arrived <- struct{}{}
	<-h.release
	return h.Events.Doc(ctx, workspace, id, restricted)
}

// heldPath is a path whose request heldEvents holds without a turn.
const heldPath = "/v1/events/evt_01m7eed1vefd8s63tzyycmefqz"

// TestR9Shedding: an overloaded node returns 503 and spends no quota, but
// pausing and archiving always succeed. A workspace has a third of the places,
// so that other workspaces are served beside it.
func TestR9Shedding(t *testing.T) {
	for _, most := range []int64{1, 2, 3, 7} {
		t.Run(fmt.Sprint(most), func(t *testing.T) {
			t.Parallel()
			w := fanfaretest.New(t, nil)
			a := w.Tenant(account.Growth)
			path, other := createDraft(a.Client, "One"), createDraft(a.Client, "Two")
			a.Do("POST", path+"/launch", nil).Want(200)
			held := &heldEvents{Events: w.App.API.Events, arrived: make(chan struct{}), release: make(chan struct{})}
			w.App.API.Events, w.App.API.MaxInFlight = held, most
			var running sync.WaitGroup
			for taken := int64(0); taken < most; {
				b := w.Tenant(account.Growth)
				for range min(max(1, most/3), most-taken) {
					a.Do("GET", path, nil).Want(200)
					running.Go(func() { b.Do("GET", heldPath, nil).WantError(404, "not_found") })
					<-held.arrived
					taken++
				}
				if taken < most {
					b.Do("GET", "/v1", nil).WantError(429, "rate_limit_exceeded")
				}
			}
			spent := 3 + most
			for range 20 {
				res := a.Do("GET", path, nil)
				res.WantError(503, "unavailable")
				// No quota was spent, so none is refunded.
				if got := rateHeadersOf(t, res.Header); got.remaining != 300-spent || got.retryAfter != 1 {
					t.Fatalf("got %+v, want %d left and Retry-After 1", got, 300-spent)
				}
			}
			if got := rateHeadersOf(t, a.Do("POST", path+"/pause", nil).Want(200).Header); got.remaining != 299-spent {
				t.Errorf("got %+v for a pause, want it counted", got)
			}
			a.Do("DELETE", other, nil).Want(200)
			close(held.release)
			running.Wait()
			if got := rateHeadersOf(t, a.Do("GET", path, nil).Want(200).Header); got.remaining != 297-spent {
				t.Errorf("got %+v, want three more spent", got)
			}
		})
	}
}

// TestR9ListsTakeTurns: lists of one founder, in whatever workspace, leave a turn
// to others. Whatever is not a list needs none.
func TestR9ListsTakeTurns(t *testing.T) {
	t.Parallel()
	w := fanfaretest.New(t, nil)
	a, b := w.Tenant(account.Growth), w.Tenant(account.Growth)
	path := createDraft(a.Client, "One")
	a.Do("POST", path+"/launch", nil).Want(200)
	held := &heldEvents{Events: w.App.API.Events, arrived: make(chan struct{}), release: make(chan struct{})}
	w.App.API.Events = held
	var running sync.WaitGroup
	list := func(c *fanfaretest.Tenant) { running.Go(func() { c.Do("GET", "/v1/events", nil).Want(200) }) }
	share := 2*runtime.GOMAXPROCS(0) - 1
	for range share {
		list(a)
		<-held.arrived
	}
	list(a)
	list(b)
	<-held.arrived
	a.Do("POST", path+"/pause", nil).Want(200)
	close(held.release)
	<-held.arrived
	running.Wait()
}
