package guard_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
)

// createLargeCampaigns creates 100 campaigns of about 80 kB.
func (s *drillServer) createLargeCampaigns(key string) {
	s.t.Helper()
	metadata := map[string]string{}
	for i := range 50 {
		metadata[fmt.Sprint("note", i)] = strings.Repeat("広告", 250)
	}
	body, err := json.Marshal(map[string]any{"name": "Large", "metadata": metadata})
	if err != nil {
		s.t.Fatal(err)
	}
	for range 100 {
		if status, text := s.Call(key, http.MethodPost, "/v1/campaigns", string(body)); status != http.StatusCreated {
			s.t.Fatalf("got %d %s want 201", status, text)
		}
	}
}

// TestDrillLargeLists has one tenant list its large campaigns on 48 connections,
// with and without compression, while another one pauses campaigns and reads
// them, on a new connection each time. No page has more than 1 MiB.
func TestDrillLargeLists(t *testing.T) {
	const clients, largest = 48, 1<<20 + 4<<10
	rounds := 3
	if fullDrill {
		rounds = 100
	}
	s := startDrillServer(t, "")
	hostile, other := s.createWorkspace("Hostile"), s.createWorkspace("Other")
	s.createLargeCampaigns(hostile)
	var active []string
	for range rounds {
		active = append(active, s.launchCampaign(other))
	}
	var stop atomic.Bool
	var pages atomic.Int64
	var attack sync.WaitGroup
	defer attack.Wait()
	defer stop.Store(true)
	for i := range clients {
		transport := s.Transport()
		transport.DisableCompression = i%2 == 0
		client := &http.Client{Transport: transport, Timeout: time.Minute}
		attack.Go(func() {
			for !stop.Load() {
				_, text, err := s.Try(client, hostile, http.MethodGet, "/v1/campaigns?limit=100", "")
				if err != nil || len(text) > largest {
					t.Errorf("got %d bytes, %v want at most %d", len(text), err, largest)
					return
				}
				pages.Add(1)
			}
		})
	}
	waitUntil(t, "the hostile tenant to list", func() bool { return pages.Load() > clients || t.Failed() })
	for _, at := range active {
		for _, call := range []struct{ method, path string }{{http.MethodPost, at + "/pause"}, {http.MethodGet, at}, {http.MethodGet, "/v1/campaigns"}} {
			client := &http.Client{Transport: s.Transport(), Timeout: time.Minute}
			res, text, err := s.Try(client, other, call.method, call.path, "")
			if err != nil || res.StatusCode != http.StatusOK {
				t.Errorf("%s: got %v %s want 200", call.method, err, text)
			}
			client.CloseIdleConnections()
		}
	}
}

// TestDrillSlowLists opens connections that ask for large lists and read
// nothing. What waits for them takes a part of the memory for bodies, and
// further lists of the tenant are refused. Another tenant is served.
func TestDrillSlowLists(t *testing.T) {
	const readers, most = 200, 640 << 20
	s := startDrillServer(t, "")
	hostile, other := s.createWorkspace("Hostile"), s.createWorkspace("Other")
	s.createLargeCampaigns(hostile)
	s.createLargeCampaigns(other)
	stop := watchMemory(s.Server, allocatedMemory)
	// The kernel takes the first answers of a connection.
	lists := strings.Repeat("GET /v1/campaigns?limit=100 HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "+hostile+"\r\n\r\n", 20)
	for range readers {
		if _, err := io.WriteString(s.dial(), lists); err != nil {
			t.Fatal(err)
		}
	}
	waitUntil(t, "the tenant's own lists to be refused", func() bool {
		status, _ := s.Call(hostile, http.MethodGet, "/v1/campaigns?limit=100", "")
		return status == http.StatusTooManyRequests
	})
	if status, text := s.Call(other, http.MethodGet, "/v1/campaigns?limit=100", ""); status != http.StatusOK {
		t.Errorf("got %d %.200s want 200", status, text)
	}
	if got := stop(); got > most {
		t.Errorf("got %d bytes of memory want at most %d", got, most)
	}
}
