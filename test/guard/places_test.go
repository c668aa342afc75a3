package guard_test

import (
	"context"
	"fmt"
	"net/http"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"fanfare/internal/account"
	"fanfare/internal/fanfaretest"
	"fanfare/internal/httpapi"
	"fanfare/internal/ident"
	"fanfare/internal/page"
	"fanfare/internal/record"
)

// heldEvents blocks every read of events until release is closed.
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

// heldPath is a path whose request heldEvents blocks without a turn.
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

// TestR9FoundersShare: all workspaces of a founder together have a third of the
// places, so that other people are served, and the founder can still pause.
func TestR9FoundersShare(t *testing.T) {
	t.Parallel()
	w := fanfaretest.New(t, nil)
	a, other := w.Tenant(account.Growth), w.Tenant(account.Growth)
	path := createDraft(a.Client, "One")
	a.Do("POST", path+"/launch", nil).Want(200)
	clients := []*fanfaretest.Client{a.Client}
	for i := range 2 {
		made, err := w.App.Accounts.CreateWorkspace(t.Context(), fanfaretest.Operator, account.NewWorkspace{
			Name: fmt.Sprint("More ", i), Plan: string(account.Growth), Owner: a.Owner, Currency: "USD", Timezone: "UTC",
		})
		if err != nil {
			t.Fatal(err)
		}
		clients = append(clients, w.Client(made.APIKey))
	}
	held := &heldEvents{Events: w.App.API.Events, arrived: make(chan struct{}), release: make(chan struct{})}
	w.App.API.Events, w.App.API.MaxInFlight = held, 16
	var running sync.WaitGroup
	for i := range 5 {
		running.Go(func() { clients[i%3].Do("GET", heldPath, nil).WantError(404, "not_found") })
		<-held.arrived
	}
	for _, c := range clients {
		if e := c.Do("GET", "/v1", nil).WantError(429, "rate_limit_exceeded"); e.Details[0].Code != "concurrency" {
			t.Errorf("got %+v want concurrency", e.Details)
		}
	}
	other.Do("GET", "/v1", nil).Want(200)
	a.Do("POST", path+"/pause", nil).Want(200)
	close(held.release)
	running.Wait()
}

// TestR9LastPlaces checks that founders without running requests have the last
// eighth of the places, also if several other founders take all other places.
func TestR9LastPlaces(t *testing.T) {
	t.Parallel()
	w := fanfaretest.New(t, nil)
	held := &heldEvents{Events: w.App.API.Events, arrived: make(chan struct{}), release: make(chan struct{})}
	w.App.API.Events, w.App.API.MaxInFlight = held, 16
	var running sync.WaitGroup
	var last *fanfaretest.Tenant
	for i := range 14 {
		if i%5 == 0 {
			last = w.Tenant(account.Growth)
		}
		c := last
		running.Go(func() { c.Do("GET", heldPath, nil).WantError(404, "not_found") })
		<-held.arrived
	}
	last.Do("GET", "/v1", nil).WantError(503, "unavailable")
	w.Tenant(account.Growth).Do("GET", "/v1", nil).Want(200)
	close(held.release)
	running.Wait()
}

// TestR9WaitingTakesNoPlace: requests that wait for their turn leave their places
// to others.
func TestR9WaitingTakesNoPlace(t *testing.T) {
	t.Parallel()
	w := fanfaretest.New(t, nil)
	a := w.Tenant(account.Growth)
	held := &heldEvents{Events: w.App.API.Events, arrived: make(chan struct{}), release: make(chan struct{})}
	turns := 2 * runtime.GOMAXPROCS(0)
	w.App.API.Events, w.App.API.MaxInFlight = held, int64(turns)+1
	const waiting = 3
	var tenants []*fanfaretest.Tenant
	for range turns + waiting {
		tenants = append(tenants, w.Tenant(account.Growth))
	}
	var running sync.WaitGroup
	for i, c := range tenants {
		running.Go(func() {
			// Before it waits for its turn, a request needs a place for a moment,
			// and one of those below may have the only one.
			for {
				if res := c.Do("GET", "/v1/events", nil); res.Status != http.StatusServiceUnavailable {
					res.Want(200)
					return
				}
			}
		})
		if i < turns {
			<-held.arrived
			continue
		}
		for range 20 {
			a.Do("GET", "/v1", nil)
		}
	}
	a.Do("GET", "/v1", nil).Want(200)
	close(held.release)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		running.Wait()
	}()
	for {
		select {
		case <-held.arrived:
		case <-ended:
			return
		}
	}
}

// TestDrillPlaces has one user with three workspaces send rows, lists and
// pauses to a node that works on 16 requests at once. Another user is served,
// and no pause is refused.
func TestDrillPlaces(t *testing.T) {
	const each = 12
	rounds := 8
	if fullDrill {
		rounds = 500
	}
	s := startDrillServer(t, "", "--max-in-flight", "16")
	other := s.createWorkspace("Other")
	rows := manyRows()
	var stop atomic.Bool
	var answered atomic.Int64
	var attack sync.WaitGroup
	defer attack.Wait()
	defer stop.Store(true)
	flood := func(call func(client *http.Client) int) {
		for range each {
			client := &http.Client{Transport: s.Transport(), Timeout: time.Minute}
			attack.Go(func() {
				defer client.CloseIdleConnections()
				for !stop.Load() && call(client) != 0 {
					answered.Add(1)
				}
			})
		}
	}
	campaigns := map[string]string{}
	for i := range 3 {
		key := s.createWorkspace(fmt.Sprint("Hostile", i), "--plan", "growth", "--owner", "hostile@example.com")
		campaigns[key] = s.launchCampaign(key)
	}
	for hostile, own := range campaigns {
		try := func(client *http.Client, method, path, body string) int {
			res, _, err := s.Try(client, hostile, method, path, body)
			if err != nil {
				t.Errorf("%s %s: %v", method, path, err)
				return 0
			}
			return res.StatusCode
		}
		flood(func(c *http.Client) int { return try(c, http.MethodPost, "/v1/ingest/metrics", rows) })
		flood(func(c *http.Client) int { return try(c, http.MethodGet, "/v1/campaigns", "") })
		flood(func(c *http.Client) int {
			status := try(c, http.MethodPost, own+"/pause", "")
			if status != http.StatusOK && status != http.StatusConflict {
				t.Errorf("own pause: got %d want 200 or 409", status)
			}
			return status
		})
	}
	waitUntil(t, "the hostile requests to be answered", func() bool { return answered.Load() > 9*each })
	for range rounds {
		at := s.launchCampaign(other)
		for _, call := range []struct{ method, path string }{{http.MethodPost, at + "/pause"}, {http.MethodGet, at}, {http.MethodDelete, at}} {
			if status, text := s.Call(other, call.method, call.path, ""); status != http.StatusOK {
				t.Errorf("%s: got %d %s want 200", call.method, status, text)
			}
		}
	}
}
