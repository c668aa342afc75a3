package nodes_test

import (
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"fanfare/internal/store/pgtest"
	"fanfare/test/program"
)

// TestMoveWithBackup moves an installation from one machine to nodes on PostgreSQL
// and back, with backups. Metrics and campaigns are the same everywhere.
func TestMoveWithBackup(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	files := []string{"FANFARE_ASSETS=" + filepath.Join(dir, "assets"), "FANFARE_MASTER_KEY=" + filepath.Join(dir, "master.key"), "FANFARE_LIMITS=starter=0/0/0,growth=0/0/0,enterprise=0/0/0"}
	c := &cluster{t: t, dir: dir, env: files}
	c.add()
	c.createWorkspace()
	day := time.Now().UTC().AddDate(0, 0, -3).Format(time.DateOnly)
	c.must(0, http.MethodPost, "/v1/ingest/metrics?source=newsletter", fmt.Sprintf(`[{"date":%q,"channel":"email","campaign_name":"Welcome","clicks":7,"spend":1.25}]`, day))
	want, campaigns := c.ask(0), data(c.must(0, http.MethodGet, "/v1/campaigns", ""))
	store := "FANFARE_STORE=" + pgtest.URL(t)
	for i, env := range [][]string{{store}, nil} {
		backup := filepath.Join(dir, fmt.Sprintf("backup%d", i))
		if out := c.nodes[i].Run("backup", "create", backup); out.Code != 0 {
			t.Fatalf("backup: %+v", out)
		}
		c.nodes[i].Stop()
		o := c.options(env...)
		if out := program.Run(t, program.Build(t), dir, program.Environ(append(o.Env, "FANFARE_DATA="+o.Data)...), "backup", "restore", backup); out.Code != 0 {
			t.Fatalf("restore: %+v", out)
		}
		c.add(env...)
		if got := c.ask(i + 1); got != want {
			t.Errorf("after move %d: %s\nwant %s", i, got, want)
		}
		if got := data(c.must(i+1, http.MethodGet, "/v1/campaigns", "")); got != campaigns {
			t.Errorf("after move %d: %s\nwant %s", i, got, campaigns)
		}
	}
	c.nodes[2].Stop()
}

// TestReplaceSharedFacts resets and restores metrics that nodes share, while both
// run, and moves them from the file of a node.
func TestReplaceSharedFacts(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 1, "FANFARE_METRICS=duckdb")
	day := time.Now().UTC().AddDate(0, 0, -3).Format(time.DateOnly)
	c.must(0, http.MethodPost, "/v1/ingest/metrics?source=newsletter", fmt.Sprintf(`[{"date":%q,"channel":"email","campaign_name":"Welcome","clicks":7,"spend":1.25}]`, day))
	// Other days are unknown after a loss, until the data is sent again.
	const want = `"spend":1.25,"clicks":7`
	backup := filepath.Join(c.dir, "backup")
	if out := c.nodes[0].Run("backup", "create", backup); out.Code != 0 {
		t.Fatalf("backup: %+v", out)
	}
	c.nodes[0].Stop()
	// The node does not start without its metrics, and the way that it names works.
	c.env[len(c.env)-1] = "FANFARE_METRICS="
	c.nodes = nil
	o := c.options()
	s := program.Launch(t, o)
	if code := s.Wait(); code == 0 || !strings.Contains(s.Log.String(), "fanfare facts restore") {
		t.Fatalf("a start without the metrics ended with %d:\n%s", code, s.Log)
	}
	if out := program.Run(t, program.Build(t), c.dir, program.Environ(append(o.Env, "FANFARE_DATA="+o.Data)...), "facts", "restore", backup); out.Code != 0 {
		t.Fatalf("facts restore: %+v", out)
	}
	c.add()
	c.add()
	for node := range c.nodes {
		if got := c.ask(node); !strings.Contains(got, want) {
			t.Errorf("node %d after the move: %s\nwant %s", node, got, want)
		}
	}
	if out := c.nodes[0].Run("facts", "reset"); out.Code != 0 {
		t.Fatalf("facts reset: %+v", out)
	}
	for node := range c.nodes {
		if got := c.ask(node); strings.Contains(got, want) {
			t.Errorf("node %d after the reset: %s", node, got)
		}
	}
	if out := c.nodes[1].Run("facts", "restore", backup); out.Code != 0 {
		t.Fatalf("facts restore: %+v", out)
	}
	for node := range c.nodes {
		if got := c.ask(node); !strings.Contains(got, want) {
			t.Errorf("node %d after the restore: %s\nwant %s", node, got, want)
		}
	}
	c.stop()
}

