package httpapi_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"fanfare/internal/connection"
)

// TestGrantPage has a person grant access for an API key: the page asks first,
// the form connects, and a link works once.
func TestGrantPage(t *testing.T) {
	t.Parallel()
	c := newTenant(t)
	open := func(what, method, target string, status int, contains string) {
		t.Helper()
		rec := httptest.NewRecorder()
		r := httptest.NewRequestWithContext(t.Context(), method, "https://fanfare.test"+target, nil)
		r.RequestURI = target
		r.Header.Set("Sec-Fetch-Site", "same-origin")
		c.Service.App.API.ServeHTTP(rec, r)
		if text := rec.Body.String(); rec.Code != status || !strings.Contains(text, contains) || strings.Contains(text, "code=") {
			t.Errorf("%s: got %d want %d: %s", what, rec.Code, status, text)
		}
	}
	for _, platform := range connection.Played {
		made := c.Do("POST", "/v1/connections", map[string]any{"platform": platform, "name": "Granted " + platform}).Want(201).Record()
		back := c.Service.Consent(made["authorization_url"].(string))
		open(platform+" asks", "GET", back, 200, "<form")
		open(platform+" is connected", "POST", back, 200, "<h1>Connected")
		open(platform+" is connected once", "POST", back, 400, "<h1>Not connected")
		if got := c.Do("GET", "/v1/connections/"+made["id"].(string), nil).Want(200).Record()["status"]; got != "connected" {
			t.Errorf("%s: got status %v want connected", platform, got)
		}
	}
	open("no state", "GET", connection.CallbackPath+"google_ads", 400, "<h1>")
	open("a forged state", "GET", connection.CallbackPath+"google_ads?state=forged&code=x", 400, "<h1>")
	open("no consent", "GET", connection.CallbackPath+"google_ads?error=access_denied", 400, "<h1>")
	open("a platform that is none", "GET", connection.CallbackPath+"myspace?state=x", 404, "")
}
