package httpapi_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"fanfare/internal/account"
	"fanfare/internal/app"
	"fanfare/internal/fanfaretest"
	"fanfare/internal/httpapi"
)

func newTenant(t testing.TB, options ...func(*app.Config)) *fanfaretest.Tenant {
	t.Helper()
	return fanfaretest.New(t, nil, append([]func(*app.Config){ample}, options...)...).Tenant(account.Growth)
}

func create(t *fanfaretest.Tenant, body any) string {
	return t.Do("POST", "/v1/campaigns", body).Want(201).ID()
}

func TestH2PathsAreExact(t *testing.T) {
	t.Parallel()
	c := newTenant(t)
	id := create(c, `{"name":"One"}`)
	for _, path := range []string{
		"/v1/campaigns/", "/v1/campaigns//", "//v1/campaigns", "/v1//campaigns", "/v1/./campaigns", "/v1/x/../campaigns", "/v1/campaigns/.",
		"/v1/campaigns/..", "/v1/campaigns//launch", "/v1/campaigns/" + id + "/", "/v1/campaigns/" + id + "/launch/", "/v1/", "/v1/Campaigns",
		"/V1/campaigns", "/v1/campaigns/" + id + "/fly", "/v1/campaigns/" + id + "/launch/now", "/v1/%63ampaigns", "/docs/", "/docs//errors", "/nothing", "/v1x",
		"/index.html", "/v1/campaigns/../../etc/passwd",
	} {
		for _, method := range []string{"GET", "POST"} {
			res := c.Do(method, path, nil)
			res.WantError(404, "route_not_found")
			if res.Header.Get("Location") != "" {
				t.Errorf("%s %s: got a redirect to %s, want none", method, path, res.Header.Get("Location"))
			}
		}
	}
	// An encoded slash is part of an id that does not exist, not of another
	// path.
	c.Do("GET", "/v1/campaigns/a%2Fb", nil).WantError(404, "not_found")
	c.Do("GET", "/v1/campaigns/"+strings.ReplaceAll(id, "_", "%5F"), nil).WantError(404, "not_found")
	c.Do("GET", "/v1/campaigns/%7Bid%7D", nil).WantError(404, "not_found")
}

func TestH3Methods(t *testing.T) {
	t.Parallel()
	c := newTenant(t)
	id := create(c, `{"name":"One"}`)
	for _, tt := range []struct{ path, allow string }{
		{"/v1", "GET, HEAD"},
		{"/v1/me", "GET, HEAD"},
		{"/v1/campaigns", "GET, HEAD, POST"},
		{"/v1/campaigns/" + id, "DELETE, GET, HEAD, PATCH"},
		{"/v1/campaigns/" + id + "/launch", "POST"},
		{"/v1/events", "GET, HEAD"},
		{"/healthz", "GET, HEAD"},
		{"/docs", "GET, HEAD"},
	} {
		for _, method := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW", "get"} {
			if strings.Contains(", "+tt.allow+", ", ", "+method+", ") {
				continue
			}
			res := c.Do(method, tt.path, nil)
			res.WantError(405, "method_not_allowed")
			if got := res.Header.Get("Allow"); got != tt.allow {
				t.Errorf("%s %s: got Allow %q want %q", method, tt.path, got, tt.allow)
			}
		}
	}
	c.Do("POST", "/v1/campaigns/"+id, nil, "X-HTTP-Method-Override: DELETE").WantError(405, "method_not_allowed")
	for _, path := range []string{"/v1", "/v1/campaigns", "/v1/campaigns/" + id, "/docs", "/healthz"} {
		get, head := c.Do("GET", path, nil).Want(200), c.Do("HEAD", path, nil).Want(200)
		for _, name := range []string{"Content-Type", "Content-Length", "ETag"} {
			if get.Header.Get(name) != head.Header.Get(name) {
				t.Errorf("%s: got %s %q for HEAD, want %q as for GET", path, name, head.Header.Get(name), get.Header.Get(name))
			}
		}
	}
}

