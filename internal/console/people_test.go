package console_test

import (
	"fmt"
	"maps"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"fanfare/internal/account"
	"fanfare/internal/fanfaretest"
	"fanfare/internal/httpapi"
	"fanfare/internal/ratelimit"
)

// TestPeopleLimit checks that a user's requests to both APIs of the console and
// in all workspaces count together, and that pausing, revoking and signing out
// still work over the limit.
func TestPeopleLimit(t *testing.T) {
	t.Parallel()
	fanfaretest.Each(t, func(t *testing.T, w *fanfaretest.Service) {
		tenant := w.Tenant(account.Starter)
		b, other := owner(t, tenant), member(t, tenant, account.Admin)
		campaign := tenant.Do("POST", "/v1/campaigns", `{"name":"a"}`).Want(201).ID()
		tenant.Do("POST", "/v1/campaigns/"+campaign+"/launch", nil).Want(200)
		second := b.api("POST", "workspaces", `{"name":"Second","timezone":"UTC","currency":"EUR"}`).want(200).record()["id"].(string)
		key, _ := b.makeKey(nil)
		w.Clock.Advance(time.Minute)
		w.App.API.Limits[httpapi.UserPlan] = ratelimit.Limits{PerMinute: 5}
		for i, got := range []*answer{
			b.do("GET", "/console/v1/campaigns", nil), b.api("GET", "keys", nil), b.api("GET", "members", nil),
			b.api("POST", "session/workspace", map[string]any{"workspace_id": second}), b.do("GET", "/console/v1/campaigns", nil),
		} {
			if left := got.want(200).header.Get("X-Ratelimit-Remaining"); left != fmt.Sprint(4-i) {
				t.Errorf("call %d: got %s left want %d", i, left, 4-i)
			}
		}
		for _, got := range []*answer{b.do("GET", "/console/v1/campaigns", nil), b.api("GET", "keys", nil), b.api("POST", "members", `{"email":"a@example.com","role":"viewer"}`)} {
			got.fails(429, "minute")
			if got.header.Get("Retry-After") != "60" || got.header.Get("X-Ratelimit-Limit") != "5" || got.header.Get("X-Ratelimit-Remaining") != "0" {
				t.Errorf("got headers %v", got.header)
			}
		}
		other.do("GET", "/console/v1/campaigns", nil).want(200)
		tenant.Do("GET", "/v1/campaigns", nil).Want(200)
		w.Clock.Advance(time.Minute)
		b.api("POST", "session/workspace", map[string]any{"workspace_id": string(tenant.Workspace)}).want(200)
		for range 4 {
			b.do("GET", "/console/v1/campaigns", nil).want(200)
		}
		b.do("GET", "/console/v1/campaigns", nil).fails(429, "minute")
		b.do("POST", "/console/v1/campaigns/"+campaign+"/pause", nil).want(200)
		b.api("DELETE", "keys/"+key, nil).want(200)
		b.api("DELETE", "session", nil).want(200)
	})
}

// TestMaxWorkspaces checks the limit of workspaces per user, also with
// concurrent requests.
func TestMaxWorkspaces(t *testing.T) {
	t.Parallel()
	fanfaretest.Each(t, func(t *testing.T, w *fanfaretest.Service) {
		tenant := w.Tenant(account.Starter)
		b := owner(t, tenant)
		const body = `{"name":"Another","timezone":"UTC","currency":"EUR"}`
		var made, refused atomic.Int64
		var group sync.WaitGroup
		for range 8 {
			mine := newBrowser(t, w)
			maps.Copy(mine.cookies, b.cookies)
			group.Go(func() {
				for range 3 {
					switch got := mine.api("POST", "workspaces", body); {
					case got.status == 200:
						made.Add(1)
					case got.status == 409 && got.problem() == "too_many_workspaces":
						refused.Add(1)
					default:
						t.Errorf("got %d %s", got.status, got.body)
					}
				}
			})
		}
		group.Wait()
		if made.Load() != 9 || refused.Load() != 15 {
			t.Errorf("got %d made and %d refused want 9 and 15, with the first one ten", made.Load(), refused.Load())
		}
		// A workspace of another owner does not count, and another user has
		// ten.
		other := owner(t, w.Tenant(account.Starter))
		other.api("POST", "workspaces", body).want(200)
		w.App.Console.MaxWorkspaces = 0
		other.api("POST", "workspaces", body).fails(409, "invalid_state")
	})
}
