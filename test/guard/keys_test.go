package guard_test

import (
	"crypto/rand"
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"fanfare/internal/account"
	"fanfare/internal/app"
	"fanfare/internal/clock"
	"fanfare/internal/fanfaretest"
)

// TestK3Header: the ways to send a key, and invalid ones.
func TestK3Header(t *testing.T) {
	w := fanfaretest.New(t, nil)
	a := w.Tenant(account.Enterprise)
	unknown := account.NewSecret(rand.Reader)
	tests := []struct {
		name    string
		headers []string
		status  int
		code    string
	}{
		{"as written", []string{"Authorization: Bearer " + a.Key}, 200, ""},
		{"lower case", []string{"Authorization: bearer " + a.Key}, 200, ""},
		{"upper case", []string{"Authorization: BEARER " + a.Key}, 200, ""},
		{"more spaces", []string{"Authorization: Bearer   " + a.Key}, 200, ""},
		{"none", nil, 401, "missing_api_key"},
		{"no scheme", []string{"Authorization: " + a.Key}, 401, "missing_api_key"},
		{"scheme alone", []string{"Authorization: Bearer"}, 401, "missing_api_key"},
		{"basic", []string{"Authorization: Basic " + a.Key}, 401, "missing_api_key"},
		{"token", []string{"Authorization: Token " + a.Key}, 401, "missing_api_key"},
		{"another header", []string{"X-Api-Key: " + a.Key}, 401, "missing_api_key"},
		{"a cookie", []string{"Cookie: key=" + a.Key}, 401, "missing_api_key"},
		{"twice the same", []string{"Authorization: Bearer " + a.Key, "Authorization: Bearer " + a.Key}, 401, "invalid_api_key"},
		{"valid and nonsense", []string{"Authorization: Bearer " + a.Key, "Authorization: nonsense"}, 401, "invalid_api_key"},
		{"two in one", []string{"Authorization: Bearer " + a.Key + ", Bearer " + a.Key}, 401, "invalid_api_key"},
		{"something after it", []string{"Authorization: Bearer " + a.Key + " x"}, 401, "invalid_api_key"},
		{"quoted", []string{`Authorization: Bearer "` + a.Key + `"`}, 401, "invalid_api_key"},
		{"unknown", []string{"Authorization: Bearer " + unknown}, 401, "invalid_api_key"},
		{"bad checksum", []string{"Authorization: Bearer " + a.Key[:40] + otherCharacter(a.Key[40])}, 401, "invalid_api_key"},
	}
	for _, tt := range tests {
		rec := serveRequest(w, newRequest(t.Context(), w.Client(""), "GET", "/v1/me", nil, tt.headers...))
		if rec.Code != tt.status || tt.code != "" && !contains(rec.Body.Bytes(), `"code":"`+tt.code+`"`) {
			t.Errorf("%s: got %d %s, want %d %s", tt.name, rec.Code, rec.Body, tt.status, tt.code)
		}
		if got := rec.Header().Get("WWW-Authenticate"); (got != "") != (tt.status == 401) {
			t.Errorf("%s: got WWW-Authenticate %q", tt.name, got)
		}
	}
	if got := revokeReason(t, w, a.Key); got != "" {
		t.Errorf("got the key revoked: %s", got)
	}
}

// otherCharacter returns a different character.
func otherCharacter(c byte) string {
	if c == 'x' {
		return "y"
	}
	return "x"
}

// TestK3EverythingNeedsAKey: under /v1 even unknown paths and other versions
// require a key.
func TestK3EverythingNeedsAKey(t *testing.T) {
	w := fanfaretest.New(t, nil)
	for i, target := range []string{"/v1", "/v1/nothing", "/v1/nothing/at/all", "/v1/campaigns/cmp_x/explode", "/v2/campaigns", "/v9", "/v1/campaigns?limit=0"} {
		c := w.Client("")
		c.From = fmt.Sprintf("203.0.113.%d:1", i+1)
		for _, method := range []string{"GET", "POST", "PUT", "OPTIONS", "TRACE"} {
			c.Do(method, target, nil).WantError(401, "missing_api_key")
		}
	}
}

