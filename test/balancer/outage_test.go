package balancer_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"fanfare/internal/store/pgtest"
	"fanfare/test/program"
)

// outage is a cluster whose database goes away while callers write and read.
type outage struct {
	*cluster
	day  string
	stop chan struct{}
	wg   sync.WaitGroup

	mu sync.Mutex
	// acknowledged has the names of campaigns whose creation was acknowledged,
	// clicks those whose metrics were.
	acknowledged, clicks map[string]bool
	refused, answered    atomic.Int64
	// lastRefused is the time of the last 503.
	lastRefused atomic.Int64
}

// errStopped says that the test ended before the request succeeded.
var errStopped = errors.New("stopped")

// until sends a request until it succeeds. Meanwhile every response must be 503
// with a time to try again; a connection must never fail.
func (o *outage) until(client *http.Client, method, path, body string, headers ...string) (reply, error) {
	for {
		r, err := o.send(client, method, path, body, headers...)
		inProgress := r.status == http.StatusConflict && strings.Contains(r.body, "idempotency_in_progress")
		switch {
		case err != nil:
			return r, err
		case r.status < http.StatusMultipleChoices:
			o.answered.Add(1)
			return r, nil
		case r.status != http.StatusServiceUnavailable && !inProgress || r.header.Get("Retry-After") == "":
			return r, fmt.Errorf("got %d %s", r.status, r.body)
		}
		o.refused.Add(1)
		o.lastRefused.Store(time.Now().UnixNano())
		select {
		case <-o.stop:
			return r, errStopped
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// startOutage starts a cluster on a database, and callers.
func startOutage(t *testing.T, database string) *outage {
	t.Helper()
	o := &outage{
		cluster: start(t, database, program.Options{}), day: time.Now().UTC().AddDate(0, 0, -3).Format(time.DateOnly), stop: make(chan struct{}),
		acknowledged: map[string]bool{}, clicks: map[string]bool{},
	}
	for i := range 6 {
		o.wg.Go(func() {
			client := o.newClient()
			for n := 0; ; n++ {
				if err := o.call(client, fmt.Sprintf("Campaign %d of caller %d", n, i)); err != nil {
					if !errors.Is(err, errStopped) {
						t.Error(err)
					}
					return
				}
			}
		})
	}
	return o
}

// call creates a campaign, reads it, and stores metrics of it.
func (o *outage) call(client *http.Client, name string) error {
	select {
	case <-o.stop:
		return errStopped
	default:
	}
	r, err := o.until(client, http.MethodPost, "/v1/campaigns", fmt.Sprintf(`{"name":%q}`, name), "Idempotency-Key: "+strings.ReplaceAll(name, " ", "-"))
	if err != nil {
		return fmt.Errorf("create %s: %w", name, err)
	}
	o.mu.Lock()
	o.acknowledged[name] = true
	o.mu.Unlock()
	made, err := r.campaignOf()
	if err != nil {
		return err
	}
	if r, err = o.until(client, http.MethodGet, "/v1/campaigns/"+made.ID, ""); err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	if got, err := r.campaignOf(); err != nil || got != made {
		return fmt.Errorf("read %s: got %s", name, r.body)
	}
	row := fmt.Sprintf(`[{"date":%q,"channel":"email","campaign_name":%q,"clicks":1}]`, o.day, name)
	if _, err := o.until(client, http.MethodPost, "/v1/ingest/metrics?source=newsletter", row, "Idempotency-Key: clicks-of-"+strings.ReplaceAll(name, " ", "-")); err != nil {
		return fmt.Errorf("store metrics of %s: %w", name, err)
	}
	o.mu.Lock()
	o.clicks[name] = true
	o.mu.Unlock()
	return nil
}

// recovered waits until requests succeed again, and for some time more. It
// returns when the last request was refused, counted from the moment when the
// database was back.
func (o *outage) recovered(back time.Time) time.Duration {
	o.t.Helper()
	client, before := o.newClient(), o.answered.Load()
	for range 3 * len(o.Nodes) {
		client.CloseIdleConnections()
		if _, err := o.until(client, http.MethodGet, "/v1/campaigns?limit=1", ""); err != nil {
			o.t.Error(err)
		}
	}
	o.awaitAnswers(before + 100)
	took := max(0, time.Unix(0, o.lastRefused.Load()).Sub(back))
	limit := time.Minute
	if isFull() {
		limit = 5 * time.Second
	}
	if took > limit {
		o.t.Errorf("requests were refused until %s after the database was back", took)
	}
	return took
}

// awaitAnswers waits until so many requests have succeeded.
func (o *outage) awaitAnswers(n int64) {
	o.t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(maxWait); o.answered.Load() < n; <-tick.C {
		if o.t.Failed() || time.Now().After(end) {
			o.t.Fatalf("%d requests succeeded within %s, want %d", o.answered.Load(), maxWait, n)
		}
	}
}

// end stops the callers and compares what is stored with what was acknowledged.
func (o *outage) end() {
	o.t.Helper()
	close(o.stop)
	o.wg.Wait()
	client := o.newClient()
	found := map[string]int{}
	for _, c := range o.list(client) {
		found[c.Name]++
	}
	for name := range o.acknowledged {
		if found[name] != 1 {
			o.t.Errorf("%s was acknowledged and is there %d times", name, found[name])
		}
	}
	clicks := o.storedClicks(client)
	for name := range o.clicks {
		if clicks[name] != 1 {
			o.t.Errorf("%s has %v clicks want 1", name, clicks[name])
		}
	}
	o.t.Logf("%d campaigns and metrics of %d acknowledged, %d requests refused", len(o.acknowledged), len(o.clicks), o.refused.Load())
	if o.refused.Load() == 0 {
		o.t.Error("no request met an outage")
	}
	o.Stop()
}

// storedClicks returns the clicks of each campaign.
func (o *outage) storedClicks(client *http.Client) map[string]float64 {
	o.t.Helper()
	clicks := map[string]float64{}
	for cursor := ""; ; {
		body := fmt.Sprintf(`{"metrics":["clicks"],"dimensions":["campaign_name"],"date_range":{"start_date":%q,"end_date":%q},"limit":1000%s}`, o.day, o.day, cursor)
		r, err := o.send(client, http.MethodPost, "/v1/analytics/query", body)
		var page struct {
			Data []struct {
				Dimensions map[string]string  `json:"dimensions"`
				Metrics    map[string]float64 `json:"metrics"`
			} `json:"data"`
			Next string `json:"next_cursor"`
		}
		if err == nil {
			err = json.Unmarshal([]byte(r.body), &page)
		}
		if err != nil || r.status != http.StatusOK {
			o.t.Fatalf("query: %d %v %s", r.status, err, r.body)
		}
		for _, row := range page.Data {
			clicks[row.Dimensions["campaign_name"]] += row.Metrics["clicks"]
		}
		if page.Next == "" {
			return clicks
		}
		cursor = fmt.Sprintf(`,"cursor":%q`, page.Next)
	}
}

// TestDrillDatabaseOutage kills the database under load, again and again, and
// starts it later. No response is wrong, no connection fails, and nothing that
// was acknowledged is lost.
func TestDrillDatabaseOutage(t *testing.T) {
	t.Parallel()
	times, each := 1, 2*time.Second
	if isFull() {
		times, each = 20, 30*time.Second
	}
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
	o := startOutage(t, url)
	for range times {
		time.Sleep(each / 4)
		if err := server.Kill(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(each)
		if server, err = pgtest.Start(dir, true); err != nil {
			t.Fatal(err)
		}
		t.Logf("the last request was refused %s after the database was back", o.recovered(time.Now()).Round(time.Millisecond))
	}
	o.end()
	if err := server.Stop(); err != nil {
		t.Error(err)
	}
}

// TestDrillFailover kills the primary under load and promotes its replica. Nodes
// find it by themselves, and nothing that was acknowledged is lost.
func TestDrillFailover(t *testing.T) {
	t.Parallel()
	rounds := 1
	if isFull() {
		rounds = 5
	}
	for i := range rounds {
		t.Run(fmt.Sprintf("round%d", i+1), failover)
	}
}

func failover(t *testing.T) {
	t.Helper()
	primary, err := pgtest.Start("", true)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = primary.Stop() }()
	url, err := primary.CreateDatabase("failover")
	if err != nil {
		t.Fatal(err)
	}
	replica, err := primary.Replica()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = replica.Stop() }()
	if url, err = primary.EitherURL(url, replica); err != nil {
		t.Fatal(err)
	}
	o := startOutage(t, url)
	o.awaitAnswers(100)
	if err := primary.Kill(); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	if err := replica.Promote(); err != nil {
		t.Fatal(err)
	}
	back := time.Now()
	t.Logf("promoted in %s; the last request was refused %s later", back.Sub(begin).Round(time.Millisecond), o.recovered(back).Round(time.Millisecond))
	o.end()
}
