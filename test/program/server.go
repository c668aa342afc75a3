package program

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Options are the settings of a server.
type Options struct {
	// Binary is the program, by default the result of Build.
	Binary string
	// Command is the subcommand, by default serve.
	Command string
	// Data is the data folder, by default a temporary one.
	Data string
	// Args and Env are for the program. It listens on a free port unless they
	// set another.
	Args, Env []string
	// ClockOffset is how far the program's clock is ahead of the real one.
	ClockOffset time.Duration
	// Trust is the certificate file of the server, if the local authority in
	// its data folder did not issue it.
	Trust string
	// KeepStopDelay keeps the default delay before a stop.
	KeepStopDelay bool
	// DefaultData lets the program choose its data folder; it runs in Dir.
	DefaultData bool
	// Dir is the working directory, by default a temporary one.
	Dir string
}

// Server is a running server.
type Server struct {
	// URL is its address, such as https://127.0.0.1:40123.
	URL string
	// Host is the part of URL after https://.
	Host string
	// Data is its data folder.
	Data string
	// Log is its standard error, Out its standard output.
	Log, Out *Buffer

	t       testing.TB
	options Options
	process *process
	client  *http.Client
}

// Buffer can be read concurrently.
type Buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *Buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// Start starts a server and waits until it is ready. The server stops at the
// latest at the end of the test.
func Start(t testing.TB, o Options) *Server {
	t.Helper()
	s := Launch(t, o)
	s.waitUntilReady()
	return s
}

// Launch starts a server and does not wait for it.
func Launch(t testing.TB, o Options) *Server {
	t.Helper()
	if o.Binary == "" {
		o.Binary = Build(t)
	}
	if o.Command == "" {
		o.Command = "serve"
	}
	if o.Data == "" {
		o.Data = filepath.Join(t.TempDir(), "data")
	}
	if o.Dir == "" {
		o.Dir = t.TempDir()
	}
	args := append([]string{o.Command}, o.Args...)
	env := []string{"FANFARE_LISTEN=127.0.0.1:0", "FANFARE_LOG_FORMAT=json", "FANFARE_CLOCK_OFFSET=" + o.ClockOffset.String()}
	if !o.DefaultData {
		env = append(env, "FANFARE_DATA="+o.Data)
	}
	if os.Getenv("FANFARE_DRILL") != "full" {
		env = append(env, "FANFARE_HISTORY_DAYS=90") // two years take a minute
	}
	if !o.KeepStopDelay {
		env = append(env, "FANFARE_DRAIN_DELAY=0s")
	}
	s := &Server{Data: o.Data, Log: &Buffer{}, Out: &Buffer{}, t: t, options: o}
	cmd := exec.Command(o.Binary, args...)
	cmd.Dir, cmd.Env = o.Dir, Environ(append(env, o.Env...)...)
	cmd.Stdout, cmd.Stderr = s.Out, s.Log
	var err error
	if s.process, err = start(cmd); err != nil {
		t.Fatalf("start the server: %v", err)
	}
	t.Cleanup(func() {
		if !s.Ended() {
			_ = s.process.cmd.Process.Kill()
			<-s.process.exited
		}
		if t.Failed() {
			t.Logf("log of the server:\n%s", s.Log)
		}
	})
	return s
}

var addressPattern = regexp.MustCompile(`https://(127\.0\.0\.1:[0-9]+|localhost:[0-9]+|\[::1\]:[0-9]+)`)

// waitUntilReady waits until /readyz succeeds.
func (s *Server) waitUntilReady() {
	s.t.Helper()
	end := time.Now().Add(maxWait)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for ; time.Now().Before(end); <-tick.C {
		if s.Ended() {
			s.t.Fatalf("the server ended with code %d", s.Wait())
		}
		if !s.FindAddress() {
			continue
		}
		res, err := s.Client().Get(s.URL + "/readyz")
		if err != nil {
			continue
		}
		_ = res.Body.Close()
		if res.StatusCode == http.StatusOK {
			return
		}
	}
	s.t.Fatalf("the server was not ready within %s", maxWait)
}

