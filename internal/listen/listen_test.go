package listen

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os/exec"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func mustAddrPort(s string) netip.AddrPort { return netip.MustParseAddrPort(s) }

func TestS6ServesHTTP1AndHTTP2OverTLS(t *testing.T) {
	t.Parallel()
	s := start(t, autoConfig(t), time.Now)
	for _, tt := range []struct {
		name  string
		http2 bool
		proto string
	}{{"HTTP/1.1", false, "HTTP/1.1"}, {"HTTP/2", true, "HTTP/2.0"}} {
		t.Run(tt.name, func(t *testing.T) {
			res, body := get(t, s.client(t, tt.http2), "https://"+s.Addr().String()+"/x", nil)
			if res.StatusCode != http.StatusOK || !strings.HasPrefix(body, "secure "+tt.proto+" 127.0.0.1:") {
				t.Errorf("got %d %q, want 200 secure %s", res.StatusCode, body, tt.proto)
			}
			if res.TLS == nil || res.TLS.Version != tls.VersionTLS13 {
				t.Errorf("got TLS state %+v, want TLS 1.3", res.TLS)
			}
		})
	}
}

func TestS8ForwardedHeadersAreIgnoredOutsideProxyMode(t *testing.T) {
	t.Parallel()
	s := start(t, autoConfig(t), time.Now)
	h := http.Header{"X-Forwarded-For": {"192.0.2.7"}, "X-Forwarded-Proto": {"http"}, "Forwarded": {"for=192.0.2.7;proto=http"}}
	_, body := get(t, s.client(t, false), "https://"+s.Addr().String(), h)
	if !strings.Contains(body, "secure HTTP/1.1 127.0.0.1:") {
		t.Errorf("got %q, want the peer's own address", body)
	}
	res, body := get(t, http.DefaultClient, "http://"+s.Addr().String(), http.Header{"X-Forwarded-Proto": {"https"}})
	if res.StatusCode != http.StatusForbidden {
		t.Errorf("got %d %q, want 403: a header cannot make plain HTTP secure", res.StatusCode, body)
	}
}

func TestS2PlainHTTPGetsRefusedAndClosed(t *testing.T) {
	t.Parallel()
	s := start(t, autoConfig(t), time.Now)
	c := dial(t, s.Addr())
	say(t, c, "POST /v1/campaigns HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer k\r\nContent-Length: 4\r\n\r\nbody")
	r := bufio.NewReader(c)
	res, err := http.ReadResponse(r, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	body, _ := io.ReadAll(res.Body)
	if res.StatusCode != http.StatusForbidden || !res.Close || res.Header.Get("Location") != "" {
		t.Errorf("got %d close=%v location=%q, want 403, closed, no redirect", res.StatusCode, res.Close, res.Header.Get("Location"))
	}
	if got, want := string(body), "plain HTTP/1.1 false Bearer k"; got != want {
		t.Errorf("got %q want %q: a loopback peer's key may not be revoked (S4)", got, want)
	}
	if _, err := r.ReadByte(); !errors.Is(err, io.EOF) {
		t.Errorf("got %v want EOF after the answer", err)
	}
}

func TestS2RefusalDoesNotWaitForABody(t *testing.T) {
	cfg := autoConfig(t)
	synctest.Test(t, func(t *testing.T) {
		p, _ := inMemory(t, cfg, http.HandlerFunc(secureAnswer))
		c := p.dial("192.0.2.1:5")
		defer func() { _ = c.Close() }()
		begin := time.Now()
		say(t, c, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n")
		res, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = res.Body.Close() }()
		if wait := time.Since(begin); res.StatusCode != http.StatusForbidden || wait != 0 {
			t.Errorf("got %d after %v, want 403 at once", res.StatusCode, wait)
		}
		if got := cutAfter(c); got > refusalTimeout {
			t.Errorf("closed after %v, want %v at most", got, refusalTimeout)
		}
	})
}

func TestS2RefusalReachesAClientThatIsStillSending(t *testing.T) {
	t.Parallel()
	s := start(t, autoConfig(t), time.Now)
	for range 5 {
		c := dial(t, s.Addr())
		_, _ = fmt.Fprintf(c, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4000000\r\n\r\n%s", strings.Repeat("x", 1_000_000))
		res, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatalf("got %v, want the answer and no reset", err)
		}
		_ = res.Body.Close()
		if res.StatusCode != http.StatusForbidden {
			t.Errorf("got %d want 403", res.StatusCode)
		}
		_ = c.Close()
	}
}

func TestH5BodyThatNeverComesHoldsNoConnection(t *testing.T) {
	const request = "POST / HTTP/1.1\r\nHost: x\r\nX-Forwarded-Proto: https\r\nContent-Length: 9\r\n\r\n"
	for _, mode := range []string{ModeAuto, ModeProxy} {
		for _, from := range []string{"10.0.0.1:5", "10.0.0.2:5"} {
			t.Run(mode+" "+from, func(t *testing.T) {
				cfg := autoConfig(t)
				cfg.Mode, cfg.TrustedProxies = mode, prefixes("10.0.0.1/32")
				synctest.Test(t, func(t *testing.T) {
					p, s := inMemory(t, cfg, http.HandlerFunc(secureAnswer))
					c := p.dial(from)
					defer func() { _ = c.Close() }()
					if mode == ModeAuto {
						c = tls.Client(c, &tls.Config{RootCAs: s.roots(t), ServerName: "localhost"})
					}
					say(t, c, request)
					if got := cutAfter(c); got < 5*time.Second || got > 6*time.Second {
						t.Errorf("closed after %v, want 5 s", got)
					}
				})
			})
		}
	}
}

func TestS2UnencryptedHTTP2GetsRefusedAndClosed(t *testing.T) {
	t.Parallel()
	s := start(t, autoConfig(t), time.Now)
	var speaks http.Protocols
	speaks.SetUnencryptedHTTP2(true)
	dials := 0
	tr := &http.Transport{Protocols: &speaks, DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
		dials++
		return new(net.Dialer).DialContext(ctx, network, addr)
	}}
	defer tr.CloseIdleConnections()
	c := &http.Client{Transport: tr}
	for range 2 {
		res, body := get(t, c, "http://"+s.Addr().String(), http.Header{"Authorization": {"Bearer k"}})
		if got, want := body, "plain HTTP/2.0 false Bearer k"; res.StatusCode != http.StatusForbidden || got != want {
			t.Errorf("got %d %q want 403 %q", res.StatusCode, got, want)
		}
	}
	if dials != 2 {
		t.Errorf("got %d connections for 2 requests, want 2: each is closed after its answer", dials)
	}
}

