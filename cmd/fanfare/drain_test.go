package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"fanfare/test/program"
)

// load is a group of clients that send requests until they are refused.
type load struct {
	server *program.Server
	key    string

	answered, refused atomic.Int64
	mu                sync.Mutex
	broken            []string
}

// client sends requests until the server accepts no more connections. A request
// that was sent and not answered counts as broken.
func (l *load) client(transport *http.Transport, n int) {
	client := &http.Client{Transport: transport, Timeout: time.Minute}
	for i := 0; ; i++ {
		method, path, body := http.MethodGet, "/v1/campaigns", ""
		if i%3 == n%3 {
			method, body = http.MethodPost, fmt.Sprintf(`{"name": "Campaign %d of %d"}`, i, n)
		}
		sent := false
		ctx := httptrace.WithClientTrace(context.Background(), &httptrace.ClientTrace{WroteHeaders: func() { sent = true }})
		req, err := http.NewRequestWithContext(ctx, method, l.server.URL+path, strings.NewReader(body))
		if err != nil {
			panic(err)
		}
		req.Header.Set("Authorization", "Bearer "+l.key)
		req.Header.Set("Content-Type", "application/json")
		res, err := client.Do(req)
		if err == nil {
			_, err = io.Copy(io.Discard, res.Body)
			_ = res.Body.Close()
		}
		switch {
		case err != nil && sent:
			l.mu.Lock()
			l.broken = append(l.broken, fmt.Sprintf("%s (sent: %v): %v", method, sent, err))
			l.mu.Unlock()
			return
		case err != nil:
			l.refused.Add(1)
			return
		case res.StatusCode >= 500:
			l.mu.Lock()
			l.broken = append(l.broken, fmt.Sprintf("%s: %s", method, res.Status))
			l.mu.Unlock()
		}
		l.answered.Add(1)
	}
}

// TestDrain stops a server under load. The server reports that it is not ready
// while it still responds, interrupts no request, and exits without an error.
func TestDrain(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.serve("--drain-delay", "1s", "--limits", "growth=0/0/0")
	s, key := p.server, p.workspace().APIKey
	l := &load{server: s, key: key}
	var wg sync.WaitGroup
	for i := range 8 {
		transport := s.Transport()
		if i%2 == 0 {
			transport.ForceAttemptHTTP2 = false
			transport.TLSClientConfig.NextProtos = []string{"http/1.1"}
			transport.TLSNextProto = map[string]func(string, *tls.Conn) http.RoundTripper{}
		}
		t.Cleanup(transport.CloseIdleConnections)
		wg.Go(func() { l.client(transport, i) })
	}
	waitFor(t, func() bool { return l.answered.Load() > 100 })
	s.Signal(syscall.SIGTERM)
	waitFor(t, func() bool {
		res, body, err := s.Try(s.Client(), "", http.MethodGet, "/readyz", "")
		if err != nil {
			t.Fatalf("the server stopped before it said so: %v", err)
		}
		if res.StatusCode == http.StatusOK {
			return false
		}
		if res.StatusCode != http.StatusServiceUnavailable || !strings.Contains(body, "unavailable") || res.Header.Get("Retry-After") == "" {
			t.Errorf("got %d: %s", res.StatusCode, body)
		}
		return true
	})
	// Not ready is a signal for load balancers; clients still get responses.
	if status, body := s.Call(key, http.MethodGet, "/v1/me", ""); status != http.StatusOK {
		t.Errorf("got %d: %s", status, body)
	}
	if status, _ := s.Call("", http.MethodGet, "/healthz", ""); status != http.StatusOK {
		t.Errorf("got %d from /healthz", status)
	}
	wg.Wait()
	if code := s.Wait(); code != 0 {
		t.Errorf("got code %d", code)
	}
	for _, b := range l.broken {
		t.Errorf("broken: %s", b)
	}
	if l.refused.Load() != 8 {
		t.Errorf("%d of 8 clients were turned away", l.refused.Load())
	}
	t.Logf("%d answered", l.answered.Load())
}

// TestSecondSignal checks that a second signal ends the wait for load
// balancers.
func TestSecondSignal(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	s := p.serve("--drain-delay", "1h")
	s.Signal(syscall.SIGTERM)
	waitFor(t, func() bool {
		status, _ := s.Call("", http.MethodGet, "/readyz", "")
		return status == http.StatusServiceUnavailable
	})
	s.Signal(syscall.SIGTERM)
	if code := s.Wait(); code != 0 {
		t.Errorf("got code %d", code)
	}
}

// waitFor polls until a condition is true.
func waitFor(t *testing.T, so func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); <-tick.C {
		if so() {
			return
		}
	}
	t.Fatal("it did not come to that within a minute")
}