func TestH3CORSIsOffUnlessConfigured(t *testing.T) {
	t.Parallel()
	preflight := []string{"Origin: https://app.example.com", "Access-Control-Request-Method: POST"}
	c := newTenant(t)
	c.Do("OPTIONS", "/v1/campaigns", nil, preflight...).WantError(405, "method_not_allowed")
	if got := c.Do("GET", "/v1/me", nil, preflight[0]).Want(200).Header.Get("Access-Control-Allow-Origin"); got != "" {
		t.Errorf("got Access-Control-Allow-Origin %q without configuration, want none", got)
	}
	c = newTenant(t, func(c *app.Config) { c.CORSOrigins = []string{"https://app.example.com"} })
	res := c.Service.Client("").Do("OPTIONS", "/v1/campaigns", nil, preflight...).Want(200)
	if got := res.Header.Get("Access-Control-Allow-Origin"); got != "https://app.example.com" {
		t.Errorf("got Access-Control-Allow-Origin %q for a named origin, want it", got)
	}
	if got := res.Header.Get("Access-Control-Allow-Credentials"); got != "" {
		t.Errorf("got Access-Control-Allow-Credentials %q, want none: there are no cookies here", got)
	}
	res = c.Do("GET", "/v1/me", nil, preflight[0]).Want(200)
	if got := res.Header.Get("Access-Control-Allow-Origin"); got != "https://app.example.com" || !slices.Contains(res.Header.Values("Vary"), "Origin") {
		t.Errorf("got Access-Control-Allow-Origin %q and Vary %q, want the origin and Origin", got, res.Header.Values("Vary"))
	}
	res = c.Do("GET", "/v1/me", nil, "Origin: https://evil.example.com").Want(200)
	if got := res.Header.Get("Access-Control-Allow-Origin"); got != "" {
		t.Errorf("got Access-Control-Allow-Origin %q for a stranger, want none", got)
	}
	c.Do("OPTIONS", "/v1/campaigns", nil, "Origin: https://evil.example.com", preflight[1]).WantError(405, "method_not_allowed")
}

func TestH4MediaTypes(t *testing.T) {
	t.Parallel()
	c := newTenant(t)
	id := create(c, `{"name":"One"}`)
	const body = `{"name":"Two"}`
	for _, tt := range []struct {
		media       string
		post, patch int
	}{
		{"application/json", 201, 200},
		{"application/json; charset=utf-8", 201, 200},
		{"APPLICATION/JSON; charset=UTF-8", 201, 200},
		{"application/merge-patch+json", 415, 200},
		{"application/json; charset=latin1", 415, 415},
		{"application/json-patch+json", 415, 415},
		{"application/x-www-form-urlencoded", 415, 415},
		{"text/plain", 415, 415},
		{"text/json", 415, 415},
		{"application/", 415, 415},
		{"", 415, 415},
	} {
		post := c.Do("POST", "/v1/campaigns", body, "Content-Type: "+tt.media)
		patch := c.Do("PATCH", "/v1/campaigns/"+id, body, "Content-Type: "+tt.media)
		if post.Status != tt.post || patch.Status != tt.patch {
			t.Errorf("%q: got %d for POST and %d for PATCH, want %d and %d", tt.media, post.Status, patch.Status, tt.post, tt.patch)
		}
		if got := post.Header.Get("Accept-Post"); tt.post == 415 && got != "application/json" {
			t.Errorf("%q: got Accept-Post %q", tt.media, got)
		}
		if got := patch.Header.Get("Accept-Patch"); tt.patch == 415 && got != "application/merge-patch+json, application/json" {
			t.Errorf("%q: got Accept-Patch %q", tt.media, got)
		}
	}
	e := c.Do("POST", "/v1/campaigns", body, "Content-Type: application/x-www-form-urlencoded").WantError(415, "unsupported_media_type")
	if !strings.Contains(e.Message, "curl -d") {
		t.Errorf("got message %q, want the usual cause named", e.Message)
	}
	for _, coding := range []string{"gzip", "br", "identity, gzip"} {
		c.Do("POST", "/v1/campaigns", body, "Content-Encoding: "+coding).WantError(415, "unsupported_media_type")
		c.Do("POST", "/v1/campaigns/"+id+"/launch", nil, "Content-Encoding: "+coding).WantError(415, "unsupported_media_type")
	}
	c.Do("POST", "/v1/campaigns", body, "Content-Encoding: identity").Want(201)
	// Actions accept no body, an empty object, or their options; an empty body
	// needs no Content-Type.
	c.Do("POST", "/v1/campaigns/"+id+"/launch", nil).Want(200)
	c.Do("POST", "/v1/campaigns/"+id+"/pause", "{}").Want(200)
	c.Do("POST", "/v1/campaigns/"+id+"/resume", "", "Content-Type:").Want(200)
	// The body of an operation without one is ignored.
	c.Do("GET", "/v1/campaigns/"+id, "not even JSON", "Content-Type: text/plain").Want(200)
	c.Do("DELETE", "/v1/campaigns/"+id, "not even JSON", "Content-Type: text/plain", "Content-Encoding: gzip").Want(200)
}

