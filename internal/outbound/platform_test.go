package outbound_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"fanfare/internal/adplatform/transport"
	"fanfare/internal/connection"
	"fanfare/internal/outbound"
)

// newWideSentinel returns a sentinel on every address of this machine, private
// ones included.
func newWideSentinel(t *testing.T) *sentinel {
	t.Helper()
	s := newSentinel(t)
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", ":0")
	if err != nil {
		t.Fatal(err)
	}
	all := httptest.NewUnstartedServer(s.tls.Config.Handler)
	_ = all.Listener.Close()
	all.Listener = l
	all.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			s.visits.Add(1)
		}
	}
	all.StartTLS()
	t.Cleanup(all.Close)
	s.port, s.tls = uint16(l.Addr().(*net.TCPAddr).Port), all
	return s
}

// localAddresses returns the addresses of this machine.
func localAddresses(t *testing.T) []netip.Addr {
	t.Helper()
	found, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	list := []netip.Addr{netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("::1"), netip.MustParseAddr("0.0.0.0")}
	for _, a := range found {
		if p, err := netip.ParsePrefix(a.String()); err == nil && !p.Addr().IsGlobalUnicast() || err == nil && p.Addr().IsPrivate() {
			list = append(list, p.Addr())
		}
	}
	return list
}

// spellings are the ways to write an IPv4 address in a URL.
var spellings = []func(a, b, c, d byte) string{
	func(a, b, c, d byte) string { return fmt.Sprintf("%d.%d.%d.%d", a, b, c, d) },
	func(a, b, c, d byte) string { return fmt.Sprintf("%d.%d.%d.%d.", a, b, c, d) },
	func(a, b, c, d byte) string { return strconv.FormatUint(ipv4Number(a, b, c, d), 10) },
	func(a, b, c, d byte) string { return fmt.Sprintf("0x%08x", ipv4Number(a, b, c, d)) },
	func(a, b, c, d byte) string { return fmt.Sprintf("0X%X", ipv4Number(a, b, c, d)) },
	func(a, b, c, d byte) string { return fmt.Sprintf("0%o", ipv4Number(a, b, c, d)) },
	func(a, b, c, d byte) string { return fmt.Sprintf("0x%x.0x%x.0x%x.0x%x", a, b, c, d) },
	func(a, b, c, d byte) string { return fmt.Sprintf("0%o.0%o.0%o.0%o", a, b, c, d) },
	func(a, b, c, d byte) string { return fmt.Sprintf("%d.%d", a, ipv4Number(0, b, c, d)) },
	func(a, b, c, d byte) string { return fmt.Sprintf("%d.%d.%d", a, b, uint(c)<<8|uint(d)) },
	func(a, b, c, d byte) string { return fmt.Sprintf("0x%x.0%o.%d.%d", a, b, c, d) },
	func(a, b, c, d byte) string { return fmt.Sprintf("[::ffff:%d.%d.%d.%d]", a, b, c, d) },
	func(a, b, c, d byte) string { return fmt.Sprintf("[::ffff:%02x%02x:%02x%02x]", a, b, c, d) },
	func(a, b, c, d byte) string { return fmt.Sprintf("[::%d.%d.%d.%d]", a, b, c, d) },
	func(a, b, c, d byte) string { return fmt.Sprintf("[64:ff9b::%02x%02x:%02x%02x]", a, b, c, d) },
	func(a, b, c, d byte) string { return fmt.Sprintf("[2002:%02x%02x:%02x%02x::]", a, b, c, d) },
	func(a, b, c, d byte) string {
		return strings.NewReplacer("0", "⓪", "1", "①", "2", "②").Replace(fmt.Sprintf("%d.%d.%d.%d", a, b, c, d))
	},
	func(a, b, c, d byte) string { return fmt.Sprintf("%d。%d。%d。%d", a, b, c, d) },
}

func ipv4Number(a, b, c, d byte) uint64 {
	return uint64(a)<<24 | uint64(b)<<16 | uint64(c)<<8 | uint64(d)
}

// forbiddenURLs generates URLs of forbidden addresses.
type forbiddenURLs struct {
	r      *rand.Rand
	port   uint16
	inside []netip.Addr
	book   map[string][]netip.Addr
}

// hostName returns a name that resolves to a forbidden address, or to several
// in turn.
func (m *forbiddenURLs) hostName() string {
	name := fmt.Sprintf("n%d.example", len(m.book))
	for range 1 + m.r.IntN(3) {
		m.book[name] = append(m.book[name], m.inside[m.r.IntN(len(m.inside))])
	}
	return name
}

func (m *forbiddenURLs) host() string {
	a := m.inside[m.r.IntN(len(m.inside))].Unmap()
	switch {
	case m.r.IntN(3) == 0:
		return m.hostName()
	case m.r.IntN(10) == 0:
		return []string{"localhost", "LocalHost", "localhost.", "ⓛocalhost", "ip6-localhost", "[::1%25lo]", "[0:0:0:0:0:0:0:1]", ""}[m.r.IntN(8)]
	case a.Is6():
		return "[" + a.String() + "]"
	}
	b := a.As4()
	return spellings[m.r.IntN(len(spellings))](b[0], b[1], b[2], b[3])
}

