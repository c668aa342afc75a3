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
// callers write and read. No request fails.
func TestDrillRollingRestart(t *testing.T) {
	t.Parallel()
	rounds := 1
	if isFull() {
		rounds = 10
	}
	// The health check has five seconds to notice, as by default.
	c := start(t, pgtest.URL(t), program.Options{KeepStopDelay: true})
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
				if n%4 == 0 {
					method, path, body, want = http.MethodPost, "/v1/campaigns", fmt.Sprintf(`{"name":"Campaign %d of caller %d"}`, n, i), http.StatusCreated
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