// FindAddress reads the address from the server's output. It reports whether it
// is known.
func (s *Server) FindAddress() bool {
	if s.URL != "" {
		return true
	}
	found := addressPattern.FindString(s.Log.String() + s.Out.String())
	if found == "" {
		return false
	}
	s.URL, s.Host = found, strings.TrimPrefix(found, "https://")
	return true
}

// Client returns a client that trusts only the server's local authority and
// uses the server's clock.
func (s *Server) Client() *http.Client {
	s.t.Helper()
	if s.client == nil {
		transport := s.Transport()
		s.t.Cleanup(transport.CloseIdleConnections)
		s.client = &http.Client{Transport: transport, Timeout: maxWait, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	}
	return s.client
}

// Transport returns a transport with its own connections, over HTTP/2 if the
// server offers it.
func (s *Server) Transport() *http.Transport {
	s.t.Helper()
	roots := x509.NewCertPool()
	file := filepath.Join(s.Data, "tls", "ca.pem")
	if s.options.Trust != "" {
		file = s.options.Trust
	}
	if text, err := os.ReadFile(file); err == nil {
		roots.AppendCertsFromPEM(text)
	}
	ahead := s.options.ClockOffset
	return &http.Transport{
		ForceAttemptHTTP2: true,
		TLSClientConfig:   &tls.Config{RootCAs: roots, Time: func() time.Time { return time.Now().Add(ahead) }},
	}
}

// Ended reports whether the process has ended.
func (s *Server) Ended() bool {
	select {
	case <-s.process.exited:
		return true
	default:
		return false
	}
}

// PID returns the process id.
func (s *Server) PID() int { return s.process.cmd.Process.Pid }

// Signal sends a signal.
func (s *Server) Signal(signal os.Signal) {
	s.t.Helper()
	if err := s.process.cmd.Process.Signal(signal); err != nil {
		s.t.Fatalf("signal the server: %v", err)
	}
}

// Wait waits for the end and returns the exit code, -1 after a signal.
func (s *Server) Wait() int {
	s.t.Helper()
	return s.process.wait(s.t)
}

// Stop stops the server and fails the test unless it exits without an error.
func (s *Server) Stop() {
	s.t.Helper()
	if s.client != nil {
		s.client.CloseIdleConnections()
	}
	s.Signal(syscall.SIGTERM)
	if code := s.Wait(); code != 0 {
		s.t.Fatalf("the server ended with code %d", code)
	}
}

// Kill kills the server.
func (s *Server) Kill() {
	s.t.Helper()
	s.Signal(syscall.SIGKILL)
	s.Wait()
}

// Run runs a command on the server's data folder.
func (s *Server) Run(args ...string) Result {
	s.t.Helper()
	env := append([]string{"FANFARE_DATA=" + s.Data, "FANFARE_LISTEN=" + s.Host, "FANFARE_CLOCK_OFFSET=" + s.options.ClockOffset.String()}, s.options.Env...)
	return Run(s.t, s.options.Binary, s.t.TempDir(), env, args...)
}

// Call sends one request with a key and returns its status and body.
func (s *Server) Call(key, method, path, body string) (int, string) {
	s.t.Helper()
	res, text, err := s.Try(s.Client(), key, method, path, body)
	if err != nil {
		s.t.Fatalf("%s %s: %v", method, path, err)
	}
	return res.StatusCode, text
}

// Try is Call for requests that may fail.
func (s *Server) Try(client *http.Client, key, method, path, body string) (*http.Response, string, error) {
	req, err := http.NewRequestWithContext(context.Background(), method, s.URL+path, strings.NewReader(body))
	if err != nil {
		return nil, "", err
	}
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := client.Do(req)
	if err != nil {
		return nil, "", err
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, "", fmt.Errorf("read answer: %w", err)
	}
	return res, string(text), nil
}
