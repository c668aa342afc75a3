package listen

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// isOpen reports whether the server keeps a connection on which nothing is
// sent.
func isOpen(c net.Conn) bool {
	if err := c.SetReadDeadline(time.Now().Add(time.Millisecond)); err != nil {
		return false
	}
	_, err := c.Read(make([]byte, 1))
	return errors.Is(err, os.ErrDeadlineExceeded)
}

// TestConnectionCaps checks that a new connection closes an idle one where a cap
// is reached: one of the same address, or of the address with the most.
func TestConnectionCaps(t *testing.T) {
	for _, tt := range []struct {
		name string
		cfg  Config
		from []string
		// want says which connections are open in the end.
		want []bool
	}{
		{"in all", Config{MaxConns: 2}, []string{"192.0.2.1:1", "127.0.0.1:1", "192.0.2.3:1"}, []bool{false, true, true}},
		{"of the largest address", Config{MaxConns: 3}, []string{"192.0.2.1:1", "192.0.2.2:1", "192.0.2.2:2", "192.0.2.3:1"}, []bool{true, false, true, true}},
		{"the oldest of equals", Config{MaxConns: 3}, []string{"192.0.2.1:1", "192.0.2.2:1", "192.0.2.3:1", "192.0.2.4:1", "192.0.2.5:1"}, []bool{false, false, true, true, true}},
		{"loopback if there is no other", Config{MaxConns: 1}, []string{"127.0.0.1:1", "192.0.2.3:1"}, []bool{false, true}},
		{"per IPv4 address", Config{MaxConnsPerIP: 1}, []string{"192.0.2.1:1", "192.0.2.1:2", "192.0.2.2:1", "[::ffff:192.0.2.2]:5"}, []bool{false, true, false, true}},
		{"per IPv6 /56", Config{MaxConnsPerIP: 1}, []string{"[2001:db8::1]:1", "[2001:db8:0:ff::2]:1", "[2001:db8:0:100::1]:1"}, []bool{false, true, true}},
		{"loopback is exempt", Config{MaxConnsPerIP: 1}, []string{"127.0.0.1:1", "127.0.0.1:2", "[::1]:1", "[::1]:2"}, []bool{true, true, true, true}},
		{
			"trusted proxies are exempt",
			Config{Mode: ModeProxy, MaxConnsPerIP: 1, TrustedProxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/24")}},
			[]string{"10.0.0.1:1", "10.0.0.1:2", "10.0.1.1:1", "10.0.1.1:2"},
			[]bool{true, true, false, true},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cfg := autoConfig(t)
			tt.cfg.Dir = cfg.Dir
			if tt.cfg.Mode == "" {
				tt.cfg.Mode = ModeAuto
			}
			synctest.Test(t, func(t *testing.T) {
				p, s := inMemory(t, tt.cfg, http.HandlerFunc(secureAnswer))
				var conns []net.Conn
				for _, from := range tt.from {
					conns = append(conns, p.dial(from))
					time.Sleep(2 * minIdle)
				}
				for i, c := range conns {
					if got := isOpen(c); got != tt.want[i] {
						t.Errorf("connection %d from %s: open %v, want %v", i, tt.from[i], got, tt.want[i])
					}
				}
				for _, c := range conns {
					_ = c.Close()
				}
				synctest.Wait()
				if s.places.total != 0 || len(s.places.networks) != 0 {
					t.Errorf("after all closed: %d places, %v, want none taken", s.places.total, s.places.networks)
				}
			})
		})
	}
}

// caller is an HTTP client with an address and at most one connection.
type caller struct {
	*http.Client
	dials int
}

func newCaller(t *testing.T, p *pipes, s *served, from string, http2 bool) *caller {
	t.Helper()
	c := &caller{}
	var speaks http.Protocols
	speaks.SetHTTP1(!http2)
	speaks.SetHTTP2(http2)
	tr := &http.Transport{
		Protocols: &speaks, TLSClientConfig: &tls.Config{RootCAs: s.roots(t), ServerName: "localhost"},
		DialContext: func(context.Context, string, string) (net.Conn, error) {
			c.dials++
			return p.dial(from), nil
		},
	}
	t.Cleanup(tr.CloseIdleConnections)
	c.Client = &http.Client{Transport: tr}
	return c
}

// post sends a request that the client does not repeat by itself.
func (c *caller) post(path string) error {
	res, err := c.Post("https://localhost"+path, "text/plain", strings.NewReader("x"))
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	if body, err := io.ReadAll(res.Body); err != nil || string(body) != "done" {
		return fmt.Errorf("got %q, %w", body, err)
	}
	return nil
}

