package outbound_test

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"fanfare/internal/outbound"
)

// sentinel is a server on loopback that must never be reached.
type sentinel struct {
	port   uint16
	tls    *httptest.Server
	visits atomic.Int64
}

func newSentinel(t *testing.T) *sentinel {
	t.Helper()
	s := &sentinel{}
	s.tls = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, r.Host)
	}))
	s.tls.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			s.visits.Add(1)
		}
	}
	s.tls.StartTLS()
	t.Cleanup(s.tls.Close)
	s.port = uint16(s.tls.Listener.Addr().(*net.TCPAddr).Port)
	return s
}

// testResolver is a resolver on loopback. A name resolves to its addresses in
// turn, so that the result can change between two lookups.
func testResolver(t *testing.T, book map[string][]netip.Addr) *net.Resolver {
	t.Helper()
	conn, err := (&net.ListenConfig{}).ListenPacket(t.Context(), "udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	go func() {
		asked := map[string]int{}
		for buf := make([]byte, 1024); ; {
			n, from, err := conn.ReadFrom(buf)
			if err != nil {
				return
			}
			_, _ = conn.WriteTo(dnsAnswer(buf[:n], book, asked), from)
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

func dnsAnswer(question []byte, book map[string][]netip.Addr, asked map[string]int) []byte {
	var m dnsmessage.Message
	if m.Unpack(question) != nil || len(m.Questions) != 1 {
		return nil
	}
	q := m.Questions[0]
	name := strings.TrimSuffix(q.Name.String(), ".")
	m.Response, m.Additionals = true, nil
	header := dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class}
	addresses := book[name]
	if len(addresses) == 0 {
		m.RCode = dnsmessage.RCodeNameError
	} else {
		a := addresses[asked[name]/2%len(addresses)] // A and AAAA are queried together
		asked[name]++
		switch {
		case a.Is4() && q.Type == dnsmessage.TypeA:
			m.Answers = []dnsmessage.Resource{{Header: header, Body: &dnsmessage.AResource{A: a.As4()}}}
		case a.Is6() && q.Type == dnsmessage.TypeAAAA:
			m.Answers = []dnsmessage.Resource{{Header: header, Body: &dnsmessage.AAAAResource{AAAA: a.As16()}}}
		}
	}
	b, _ := m.Pack()
	return b
}

func get(t *testing.T, c *outbound.Client, to string) (string, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, to, http.NoBody)
	if err != nil {
		return "", err
	}
	resp, err := c.Do(req)
	if err != nil {
		return "", err
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	return fmt.Sprint(resp.StatusCode, " ", string(b)), err
}

func newClient(t *testing.T, o outbound.Options) *outbound.Client {
	t.Helper()
	c, err := outbound.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// forbiddenAddresses are addresses that users' URLs must not reach.
var forbiddenAddresses = []string{
	"127.0.0.1", "127.8.9.1", "0.0.0.0", "0.1.2.3", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "169.254.169.254",
	"169.254.170.2", "100.64.0.1", "100.100.100.200", "168.63.129.16", "192.0.0.192", "198.18.0.1", "224.0.0.1", "255.255.255.255", "240.0.0.1",
	"::1", "::", "::ffff:127.0.0.1", "::ffff:169.254.169.254", "::127.0.0.1", "64:ff9b::7f00:1", "64:ff9b:1::7f00:1", "fc00::1", "fd00:ec2::254",
	"fe80::1", "ff02::1", "2002:7f00:1::", "2001:0:7f00:1::", "2001:db8::1", "100::1",
}

// TestForbiddenAddresses runs only the dialer's check, so that a failing test
// does not connect to services of this machine.
func TestForbiddenAddresses(t *testing.T) {
	t.Parallel()
	at := func(a string) netip.AddrPort { return netip.AddrPortFrom(netip.MustParseAddr(a), 443) }
	denied := outbound.Policy{Denied: []netip.Prefix{netip.MustParsePrefix("8.8.0.0/16")}}
	private := outbound.Guarded(nil, netip.MustParsePrefix("10.1.0.0/16"), netip.MustParsePrefix("fd01::/16"))
	for _, a := range forbiddenAddresses {
		if err := (outbound.Policy{}).CheckDial(at(a)); !errors.Is(err, outbound.ErrForbidden) {
			t.Errorf("guarded to %s: got %v want ErrForbidden", a, err)
		}
	}
	for _, test := range []struct {
		name, address string
		policy        outbound.Policy
		want          bool
	}{
		{"guarded", "8.8.8.8", outbound.Policy{}, true},
		{"guarded", "2606:4700::1111", outbound.Policy{}, true},
		{"own address", "8.8.8.8", denied, false},
		{"allowed prefix", "10.1.2.3", private, true},
		{"allowed prefix", "10.2.2.3", private, false},
		{"allowed prefix", "fd01::1", private, true},
		{"allowed prefix", "::ffff:10.1.2.3", private, false},
		{"trusted", "127.0.0.1", outbound.Trusted(), true},
		{"trusted", "10.0.0.1", outbound.Trusted(), true},
		{"trusted", "::1", outbound.Trusted(), true},
		{"trusted", "169.254.169.254", outbound.Trusted(), false},
		{"trusted", "::ffff:169.254.169.254", outbound.Trusted(), false},
		{"trusted", "fe80::1", outbound.Trusted(), false},
		{"trusted", "fd00:ec2::254", outbound.Trusted(), false},
		{"trusted", "168.63.129.16", outbound.Trusted(), false},
		{"trusted", "100.100.100.200", outbound.Trusted(), false},
		{"trusted with prefix", "fe80::1", outbound.Trusted(netip.MustParsePrefix("fe80::/10")), true},
	} {
		if err := test.policy.CheckDial(at(test.address)); (err == nil) != test.want {
			t.Errorf("%s to %s: got %v want allowed %v", test.name, test.address, err, test.want)
		}
	}
	if err := (outbound.Policy{}).CheckDial(netip.MustParseAddrPort("8.8.8.8:22")); !errors.Is(err, outbound.ErrForbidden) {
		t.Errorf("port 22: got %v want ErrForbidden", err)
	}
}

// TestForbiddenURLs tries URLs that lead to this machine. The sentinel's port
// is allowed, so that only the tested rule refuses them.
func TestForbiddenURLs(t *testing.T) {
	t.Parallel()
	s := newSentinel(t)
	loopback := []string{"127.0.0.1", "127.8.9.1", "0.0.0.0", "::1", "::", "::ffff:127.0.0.1", "::ffff:0.0.0.0"}
	book := map[string][]netip.Addr{"moving.example": {netip.MustParseAddr("0.0.0.0"), netip.MustParseAddr("127.0.0.1")}}
	resolved := []string{"https://moving.example:%d/", "https://moving.example:%d/"}
	var urls []string
	for i, a := range loopback {
		name := "n" + strconv.Itoa(i) + ".example"
		book[name] = []netip.Addr{netip.MustParseAddr(a)}
		resolved = append(resolved, "https://"+name+":%d/")
		urls = append(urls, "https://"+net.JoinHostPort(a, "%d")+"/")
	}
	urls = append(urls, "https://localhost:%d/", "https://LOCALHOST:%d/", "https://localhost.:%d/", "https://ⓛocalhost:%d/", "https://127.1:%d/",
		"https://127.0.0.1.:%d/", "https://2130706433:%d/", "https://0x7f000001:%d/", "https://0x7f.1:%d/", "https://017700000001:%d/",
		"https://0177.0.0.1:%d/", "https://①②⑦.⓪.⓪.①:%d/", "https://127。0。0。1:%d/", "https://[::1%%25lo]:%d/", "https://[::ffff:7f00:1]:%d/",
		"https://[0:0:0:0:0:0:0:1]:%d/", "https://[::127.0.0.1]:%d/", "https://[64:ff9b::7f00:1]:%d/", "https://[2002:7f00:1::]:%d/",
		"http://localhost:%d/", "http://n0.example:%d/", "https://user@n0.example:%d/", "https://public.example@127.0.0.1:%d/",
		"https://127.0.0.1:%d#@public.example/", "ftp://localhost:%d/", "file:///etc/passwd#%d", "gopher://localhost:%d/_x", "unix://localhost:%d/",
		"https://:%d/", "https:localhost:%d", "//localhost:%d/", "https://n0.example:%d\\@public.example/", "https://n0.example:0%d/")
	c := newClient(t, outbound.Options{
		Policy:   outbound.Policy{Ports: []uint16{s.port}},
		Resolver: testResolver(t, book), Roots: sentinelRoots(s),
	})
	for _, form := range urls {
		to := fmt.Sprintf(form, s.port)
		if got, err := get(t, c, to); err == nil {
			t.Errorf("%s: got %q want a refusal", to, got)
		}
	}
	for _, form := range resolved {
		to := fmt.Sprintf(form, s.port)
		if got, err := get(t, c, to); !errors.Is(err, outbound.ErrForbidden) {
			t.Errorf("%s: got %q, %v want ErrForbidden when the name is known", to, got, err)
		}
	}
	if got := s.visits.Load(); got != 0 {
		t.Errorf("the sentinel had %d visits want none", got)
	}
	// If its address is allowed, the same client reaches the sentinel: the
	// refusals above are not an accident of the test.
	open := newClient(t, outbound.Options{
		Policy:   outbound.Policy{Ports: []uint16{s.port}, Prefixes: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}},
		Resolver: testResolver(t, map[string][]netip.Addr{"example.com": {netip.MustParseAddr("127.0.0.1")}}), Roots: sentinelRoots(s),
	})
	if got, err := get(t, open, fmt.Sprintf("https://example.com:%d/", s.port)); err != nil || !strings.HasPrefix(got, "200") {
		t.Errorf("allowed prefix: got %q, %v want 200", got, err)
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	operator := outbound.Guarded([]string{"http://localhost:11434", "https://10.0.0.7"})
	for _, test := range []struct {
		url    string
		policy outbound.Policy
		want   bool
	}{
		{"https://api.example.com/v1", outbound.Policy{}, true},
		{"https://api.example.com:8443/v1", outbound.Policy{}, true},
		{"https://api.example.com.", outbound.Policy{}, true},
		{"https://api.example.com:444/", outbound.Policy{}, false},
		{"https://api.example.com:80/", outbound.Policy{}, false},
		{"https://api.example.com:99999/", outbound.Policy{}, false},
		{"http://api.example.com/", outbound.Policy{}, false},
		{"https://8.8.8.8/", outbound.Policy{}, false},
		{"https://[2606:4700::1111]/", outbound.Policy{}, false},
		{"https://a:b@api.example.com/", outbound.Policy{}, false},
		{"https://", outbound.Policy{}, false},
		{"", outbound.Policy{}, false},
		{"::", outbound.Policy{}, false},
		{"http://localhost:11434/v1", operator, true},
		{"http://LocalHost:11434/v1", operator, true},
		{"https://localhost:11434/v1", operator, false},
		{"http://localhost:11435/v1", operator, false},
		{"https://10.0.0.7/v1", operator, true},
		{"https://10.0.0.8/v1", operator, false},
		{"http://192.168.1.2:1234/v1", outbound.Trusted(), true},
		{"http://u:p@192.168.1.2:1234/v1", outbound.Trusted(), false},
		{"ftp://192.168.1.2/", outbound.Trusted(), false},
	} {
		err := test.policy.Check(test.url)
		if got := err == nil; got != test.want || err != nil && !errors.Is(err, outbound.ErrForbidden) {
			t.Errorf("%s: got %v want allowed %v", test.url, err, test.want)
		}
	}
	for _, origin := range []string{"localhost:11434", "http://", "ftp://x", "http://x/path", "http://x?q", "http://u@x", "http://x:0", "\x00"} {
		if _, err := outbound.New(outbound.Options{Policy: outbound.Guarded([]string{origin})}); err == nil {
			t.Errorf("origin %q: got nothing want an error", origin)
		}
	}
}

func TestOperatorExceptions(t *testing.T) {
	t.Parallel()
	plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") }))
	t.Cleanup(plain.Close)
	for name, policy := range map[string]outbound.Policy{"origin": outbound.Guarded([]string{plain.URL}), "trusted": outbound.Trusted()} {
		c := newClient(t, outbound.Options{Policy: policy})
		if got, err := get(t, c, plain.URL+"/x"); err != nil || got != "200 hello" {
			t.Errorf("%s: got %q, %v want hello", name, got, err)
		}
	}
}

// TestNoProxy is not parallel, because it sets the environment.
func TestNoProxy(t *testing.T) {
	s := newSentinel(t)
	for _, name := range []string{"HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY"} {
		t.Setenv(name, s.tls.URL)
	}
	c := newClient(t, outbound.Options{Resolver: testResolver(t, map[string][]netip.Addr{})})
	if got, err := get(t, c, "https://api.example.com/"); err == nil {
		t.Errorf("got %q want no answer", got)
	}
	if got := s.visits.Load(); got != 0 {
		t.Errorf("the proxy of the environment had %d visits want none", got)
	}
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	t.Parallel()
	s := newSentinel(t)
	first := httptest.NewServer(http.RedirectHandler(s.tls.URL, http.StatusTemporaryRedirect))
	t.Cleanup(first.Close)
	c := newClient(t, outbound.Options{Policy: outbound.Trusted(), Roots: sentinelRoots(s)})
	if got, err := get(t, c, first.URL); err != nil || !strings.HasPrefix(got, "307") {
		t.Errorf("got %q, %v want the redirect itself", got, err)
	}
	var status *outbound.StatusError
	if err := c.Post(t.Context(), first.URL, nil, struct{}{}, nil); !errors.As(err, &status) || status.Status != http.StatusTemporaryRedirect {
		t.Errorf("post: got %v want a status error 307", err)
	}
	if got := s.visits.Load(); got != 0 {
		t.Errorf("the redirect's target had %d visits want none", got)
	}
}

func TestBodyLimit(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n, _ := strconv.Atoi(r.URL.Query().Get("n"))
		_, _ = io.WriteString(w, strings.Repeat("x", n))
	}))
	t.Cleanup(srv.Close)
	c := newClient(t, outbound.Options{Policy: outbound.Trusted(), MaxBytes: 1000})
	for n, want := range map[int]error{0: nil, 999: nil, 1000: nil, 1001: outbound.ErrTooLong, 100000: outbound.ErrTooLong} {
		got, err := get(t, c, srv.URL+"?n="+strconv.Itoa(n))
		if !errors.Is(err, want) || len(got) > 4+1000 {
			t.Errorf("%d bytes: got %d, %v want %v", n, len(got)-4, err, want)
		}
	}
}

