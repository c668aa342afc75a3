// Package pgtest runs a PostgreSQL server for tests and drills and gives each
// test a database of its own. Nothing of it is part of the product.
package pgtest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"fanfare/internal/store/testdir"
)

// BinEnv names the folder with the server's programs; without it the newest
// version under /usr/lib/postgresql is taken.
const BinEnv = "FANFARE_PG_BIN"

const (
	tempPrefix   = "fanfare-pg-"
	startTimeout = 60 * time.Second
	stopTimeout  = 20 * time.Second
)

// ErrNotInstalled says that there is no PostgreSQL to start.
var ErrNotInstalled = errors.New("PostgreSQL is not installed: run `make setup`, or name the folder of its programs in " + BinEnv)

// Server is a running PostgreSQL. It dies with this process.
type Server struct {
	dir    string
	remove bool
	unlock func()
	port   string
	cmd    *exec.Cmd
	exited chan struct{}
	stop   sync.Once
}

// Start starts a server on the data in dir, which it creates if there is none;
// with dir "" it uses a temporary folder that Stop removes. A server started
// again on the same folder has the same address. Without durable it is fast
// and forgets everything in a crash of the machine.
func Start(dir string, durable bool) (*Server, error) {
	bin, err := programs()
	if err != nil {
		return nil, err
	}
	s, err := newServer(dir)
	if err != nil {
		return nil, err
	}
	if err := s.start(bin, durable); err != nil {
		text, _ := os.ReadFile(filepath.Join(s.dir, "log"))
		_ = s.shutdown(os.Kill)
		return nil, fmt.Errorf("start PostgreSQL: %w\n%s", err, text)
	}
	return s, nil
}

// newServer returns a server on dir, or on a temporary folder if it is "".
func newServer(dir string) (s *Server, err error) {
	s = &Server{dir: dir, exited: make(chan struct{}), unlock: func() {}}
	if dir == "" {
		if s.dir, s.unlock, err = testdir.New(tempPrefix); err != nil {
			return nil, err
		}
		s.remove = true
	}
	return s, nil
}

// URL returns the address of a database of this server, of the one that every
// server has when db is "".
func (s *Server) URL(db string) string {
	if db == "" {
		db = "postgres"
	}
	u := url.URL{
		Scheme: "postgres", User: url.User("postgres"), Host: "127.0.0.1:" + s.port,
		Path: "/" + db, RawQuery: "sslmode=disable",
	}
	return u.String()
}

// CreateDatabase creates a database and returns its address, with a role that is
// no superuser.
func (s *Server) CreateDatabase(name string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	return createDatabase(ctx, s.URL(""), name)
}

// Stop ends all sessions and shuts down in order.
func (s *Server) Stop() error { return s.shutdown(os.Interrupt) }

// Kill stops at once, without writing anything more, as in a crash: the next
// Start on the folder has to recover.
func (s *Server) Kill() error { return s.shutdown(immediate) }

func (s *Server) shutdown(signal os.Signal) (err error) {
	s.stop.Do(func() {
		if s.cmd != nil && s.cmd.Process != nil {
			_ = s.cmd.Process.Signal(signal)
			select {
			case <-s.exited:
			case <-time.After(stopTimeout):
				err = fmt.Errorf("PostgreSQL did not stop within %v", stopTimeout)
				_ = s.cmd.Process.Kill()
				<-s.exited
			}
		}
		if s.remove {
			err = errors.Join(err, os.RemoveAll(s.dir))
		}
		s.unlock()
	})
	return err
}

func (s *Server) start(bin string, durable bool) error {
	if err := disown(s.dir); err != nil {
		return err
	}
	if err := s.choosePort(); err != nil {
		return err
	}
	started := make(chan error, 1)
	go func() {
		// The death signal comes when the thread that started the server
		// ends, so this one is kept for as long as the server runs.
		runtime.LockOSThread()
		defer close(s.exited)
		err := s.launch(bin, durable)
		started <- err
		if err == nil {
			_ = s.cmd.Wait()
		}
	}()
	if err := <-started; err != nil {
		return err
	}
	return s.ready()
}

func (s *Server) launch(bin string, durable bool) error {
	data := filepath.Join(s.dir, "data")
	log, err := os.Create(filepath.Join(s.dir, "log"))
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	if _, err := os.Stat(filepath.Join(data, "PG_VERSION")); err != nil {
		err := s.command(log, filepath.Join(bin, "initdb"), "-D", data, "-U", "postgres", "-A", "trust",
			"--no-sync", "-E", "UTF8", "--locale=C").Run()
		if err != nil {
			return fmt.Errorf("initdb: %w", err)
		}
	}
	args := []string{
		"-D", data, "-p", s.port, "-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=" + s.dir,
		"-c", "max_connections=200",
	}
	if !durable {
		args = append(args, "-c", "fsync=off", "-c", "synchronous_commit=off", "-c", "full_page_writes=off")
	}
	s.cmd = s.command(log, filepath.Join(bin, "postgres"), args...)
	return s.cmd.Start()
}

func (s *Server) command(log *os.File, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(context.Background(), name, args...)
	cmd.SysProcAttr = attributes()
	cmd.Dir = s.dir
	cmd.Env = []string{"HOME=" + s.dir, "LC_ALL=C", "TZ=UTC"}
	cmd.Stdout, cmd.Stderr = log, log
	return cmd
}

// ready waits until the server answers.
func (s *Server) ready() error {
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		err := run(ctx, s.URL(""), "SELECT 1")
		if err == nil {
			return nil
		}
		select {
		case <-s.exited:
			return errors.New("it ended at once")
		case <-ctx.Done():
			return err
		case <-tick.C:
		}
	}
}

// choosePort takes a free port, or the one that the folder had before.
func (s *Server) choosePort() error {
	file := filepath.Join(s.dir, "port")
	if b, err := os.ReadFile(file); err == nil {
		s.port = string(b)
		return nil
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer func() { _ = l.Close() }()
	s.port = strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
	return os.WriteFile(file, []byte(s.port), 0o600)
}

func programs() (string, error) {
	if dir := os.Getenv(BinEnv); dir != "" {
		return dir, nil
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if len(found) == 0 {
		return "", ErrNotInstalled
	}
	version := func(path string) int {
		n, _ := strconv.Atoi(strings.Split(path, "/")[4])
		return n
	}
	newest := slices.MaxFunc(found, func(a, b string) int { return version(a) - version(b) })
	return filepath.Dir(newest), nil
}

func run(ctx context.Context, url, statement string) error {
	c, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close(ctx) }()
	_, err = c.Exec(ctx, statement)
	return err
}
