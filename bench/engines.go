package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"fanfare/internal/app"
	"fanfare/internal/clock"
	"fanfare/internal/metrics"
	"fanfare/internal/metrics/clickhouse/chtest"
	"fanfare/internal/metrics/postgres"
	"fanfare/internal/store/pgtest"
)

var engine = flag.String("engine", "", "the only engine of P12: PostgreSQL or ClickHouse")

// reports are the five reports.
var reports = []string{"overview", "campaigns", "channels", "creative", "audiences"}

// benchEngines is P12: the queries of P5 and the reports over HTTPS on PostgreSQL
// and ClickHouse, compared with the same SQL sent to the database directly.
func benchEngines(dir string) {
	data := filepath.Join(dir, "postgres")
	server := startPostgres(data)
	defer func() { check(server.Stop()) }()
	for _, e := range []struct {
		name string
		open func(dir, store string, server *pgtest.Server) sharedMetrics
	}{{"PostgreSQL", openPostgres}, {"ClickHouse", openClickHouse}} {
		if *engine != "" && *engine != e.name {
			continue
		}
		database := "bench_" + strings.ToLower(e.name)
		store, err := server.CreateDatabase(database)
		check(err)
		folder := filepath.Join(dir, database)
		check(os.Mkdir(folder, 0o700))
		shared := e.open(folder, store, server)
		benchEngine(folder, e.name, store, postmaster(data), shared)
		shared.close()
	}
}

// analyze gives PostgreSQL's planner the statistics that it gathers within
// minutes by itself.
func analyze(store string) {
	ctx := context.Background()
	c, err := pgx.Connect(ctx, store)
	check(err)
	_, err = c.Exec(ctx, "ANALYZE")
	check(err)
	check(c.Close(ctx))
}

func startPostgres(dir string) *pgtest.Server {
	check(os.Mkdir(dir, 0o700))
	s, err := pgtest.Start(dir, true)
	check(err)
	return s
}

// sharedMetrics is a database of metrics that nodes share.
type sharedMetrics struct {
	// setting is the setting of a server.
	setting string
	// bytes returns how many bytes the metrics take on disk.
	bytes func() int64
	// maintain does what a server does every hour.
	maintain func()
	// record returns a function that sends again what a call of an App sends to
	// the database.
	record func(dir string, call func(*app.App)) (again func())
	close  func()
}

// benchEngine measures one engine.
func benchEngine(dir, name, store string, postmaster int, m sharedMetrics) {
	option := sharedOption(store, m.setting)
	a := openApp(dir, 0, 0, quiet, option)
	w := &factsFolder{dir: dir, last: clock.DateIn(time.Now(), time.UTC) - 1}
	w.first = w.last - factDays + 1
	w.large, w.small = createWorkspace(a), createWorkspace(a)
	w.campaigns = createCampaigns(a, w.large.WorkspaceID, factCampaigns)
	few := createCampaigns(a, w.small.WorkspaceID, factCampaigns/smallWorkspaces)
	total := func() time.Duration { return cpuTimeOfFamily(os.Getpid()) + cpuTimeOfFamily(postmaster) }
	began, cpu, bytes := time.Now(), total(), m.bytes()
	written := float64(w.load(a.Facts, few))
	fmt.Printf("   %s: %.0f facts written, %.0f/s, %.1f µs CPU and %.0f bytes on disk each\n", name, written,
		written/time.Since(began).Seconds(), float64((total()-cpu).Microseconds())/written, float64(m.bytes()-bytes)/written)
	check(a.Close())
	m.maintain()
	analyze(store)

	type question struct {
		what    string
		request []byte
		direct  func()
	}
	var questions []question
	add := func(what, method, path, key, body string) {
		request := get(path, key)
		if method == http.MethodPost {
			request = post(path, key, body)
		}
		direct := m.record(dir, func(a *app.App) { serveOnce(a, what, method, path, key, body) })
		questions = append(questions, question{what, request, direct})
	}
	for _, q := range w.queries() {
		add(q.what, http.MethodPost, "/v1/analytics/query", q.key, q.body)
	}
	for _, report := range reports {
		add("report "+report+" over two years", http.MethodGet, fmt.Sprintf("/v1/analytics/%s?start_date=%s&end_date=%s", report, w.first, w.last), w.large.APIKey, "")
	}
	ours := start("ours", dir, "BENCH_CACHED=32768", "GOMAXPROCS=2", "BENCH_STORE="+store, "BENCH_METRICS="+m.setting, profileOf("engine-"+name))
	defer ours.stop()
	l := ours.newKeepAliveConn()
	defer func() { _ = l.c.Close() }()
	for _, q := range questions {
		send := func() { l.send(q.request) }
		printComparison(name, q.what, alternate(q.direct, send), cpuPerCall(total, send))
	}
}

// load writes the facts of the large workspace and of a small one.
func (w *factsFolder) load(e metrics.Engine, few []string) int {
	small := newFactGenerator(w.small.WorkspaceID, few, max(1, *factsRows/2/smallWorkspaces/factDays))
	rows := small.write(e, w.first, w.last, nil)
	return len(rows) + w.writeLarge(e, rows)
}