// TestK3Query: a key in the URL gives no access. A valid one is revoked, unless
// it came from this machine or the operator only wants warnings.
func TestK3Query(t *testing.T) {
	tests := []struct {
		name, from string
		target     string // %s is the key
		header     bool
		keep       bool
		status     int
		code       string
		reason     string
	}{
		{"alone", "203.0.113.7:1", "/v1/me?key=%s", false, false, 401, "missing_api_key", "sent_in_url"},
		{"as a name", "203.0.113.7:1", "/v1/me?%s", false, false, 401, "missing_api_key", "sent_in_url"},
		{"in a longer value", "203.0.113.7:1", "/v1/me?q=Bearer+%s;x", false, false, 401, "missing_api_key", "sent_in_url"},
		{"in a broken query", "203.0.113.7:1", "/v1/me?a=%%zz;b=%s", false, false, 401, "missing_api_key", "sent_in_url"},
		{"beside itself in the header", "203.0.113.7:1", "/v1/me?key=%s", true, false, 401, "api_key_revoked", "sent_in_url"},
		{"where there is nothing", "203.0.113.7:1", "/v1/nothing?key=%s", false, false, 401, "missing_api_key", "sent_in_url"},
		{"loopback", "127.0.0.1:1", "/v1/me?key=%s", false, false, 401, "missing_api_key", ""},
		{"loopback, IPv6", "[::1]:1", "/v1/me?key=%s", true, false, 400, "invalid_parameter", ""},
		{"policy warn", "203.0.113.7:1", "/v1/me?key=%s", false, true, 401, "missing_api_key", ""},
		{"policy warn, beside the header", "203.0.113.7:1", "/v1/me?key=%s", true, true, 400, "invalid_parameter", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := fanfaretest.New(t, nil, func(c *app.Config) { c.KeepExposedKeys = tt.keep })
			a := w.Tenant(account.Growth)
			secret := a.As(account.Editor).Key
			c := w.Client("")
			if tt.header {
				c.Key = secret
			}
			c.From = tt.from
			rec := serveRequest(w, newRequest(t.Context(), c, "GET", fmt.Sprintf(tt.target, secret), nil))
			if rec.Code != tt.status || !contains(rec.Body.Bytes(), `"code":"`+tt.code+`"`) {
				t.Errorf("got %d %s, want %d %s", rec.Code, rec.Body, tt.status, tt.code)
			}
			if contains(rec.Body.Bytes(), secret) {
				t.Errorf("got the key in the answer: %s", rec.Body)
			}
			if got := revokeReason(t, w, secret); got != tt.reason {
				t.Errorf("got revoked for %q, want %q", got, tt.reason)
			}
			if log := w.Log.String(); !strings.Contains(log, "api key exposed") || strings.Contains(log, secret) {
				t.Errorf("got log %s, want a warning without the key", log)
			}
			want := 0
			if tt.reason != "" {
				want = 1
			}
			if got := len(a.Do("GET", "/v1/events?type=api_key.revoked", nil).Want(200).List().Data); got != want {
				t.Errorf("got %d events api_key.revoked, want %d", got, want)
			}
		})
	}
}

// TestK3ForeignKeyInQuery: with a valid header and another caller's key in the
// URL, the request is invalid and the key in the URL is revoked.
func TestK3ForeignKeyInQuery(t *testing.T) {
	w := fanfaretest.New(t, nil)
	a, b := w.Tenant(account.Growth), w.Tenant(account.Growth)
	a.Do("GET", "/v1/campaigns?token="+b.Key, nil).WantError(400, "invalid_parameter")
	a.Do("GET", "/v1/campaigns", nil).Want(200)
	b.Do("GET", "/v1/campaigns", nil).WantError(401, "api_key_revoked")
}