func TestTimeout(t *testing.T) {
	t.Parallel()
	hang := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/body" {
			_, _ = io.WriteString(w, "begun")
			_ = http.NewResponseController(w).Flush()
		}
		<-r.Context().Done()
	}))
	t.Cleanup(hang.Close)
	c := newClient(t, outbound.Options{Policy: outbound.Trusted(), Timeout: 20 * time.Millisecond})
	for _, path := range []string{"/head", "/body"} {
		if _, err := get(t, c, hang.URL+path); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: got %v want a deadline", path, err)
		}
	}
}

func TestPost(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/json" || string(body) != `{"a":1,"b":2}` {
			t.Errorf("got %s %v %s", r.Method, r.Header, body)
		}
		switch r.URL.Path {
		case "/ok":
			_, _ = io.WriteString(w, `{"x":"y","more":1}`)
		case "/bad":
			_, _ = io.WriteString(w, `<html>`)
		default:
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(http.StatusTooManyRequests)
			_, _ = fmt.Fprintf(w, "key %s is over its limit %s", r.Header.Get("Authorization"), strings.Repeat("x", 10000))
		}
	}))
	t.Cleanup(srv.Close)
	c := newClient(t, outbound.Options{Policy: outbound.Trusted()})
	header := http.Header{"Authorization": {"Bearer sk-secret"}}
	in := map[string]int{"b": 2, "a": 1}
	var out struct {
		X string `json:"x"`
	}
	if err := c.Post(t.Context(), srv.URL+"/ok", header, in, &out); err != nil || out.X != "y" {
		t.Errorf("got %q, %v want y", out.X, err)
	}
	if err := c.Post(t.Context(), srv.URL+"/bad", header, in, &out); !errors.Is(err, outbound.ErrMalformed) {
		t.Errorf("got %v want ErrMalformed", err)
	}
	err := c.Post(t.Context(), srv.URL+"/busy", header, in, &out)
	var status *outbound.StatusError
	if !errors.As(err, &status) || status.Status != http.StatusTooManyRequests || status.Header.Get("Retry-After") != "7" || len(status.Body) > 4<<10 {
		t.Fatalf("got %v want a bounded status error 429", err)
	}
	if strings.Contains(string(status.Body), "sk-secret") || !strings.HasPrefix(string(status.Body), "key Bearer [sealed] is over") {
		t.Errorf("got %.60q want the key hidden", status.Body)
	}
}