// protocols runs a test in a bubble for HTTP/1.1 and for HTTP/2. The handler
// answers when a value can be received from hold, at once except at /hold.
func protocols(t *testing.T, maxConns int, test func(t *testing.T, s *served, call func(from string) *caller, hold chan struct{})) {
	for _, http2 := range []bool{false, true} {
		t.Run(fmt.Sprintf("http2 %v", http2), func(t *testing.T) {
			cfg := autoConfig(t)
			cfg.MaxConns = maxConns
			synctest.Test(t, func(t *testing.T) {
				hold := make(chan struct{})
				p, s := inMemory(t, cfg, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if _, _ = io.Copy(io.Discard, r.Body); r.URL.Path == "/hold" {
						<-hold
					}
					_, _ = io.WriteString(w, "done")
				}))
				test(t, s, func(from string) *caller { return newCaller(t, p, s, from, http2) }, hold)
			})
		})
	}
}

// TestIdleConnectionsMakeRoom checks that kept-alive connections do not keep
// newcomers out, and that only one is closed.
func TestIdleConnectionsMakeRoom(t *testing.T) {
	protocols(t, 3, func(t *testing.T, _ *served, call func(string) *caller, _ chan struct{}) {
		one, two, three, newcomer := call("192.0.2.1:1"), call("192.0.2.2:1"), call("192.0.2.2:2"), call("192.0.2.3:1")
		for _, c := range []*caller{one, two, three, newcomer, one, three} {
			if err := c.post("/"); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
		}
		if one.dials != 1 || three.dials != 1 || newcomer.dials != 1 {
			t.Errorf("got %d, %d and %d connections want 1 each", one.dials, three.dials, newcomer.dials)
		}
		if err := two.post("/"); err != nil || two.dials != 2 {
			t.Errorf("got %d connections, %v want the first closed and another", two.dials, err)
		}
	})
}

// TestBusyConnectionsAreNeverClosed checks that a newcomer is refused while all
// connections have a request, and that those get their response.
func TestBusyConnectionsAreNeverClosed(t *testing.T) {
	protocols(t, 2, func(t *testing.T, _ *served, call func(string) *caller, hold chan struct{}) {
		busy := []*caller{call("192.0.2.1:1"), call("192.0.2.1:2")}
		ended := make(chan error, len(busy))
		for _, c := range busy {
			if err := c.post("/"); err != nil {
				t.Fatal(err)
			}
			go func() { ended <- c.post("/hold") }()
		}
		time.Sleep(time.Minute)
		newcomer := call("192.0.2.3:1")
		if err := newcomer.post("/"); err == nil {
			t.Error("got a response beside two running requests, want the newcomer refused")
		}
		close(hold)
		for range busy {
			if err := <-ended; err != nil {
				t.Errorf("got %v want the response", err)
			}
		}
		time.Sleep(time.Second)
		if err := newcomer.post("/"); err != nil {
			t.Errorf("got %v after the requests, want a place", err)
		}
	})
}

// TestCutConnectionsRunNoRequest checks that a request whose header arrives
// while its connection is being closed is not run.
func TestCutConnectionsRunNoRequest(t *testing.T) {
	protocols(t, 2, func(t *testing.T, s *served, call func(string) *caller, _ chan struct{}) {
		c := call("192.0.2.1:1")
		if err := c.post("/"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		for _, conns := range s.places.networks {
			for _, counted := range conns {
				counted.idle.Store(cutOff)
			}
		}
		// A request that runs would wait for ever here.
		if err := c.post("/hold"); err == nil {
			t.Error("got a response, want none")
		}
	})
}

// BenchmarkAdmitWhenFull measures a new connection while 10,000 others are open,
// each from an address of its own.
func BenchmarkAdmitWhenFull(b *testing.B) {
	p := newPlaces(10_000, 200, func(netip.Addr) bool { return false }, time.Now)
	p.start = time.Now().Add(-time.Hour)
	open := func(i int, since int64) {
		near, _ := net.Pipe()
		from := netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)})
		c := &conn{Conn: &addressed{near, net.TCPAddrFromAddrPort(netip.AddrPortFrom(from, 1))}}
		c.release = func() { p.remove(c) }
		if !p.admit(c) {
			b.Fatal("not admitted")
		}
		c.idle.Store(since)
	}
	for i := range 10_000 {
		open(i, int64(i+1))
	}
	for i := 0; b.Loop(); i++ {
		open(10_000+i, int64(10_000+i))
	}
}
