package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/go-json-experiment/json"

	"fanfare/internal/account"
	"fanfare/internal/app"
	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/ident"
	"fanfare/internal/metrics"
	"fanfare/internal/metrics/duckdb"
)

var (
	factsRows = flag.Int("facts-rows", 20_000_000, "facts of the large workspace of P5 to P8; a hundred small ones have half as many together")
	keep      = flag.String("keep", "", "folder for the facts of P5 to P7, to be used again by the next run")
)

const (
	factDays = 730
	// factCampaigns is the number of campaigns of the large workspace, and of
	// all small ones together.
	factCampaigns   = 2000
	smallWorkspaces = 100
	// creativesPerCampaign is the number of creatives of a campaign.
	creativesPerCampaign = 5
)

// factsFolder is a data folder with two years of facts up to yesterday.
type factsFolder struct {
	dir         string
	large       account.Created
	small       account.Created
	campaigns   []string
	generator   *factGenerator
	first, last clock.Date
}

// benchFacts is P5 to P8, on the same facts.
func benchFacts(dir string) {
	asked := func(name string) bool { return *only == "" || *only == name }
	if asked("P8") {
		benchWrite(dir)
	}
	if !asked("P5") && !asked("P6") && !asked("P7") {
		return
	}
	w := openFactsFolder(dir)
	if asked("P5") {
		benchQuery(w)
	}
	if asked("P6") {
		benchReports(w)
	}
	if asked("P7") {
		benchReadsUnderLoad(w)
	}
}

// printProfileHint prints how to profile a measurement.
func printProfileHint(name string) {
	if *profile == "" {
		fmt.Printf("   where the time goes: go run ./bench -only %s -profile DIR, then go tool pprof DIR/*.pprof\n", name)
	}
}

// factsOnlyOption makes a server answer without precomputed sums if
// BENCH_FACTS_ONLY is set.
func factsOnlyOption(dir string, log *slog.Logger) func(*app.Config) {
	return func(c *app.Config) {
		if os.Getenv("BENCH_FACTS_ONLY") == "" {
			return
		}
		e, err := duckdb.Open(context.Background(), dir, duckdb.Options{FactsOnly: true, Now: time.Now, Log: log})
		check(err)
		c.FactsEngine = e
	}
}

// factGenerator generates the facts of a workspace: the same rows every day,
// with other metrics.
type factGenerator struct {
	workspace                       ident.ID
	source                          *fact.Source
	campaigns, creatives, audiences []fact.Entity
	perDay                          int
}

func newFactGenerator(workspace ident.ID, campaigns []string, perDay int) *factGenerator {
	s := &factGenerator{workspace: workspace, perDay: perDay, source: &fact.Source{Connection: ident.ID("con_" + string(workspace)), Platform: "meta", Account: "1", Currency: "USD", Zone: "UTC"}}
	for i, id := range campaigns {
		s.campaigns = append(s.campaigns, fact.Entity{ExternalID: fmt.Sprintf("campaign-%d", i), Record: ident.ID(id)})
		for j := range creativesPerCampaign {
			s.creatives = append(s.creatives, fact.Entity{ExternalID: fmt.Sprintf("creative-%d-%d", i, j), Name: fmt.Sprintf("Creative %d of %d", j, i)})
		}
	}
	for i := range 50 {
		s.audiences = append(s.audiences, fact.Entity{ExternalID: fmt.Sprintf("audience-%d", i), Name: fmt.Sprintf("Audience %d", i)})
	}
	return s
}

// row returns one row of a day.
func (s *factGenerator) row(day clock.Date, i int) fact.Row {
	campaign, group := i%len(s.campaigns), i/len(s.campaigns)
	r := fact.Row{
		Source: s.source, Date: day, Channel: fact.Channels[campaign%5], Campaign: s.campaigns[campaign],
		Creative: s.creatives[campaign*creativesPerCampaign+group%creativesPerCampaign], Audience: s.audiences[(campaign+group/creativesPerCampaign)%len(s.audiences)],
	}
	for m, v := range metricsOf(day, i) {
		r.Values.Set(fact.Measure(m), v)
	}
	return r
}

// metricsOf returns impressions, clicks, spend, conversions and revenue of a
// row: unevenly distributed like real ones, and reproducible.
func metricsOf(day clock.Date, i int) [5]int64 {
	h := uint64(day)<<32 | uint64(i)
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	h ^= h >> 31
	impressions := int64(h % 10_000)
	clicks := impressions * int64(h>>16%50) / 1000
	conversions := clicks * int64(h>>24%100) / 1000
	return [5]int64{impressions, clicks, clicks * (200_000 + int64(h>>32%1_000_000)), conversions * 1_000_000, conversions * (15_000_000 + int64(h>>40%50_000_000))}
}

