package duckdb_test

import (
	"context"
	"database/sql/driver"
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	driven "github.com/duckdb/duckdb-go/v2"

	"fanfare/internal/analytics"
	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/metrics/duckdb"
)

// benchRows is how many rows the large workspace has; FANFARE_BENCH_ROWS makes
// it more.
func benchRows() int {
	if n, err := strconv.Atoi(os.Getenv("FANFARE_BENCH_ROWS")); err == nil {
		return n
	}
	return 730_000
}

const benchDays = 730

var benchFirst = clock.MakeDate(2024, 11, 1)

// seed writes two years of one workspace, and a little of another.
func seed(b *testing.B, e *duckdb.Engine, rows int) {
	b.Helper()
	source := &fact.Source{Connection: "con_1", Platform: "meta", Account: "1", Currency: "EUR", Zone: "UTC"}
	perDay := rows / benchDays
	const days = 10
	for first := 0; first < benchDays; first += days {
		batch := &fact.Batch{Workspace: "wks_1", Replace: []fact.Window{{Source: source, First: benchFirst + clock.Date(first), Last: benchFirst + clock.Date(first+days-1)}}}
		for day := range days {
			for i := range perDay {
				batch.Rows = append(batch.Rows, benchRow(source, benchFirst+clock.Date(first+day), i))
			}
		}
		if err := e.Write(context.Background(), batch); err != nil {
			b.Fatal(err)
		}
	}
}

func benchRow(s *fact.Source, d clock.Date, i int) fact.Row {
	r := fact.Row{
		Source: s, Date: d, Channel: fact.Channels[i%5], Campaign: fact.Entity{ExternalID: "c" + strconv.Itoa(i%200)},
		Creative: fact.Entity{ExternalID: "v" + strconv.Itoa(i)}, Audience: fact.Entity{ExternalID: "a" + strconv.Itoa(i%37)},
	}
	for m := range fact.Measure(8) {
		r.Values.Set(m, int64(i)*int64(m+1)*1000+int64(d))
	}
	return r
}

func benchPlan(dimensions ...string) *analytics.Plan {
	return &analytics.Plan{
		Workspace: "wks_1", First: benchFirst, Last: benchFirst + benchDays - 1, Granularity: analytics.Whole, Dimensions: dimensions, Currency: "EUR", MaxGroups: 100_000,
		Measures: []fact.Measure{fact.Impressions, fact.Clicks, fact.Spend, fact.Conversions, fact.Revenue},
	}
}

func ask(b *testing.B, e *duckdb.Engine, p *analytics.Plan) {
	b.Helper()
	if _, err := e.Query(context.Background(), p); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkReports compares the reports over two years from the facts with the
// same from the months that are summed up.
func BenchmarkReports(b *testing.B) {
	e := openFiles(b, b.TempDir())
	start := time.Now()
	seed(b, e, benchRows())
	b.Logf("%d rows written in %s", benchRows(), time.Since(start))
	reports := map[string][]string{"overview": nil, "campaigns": {"campaign_id"}, "channels": {"channel"}, "creative": {"creative_id"}, "audiences": {"audience_id"}}
	for _, state := range []string{"facts", "summed"} {
		e.SumFrom(1)
		if state == "facts" {
			e.SumFrom(1 << 40)
		}
		start := time.Now()
		if err := e.Maintain(context.Background()); err != nil {
			b.Fatal(err)
		}
		b.Logf("maintained in %s", time.Since(start))
		for name, dimensions := range reports {
			b.Run(name+"/"+state, func(b *testing.B) {
				for b.Loop() {
					ask(b, e, benchPlan(dimensions...))
				}
			})
		}
		b.Run("months/"+state, func(b *testing.B) {
			p := benchPlan()
			p.Granularity = analytics.Month
			for b.Loop() {
				ask(b, e, p)
			}
		})
		b.Run("small/"+state, func(b *testing.B) {
			p := benchPlan("channel")
			p.First = p.Last - 1
			for b.Loop() {
				ask(b, e, p)
			}
		})
	}
}

// BenchmarkWrite compares a batch with the bare appender on the same columns.
func BenchmarkWrite(b *testing.B) {
	const rows = 50_000
	source := &fact.Source{Connection: "con_1", Platform: "meta", Account: "1", Currency: "EUR", Zone: "UTC"}
	window := fact.Window{Source: source, First: benchFirst, Last: benchFirst + 27}
	batch := &fact.Batch{Workspace: "wks_1"}
	for i := range rows {
		batch.Rows = append(batch.Rows, benchRow(source, benchFirst+clock.Date(i%28), i/28))
	}
	for _, mode := range []string{"replace", "upsert"} {
		b.Run(mode, func(b *testing.B) {
			e := openFiles(b, b.TempDir())
			batch := *batch
			if mode == "replace" {
				batch.Replace = []fact.Window{window}
			}
			for b.Loop() {
				if err := e.Write(context.Background(), &batch); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(rows*b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
	b.Run("appender", func(b *testing.B) {
		connector, err := driven.NewConnector(b.TempDir()+"/bare.duckdb", nil)
		if err != nil {
			b.Fatal(err)
		}
		c, err := connector.Connect(context.Background())
		if err != nil {
			b.Fatal(err)
		}
		columns := "d0 INTEGER"
		for i := 1; i < 12; i++ {
			columns += fmt.Sprintf(", d%d INTEGER", i)
		}
		for i := range fact.NumMeasures {
			columns += fmt.Sprintf(", m%d BIGINT", i)
		}
		exec := func(text string) {
			if _, err := c.(driver.ExecerContext).ExecContext(context.Background(), text, nil); err != nil {
				b.Fatal(err)
			}
		}
		exec("CREATE TABLE bare (" + columns + ")")
		for b.Loop() {
			exec("BEGIN")
			a, err := driven.NewAppenderFromConn(c, "", "bare")
			if err != nil {
				b.Fatal(err)
			}
			row := make([]driver.Value, 12+fact.NumMeasures)
			for i := range batch.Rows {
				for d := range 12 {
					row[d] = int32(i % (d + 5))
				}
				for m := range fact.Measure(fact.NumMeasures) {
					row[12+m] = nil
					if v, known := batch.Rows[i].Values.Get(m); known {
						row[12+m] = v
					}
				}
				if err := a.AppendRow(row...); err != nil {
					b.Fatal(err)
				}
			}
			if err := a.Close(); err != nil {
				b.Fatal(err)
			}
			exec("COMMIT")
		}
		b.ReportMetric(float64(rows*b.N)/b.Elapsed().Seconds(), "rows/s")
		if err := c.Close(); err != nil {
			b.Fatal(err)
		}
		if err := connector.Close(); err != nil {
			b.Fatal(err)
		}
	})
}
