package console_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/fstest"

	"fanfare/internal/account"
	"fanfare/internal/app"
	"fanfare/internal/console"
	"fanfare/internal/fanfaretest"
)

// build is a small build of the console.
var build = fstest.MapFS{
	".gitignore":                {Data: []byte("*")},
	"index.html":                {Data: []byte("<!doctype html><title>Console</title>")},
	"index.html.br":             {Data: []byte("br page")},
	"signin.html":               {Data: []byte("<!doctype html><title>Sign in</title>")},
	"favicon.svg":               {Data: []byte("<svg/>")},
	"assets/index-B4x9.js":      {Data: []byte("plain script")},
	"assets/index-B4x9.js.br":   {Data: []byte("br script")},
	"assets/index-B4x9.js.gz":   {Data: []byte("gz script")},
	"assets/index-B4x9.css":     {Data: []byte("plain style")},
	"assets/index-B4x9.css.zst": {Data: []byte("zst style")},
}

// built starts a service with a console build.
func built(t *testing.T, options ...func(*app.Config)) *browser {
	t.Helper()
	w := fanfaretest.New(t, nil, options...)
	files, err := console.ReadFiles(build)
	if err != nil {
		t.Fatal(err)
	}
	w.App.Console.UseFiles(files)
	return newBrowser(t, w)
}

// TestPages checks that every page's path returns its app, and no other path
// does.
func TestPages(t *testing.T) {
	t.Parallel()
	b := built(t)
	paths := map[string]string{"/": "Console"}
	for _, first := range []string{"campaigns", "creative", "audiences", "analytics", "connections", "settings"} {
		paths["/"+first], paths["/"+first+"/one/two"] = "Console", "Console"
	}
	for _, first := range []string{"sign-in", "setup", "link", "reset"} {
		paths["/"+first] = "Sign in"
	}
	if got := len(console.Pages); got != 11 {
		t.Errorf("got %d kinds of pages want 11", got)
	}
	for path, title := range paths {
		for _, method := range []string{"GET", "HEAD"} {
			got := b.do(method, path, nil)
			if got.status != 200 || got.header.Get("Content-Type") != "text/html; charset=utf-8" || got.header.Get("Cache-Control") != "no-cache" {
				t.Errorf("%s %s: got %d %v want the page", method, path, got.status, got.header)
			}
			if method == "HEAD" && len(got.body) > 0 {
				t.Errorf("%s: got a body for HEAD", path)
			}
			if method == "GET" && !strings.Contains(string(got.body), title) {
				t.Errorf("%s: got %s want %s", path, got.body, title)
			}
		}
		if got := b.do("GET", path, nil, "Accept: */*"); path != "/" && (got.status != 404 || got.problem() != "route_not_found") {
			t.Errorf("GET %s by a program: got %d %s want 404", path, got.status, got.body)
		}
		if got := b.do("POST", path, `{}`); got.status != 404 || got.problem() != "route_not_found" {
			t.Errorf("POST %s: got %d %s want 404", path, got.status, got.body)
		}
	}
	for _, path := range []string{"/index.html", "/index.html.br", "/signin.html", "/.gitignore", "/nothing", "//campaigns", "/campaign", "/assets/", "/assets/x/index-B4x9.js.br", "/consoles", "/console"} {
		if got := b.do("GET", path, nil); got.status != 404 || !strings.Contains(string(got.body), "Console") || got.header.Get("ETag") != "" {
			t.Errorf("%s: got %d %v %s want 404 with the console's page", path, got.status, got.header, got.body)
		}
		if got := b.do("GET", path, nil, "Accept: */*"); got.status != 404 || got.problem() != "route_not_found" {
			t.Errorf("%s by a program: got %d %s want 404 in JSON", path, got.status, got.body)
		}
	}
	b.do("GET", "/healthz", nil).want(200)
	b.do("GET", "/docs", nil).want(200)
}

