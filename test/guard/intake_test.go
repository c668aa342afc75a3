package guard_test

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"fanfare/test/program"
)

// drillServer is the real program for drills with hostile clients.
type drillServer struct {
	*program.Server
	t *testing.T
}

// startDrillServer starts a server with high rate limits. It uses memory as a
// user's server does: the test command sets GOGC to save time.
func startDrillServer(t *testing.T, binary string, args ...string) *drillServer {
	t.Helper()
	return &drillServer{program.Start(t, program.Options{Binary: binary, Env: []string{"GOGC=100"}, Args: append([]string{"--limits", "growth=1000000/0/250,starter=1000000/0/10"}, args...)}), t}
}

// createWorkspace creates a workspace and returns a key.
func (s *drillServer) createWorkspace(name string, more ...string) string {
	s.t.Helper()
	args := append([]string{"workspace", "create", "--name", name, "--owner", strings.ToLower(name) + "@example.com", "--json"}, more...)
	if len(more) == 0 {
		args = append(args, "--plan", "growth")
	}
	made := s.Run(args...)
	var out struct {
		APIKey string `json:"api_key"`
	}
	if err := json.Unmarshal([]byte(made.Out), &out); err != nil || made.Code != 0 {
		s.t.Fatalf("got %+v, %v", made, err)
	}
	return out.APIKey
}

// send posts a body and returns the status and the answer, or 0 and the error
// if there is none. headers are names and values.
func (s *drillServer) send(key, target, mediaType string, body io.Reader, headers ...string) (int, string) {
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.URL+target, body)
	if err != nil {
		return 0, err.Error()
	}
	r.Header.Set("Authorization", "Bearer "+key)
	r.Header.Set("Content-Type", mediaType)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	res, err := s.Client().Do(r)
	if err != nil {
		return 0, err.Error()
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(res.Body, 1<<10))
	if err != nil {
		return 0, err.Error()
	}
	return res.StatusCode, string(text)
}

// dial connects over HTTP/1.1 with a small receive window.
func (s *drillServer) dial() net.Conn {
	s.t.Helper()
	raw, err := net.Dial("tcp", s.Host)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = raw.Close() })
	if err := raw.(*net.TCPConn).SetReadBuffer(4 << 10); err != nil {
		s.t.Fatal(err)
	}
	config := s.Transport().TLSClientConfig
	config.NextProtos, config.ServerName = []string{"http/1.1"}, "localhost"
	c := tls.Client(raw, config)
	if err := c.HandshakeContext(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
	return c
}

// waitUntil polls until a condition is true.
func waitUntil(t *testing.T, what string, so func() bool) {
	t.Helper()
	end := time.Now().Add(2 * time.Minute)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !so() {
		if time.Now().After(end) {
			t.Errorf("waited two minutes for %s", what)
			return
		}
		<-tick.C
	}
}

const oneRow = `[{"date":"2026-11-01","clicks":1}]`

// TestDrillStalledUploads opens uploads that announce 25 MiB each. One sends 24
// MiB and stops, the others stop after one byte. Another tenant's uploads
// succeed meanwhile, and the server aborts the stalled ones although no client
// closes them.
func TestDrillStalledUploads(t *testing.T) {
	t.Parallel()
	stalled := 200
	if fullDrill {
		stalled = 240
	}
	s := startDrillServer(t, "")
	hostile, other := s.createWorkspace("Hostile"), s.createWorkspace("Other")
	var conns []net.Conn
	sent := 24 << 20
	for range stalled {
		c := s.dial()
		if _, err := fmt.Fprintf(c, "POST /v1/assets HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Type: image/png\r\nContent-Length: 26214400\r\n\r\n%s", hostile, strings.Repeat("x", sent)); err != nil {
			t.Fatal(err)
		}
		conns, sent = append(conns, c), 1
		if status, text := s.send(other, "/v1/ingest/metrics", "application/json", strings.NewReader(oneRow)); status != http.StatusOK {
			t.Fatalf("with %d stalled uploads another tenant got %d %s want 200", len(conns), status, text)
		}
	}
	timeouts := 0
	for i, c := range conns {
		if err := c.SetReadDeadline(time.Now().Add(2 * time.Minute)); err != nil {
			t.Fatal(err)
		}
		res, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatalf("upload %d: got %v want an answer", i, err)
		}
		_ = res.Body.Close()
		if res.StatusCode == http.StatusRequestTimeout {
			timeouts++
		}
	}
	if timeouts != stalled {
		t.Errorf("got %d of %d stalled uploads given up as too slow", timeouts, stalled)
	}
	if status, text := s.send(hostile, "/v1/ingest/metrics", "application/json", strings.NewReader(oneRow)); status != http.StatusOK {
		t.Errorf("afterwards the tenant itself got %d %s want 200", status, text)
	}
	s.Stop()
}

// TestDrillSlowReaders opens connections that request much and read nothing.
// All are disconnected, and their workspace's slots are freed.
func TestDrillSlowReaders(t *testing.T) {
	t.Parallel()
	readers, timeout := 200, "1s"
	if fullDrill {
		timeout = "30s"
	}
	s := startDrillServer(t, "", "--write-timeout", timeout)
	key := s.createWorkspace("Slow", "--plan", "starter")
	for i := range 100 {
		body := fmt.Sprintf(`{"name":"Campaign %d","description":%q}`, i, strings.Repeat("long ", 200))
		if status, text := s.Call(key, http.MethodPost, "/v1/campaigns", body); status != http.StatusCreated {
			t.Fatalf("got %d %s want 201", status, text)
		}
	}
	document := strings.Repeat("GET /openapi/v1.json HTTP/1.1\r\nHost: localhost\r\n\r\n", 20)
	list := strings.Repeat("GET /v1/campaigns?limit=100 HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "+key+"\r\n\r\n", 80)
	var wg sync.WaitGroup
	for i := range readers {
		c, ask := s.dial(), document
		if i%10 == 0 && i < 100 {
			ask = list
		}
		wg.Go(func() {
			if _, err := io.WriteString(c, ask); err != nil {
				t.Errorf("reader %d: %v", i, err)
				return
			}
			// A disconnected client cannot send for long.
			waitUntil(t, fmt.Sprintf("reader %d to be disconnected", i), func() bool {
				_, err := io.WriteString(c, "GET ")
				return err != nil
			})
		})
	}
	wg.Wait()
	for range 10 {
		if status, text := s.Call(key, http.MethodGet, "/v1/me", ""); status != http.StatusOK {
			t.Fatalf("afterwards the workspace got %d %s want its places back", status, text)
		}
	}
	s.Stop()
}

// TestDrillIdleConnections fills the server with connections that send one
// request without a key and stay open. Each new one gets its answer.
func TestDrillIdleConnections(t *testing.T) {
	t.Parallel()
	const most = 500
	s := startDrillServer(t, "", "--max-connections", strconv.Itoa(most))
	for i := range most + 50 {
		c := s.dial()
		if _, err := io.WriteString(c, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
			t.Fatalf("connection %d: %v", i, err)
		}
		res, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatalf("connection %d: %v", i, err)
		}
		_ = res.Body.Close()
		if res.StatusCode != http.StatusOK {
			t.Fatalf("connection %d: got %d want 200", i, res.StatusCode)
		}
	}
	s.Stop()
}
