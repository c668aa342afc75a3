package console_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"fanfare/internal/account"
	"fanfare/internal/fanfaretest"
	"fanfare/internal/ratelimit"
	"fanfare/internal/signin"
)

// TestOrigins checks that cross-origin requests are rejected.
func TestOrigins(t *testing.T) {
	t.Parallel()
	w := fanfaretest.New(t, nil)
	b := owner(t, w.Tenant(account.Starter))
	none := "Sec-Fetch-Site:"
	for _, tt := range []struct {
		name    string
		headers []string
		allowed bool
	}{
		{"this site", nil, true},
		{"another site", []string{"Sec-Fetch-Site: cross-site"}, false},
		{"a sister of this site", []string{"Sec-Fetch-Site: same-site"}, false},
		{"another site that says it is this one", []string{"Sec-Fetch-Site: cross-site", "Origin: https://fanfare.test"}, false},
		{"this origin", []string{none, "Origin: https://fanfare.test"}, true},
		{"another origin", []string{none, "Origin: https://evil.example"}, false},
		{"this host without TLS", []string{none, "Origin: http://fanfare.test"}, false},
		{"another port", []string{none, "Origin: https://fanfare.test:444"}, false},
		{"no origin to speak of", []string{none, "Origin: null"}, false},
		{"a program", []string{none}, true},
	} {
		for _, call := range []struct{ method, target, body string }{
			{"POST", "/console/api/keys", `{"name":"a","expires_in_days":1}`},
			{"POST", "/console/v1/campaigns", `{"name":"a"}`},
			{"PATCH", "/console/api/user", `{"name":"a"}`},
			{"DELETE", "/console/api/keys/nobody", ``},
			{"POST", "/console/api/session", `{"email":"a@example.com","password":"b"}`},
			{"DELETE", "/console/api/session", ``},
		} {
			if call.target == "/console/api/session" && tt.allowed {
				continue
			}
			got := b.do(call.method, call.target, call.body, tt.headers...)
			if refused := got.problem() == "cross_origin"; refused == tt.allowed || refused && got.status != 403 {
				t.Errorf("%s: %s %s: got %d %s want allowed %v", tt.name, call.method, call.target, got.status, got.body, tt.allowed)
			}
		}
	}
}

// TestCookie checks the attributes of the cookies.
func TestCookie(t *testing.T) {
	t.Parallel()
	w := fanfaretest.New(t, nil)
	tenant := w.Tenant(account.Starter)
	b := owner(t, tenant)
	check := func(c *http.Cookie, life time.Duration) {
		t.Helper()
		if c.Name != "__Host-fanfare" || !c.Secure || !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Path != "/" || c.Domain != "" {
			t.Errorf("got cookie %s", c)
		}
		if want := int(life / time.Second); c.MaxAge != want {
			t.Errorf("got life %d want %d", c.MaxAge, want)
		}
	}
	check(b.set[0], signin.SessionLife)
	old := b.cookies["__Host-fanfare"]
	b.enter(tenant.Owner)
	thief := newBrowser(t, w)
	thief.cookies["__Host-fanfare"] = old
	thief.api("GET", "keys", nil).fails(401, "signed_out")
	held := b.cookies["__Host-fanfare"]
	b.api("DELETE", "session", nil).want(200)
	check(b.set[len(b.set)-1], -time.Second)
	thief.cookies["__Host-fanfare"] = held
	thief.api("GET", "keys", nil).fails(401, "signed_out")
	b.api("DELETE", "session", nil).want(200)
}

// TestKnownBrowser checks that only its owner can sign in from a known browser
// during an attack.
func TestKnownBrowser(t *testing.T) {
	t.Parallel()
	w := fanfaretest.New(t, nil)
	tenant := w.Tenant(account.Starter)
	b := owner(t, tenant)
	b.api("POST", "password", map[string]any{"next": password}).want(200)
	sign := func(b *browser, password string) *answer {
		return b.api("POST", "session", map[string]any{"email": tenant.Owner, "password": password})
	}
	sign(b, password).want(200)
	device := b.set[len(b.set)-1]
	if device.Name != "__Host-fanfare-device" || !device.Secure || !device.HttpOnly || device.SameSite != http.SameSiteLaxMode || device.MaxAge != int(signin.DeviceLife/time.Second) {
		t.Errorf("got cookie %s", device)
	}
	b.api("DELETE", "session", nil).want(200)
	stranger := newBrowser(t, w)
	for i := range 100 {
		stranger.address = fmt.Sprintf("203.0.113.%d:5000", i)
		sign(stranger, "wrong password")
	}
	if refused := sign(stranger, password).want(429); refused.header.Get("Retry-After") == "" || refused.problem() != "attempts" {
		t.Errorf("got %v %s want to be told how long to wait", refused.header, refused.body)
	}
	sign(b, password).want(200)
}

