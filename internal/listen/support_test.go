package listen

import (
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// clock is a clock that tests move.
type clock struct {
	mu sync.Mutex
	t  time.Time
}

func newClock() *clock { return &clock{t: time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)} }

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = c.t.Add(d)
}

// journal collects log lines.
type journal struct {
	mu    sync.Mutex
	lines []string
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lines = append(j.lines, string(p))
	return len(p), nil
}

func (j *journal) all() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return append([]string(nil), j.lines...)
}

func (j *journal) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(j, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

func silence() *slog.Logger { return slog.New(slog.DiscardHandler) }

// served is a listener that responds with "secure" and the client's address
// over TLS, and with 403 and mayRevoke otherwise.
type served struct {
	*Listener
	done chan error
}

func secureAnswer(w http.ResponseWriter, r *http.Request) {
	_, _ = fmt.Fprintf(w, "secure %s %s", r.Proto, r.RemoteAddr)
}

func plainAnswer(w http.ResponseWriter, r *http.Request, mayRevoke bool) {
	w.WriteHeader(http.StatusForbidden)
	_, _ = fmt.Fprintf(w, "plain %s %v %s", r.Proto, mayRevoke, r.Header.Get("Authorization"))
}

func start(t testing.TB, cfg Config, now func() time.Time) *served {
	t.Helper()
	l, err := Open(t.Context(), cfg, now, silence())
	if err != nil {
		t.Fatal(err)
	}
	return run(t, l, http.HandlerFunc(secureAnswer))
}

func run(t testing.TB, l *Listener, secure http.Handler) *served {
	t.Helper()
	s := &served{Listener: l, done: make(chan error, 1)}
	go func() { s.done <- l.Serve(secure, plainAnswer) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
		defer cancel()
		if err := l.Shutdown(ctx); err != nil {
			t.Errorf("shutdown: %v", err)
		}
		if err := <-s.done; err != nil {
			t.Errorf("serve returned %v, want nil after shutdown", err)
		}
	})
	return s
}

func autoConfig(t testing.TB) Config {
	t.Helper()
	return Config{Addr: "127.0.0.1:0", Mode: ModeAuto, Dir: filepath.Join(t.TempDir(), "tls")}
}

// roots returns a pool with only the local authority.
func (s *served) roots(t testing.TB) *x509.CertPool {
	t.Helper()
	file, _ := s.Authority()
	pool, err := readRoots(file)
	if err != nil {
		t.Fatal(err)
	}
	return pool
}

// client returns a client for one HTTP version that trusts the local authority.
func (s *served) client(t testing.TB, http2 bool) *http.Client {
	t.Helper()
	var speaks http.Protocols
	speaks.SetHTTP1(!http2)
	speaks.SetHTTP2(http2)
	tr := &http.Transport{Protocols: &speaks, TLSClientConfig: &tls.Config{RootCAs: s.roots(t)}}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr, Timeout: 2 * time.Minute}
}

func get(t testing.TB, c *http.Client, url string, header http.Header) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	maps.Copy(req.Header, header)
	res, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, string(body)
}

func dial(t testing.TB, addr net.Addr) net.Conn {
	t.Helper()
	var d net.Dialer
	c, err := d.DialContext(t.Context(), "tcp", addr.String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	if err := c.SetDeadline(time.Now().Add(2 * time.Minute)); err != nil {
		t.Fatal(err)
	}
	return c
}

// pipes is an in-memory listener, for tests in a synctest bubble.
type pipes struct{ *queue }

func newPipes() *pipes { return &pipes{newQueue()} }

// dial connects as a client at address from.
func (p *pipes) dial(from string) net.Conn {
	near, far := net.Pipe()
	go p.put(&addressed{far, net.TCPAddrFromAddrPort(mustAddrPort(from))})
	return near
}

type addressed struct {
	net.Conn
	remote net.Addr
}

func (a *addressed) RemoteAddr() net.Addr { return a.remote }

// issue writes a certificate and key for localhost and returns their files.
func issue(t testing.TB, dir, name string, key crypto.Signer, from, until time.Time) (certFile, keyFile string) {
	t.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1),
		Subject:      pkix.Name{CommonName: name},
		NotBefore:    from, NotAfter: until,
		IsCA: true, BasicConstraintsValid: true,
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign | x509.KeyUsageKeyEncipherment,
		DNSNames:    []string{"localhost"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	certFile, keyFile = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	write(t, keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}), 0o600)
	write(t, certFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o644)
	return certFile, keyFile
}

func rsaKey(t testing.TB, bits int) *rsa.PrivateKey {
	t.Helper()
	k, err := rsa.GenerateKey(rand.Reader, bits)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func write(t testing.TB, file string, content []byte, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(file, content, mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(file, mode); err != nil {
		t.Fatal(err)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// say sends text without waiting for a response.
func say(t testing.TB, to io.Writer, text string) {
	t.Helper()
	if _, err := io.WriteString(to, text); err != nil {
		t.Errorf("send: %v", err)
	}
}
