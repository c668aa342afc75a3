// Package nodes_test runs several nodes of the real server on one PostgreSQL
// database. A caller must not notice which node answers.
package nodes_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fanfare/internal/metrics/clickhouse/chtest"
	"fanfare/internal/store/pgtest"
	"fanfare/test/program"
)

func TestMain(m *testing.M) {
	chtest.Serve()
	pgtest.Main(m, program.Clean, chtest.Stop)
}

// maxWait limits every wait; no test depends on how long something takes.
const maxWait = 10 * time.Minute

// cluster is an installation of several nodes. They share a database, the folder
// of assets and the master key.
type cluster struct {
	t     *testing.T
	dir   string
	env   []string
	nodes []*program.Server
	key   string
}

// newCluster starts nodes on a new database and creates a workspace.
func newCluster(t *testing.T, nodes int, env ...string) *cluster {
	t.Helper()
	dir := t.TempDir()
	c := &cluster{t: t, dir: dir, env: append([]string{
		"FANFARE_STORE=" + pgtest.URL(t), "FANFARE_ASSETS=" + filepath.Join(dir, "assets"), "FANFARE_MASTER_KEY=" + filepath.Join(dir, "master.key"),
		"FANFARE_LIMITS=starter=0/0/0,growth=0/0/0,enterprise=0/0/0",
	}, env...)}
	for range nodes {
		c.add()
	}
	c.createWorkspace()
	return c
}

func (c *cluster) createWorkspace() {
	c.t.Helper()
	out := c.nodes[0].Run("workspace", "create", "--name", "Nodes", "--owner", "owner@example.com", "--plan", "enterprise", "--json")
	var made struct {
		Key string `json:"api_key"`
	}
	if err := json.Unmarshal([]byte(out.Out), &made); err != nil || made.Key == "" {
		c.t.Fatalf("create a workspace: %v %+v", err, out)
	}
	c.key = made.Key
}

// add starts one more node.
func (c *cluster) add(env ...string) {
	c.t.Helper()
	c.nodes = append(c.nodes, program.Start(c.t, c.options(env...)))
}

func (c *cluster) options(env ...string) program.Options {
	return program.Options{Data: filepath.Join(c.dir, fmt.Sprintf("node%d", len(c.nodes))), Env: append(c.env, env...)}
}

// stop stops all nodes.
func (c *cluster) stop() {
	for _, n := range c.nodes {
		n.Stop()
	}
}

// must calls a node and returns the body of a successful answer.
func (c *cluster) must(node int, method, path, body string) string {
	c.t.Helper()
	status, text := c.nodes[node].Call(c.key, method, path, body)
	if status >= 300 {
		c.t.Fatalf("node %d: %s %s: %d %s", node, method, path, status, text)
	}
	return text
}

func (c *cluster) await(what string, done func() bool) {
	c.t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(maxWait); time.Now().Before(end); <-tick.C {
		if done() {
			return
		}
	}
	c.t.Fatalf("%s did not come within %s", what, maxWait)
}

// data returns the data of an answer as text.
func data(body string) string {
	var v struct {
		Data json.RawMessage `json:"data"`
	}
	_ = json.Unmarshal([]byte(body), &v)
	return string(v.Data)
}

// member returns a text of the data of an answer.
func member(body, name string) string {
	var v struct {
		Data map[string]any `json:"data"`
	}
	_ = json.Unmarshal([]byte(body), &v)
	text, _ := v.Data[name].(string)
	return text
}

const question = `{"metrics":["spend","clicks","impressions"],"dimensions":["channel"],"granularity":"day","date_range":{"start_date":%q,"end_date":%q}}`

// ask asks a node for the metrics of the last 30 days.
func (c *cluster) ask(node int) string {
	c.t.Helper()
	today := time.Now().UTC()
	return data(c.must(node, http.MethodPost, "/v1/analytics/query", fmt.Sprintf(question, today.AddDate(0, 0, -30).Format(time.DateOnly), today.AddDate(0, 0, -1).Format(time.DateOnly))))
}

// TestMetricsOfAllNodes stores metrics through one node, by a sync and by
// calls, and queries them on the other.
func TestMetricsOfAllNodes(t *testing.T) {
	t.Parallel()
	for name, metrics := range map[string]func(testing.TB) string{"postgres": func(testing.TB) string { return "" }, "clickhouse": chtest.URL} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			metricsOfAllNodes(t, "FANFARE_METRICS="+metrics(t))
		})
	}
}

