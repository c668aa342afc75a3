package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/pprof"
	"strconv"
	"strings"
	"time"

	"fanfare/internal/account"
	"fanfare/internal/app"
	"fanfare/internal/listen"
	"fanfare/internal/memory"
	"fanfare/internal/ratelimit"
	"fanfare/internal/store/sqlite"
)

// server is Fanfare, or a minimal server, in a separate process with one core.
type server struct {
	target
	cmd *exec.Cmd
	in  interface{ Close() error }
}

// start runs this program again in another role. The settings are environment
// variables; the role prints its address when it is ready.
func start(role, dir string, settings ...string) *server {
	exe, err := os.Executable()
	check(err)
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), append([]string{"BENCH_ROLE=" + role, "BENCH_DIR=" + dir, "GOMAXPROCS=1"}, settings...)...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	check(err)
	out, err := cmd.StdoutPipe()
	check(err)
	check(cmd.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	check(err)
	s := &server{target: target{addr: strings.TrimSpace(line), pid: cmd.Process.Pid}, cmd: cmd, in: in}
	pem, err := os.ReadFile(filepath.Join(dir, "tls", "ca.pem"))
	check(err)
	s.pool = x509.NewCertPool()
	s.pool.AppendCertsFromPEM(pem)
	return s
}

// stop ends the server by closing its standard input.
func (s *server) stop() {
	check(s.in.Close())
	check(s.cmd.Wait())
}

// serveRole runs the server of a role.
func serveRole(role string) {
	dir := os.Getenv("BENCH_DIR")
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	l, err := listen.Open(context.Background(), listen.Config{Addr: "127.0.0.1:0", Mode: listen.ModeAuto, Dir: filepath.Join(dir, "tls")}, time.Now, log)
	check(err)
	if to := os.Getenv("BENCH_PROFILE"); to != "" {
		f, err := os.Create(to)
		check(err)
		check(pprof.StartCPUProfile(f))
		defer pprof.StopCPUProfile()
	}
	switch role {
	case "bare":
		serveFixedBytes(l)
	case "ours":
		serveFanfare(l, dir, log)
	}
}

// serveFixedBytes is the fastest possible server: net/http with TLS and fixed
// bytes.
func serveFixedBytes(l *listen.Listener) {
	body, err := os.ReadFile(os.Getenv("BENCH_BODY"))
	check(err)
	size := []string{strconv.Itoa(len(body))}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	h := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Content-Type"] = []string{"application/json"}
		w.Header()["Content-Length"] = size
		_, _ = w.Write(body)
	})
	config := l.TLSConfig()
	srv := &http.Server{Handler: h, TLSConfig: config, ReadHeaderTimeout: 5 * time.Second}
	go func() { check(srv.ServeTLS(ln, "", "")) }()
	fmt.Println(ln.Addr())
	untilClosed()
}

func serveFanfare(l *listen.Listener, dir string, log *slog.Logger) {
	memory.Tune()
	cached, _ := strconv.Atoi(os.Getenv("BENCH_CACHED"))
	batch, _ := strconv.Atoi(os.Getenv("BENCH_BATCH"))
	a := openApp(dir, cached, batch, log, factsOnlyOption(dir, log), sharedOption(os.Getenv("BENCH_STORE"), os.Getenv("BENCH_METRICS")))
	ctx, cancel := context.WithCancel(context.Background())
	go a.Run(ctx)
	go func() { check(l.Serve(a.API, a.API.ServePlain)) }()
	fmt.Println(l.Addr())
	untilClosed()
	cancel()
	check(a.Close())
}

func untilClosed() { _, _ = os.Stdin.Read(make([]byte, 1)) }

// openApp opens the service without plan limits, with further settings if there
// are any.
func openApp(dir string, cached, batch int, log *slog.Logger, settings ...func(*app.Config)) *app.App {
	free := map[account.Plan]ratelimit.Limits{account.Starter: {}, account.Growth: {}, account.Enterprise: {PerMinute: 1 << 40, PerDay: 1 << 40}}
	config := app.Config{
		Assets: filepath.Join(dir, "assets"), Facts: dir, Limits: free, MaxInFlight: 100_000, CachedRecords: cached, Build: "bench", Now: time.Now, Random: rand.Reader, Log: log,
	}
	for _, set := range settings {
		set(&config)
	}
	if config.Store == "" {
		e, err := sqlite.Open(filepath.Join(dir, "fanfare.db"), sqlite.Options{MaxBatch: batch})
		check(err)
		config.Engine = e
	}
	a, err := app.Open(context.Background(), config)
	check(err)
	return a
}

// sharedOption makes a server use databases that nodes share, if they are set.
func sharedOption(store, metrics string) func(*app.Config) {
	return func(c *app.Config) { c.Store, c.Metrics = store, metrics }
}

// createWorkspace creates a workspace and returns its id and key.
func createWorkspace(a *app.App) account.Created {
	made, err := a.Accounts.CreateWorkspace(context.Background(), operator, account.NewWorkspace{
		Name: "Bench", Plan: string(account.Enterprise), Owner: "bench@example.com", Currency: "USD", Timezone: "UTC",
	})
	check(err)
	return made
}

// fetch reads one answer completely.
func (s *server) fetch(path, key string) []byte {
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: s.pool, ServerName: "localhost"}, DisableCompression: true}}
	req, err := http.NewRequest(http.MethodGet, "https://"+s.addr+path, nil)
	check(err)
	req.Header.Set("Authorization", "Bearer "+key)
	res, err := client.Do(req)
	check(err)
	defer func() { _ = res.Body.Close() }()
	body := make([]byte, res.ContentLength)
	_, err = bufio.NewReader(res.Body).Read(body)
	check(err)
	return body
}
