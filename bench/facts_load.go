package main

import (
	"context"
	"database/sql/driver"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	driven "github.com/duckdb/duckdb-go/v2"
	"github.com/go-json-experiment/json"

	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/metrics/duckdb"
)

// memoryFacts are facts in memory, in simple columns.
type memoryFacts struct {
	workspace, day []int64
	metrics        [5][]int64
}

func newMemoryFacts(w *factsFolder, days int) *memoryFacts {
	c := &memoryFacts{}
	for day := w.last - clock.Date(days) + 1; day <= w.last; day++ {
		for i := range w.generator.perDay {
			c.workspace, c.day = append(c.workspace, 1), append(c.day, int64(day))
			for m, v := range metricsOf(day, i) {
				c.metrics[m] = append(c.metrics[m], v)
			}
		}
	}
	return c
}

// scan adds the metrics between two days.
func (c *memoryFacts) scan(first, last clock.Date) (sums [5]int64) {
	n := len(c.day)
	workspace, f := c.workspace[:n], [5][]int64{}
	for m := range f {
		f[m] = c.metrics[m][:n]
	}
	for i, day := range c.day {
		if workspace[i] == 1 && day >= int64(first) && day <= int64(last) {
			sums[0] += f[0][i]
			sums[1] += f[1][i]
			sums[2] += f[2][i]
			sums[3] += f[3][i]
			sums[4] += f[4][i]
		}
	}
	return sums
}

// benchReadsUnderLoad is P7: 300 reads of a campaign per second during heavy
// queries.
func benchReadsUnderLoad(w *factsFolder) {
	const perSecond, loops = 300, 4
	ours := start("ours", w.dir, "BENCH_CACHED=32768", "GOMAXPROCS=2", profileOf("beside"))
	defer ours.stop()
	defer raisePriority()()
	requests := randomRequests(w.campaigns, "/v1/campaigns/", w.large.APIKey)
	heavy := post("/v1/analytics/query", w.large.APIKey, fmt.Sprintf(
		`{"metrics":["impressions","clicks","spend","conversions","revenue"],"dimensions":["channel"],"granularity":"day","limit":10000,"date_range":{"start_date":%q,"end_date":%q}}`, w.first, w.last))
	idle, busy := map[int][]float64{}, map[int][]float64{}
	measure := func(times map[int][]float64) {
		all := ours.sendAtRate(perSecond, requests)
		for _, p := range percentiles {
			times[p] = append(times[p], float64(all[len(all)*p/100]))
		}
	}
	var answered atomic.Int64
	began := time.Duration(0)
	for range *rounds {
		measure(idle)
		var stop atomic.Bool
		var wg sync.WaitGroup
		for range loops {
			l := ours.newKeepAliveConn()
			wg.Go(func() {
				for !stop.Load() {
					l.send(heavy)
					answered.Add(1)
				}
				_ = l.c.Close()
			})
		}
		at := time.Now()
		measure(busy)
		began += time.Since(at)
		stop.Store(true)
		wg.Wait()
	}
	missed := false
	for _, p := range percentiles {
		ratio := median(busy[p]) / median(idle[p])
		missed = missed || ratio > 4
		printAtMost(fmt.Sprintf("P7 get one at 300/s beside 4 heavy queries, p%d", p), ratio, 4, fmt.Sprintf("%s against %s idle; %.1f heavy queries/s",
			time.Duration(median(busy[p])).Round(time.Microsecond), time.Duration(median(idle[p])).Round(time.Microsecond), float64(answered.Load())/began.Seconds()))
	}
	if missed {
		printProfileHint("P7")
	}
}

// percentiles are those that P7 prints. On a shared machine the highest one
// mostly measures the host.
var percentiles = []int{90, 95, 99}

// sendAtRate sends requests at a fixed rate, even if earlier ones are not
// answered, and returns their times in ascending order. The time of a request
// begins when it was due, unless its sender was late.
func (t *target) sendAtRate(perSecond int, next func(int, int) []byte) []time.Duration {
	const senders = 16
	n := int(4 * measurementTime().Seconds() * float64(perSecond))
	times := make([][]time.Duration, senders)
	var wg sync.WaitGroup
	start := time.Now()
	for s := range senders {
		l := t.newKeepAliveConn()
		wg.Go(func() {
			defer func() { _ = l.c.Close() }()
			for i := s; i < n; i += senders {
				due := start.Add(time.Duration(i) * time.Second / time.Duration(perSecond))
				if wait := time.Until(due); wait > 0 {
					time.Sleep(wait)
					due = time.Now()
				}
				l.send(next(s, i))
				times[s] = append(times[s], time.Since(due))
			}
		})
	}
	wg.Wait()
	all := slices.Concat(times...)
	slices.Sort(all)
	return all
}

