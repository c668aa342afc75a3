package httpapi_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fanfare/internal/account"
	"fanfare/internal/fanfaretest"
	"fanfare/internal/listen"
)

// port is the service behind its real listener.
type port struct {
	*fanfaretest.Tenant
	addr              net.Addr
	workspaceDefaults *x509.CertPool
}

func openPort(t *testing.T) *port {
	t.Helper()
	w := fanfaretest.New(t, nil, ample)
	config := listen.Config{Addr: "127.0.0.1:0", Mode: listen.ModeAuto, Dir: filepath.Join(t.TempDir(), "tls")}
	l, err := listen.Open(t.Context(), config, time.Now, w.App.API.Log)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- l.Serve(w.App.API, w.App.API.ServePlain) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
		defer cancel()
		if err := l.Shutdown(ctx); err != nil {
			t.Errorf("shutdown: %v", err)
		}
		if err := <-done; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	file, _ := l.Authority()
	pem, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	p := &port{Tenant: w.Tenant(account.Growth), addr: l.Addr(), workspaceDefaults: x509.NewCertPool()}
	if !p.workspaceDefaults.AppendCertsFromPEM(pem) {
		t.Fatal("the authority's file holds no certificate")
	}
	return p
}

// say sends bytes over TLS and reads one response.
func (p *port) say(t *testing.T, text string) (*http.Response, []byte) {
	t.Helper()
	d := tls.Dialer{Config: &tls.Config{RootCAs: p.workspaceDefaults, NextProtos: []string{"http/1.1"}}}
	c, err := d.DialContext(t.Context(), "tcp", p.addr.String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	return exchange(t, c, text)
}

func exchange(t *testing.T, c net.Conn, text string) (*http.Response, []byte) {
	t.Helper()
	if err := c.SetDeadline(time.Now().Add(2 * time.Minute)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
	method, _, _ := strings.Cut(text, " ")
	res, err := http.ReadResponse(bufio.NewReader(c), &http.Request{Method: method})
	if err != nil {
		t.Fatalf("%.80q: %v", text, err)
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatalf("%.80q: %v", text, err)
	}
	return res, body
}

// TestH8PlainTextReplies checks that only the listed defects of HTTP itself get
// plain text, and all other requests JSON.
func TestH8PlainTextReplies(t *testing.T) {
	t.Parallel()
	p := openPort(t)
	auth := "Authorization: Bearer " + p.Key + "\r\n"
	const host = "Host: localhost\r\n"
	id := create(p.Tenant, `{"name":"One"}`)
	for _, tt := range []struct {
		name, text string
		status     int
		plain      bool
	}{
		{"malformed request line", "NONSENSE\r\n\r\n", 400, true},
		{"two words", "GET /v1\r\n\r\n", 400, true},
		{"bad method", "G@T /v1 HTTP/1.1\r\n" + host + "\r\n", 400, true},
		{"space in the target", "GET /v1 /me HTTP/1.1\r\n" + host + "\r\n", 400, true},
		{"missing Host", "GET /v1 HTTP/1.1\r\n" + auth + "\r\n", 400, true},
		{"two Hosts", "GET /v1 HTTP/1.1\r\n" + host + host + auth + "\r\n", 400, true},
		{"malformed Host", "GET /v1 HTTP/1.1\r\nHost: a b\r\n" + auth + "\r\n", 400, true},
		{"bad percent-escape", "GET /v1/%zz HTTP/1.1\r\n" + host + auth + "\r\n", 400, true},
		{"control character in the target", "GET /v1/\x01 HTTP/1.1\r\n" + host + auth + "\r\n", 400, true},
		{"header without a colon", "GET /v1 HTTP/1.1\r\n" + host + "nonsense\r\n\r\n", 400, true},
		{"bad header name", "GET /v1 HTTP/1.1\r\n" + host + "a b: c\r\n\r\n", 400, true},
		{"bad header value", "GET /v1 HTTP/1.1\r\n" + host + "a: \x01\r\n\r\n", 400, true},
		{"continued header line", "GET /v1 HTTP/1.1\r\n" + host + "A: b\r\n c\r\n" + auth + "\r\n", 400, true},
		{"bare LF", "GET /v1 HTTP/1.1\r\nHost: localhost\n" + auth + "\r\n", 400, true},
		{"two lengths", "POST /v1/campaigns HTTP/1.1\r\n" + host + "Content-Length: 1\r\nContent-Length: 2\r\n\r\n{}", 400, true},
		{"bad length", "POST /v1/campaigns HTTP/1.1\r\n" + host + "Content-Length: some\r\n\r\n{}", 400, true},
		{"unknown Expect", "POST /v1/campaigns HTTP/1.1\r\n" + host + auth + "Expect: a miracle\r\nContent-Length: 2\r\n\r\n{}", 417, true},
		{"header block too large", "GET /v1 HTTP/1.1\r\n" + host + "X-Long: " + strings.Repeat("x", 20<<10) + "\r\n\r\n", 431, true},
		{"unknown transfer coding", "POST /v1/campaigns HTTP/1.1\r\n" + host + auth + "Transfer-Encoding: zip\r\n\r\n", 501, true},
		{"unknown HTTP version", "GET /v1 HTTP/3.7\r\n" + host + "\r\n", 505, true},

		{"no key", "GET /v1 HTTP/1.1\r\n" + host + "\r\n", 401, false},
		{"old HTTP", "GET /v1 HTTP/1.0\r\n" + auth + "\r\n", 200, false},
		{"whole URL", "GET https://localhost/v1/me HTTP/1.1\r\n" + host + auth + "\r\n", 200, false},
		{"odd method", "BREW /v1 HTTP/1.1\r\n" + host + auth + "\r\n", 405, false},
		{"asterisk", "OPTIONS * HTTP/1.1\r\n" + host + auth + "\r\n", 404, false},
		{"tunnel", "CONNECT example.com:443 HTTP/1.1\r\n" + host + auth + "\r\n", 404, false},
		{"target too long", "GET /v1/me?" + strings.Repeat("x", 9<<10) + " HTTP/1.1\r\n" + host + auth + "\r\n", 414, false},
		{"bad percent-escape in the query", "GET /v1/me?a=%zz HTTP/1.1\r\n" + host + auth + "\r\n", 400, false},
		{"semicolon in the query", "GET /v1/me?a=1;b=2 HTTP/1.1\r\n" + host + auth + "\r\n", 400, false},
		{"bytes that are no text", "GET /v1/\xff HTTP/1.1\r\n" + host + auth + "\r\n", 404, false},
		{"upgrade", "GET /v1 HTTP/1.1\r\n" + host + auth + "Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n", 200, false},
		{"Expect continue", "POST /v1/campaigns HTTP/1.1\r\n" + host + auth + "Expect: 100-continue\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\n", 415, false},
		{"broken chunk", "POST /v1/campaigns HTTP/1.1\r\n" + host + auth + "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 400, false},
		{"chunks", "POST /v1/campaigns HTTP/1.1\r\n" + host + auth + "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk(`{"name":"One"}`) + "0\r\n\r\n", 201, false},
		{"no chunks and no type", "POST /v1/campaigns/" + id + "/launch HTTP/1.1\r\n" + host + auth + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 200, false},
		{"too many chunks", "POST /v1/campaigns HTTP/1.1\r\n" + host + auth + "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk(strings.Repeat(" ", 1<<20+1)) + "0\r\n\r\n", 413, false},
		{"announced too large", "POST /v1/campaigns HTTP/1.1\r\n" + host + auth + "Content-Type: application/json\r\nContent-Length: 1048577\r\n\r\n", 413, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			res, body := p.say(t, tt.text)
			ours := res.Header.Get("X-Request-Id") != "" && res.Header.Get("X-RateLimit-Limit") != "" && res.Header.Get("Content-Type") == "application/json; charset=utf-8"
			theirs := res.Header.Get("X-Request-Id") == "" && (len(body) == 0 || strings.HasPrefix(res.Header.Get("Content-Type"), "text/plain"))
			if res.StatusCode != tt.status || tt.plain && !theirs || !tt.plain && !ours {
				t.Errorf("got %d %v, want %d, in plain text %v: %.200s", res.StatusCode, res.Header, tt.status, tt.plain, body)
			}
		})
	}
}

func chunk(s string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(s), s) }

// TestH3HeadHasNoBody checks the bytes on the connection, because net/http
// decides what is sent.
func TestH3HeadHasNoBody(t *testing.T) {
	t.Parallel()
	p := openPort(t)
	auth := "Host: localhost\r\nAuthorization: Bearer " + p.Key + "\r\nConnection: close\r\n\r\n"
	get, whole := p.say(t, "GET /v1/campaigns HTTP/1.1\r\n"+auth)
	head, none := p.say(t, "HEAD /v1/campaigns HTTP/1.1\r\n"+auth)
	if head.StatusCode != http.StatusOK || len(none) != 0 || head.ContentLength != get.ContentLength || len(whole) == 0 {
		t.Errorf("got %d with %d bytes and Content-Length %d, want 200, none and %d", head.StatusCode, len(none), head.ContentLength, get.ContentLength)
	}
}

// TestH1PlainHTTPIsRefusedFirst checks that plain HTTP returns 403 whatever
// else is wrong.
func TestH1PlainHTTPIsRefusedFirst(t *testing.T) {
	t.Parallel()
	p := openPort(t)
	for _, text := range []string{
		"GET /v1/me HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + p.Key + "\r\n\r\n",
		"GET /v1//nothing HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"BREW /v9 HTTP/1.1\r\nHost: localhost\r\nAccept: text/html\r\n\r\n",
	} {
		var d net.Dialer
		c, err := d.DialContext(t.Context(), "tcp", p.addr.String())
		if err != nil {
			t.Fatal(err)
		}
		res, body := exchange(t, c, text)
		_ = c.Close()
		if res.StatusCode != http.StatusForbidden || !strings.Contains(string(body), `"code":"https_required"`) || res.Header.Get("Location") != "" {
			t.Errorf("%.30q: got %d %s, want 403 https_required", text, res.StatusCode, body)
		}
	}
}
