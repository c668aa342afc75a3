package nodes_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"fanfare/internal/metrics/clickhouse/chtest"
	"fanfare/internal/store/pgtest"
	"fanfare/test/program"
)

// migration is an installation that moves between stores.
type migration struct {
	*cluster
	paths []string
}

// newMigration starts a server on SQLite and DuckDB and fills it: a campaign, a
// picture, metrics, a model with a key.
func newMigration(t *testing.T) *migration {
	t.Helper()
	m := &migration{cluster: &cluster{t: t, dir: t.TempDir(), env: []string{"FANFARE_LIMITS=starter=0/0/0,growth=0/0/0,enterprise=0/0/0"}}}
	m.add()
	m.createWorkspace()
	campaign := m.must(0, http.MethodPost, "/v1/campaigns", `{"name":"Spring"}`)
	day := time.Now().UTC().AddDate(0, 0, -3).Format(time.DateOnly)
	m.must(0, http.MethodPost, "/v1/ingest/metrics?source=newsletter", fmt.Sprintf(`[{"date":%q,"channel":"email","campaign_name":"Welcome","clicks":7,"spend":1.25}]`, day))
	picture := member(m.upload(`<svg xmlns="http://www.w3.org/2000/svg"><rect/></svg>`), "id")
	file := filepath.Join(m.dir, "model-key")
	if err := os.WriteFile(file, []byte("sk-test-1234567890"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out := m.nodes[0].Run("provider", "set", "openai", "--model", "m", "--base-url", "http://127.0.0.1:1/v1", "--key-file", file); out.Code != 0 {
		t.Fatalf("set a model: %+v", out)
	}
	m.paths = []string{"/v1/campaigns", "/v1/campaigns/" + member(campaign, "id"), "/v1/assets/" + picture, "/v1/connections", "/v1/events"}
	return m
}

func (m *migration) upload(drawing string) string {
	m.t.Helper()
	req, err := http.NewRequest(http.MethodPost, m.nodes[0].URL+"/v1/assets", strings.NewReader(drawing))
	if err != nil {
		m.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+m.key)
	req.Header.Set("Content-Type", "image/svg+xml")
	res, err := m.nodes[0].Client().Do(req)
	if err != nil {
		m.t.Fatal(err)
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusCreated {
		m.t.Fatalf("upload: got %s", res.Status)
	}
	_, id, _ := strings.Cut(res.Header.Get("Location"), "/v1/assets/")
	return fmt.Sprintf(`{"data":{"id":%q}}`, id)
}

// answers returns what a node answers about everything.
func (m *migration) answers(node int) map[string]string {
	m.t.Helper()
	list := map[string]string{"metrics": m.ask(node)}
	for _, path := range m.paths {
		list[path] = m.must(node, http.MethodGet, path, "")
		if d := data(list[path]); d != "" {
			list[path] = d // without the time and the id of the request
		}
	}
	out := m.nodes[node].Run("audit", "verify")
	if out.Code != 0 {
		m.t.Errorf("audit: %+v", out)
	}
	return list
}

// same compares the answers of a node with those before.
func (m *migration) same(node int, want map[string]string) {
	m.t.Helper()
	for what, got := range m.answers(node) {
		if got != want[what] {
			m.t.Errorf("%s on node %d: %s\nwant %s", what, node, got, want[what])
		}
	}
	if out := m.nodes[node].Run("master-key", "rotate"); out.Code != 0 || !strings.Contains(out.Out, `"rewrapped":1`) {
		m.t.Errorf("the stored secret cannot be opened on node %d: %+v", node, out)
	}
}

// refusesUnfinished checks that no server starts while a copy has its mark.
func (m *migration) refusesUnfinished(url string, o program.Options) {
	m.t.Helper()
	db, err := pgx.Connect(m.t.Context(), url)
	if err != nil {
		m.t.Fatal(err)
	}
	defer func() { _ = db.Close(m.t.Context()) }()
	if _, err := db.Exec(m.t.Context(), "INSERT INTO setting VALUES ('unfinished_copy', '{}', 1)"); err != nil {
		m.t.Fatal(err)
	}
	s := program.Launch(m.t, o)
	if code := s.Wait(); code != 78 || !strings.Contains(s.Log.String(), "run the same `fanfare migrate-store` command again") {
		m.t.Errorf("a server with an unfinished copy ended with %d:\n%s", code, s.Log)
	}
	if _, err := db.Exec(m.t.Context(), "DELETE FROM setting WHERE name = 'unfinished_copy'"); err != nil {
		m.t.Fatal(err)
	}
}

// environ returns the environment of a command on a data folder.
func (m *migration) environ(data string, env ...string) []string {
	return program.Environ(append(append(m.env, "FANFARE_DATA="+data), env...)...)
}

// TestMigrateStore moves an installation from SQLite and DuckDB to nodes on
// PostgreSQL, with metrics there or in ClickHouse, and back. The API answers the
// same.
func TestMigrateStore(t *testing.T) {
	t.Parallel()
	for name, metrics := range map[string]func(testing.TB) string{"postgres": func(testing.TB) string { return "" }, "clickhouse": chtest.URL} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMigration(t)
			want, source, url := m.answers(0), m.nodes[0].Data, pgtest.URL(t)
			args := []string{"migrate-store", "--to-store", url, "--to-assets", filepath.Join(m.dir, "assets")}
			server := []string{"FANFARE_STORE=" + url, "FANFARE_ASSETS=" + filepath.Join(m.dir, "assets")}
			if url := metrics(t); url != "" {
				args, server = append(args, "--to-metrics", url), append(server, "FANFARE_METRICS="+url)
			}
			run := func(code int, data string, env []string, args ...string) program.Result {
				t.Helper()
				out := program.Run(t, program.Build(t), m.dir, m.environ(data, env...), args...)
				if out.Code != code {
					t.Fatalf("%v: got code %d want %d\n%s%s", args, out.Code, code, out.Out, out.Errors)
				}
				return out
			}
			if out := run(6, source, nil, args...); !strings.Contains(out.Errors, "stop it first") {
				t.Errorf("with a running server: %+v", out)
			}
			m.nodes[0].Stop()
			out := run(0, source, nil, args...)
			for _, text := range []string{"campaign", "same", "fanfare serve", "--store postgres://", "master.key"} {
				if !strings.Contains(out.Out, text) {
					t.Errorf("got %q want %q in it", out.Out, text)
				}
			}
			if !strings.Contains(out.Errors, "copy records: 100 %") || strings.Contains(out.Out, "DIFFERS") {
				t.Errorf("got %+v", out)
			}
			run(6, source, nil, args...)
			// The folder with the master key is that of the first node.
			o := program.Options{Data: source, Env: append(m.env, server...)}
			m.refusesUnfinished(url, o)
			m.nodes = append(m.nodes, program.Start(t, o))
			m.same(1, want)
			back := filepath.Join(m.dir, "back")
			if out := run(6, filepath.Join(m.dir, "other"), server, "migrate-store", "--to-data", back); !strings.Contains(out.Errors, "stop all nodes") {
				t.Errorf("with a running node: %+v", out)
			}
			m.nodes[1].Stop()
			run(0, source, server, "migrate-store", "--to-data", back)
			m.nodes = append(m.nodes, program.Start(t, program.Options{Data: back, Env: m.env}))
			m.same(2, want)
			m.nodes[2].Stop()
		})
	}
}