func TestH5Limits(t *testing.T) {
	t.Parallel()
	c := newTenant(t)
	pad := func(n int) string {
		const start, end = `{"name":"One"`, `}`
		return start + strings.Repeat(" ", n-len(start)-len(end)) + end
	}
	c.Do("POST", "/v1/campaigns", pad(1<<20)).Want(201)
	e := c.Do("POST", "/v1/campaigns", pad(1<<20+1)).WantError(413, "body_too_large")
	if got := e.Details[0].Meta["limit_bytes"]; got != float64(1<<20) {
		t.Errorf("got limit_bytes %v want %d", got, 1<<20)
	}
	nest := func(levels int) string {
		return `{"name":"One","metadata":` + strings.Repeat(`[`, levels-1) + strings.Repeat(`]`, levels-1) + `}`
	}
	c.Do("POST", "/v1/campaigns", nest(64)).WantError(422, "validation_failed")
	e = c.Do("POST", "/v1/campaigns", nest(65)).WantError(400, "malformed_json")
	if e.Details[0].Code != "too_deep" {
		t.Errorf("got detail %s want too_deep", e.Details[0].Code)
	}
	deepest := `{"name":"One","metadata":` + strings.Repeat(`{"a":`, 63) + `1` + strings.Repeat(`}`, 63) + `}`
	c.Do("POST", "/v1/campaigns", deepest).WantError(422, "validation_failed")
	values := func(n int) string { return `{"name":"One","tags":[` + strings.Repeat("0,", n-4) + `0]}` }
	c.Do("POST", "/v1/campaigns", values(50_000)).WantError(422, "validation_failed")
	e = c.Do("POST", "/v1/campaigns", values(50_001)).WantError(400, "malformed_json")
	if e.Details[0].Code != "too_many_values" {
		t.Errorf("got detail %s want too_many_values", e.Details[0].Code)
	}
	target := func(n int) string {
		const start = "/v1/campaigns?q="
		return start + strings.Repeat("x", n-len(start))
	}
	c.Do("GET", target(8<<10), nil).WantError(400, "invalid_parameter")
	e = c.Do("GET", target(8<<10+1), nil).WantError(414, "uri_too_long")
	if got := e.Details[0].Meta["limit_bytes"]; got != float64(8<<10) {
		t.Errorf("got limit_bytes %v want %d", got, 8<<10)
	}
}

// TestH5Deadline checks that every operation passes a deadline to the store.
func TestH5Deadline(t *testing.T) {
	t.Parallel()
	w, engine := newFaultyService(t, fanfaretest.SQLite)
	c := w.Tenant(account.Growth)
	id := create(c, `{"name":"One"}`)
	engine.watch()
	c.Do("GET", "/v1/campaigns", nil).Want(200)
	c.Do("PATCH", "/v1/campaigns/"+id, `{"name":"Two"}`).Want(200)
	deadlines := engine.deadlines()
	if len(deadlines) == 0 {
		t.Fatal("got no calls of the store, want some")
	}
	for _, left := range deadlines {
		if left <= 0 || left > 30*time.Second {
			t.Errorf("got %v left for the store, want at most the 30 s of a handler", left)
		}
	}
}

