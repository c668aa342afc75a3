package balancer_test

import (
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"fanfare/internal/store/pgtest"
	"fanfare/test/program"
)

// TestDrillLimit sends many requests at once through the balancer: together the
// nodes admit exactly what the plan allows.
func TestDrillLimit(t *testing.T) {
	t.Parallel()
	callers, requests, limit := 60, 600, int64(100)
	if isFull() {
		callers, requests, limit = 250, 100_000, 50_000
	}
	c := start(t, pgtest.URL(t), program.Options{}, fmt.Sprintf("FANFARE_LIMITS=starter=0/0/0,growth=0/0/0,enterprise=0/%d/0", limit))
	first := time.Now().UTC().YearDay()
	var admitted, refused atomic.Int64
	var wg sync.WaitGroup
	for range callers {
		wg.Go(func() {
			client := c.newClient()
			for range requests / callers {
				switch r, err := c.send(client, http.MethodGet, "/v1/me", ""); {
				case err != nil:
					t.Error(err)
				case r.status == http.StatusOK:
					admitted.Add(1)
				case r.status == http.StatusTooManyRequests:
					refused.Add(1)
				default:
					t.Errorf("got %d %s", r.status, r.body)
				}
			}
		})
	}
	begin := time.Now()
	wg.Wait()
	if time.Now().UTC().YearDay() != first {
		t.Skip("the day of the limit ended meanwhile")
	}
	t.Logf("%d requests in %s: %d admitted, %d refused, limit %d", requests, time.Since(begin).Round(time.Millisecond), admitted.Load(), refused.Load(), limit)
	if admitted.Load() != limit || refused.Load() != int64(requests)-limit {
		t.Errorf("admitted %d, refused %d want %d and %d", admitted.Load(), refused.Load(), limit, int64(requests)-limit)
	}
	// Every node has answered, else this would say nothing about several.
	for i, n := range c.Nodes {
		if served, err := c.Sessions(i); err != nil || served == 0 {
			t.Errorf("node %d at %s had %d connections, %v", i+1, n.URL, served, err)
		}
	}
	c.Stop()
}
