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
	var b bytes.Buffer
	for i := range 50_000 {
		fmt.Fprintf(&b, `,{"date":"2026-10-%02d","external_campaign_id":"c%d","external_creative_id":"r%d","clicks":%d}`, i%30+1, i%50, i/30, i)
	}
	return "[" + b.String()[1:] + "]"
}

// TestDrillOneTenant has one tenant query, send rows and import files as fast
// as it can. Another one does the same at the speed of a person, and pauses a
// campaign on a new connection each time. A pause succeeds at once; the rest may
// be told to come back later and then succeeds, and is never found to be at
// fault itself.
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