// url returns an origin with a forbidden address.
func (m *forbiddenURLs) url() string {
	scheme := "https"
	if m.r.IntN(5) == 0 {
		scheme = []string{"http", "HTTP", "ftp", "file", "gopher", "unix", "ws", "jar", "dict", ""}[m.r.IntN(10)]
	}
	user := ""
	if m.r.IntN(5) == 0 {
		user = []string{"user@", "user:password@", "graph.facebook.com@", "graph.facebook.com:443@", "%40@", "@", "graph.facebook.com#@", "graph.facebook.com\\@"}[m.r.IntN(8)]
	}
	port := fmt.Sprintf(":%d", m.port)
	if m.r.IntN(8) == 0 {
		port = []string{":0%d", ":%d0000", ":+%d", ":%d#@graph.facebook.com", ":%d?@graph.facebook.com", ":%d%%2f"}[m.r.IntN(6)]
		port = fmt.Sprintf(port, m.port)
	}
	return scheme + "://" + user + m.host() + port
}

// TestForbiddenPlatformURLs tries 500 forbidden addresses as the URL of a
// platform, of the next page, and of a redirect. Only the sandbox that the
// operator configured is reached.
func TestForbiddenPlatformURLs(t *testing.T) {
	t.Parallel()
	const cases = 500
	seed := rand.Uint64()
	s := newWideSentinel(t)
	m := &forbiddenURLs{r: rand.New(rand.NewPCG(seed, 0)), port: s.port, inside: localAddresses(t), book: map[string][]netip.Addr{}}
	for _, a := range forbiddenAddresses {
		m.inside = append(m.inside, netip.MustParseAddr(a))
	}
	var target string
	var reached atomic.Int64
	sandbox := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		reached.Add(1)
		if r.URL.Path == "/redirect" {
			w.Header()["Location"] = []string{target}
			w.WriteHeader([]int{301, 302, 303, 307, 308}[reached.Load()%5])
			return
		}
		_, _ = io.WriteString(w, `{}`)
	}))
	t.Cleanup(sandbox.Close)
	urls := make([]string, cases)
	for i := range urls {
		urls[i] = m.url()
	}
	// The sentinel's port is allowed, so that only the address refuses the
	// request.
	policy := outbound.Guarded([]string{sandbox.URL})
	policy.Ports = []uint16{s.port}
	c := newClient(t, outbound.Options{Policy: policy, Resolver: testResolver(t, m.book), Roots: sentinelRoots(s)})
	for _, to := range urls {
		if err := send(t, c, to, "/v1/x"); err == nil {
			t.Errorf("base %s: got an answer want a refusal", to)
		}
		for _, path := range []string{to + "/v1/x", strings.TrimPrefix(to, "https://"), "@" + strings.TrimPrefix(to, "https://")} {
			before := reached.Load()
			if err := send(t, c, sandbox.URL, path); connection.ClassOf(err) != connection.Refused || reached.Load() != before {
				t.Errorf("next page %s: got %v want a refusal", path, err)
			}
		}
		target = to
		if err := send(t, c, sandbox.URL, "/redirect"); err == nil {
			t.Errorf("redirect to %s: got an answer want none", to)
		}
	}
	if got := s.visits.Load(); got != 0 {
		t.Errorf("seed %d: the sentinel had %d visits want none", seed, got)
	}
	if err := send(t, c, sandbox.URL, "/v1/x"); err != nil {
		t.Errorf("sandbox: got %v want an answer", err)
	}
	// If its addresses are allowed, the sentinel is reached by name.
	policy.Prefixes = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	open := newClient(t, outbound.Options{Policy: policy, Resolver: testResolver(t, map[string][]netip.Addr{"example.com": {netip.MustParseAddr("127.0.0.1")}}), Roots: sentinelRoots(s)})
	if err := send(t, open, fmt.Sprintf("https://example.com:%d", s.port), "/v1/x"); err != nil || s.visits.Load() == 0 {
		t.Errorf("allowed: got %v and %d visits want an answer", err, s.visits.Load())
	}
}

// errNotOK is returned for an answer other than 200.
var errNotOK = errors.New("not what was asked for")

// send sends a call as the client of a platform does.
func send(t *testing.T, c *outbound.Client, base, path string) error {
	t.Helper()
	_, err := transport.New(transport.Options{
		Base: base, Do: c, Now: time.Now, Sleep: func(context.Context, time.Duration) error { return errNotOK },
		ReadError: func(status int, _ http.Header, _ []byte, _ time.Time) *connection.Error {
			if status != http.StatusOK {
				return &connection.Error{Class: connection.Refused, Code: strconv.Itoa(status), Message: "not what was asked for", Cause: errNotOK}
			}
			return nil
		},
	}).Do(t.Context(), transport.Call{Method: http.MethodGet, Path: path, Header: http.Header{"Authorization": {"Bearer sk-secret"}}}, nil)
	return err
}