// TestErrorsOmitSecrets looks for a key in every kind of error.
func TestErrorsOmitSecrets(t *testing.T) {
	t.Parallel()
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	hang := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	t.Cleanup(hang.Close)
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	c := newClient(t, outbound.Options{Policy: outbound.Trusted()})
	guarded := newClient(t, outbound.Options{})
	for _, test := range []struct {
		name string
		c    *outbound.Client
		ctx  context.Context
		url  string
	}{
		{"refused", c, t.Context(), gone.URL},
		{"canceled", c, canceled, hang.URL},
		{"forbidden", guarded, t.Context(), "https://127.0.0.1"},
		{"user info", c, t.Context(), strings.Replace(gone.URL, "://", "://sk-secret:sk-secret@", 1)},
		{"unreadable", c, t.Context(), "http://sk-secret:sk secret@x/"},
	} {
		err := test.c.Post(test.ctx, test.url+"/v1?key=sk-secret&access_token=sk-secret#sk-secret", http.Header{"Authorization": {"Bearer sk-secret"}}, 1, nil)
		if err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: got %v want an error without the key", test.name, err)
		}
		if wrapped, ok := errors.AsType[*url.Error](err); ok {
			t.Errorf("%s: the whole URL is still inside the error: %v", test.name, wrapped)
		}
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, gone.URL, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Header["Authorization"] = []string{"Bearer sk-secret\n"}
	if _, err := c.Do(req); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("bad header: got %v want an error without the key", err)
	}
}

func sentinelRoots(s *sentinel) *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(s.tls.Certificate())
	return pool
}