// send sends one click for a campaign of own data.
func (c *cluster) send(node int, name string, clicks int) {
	c.t.Helper()
	day := time.Now().UTC().AddDate(0, 0, -3).Format(time.DateOnly)
	c.must(node, http.MethodPost, "/v1/ingest/metrics?source=newsletter", fmt.Sprintf(`[{"date":%q,"channel":"email","campaign_name":%q,"clicks":%d}]`, day, name, clicks))
}

// clicks returns the clicks of campaigns, as a node returns them.
func (c *cluster) clicks(node int) string {
	c.t.Helper()
	day := time.Now().UTC().AddDate(0, 0, -3).Format(time.DateOnly)
	var answer struct {
		Data []struct {
			Dimensions map[string]string `json:"dimensions"`
			Metrics    map[string]int    `json:"metrics"`
		} `json:"data"`
	}
	decode(c.t, c.must(node, http.MethodPost, "/v1/analytics/query", fmt.Sprintf(`{"metrics":["clicks"],"dimensions":["campaign_name"],"date_range":{"start_date":%q,"end_date":%q}}`, day, day)), &answer)
	var list []string
	for _, row := range answer.Data {
		list = append(list, fmt.Sprintf("%s=%d", row.Dimensions["campaign_name"], row.Metrics["clicks"]))
	}
	slices.Sort(list)
	return strings.Join(list, " ")
}

// TestNamesAfterReset sends metrics again after a reset, in another order: nodes
// that knew the old ones give them the right names.
func TestNamesAfterReset(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2)
	for i, name := range []string{"A", "B", "C"} {
		c.send(0, name, i+1)
	}
	for node := range c.nodes {
		if got := c.clicks(node); got != "A=1 B=2 C=3" {
			t.Fatalf("node %d answers %s", node, got)
		}
	}
	if out := c.nodes[1].Run("facts", "reset"); out.Code != 0 {
		t.Fatalf("facts reset: %+v", out)
	}
	for _, i := range []int{2, 0, 1} {
		c.send(1, []string{"A", "B", "C"}[i], i+1)
	}
	for node := range c.nodes {
		if got := c.clicks(node); got != "A=1 B=2 C=3" {
			t.Errorf("node %d answers %s after the reset", node, got)
		}
	}
	c.stop()
}

// TestMetricsMovedAway moves the metrics to another database while a node runs:
// the node then acknowledges no write and answers no query from the old database.
func TestMetricsMovedAway(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 1)
	c.send(0, "A", 1)
	o := c.options("FANFARE_METRICS=" + pgtest.URL(t))
	if out := program.Run(t, program.Build(t), c.dir, program.Environ(append(o.Env, "FANFARE_DATA="+o.Data)...), "facts", "reset"); out.Code != 0 {
		t.Fatalf("facts reset: %+v", out)
	}
	day := time.Now().UTC().AddDate(0, 0, -3).Format(time.DateOnly)
	if status, body := c.nodes[0].Call(c.key, http.MethodPost, "/v1/ingest/metrics?source=newsletter", fmt.Sprintf(`[{"date":%q,"channel":"email","clicks":1}]`, day)); status != http.StatusServiceUnavailable || !strings.Contains(body, "moved to another database") {
		t.Errorf("metrics sent to the old place: %d %s", status, body)
	}
	c.await("queries to be refused", func() bool {
		status, _ := c.nodes[0].Call(c.key, http.MethodPost, "/v1/analytics/query", fmt.Sprintf(question, day, day))
		return status == http.StatusServiceUnavailable
	})
	c.stop()
}

// TestDroppedTables drops tables of the metrics: the remedy that the server names
// works.
func TestDroppedTables(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	c := newCluster(t, 1, "FANFARE_STORE="+url)
	c.send(0, "A", 1)
	db, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close(t.Context()) }()
	if _, err := db.Exec(t.Context(), "DROP TABLE metrics_base, metrics_source CASCADE"); err != nil {
		t.Fatal(err)
	}
	status, body := c.nodes[0].Call(c.key, http.MethodPost, "/v1/ingest/metrics?source=newsletter", `[{"date":"2026-10-01","channel":"email","clicks":1}]`)
	if status != http.StatusServiceUnavailable || !strings.Contains(body, "fanfare facts reset") {
		t.Errorf("without tables: %d %s", status, body)
	}
	if out := c.nodes[0].Run("facts", "reset"); out.Code != 0 {
		t.Fatalf("facts reset: %+v", out)
	}
	c.send(0, "B", 2)
	if got := c.clicks(0); got != "B=2" {
		t.Errorf("after the reset: %s", got)
	}
	c.stop()
}
