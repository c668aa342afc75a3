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

// TestDrillRollingRestart stops each node with SIGTERM and starts it again while
// callers write and read records and metrics. Before that, a later release expands
// all tables. No request fails.
func TestDrillRollingRestart(t *testing.T) {
	t.Parallel()
	rounds := 1
	if isFull() {
		rounds = 10
	}
	// The health check has five seconds to notice, as by default.
	database := pgtest.URL(t)
	c := start(t, database, program.Options{KeepStopDelay: true})
	day := time.Now().UTC().AddDate(0, 0, -3).Format(time.DateOnly)
	stop := make(chan struct{})
	var requests atomic.Int64
	var wg sync.WaitGroup
	for i := range 12 {
		wg.Go(func() {
			client := c.newClient()
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				if i%3 == 0 && n%20 == 19 {
					// A caller with a new connection for each request.
					client.CloseIdleConnections()
				}
				method, path, body, want := http.MethodGet, "/v1/campaigns?limit=1", "", http.StatusOK
				switch n % 8 {
				case 0, 4:
					method, path, body, want = http.MethodPost, "/v1/campaigns", fmt.Sprintf(`{"name":"Campaign %d of caller %d"}`, n, i), http.StatusCreated
				case 2:
					method, path = http.MethodPost, "/v1/ingest/metrics?source=newsletter"
					body = fmt.Sprintf(`[{"date":%q,"channel":"email","campaign_name":"Caller %d","clicks":%d}]`, day, i, n)
				case 6:
					method, path = http.MethodPost, "/v1/analytics/query"
					body = fmt.Sprintf(`{"metrics":["clicks"],"dimensions":["campaign_name"],"date_range":{"start_date":%q,"end_date":%q}}`, day, day)
				}
				r, err := c.send(client, method, path, body)
				if err != nil || r.status != want {
					t.Errorf("%s %s: %d %v %s", method, path, r.status, err, r.body)
				}
				requests.Add(1)
				if i%2 == 0 {
					// Half of the callers pause, so that idle connections exist.
					time.Sleep(time.Duration(10+n%50) * time.Millisecond)
				}
			}
		})
	}
	for requests.Load() < 100 && !t.Failed() {
		time.Sleep(time.Millisecond) // all kinds of statements have run
	}
	pgtest.Expand(t, database, "public")
	for range rounds {
		for i := range c.Nodes {
			c.Nodes[i].Stop()
			c.StartNode(i)
			// The balancer must have noticed that the node is back before the
			// next one stops, as an operator would make sure of.
			c.awaitNode(i)
		}
	}
	close(stop)
	wg.Wait()
	t.Logf("%d requests during %d restarts", requests.Load(), rounds*len(c.Nodes))
	c.Stop()
}