// TestK4Live: a change of a user's rights applies to the next request,
// including removal and return.
func TestK4Live(t *testing.T) {
	fanfaretest.Each(t, func(t *testing.T, w *fanfaretest.Service) {
		a := w.Tenant(account.Growth)
		acc, ctx := w.App.Accounts, t.Context()
		member := func(role string) {
			t.Helper()
			if _, err := acc.AddMember(ctx, fanfaretest.Operator, a.Workspace, "bob@example.com", role, false); err != nil {
				t.Fatal(err)
			}
		}
		member("editor")
		secret, _, err := acc.CreateKey(ctx, fanfaretest.Operator, a.Workspace, "bob@example.com", account.KeyOptions{Name: "k"})
		if err != nil {
			t.Fatal(err)
		}
		bob := w.Client(secret)
		write := func() *fanfaretest.Response {
			return bob.Do("POST", "/v1/campaigns", map[string]any{"name": "x"})
		}
		role := func(to string) {
			t.Helper()
			if _, err := acc.SetRole(ctx, fanfaretest.Operator, a.Workspace, "bob@example.com", to); err != nil {
				t.Fatal(err)
			}
		}
		write().Want(201)
		role("viewer")
		e := write().WantError(403, "insufficient_permissions")
		if e.Details[0].Meta["required_permission"] != "campaigns:write" {
			t.Errorf("got %+v, want the permission that is missing", e.Details)
		}
		bob.Do("GET", "/v1/campaigns", nil).Want(200)
		role("editor")
		write().Want(201)
		if _, err := acc.Remove(ctx, fanfaretest.Operator, a.Workspace, "bob@example.com"); err != nil {
			t.Fatal(err)
		}
		write().WantError(401, "api_key_owner_inactive")
		w.Clock.Advance(29 * day)
		member("viewer")
		write().WantError(403, "insufficient_permissions")
		bob.Do("GET", "/v1/campaigns", nil).Want(200)
		if _, err := acc.Suspend(ctx, fanfaretest.Operator, a.Workspace, true); err != nil {
			t.Fatal(err)
		}
		bob.Do("GET", "/v1/campaigns", nil).WantError(403, "workspace_suspended")
		if _, err := acc.Suspend(ctx, fanfaretest.Operator, a.Workspace, false); err != nil {
			t.Fatal(err)
		}
		bob.Do("GET", "/v1/campaigns", nil).Want(200)
	})
}

// TestK5Narrowed: scopes and address lists of keys.
func TestK5Narrowed(t *testing.T) {
	w := fanfaretest.New(t, nil)
	a := w.Tenant(account.Growth)
	reader := a.As(account.Owner, func(o *account.KeyOptions) { o.Scopes = account.Scopes{"campaigns": account.Read} })
	reader.Do("GET", "/v1/campaigns", nil).Want(200)
	reader.Do("GET", "/v1/me", nil).Want(200)
	e := reader.Do("POST", "/v1/campaigns", map[string]any{"name": "x"}).WantError(403, "insufficient_scope")
	if e.Details[0].Meta["required_scope"] != "campaigns:write" {
		t.Errorf("got %+v, want the scope that is missing", e.Details)
	}
	reader.Do("GET", "/v1/events", nil).WantError(403, "insufficient_scope")
	listed := a.As(account.Owner, func(o *account.KeyOptions) {
		o.Addresses = []netip.Prefix{netip.MustParsePrefix("198.51.100.0/24")}
	})
	e = listed.Do("GET", "/v1/me", nil).WantError(403, "insufficient_scope")
	if e.Details[0].Code != "ip_not_allowed" {
		t.Errorf("got %+v, want ip_not_allowed", e.Details)
	}
	listed.From = "198.51.100.9:1"
	listed.Do("GET", "/v1/me", nil).Want(200)
}

// TestK6ExpiryHeader: in the last 14 days every answer to a key names its
// expiry, refusals too; afterwards the key is invalid.
func TestK6ExpiryHeader(t *testing.T) {
	w := fanfaretest.New(t, nil)
	a := w.Tenant(account.Starter)
	c := a.As(account.Viewer, func(o *account.KeyOptions) { o.Lifetime = 30 * day })
	end := clock.At(w.Clock.Now().Add(30 * day)).String()
	header := func(res *fanfaretest.Response) string { return res.Header.Get("X-Api-Key-Expires-At") }
	w.Clock.Advance(16 * day)
	if got := header(c.Do("GET", "/v1", nil).Want(200)); got != "" {
		t.Errorf("got %q with 14 days to go, want none yet", got)
	}
	w.Clock.Advance(time.Second)
	for _, res := range []*fanfaretest.Response{
		c.Do("GET", "/v1", nil).Want(200), c.Do("GET", "/v1/campaigns/cmp_x", nil).Want(404), c.Do("GET", "/v1/campaigns?limit=0", nil).Want(400),
		c.Do("POST", "/v1/campaigns", map[string]any{"name": "x"}).Want(403),
	} {
		if got := header(res); got != end {
			t.Errorf("got %q with less than 14 days to go, want %q", got, end)
		}
	}
	for range 56 {
		c.Do("GET", "/v1", nil)
	}
	if got := header(c.Do("GET", "/v1", nil).Want(429)); got != end {
		t.Errorf("got %q on 429, want %q", got, end)
	}
	if got := header(a.Do("GET", "/v1", nil).Want(429)); got != "" {
		t.Errorf("got %q for a key without end, want none", got)
	}
	w.Clock.Advance(14*day - time.Second)
	e := c.Do("GET", "/v1", nil).WantError(401, "api_key_expired")
	if e.Details[0].Meta["expired_at"] != end {
		t.Errorf("got %+v, want when it expired", e.Details)
	}
}

