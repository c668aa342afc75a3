package guard_test

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// manyRows are 50,000 rows of own data.
func manyRows() string {
	n := 10_000
	if fullDrill {
		n = 50_000
	}
	var b bytes.Buffer
	for i := range n {
		fmt.Fprintf(&b, `,{"date":"2026-10-%02d","external_campaign_id":"c%d","external_creative_id":"r%d","clicks":%d}`, i%30+1, i%50, i/30, i)
	}
	return "[" + b.String()[1:] + "]"
}

// TestDrillOneTenant has one tenant query, send rows and import files as fast
// as it can. Another tenant does the same at the speed of a person, and pauses
// a campaign on a new connection each time. A pause succeeds immediately. Other
// requests may get a time to retry and then succeed. They never get an error
// that blames this tenant.
func TestDrillOneTenant(t *testing.T) {
	rounds := 3
	if fullDrill {
		rounds = 100
	}
	s := startDrillServer(t, "")
	hostile, other := s.createWorkspace("Hostile"), s.createWorkspace("Other")
	cells, err := os.ReadFile(filepath.Join("testdata", "cells.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	rows := manyRows()
	const query = `{"metrics":["clicks"],"dimensions":["campaign_id","creative_id"],"granularity":"day","date_range":{"start_date":"2026-10-01","end_date":"2026-10-31"},"limit":10}`
	var stop atomic.Bool
	var attack sync.WaitGroup
	defer attack.Wait()
	defer stop.Store(true)
	client := s.Client()
	flood := func(n int, target, mediaType, body string, allowed ...int) {
		for range n {
			attack.Go(func() {
				for !stop.Load() {
					if status, text := s.send(hostile, target, mediaType, strings.NewReader(body)); !slices.Contains(allowed, status) {
						t.Errorf("%s: got %d %s want one of %v", target, status, text, allowed)
						return
					}
				}
			})
		}
	}
	const busy, late = http.StatusTooManyRequests, http.StatusServiceUnavailable
	flood(4, "/v1/ingest/metrics", "application/json", rows, http.StatusOK, busy, late)
	flood(4, "/v1/analytics/query", "application/json", query, http.StatusOK, busy, late, http.StatusUnprocessableEntity)
	flood(2, "/v1/imports", "application/vnd.apache.parquet", string(cells), http.StatusUnprocessableEntity, busy, late)
	want := func(tries, status int, target, mediaType, body string) {
		t.Helper()
		got, text := late, ""
		for ; got == late && tries > 0; tries-- {
			got, text = s.send(other, target, mediaType, strings.NewReader(body))
		}
		if got != status {
			t.Errorf("%s: got %d %s want %d", target, got, text, status)
		}
	}
	for i := range rounds {
		want(10, http.StatusOK, "/v1/ingest/metrics", "application/json", oneRow)
		want(10, http.StatusOK, "/v1/analytics/query", "application/json", query)
		want(10, http.StatusCreated, "/v1/imports?filename=small.csv", "text/csv", fmt.Sprintf("date,clicks\n2026-10-01,%d\n", i))
		id := s.newCampaign(other)
		client.CloseIdleConnections()
		want(1, http.StatusOK, "/v1/campaigns/"+id+"/pause", "application/json", "{}")
	}
}

// newCampaign returns a campaign that runs.
func (s *drillServer) newCampaign(key string) string {
	s.t.Helper()
	status, text := s.Call(key, http.MethodPost, "/v1/campaigns", `{"name":"Running"}`)
	ids := idsIn(text)
	i := slices.IndexFunc(ids, func(id string) bool { return strings.HasPrefix(id, "cmp_") })
	if status != http.StatusCreated || i < 0 {
		s.t.Fatalf("got %d %s want 201", status, text)
	}
	if status, text := s.Call(key, http.MethodPost, "/v1/campaigns/"+ids[i]+"/launch", "{}"); status != http.StatusOK {
		s.t.Fatalf("got %d %s want 200", status, text)
	}
	return ids[i]
}

// TestDrillManyWorkspaces has one user send as many rows as possible with ten
// workspaces, while another user sends one row. Users share turns, not
// workspaces: at most the calls that already run are answered first.
func TestDrillManyWorkspaces(t *testing.T) {
	const workspaces, calls, rounds, most = 10, 3, 3, 4
	s := startDrillServer(t, "")
	other := s.createWorkspace("Other")
	rows := manyRows()
	var stop atomic.Bool
	var answered atomic.Int64
	var attack sync.WaitGroup
	defer attack.Wait()
	defer stop.Store(true)
	for i := range workspaces {
		hostile := s.createWorkspace(fmt.Sprint("Hostile", i), "--plan", "growth", "--owner", "hostile@example.com")
		for range calls {
			attack.Go(func() {
				for !stop.Load() {
					if status, _ := s.send(hostile, "/v1/ingest/metrics", "application/json", strings.NewReader(rows)); status == http.StatusOK {
						answered.Add(1)
					}
				}
			})
		}
	}
	waitUntil(t, "the hostile calls to be answered", func() bool { return answered.Load() >= workspaces })
	for range rounds {
		before := answered.Load()
		if status, text := s.send(other, "/v1/ingest/metrics", "application/json", strings.NewReader(oneRow)); status != http.StatusOK {
			t.Errorf("got %d %s want 200", status, text)
		}
		if got := answered.Load() - before; got > most {
			t.Errorf("got %d answers to the hostile person first want at most %d", got, most)
		}
	}
}

// TestDrillGenerations has one tenant begin many generations with pictures in two
// workspaces. One generation of another tenant, begun after them, is ready while
// at least half of those in one of these workspaces are not.
func TestDrillGenerations(t *testing.T) {
	each := 60
	if fullDrill {
		each = 200
	}
	s := startDrillServer(t, "")
	other := s.createWorkspace("Other")
	generate := func(key string) string {
		status, text := s.send(key, "/v1/creative/generate", "application/json",
			strings.NewReader(`{"prompt":"Mountain green tea, 20% off until Sunday","type":"image","variants":4,"aspect_ratios":["1:1","16:9","9:16"]}`), "Prefer", "respond-async")
		if status != http.StatusAccepted {
			t.Errorf("got %d %s want 202", status, text)
		}
		return text
	}
	var hostile []string
	var attack sync.WaitGroup
	for i := range 2 {
		key := s.createWorkspace(fmt.Sprint("Hostile", i), "--plan", "growth", "--owner", "hostile@example.com")
		hostile = append(hostile, key)
		for range 10 {
			attack.Go(func() {
				for range each / 10 {
					generate(key)
				}
			})
		}
	}
	attack.Wait()
	ids := idsIn(generate(other))
	i := slices.IndexFunc(ids, func(id string) bool { return strings.HasPrefix(id, "crv_") })
	if t.Failed() || i < 0 {
		t.Fatal("a generation was not begun")
	}
	waitUntil(t, "the generation of the other tenant", func() bool {
		_, text := s.Call(other, http.MethodGet, "/v1/creative/"+ids[i], "")
		return strings.Contains(text, `"status":"ready"`)
	})
	most := 0
	for _, key := range hostile {
		_, text := s.Call(key, http.MethodGet, "/v1/creative?status=generating&limit=100", "")
		most = max(most, strings.Count(text, `"status":"generating"`))
	}
	if most < each/2 {
		t.Errorf("got %d generations that were begun earlier unfinished want at least %d", most, each/2)
	}
}
