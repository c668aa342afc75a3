// Package damage_test removes files of the real server, replaces them by old
// and foreign ones and changes their bytes. The server must answer correctly,
// or report the problem and its fix.
package damage_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"fanfare/internal/store/pgtest"
	"fanfare/test/program"
)

func TestMain(m *testing.M) { pgtest.Main(m, program.Clean) }

const (
	// maxWait limits every wait; no test depends on how long something takes.
	maxWait = 10 * time.Minute
	// seedEnv repeats a drill.
	seedEnv = "FANFARE_DRILL_SEED"
	// records is the number of campaigns: enough for some hundred pages.
	records = 120
)

// rounds is how often each kind of damage is done, each time with other bytes.
func rounds() int {
	if os.Getenv("FANFARE_DRILL") == "full" {
		return 25
	}
	return 1
}

// testServer is a server with data that the test knows.
type testServer struct {
	t      *testing.T
	r      *rand.Rand
	seed   uint64
	data   string
	env    []string
	key    string
	server *program.Server
	// campaigns are all campaigns as they were acknowledged, by id.
	campaigns map[string]string
	// active are campaigns that can be paused.
	active []string
	// spend is the total spend of the facts.
	spend string
	// hasExtra says that the data of sendExtra is stored.
	hasExtra bool
}

// newTestServer starts a server for the first time and fills it.
func newTestServer(t *testing.T, env ...string) *testServer {
	t.Helper()
	return newTestServerIn(t, filepath.Join(t.TempDir(), "data"), env...)
}

// newTestServerIn is newTestServer with a data folder.
func newTestServerIn(t *testing.T, data string, env ...string) *testServer {
	t.Helper()
	s := &testServer{t: t, seed: rand.Uint64(), data: data, campaigns: map[string]string{}}
	if text := os.Getenv(seedEnv); text != "" {
		var err error
		if s.seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("%s: %v", seedEnv, err)
		}
	}
	s.r = rand.New(rand.NewPCG(s.seed, 0))
	s.env = append([]string{"FANFARE_LIMITS=starter=0/0/0,growth=0/0/0,enterprise=0/0/0"}, env...)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("seed %d", s.seed)
		}
	})
	s.start()
	out := s.server.Run("workspace", "create", "--name", "Damage", "--owner", "owner@example.com", "--plan", "enterprise", "--json")
	var made struct {
		Key string `json:"api_key"`
	}
	if err := json.Unmarshal([]byte(out.Out), &made); err != nil || made.Key == "" {
		t.Fatalf("create a workspace: %v %+v", err, out)
	}
	s.key = made.Key
	for i := range records {
		s.create(i)
	}
	s.ingest("100.25")
	if status, body := s.query(); status != http.StatusOK || spendIn(body) == "" {
		t.Fatalf("the first query: %d %s", status, body)
	} else {
		s.spend = spendIn(body)
	}
	return s
}

func (s *testServer) start() {
	s.t.Helper()
	s.server = program.Start(s.t, program.Options{Data: s.data, Env: s.env})
}

// startAnyway starts the server and waits until it answers, ready or not.
func (s *testServer) startAnyway() {
	s.t.Helper()
	s.server = program.Launch(s.t, program.Options{Data: s.data, Env: s.env})
	s.await("an answer of the server", func() bool {
		if s.server.Ended() {
			s.t.Fatalf("the server ended with code %d:\n%s", s.server.Wait(), s.server.Log)
		}
		if !s.server.FindAddress() {
			return false
		}
		res, _, err := s.server.Try(s.server.Client(), "", http.MethodGet, "/healthz", "")
		return err == nil && res.StatusCode == http.StatusOK
	})
}

// stopDamaged stops a server on a damaged database. The server may report
// changes in memory that it cannot write.
func (s *testServer) stopDamaged() {
	s.t.Helper()
	s.server.Signal(syscall.SIGTERM)
	if code := s.server.Wait(); code != 75 && code != 0 {
		s.t.Errorf("the server ended with code %d, want 75 or 0", code)
	}
}

func (s *testServer) await(what string, done func() bool) {
	s.t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(maxWait); time.Now().Before(end); <-tick.C {
		if done() {
			return
		}
	}
	s.t.Fatalf("%s did not come within %s:\n%s", what, maxWait, s.server.Log)
}

// create creates a campaign and launches every tenth one.
func (s *testServer) create(i int) {
	s.t.Helper()
	body := fmt.Sprintf(`{"name":"Campaign number %d","description":%q,"channels":["search"],"tags":["t%d"]}`, i, strings.Repeat(fmt.Sprintf("Text %d. ", i), 60), i)
	status, text := s.server.Call(s.key, http.MethodPost, "/v1/campaigns", body)
	if status != http.StatusCreated {
		s.t.Fatalf("create a campaign: %d %s", status, text)
	}
	id := memberOf(text, "id")
	if i%10 == 0 {
		if status, text = s.server.Call(s.key, http.MethodPost, "/v1/campaigns/"+id+"/launch", ""); status != http.StatusOK {
			s.t.Fatalf("launch a campaign: %d %s", status, text)
		}
		s.active = append(s.active, id)
	}
	s.campaigns[id] = dataOf(text)
}

