// Package chtest runs the ClickHouse engine for tests and gives each test its own
// database. The engine is a shared library; a child process of the test serves
// ClickHouse's HTTP interface with it. It is not part of the product.
package chtest

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"fanfare/internal/store/testdir"
)

// LibraryEnv names the library; without it the one that `make setup` installs is
// taken.
const LibraryEnv = "FANFARE_CHDB_LIBRARY"

// serveEnv makes a process the server, and names its folder.
const serveEnv = "FANFARE_TEST_CLICKHOUSE_DIR"

// ErrNotInstalled says that there is no engine to start.
var ErrNotInstalled = errors.New("the ClickHouse engine for tests is not installed: run `make setup`, or name the file libchdb.so in " + LibraryEnv)

var shared struct {
	sync.Mutex
	server  *Server
	release func()
	err     error
}

// Serve makes this process the server, if a test has started it as one. The
// TestMain of a package that uses URL calls it first.
func Serve() {
	dir := os.Getenv(serveEnv)
	if dir == "" {
		return
	}
	file, err := findLibrary()
	if err == nil {
		err = serve(file, dir)
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// Stop stops the server that tests have used.
func Stop() {
	shared.Lock()
	defer shared.Unlock()
	if shared.server != nil {
		shared.server.Kill()
		_ = os.RemoveAll(filepath.Dir(shared.server.dir))
		shared.release()
	}
}

// URL returns the address of a new, empty database. The first call in a process
// starts its server. Without the engine the test fails.
func URL(tb testing.TB) string {
	tb.Helper()
	shared.Lock()
	if shared.server == nil && shared.err == nil {
		var dir string
		if dir, shared.release, shared.err = testdir.New("fanfare-ch-"); shared.err == nil {
			shared.server, shared.err = Start(filepath.Join(dir, "data"))
		}
	}
	server, err := shared.server, shared.err
	shared.Unlock()
	if err != nil {
		tb.Fatal(err)
	}
	u, err := server.NewDatabase(context.Background())
	if err != nil {
		tb.Fatal(err)
	}
	return u
}

// Server is a running ClickHouse engine. It dies with this process.
type Server struct {
	dir, address string
	cmd          *exec.Cmd
	exited       chan struct{}
}

// Start starts a server on the data in a folder.
func Start(dir string) (*Server, error) {
	if _, err := findLibrary(); err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	s := &Server{dir: dir, exited: make(chan struct{})}
	s.cmd = exec.CommandContext(context.Background(), self)
	s.cmd.Env = append(os.Environ(), serveEnv+"="+dir)
	s.cmd.SysProcAttr = attributes()
	s.cmd.Stderr = os.Stderr
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	started := make(chan error, 1)
	go func() {
		// The death signal comes when the thread that started the server ends.
		runtime.LockOSThread()
		defer close(s.exited)
		err := s.cmd.Start()
		started <- err
		if err == nil {
			_ = s.cmd.Wait()
		}
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		s.Kill()
		return nil, fmt.Errorf("start the ClickHouse engine: %w", err)
	}
	s.address = strings.TrimSpace(line)
	return s, nil
}

// Kill stops at once, as in a crash. The folder stays.
func (s *Server) Kill() {
	_ = s.cmd.Process.Kill()
	<-s.exited
}

// URL returns the address of a database.
func (s *Server) URL(database string) string {
	return "clickhouse+http://" + s.address + "/" + database
}

// NewDatabase creates a database and returns its address.
func (s *Server) NewDatabase(ctx context.Context) (string, error) {
	name := "test_" + strings.ToLower(rand.Text())
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+s.address+"/?query="+url.QueryEscape("CREATE DATABASE "+name), http.NoBody)
	if err != nil {
		return "", err
	}
	res, err := (&http.Client{Timeout: time.Minute}).Do(req)
	if err != nil {
		return "", err
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK {
		return "", fmt.Errorf("create a test database: %s", res.Status)
	}
	return s.URL(name), nil
}

// findLibrary finds the library in .tools, from the folder of the test upwards.
func findLibrary() (string, error) {
	if file := os.Getenv(LibraryEnv); file != "" {
		return file, nil
	}
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		file := filepath.Join(dir, ".tools", "chdb", "libchdb.so")
		if _, err := os.Stat(file); err == nil {
			return file, nil
		}
	}
	return "", ErrNotInstalled
}