func TestH6JSONIn(t *testing.T) {
	t.Parallel()
	c := newTenant(t)
	for _, tt := range []struct{ name, body, detail string }{
		{"nothing", "", "empty_body"},
		{"white space", " \r\n\t", "empty_body"},
		{"array", `[]`, "not_an_object"},
		{"null", `null`, "not_an_object"},
		{"text", `"name"`, "not_an_object"},
		{"number", `1`, "not_an_object"},
		{"unfinished", `{"name":"One"`, "syntax"},
		{"comment", `{"name":"One"/* ! */}`, "syntax"},
		{"trailing comma", `{"name":"One",}`, "syntax"},
		{"single quotes", `{'name':'One'}`, "syntax"},
		{"bare name", `{name:"One"}`, "syntax"},
		{"leading zero", `{"name":"One","x":01}`, "syntax"},
		{"NaN", `{"name":NaN}`, "syntax"},
		{"control character", "{\"name\":\"a\nb\"}", "syntax"},
		{"bad escape", `{"name":"\x41"}`, "syntax"},
		{"byte order mark", "\ufeff{\"name\":\"One\"}", "syntax"},
		{"duplicate", `{"name":"One","name":"One"}`, "duplicate_key"},
		{"duplicate in depth", `{"name":"One","metadata":{"a":"1","a":"2"}}`, "duplicate_key"},
		{"duplicate in escapes", `{"name":"One","n\u0061me":"Two"}`, "duplicate_key"},
		{"invalid UTF-8", "{\"name\":\"\xff\"}", "invalid_utf8"},
		{"invalid UTF-8 in a name", "{\"\xc3\x28\":1,\"name\":\"One\"}", "invalid_utf8"},
		{"lone high surrogate", `{"name":"\ud800"}`, "invalid_utf8"},
		{"lone low surrogate", `{"name":"\udc00x"}`, "invalid_utf8"},
		{"two objects", `{"name":"One"}{"name":"Two"}`, "trailing_data"},
		{"text after it", `{"name":"One"} x`, "trailing_data"},
	} {
		e := c.Do("POST", "/v1/campaigns", tt.body).WantError(400, "malformed_json")
		if len(e.Details) != 1 || e.Details[0].Code != tt.detail || e.Details[0].In != "body" {
			t.Errorf("%s: got details %+v want %s", tt.name, e.Details, tt.detail)
		}
	}
	for _, tt := range []struct{ name, body, field, detail string }{
		{"case of names", `{"NAME":"One","name":"Two"}`, "NAME", "unknown_field"},
		{"U+0000", `{"name":"a\u0000b"}`, "name", "invalid_value"},
		{"U+0000 in a key", `{"name":"One","metadata":{"a\u0000":"b"}}`, "metadata.a\x00", "invalid_value"},
		{"U+0000 in a tag", `{"name":"One","tags":["a\u0000"]}`, "tags[0]", "invalid_value"},
		{"U+0000 in a URL", `{"name":"One","tracking":{"landing_url":"https://a.example/\u0000"}}`, "tracking.landing_url", "invalid_value"},
		{"integer with a point", `{"name":"One","attribution":{"click_days":7.0}}`, "attribution.click_days", "invalid_type"},
		{"integer with an exponent", `{"name":"One","attribution":{"click_days":7e0}}`, "attribution.click_days", "invalid_type"},
	} {
		e := c.Do("POST", "/v1/campaigns", tt.body).WantError(422, "validation_failed")
		if len(e.Details) != 1 || e.Details[0].Field != tt.field || e.Details[0].Code != tt.detail {
			t.Errorf("%s: got details %+v want %s at %s", tt.name, e.Details, tt.detail, tt.field)
		}
	}
	// Unusual but valid values are accepted unchanged.
	got := c.Do("POST", "/v1/campaigns", "\n {\"name\" : \"\\ud83d\\ude00 \u2028 \\u0041\" } \t").Want(201).Record()["name"]
	if want := "😀 \u2028 A"; got != want {
		t.Errorf("got name %q want %q", got, want)
	}
}

func TestH7Accept(t *testing.T) {
	t.Parallel()
	c := newTenant(t)
	for accept, status := range map[string]int{
		"": 200, "*/*": 200, "application/json": 200, "application/*": 200, "APPLICATION/JSON": 200, "text/html, application/json": 200,
		"text/html, */*;q=0.1": 200, "application/json;charset=utf-8": 200, "application/json; q=0.5": 200,
		"text/html": 406, "text/*": 406, "application/xml": 406, "application/json;q=0": 406, "*/*;q=0": 406, "*/*, application/json;q=0.0": 406,
		"application/json;q=0, */*": 406, "application/*;q=0, text/html": 406, "application/problem+json": 406,
	} {
		if res := c.Do("GET", "/v1/me", nil, "Accept: "+accept); res.Status != status {
			t.Errorf("Accept %q: got %d want %d", accept, res.Status, status)
		}
	}
	if got := c.Do("GET", "/v1/me", nil).Header.Get("Content-Type"); got != "application/json; charset=utf-8" {
		t.Errorf("got Content-Type %q", got)
	}
}