// TestDrillMigrateStoreKilled kills the command at random moments and runs it
// again, until it is done. A server refuses the unfinished copy.
func TestDrillMigrateStoreKilled(t *testing.T) {
	t.Parallel()
	kills := 3
	if os.Getenv("FANFARE_DRILL") == "full" {
		kills = 50
	}
	m := newMigration(t)
	for i := range 300 {
		m.must(0, http.MethodPost, "/v1/campaigns", fmt.Sprintf(`{"name":"Campaign %d"}`, i))
	}
	want, source, url := m.answers(0), m.nodes[0].Data, pgtest.URL(t)
	m.nodes[0].Stop()
	data := filepath.Join(m.dir, "nodes")
	args := []string{"migrate-store", "--to-store", url, "--to-data", data}
	start := time.Now()
	// The longest moment is one in which the command could be done.
	longest := 500 * time.Millisecond
	for range kills {
		cmd := exec.Command(program.Build(t), args...)
		cmd.Dir, cmd.Env = m.dir, m.environ(source)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		timer := time.AfterFunc(rand.N(longest), func() { _ = cmd.Process.Signal(syscall.SIGKILL) })
		if err := cmd.Wait(); err == nil {
			break // it was done before
		}
		timer.Stop()
		longest += 100 * time.Millisecond
	}
	out := program.Run(t, program.Build(t), m.dir, m.environ(source), args...)
	if out.Code != 0 && !strings.Contains(out.Errors, "is not empty") {
		t.Fatalf("after %s: %+v", time.Since(start), out)
	}
	m.nodes = append(m.nodes, program.Start(t, program.Options{Data: data, Env: append(m.env, "FANFARE_STORE="+url)}))
	m.same(1, want)
	m.nodes[1].Stop()
}