// ingest sends own data: one amount for each of 20 days.
func (s *testServer) ingest(spend string) {
	s.t.Helper()
	var rows []string
	for day := range 20 {
		rows = append(rows, fmt.Sprintf(`{"date":"2026-10-%02d","channel":"email","campaign_name":"Welcome","clicks":7,"spend":%s}`, day+1, spend))
	}
	status, text := s.server.Call(s.key, http.MethodPost, "/v1/ingest/metrics?source=newsletter", "["+strings.Join(rows, ",")+"]")
	if status != http.StatusOK {
		s.t.Fatalf("ingest: %d %s", status, text)
	}
}

func (s *testServer) query() (int, string) {
	s.t.Helper()
	return s.server.Call(s.key, http.MethodPost, "/v1/analytics/query", `{"metrics":["spend","clicks"],"date_range":{"start_date":"2026-10-01","end_date":"2026-10-31"}}`)
}

// spendIn returns the spend in an answer to query.
func spendIn(body string) string {
	var v struct {
		Data []struct {
			Metrics struct {
				Spend jsontext.Value `json:"spend"`
			} `json:"metrics"`
		} `json:"data"`
	}
	if err := json.Unmarshal([]byte(body), &v); err != nil || len(v.Data) != 1 {
		return ""
	}
	return string(v.Data[0].Metrics.Spend)
}

func dataOf(body string) string {
	var v struct {
		Data jsontext.Value `json:"data"`
	}
	if json.Unmarshal([]byte(body), &v) != nil {
		return ""
	}
	return string(v.Data)
}

func memberOf(body, name string) string {
	var v struct {
		Data map[string]any `json:"data"`
	}
	if json.Unmarshal([]byte(body), &v) != nil {
		return ""
	}
	text, _ := v.Data[name].(string)
	return text
}

// inspection is the result of inspect.
type inspection struct {
	ready, create, pause, query int
	// readable and refused are the numbers of campaigns that were read
	// correctly, and not at all.
	readable, refused int
	doctor, backup    program.Result
	refusal, answer   string
}

// inspect reads and writes all data that the test knows. Every answer with
// status 200 must be correct, and every answer JSON.
func (s *testServer) inspect() inspection {
	s.t.Helper()
	var v inspection
	v.ready, _ = s.call(http.MethodGet, "/readyz", "")
	next := "/v1/campaigns?limit=25"
	for next != "" {
		status, body := s.call(http.MethodGet, next, "")
		if status != http.StatusOK {
			break
		}
		var page struct {
			Data   []jsontext.Value `json:"data"`
			Cursor *string          `json:"next_cursor"`
		}
		if err := json.Unmarshal([]byte(body), &page); err != nil {
			s.t.Fatal(err)
		}
		for _, d := range page.Data {
			s.compare(string(d))
		}
		next = ""
		if page.Cursor != nil {
			next = "/v1/campaigns?limit=25&cursor=" + *page.Cursor
		}
	}
	for id := range s.campaigns {
		status, body := s.call(http.MethodGet, "/v1/campaigns/"+id, "")
		if status != http.StatusOK {
			v.refused++
			continue
		}
		s.compare(dataOf(body))
		v.readable++
	}
	v.query, v.answer = s.query()
	if v.query == http.StatusOK && !strings.Contains(v.answer, `"warnings":[{`) && spendIn(v.answer) != s.spend {
		s.t.Errorf("the query answers %s without a warning, the spend is %s", v.answer, s.spend)
	}
	v.create, v.refusal = s.call(http.MethodPost, "/v1/campaigns", `{"name":"After the damage"}`)
	v.pause, _ = s.call(http.MethodPost, "/v1/campaigns/"+s.active[0]+"/pause", "")
	if v.pause == http.StatusOK {
		delete(s.campaigns, s.active[0])
		s.active = s.active[1:]
	}
	v.doctor = s.server.Run("doctor")
	v.backup = s.server.Run("backup", "create", filepath.Join(s.t.TempDir(), "backup"))
	return v
}

// call sends a request whose answer must be JSON.
func (s *testServer) call(method, path, body string) (int, string) {
	s.t.Helper()
	status, text := s.server.Call(s.key, method, path, body)
	if !jsontext.Value(text).IsValid() {
		s.t.Errorf("%s %s: status %d with a body that is no JSON: %.200q", method, path, status, text)
	}
	return status, text
}

// compare checks that a campaign is as it was acknowledged.
func (s *testServer) compare(data string) {
	s.t.Helper()
	var v struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal([]byte(data), &v); err != nil {
		s.t.Errorf("a campaign is %.200q: %v", data, err)
		return
	}
	if want, known := s.campaigns[v.ID]; known && want != data {
		s.t.Errorf("%s is\n%s, acknowledged was\n%s", v.ID, data, want)
	}
}

// mustContain fails the test unless the text has all parts.
func (s *testServer) mustContain(text string, parts ...string) {
	s.t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			s.t.Errorf("no %q in:\n%s", p, text)
		}
	}
}

// edit changes a file of the data folder.
func (s *testServer) edit(name string, change func(b []byte) []byte) {
	s.t.Helper()
	path := filepath.Join(s.data, name)
	b, err := os.ReadFile(path)
	if err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(path, change(b), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// textOffsets returns the offsets of a text in the bytes, in random order.
func (s *testServer) textOffsets(b []byte, text string) (list []int) {
	for from := 0; ; {
		i := bytes.Index(b[from:], []byte(text))
		if i < 0 {
			break
		}
		list = append(list, from+i)
		from += i + 1
	}
	s.r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list
}

func contains(text string, parts ...string) bool {
	for _, p := range parts {
		if !strings.Contains(text, p) {
			return false
		}
	}
	return true
}
