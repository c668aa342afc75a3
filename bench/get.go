package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/go-json-experiment/json"

	"fanfare/internal/app"
	"fanfare/internal/campaign"
	"fanfare/internal/clock"
	"fanfare/internal/ident"
	"fanfare/internal/money"
	"fanfare/internal/page"
	"fanfare/internal/record"
)

var (
	operator = record.Cause{Actor: record.Actor{Type: record.ActorSystem, Name: "bench"}}
	quiet    = slog.New(slog.DiscardHandler)
)

const (
	connections = 32
	getRecords  = 5000
)

// createCampaigns creates campaigns with the service and returns their ids.
func createCampaigns(a *app.App, workspace ident.ID, n int) []string {
	cause := operator
	cause.Workspace = workspace
	ids := make([]string, n)
	work := make(chan int)
	done := make(chan struct{})
	for range 64 {
		go func() {
			for i := range work {
				d, err := a.Campaigns.CreateSpec(context.Background(), cause, spec(i))
				check(err)
				ids[i] = idOf(d)
			}
			done <- struct{}{}
		}()
	}
	for i := range n {
		work <- i
	}
	close(work)
	for range 64 {
		<-done
	}
	return ids
}

func spec(i int) campaign.Spec {
	objective := "sales"
	return campaign.Spec{
		Name: fmt.Sprintf("Campaign %07d", i), Objective: &objective, Channels: []string{"search", "social"},
		Budget:   &campaign.Budget{Type: "daily", Amount: money.Amount{Micros: 150_000_000, Digits: 2}, Currency: "USD", Pacing: "even"},
		Schedule: campaign.Schedule{Timezone: "UTC"}, Attribution: campaign.DefaultAttribution,
	}
}

// benchGet is P1: one campaign, random out of 5,000, compared with fixed bytes.
func benchGet(dir string) {
	a := openApp(dir, 0, 0, quiet)
	t := createWorkspace(a)
	ids := createCampaigns(a, t.WorkspaceID, getRecords)
	check(a.Close())

	hot := start("ours", dir, "BENCH_CACHED=32768", profileOf("get-hot"))
	random := randomRequests(ids, "/v1/campaigns/", t.APIKey)
	body := filepath.Join(dir, "body")
	check(os.WriteFile(body, hot.fetch("/v1/campaigns/"+ids[0], t.APIKey), 0o600))
	bare := start("bare", dir, "BENCH_BODY="+body, profileOf("bare"))
	s := compare(
		func() sample { return bare.sendHTTP1(connections, random) },
		func() sample { return hot.sendHTTP1(connections, random) },
	)
	printAtLeast("P1 get one, from memory, CPU against bare TLS", s[0].cpu/s[1].cpu, 0.75, fmt.Sprintf("bare %s; ours %s", s[0], s[1]))
	path := func(int, int) string { return "/v1/campaigns/" + ids[rand.IntN(len(ids))] }
	two := compare(
		func() sample { return bare.sendHTTP2(connections, path, t.APIKey) },
		func() sample { return hot.sendHTTP2(connections, path, t.APIKey) },
	)
	printAtLeast("P1 get one over HTTP/2, CPU against bare TLS", two[0].cpu/two[1].cpu, 0.85, fmt.Sprintf("bare %s; ours %s", two[0], two[1]))
	hot.stop()

	cold := start("ours", dir, "BENCH_CACHED=0", profileOf("get-db"))
	s = compare(
		func() sample { return bare.sendHTTP1(connections, random) },
		func() sample { return cold.sendHTTP1(connections, random) },
	)
	printAtLeast("P1 get one, every read from the database, CPU", s[0].cpu/s[1].cpu, 0.50, fmt.Sprintf("bare %s; ours %s", s[0], s[1]))
	cold.stop()
	bare.stop()
}

func profileOf(name string) string {
	if *profile == "" {
		return "BENCH_PROFILE="
	}
	return "BENCH_PROFILE=" + filepath.Join(*profile, name+".pprof")
}

