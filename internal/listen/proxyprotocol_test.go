package listen

import (
	"bufio"
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

const (
	// fromClient names the client 203.0.113.9:4711, with an extension of three
	// bytes.
	fromClient  = proxySignature + "\x21\x11\x00\x12" + "\xcb\x00\x71\x09" + "\x7f\x00\x00\x01" + "\x12\x67\x01\xbb" + "\x04\x00\x03abc"
	fromClient6 = proxySignature + "\x21\x21\x00\x24" + "\x20\x01\x0d\xb8\x00\x02\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01" + "\x20\x01\x0d\xb8\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01" + "\x12\x67\x01\xbb"
	fromHealth  = proxySignature + "\x20\x00\x00\x00"
)

func balancedConfig(t testing.TB) Config {
	t.Helper()
	cfg := autoConfig(t)
	cfg.ProxyProtocol, cfg.TrustedProxies = true, prefixes("127.0.0.1/32")
	return cfg
}

// TestProxyProtocol: the address of the client is that of the header.
func TestProxyProtocol(t *testing.T) {
	t.Parallel()
	s := start(t, balancedConfig(t), time.Now)
	for name, tt := range map[string]struct{ header, want string }{
		"client":       {fromClient, "secure HTTP/1.1 203.0.113.9:4711"},
		"IPv6 client":  {fromClient6, "secure HTTP/1.1 [2001:db8:2::1]:4711"},
		"health check": {fromHealth, "secure HTTP/1.1 127.0.0.1:"},
	} {
		transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: s.roots(t)}, DialContext: func(context.Context, string, string) (net.Conn, error) {
			c, err := net.Dial("tcp", s.Addr().String())
			if err == nil {
				_, err = io.WriteString(c, tt.header)
			}
			return c, err
		}}
		if _, body := get(t, &http.Client{Transport: transport}, "https://"+s.Addr().String(), nil); !strings.HasPrefix(body, tt.want) {
			t.Errorf("%s: got %q want %q", name, body, tt.want)
		}
		transport.CloseIdleConnections()
	}
	c := dial(t, s.Addr())
	say(t, c, fromClient+"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	// The key of a client that is not on this machine may be revoked.
	if body, _ := io.ReadAll(res.Body); !strings.HasPrefix(string(body), "plain HTTP/1.1 true") {
		t.Errorf("without TLS: got %q", body)
	}
}

// TestProxyProtocolRefused: a balancer that sends no valid header is refused.
func TestProxyProtocolRefused(t *testing.T) {
	t.Parallel()
	s := start(t, balancedConfig(t), time.Now)
	for name, header := range map[string]string{
		"none":            "GET / HTTP/1.1\r\nHost: x\r\n\r\n",
		"version 1":       "PROXY TCP4 203.0.113.9 127.0.0.1 4711 443\r\n",
		"wrong signature": "\r\n\r\n\x00\r\nQUIT " + fromClient[len(proxySignature):],
		"wrong version":   proxySignature + "\x11\x11\x00\x0c" + strings.Repeat("\x00", 12),
		"UDP":             proxySignature + "\x21\x12\x00\x0c" + strings.Repeat("\x00", 12),
		"short addresses": proxySignature + "\x21\x11\x00\x0b" + strings.Repeat("\x00", 11),
		"too long":        proxySignature + "\x21\x11\xff\xff" + strings.Repeat("\x00", 1<<16-1),
	} {
		c := dial(t, s.Addr())
		_, _ = io.WriteString(c, header)
		// A reset is as good as an end.
		if got, _ := io.ReadAll(c); len(got) > 0 {
			t.Errorf("%s: got %q want a closed connection", name, got)
		}
	}
}

// TestProxyProtocolOthers: an address that is no balancer cannot name a client.
func TestProxyProtocolOthers(t *testing.T) {
	t.Parallel()
	cfg := balancedConfig(t)
	cfg.TrustedProxies = prefixes("127.0.0.2/32")
	s := start(t, cfg, time.Now)
	if _, body := get(t, s.client(t, false), "https://"+s.Addr().String(), nil); !strings.HasPrefix(body, "secure HTTP/1.1 127.0.0.1:") {
		t.Errorf("without a header: got %q", body)
	}
	c := dial(t, s.Addr())
	say(t, c, fromClient)
	if got, _ := io.ReadAll(c); strings.Contains(string(got), "secure") || !strings.Contains(string(got), "400") && len(got) > 0 {
		t.Errorf("with a header: got %q want a refusal", got)
	}
}

func TestProxyProtocolConfig(t *testing.T) {
	t.Parallel()
	cfg := balancedConfig(t)
	for name, tt := range map[string]struct {
		change func(*Config)
		want   string
	}{
		"no balancer":      {func(c *Config) { c.TrustedProxies = nil }, "trusts no proxy"},
		"every address":    {func(c *Config) { c.TrustedProxies = prefixes("0.0.0.0/0") }, "list only the proxies' own networks"},
		"TLS ends earlier": {func(c *Config) { c.Mode = ModeProxy }, "leave out one of them"},
	} {
		changed := cfg
		tt.change(&changed)
		faults := changed.Check(time.Now())
		if len(faults) != 1 || !strings.Contains(faults[0].Error(), tt.want) {
			t.Errorf("%s: got %v want %q", name, faults, tt.want)
		}
	}
	if faults := cfg.Check(time.Now()); len(faults) > 0 {
		t.Errorf("got %v want none", faults)
	}
}
