package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime/pprof"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"fanfare/internal/adplatform/sandbox"
	"fanfare/internal/app"
	"fanfare/internal/body"
	"fanfare/internal/connection"
	"fanfare/internal/ident"
	"fanfare/internal/record"
)

var syncScale = flag.Int("sync-scale", 1, "how many times the accounts of P11 have their campaigns")

// callRecorder is a sandbox that records its calls.
type callRecorder struct {
	sandbox *sandbox.Server
	mu      sync.Mutex
	calls   []*http.Request
	bodies  [][]byte
}

func (t *callRecorder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !strings.HasPrefix(r.URL.Path, "/_sandbox/") {
		body, err := io.ReadAll(r.Body)
		check(err)
		r.Body = io.NopCloser(bytes.NewReader(body))
		t.mu.Lock()
		t.calls, t.bodies = append(t.calls, r.Clone(context.Background())), append(t.bodies, body)
		t.mu.Unlock()
	}
	t.sandbox.ServeHTTP(w, r)
}

func (t *callRecorder) reset() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.calls, t.bodies = nil, nil
}

// benchSync is P11: a sync of three months of five sandbox accounts, compared
// with only downloading and decoding the same pages.
func benchSync(dir string) {
	sandbox, err := sandbox.New(sandbox.Options{Seed: 1, Scale: *syncScale, Now: time.Now})
	check(err)
	t := &callRecorder{sandbox: sandbox}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	server := &http.Server{Handler: t, ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(l) }()
	defer func() { check(server.Close()) }()
	url := "http://" + l.Addr().String()
	a := openApp(dir, 0, 0, quiet, func(c *app.Config) { c.Sandbox, c.MasterKey = url, filepath.Join(dir, "master.key") })
	defer func() { check(a.Close()) }()
	s := &sandboxConnection{app: a, cause: operator}
	s.cause.Workspace = createWorkspace(a).WorkspaceID
	s.connect()

	var ratios, ours, bare []float64
	pages, rows := 0, int64(0)
	for i := range *rounds {
		t.reset()
		stop := profileSync(i)
		began := time.Now()
		rows = s.syncAll()
		took := time.Since(began)
		stop()
		calls, bodies := t.calls, t.bodies
		began = time.Now()
		for i, call := range calls {
			download(url, call, bodies[i])
		}
		plain := time.Since(began)
		pages = len(calls)
		ratios, ours, bare = append(ratios, plain.Seconds()/took.Seconds()), append(ours, float64(rows)/took.Seconds()), append(bare, float64(rows)/plain.Seconds())
	}
	got := median(ratios)
	printAtLeast("P11 sync, against downloading and decoding the pages", got, 0.5,
		fmt.Sprintf("%.0f rows/s, bare %.0f rows/s, %d rows in %d calls", median(ours), median(bare), rows, pages))
	if got < 0.5 {
		printProfileHint("P11")
	}
}

// profileSync writes a CPU profile of the first sync, if -profile is set.
func profileSync(round int) (stop func()) {
	if *profile == "" || round > 0 {
		return func() {}
	}
	f, err := os.Create(filepath.Join(*profile, "P11.pprof"))
	check(err)
	check(pprof.StartCPUProfile(f))
	return func() {
		pprof.StopCPUProfile()
		check(f.Close())
	}
}

// download reads and decodes a page.
func download(url string, call *http.Request, body []byte) {
	req, err := http.NewRequest(call.Method, url+call.URL.RequestURI(), bytes.NewReader(body))
	check(err)
	req.Header = call.Header
	res, err := http.DefaultClient.Do(req)
	check(err)
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	check(err)
	if res.StatusCode != http.StatusOK {
		check(fmt.Errorf("%s %s: %s: %.200s", call.Method, call.URL.Path, res.Status, text))
	}
	var page any
	check(json.Unmarshal(text, &page))
}

// sandboxConnection is a connection to the sandbox.
type sandboxConnection struct {
	app   *app.App
	cause record.Cause
	id    ident.ID
}

// connect creates the connection and runs the first sync.
func (s *sandboxConnection) connect() {
	ctx := context.Background()
	sent, err := body.ValueOf(map[string]any{"platform": connection.PlatformSandbox, "name": "Bench"})
	check(err)
	d, err := s.app.Connections.Create(ctx, s.cause, sent, connection.WorkspaceDefaults{Currency: "USD", Zone: "UTC"})
	check(err)
	c, err := connection.Read(d)
	check(err)
	s.id = c.ID
	s.syncAll()
}

// syncAll syncs all days again and returns the number of rows.
func (s *sandboxConnection) syncAll() int64 {
	ctx := context.Background()
	sent, err := body.ValueOf(map[string]any{"mode": connection.ModeFull, "streams": []string{connection.StreamMetrics}})
	check(err)
	d, err := s.app.Connections.Sync(ctx, s.cause, s.id, record.Match{}, sent)
	check(err)
	var run connection.Run
	check(json.Unmarshal(d.JSON, &run))
	for run.FinishedAt == nil {
		_, err := s.app.Connections.Work(ctx, s.cause.Workspace, s.id)
		check(err)
		d, err = s.app.Connections.GetRun(ctx, s.cause.Workspace, run.ID)
		check(err)
		check(json.Unmarshal(d.JSON, &run))
	}
	if run.Status != connection.RunSucceeded {
		check(fmt.Errorf("the sync is %s: %+v", run.Status, run.Error))
	}
	return run.Totals.RecordsRead
}