// benchList is P2: a page of 20, at random positions in a million.
func benchList(dir string) {
	a := openApp(dir, 0, 0, quiet)
	t := createWorkspace(a)
	began := time.Now()
	ids := fillCopies(a, t.WorkspaceID, *rows)
	fmt.Printf("   %d records made in %s\n", *rows, time.Since(began).Round(time.Second))
	deep := cursors(a, t.WorkspaceID, ids)
	check(a.Close())
	random := randomRequests(deep, "/v1/campaigns?cursor=", t.APIKey)
	first := get("/v1/campaigns", t.APIKey)
	ours := start("ours", dir, "BENCH_CACHED=0", profileOf("list"))
	body := filepath.Join(dir, "body")
	check(os.WriteFile(body, ours.fetch("/v1/campaigns?cursor="+deep[0], t.APIKey), 0o600))
	bare := start("bare", dir, "BENCH_BODY="+body, profileOf("bare"))
	s := compare(
		func() sample { return bare.sendHTTP1(connections, func(int, int) []byte { return first }) },
		func() sample { return ours.sendHTTP1(connections, random) },
		func() sample { return ours.sendHTTP1(connections, func(int, int) []byte { return first }) },
	)
	printAtLeast("P2 list of 20, deep, CPU against the same bytes bare", s[0].cpu/s[1].cpu, 0.45, fmt.Sprintf("bare %s; ours %s", s[0], s[1]))
	printAtMost("P2 deep page against first page, CPU", s[1].cpu/s[2].cpu, 1.5, fmt.Sprintf("first %s", s[2]))
	ours.stop()
	bare.stop()
}

// randomRequests returns requests for random targets.
func randomRequests(targets []string, path, key string) func(int, int) []byte {
	requests := make([][]byte, len(targets))
	for i, t := range targets {
		requests[i] = get(path+t, key)
	}
	return func(int, int) []byte { return requests[rand.IntN(len(requests))] }
}

// sampleIDs returns ids from all parts of a large workspace.
func sampleIDs(a *app.App, workspace ident.ID) []string {
	ctx, out := context.Background(), []string{}
	newest, err := a.Campaigns.List(ctx, workspace, page.Query{Limit: 1, Sort: "created_at", Desc: true})
	check(err)
	oldest, err := a.Campaigns.List(ctx, workspace, page.Query{Limit: 1, Sort: "created_at"})
	check(err)
	from, to := createdAt(oldest), createdAt(newest)
	for range 2000 {
		at := from + clock.Instant(rand.Int64N(int64(to-from)))
		p, err := a.Campaigns.List(ctx, workspace, page.Query{Limit: 1, Sort: "created_at", From: &at})
		check(err)
		out = append(out, idOf(p.Docs[0]))
	}
	return out
}

func createdAt(p page.Page) clock.Instant {
	var v struct {
		CreatedAt clock.Instant `json:"created_at"`
	}
	check(json.Unmarshal(p.Docs[0].JSON, &v))
	return v.CreatedAt
}

func idOf(d record.Doc) string {
	const start = len(`{"id":"`)
	return string(d.JSON[start : start+30])
}

// cursors returns sealed cursors at random positions of the list.
func cursors(a *app.App, workspace ident.ID, ids []string) []string {
	keys, err := a.DB.CursorKeys(context.Background())
	check(err)
	sealer, err := page.NewSealer(keys, randomReader{})
	check(err)
	out := make([]string, 5000)
	for i := range out {
		id := ids[rand.IntN(len(ids))]
		c, err := a.DB.Campaigns().Load(context.Background(), workspace, ident.ID(id))
		check(err)
		out[i] = sealer.Seal(workspace, "listCampaigns", page.Cursor{
			Params: "order=desc&sort=created_at", After: page.Position{Int: int64(c.CreatedAt), ID: id},
		})
	}
	return out
}

// randomReader provides random bytes for nonces that protect nothing here.
type randomReader struct{}

func (randomReader) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(rand.Uint32())
	}
	return len(p), nil
}

var _ io.Reader = randomReader{}