func TestH8UnknownHeadersAreNoError(t *testing.T) {
	t.Parallel()
	c := newTenant(t)
	c.Do("GET", "/v1/me", nil, "X-Anything: goes", "Prefer: wait=10", "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "Cookie: session=1").Want(200)
}

// TestH8HSTS checks that the header is sent only with a public certificate, and
// never for localhost or an IP address.
func TestH8HSTS(t *testing.T) {
	t.Parallel()
	local, public := newTenant(t), newTenant(t, func(c *app.Config) { c.HSTS = true })
	const name = "Strict-Transport-Security"
	if got := local.Do("GET", "/v1/me", nil).Header.Get(name); got != "" {
		t.Errorf("got %q with a local certificate, want none", got)
	}
	if got := public.Do("GET", "/v1/me", nil).Header.Get(name); got != "max-age=63072000; includeSubDomains" {
		t.Errorf("got %q", got)
	}
	for host, want := range map[string]bool{
		"fanfare.example.com": true, "fanfare.example.com:8443": true, "localhost": false, "localhost:8443": false, "LOCALHOST": false, "app.localhost:1": false,
		"127.0.0.1": false, "127.0.0.1:8443": false, "[::1]": false, "[::1]:8443": false, "192.0.2.1": false, "": false,
	} {
		if got := httpapi.Insistable(host); got != want {
			t.Errorf("%q: got %v want %v", host, got, want)
		}
	}
}

func TestH9Compression(t *testing.T) {
	t.Parallel()
	c := newTenant(t)
	id := create(c, map[string]any{"name": "One", "description": strings.Repeat("long ", 400)})
	get := func(target, coding string) *fanfaretest.Response {
		return c.Do("GET", target, nil, "Accept-Encoding: "+coding).Want(200)
	}
	plain := get("/v1/campaigns", "")
	for _, coding := range []string{"gzip", "GZIP", "br, gzip;q=0.5", "gzip;q=1.0"} {
		res := get("/v1/campaigns", coding)
		if res.Header.Get("Content-Encoding") != "gzip" || res.Header.Get("Vary") != "Accept-Encoding" {
			t.Errorf("%q: got Content-Encoding %q, Vary %q, want gzip and Accept-Encoding", coding, res.Header.Get("Content-Encoding"), res.Header.Get("Vary"))
			continue
		}
		z, err := gzip.NewReader(bytes.NewReader(res.Body))
		if err != nil {
			t.Fatal(err)
		}
		if body, err := io.ReadAll(z); err != nil || !bytes.Equal(body, plain.Body) {
			t.Errorf("%q: got another body (%v)", coding, err)
		}
	}
	for _, coding := range []string{"", "identity", "br", "gzip;q=0", "gzip;q=0.000", "deflate"} {
		if got := get("/v1/campaigns", coding).Header.Get("Content-Encoding"); got != "" {
			t.Errorf("%q: got Content-Encoding %q, want none", coding, got)
		}
	}
	if res := get("/v1/campaigns/"+id, "gzip"); res.Header.Get("Content-Encoding") != "" || len(res.Body) < 1024 {
		t.Errorf("got a single record of %d bytes with Content-Encoding %q, want more than 1 KiB and none", len(res.Body), res.Header.Get("Content-Encoding"))
	}
	if res := get("/v1/campaigns?status=paused", "gzip"); res.Header.Get("Content-Encoding") != "" {
		t.Errorf("got a list of %d bytes with Content-Encoding %q, want none below 1 KiB", len(res.Body), res.Header.Get("Content-Encoding"))
	}
}

func TestH10RequestID(t *testing.T) {
	t.Parallel()
	w, engine := newFaultyService(t, fanfaretest.SQLite)
	c := w.Tenant(account.Growth)
	shape := regexp.MustCompile(`^req_[0-7][0-9a-hjkmnp-tv-z]{25}$`)
	ids := map[string]bool{}
	for range 100 {
		id := c.Do("GET", "/v1", nil, "X-Request-Id: req_01h455vb4pex5vsknk084sn02q").Want(200).Header.Get("X-Request-Id")
		if !shape.MatchString(id) || ids[id] || id == "req_01h455vb4pex5vsknk084sn02q" {
			t.Fatalf("got request id %q, want one of our own, new each time", id)
		}
		ids[id] = true
	}
	engine.fail(errors.New("broken"), nil)
	logged := func(own string) (string, string) {
		before := len(w.Log.String())
		res := c.Do("GET", "/v1/campaigns", nil, "X-Request-Id: "+own)
		res.WantError(500, "internal_error")
		return w.Log.String()[before:], res.Header.Get("X-Request-Id")
	}
	line, id := logged("order-4711")
	if !strings.Contains(line, "request_id="+id) || !strings.Contains(line, "client_request_id=order-4711") {
		t.Errorf("got log %q, want %s and the client's own id beside it", line, id)
	}
	for _, own := range []string{"", strings.Repeat("x", 129), "two words", "naïve"} {
		if line, _ := logged(own); strings.Contains(line, "client_request_id") {
			t.Errorf("got log %q for %q, want no client id", line, own)
		}
	}
	if line, _ := logged(strings.Repeat("x", 128)); !strings.Contains(line, "client_request_id=") {
		t.Errorf("got log %q, want the client's id of 128 characters", line)
	}
}
