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
	"slices"
	"strings"
	"sync/atomic"
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
				if len(s.places.all) != 0 || len(s.places.networks) != 0 {
					t.Errorf("after all closed: %d places, %v, want none taken", len(s.places.all), s.places.networks)
				}
			})
		})
	}
}

// caller is an HTTP client with an address and at most one connection.
type caller struct {
	*http.Client
	dials atomic.Int32
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
			c.dials.Add(1)
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
// answers at once, and at these paths when a value can be received from hold:
// /anonymous, /verified after the caller is verified, /work while it works on
// the request.
func protocols(t *testing.T, cfg Config, test func(t *testing.T, s *served, call func(from string) *caller, hold chan struct{})) {
	for _, http2 := range []bool{false, true} {
		t.Run(fmt.Sprintf("http2 %v", http2), func(t *testing.T) {
			cfg.Mode, cfg.Dir = ModeAuto, autoConfig(t).Dir
			synctest.Test(t, func(t *testing.T) {
				hold := make(chan struct{})
				p, s := inMemory(t, cfg, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					_, _ = io.Copy(io.Discard, r.Body)
					progress := ProgressOf(r.Context())
					switch r.URL.Path {
					case "/anonymous":
						waitFor(r, hold)
					case "/verified":
						progress.StartWork()
						progress.StopWork()
						waitFor(r, hold)
					case "/work":
						progress.StartWork()
						defer progress.StopWork()
						waitFor(r, hold)
					}
					_, _ = io.WriteString(w, "done")
				}))
				test(t, s, func(from string) *caller { return newCaller(t, p, s, from, http2) }, hold)
			})
		})
	}
}

// waitFor waits until a value can be received from hold or the connection ends.
func waitFor(r *http.Request, hold <-chan struct{}) {
	select {
	case <-hold:
	case <-r.Context().Done():
	}
}

// send starts a request and returns its result. The request is with the server
// a second later.
func (c *caller) send(path string) (ended chan error) {
	ended = make(chan error, 1)
	go func() { ended <- c.post(path) }()
	time.Sleep(time.Second)
	return ended
}

// TestIdleConnectionsMakeRoom checks that kept-alive connections do not keep
// newcomers out, and that only one is closed.
func TestIdleConnectionsMakeRoom(t *testing.T) {
	protocols(t, Config{MaxConns: 3}, func(t *testing.T, _ *served, call func(string) *caller, _ chan struct{}) {
		one, two, three, newcomer := call("192.0.2.1:1"), call("192.0.2.2:1"), call("192.0.2.2:2"), call("192.0.2.3:1")
		for _, c := range []*caller{one, two, three, newcomer, one, three} {
			if err := c.post("/"); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
		}
		if one.dials.Load() != 1 || three.dials.Load() != 1 || newcomer.dials.Load() != 1 {
			t.Errorf("got %d, %d and %d connections want 1 each", one.dials.Load(), three.dials.Load(), newcomer.dials.Load())
		}
		if err := two.post("/"); err != nil || two.dials.Load() != 2 {
			t.Errorf("got %d connections, %v want the first closed and another", two.dials.Load(), err)
		}
	})
}

// TestConnectionsAreClosedInOrder checks that new connections get in while
// requests fill all places: idle connections are closed for them first, then
// those with requests that no verified caller sent, the longest one first, and
// then those that wait for a verified caller.
func TestConnectionsAreClosedInOrder(t *testing.T) {
	protocols(t, Config{MaxConns: 4}, func(t *testing.T, _ *served, call func(string) *caller, hold chan struct{}) {
		work, verified := call("192.0.2.1:1").send("/work"), call("192.0.2.1:2").send("/verified")
		first := call("192.0.2.1:3").send("/anonymous")
		idle := call("192.0.2.1:4")
		if err := idle.post("/"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(newTime)
		second := call("192.0.2.1:5").send("/anonymous")
		ended := func() (which []string) {
			for name, end := range map[string]chan error{"work": work, "verified": verified, "first": first, "second": second} {
				if len(end) > 0 {
					which = append(which, name)
				}
			}
			slices.Sort(which)
			return which
		}
		if got := ended(); got != nil {
			t.Errorf("got %v closed before an idle connection", got)
		}
		// Each of these stays and does work.
		for i, want := range [][]string{{"first"}, {"first", "second"}, {"first", "second", "verified"}} {
			newcomer := call(fmt.Sprintf("192.0.2.2:%d", i+1))
			if newcomer.send("/work"); newcomer.dials.Load() != 1 {
				t.Errorf("newcomer %d: got %d connections want 1", i, newcomer.dials.Load())
			}
			if got := ended(); !slices.Equal(got, want) {
				t.Errorf("newcomer %d: got %v closed want %v", i, got, want)
			}
		}
		if err := call("192.0.2.3:1").post("/"); err == nil {
			t.Error("got a response beside four requests that the server works on, want none")
		}
		close(hold)
		if err := <-work; err != nil {
			t.Errorf("got %v want the response", err)
		}
	})
}

// TestLargestAddressMakesRoom checks that an address that fills the places with
// requests does not close connections of others: neither idle ones nor new ones
// in their handshake.
func TestLargestAddressMakesRoom(t *testing.T) {
	protocols(t, Config{MaxConns: 4}, func(t *testing.T, _ *served, call func(string) *caller, hold chan struct{}) {
		other := call("192.0.2.1:1")
		if err := other.post("/"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(newTime)
		for i := range 20 {
			call(fmt.Sprintf("192.0.2.2:%d", i+1)).send("/anonymous")
		}
		if err := other.post("/"); err != nil || other.dials.Load() != 1 {
			t.Errorf("got %v with %d connections want the same one", err, other.dials.Load())
		}
		close(hold)
	})
}

// TestNewConnectionsAreNotTheNextToClose checks that among addresses with one
// connection each a new one that has sent nothing yet stays before older ones
// with requests.
func TestNewConnectionsAreNotTheNextToClose(t *testing.T) {
	cfg := autoConfig(t)
	cfg.MaxConns = 3
	synctest.Test(t, func(t *testing.T) {
		hold := make(chan struct{})
		defer close(hold)
		p, s := inMemory(t, cfg, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			waitFor(r, hold)
		}))
		for i := range 3 {
			newCaller(t, p, s, fmt.Sprintf("192.0.2.%d:1", i+1), false).send("/")
		}
		slow := p.dial("192.0.2.10:1")
		time.Sleep(2 * minIdle)
		newCaller(t, p, s, "192.0.2.11:1", false).send("/")
		if !isOpen(slow) {
			t.Error("the connection in its handshake was closed, want an older one with a request")
		}
		_ = slow.Close()
	})
}

