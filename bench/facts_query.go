package main

import (
	"bufio"
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"time"

	driven "github.com/duckdb/duckdb-go/v2"

	"fanfare/internal/analytics"
	"fanfare/internal/app"
	"fanfare/internal/clock"
	"fanfare/internal/metrics"
	"fanfare/internal/metrics/duckdb"
)

// analyticsQuery is a body of POST /v1/analytics/query.
type analyticsQuery struct {
	what, key, body string
	// text and args are its SQL statement.
	text string
	args []any
}

// queries returns small and large queries.
func (w *factsFolder) queries() []analyticsQuery {
	ask := func(what, key string, days clock.Date, rest string) analyticsQuery {
		return analyticsQuery{what: what, key: key, body: fmt.Sprintf(`{"date_range":{"start_date":%q,"end_date":%q},%s}`, w.last-days+1, w.last, rest)}
	}
	const five = `"metrics":["impressions","clicks","spend","conversions","revenue"]`
	return []analyticsQuery{
		ask("small workspace, totals of 30 days", w.small.APIKey, 30, five),
		ask("small workspace, channels by day, 30 days", w.small.APIKey, 30, five+`,"dimensions":["channel"],"granularity":"day"`),
		ask("small workspace, campaigns of 90 days", w.small.APIKey, 90, five+`,"dimensions":["campaign_id"]`),
		ask("small workspace, months of two years", w.small.APIKey, factDays, five+`,"granularity":"month"`),
		ask("large workspace, days of two years", w.large.APIKey, factDays, five+`,"granularity":"day"`),
		ask("large workspace, channels by week, two years", w.large.APIKey, factDays, five+`,"dimensions":["channel"],"granularity":"week"`),
		ask("large workspace, campaigns of two years, 1000 rows", w.large.APIKey, factDays, five+`,"dimensions":["campaign_id"],"limit":1000,"filters":{"field":"channel","op":"in","values":["search","social"]}`),
		ask("large workspace, weekdays by channel, a year", w.large.APIKey, 365, five+`,"dimensions":["weekday","channel"]`),
	}
}

// planRecorder records the plans of queries.
type planRecorder struct {
	metrics.Engine
	plans []*analytics.Plan
}

// Query implements analytics.Facts.
func (r *planRecorder) Query(ctx context.Context, p *analytics.Plan) ([]analytics.Group, error) {
	r.plans = append(r.plans, p)
	return r.Engine.Query(ctx, p)
}

// recordStatements sets the SQL statements of queries.
func recordStatements(dir string, questions []analyticsQuery) {
	e, err := duckdb.Open(context.Background(), dir, duckdb.Options{Now: time.Now, Log: quiet})
	check(err)
	r := &planRecorder{Engine: e}
	a := openApp(dir, 0, 0, quiet, func(c *app.Config) { c.FactsEngine = r })
	for i := range questions {
		q := &questions[i]
		r.plans = nil
		serveOnce(a, q.what, http.MethodPost, "/v1/analytics/query", q.key, q.body)
		if len(r.plans) != 1 {
			check(fmt.Errorf("%s: %d plans", q.what, len(r.plans)))
		}
		q.text, q.args, err = e.Explain(context.Background(), r.plans[0])
		check(err)
	}
	check(a.Close())
}

// directDuckDB is DuckDB without code of this project.
type directDuckDB struct {
	connector *driven.Connector
	conn      *driven.Conn
	prepared  map[string]driver.StmtQueryContext
}

func openDirect(path string) *directDuckDB {
	connector, err := driven.NewConnector(path, nil)
	check(err)
	c, err := connector.Connect(context.Background())
	check(err)
	return &directDuckDB{connector, c.(*driven.Conn), map[string]driver.StmtQueryContext{}}
}

func (b *directDuckDB) close() {
	check(b.conn.Close())
	check(b.connector.Close())
}

func (b *directDuckDB) exec(text string) {
	_, err := b.conn.ExecContext(context.Background(), text, nil)
	check(err)
}

// query reads all rows of a statement.
func (b *directDuckDB) query(text string, args []any) {
	ctx := context.Background()
	s := b.prepared[text]
	if s == nil {
		made, err := b.conn.PrepareContext(ctx, text)
		check(err)
		s = made.(driver.StmtQueryContext)
		b.prepared[text] = s
	}
	named := make([]driver.NamedValue, len(args))
	for i, v := range args {
		named[i] = driver.NamedValue{Ordinal: i + 1, Value: v}
	}
	rows, err := s.QueryContext(ctx, named)
	check(err)
	values := make([]driver.Value, len(rows.Columns()))
	for err == nil {
		err = rows.Next(values)
	}
	if !errors.Is(err, io.EOF) {
		check(err)
	}
	check(rows.Close())
}

// keepAliveConn is a keep-alive connection to a server.
type keepAliveConn struct {
	c io.ReadWriteCloser
	r *bufio.Reader
}

func (t *target) newKeepAliveConn() *keepAliveConn {
	c := t.dial()
	return &keepAliveConn{c, bufio.NewReaderSize(c, 1<<20)}
}

func (l *keepAliveConn) send(request []byte) {
	_, err := l.c.Write(request)
	check(err)
	check(readAnswer(l.r))
}

// alternate runs functions in turn and returns the median time of each.
func alternate(works ...func()) []time.Duration {
	const most = 300
	least := 3 * *rounds
	times := make([][]float64, len(works))
	end := time.Now().Add(2 * measurementTime() * time.Duration(len(works)))
	for n := range most {
		if n >= least && time.Now().After(end) {
			break
		}
		for i, work := range works {
			began := time.Now()
			work()
			times[i] = append(times[i], float64(time.Since(began)))
		}
	}
	medians := make([]time.Duration, len(works))
	for i, list := range times {
		medians[i] = time.Duration(median(list))
	}
	return medians
}

