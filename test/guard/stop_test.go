package guard_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"fanfare/internal/account"
	"fanfare/internal/fanfaretest"
	"fanfare/internal/ratelimit"
)

// TestStopOverLimit uses up the minute and the day of a plan: requests that
// stop a campaign still succeed, ten times a minute, and no others do.
func TestStopOverLimit(t *testing.T) {
	fanfaretest.Each(t, func(t *testing.T, w *fanfaretest.Service) {
		const enough = 60
		w.App.API.Limits[account.Starter] = ratelimit.Limits{PerMinute: enough, PerDay: 2 * enough}
		a := w.Tenant(account.Starter)
		var active []string
		for i := range 12 {
			id := a.Do("POST", "/v1/campaigns", fmt.Sprintf(`{"name":"C%d"}`, i)).Want(201).ID()
			a.Do("POST", "/v1/campaigns/"+id+"/launch", nil).Want(200)
			active = append(active, id)
		}
		draft := a.Do("POST", "/v1/campaigns", `{"name":"Draft"}`).Want(201).ID()
		exhaust := func() {
			t.Helper()
			for status := 200; status == 200; {
				status = a.Do("GET", "/v1", nil).Status
			}
		}
		refused := func(method, path string) {
			t.Helper()
			a.Do(method, path, nil).WantError(429, "rate_limit_exceeded")
		}
		stop := func(method, path string) {
			t.Helper()
			res := a.Do(method, path, nil).Want(200)
			if got := rateHeadersOf(t, res.Header); got.remaining != 0 {
				t.Errorf("got %+v want nothing left", got)
			}
		}
		exhaust()
		// The minute is used up.
		for i, id := range active[:9] {
			stop("POST", "/v1/campaigns/"+id+"/pause")
			if i == 0 {
				refused("POST", "/v1/campaigns/"+id+"/resume")
				refused("DELETE", "/v1/campaigns/"+id)
				refused("DELETE", "/v1/campaigns/"+draft)
				refused("DELETE", "/v1/campaigns/cmp_01h455vb4pex5vsknk084sn02q")
				refused("POST", "/v1/campaigns/"+active[1]+"/launch")
				// Requests that would stop nothing do not count against the
				// ten.
				for range 11 {
					refused("POST", "/v1/campaigns/"+id+"/pause")
					refused("POST", "/v1/campaigns/"+draft+"/pause")
					refused("POST", "/v1/campaigns/cmp_01h455vb4pex5vsknk084sn02q/pause")
					a.Do("POST", "/v1/campaigns/"+active[1]+"/pause", nil, `If-Match: "77.0"`).WantError(429, "rate_limit_exceeded")
					a.Do("DELETE", "/v1/campaigns/"+active[1], nil, `If-Match: "77.0"`).WantError(429, "rate_limit_exceeded")
				}
			}
		}
		stop("DELETE", "/v1/campaigns/"+active[9])
		refused("POST", "/v1/campaigns/"+active[10]+"/pause")
		refused("DELETE", "/v1/campaigns/"+active[10])
		a.Do("POST", "/v1/campaigns/"+active[10]+"/pause", `{`).WantError(429, "rate_limit_exceeded")

		// The day is used up too.
		w.Clock.Advance(time.Minute)
		exhaust()
		w.Clock.Advance(time.Minute)
		if e := a.Do("GET", "/v1", nil).WantError(429, "rate_limit_exceeded"); e.Details[0].Code != "day" {
			t.Fatalf("got %+v want the day to be used up", e.Details)
		}
		stop("POST", "/v1/campaigns/"+active[10]+"/pause")
		stop("DELETE", "/v1/campaigns/"+active[11])

		// Another workspace has its own quota.
		b := w.Tenant(account.Starter)
		b.Do("GET", "/v1", nil).Want(200)
	})
}

// TestInvalidStopsOverLimit uses up the minute of a plan: invalid requests to
// stop a campaign get their own error, do not count against the ten of the
// workspace, and are refused from the 61st of a key on.
func TestInvalidStopsOverLimit(t *testing.T) {
	fanfaretest.Each(t, func(t *testing.T, w *fanfaretest.Service) {
		const enough = 60
		w.App.API.Limits[account.Starter] = ratelimit.Limits{PerMinute: enough}
		a := w.Tenant(account.Starter)
		other := a.As(account.Editor)
		var active []string
		for i := range 12 {
			id := a.Do("POST", "/v1/campaigns", fmt.Sprintf(`{"name":"C%d"}`, i)).Want(201).ID()
			a.Do("POST", "/v1/campaigns/"+id+"/launch", nil).Want(200)
			active = append(active, id)
		}
		for status := 200; status == 200; {
			status = a.Do("GET", "/v1", nil).Status
		}
		pause := func(i int) string { return "/v1/campaigns/" + active[i] + "/pause" }
		invalid := []func() *fanfaretest.Response{
			func() *fanfaretest.Response { return a.Do("POST", pause(0), `{`) },
			func() *fanfaretest.Response { return a.Do("POST", pause(0), `{"no_such_field":1}`) },
			func() *fanfaretest.Response { return a.Do("POST", pause(0), `x`, "Content-Type: text/plain") },
			func() *fanfaretest.Response { return a.Do("POST", pause(0), nil, "Accept: text/csv") },
			func() *fanfaretest.Response {
				return a.Do("POST", pause(0), nil, "Idempotency-Key: "+strings.Repeat("k", 300))
			},
			func() *fanfaretest.Response { return a.Do("DELETE", "/v1/campaigns/"+active[0]+"?x=1", nil) },
		}
		wants := []int{400, 422, 415, 406, 400, 400}
		for i := range 60 - 2 {
			if res := invalid[i%len(invalid)](); res.Status != wants[i%len(wants)] {
				t.Fatalf("invalid request %d: got %d want %d", i, res.Status, wants[i%len(wants)])
			}
		}
		a.Do("POST", pause(0), nil).Want(200)
		a.Do("DELETE", "/v1/campaigns/"+active[1], nil).Want(200)
		for _, try := range invalid {
			try().WantError(429, "rate_limit_exceeded")
		}
		a.Do("POST", pause(2), nil).WantError(429, "rate_limit_exceeded")
		// Other keys of the workspace have the rest of the ten.
		for i := 2; i < 10; i++ {
			other.Do("POST", pause(i), nil).Want(200)
		}
		other.Do("POST", pause(10), nil).WantError(429, "rate_limit_exceeded")
		w.Clock.Advance(time.Minute)
		a.Do("POST", pause(10), nil).Want(200)
	})
}
