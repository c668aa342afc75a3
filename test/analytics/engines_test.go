package analytics_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"fanfare/internal/analytics"
	"fanfare/internal/app"
	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/fanfaretest"
	"fanfare/internal/ident"
	engine "fanfare/internal/metrics"
	"fanfare/internal/metrics/clickhouse"
	"fanfare/internal/metrics/clickhouse/chtest"
	"fanfare/internal/metrics/duckdb"
	"fanfare/internal/metrics/postgres"
	"fanfare/internal/store/pgtest"
)

func TestMain(m *testing.M) {
	chtest.Serve()
	pgtest.Main(m, chtest.Stop)
}

// comparedEngines writes to several engines and reads from one of them.
type comparedEngines struct {
	names []string
	all   []engine.Engine
	read  atomic.Int32
}

func openEngines(t *testing.T) *comparedEngines {
	t.Helper()
	c := &comparedEngines{}
	add := func(name string, e engine.Engine, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("open %s: %v", name, err)
		}
		c.names, c.all = append(c.names, name), append(c.all, e)
	}
	file, err := duckdb.Open(t.Context(), t.TempDir(), duckdb.Options{Threads: 2, MemoryMB: 512, Now: time.Now, Log: slog.New(slog.DiscardHandler)})
	add("duckdb", file, err)
	tables, err := postgres.Open(t.Context(), pgtest.URL(t), postgres.Options{Now: time.Now, NewID: "fct_test"})
	add("postgres", tables, err)
	columns, err := clickhouse.Open(t.Context(), chtest.URL(t), clickhouse.Options{Postgres: pgtest.URL(t), Now: time.Now, NewID: "fct_test"})
	add("clickhouse", columns, err)
	return c
}

func (c *comparedEngines) reader() engine.Engine { return c.all[c.read.Load()] }

func (c *comparedEngines) Begin(ctx context.Context, id ident.ID, wait time.Duration, plans ...*analytics.Plan) (context.Context, func(), error) {
	return c.reader().Begin(ctx, id, wait, plans...)
}

func (c *comparedEngines) Query(ctx context.Context, p *analytics.Plan) ([]analytics.Group, error) {
	return c.reader().Query(ctx, p)
}

func (c *comparedEngines) State(ctx context.Context, id ident.ID) (analytics.State, error) {
	return c.reader().State(ctx, id)
}

func (c *comparedEngines) Dump(ctx context.Context, w io.Writer) error {
	return c.reader().Dump(ctx, w)
}

// each changes all engines.
func (c *comparedEngines) each(f func(e engine.Engine) error) error {
	for i, e := range c.all {
		if err := f(e); err != nil {
			return fmt.Errorf("%s: %w", c.names[i], err)
		}
	}
	return nil
}

func (c *comparedEngines) Write(ctx context.Context, b *fact.Batch) error {
	return c.each(func(e engine.Engine) error { return e.Write(ctx, b) })
}

func (c *comparedEngines) Undo(ctx context.Context, workspace, imported ident.ID) (removed int64, err error) {
	err = c.each(func(e engine.Engine) (err error) {
		removed, err = e.Undo(ctx, workspace, imported)
		return err
	})
	return removed, err
}

func (c *comparedEngines) Mirror(ctx context.Context, workspace ident.ID, records []fact.Record, through clock.Instant) error {
	return c.each(func(e engine.Engine) error { return e.Mirror(ctx, workspace, records, through) })
}

func (c *comparedEngines) Fill(ctx context.Context, r io.Reader) error {
	return c.reader().Fill(ctx, r)
}

func (c *comparedEngines) Close() error {
	return c.each(func(e engine.Engine) error { return e.Close() })
}

// varies are the members that differ between two responses to the same query:
// elapsed_ms and cache are outside of every comparison, a cursor is encrypted with
// a random number, and each request has an id.
var varies = regexp.MustCompile(`"(elapsed_ms|cache|next_cursor|request_id)":("[^"]*"|[0-9]+)|\b(cursor)=[\w-]+|(X-Next-Cursor): [\w-]+`)

// differentHeaders differ between two requests.
var differentHeaders = []string{"Date", "Content-Length", "X-Request-Id", "Ratelimit", "X-Ratelimit-Remaining", "X-Ratelimit-Reset", "Server-Timing"}

// comparedPart returns the part of a response that all engines share.
func comparedPart(r *fanfaretest.Response) string {
	header := maps.Clone(r.Header)
	for _, name := range differentHeaders {
		header.Del(name)
	}
	var b strings.Builder
	fmt.Fprintln(&b, r.Status)
	_ = header.Write(&b)
	b.Write(r.Body)
	return varies.ReplaceAllString(b.String(), "$1$3: …")
}

// TestEnginesAnswerAlike sends the same requests to one service on each engine of
// facts. All responses are equal, byte by byte.
func TestEnginesAnswerAlike(t *testing.T) {
	t.Parallel()
	engines, requests := openEngines(t), 200
	if fullDrill {
		requests = 10_000
	}
	g := newTestWorkspace(t, seededRand(t), func(c *app.Config) { c.FactsEngine = engines })
	broken, found := 0, map[int]int{}
	for i := range requests {
		if i%25 == 24 {
			g.changeSomething()
		}
		send, what := g.randomRequest(i)
		var want string
		for n, name := range engines.names {
			engines.read.Store(int32(n))
			res := send()
			// The limit of ten seconds says nothing about the engine if the machine is
			// busy.
			for try := 1; try < 10 && bytes.Contains(res.Body, []byte(`"bound":"seconds"`)); try++ {
				res = send()
			}
			got := comparedPart(res)
			if n == 0 {
				want = got
				found[res.Status]++
				continue
			}
			if got == want {
				continue
			}
			t.Errorf("%s:\n%s: %s\n%s: %s", what, engines.names[0], want, name, got)
			if broken++; broken == 5 {
				t.FailNow()
			}
		}
	}
	if found[http.StatusOK] < requests/2 {
		t.Errorf("got statuses %v want most requests to succeed", found)
	}
}

// randomRequest returns a query or report, in one of the formats, a later page of
// a query, or the state of the data.
func (g *testWorkspace) randomRequest(i int) (send func() *fanfaretest.Response, what string) {
	if i%5 == 4 {
		report := reports[i/5%len(reports)]
		_, params := g.randomReport(report.dimension, report.statuses)
		target := "/v1/analytics/" + report.name + "?" + params.Encode()
		return func() *fanfaretest.Response { return g.Do("GET", target, nil) }, "GET " + target
	}
	q := g.randomQuery()
	q.Limit = 1000
	if i%5 == 3 {
		q.Limit = 3
	}
	body, _ := json.Marshal(q)
	var headers []string
	if i%10 < 2 {
		headers = []string{"Accept: " + []string{"text/csv", "application/x-ndjson"}[i%10]}
	}
	return func() *fanfaretest.Response {
		res := g.sendQuery(q, headers...)
		if i%5 != 3 || res.Status != http.StatusOK {
			return res
		}
		// The second page, if there is one.
		next := *q
		if a := readReply(g.t, res.Body); a.NextCursor != nil {
			next.Cursor = *a.NextCursor
			return g.sendQuery(&next)
		}
		return res
	}, string(body) + strings.Join(slices.Clone(headers), " ")
}
