package guard_test

import (
	"fmt"
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