// cpuPerCall returns the CPU time that work uses, as total counts it. Unlike a
// time, it hardly depends on what else the machine does.
func cpuPerCall(total func() time.Duration, work func()) time.Duration {
	const least = 5
	end, before, n := time.Now().Add(measurementTime()), total(), 0
	for ; n < least || time.Now().Before(end); n++ {
		work()
	}
	return (total() - before) / time.Duration(n)
}

// printComparison prints the times of a database and a server, as a ratio and as
// a difference in milliseconds, and the CPU that the server and its databases used.
func printComparison(database, what string, t []time.Duration, cpu time.Duration) (ratio, extra float64) {
	ratio, extra = float64(t[1])/float64(t[0]), ms(t[1]-t[0])
	fmt.Printf("   %-55s %s %8.2f ms, HTTPS %8.2f ms: %.2f, %+.2f ms; %.1f ms CPU\n", what, database, ms(t[0]), ms(t[1]), ratio, extra, ms(cpu))
	return ratio, extra
}

// benchQuery is P5: a query over HTTPS compared with the same SQL in DuckDB.
func benchQuery(w *factsFolder) {
	const small = 10 * time.Millisecond
	folder := w.copyFolder()
	questions := w.queries()
	recordStatements(folder, questions)
	direct := openDirect(filepath.Join(folder, "facts.duckdb"))
	defer direct.close()
	ours := start("ours", w.dir, "BENCH_CACHED=32768", "GOMAXPROCS=2", profileOf("query"))
	defer ours.stop()
	l := ours.newKeepAliveConn()
	defer func() { _ = l.c.Close() }()
	total := func() time.Duration { return cpuTimeOf(ours.pid) }
	var ratios, extras []float64
	for _, q := range questions {
		request := post("/v1/analytics/query", q.key, q.body)
		t := alternate(func() { direct.query(q.text, q.args) }, func() { l.send(request) })
		ratio, extra := printComparison("DuckDB", q.what, t, cpuPerCall(total, func() { l.send(request) }))
		if t[0] > small {
			ratios = append(ratios, ratio)
		} else {
			extras = append(extras, extra)
		}
	}
	// Repeated queries reuse their plan; this measures a query without one.
	q, first := questions[0], w.last-30
	bounds := slices.Clone(q.args)
	send := func() {
		l.send(post("/v1/analytics/query", q.key, strings.Replace(q.body, (w.last-29).String(), first.String(), 1)))
	}
	t := alternate(func() {
		first--
		bounds[1] = int32(first)
		direct.query(q.text, bounds)
	}, send)
	printComparison("DuckDB", "the first one, with days that were never asked for", t, cpuPerCall(total, func() { first--; send() }))
	if len(ratios) > 0 {
		worst := slices.Max(ratios)
		printAtMost("P5 query above 10 ms over HTTPS, against DuckDB, worst", worst, 1.2, "")
		if worst > 1.2 {
			printProfileHint("P5")
		}
	}
	if len(extras) > 0 {
		worst := slices.Max(extras)
		printAtMost("P5 query below 10 ms over HTTPS, ms more, worst", worst, 0.6, "")
		if worst > 0.6 {
			printProfileHint("P5")
		}
	}
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// benchReports is P6: reports compared with the same without precomputed sums,
// and totals compared with reading the same columns from memory.
func benchReports(w *factsFolder) {
	folder := w.copyFolder()
	ours := start("ours", w.dir, "BENCH_CACHED=32768", "GOMAXPROCS=2", profileOf("reports"))
	defer ours.stop()
	facts := start("ours", folder, "BENCH_CACHED=32768", "GOMAXPROCS=2", "BENCH_FACTS_ONLY=1", profileOf("reports-facts"))
	defer facts.stop()
	one, two := ours.newKeepAliveConn(), facts.newKeepAliveConn()
	defer func() { _ = errors.Join(one.c.Close(), two.c.Close()) }()
	least := 0.0
	for _, report := range reports {
		request := get(fmt.Sprintf("/v1/analytics/%s?start_date=%s&end_date=%s", report, w.first, w.last), w.large.APIKey)
		t := alternate(func() { one.send(request) }, func() { two.send(request) })
		ratio := float64(t[1]) / float64(t[0])
		if least == 0 || ratio < least {
			least = ratio
		}
		cpu := cpuPerCall(func() time.Duration { return cpuTimeOf(ours.pid) }, func() { one.send(request) })
		fmt.Printf("   %-55s %8.2f ms, from the facts %8.2f ms: %.1f; %.1f ms CPU\n", "report "+report+" over two years", ms(t[0]), ms(t[1]), ratio, ms(cpu))
	}
	printAtLeast("P6 reports over two years, against the facts, least", least, 6, "")
	if least < 6 {
		printProfileHint("P6")
	}

	const days = factDays / 2
	memory := newMemoryFacts(w, days)
	request := post("/v1/analytics/query", w.large.APIKey, fmt.Sprintf(
		`{"metrics":["impressions","clicks","spend","conversions","revenue"],"date_range":{"start_date":%q,"end_date":%q}}`, w.last-days+1, w.last))
	var sums [5]int64
	t := alternate(func() { sums = memory.scan(w.last-days+1, w.last) }, func() { two.send(request) })
	ratio := float64(t[1]) / float64(t[0])
	printAtMost(fmt.Sprintf("P6 totals of %.1f M facts, against a scan of memory", float64(len(memory.day))/1e6), ratio, 4.5,
		fmt.Sprintf("%.1f ms against %.1f ms; %d impressions", ms(t[1]), ms(t[0]), sums[0]))
	if ratio > 4.5 {
		printProfileHint("P6")
	}
}