// openPostgres uses the database of the store.
func openPostgres(_, store string, server *pgtest.Server) sharedMetrics {
	u, err := url.Parse(store)
	check(err)
	// A superuser is not bound by row-level security, so that the SQL alone is
	// measured.
	config, err := pgx.ParseConfig(server.URL(strings.TrimPrefix(u.Path, "/")))
	check(err)
	config.RuntimeParams["jit"] = "off"
	direct, err := pgx.ConnectConfig(context.Background(), config)
	check(err)
	record := func(dir string, call func(*app.App)) func() {
		ctx := context.Background()
		e, err := postgres.Open(ctx, store, postgres.Options{Now: time.Now})
		check(err)
		r := &planRecorder{Engine: e}
		a := openApp(dir, 0, 0, quiet, sharedOption(store, store), func(c *app.Config) { c.FactsEngine = r })
		call(a)
		type statement struct {
			text string
			args []any
		}
		var list []statement
		for _, p := range r.plans {
			text, args, err := e.Explain(ctx, p)
			check(err)
			list = append(list, statement{text, args})
		}
		check(a.Close())
		return func() {
			for _, s := range list {
				rows, err := direct.Query(ctx, s.text, s.args...)
				check(err)
				for rows.Next() {
				}
				check(rows.Err())
			}
		}
	}
	size := func() (n int64) {
		check(direct.QueryRow(context.Background(), "SELECT pg_database_size(current_database())").Scan(&n))
		return n
	}
	maintain := func() {
		e, err := postgres.Open(context.Background(), store, postgres.Options{Now: time.Now})
		check(err)
		check(e.SumMonths(context.Background()))
		check(e.Close())
	}
	return sharedMetrics{setting: store, bytes: size, maintain: maintain, record: record, close: func() { check(direct.Close(context.Background())) }}
}

// openClickHouse starts a ClickHouse behind a proxy that records requests.
func openClickHouse(dir, store string, _ *pgtest.Server) sharedMetrics {
	server, err := chtest.Start(filepath.Join(dir, "clickhouse"))
	check(err)
	database, err := server.NewDatabase(context.Background())
	check(err)
	u, err := url.Parse(strings.TrimPrefix(database, "clickhouse+"))
	check(err)
	to := &url.URL{Scheme: "http", Host: u.Host}
	p := &recordingProxy{forward: httputil.NewSingleHostReverseProxy(to)}
	front := p.listen()
	setting := strings.Replace(database, u.Host, front, 1)
	record := func(dir string, call func(*app.App)) func() {
		a := openApp(dir, 0, 0, quiet, sharedOption(store, setting))
		p.begin()
		call(a)
		list := p.end()
		check(a.Close())
		return func() {
			for _, r := range list {
				res, err := http.Post("http://"+u.Host+r.uri, r.kind, bytes.NewReader(r.body))
				check(err)
				_, err = io.Copy(io.Discard, res.Body)
				check(err)
				check(res.Body.Close())
				if res.StatusCode != http.StatusOK {
					check(fmt.Errorf("ClickHouse answered %s", res.Status))
				}
			}
		}
	}
	size := func() (n int64) {
		check(filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return nil //nolint:nilerr // merges remove files
			}
			if info, err := d.Info(); err == nil {
				n += info.Size()
			}
			return nil
		}))
		return n
	}
	return sharedMetrics{setting: setting, bytes: size, maintain: func() {}, record: record, close: server.Kill}
}

// serveOnce has an App answer a request.
func serveOnce(a *app.App, what, method, path, key, body string) {
	req := httptest.NewRequest(method, "https://localhost"+path, strings.NewReader(body))
	req.Header.Set("Authorization", "Bearer "+key)
	req.Header.Set("Content-Type", "application/json")
	res := httptest.NewRecorder()
	a.API.ServeHTTP(res, req)
	if res.Code != http.StatusOK {
		check(fmt.Errorf("%s: status %d: %s", what, res.Code, res.Body))
	}
}

// recordingProxy forwards requests and records them between begin and end.
type recordingProxy struct {
	forward   http.Handler
	mu        sync.Mutex
	recording bool
	requests  []recordedRequest
}

type recordedRequest struct {
	uri, kind string
	body      []byte
}

// listen starts the proxy and returns its address.
func (p *recordingProxy) listen() string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	go func() { _ = (&http.Server{Handler: p, ReadHeaderTimeout: time.Minute}).Serve(l) }()
	return l.Addr().String()
}

// begin forgets earlier requests.
func (p *recordingProxy) begin() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.recording, p.requests = true, nil
}

// end returns the requests since begin.
func (p *recordingProxy) end() []recordedRequest {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.recording = false
	return p.requests
}

func (p *recordingProxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	check(err)
	p.mu.Lock()
	if p.recording {
		p.requests = append(p.requests, recordedRequest{r.URL.RequestURI(), r.Header.Get("Content-Type"), body})
	}
	p.mu.Unlock()
	r.Body = io.NopCloser(bytes.NewReader(body))
	p.forward.ServeHTTP(w, r)
}
