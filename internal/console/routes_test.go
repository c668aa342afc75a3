package console_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"fanfare/internal/account"
	"fanfare/internal/fanfaretest"
)

// openRoutes, leastRoles and proofRoutes repeat the table, so that a mistake in
// it is noticed.
var (
	openRoutes = []string{
		"GET session", "POST session", "DELETE session", "POST session/totp", "POST session/passkey/begin", "POST session/passkey",
		"POST session/link", "POST setup", "POST link/look", "POST link", "POST reset", "GET oidc/start", "GET oidc/callback",
	}
	leastRoles = map[account.Role][]string{
		account.Viewer: {
			"POST session/prove", "POST session/prove/passkey/begin", "POST session/prove/passkey", "POST session/workspace", "GET sessions",
			"DELETE sessions/{id}", "PATCH user", "POST password", "GET passkeys", "POST passkeys/begin", "POST passkeys", "DELETE passkeys/{id}",
			"POST totp/begin", "POST totp", "DELETE totp", "GET keys", "POST keys", "POST keys/{id}/rotate", "DELETE keys/{id}", "GET workspace",
			"GET usage", "GET requests",
		},
		account.Admin: {
			"GET members", "POST members", "POST members/service", "PATCH members/{id}", "DELETE members/{id}", "POST members/{id}/reset",
			"DELETE invitations/{id}", "PATCH workspace", "GET audit", "GET audit.ndjson", "GET providers", "PUT providers/{id}", "DELETE providers/{id}",
		},
		account.Owner: {"POST workspaces"},
	}
	proofRoutes = []string{
		"POST password", "POST passkeys/begin", "POST passkeys", "DELETE passkeys/{id}", "POST totp/begin", "POST totp", "DELETE totp",
		"POST keys", "POST keys/{id}/rotate", "POST members/{id}/reset",
	}
)

// least returns the required role of a route, empty for an open one.
func least(t *testing.T, route string) account.Role {
	t.Helper()
	for role, routes := range leastRoles {
		if slices.Contains(routes, route) {
			return role
		}
	}
	if !slices.Contains(openRoutes, route) {
		t.Errorf("%s is in no list of this test", route)
	}
	return ""
}

// TestRoles checks every role with every route.
func TestRoles(t *testing.T) {
	t.Parallel()
	w := fanfaretest.New(t, nil)
	tenant := w.Tenant(account.Starter)
	people := map[account.Role]*browser{}
	for _, role := range account.Roles {
		people[account.Role(role)] = member(t, tenant, account.Role(role))
	}
	n := 0
	for _, r := range w.App.Console.Routes() {
		route, target := r.Method+" "+r.Path, strings.Replace(r.Path, "{id}", "nobody", 1)
		role := least(t, route)
		if role == "" {
			continue
		}
		newBrowser(t, w).api(r.Method, target, `{}`).fails(http.StatusUnauthorized, "signed_out")
		for _, name := range account.Roles {
			got := people[account.Role(name)].api(r.Method, target, `{}`)
			refused := got.status == http.StatusForbidden && got.problem() == "insufficient_permissions"
			if may := account.Role(name).AtLeast(role); refused == may || got.status == http.StatusUnauthorized || got.status >= 500 {
				t.Errorf("%s as %s: got %d %s want allowed %v", route, name, got.status, got.problem(), may)
			}
			n++
		}
	}
	if want := 4 * (22 + 13 + 1); n != want {
		t.Errorf("got %d cells want %d", n, want)
	}
}

// TestProof checks that actions that could give an intruder lasting access need
// a recent authentication.
func TestProof(t *testing.T) {
	t.Parallel()
	w := fanfaretest.New(t, nil)
	b := owner(t, w.Tenant(account.Starter))
	b.api("POST", "password", map[string]any{"next": password}).want(200)
	w.Clock.Advance(15 * time.Minute)
	for _, r := range w.App.Console.Routes() {
		if r.Open {
			continue
		}
		route := r.Method + " " + r.Path
		got := b.api(r.Method, strings.Replace(r.Path, "{id}", "nobody", 1), `{}`)
		if asked, want := got.problem() == "proof_required", slices.Contains(proofRoutes, route); asked != want {
			t.Errorf("%s: got %d %s want a proof asked for %v", route, got.status, got.problem(), want)
		}
	}
	if got := b.api("GET", "session", nil).want(200).record()["proved_until"]; got != nil {
		t.Errorf("got proved until %v want null", got)
	}
	key := map[string]any{"name": "CI", "expires_in_days": 90}
	b.api("POST", "session/prove", map[string]any{"password": "wrong horse battery staple"}).want(403)
	b.api("POST", "keys", key).fails(403, "proof_required")
	b.api("POST", "session/prove", map[string]any{"password": password}).want(200)
	b.api("POST", "keys", key).want(200)
	if got := b.api("GET", "session", nil).want(200).record()["proved_until"]; got != "2026-11-15T12:30:00.000Z" {
		t.Errorf("got proved until %v want a quarter of an hour from now", got)
	}
	for _, body := range []string{`{}`, `{"password":"a","code":"b"}`} {
		b.api("POST", "session/prove", body).fails(422, "required")
	}
}

