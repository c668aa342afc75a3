package damage_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"fanfare/test/program"
)

// The matrix: every file of a data folder, everything that may happen to it,
// after a clean stop and after kill -9.
var (
	matrixFiles = []string{"fanfare.db", "fanfare.db-wal", "fanfare.db-audit", "facts.duckdb", "facts.duckdb.wal"}
	matrixFates = []string{"missing", "older", "of a copied folder", "truncated", "one byte changed"}
	matrixEnds  = []string{"clean stop", "kill"}
)

// TestDrillMatrix damages one file in one way and starts the server. Then every
// answer is correct, or the answer, /readyz or doctor reports the damage.
func TestDrillMatrix(t *testing.T) {
	t.Parallel()
	m := newMatrix(t)
	for _, file := range matrixFiles {
		for _, fate := range matrixFates {
			for _, end := range matrixEnds {
				t.Run(strings.Join([]string{file, fate, end}, ", "), func(t *testing.T) {
					for range max(1, rounds()/5) {
						m.damageAndCheck(t, file, fate, end)
						if fate != "one byte changed" && fate != "truncated" {
							break // nothing in it is random
						}
					}
				})
			}
		}
	}
}

// matrix has data folders of the same installation, by how the server ended.
type matrix struct {
	// current has the latest data, older earlier data, and copied the data of a
	// copied folder that another server used.
	current, older, copied map[string]*testServer
}

func newMatrix(t *testing.T) *matrix {
	t.Helper()
	m := &matrix{current: map[string]*testServer{}, older: map[string]*testServer{}, copied: map[string]*testServer{}}
	s := newTestServer(t)
	s.server.Stop()
	m.older["clean stop"] = s.clone()
	other := s.clone()
	// grow writes records and facts, of which some are in the logs.
	grow := func(s *testServer, from int, spend string) {
		t.Helper()
		s.start()
		for i := range 15 {
			s.create(from + i)
		}
		s.sendExtra(spend)
		_, body := s.query()
		s.spend = spendIn(body)
	}
	grow(other, 1001, "7000")
	other.server.Stop()
	m.copied["clean stop"] = other.clone()
	grow(other, 1101, "7001")
	other.server.Kill()
	m.copied["kill"] = other
	grow(s, 2001, "3000")
	s.server.Kill()
	m.older["kill"] = s.clone()
	grow(s, 2101, "3001")
	s.server.Stop()
	m.current["clean stop"] = s.clone()
	grow(s, 2201, "3002")
	s.server.Kill()
	m.current["kill"] = s
	return m
}

// damageAndCheck damages a copy of a folder and checks the answers of the
// server.
func (m *matrix) damageAndCheck(t *testing.T, file, fate, end string) {
	t.Helper()
	from := *m.current[end]
	from.t = t
	s := from.clone()
	path := filepath.Join(s.data, file)
	switch fate {
	case "missing":
		if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	case "older", "of a copied folder":
		source := m.older[end]
		if fate != "older" {
			source = m.copied[end]
		}
		if _, err := os.Stat(filepath.Join(source.data, file)); err != nil {
			source = map[string]*testServer{"older": m.older["kill"], "of a copied folder": m.copied["kill"]}[fate] // a log
		}
		s.copyFile(filepath.Join(source.data, file), path)
	default:
		b, err := os.ReadFile(path)
		if os.IsNotExist(err) {
			return // a clean stop leaves no log
		}
		if err != nil || len(b) < 2 {
			t.Fatalf("%s has %d bytes: %v", file, len(b), err)
		}
		if at := s.r.IntN(len(b)); fate == "truncated" {
			b = b[:at]
		} else {
			b[at] ^= byte(1 + s.r.IntN(255))
		}
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s.checkNoWrongAnswers()
}

// checkNoWrongAnswers starts the server and fails the test if an answer is
// wrong and neither the answer nor /readyz nor doctor says so.
func (s *testServer) checkNoWrongAnswers() {
	s.t.Helper()
	s.server = program.Launch(s.t, program.Options{Data: s.data, Env: s.env})
	s.await("an answer of the server", func() bool {
		return s.server.Ended() || s.server.FindAddress() && s.isAnswering()
	})
	if s.server.Ended() {
		if code := s.server.Wait(); code == 0 || !strings.Contains(s.server.Log.String(), "fanfare: ") {
			s.t.Errorf("the server ended with code %d:\n%s", code, s.server.Log)
		}
		s.t.Log("the server does not start")
		return
	}
	wrongRecords, wrongFacts := s.wrongAnswers()
	readyStatus, ready := s.call(http.MethodGet, "/readyz", "")
	told := ""
	switch {
	case readyStatus != http.StatusOK:
		told = "not ready"
	case strings.Contains(ready, "changes_lost"):
		told = "changes_lost"
	}
	doctor := s.server.Run("doctor")
	s.t.Logf("records %q, facts %q, ready %d %q, doctor %d", wrongRecords, wrongFacts, readyStatus, told, doctor.Code)
	if wrongRecords != "" && told == "" {
		s.t.Errorf("records are wrong and nobody is told: %s\n%s", wrongRecords, doctor.Out)
	}
	if wrongFacts != "" && told == "" && doctor.Code == 0 {
		s.t.Errorf("metrics are wrong and nobody is told: %s\n%s", wrongFacts, doctor.Out)
	}
	s.server.Kill()
}

func (s *testServer) isAnswering() bool {
	res, _, err := s.server.Try(s.server.Client(), "", http.MethodGet, "/healthz", "")
	return err == nil && res.StatusCode == http.StatusOK
}

// wrongAnswers compares answers with status 200, or that a record is missing,
// with the acknowledged data. An error answer is not wrong.
func (s *testServer) wrongAnswers() (records, facts string) {
	s.t.Helper()
	listed := map[string]bool{}
	complete := true
	for next := "/v1/campaigns?limit=100"; next != ""; {
		status, body := s.call(http.MethodGet, next, "")
		var page struct {
			Data []struct {
				ID string `json:"id"`
			} `json:"data"`
			Cursor   *string `json:"next_cursor"`
			Warnings []any   `json:"warnings"`
		}
		if err := json.Unmarshal([]byte(body), &page); err != nil {
			s.t.Fatal(err)
		}
		for _, d := range page.Data {
			listed[d.ID] = true
		}
		next = ""
		switch {
		case status == http.StatusUnauthorized:
			records = "the key is unknown"
		case status != http.StatusOK || len(page.Warnings) > 0:
			complete = false
		case page.Cursor != nil:
			next = "/v1/campaigns?limit=100&cursor=" + *page.Cursor
		}
	}
	for id, want := range s.campaigns {
		status, body := s.call(http.MethodGet, "/v1/campaigns/"+id, "")
		switch {
		case status == http.StatusNotFound:
			records = id + " is missing"
		case status == http.StatusOK && dataOf(body) != want:
			records = fmt.Sprintf("%s is %s", id, dataOf(body))
		case complete && !listed[id] && records == "":
			records = id + " is not in the list"
		}
	}
	status, body := s.query()
	if status == http.StatusOK && !strings.Contains(body, `"warnings":[{`) && spendIn(body) != s.spend {
		facts = spendIn(body) + " instead of " + s.spend
	}
	return records, facts
}
