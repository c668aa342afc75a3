package nodes_test

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"fanfare/internal/store/pgtest"
)

// outages returns how often the database stops, and for how long.
func outages() (times int, each time.Duration) {
	if os.Getenv("FANFARE_DRILL") == "full" {
		return 20, 30 * time.Second
	}
	return 2, time.Second
}

// outage is a cluster whose database stops while callers write and read.
type outage struct {
	*cluster
	mu sync.Mutex
	// acknowledged are the names of campaigns whose creation was acknowledged,
	// clicks the sum of acknowledged clicks.
	acknowledged map[string]bool
	refused      atomic.Int64
}

// try sends a request until it succeeds or stop is closed. Meanwhile every response
// must be 503 with a time to try again.
func (o *outage) try(node int, stop <-chan struct{}, method, path, body string) (text string, ok bool) {
	client := o.nodes[node].Client()
	for {
		res, text, err := o.nodes[node].Try(client, o.key, method, path, body)
		switch {
		case err != nil:
			o.t.Errorf("node %d: %s %s: %v", node, method, path, err)
			return "", false
		case res.StatusCode < http.StatusMultipleChoices:
			return text, true
		case res.StatusCode != http.StatusServiceUnavailable || res.Header.Get("Retry-After") == "":
			o.t.Errorf("node %d: %s %s: %d %s", node, method, path, res.StatusCode, text)
			return "", false
		}
		o.refused.Add(1)
		select {
		case <-stop:
			return "", false
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// TestDrillDatabaseOutage kills the database under load, again and again. No answer
// is wrong, and nothing that was acknowledged is lost.
func TestDrillDatabaseOutage(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "fanfare-pg-")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	server, err := pgtest.Start(dir, true)
	if err != nil {
		t.Fatal(err)
	}
	url, err := server.CreateDatabase("outage")
	if err != nil {
		t.Fatal(err)
	}
	o := &outage{cluster: newCluster(t, 2, "FANFARE_STORE="+url), acknowledged: map[string]bool{}}
	day := time.Now().UTC().AddDate(0, 0, -3).Format(time.DateOnly)
	stop, done := make(chan struct{}), sync.WaitGroup{}
	for node := range o.nodes {
		done.Go(func() {
			for i := 0; ; i++ {
				name := fmt.Sprintf("Campaign %d of node %d", i, node)
				if _, ok := o.try(node, stop, http.MethodPost, "/v1/campaigns", fmt.Sprintf(`{"name":%q,"channels":["search"]}`, name)); !ok {
					return
				}
				o.mu.Lock()
				o.acknowledged[name] = true
				o.mu.Unlock()
				row := fmt.Sprintf(`[{"date":%q,"channel":"email","campaign_name":%q,"clicks":1}]`, day, name)
				if _, ok := o.try(node, stop, http.MethodPost, "/v1/ingest/metrics?source=newsletter", row); !ok {
					return
				}
				if text, ok := o.try(node, stop, http.MethodGet, "/v1/campaigns?limit=1", ""); ok && !strings.Contains(text, `"Campaign `) {
					t.Errorf("node %d lists %s", node, text)
				}
				select {
				case <-stop:
					return
				default:
				}
			}
		})
	}
	times, each := outages()
	for range times {
		time.Sleep(each / 2)
		if err := server.Kill(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(each)
		if server, err = pgtest.Start(dir, true); err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		for node := range o.nodes {
			o.try(node, nil, http.MethodGet, "/v1/campaigns?limit=1", "")
		}
		t.Logf("answers %s after the database was back", time.Since(begin).Round(time.Millisecond))
	}
	close(stop)
	done.Wait()
	o.check(day)
	t.Logf("%d campaigns acknowledged, %d requests refused", len(o.acknowledged), o.refused.Load())
	if o.refused.Load() == 0 {
		t.Error("no request met an outage")
	}
	o.stop()
	if err := server.Stop(); err != nil {
		t.Error(err)
	}
}

// check compares what is stored with what was acknowledged.
func (o *outage) check(day string) {
	o.t.Helper()
	found, clicks := map[string]bool{}, map[string]bool{}
	for cursor := ""; ; {
		body := o.must(0, http.MethodGet, "/v1/campaigns?limit=100"+cursor, "")
		var page struct {
			Data []struct {
				Name string `json:"name"`
			} `json:"data"`
			Next string `json:"next_cursor"`
		}
		decode(o.t, body, &page)
		for _, c := range page.Data {
			found[c.Name] = true
		}
		if page.Next == "" {
			break
		}
		cursor = "&cursor=" + page.Next
	}
	var answer struct {
		Data []struct {
			Dimensions map[string]string `json:"dimensions"`
		} `json:"data"`
	}
	decode(o.t, o.must(1, http.MethodPost, "/v1/analytics/query", fmt.Sprintf(`{"metrics":["clicks"],"dimensions":["campaign_name"],"date_range":{"start_date":%q,"end_date":%q},"limit":1000}`, day, day)), &answer)
	for _, row := range answer.Data {
		clicks[row.Dimensions["campaign_name"]] = true
	}
	missing := 0
	for name := range o.acknowledged {
		if !found[name] {
			o.t.Errorf("%s was acknowledged and is missing", name)
		}
		if !clicks[name] {
			missing++
		}
	}
	// The metrics of the last campaign of each node may not have been sent.
	if missing > len(o.nodes) {
		o.t.Errorf("the metrics of %d campaigns are missing", missing)
	}
}