// write stores days of a workspace as a platform's sync does.
func (s *factGenerator) write(e metrics.Engine, first, last clock.Date, rows []fact.Row) []fact.Row {
	rows = rows[:0]
	for day := first; day <= last; day++ {
		for i := range s.perDay {
			rows = append(rows, s.row(day, i))
		}
	}
	check(e.Write(context.Background(), &fact.Batch{
		Workspace: s.workspace, Rows: rows, Replace: []fact.Window{{Source: s.source, First: first, Last: last}},
	}))
	return rows
}

// keptFacts describes the facts in the folder of an earlier run.
type keptFacts struct {
	Large, Small account.Created
	Campaigns    []string
	First, Last  clock.Date
	Rows         int
}

// openFactsFolder opens the facts of an earlier run if there are as many as
// requested, else it creates them.
func openFactsFolder(dir string) *factsFolder {
	if *keep == "" {
		return buildFactsFolder(filepath.Join(dir, "facts"))
	}
	note, folder := filepath.Join(*keep, "kept.json"), filepath.Join(*keep, "facts")
	var k keptFacts
	if b, err := os.ReadFile(note); err == nil {
		check(json.Unmarshal(b, &k))
	}
	if k.Rows == *factsRows {
		w := &factsFolder{dir: folder, large: k.Large, small: k.Small, campaigns: k.Campaigns, first: k.First, last: k.Last}
		w.generator = newFactGenerator(w.large.WorkspaceID, w.campaigns, max(1, *factsRows/factDays))
		w.runMaintenance()
		return w
	}
	check(errors.Join(os.RemoveAll(note), os.RemoveAll(folder)))
	check(os.MkdirAll(*keep, 0o700))
	w := buildFactsFolder(folder)
	b, err := json.Marshal(keptFacts{w.large, w.small, w.campaigns, w.first, w.last, *factsRows})
	check(err)
	check(os.WriteFile(note, b, 0o600))
	return w
}

// runMaintenance performs the maintenance that a server does in the background.
func (w *factsFolder) runMaintenance() {
	e, err := duckdb.Open(context.Background(), w.dir, duckdb.Options{Now: time.Now, Log: quiet})
	check(err)
	check(errors.Join(e.Maintain(context.Background()), e.Close()))
}

// buildFactsFolder creates records and facts and runs the maintenance.
func buildFactsFolder(dir string) *factsFolder {
	w := &factsFolder{dir: dir, last: clock.DateIn(time.Now(), time.UTC) - 1}
	w.first = w.last - factDays + 1
	check(os.Mkdir(w.dir, 0o700))
	a := openApp(w.dir, 0, 0, quiet)
	w.large, w.small = createWorkspace(a), createWorkspace(a)
	w.campaigns = createCampaigns(a, w.large.WorkspaceID, factCampaigns)
	few := createCampaigns(a, w.small.WorkspaceID, factCampaigns/smallWorkspaces)
	check(a.Close())

	e, err := duckdb.Open(context.Background(), w.dir, duckdb.Options{Now: time.Now, Log: quiet})
	check(err)
	began := time.Now()
	var rows []fact.Row
	written := 0
	for i := range smallWorkspaces {
		id := w.small.WorkspaceID
		if i > 0 {
			id = ident.ID(fmt.Sprintf("wks_small%d", i))
		}
		s := newFactGenerator(id, few, max(1, *factsRows/2/smallWorkspaces/factDays))
		rows = s.write(e, w.first, w.last, rows)
		written += len(rows)
	}
	written += w.writeLarge(e, rows)
	took := time.Since(began)
	began = time.Now()
	check(e.Maintain(context.Background()))
	check(e.Close())
	info, err := os.Stat(filepath.Join(w.dir, "facts.duckdb"))
	check(err)
	fmt.Printf("   %d facts written in %s (%.0f/s), put in order and summed up in %s, %.0f MB\n",
		written, took.Round(time.Second), float64(written)/took.Seconds(), time.Since(began).Round(time.Second), float64(info.Size())/1e6)
	return w
}

// writeLarge writes the facts of the large workspace and returns their number.
func (w *factsFolder) writeLarge(e metrics.Engine, rows []fact.Row) (written int) {
	w.generator = newFactGenerator(w.large.WorkspaceID, w.campaigns, max(1, *factsRows/factDays))
	for day := w.first; day <= w.last; day += 10 {
		rows = w.generator.write(e, day, min(day+9, w.last), rows)
		written += len(rows)
	}
	return written
}

// copyFolder copies records and facts, because two processes cannot open the
// same files.
func (w *factsFolder) copyFolder() string {
	to := w.dir + "-copy"
	check(os.RemoveAll(to))
	check(os.Mkdir(to, 0o700))
	for _, name := range []string{"fanfare.db", "facts.duckdb"} {
		in, err := os.Open(filepath.Join(w.dir, name))
		check(err)
		out, err := os.Create(filepath.Join(to, name))
		check(err)
		_, err = io.Copy(out, in)
		check(errors.Join(err, in.Close(), out.Close()))
	}
	return to
}
