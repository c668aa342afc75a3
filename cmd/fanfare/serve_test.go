package main

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"fanfare/test/program"
)

// freeAddress returns an address that is not in use at the moment.
func freeAddress(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ln.Close() }()
	return ln.Addr().String()
}

// fetch sends a request with headers, each "Name: value".
func fetch(t *testing.T, client *http.Client, method, url string, headers ...string) (*http.Response, string, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	res, err := client.Do(req)
	if err != nil {
		return nil, "", err
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	return res, string(body), err
}

// TestServeFile serves with the operator's own certificate.
func TestServeFile(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	args := certificate(-time.Hour, 1000*time.Hour, 0o600, false)(t, p)
	s := program.Start(t, program.Options{Data: p.data, Args: args, Trust: args[3]})
	if status, body := s.Call("", http.MethodGet, "/healthz", ""); status != http.StatusOK {
		t.Errorf("got %d: %s", status, body)
	}
	p.server = s
	wants(t, p.run(0, append([]string{"doctor"}, args...)...).Out, "41 more days", "mode file is set up")
	if strings.Contains(s.Log.String(), "authority") {
		t.Errorf("the log speaks of an authority: %s", s.Log)
	}
	s.Stop()
}

// TestServeProxy serves only behind a proxy that terminates TLS.
func TestServeProxy(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	args := []string{"--tls-mode", "proxy", "--trusted-proxies", "127.0.0.1"}
	s := program.Launch(t, program.Options{Data: p.data, Args: args})
	client := &http.Client{Timeout: time.Minute}
	t.Cleanup(client.CloseIdleConnections)
	waitFor(t, s.FindAddress)
	url := "http://" + s.Host + "/readyz"
	waitFor(t, func() bool {
		res, _, err := fetch(t, client, http.MethodGet, url, "X-Forwarded-Proto: https", "X-Forwarded-For: 203.0.113.9")
		return err == nil && res.StatusCode == http.StatusOK
	})
	for _, headers := range [][]string{nil, {"X-Forwarded-Proto: http", "X-Forwarded-For: 203.0.113.9"}} {
		res, body, err := fetch(t, client, http.MethodGet, url, headers...)
		if err != nil || res.StatusCode != http.StatusForbidden || !strings.Contains(body, "https_required") {
			t.Errorf("%q: got %s, %v", headers, body, err)
		}
	}
	p.server = s
	wants(t, p.run(0, append([]string{"doctor"}, args...)...).Out, "mode proxy is set up", "1 trusted", "responds", "--public-url is not set")
	client.CloseIdleConnections()
	s.Stop()
}

// TestServeWrongProxy checks a proxy that reports the wrong scheme: all
// requests are refused, no key is revoked, and the log and doctor name the
// proxy.
func TestServeWrongProxy(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	args := []string{"--tls-mode", "proxy", "--trusted-proxies", "127.0.0.1"}
	s := program.Launch(t, program.Options{Data: p.data, Args: args})
	waitFor(t, s.FindAddress)
	p.server = s
	key := p.workspace().APIKey
	var scheme atomic.Value
	scheme.Store("http")
	front := httptest.NewTLSServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(&url.URL{Scheme: "http", Host: s.Host})
		r.Out.Header.Set("X-Forwarded-Proto", scheme.Load().(string))
		r.Out.Header.Set("X-Forwarded-For", "203.0.113.9")
	}})
	t.Cleanup(front.Close)
	me := func() (int, string) {
		res, body, err := fetch(t, front.Client(), http.MethodGet, front.URL+"/v1/me", "Authorization: Bearer "+key)
		if err != nil {
			t.Fatal(err)
		}
		return res.StatusCode, body
	}
	examine := append([]string{"doctor", "--public-url", front.URL}, args...)
	for range 3 {
		if status, body := me(); status != http.StatusForbidden || !strings.Contains(body, `"key_revoked":false`) || !strings.Contains(body, "a proxy in front") {
			t.Errorf("got %d %s want a refusal that leaves the key alone", status, body)
		}
	}
	wants(t, p.run(exitConfig, examine...).Out, "FAIL  proxy", "X-Forwarded-Proto: https")
	wants(t, s.Log.String(), "not HTTPS by the proxy headers", "TLS ends at another proxy")
	if n := strings.Count(s.Log.String(), "rotate it"); n != 1 {
		t.Errorf("got %d lines about the key want 1", n)
	}
	scheme.Store("https")
	if status, body := me(); status != http.StatusOK {
		t.Errorf("got %d %s want the key to work", status, body)
	}
	wants(t, p.run(0, examine...).Out, "ok    proxy", "reaches this server over HTTPS")
	front.Client().CloseIdleConnections()
	s.Stop()
}

// TestServeAdmin checks that profiles are served over HTTPS only on the admin
// address.
func TestServeAdmin(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	admin := freeAddress(t)
	s := p.serve("--admin-listen", admin, "--log-format", "text", "--log-level", "debug")
	res, body, err := fetch(t, s.Client(), http.MethodGet, "https://"+admin+"/debug/pprof/goroutine?debug=1")
	if err != nil || res.StatusCode != http.StatusOK || !strings.Contains(body, "goroutine profile") {
		t.Errorf("got %.200s, %v", body, err)
	}
	if status, _ := s.Call("", http.MethodGet, "/debug/pprof/", ""); status != http.StatusNotFound {
		t.Errorf("got %d at the public address", status)
	}
	if res, body, err := fetch(t, s.Client(), http.MethodGet, "http://"+admin+"/debug/pprof/"); err == nil && res.StatusCode == http.StatusOK {
		t.Errorf("got %s in clear text", body)
	}
	wants(t, s.Log.String(), "level=INFO msg=serving")
	other := newPlace(t)
	wants(t, other.run(exitConfig, "serve", "--admin-listen", admin).Errors, "admin-listen", "choose another address")
	s.Client().CloseIdleConnections()
	s.Stop()
}

// TestServeOrigins checks that the configured web origins are allowed.
func TestServeOrigins(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	s := p.serve("--cors-origins", "https://a.example,https://b.example")
	for origin, want := range map[string]string{"https://a.example": "https://a.example", "https://b.example": "https://b.example", "https://c.example": ""} {
		res, _, err := fetch(t, s.Client(), http.MethodOptions, s.URL+"/v1/campaigns", "Origin: "+origin, "Access-Control-Request-Method: GET")
		if err != nil {
			t.Fatal(err)
		}
		if got := res.Header.Get("Access-Control-Allow-Origin"); got != want {
			t.Errorf("%s: got %q", origin, got)
		}
	}
	s.Stop()
}

// TestServeLimits checks that the plans' limits come from the settings.
func TestServeLimits(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	s := program.Start(t, program.Options{Data: p.data, Env: []string{"FANFARE_LIMITS=growth=2/0,starter=1/1"}})
	p.server = s
	key := p.workspace().APIKey
	var got []int
	for range 3 {
		status, _ := s.Call(key, http.MethodGet, "/v1/me", "")
		got = append(got, status)
	}
	if want := []int{200, 200, 429}; !slices.Equal(got, want) {
		t.Errorf("got %v want %v", got, want)
	}
	s.Stop()
}