// TestAuthority checks that the path of the CA certificate is shown only on the
// server's own machine.
func TestAuthority(t *testing.T) {
	t.Parallel()
	w := fanfaretest.New(t, nil)
	w.App.Console.Authority = "/srv/fanfare/tls/ca.pem"
	b := owner(t, w.Tenant(account.Starter))
	for address, want := range map[string]any{"198.51.100.4:5000": nil, "127.0.0.1:5000": w.App.Console.Authority, "[::1]:5000": w.App.Console.Authority} {
		b.address = address
		if got := b.api("GET", "session", nil).want(200).record()["authority"]; got != want {
			t.Errorf("%s: got %v want %v", address, got, want)
		}
	}
}

// TestSetUp sets up an empty server and signs the owner in.
func TestSetUp(t *testing.T) {
	t.Parallel()
	fanfaretest.Each(t, func(t *testing.T, w *fanfaretest.Service) {
		b := newBrowser(t, w)
		first := b.api("GET", "session", nil).want(200).record()
		if first["state"] != "setup" || first["mail"] != false || first["build"] != "test" {
			t.Errorf("got %v want a server to be set up", first)
		}
		address, err := w.App.SignIn.SetupURL(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		_, token, _ := strings.Cut(address, "#")
		body := map[string]any{
			"token": token, "email": "ada@example.com", "name": "Ada", "password": password,
			"workspace": map[string]any{"name": "Shop", "timezone": "Europe/Nowhere", "currency": "EUR"},
		}
		if got := string(b.api("POST", "setup", body).want(422).body); !strings.Contains(got, `"workspace.timezone"`) {
			t.Errorf("got %s want it to name workspace.timezone", got)
		}
		body["workspace"].(map[string]any)["timezone"] = "Europe/Berlin"
		b.api("POST", "setup", body).want(200)
		in := b.api("GET", "session", nil).want(200).record()
		workspace := in["workspace"].(map[string]any)
		if in["state"] != "signed_in" || in["role"] != "owner" || workspace["name"] != "Shop" || workspace["currency"] != "EUR" || len(in["workspaces"].([]any)) != 1 {
			t.Errorf("got %v want the owner in the shop", in)
		}
		if keys := b.api("GET", "keys", nil).want(200).list(); len(keys) != 0 {
			t.Errorf("got keys %v want none", keys)
		}
		newBrowser(t, w).api("POST", "setup", body).want(404)

		other := newBrowser(t, w)
		if got := other.api("GET", "session", nil).want(200).record()["state"]; got != "signed_out" {
			t.Errorf("got state %v want signed_out", got)
		}
		other.api("POST", "session", `{"email":"ada@example.com","password":"wrong horse battery"}`).want(403)
		got := other.api("POST", "session", map[string]any{"email": "ada@example.com", "password": password}).want(200).record()
		if got["state"] != "signed_in" {
			t.Errorf("got %v want to be in", got)
		}
	})
}

// TestOwnSessions lists and ends a user's own sessions.
func TestOwnSessions(t *testing.T) {
	t.Parallel()
	w := fanfaretest.New(t, nil)
	tenant := w.Tenant(account.Starter)
	here, there := owner(t, tenant), owner(t, tenant)
	list := here.api("GET", "sessions", nil).want(200).list()
	if len(list) != 2 {
		t.Fatalf("got %d sessions want 2", len(list))
	}
	for _, s := range list {
		if s["ip"] != "198.51.100.4" || s["user_agent"] != "Browser/1" || s["method"] != "link" {
			t.Errorf("got session %v", s)
		}
		if s["current"] == false {
			here.api("DELETE", "sessions/"+s["id"].(string), nil).want(200)
		}
	}
	there.api("GET", "keys", nil).fails(401, "signed_out")
	here.api("PATCH", "user", `{"name":"Grace"}`).want(200)
	if got := here.api("GET", "session", nil).want(200).record()["user"].(map[string]any)["name"]; got != "Grace" {
		t.Errorf("got name %v want Grace", got)
	}
}

// TestOtherWorkspace switches the workspace and checks that a tab with the old
// workspace gets an error.
func TestOtherWorkspace(t *testing.T) {
	t.Parallel()
	w := fanfaretest.New(t, nil)
	tenant, strange := w.Tenant(account.Starter), w.Tenant(account.Starter)
	b := owner(t, tenant)
	made := b.api("POST", "workspaces", `{"name":"Second","timezone":"UTC","currency":"EUR"}`).want(200).record()
	tab := "Fanfare-Workspace: " + string(tenant.Workspace)
	b.do("POST", "/console/v1/campaigns", `{"name":"First"}`, tab).want(201)
	b.api("POST", "session/workspace", map[string]any{"workspace_id": strange.Workspace}).fails(404, "not_found")
	b.api("POST", "session/workspace", map[string]any{"workspace_id": made["id"]}, tab).want(200)
	b.do("GET", "/console/v1/campaigns", nil, tab).fails(409, "workspace_switched")
	b.api("GET", "keys", nil, tab).fails(409, "workspace_switched")
	var list []any
	b.do("GET", "/console/v1/campaigns", nil, "Fanfare-Workspace: "+made["id"].(string)).want(200).data(&list)
	if len(list) != 0 {
		t.Errorf("got %v in a new workspace want nothing", list)
	}
	b.do("GET", "/console/v1/campaigns", nil).want(200)
	b.api("POST", "session/workspace", map[string]any{"workspace_id": tenant.Workspace}, tab).want(200)
	b.do("GET", "/console/v1/campaigns", nil, tab).want(200)
}

// TestTaken checks that the session of a removed member moves to another
// workspace.
func TestTaken(t *testing.T) {
	t.Parallel()
	w := fanfaretest.New(t, nil)
	tenant := w.Tenant(account.Starter)
	boss, b := owner(t, tenant), member(t, tenant, account.Editor)
	boss.api("DELETE", "members/"+string(b.user()), nil).want(200)
	b.api("GET", "keys", nil).fails(403, "no_workspace")
	b.do("GET", "/console/v1/campaigns", nil).fails(403, "no_workspace")
	b.api("DELETE", "session", nil).want(200)
}

// TestSessionsBesideFailures checks that calls without a valid key never affect
// signed-in users of the same address, nor those who sign in there.
func TestSessionsBesideFailures(t *testing.T) {
	t.Parallel()
	tenant := fanfaretest.New(t, nil).Tenant(account.Starter)
	b := owner(t, tenant)
	stranger := tenant.Service.Client("")
	stranger.From = b.address
	for range ratelimit.FailuresPerMinute {
		stranger.Do("GET", "/v1/me", nil).Want(401)
	}
	stranger.Do("GET", "/v1/me", nil).Want(429)
	b.do("GET", "/console/v1/campaigns", nil).want(200)
	b.api("GET", "keys", nil).want(200)
	owner(t, tenant).api("GET", "keys", nil).want(200)
}

// TestPasskeyChallengesAreLimited checks that an address gets 60 passkey
// challenges a minute, whatever else it is refused, and that this affects
// nothing else there.
func TestPasskeyChallengesAreLimited(t *testing.T) {
	t.Parallel()
	w := fanfaretest.New(t, nil)
	b, stranger := newBrowser(t, w), w.Client("")
	stranger.From = b.address
	for range ratelimit.FailuresPerMinute {
		stranger.Do("GET", "/v1/me", nil).Want(401)
		b.api("POST", "session/passkey/begin", "{}").want(200)
	}
	if got := b.api("POST", "session/passkey/begin", "{}").fails(429, "ip"); got.header.Get("Retry-After") == "" {
		t.Errorf("got %v want Retry-After", got.header)
	}
	b.api("GET", "session", nil).want(200)
	owner(t, w.Tenant(account.Starter)).api("GET", "keys", nil).want(200)
	other := newBrowser(t, w)
	other.address = "198.51.100.5:5000"
	other.api("POST", "session/passkey/begin", "{}").want(200)
	w.Clock.Advance(time.Minute)
	b.api("POST", "session/passkey/begin", "{}").want(200)
}