// TestK8RevokedAtOnce: after a revocation is acknowledged, the node admits no
// further request of the key, even if many are concurrent.
func TestK8RevokedAtOnce(t *testing.T) {
	fanfaretest.Each(t, func(t *testing.T, w *fanfaretest.Service) {
		w.App.API.Limits[account.Enterprise] = w.App.API.Limits["none"]
		a := w.Tenant(account.Enterprise)
		for range 5 {
			c := a.As(account.Viewer)
			var acknowledged atomic.Bool
			var wg sync.WaitGroup
			begun := make(chan struct{}, 8)
			for range 8 {
				wg.Go(func() {
					begun <- struct{}{}
					for {
						after := acknowledged.Load()
						rec := serveRequest(w, newRequest(t.Context(), c, "GET", "/v1", nil))
						if after && rec.Code != 401 {
							t.Errorf("got %d after the revocation was acknowledged, want 401", rec.Code)
						}
						if after || rec.Code != 200 {
							return
						}
					}
				})
			}
			for range 8 {
				<-begun
			}
			if _, err := w.App.Accounts.Revoke(t.Context(), fanfaretest.Operator, a.Workspace, callerOf(t, w, c.Key).Key.ID, "stolen"); err != nil {
				t.Error(err)
			}
			acknowledged.Store(true)
			wg.Wait()
			c.Do("GET", "/v1", nil).WantError(401, "api_key_revoked")
		}
	})
}

// TestK8InFlight: a request that was admitted before the revocation completes.
func TestK8InFlight(t *testing.T) {
	w := fanfaretest.New(t, nil)
	a := w.Tenant(account.Growth)
	c := a.As(account.Editor)
	release := holdRequest(t, c)
	if _, err := w.App.Accounts.Revoke(t.Context(), fanfaretest.Operator, a.Workspace, callerOf(t, w, c.Key).Key.ID, "stolen"); err != nil {
		t.Fatal(err)
	}
	c.Do("GET", "/v1", nil).WantError(401, "api_key_revoked")
	if rec := release(); rec.Code != 201 {
		t.Errorf("got %d for a request that was under way, want 201: %s", rec.Code, rec.Body)
	}
}

// TestK9LastUsed: the recorded use of a key, in the service and in the list of
// keys, is never older than a minute.
func TestK9LastUsed(t *testing.T) {
	fanfaretest.Each(t, func(t *testing.T, w *fanfaretest.Service) {
		a := w.Tenant(account.Growth)
		for range 3 {
			for range 5 {
				a.Do("GET", "/v1", nil, "User-Agent: robot/1.0").Want(200)
			}
			key := a.Do("GET", "/v1/me", nil, "User-Agent: robot/1.0").Want(200).Record()["key"].(map[string]any)
			if got, want := key["last_used_at"], clock.At(w.Clock.Now()).String(); got != want {
				t.Errorf("got last used at %v, want %v", got, want)
			}
			w.Clock.Advance(30 * time.Minute)
		}
		if err := w.App.Keys.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		keys, err := w.App.Accounts.Keys(t.Context(), a.Workspace)
		if err != nil {
			t.Fatal(err)
		}
		k := keys[0]
		if want := clock.At(w.Clock.Now().Add(-30 * time.Minute)); k.LastUsedAt == nil || *k.LastUsedAt != want || k.Requests30d != 18 || k.LastAgent != "robot/1.0" || k.LastAddress != "203.0.113.7" {
			t.Errorf("got %+v, want 18 requests, the last at %v by robot/1.0 from 203.0.113.7", k, want)
		}
	})
}