// benchWrite is P8: windows of facts replaced, compared with DuckDB's appender.
func benchWrite(dir string) {
	const days, perDay = 28, 1786
	last := clock.DateIn(time.Now(), time.UTC) - 1
	ids := make([]string, 200)
	for i := range ids {
		ids[i] = fmt.Sprintf("cmp_%026d", i)
	}
	s := newFactGenerator("wks_bench", ids, perDay)
	folder := filepath.Join(dir, "write")
	check(os.Mkdir(folder, 0o700))
	e, err := duckdb.Open(context.Background(), folder, duckdb.Options{Now: time.Now, Log: quiet})
	check(err)
	defer func() { check(e.Close()) }()
	var rows []fact.Row
	for day := last - days + 1; day <= last; day++ {
		for i := range perDay {
			rows = append(rows, s.row(day, i))
		}
	}
	batch := &fact.Batch{Workspace: s.workspace, Rows: rows, Replace: []fact.Window{{Source: s.source, First: last - days + 1, Last: last}}}
	table := newBareTable(filepath.Join(dir, "bare.duckdb"))
	defer table.close()
	write := func(i int) int { check(e.Write(context.Background(), batch)); return i }
	c := compare(
		func() sample { return runWorkers(1, write) },
		func() sample { return runWorkers(1, func(i int) int { table.append(rows); return i }) },
	)
	per := float64(len(rows))
	printAtLeast("P8 facts written, against DuckDB's appender", c[0].perSecond/c[1].perSecond, 0.5, fmt.Sprintf("%.0f/s against %.0f/s", per*c[0].perSecond, per*c[1].perSecond))
	if c[0].perSecond/c[1].perSecond < 0.5 {
		printProfileHint("P8")
	}
	benchIngest(dir, rows)
}

// bareTable is a table with the columns of facts.
type bareTable struct{ *directDuckDB }

func newBareTable(path string) *bareTable {
	t := &bareTable{openDirect(path)}
	columns := make([]string, 0, 12+fact.NumMeasures)
	for i := range 11 {
		columns = append(columns, fmt.Sprintf("k%d INTEGER NOT NULL", i))
	}
	for _, m := range fact.Measures {
		columns = append(columns, m+" BIGINT")
	}
	t.exec("CREATE TABLE facts (" + strings.Join(append(columns, "import INTEGER NOT NULL"), ", ") + ")")
	return t
}

// append adds rows with numbers instead of names.
func (t *bareTable) append(rows []fact.Row) {
	t.exec("BEGIN")
	a, err := driven.NewAppenderFromConn(t.conn, "", "facts")
	check(err)
	values := make([]driver.Value, 12+fact.NumMeasures)
	for i := range rows {
		r := &rows[i]
		for k := range 11 {
			values[k] = int32(i % (100 * (k + 1)))
		}
		values[1] = int32(r.Date)
		for m := range fact.Measure(fact.NumMeasures) {
			values[11+m] = nil
			if v, known := r.Values.Get(m); known {
				values[11+m] = v
			}
		}
		values[11+fact.NumMeasures] = int32(0)
		check(a.AppendRow(values...))
	}
	check(a.Close())
	t.exec("COMMIT")
}

// benchIngest measures the same over HTTPS, as JSON.
func benchIngest(dir string, rows []fact.Row) {
	const most = 20_000
	folder := filepath.Join(dir, "ingest")
	check(os.Mkdir(folder, 0o700))
	a := openApp(folder, 0, 0, quiet)
	t := createWorkspace(a)
	check(a.Close())
	rows = rows[:most]
	list := make([]map[string]any, len(rows))
	for i := range rows {
		r := &rows[i]
		list[i] = map[string]any{
			"date": r.Date, "channel": r.Channel, "external_campaign_id": r.Campaign.ExternalID, "external_creative_id": r.Creative.ExternalID,
			"external_audience_id": r.Audience.ExternalID, "impressions": r.Values.V[fact.Impressions], "clicks": r.Values.V[fact.Clicks],
			"spend": float64(r.Values.V[fact.Spend]) / 1e6, "conversions": float64(r.Values.V[fact.Conversions]) / 1e6, "revenue": float64(r.Values.V[fact.Revenue]) / 1e6,
		}
	}
	body, err := json.Marshal(list)
	check(err)
	path := fmt.Sprintf("/v1/ingest/metrics?mode=replace&source=bench&start_date=%s&end_date=%s", rows[0].Date, rows[len(rows)-1].Date)
	request := post(path, t.APIKey, string(body))
	ours := start("ours", folder, "BENCH_CACHED=0", "GOMAXPROCS=2", profileOf("ingest"))
	defer ours.stop()
	s := compare(func() sample { return ours.sendHTTP1(1, func(int, int) []byte { return request }) })
	fmt.Printf("   POST /v1/ingest/metrics, %d rows a call: %.0f rows/s, %.1f µs CPU a row\n", most, s[0].perSecond*most, s[0].cpu/most)
}