// TestOwnersProve checks that adding an owner needs a recent authentication.
func TestOwnersProve(t *testing.T) {
	t.Parallel()
	w := fanfaretest.New(t, nil)
	tenant := w.Tenant(account.Starter)
	b, other := owner(t, tenant), member(t, tenant, account.Editor)
	path := "members/" + string(other.user())
	w.Clock.Advance(15 * time.Minute)
	b.api("PATCH", path, `{"role":"admin"}`).want(200)
	b.api("PATCH", path, `{"role":"owner"}`).fails(403, "proof_required")
	b.enter(tenant.Owner).api("PATCH", path, `{"role":"owner"}`).want(200)
}

// TestPaths checks that paths and methods match exactly.
func TestPaths(t *testing.T) {
	t.Parallel()
	w := fanfaretest.New(t, nil)
	b := owner(t, w.Tenant(account.Starter))
	for target, want := range map[string]int{
		"/console/":                    404,
		"/console/api":                 404,
		"/console/api/":                404,
		"/console/api/nothing":         404,
		"/console/api/keys/":           404,
		"/console/api//keys":           404,
		"/console/api/keys/a/b/c":      404,
		"/console/api/{id}":            404,
		"/console/v2/campaigns":        404,
		"/console/v1":                  200,
		"/console/v1/":                 404,
		"/console/v1/me":               404,
		"/console/v1/nothing":          404,
		"/console/v1/../v1/campaigns":  404,
		"/console/api/audit?nothing=1": 400,
		"/console/api/keys?x=" + strings.Repeat("a", 8<<10): 414,
	} {
		if got := b.do("GET", target, nil); got.status != want {
			t.Errorf("%.60s: got %d want %d: %s", target, got.status, want, got.body)
		}
	}
	got := b.api("PUT", "keys", `{}`).want(405)
	if allow := got.header.Get("Allow"); allow != "GET, POST" {
		t.Errorf("got Allow %q want GET, POST", allow)
	}
}

// TestBodies checks that bodies are read strictly and that all problems are
// reported.
func TestBodies(t *testing.T) {
	t.Parallel()
	w := fanfaretest.New(t, nil)
	b := owner(t, w.Tenant(account.Starter))
	for _, tt := range []struct {
		name, body string
		status     int
		problem    string
	}{
		{"nothing", ``, 400, "empty_body"},
		{"no JSON", `{`, 400, "syntax"},
		{"a list", `[]`, 400, "not_an_object"},
		{"a name twice", `{"name":"a","name":"b"}`, 400, "duplicate_key"},
		{"more behind it", `{} {}`, 400, "trailing_data"},
		{"too much", `{"name":"` + strings.Repeat("a", 64<<10) + `"}`, 413, "body_too_large"},
		{"an unknown member", `{"name":"a","expires_in_days":1,"nane":1}`, 422, "unknown_field"},
		{"a wrong type", `{"name":1,"expires_in_days":1}`, 422, "invalid_type"},
		{"a wrong range", `{"name":"a","expires_in_days":1,"ip_allow_list":["10.0.0.0/33"]}`, 422, "invalid_format"},
		{"a wrong scope", `{"name":"a","expires_in_days":1,"scopes":{"campaigns":"own"}}`, 422, "invalid_value"},
		{"an unknown scope", `{"name":"a","expires_in_days":1,"scopes":{"campaign":"read"}}`, 422, "unknown_field"},
	} {
		b.api("POST", "keys", tt.body).fails(tt.status, tt.problem)
	}
	all := string(b.api("POST", "keys", `{"name":"","expires_in_days":-1,"scope":null}`).want(422).body)
	for _, want := range []string{`"field":"name"`, `"field":"expires_in_days"`, `"did_you_mean":"scopes"`} {
		if !strings.Contains(all, want) {
			t.Errorf("got %s want %s in it", all, want)
		}
	}
	b.api("POST", "keys", `{"name":"a"}`, "Content-Type: text/plain").want(415)
}