// TestFloodOfConnections checks that connections that were just opened do not
// keep others out, and are closed before one that waits for a verified caller.
func TestFloodOfConnections(t *testing.T) {
	protocols(t, Config{MaxConns: 4}, func(t *testing.T, _ *served, call func(string) *caller, hold chan struct{}) {
		verified := call("192.0.2.1:1").send("/verified")
		for i := range 20 {
			go func() { _ = call(fmt.Sprintf("192.0.2.2:%d", i+1)).post("/anonymous") }()
		}
		time.Sleep(time.Second)
		if err := call("192.0.2.3:1").post("/"); err != nil {
			t.Errorf("got %v want the response", err)
		}
		close(hold)
		if err := <-verified; err != nil {
			t.Errorf("got %v want the response", err)
		}
	})
}

// TestWorkIsBeyondTheCapOfAnAddress checks that an address with as many requests
// as it may have connections still gets a new one.
func TestWorkIsBeyondTheCapOfAnAddress(t *testing.T) {
	protocols(t, Config{MaxConnsPerIP: 2}, func(t *testing.T, _ *served, call func(string) *caller, hold chan struct{}) {
		busy := []chan error{call("192.0.2.1:1").send("/work"), call("192.0.2.1:2").send("/work")}
		if err := call("192.0.2.1:3").post("/"); err != nil {
			t.Errorf("got %v want the response", err)
		}
		close(hold)
		for _, ended := range busy {
			if err := <-ended; err != nil {
				t.Errorf("got %v want the response", err)
			}
		}
	})
}

// TestCutConnectionsRunNoRequest checks that a request whose header or body
// arrives while its connection is being closed is not run.
func TestCutConnectionsRunNoRequest(t *testing.T) {
	protocols(t, Config{}, func(t *testing.T, s *served, call func(string) *caller, _ chan struct{}) {
		c := call("192.0.2.1:1")
		if err := c.post("/"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		for _, counted := range s.places.all {
			counted.progress.state.Store(0)
		}
		// A request that runs would wait for ever here.
		if err := c.post("/work"); err == nil {
			t.Error("got a response, want none")
		}
	})
	defer func() {
		if got := recover(); got != http.ErrAbortHandler { //nolint:errorlint // the value itself is the protocol of net/http
			t.Errorf("got %v want the request aborted", got)
		}
	}()
	new(Progress).StartWork()
}

// BenchmarkAdmitWhenFull measures a new connection while 10,000 others are open,
// each from an address of its own.
func BenchmarkAdmitWhenFull(b *testing.B) {
	p := newPlaces(10_000, 200, func(netip.Addr) bool { return false }, time.Now)
	p.start = time.Now().Add(-time.Hour)
	open := func(i int) {
		near, _ := net.Pipe()
		from := netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)})
		c := &conn{Conn: &addressed{near, net.TCPAddrFromAddrPort(netip.AddrPortFrom(from, 1))}}
		c.release = func() { p.remove(c) }
		if !p.admitConn(c) {
			b.Fatal("not admitted")
		}
		c.progress.beginRequest(p.clock())
	}
	for i := range 10_000 {
		open(i)
	}
	for i := 0; b.Loop(); i++ {
		open(10_000 + i)
	}
}

// BenchmarkProgress measures the cost of a request of a verified caller, from
// the lookup of its connection to the end of its work.
func BenchmarkProgress(b *testing.B) {
	c := &conn{}
	c.progress.state.Store(1 << sinceShift)
	// net/http adds these between the connection and the request.
	ctx := context.WithValue(withProgress(b.Context(), c), http.LocalAddrContextKey, 1)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ctx, cancel = context.WithCancel(ctx)
	defer cancel()
	b.ReportAllocs()
	for b.Loop() {
		p := ProgressOf(ctx)
		c.progress.beginRequest(1)
		p.StartWork()
		p.StopWork()
		c.progress.endRequest(1)
	}
}
