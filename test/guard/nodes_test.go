package guard_test

import (
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"fanfare/internal/account"
	"fanfare/internal/app"
	"fanfare/internal/fanfaretest"
	"fanfare/internal/ratelimit"
	"fanfare/internal/store/pgtest"
	"fanfare/internal/store/postgres"
)

// startNodes starts several services on one database, with one clock.
func startNodes(t *testing.T, n int, options ...func(*app.Config)) []*fanfaretest.Service {
	t.Helper()
	url, key := pgtest.URL(t), filepath.Join(t.TempDir(), "master.key")
	options = append(slices.Clip(options), func(c *app.Config) { c.MasterKey = key })
	var list []*fanfaretest.Service
	for range n {
		e, err := postgres.Open(t.Context(), url, postgres.Options{MaxConns: 6})
		if err != nil {
			t.Fatal(err)
		}
		own := options
		if len(list) > 0 {
			own = append(slices.Clip(own), func(c *app.Config) { c.Now = list[0].Clock.Now })
		}
		list = append(list, fanfaretest.New(t, e, own...))
	}
	return list
}

// TestR2Nodes: three nodes together admit exactly as many requests as one.
func TestR2Nodes(t *testing.T) {
	t.Parallel()
	list := startNodes(t, 3, withStarterLimits(ratelimit.Limits{PerMinute: 50, PerDay: 90}))
	a := list[0].Tenant(account.Starter)
	for minute, want := range []int64{50, 40, 0} {
		var admitted, refused atomic.Int64
		var wg sync.WaitGroup
		for g := range 9 {
			wg.Go(func() {
				w := list[g%3]
				for range 20 {
					switch rec := serveRequest(w, newRequest(t.Context(), w.Client(a.Key), "GET", "/v1/me", nil)); rec.Code {
					case 200:
						admitted.Add(1)
					case 429:
						refused.Add(1)
					default:
						t.Errorf("got %d: %s", rec.Code, rec.Body)
					}
				}
			})
		}
		wg.Wait()
		if admitted.Load() != want || refused.Load() != 180-want {
			t.Errorf("minute %d: got %d admitted and %d refused on three nodes, want %d and %d", minute+1, admitted.Load(), refused.Load(), want, 180-want)
		}
		list[0].Clock.Advance(time.Minute)
	}
}

// TestK8Nodes: a change of a key applies to the next request on its node, and
// within a second on all others.
func TestK8Nodes(t *testing.T) {
	t.Parallel()
	list := startNodes(t, 2)
	here, there := list[0], list[1]
	a := here.Tenant(account.Growth)
	_, err := here.App.Accounts.AddMember(t.Context(), fanfaretest.Operator, a.Workspace, "bob@example.com", "editor", false)
	if err != nil {
		t.Fatal(err)
	}
	secret, k, err := here.App.Accounts.CreateKey(t.Context(), fanfaretest.Operator, a.Workspace, "bob@example.com", account.KeyOptions{Name: "k"})
	if err != nil {
		t.Fatal(err)
	}
	body := map[string]any{"name": "x"}
	for _, w := range list {
		w.Client(secret).Do("POST", "/v1/campaigns", body).Want(201)
	}
	if _, err := here.App.Accounts.SetRole(t.Context(), fanfaretest.Operator, a.Workspace, "bob@example.com", "viewer"); err != nil {
		t.Fatal(err)
	}
	here.Client(secret).Do("POST", "/v1/campaigns", body).WantError(403, "insufficient_permissions")
	here.Clock.Advance(account.RevokeBound)
	there.Client(secret).Do("POST", "/v1/campaigns", body).WantError(403, "insufficient_permissions")
	there.Client(secret).Do("GET", "/v1/campaigns", nil).Want(200)
	if _, err := here.App.Accounts.Revoke(t.Context(), fanfaretest.Operator, a.Workspace, k.ID, "stolen"); err != nil {
		t.Fatal(err)
	}
	here.Client(secret).Do("GET", "/v1/campaigns", nil).WantError(401, "api_key_revoked")
	here.Clock.Advance(account.RevokeBound)
	there.Client(secret).Do("GET", "/v1/campaigns", nil).WantError(401, "api_key_revoked")
}
