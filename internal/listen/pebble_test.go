package listen

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

const pebbleVersion = "v2.10.1"

// buildPebble returns the program of the ACME test authority. It is built on
// first use and stored in the user's cache folder. It is built as its own
// module, so that its requirements do not affect this one.
func buildPebble(t *testing.T) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatalf("no folder to keep Pebble in, set HOME or XDG_CACHE_HOME: %v", err)
	}
	dir := filepath.Join(cache, "fanfare-tools", "pebble-"+pebbleVersion+"-"+runtime.Version())
	program := filepath.Join(dir, "pebble")
	if _, err := os.Stat(program); err == nil {
		return program
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	module, fresh := t.TempDir(), filepath.Join(dir, fmt.Sprintf("pebble.%d", os.Getpid()))
	write(t, filepath.Join(module, "go.mod"), []byte("module pebblebuild\n\ngo 1.26.0\n\nrequire github.com/letsencrypt/pebble/v2 "+pebbleVersion+"\n"), 0o644)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	build := exec.CommandContext(ctx, "go", "build", "-mod=mod", "-o", fresh, "github.com/letsencrypt/pebble/v2/cmd/pebble")
	build.Dir = module
	build.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-buildvcs=false")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("Pebble %s cannot be built: %v\n%s", pebbleVersion, err, out)
	}
	// The rename is last: two concurrent test runs each see a complete program
	// or none.
	if err := os.Rename(fresh, program); err != nil {
		t.Fatal(err)
	}
	return program
}

// pebble is a running ACME authority that validates against one port.
type pebble struct {
	directory string
	rootsFile string // trusted for the directory
	manage    string
	stop      func()
}

func startPebble(t *testing.T, tlsPort int) *pebble {
	t.Helper()
	program, dir := buildPebble(t), t.TempDir()
	certFile, keyFile := issue(t, dir, "pebble", ecKey(t), time.Now().Add(-time.Hour), time.Now().Add(time.Hour))
	api, manage := freePort(t), freePort(t)
	config, err := json.Marshal(map[string]any{"pebble": map[string]any{
		"listenAddress":           fmt.Sprintf("127.0.0.1:%d", api),
		"managementListenAddress": fmt.Sprintf("127.0.0.1:%d", manage),
		"certificate":             certFile, "privateKey": keyFile,
		"httpPort": freePort(t), "tlsPort": tlsPort,
		"keyAlgorithm": "ecdsa",
		"retryAfter":   map[string]int{"authz": 1, "order": 1},
		"profiles":     map[string]any{"default": map[string]any{"description": "test", "validityPeriod": 7776000}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	configFile := filepath.Join(dir, "pebble.json")
	write(t, configFile, config, 0o600)

	ctx, cancel := context.WithCancel(context.Background())
	log := &journal{}
	cmd := exec.CommandContext(ctx, program, "-config", configFile, "-strict", "-dnsserver", startDNS(t))
	cmd.Env = append(os.Environ(), "PEBBLE_VA_NOSLEEP=1")
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &pebble{
		directory: fmt.Sprintf("https://127.0.0.1:%d/dir", api), rootsFile: certFile,
		manage: fmt.Sprintf("https://127.0.0.1:%d", manage),
	}
	p.stop = func() { cancel(); _ = cmd.Wait() }
	t.Cleanup(func() {
		p.stop()
		if t.Failed() {
			t.Logf("Pebble said:\n%s", log.all())
		}
	})
	eventually(t, "Pebble answers", func() error { _, err := p.fetch(t, p.directory); return err })
	return p
}

// fetch reads a management page of Pebble.
func (p *pebble) fetch(t *testing.T, url string) ([]byte, error) {
	t.Helper()
	pool, err := readRoots(p.rootsFile)
	if err != nil {
		return nil, err
	}
	tr := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}
	defer tr.CloseIdleConnections()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	res, err := (&http.Client{Transport: tr}).Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }()
	return io.ReadAll(res.Body)
}

// roots returns the roots of Pebble's certificates.
func (p *pebble) roots(t *testing.T) *x509.CertPool {
	t.Helper()
	pem, err := p.fetch(t, p.manage+"/roots/0")
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		t.Fatalf("no root in %q", pem)
	}
	return pool
}

// startDNS answers every query for an IPv4 address with 127.0.0.1 and every
// other query with nothing. Pebble queries over TCP.
func startDNS(t *testing.T) string {
	t.Helper()
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go serveDNS(c)
		}
	}()
	return l.Addr().String()
}

func serveDNS(c net.Conn) {
	defer func() { _ = c.Close() }()
	for {
		var size uint16
		if binary.Read(c, binary.BigEndian, &size) != nil {
			return
		}
		query := make([]byte, size)
		if _, err := io.ReadFull(c, query); err != nil {
			return
		}
		answer := answerDNS(query)
		if _, err := c.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(answer))), answer...)); err != nil {
			return
		}
	}
}

func answerDNS(query []byte) []byte {
	const header = 12
	end := header
	for end < len(query) && query[end] != 0 {
		end += int(query[end]) + 1
	}
	end += 5 // the empty label, type and class
	if end > len(query) {
		return nil
	}
	answer := append([]byte{query[0], query[1], 0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0}, query[header:end]...)
	if isA := query[end-4] == 0 && query[end-3] == 1; isA {
		answer[7] = 1
		answer = append(answer, 0xc0, header, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, 127, 0, 0, 1)
	}
	return answer
}

// freePort returns a port that was free a moment ago, for programs that cannot
// report their port.
func freePort(t *testing.T) int {
	t.Helper()
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().(*net.TCPAddr).Port
}

// eventually retries until another process is ready.
func eventually(t *testing.T, what string, try func() error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 40*time.Second)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		err := try()
		if err == nil {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("%s: still not after 40 s: %v", what, err)
		}
	}
}