// TestMissingPages checks that an unknown path returns HTML to browsers and
// JSON to other clients.
func TestMissingPages(t *testing.T) {
	t.Parallel()
	b := built(t)
	for _, path := range []string{"/docs/nothing", "/docs/guides/nothing", "/docs/"} {
		got := b.do("GET", path, nil)
		if got.status != 404 || got.header.Get("Content-Type") != "text/html; charset=utf-8" || !strings.Contains(string(got.body), `<a href="/docs">`) {
			t.Errorf("%s: got %d %v %s want 404 with a page of the documentation", path, got.status, got.header, got.body)
		}
		if got := b.do("GET", path, nil, "Accept: application/json"); got.status != 404 || got.problem() != "route_not_found" {
			t.Errorf("%s by a program: got %d %s want 404 in JSON", path, got.status, got.body)
		}
	}
	// API paths and asset links return JSON, also to a browser.
	for _, path := range []string{"/v1/nothing", "/assets/index-B4x9.js.br", "/v9/campaigns", "/console/nothing", "/console/api/nothing"} {
		if got := b.do("GET", path, nil); got.header.Get("Content-Type") != "application/json; charset=utf-8" {
			t.Errorf("%s: got %d %v want JSON", path, got.status, got.header)
		}
	}
	if got := b.do("POST", "/nothing", `{}`); got.status != 404 || got.problem() != "route_not_found" {
		t.Errorf("POST /nothing: got %d %s want 404 in JSON", got.status, got.body)
	}
}

// TestPageHeaders checks that the headers restrict a page to what it needs.
func TestPageHeaders(t *testing.T) {
	t.Parallel()
	b := built(t, func(c *app.Config) { c.HSTS = true })
	for _, path := range []string{"/", "/assets/index-B4x9.js", "/favicon.svg"} {
		h := b.do("GET", path, nil).want(200).header
		for name, want := range map[string]string{
			"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self' 'sha256-38RhXrc7EdReTKsOm23ZPOCUgniTUUcjky8QOOrQx6o=' 'sha256-gYiS/BvZvRcK27JIXTuwhZ3hs2+VJ1X+2gUlE+farlg='; img-src 'self' data: blob:; font-src 'self'; " +
				"connect-src 'self'; manifest-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'",
			"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cross-Origin-Opener-Policy": "same-origin",
			"Cross-Origin-Resource-Policy": "same-origin", "Strict-Transport-Security": "max-age=63072000; includeSubDomains",
		} {
			if got := h.Get(name); got != want {
				t.Errorf("%s: got %s %q want %q", path, name, got, want)
			}
		}
		if got := h.Get("Permissions-Policy"); !strings.Contains(got, "camera=()") || !strings.Contains(got, "publickey-credentials-get=(self)") {
			t.Errorf("%s: got Permissions-Policy %q", path, got)
		}
	}
	if got := b.do("GET", "/assets/index-B4x9.js", nil).header.Get("Cache-Control"); got != "public, max-age=31536000, immutable" {
		t.Errorf("got Cache-Control %q want it kept for ever", got)
	}
	api := b.api("GET", "session", nil).want(200).header
	if api.Get("Cache-Control") != "no-store" || api.Get("Cross-Origin-Resource-Policy") != "same-origin" || api.Get("Strict-Transport-Security") == "" {
		t.Errorf("got headers %v of the private API", api)
	}
}