func TestS2GarbageIsAnsweredAndClosed(t *testing.T) {
	t.Parallel()
	s := start(t, autoConfig(t), time.Now)
	for _, first := range []string{"\x00\x01\x02\r\n\r\n", "\x80\x2e\x01\r\n\r\n", "PRX / HTTP/1.1\r\n\r\n", "SSH-2.0-x\r\n\r\n"} {
		c := dial(t, s.Addr())
		say(t, c, first)
		got, err := io.ReadAll(c)
		if err != nil || !strings.HasPrefix(string(got), "HTTP/1.1 400 ") {
			t.Errorf("first bytes %q: got %q, %v, want a 400 and the end", first, got, err)
		}
	}
	c := dial(t, s.Addr())
	say(t, c, "\x16\x03\x01\xff\xff")
	if got, err := io.ReadAll(c); err == nil && strings.Contains(string(got), "HTTP") {
		t.Errorf("broken TLS record: got %q, want a TLS alert only", got)
	}
}

// inMemory starts a listener on pipes inside a synctest bubble.
func inMemory(t *testing.T, cfg Config, secure http.Handler) (*pipes, *served) {
	t.Helper()
	p := newPipes()
	l, err := open(t.Context(), p, cfg, time.Now, silence())
	if err != nil {
		t.Fatal(err)
	}
	return p, run(t, l, secure)
}

// cutAfter reads c to its end and returns the elapsed time.
func cutAfter(c net.Conn) time.Duration {
	begin := time.Now()
	_, _ = io.Copy(io.Discard, c)
	return time.Since(begin)
}