func metricsOfAllNodes(t *testing.T, env ...string) {
	t.Helper()
	c := newCluster(t, 2, append(env, "FANFARE_HISTORY_DAYS=90")...)
	connection := "/v1/connections/" + member(c.must(0, http.MethodPost, "/v1/connections", `{"platform":"sandbox","name":"Sandbox","config":{"seed":7}}`), "id")
	synced := func() bool {
		body := c.must(1, http.MethodGet, connection, "")
		return strings.Contains(body, `"state":"idle"`) && !strings.Contains(body, `"last_success_at":null`)
	}
	c.await("the first sync", synced)
	first := c.ask(0)
	if first == "[]" || c.ask(1) != first {
		t.Fatalf("the nodes answer\n%.300s\n%.300s", first, c.ask(1))
	}
	day := time.Now().UTC().AddDate(0, 0, -3).Format(time.DateOnly)
	for node := range c.nodes {
		other := 1 - node
		c.must(node, http.MethodPost, "/v1/ingest/metrics?source=newsletter", fmt.Sprintf(`[{"date":%q,"channel":"email","campaign_name":"Welcome %d","clicks":7,"spend":1.25}]`, day, node))
		if a, b := c.ask(node), c.ask(other); a != b || a == first {
			t.Errorf("after metrics through node %d the nodes answer\n%.300s\n%.300s", node, a, b)
		}
		first = c.ask(other)
	}
	c.must(1, http.MethodDelete, connection+"?purge=true", "")
	if a, b := c.ask(0), c.ask(1); a != b || a == first {
		t.Errorf("after a purge the nodes answer\n%.300s\n%.300s", a, b)
	}
	c.stop()
	for i := range c.nodes {
		if _, err := os.Stat(filepath.Join(c.dir, fmt.Sprintf("node%d", i), "facts.duckdb")); err == nil {
			t.Errorf("node %d has a facts file", i)
		}
	}
}

// TestMetricsElsewhere starts nodes whose metrics are not those of the store.
func TestMetricsElsewhere(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 1)
	for _, setting := range []string{"FANFARE_METRICS=duckdb", "FANFARE_METRICS=" + pgtest.URL(t)} {
		o := c.options(setting)
		s := program.Launch(t, o)
		if setting == "FANFARE_METRICS=duckdb" {
			// Campaigns work; metrics are answered with the reason.
			c.await("an answer", s.FindAddress)
			c.await("an answer", func() bool {
				res, body, err := s.Try(s.Client(), c.key, http.MethodPost, "/v1/analytics/query", fmt.Sprintf(question, "2026-10-01", "2026-10-02"))
				return err == nil && res.StatusCode == http.StatusServiceUnavailable && strings.Contains(body, "without `--metrics duckdb`")
			})
			s.Stop()
			continue
		}
		if code := s.Wait(); code == 0 || !strings.Contains(s.Log.String(), "in another place") || !strings.Contains(s.Log.String(), "fanfare facts restore") {
			t.Errorf("%s: ended with code %d:\n%s", setting, code, s.Log)
		}
	}
	c.stop()
}

// TestOtherMasterKey starts nodes that have no master key, or another one than the
// first node.
func TestOtherMasterKey(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 1)
	other := filepath.Join(c.dir, "other.key")
	o := c.options("FANFARE_MASTER_KEY=" + other)
	s := program.Launch(t, o)
	if code := s.Wait(); code == 0 || !strings.Contains(s.Log.String(), "copy the file of another node") {
		t.Errorf("a node without the key ended with %d:\n%s", code, s.Log)
	}
	if _, err := os.Stat(other); err == nil {
		t.Error("the node created a key")
	}
	// A key of another installation.
	alone := program.Start(t, program.Options{Data: filepath.Join(c.dir, "alone"), Env: []string{"FANFARE_MASTER_KEY=" + other}})
	alone.Stop()
	s = program.Launch(t, o)
	if code := s.Wait(); code == 0 || !strings.Contains(s.Log.String(), "not that of this installation") {
		t.Errorf("a node with another key ended with %d:\n%s", code, s.Log)
	}
	// The way out when the key is lost.
	c.stop()
	if out := program.Run(t, program.Build(t), c.dir, program.Environ(append(o.Env, "FANFARE_DATA="+o.Data)...), "master-key", "accept"); out.Code != 0 {
		t.Fatalf("accept: %+v", out)
	}
	program.Start(t, o).Stop()
}

// TestRotateMasterKey rotates the key on one node: the other, which shares the
// file, seals and reads with the new one.
func TestRotateMasterKey(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2)
	file := filepath.Join(c.dir, "model-key")
	if err := os.WriteFile(file, []byte("sk-test-1234567890"), 0o600); err != nil {
		t.Fatal(err)
	}
	set := func(node int) {
		t.Helper()
		if out := c.nodes[node].Run("provider", "set", "openai", "--model", "m", "--base-url", "http://127.0.0.1:1/v1", "--key-file", file); out.Code != 0 {
			t.Fatalf("set a model on node %d: %+v", node, out)
		}
	}
	set(1)
	for _, node := range []int{0, 1, 0} {
		if out := c.nodes[node].Run("master-key", "rotate"); out.Code != 0 || !strings.Contains(out.Out, `"rewrapped":1`) {
			t.Fatalf("rotate on node %d: %+v", node, out)
		}
		set(1 - node)
	}
	c.stop()
}

func decode(t *testing.T, body string, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(body), into); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
}