// TestPacked checks that the best encoding that the browser accepts is sent.
func TestPacked(t *testing.T) {
	t.Parallel()
	b := built(t)
	for _, tt := range []struct{ path, accept, coding, body string }{
		{"/assets/index-B4x9.js", "", "", "plain script"},
		{"/assets/index-B4x9.js", "gzip, deflate, br, zstd", "br", "br script"},
		{"/assets/index-B4x9.js", "gzip", "gzip", "gz script"},
		{"/assets/index-B4x9.js", "br;q=0, gzip;q=0.5", "gzip", "gz script"},
		{"/assets/index-B4x9.js", "br;q=0.0", "", "plain script"},
		{"/assets/index-B4x9.js", "identity", "", "plain script"},
		{"/assets/index-B4x9.css", "gzip, br, ZSTD", "zstd", "zst style"},
		{"/favicon.svg", "br", "", "<svg/>"},
		{"/settings", "br", "br", "br page"},
	} {
		got := b.do("GET", tt.path, nil, "Accept-Encoding: "+tt.accept).want(200)
		if string(got.body) != tt.body || got.header.Get("Content-Encoding") != tt.coding {
			t.Errorf("%s for %q: got %q %q want %q %q", tt.path, tt.accept, got.header.Get("Content-Encoding"), got.body, tt.coding, tt.body)
		}
		if varies := got.header.Get("Vary") == "Accept-Encoding"; varies == (tt.path == "/favicon.svg") {
			t.Errorf("%s: got Vary %q", tt.path, got.header.Get("Vary"))
		}
		again := b.do("GET", tt.path, nil, "Accept-Encoding: "+tt.accept, "If-None-Match: \"other\", "+got.header.Get("ETag"))
		if again.status != http.StatusNotModified || len(again.body) > 0 {
			t.Errorf("%s again: got %d want 304", tt.path, again.status)
		}
	}
}

// TestOnlyPacked checks that a build without uncompressed files is rejected.
func TestOnlyPacked(t *testing.T) {
	t.Parallel()
	if _, err := console.ReadFiles(fstest.MapFS{"assets/a.js.br": {Data: []byte("x")}}); err == nil || !strings.Contains(err.Error(), "make web") {
		t.Errorf("got %v want an error that tells the fix", err)
	}
}

// TestWithoutBuild checks that the placeholder explains how to build the
// console.
func TestWithoutBuild(t *testing.T) {
	t.Parallel()
	w := fanfaretest.New(t, nil)
	files, err := console.ReadFiles(fstest.MapFS{".gitignore": {}})
	if err != nil {
		t.Fatal(err)
	}
	w.App.Console.UseFiles(files)
	got := newBrowser(t, w).do("GET", "/", nil).want(200)
	if !strings.Contains(string(got.body), "make web") {
		t.Errorf("got %s want it to say how to build the console", got.body)
	}
}

// TestNotices checks robots.txt and security.txt.
func TestNotices(t *testing.T) {
	t.Parallel()
	b := built(t)
	if got := string(b.do("GET", "/robots.txt", nil).want(200).body); got != "User-agent: *\nDisallow: /\n" {
		t.Errorf("got %q", got)
	}
	const want = "Contact: mailto:security@fanfare.test\nExpires: 2027-02-13T12:00:00Z\nPreferred-Languages: en\n"
	if got := string(b.do("GET", "/.well-known/security.txt", nil).want(200).body); got != want {
		t.Errorf("got %q want %q", got, want)
	}
	// The Host header does not change the mailbox.
	for _, host := range []string{"localhost:8443", "127.0.0.1", "evil.example:8443"} {
		r := newRequest(t, "/.well-known/security.txt")
		r.Host = host
		if got := serve(b.w, r); got.Code != 200 || got.Body.String() != want {
			t.Errorf("%s: got %d %q want %q", host, got.Code, got.Body, want)
		}
	}
	for _, address := range []string{"https://localhost:8443", "https://203.0.113.7", "https://[2001:db8::1]:8443"} {
		w := fanfaretest.New(t, nil, func(c *app.Config) { c.PublicURL = address })
		if got := serve(w, newRequest(t, "/.well-known/security.txt")); got.Code != 404 {
			t.Errorf("%s: got %d want 404: it has no mailbox", address, got.Code)
		}
	}
}

// TestAssetLinks checks that asset links work beside the files of the build.
func TestAssetLinks(t *testing.T) {
	t.Parallel()
	b := built(t)
	tenant := b.w.Tenant(account.Starter)
	id := tenant.Do("POST", "/v1/assets", []byte(`<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>`), "Content-Type: image/svg+xml").Want(201).ID()
	link := tenant.Do("POST", "/v1/assets/"+id+"/link", nil).Want(200).Record()["url"].(string)
	b.do("GET", strings.TrimPrefix(link, "https://fanfare.test"), nil).want(200)
}