func TestH5SlowClientsAreCutAfter5Seconds(t *testing.T) {
	for _, tt := range []struct{ name, mode, says string }{
		{"silent", ModeAuto, ""},
		{"one byte of a TLS record", ModeAuto, "\x16"},
		{"one byte of the HTTP/2 preface", ModeAuto, "P"},
		{"TLS hello that does not end", ModeAuto, "\x16\x03\x01\x02\x00\x01\x00\x01\xfc"},
		{"plain headers that do not end", ModeAuto, "GET / HTTP/1.1\r\nHost: x\r\n"},
		{"silent, behind a proxy", ModeProxy, ""},
		{"headers that do not end, behind a proxy", ModeProxy, "GET / HTTP/1.1\r\nHost: x\r\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cfg := autoConfig(t)
			cfg.Mode = tt.mode
			synctest.Test(t, func(t *testing.T) {
				p, _ := inMemory(t, cfg, http.HandlerFunc(secureAnswer))
				c := p.dial("192.0.2.1:999")
				defer func() { _ = c.Close() }()
				say(t, c, tt.says)
				if got := cutAfter(c); got < 5*time.Second || got > 6*time.Second {
					t.Errorf("cut after %v, want 5 s", got)
				}
			})
		})
	}
}

func TestH5SilenceAfterTheHandshakeIsCut(t *testing.T) {
	for _, tt := range []struct {
		proto string
		want  time.Duration
	}{{"http/1.1", 5 * time.Second}, {"h2", 10 * time.Second}} {
		t.Run(tt.proto, func(t *testing.T) {
			cfg := autoConfig(t)
			synctest.Test(t, func(t *testing.T) {
				p, s := inMemory(t, cfg, http.HandlerFunc(secureAnswer))
				raw := p.dial("192.0.2.1:999")
				defer func() { _ = raw.Close() }()
				c := tls.Client(raw, &tls.Config{RootCAs: s.roots(t), ServerName: "localhost", NextProtos: []string{tt.proto}})
				if err := c.Handshake(); err != nil {
					t.Fatal(err)
				}
				if got := cutAfter(c); got < tt.want || got > tt.want+time.Second {
					t.Errorf("cut after %v, want %v", got, tt.want)
				}
			})
		})
	}
}

func TestS4StrangersKeysMayBeRevoked(t *testing.T) {
	for _, tt := range []struct {
		from string
		want bool
	}{
		{"192.0.2.1:1", true},
		{"[2001:db8::1]:1", true},
		{"10.1.2.3:1", true},
		{"127.0.0.1:1", false},
		{"127.9.9.9:1", false},
		{"[::1]:1", false},
		{"[::ffff:127.0.0.1]:1", false},
	} {
		t.Run(tt.from, func(t *testing.T) {
			cfg := autoConfig(t)
			synctest.Test(t, func(t *testing.T) {
				p, _ := inMemory(t, cfg, http.HandlerFunc(secureAnswer))
				c := p.dial(tt.from)
				defer func() { _ = c.Close() }()
				say(t, c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
				got, _ := io.ReadAll(c)
				if want := fmt.Sprintf("plain HTTP/1.1 %v ", tt.want); !strings.HasSuffix(string(got), want) {
					t.Errorf("got %q, want it to end in %q", got, want)
				}
			})
		})
	}
}

func TestH5HeaderBlockOf16KiB(t *testing.T) {
	t.Parallel()
	s := start(t, autoConfig(t), time.Now)
	addr := s.Addr().String()

	t.Run("HTTP/1.1", func(t *testing.T) {
		for size, want := range map[int]int{headerBlock: 200, headerBlock + 1: 431} {
			head := "GET / HTTP/1.1\r\nHost: " + addr + "\r\nConnection: close\r\nX-Pad: "
			head += strings.Repeat("x", size-len(head)-4) + "\r\n\r\n"
			c := tls.Client(dial(t, s.Addr()), &tls.Config{RootCAs: s.roots(t), ServerName: "localhost"})
			say(t, c, head)
			res, err := http.ReadResponse(bufio.NewReader(c), nil)
			if err != nil {
				t.Fatal(err)
			}
			_ = res.Body.Close()
			if res.StatusCode != want {
				t.Errorf("header block of %d bytes: got %d want %d", size, res.StatusCode, want)
			}
		}
	})
	t.Run("HTTP/2", func(t *testing.T) {
		client := s.client(t, true)
		// Field sizes as RFC 9113 counts them: name, value and 32.
		used := 4*32 + len(":authority") + len(addr) + len(":methodGET") + len(":path/") + len(":schemehttps") +
			2*32 + len("accept-encodinggzip") + len("user-agentx") + 32 + len("x-pad")
		for size, want := range map[int]int{headerBlock: 200, headerBlock + 1: 431} {
			h := http.Header{"X-Pad": {strings.Repeat("x", size-used)}, "User-Agent": {"x"}}
			req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+addr+"/", nil)
			req.Header = h
			res, err := client.Do(req)
			switch {
			case err == nil:
				_ = res.Body.Close()
				if res.StatusCode != want {
					t.Errorf("header list of %d bytes: got %d want %d", size, res.StatusCode, want)
				}
			case want == 200 || !strings.Contains(err.Error(), "request header list larger than peer's advertised limit"):
				t.Errorf("header list of %d bytes: %v, want %d", size, err, want)
			}
		}
	})
}

func TestS6OldVersionsAndSuitesAreRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	now := time.Now()
	certFile, keyFile := issue(t, dir, "rsa", rsaKey(t, 2048), now.Add(-time.Hour), now.Add(time.Hour))
	servers := map[string]*served{
		"ECDSA": start(t, autoConfig(t), time.Now),
		"RSA":   start(t, Config{Addr: "127.0.0.1:0", Mode: ModeFile, CertFile: certFile, KeyFile: keyFile}, time.Now),
	}
	try := func(s *served, cfg *tls.Config) error {
		cfg.InsecureSkipVerify = true
		return tls.Client(dial(t, s.Addr()), cfg).HandshakeContext(t.Context())
	}
	accepted := 0
	for kind, s := range servers {
		for _, version := range []uint16{tls.VersionTLS10, tls.VersionTLS11} {
			if err := try(s, &tls.Config{MinVersion: version, MaxVersion: version}); err == nil {
				t.Errorf("%s: %s accepted, want refused", kind, tls.VersionName(version))
			}
		}
		for _, suite := range append(tls.CipherSuites(), tls.InsecureCipherSuites()...) {
			if suite.SupportedVersions[0] == tls.VersionTLS13 {
				continue
			}
			aead := strings.Contains(suite.Name, "_GCM_") || strings.Contains(suite.Name, "_CHACHA20_")
			want := aead && strings.HasPrefix(suite.Name, "TLS_ECDHE_"+kind+"_")
			err := try(s, &tls.Config{MaxVersion: tls.VersionTLS12, CipherSuites: []uint16{suite.ID}})
			if got := err == nil; got != want {
				t.Errorf("%s certificate, %s: accepted %v (%v), want %v", kind, suite.Name, got, err, want)
			}
			if want {
				accepted++
			}
		}
		if err := try(s, &tls.Config{NextProtos: []string{challengeProtocol}}); err == nil {
			t.Errorf("%s: ACME challenge protocol accepted outside acme mode", kind)
		}
	}
	if accepted != 6 {
		t.Errorf("%d suites accepted, want the 6 AEAD suites of TLS 1.2", accepted)
	}
}

func TestS9CurlAcceptsTheLocalAuthority(t *testing.T) {
	t.Parallel()
	curl, err := exec.LookPath("curl")
	if err != nil {
		t.Fatal("curl is not installed: run make setup")
	}
	s := start(t, autoConfig(t), time.Now)
	file, _ := s.Authority()
	_, port, _ := net.SplitHostPort(s.Addr().String())
	for _, url := range []string{"https://localhost:" + port, "https://127.0.0.1:" + port} {
		out, err := exec.CommandContext(t.Context(), curl, "--noproxy", "*", "-4", "-sS", "--cacert", file, url).CombinedOutput()
		if err != nil || !strings.HasPrefix(string(out), "secure ") {
			t.Errorf("curl %s: %v %s", url, err, out)
		}
	}
}

func BenchmarkHandshake(b *testing.B) {
	s := start(b, autoConfig(b), time.Now)
	for _, tt := range []struct {
		name   string
		resume bool
	}{{"full", false}, {"resumed", true}} {
		b.Run(tt.name, func(b *testing.B) {
			cfg := &tls.Config{RootCAs: s.roots(b), ServerName: "localhost"}
			if tt.resume {
				cfg.ClientSessionCache = tls.NewLRUClientSessionCache(8)
			}
			for b.Loop() {
				c := tls.Client(dialOnce(b, s.Addr()), cfg)
				say(b, c, "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
				if _, err := io.Copy(io.Discard, c); err != nil {
					b.Fatal(err)
				}
				_ = c.Close()
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "handshakes/s")
		})
	}
}

func dialOnce(b *testing.B, addr net.Addr) net.Conn {
	b.Helper()
	c, err := new(net.Dialer).DialContext(b.Context(), "tcp", addr.String())
	if err != nil {
		b.Fatal(err)
	}
	return c
}
