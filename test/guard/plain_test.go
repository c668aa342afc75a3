package guard_test

import (
	"crypto/rand"
	"net/http"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"fanfare/internal/account"
	"fanfare/internal/app"
	"fanfare/internal/fanfaretest"
)

// TestS4Plain: plain HTTP is always refused, and a valid key in its header is
// revoked if the listener is sure that it was sent in plain text.
func TestS4Plain(t *testing.T) {
	const here, away = "127.0.0.1:1", "203.0.113.7:1"
	basic := func(key string) string {
		r, _ := http.NewRequest(http.MethodGet, "/", nil)
		r.SetBasicAuth(key, "")
		return r.Header.Get("Authorization")
	}
	tests := []struct {
		name, from, target string
		headers            func(key string) []string
		mayRevoke, keep    bool
		want               bool
	}{
		{"bearer", away, "/v1/me", func(k string) []string { return []string{"Authorization: Bearer " + k} }, true, false, true},
		{"lower case", away, "/v1/me", func(k string) []string { return []string{"authorization: bearer " + k} }, true, false, true},
		{"no scheme", away, "/v1/me", func(k string) []string { return []string{"Authorization: " + k} }, true, false, true},
		{"basic", away, "/v1/me", func(k string) []string { return []string{"Authorization: " + basic(k)} }, true, false, true},
		{"two headers", away, "/v1/me", func(k string) []string { return []string{"Authorization: x", "Authorization: Bearer " + k} }, true, false, true},
		{"another header", away, "/v1/me", func(k string) []string { return []string{"X-Api-Key: " + k} }, true, false, true},
		{"cookie", away, "/v1/me", func(k string) []string { return []string{"Cookie: a=b; key=" + k} }, true, false, true},
		{"query", away, "/v1/me?key=%", nil, true, false, true},
		{"path", away, "/v1/campaigns/%", nil, true, false, true},
		{"outside /v1", away, "/docs?key=%", nil, true, false, true},
		{"a proxy that forgot to say", away, "/v1/me?key=%", nil, false, false, false},
		{"loopback", here, "/v1/me?key=%", nil, false, false, false},
		{"policy warn", away, "/v1/me?key=%", nil, true, true, false},
		{"no key", away, "/v1/me", nil, true, false, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := fanfaretest.New(t, nil, func(c *app.Config) { c.KeepExposedKeys, c.HSTS = tt.keep, true })
			a := w.Tenant(account.Growth)
			secret := a.As(account.Editor).Key
			c := w.Client("")
			c.From = tt.from
			var headers []string
			if tt.headers != nil {
				headers = tt.headers(secret)
			}
			target := strings.ReplaceAll(tt.target, "%", secret)
			rec := sendPlain(w, newRequest(t.Context(), c, "POST", target, strings.NewReader("{}"), headers...), tt.mayRevoke)
			wantRefused(t, rec.Code, rec.Header(), rec.Body.Bytes(), tt.want)
			if contains(rec.Body.Bytes(), secret) || strings.Contains(w.Log.String(), secret) {
				t.Errorf("got the key in the answer or the log: %s %s", rec.Body, w.Log)
			}
			reason := ""
			if tt.want {
				reason = "sent_in_cleartext"
			}
			if got := revokeReason(t, w, secret); got != reason {
				t.Errorf("got revoked for %q, want %q", got, reason)
			}
			events := a.Do("GET", "/v1/events?type=api_key.revoked", nil).Want(200).List().Data
			if (len(events) == 1) != tt.want {
				t.Errorf("got events %v, want one %v", events, tt.want)
			}
			if tt.want {
				w.Client(secret).Do("GET", "/v1", nil).WantError(401, "api_key_revoked")
			}
		})
	}
}

// wantRefused checks the whole answer to plain HTTP (S2, S3).
func wantRefused(t *testing.T, status int, h http.Header, body []byte, revoked bool) {
	t.Helper()
	var answer struct {
		Error fanfaretest.Error `json:"error"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		t.Fatalf("got %s: %v", body, err)
	}
	e := answer.Error
	if status != 403 || e.Code != "https_required" || len(e.Details) != 1 || e.Details[0].Meta["key_revoked"] != revoked || e.RequestID != h.Get("X-Request-Id") {
		t.Errorf("got %d %s, want 403 https_required with key_revoked %v", status, body, revoked)
	}
	for name, want := range map[string]string{
		"Connection": "close", "Location": "", "Strict-Transport-Security": "", "Cache-Control": "no-store", "Upgrade": "",
		"Content-Type": "application/json; charset=utf-8", "RateLimit-Policy": `"ip";q=60;w=60`, "X-RateLimit-Limit": "60",
	} {
		if got := h.Get(name); got != want {
			t.Errorf("got %s %q, want %q", name, got, want)
		}
	}
}

// TestS4Unknown: invalid keys change nothing.
func TestS4Unknown(t *testing.T) {
	w := fanfaretest.New(t, nil)
	a := w.Tenant(account.Growth)
	gone := a.As(account.Editor).Key
	if _, err := w.App.Accounts.Revoke(t.Context(), fanfaretest.Operator, a.Workspace, callerOf(t, w, gone).Key.ID, "before"); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{account.NewSecret(rand.Reader), "fanf_" + strings.Repeat("0", 36), gone} {
		rec := sendPlain(w, newRequest(t.Context(), w.Client(key), "GET", "/v1/me", nil), true)
		wantRefused(t, rec.Code, rec.Header(), rec.Body.Bytes(), false)
	}
	if got := revokeReason(t, w, gone); got != "before" {
		t.Errorf("got reason %q, want before", got)
	}
}

// TestS4Many: all keys of one request are revoked, of any workspace.
func TestS4Many(t *testing.T) {
	w := fanfaretest.New(t, nil)
	a, b := w.Tenant(account.Growth), w.Tenant(account.Growth)
	rec := sendPlain(w, newRequest(t.Context(), a.Client, "GET", "/v1/me?other="+b.Key, nil), true)
	wantRefused(t, rec.Code, rec.Header(), rec.Body.Bytes(), true)
	a.Do("GET", "/v1", nil).WantError(401, "api_key_revoked")
	b.Do("GET", "/v1", nil).WantError(401, "api_key_revoked")
}

// TestS7HSTS checks that the HSTS header is sent only with a public
// certificate, and never for localhost or an IP address.
func TestS7HSTS(t *testing.T) {
	for host, want := range map[string]bool{
		"api.example.com": true, "api.example.com:8443": true, "fanfare.test": true, "API.Example.COM": true,
		"localhost": false, "localhost:8443": false, "LOCALHOST": false, "localhost.": false, "app.localhost": false, "app.localhost.:1": false,
		"127.0.0.1": false, "127.0.0.1:8443": false, "203.0.113.7": false, "[::1]": false, "[::1]:8443": false, "[2001:db8::1]": false, "": false,
	} {
		for _, public := range []bool{true, false} {
			w := fanfaretest.New(t, nil, func(c *app.Config) { c.HSTS = public })
			for _, target := range []string{"/healthz", "/v1/me", "/nothing"} {
				r := newRequest(t.Context(), w.Client(""), "GET", target, nil)
				r.Host = host
				got := serveRequest(w, r).Header().Get("Strict-Transport-Security")
				if wanted := want && public; (got == "max-age=63072000; includeSubDomains") != wanted || (got != "") != wanted {
					t.Errorf("%s at %q, public %v: got %q, want it %v", target, host, public, got, wanted)
				}
			}
		}
	}
}
