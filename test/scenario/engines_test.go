package scenario

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"fanfare/internal/store/pgtest"
	"fanfare/test/program"
)

// TestMoveBetweenEngines moves an installation from SQLite to PostgreSQL and
// back with backups and checks that no data is lost.
func TestMoveBetweenEngines(t *testing.T) {
	t.Parallel()
	first := program.Start(t, program.Options{})
	var w struct {
		APIKey string `json:"api_key"`
	}
	res := first.Run("workspace", "create", "--name", "Acme", "--owner", "ada@example.com", "--json")
	if err := json.Unmarshal([]byte(res.Out), &w); err != nil {
		t.Fatalf("%v: %s", err, res.Errors)
	}
	for _, name := range []string{"Spring", "Sömmer 🌞"} {
		if status, body := first.Call(w.APIKey, http.MethodPost, "/v1/campaigns", `{"name": "`+name+`"}`); status != http.StatusCreated {
			t.Fatalf("got %d: %s", status, body)
		}
	}
	list := func(s *program.Server, path string) string {
		t.Helper()
		status, body := s.Call(w.APIKey, http.MethodGet, path, "")
		if status != http.StatusOK {
			t.Fatalf("got %d: %s", status, body)
		}
		return body
	}
	campaigns, events := list(first, "/v1/campaigns"), list(first, "/v1/events")
	file := filepath.Join(t.TempDir(), "first.backup")
	backup(t, first, file)
	first.Stop()

	for _, env := range [][]string{{"FANFARE_STORE=" + pgtest.URL(t)}, nil} {
		data := filepath.Join(t.TempDir(), "data")
		settings := append([]string{"FANFARE_DATA=" + data, "FANFARE_LISTEN=127.0.0.1:0"}, env...)
		if res := program.Run(t, program.Build(t), t.TempDir(), settings, "doctor"); res.Code != 0 || env != nil && !strings.Contains(res.Out, "does not exist yet") {
			t.Errorf("doctor of the empty place: got code %d: %s", res.Code, res.Out)
		}
		if res := program.Run(t, program.Build(t), t.TempDir(), settings, "backup", "restore", file); res.Code != 0 {
			t.Fatalf("restore: got code %d: %s", res.Code, res.Errors)
		}
		s := program.Start(t, program.Options{Data: data, Env: env})
		if got := list(s, "/v1/campaigns"); got != campaigns {
			t.Errorf("got %s want %s", got, campaigns)
		}
		if got := list(s, "/v1/events"); got != events {
			t.Errorf("got %s want %s", got, events)
		}
		if res := s.Run("audit", "verify"); res.Code != 0 {
			t.Errorf("got code %d: %s", res.Code, res.Out)
		}
		if res := s.Run("doctor"); res.Code != 0 {
			t.Errorf("doctor: got code %d: %s", res.Code, res.Out)
		}
		file = filepath.Join(t.TempDir(), "next.backup")
		backup(t, s, file)
		s.Stop()
	}
}

func backup(t *testing.T, s *program.Server, file string) {
	t.Helper()
	if res := s.Run("backup", "create", file); res.Code != 0 {
		t.Fatalf("backup: got code %d: %s", res.Code, res.Errors)
	}
}

// TestClockSkew checks that the server refuses to start if its clock differs
// from the database's.
func TestClockSkew(t *testing.T) {
	t.Parallel()
	env := []string{"FANFARE_STORE=" + pgtest.URL(t), "FANFARE_DATA=" + filepath.Join(t.TempDir(), "data"), "FANFARE_LISTEN=127.0.0.1:0"}
	binary := program.Build(t)
	if res := program.Run(t, binary, t.TempDir(), env, "migrate"); res.Code != 0 {
		t.Fatalf("got code %d: %s", res.Code, res.Errors)
	}
	for _, skew := range []string{"6m", "-6m"} {
		for _, command := range []string{"serve", "doctor"} {
			res := program.Run(t, binary, t.TempDir(), append(env, "FANFARE_CLOCK_SKEW="+skew), command)
			if text := res.Out + res.Errors; res.Code != 78 || !strings.Contains(text, "differ by 6m0s: synchronize both with NTP") {
				t.Errorf("%s: got code %d: %s", command, res.Code, text)
			}
		}
	}
	if res := program.Run(t, binary, t.TempDir(), append(env, "FANFARE_CLOCK_SKEW=4m"), "doctor"); res.Code != 0 {
		t.Errorf("got code %d: %s", res.Code, res.Out)
	}
}

// TestTwoServers checks that the change of a command on one server applies to
// another server on the same database within a second.
func TestTwoServers(t *testing.T) {
	t.Parallel()
	env := []string{"FANFARE_STORE=" + pgtest.URL(t), "FANFARE_MASTER_KEY=" + filepath.Join(t.TempDir(), "master.key")}
	one, two := program.Start(t, program.Options{Env: env}), program.Start(t, program.Options{Env: env})
	var w struct {
		WorkspaceID string `json:"workspace_id"`
		APIKey      string `json:"api_key"`
	}
	res := one.Run("workspace", "create", "--name", "Acme", "--owner", "ada@example.com", "--json")
	if err := json.Unmarshal([]byte(res.Out), &w); err != nil {
		t.Fatalf("%v: %s", err, res.Errors)
	}
	for _, s := range []*program.Server{one, two} {
		if status, body := s.Call(w.APIKey, http.MethodGet, "/v1/me", ""); status != http.StatusOK {
			t.Errorf("got %d: %s", status, body)
		}
	}
	if res := one.Run("workspace", "suspend", "--workspace", w.WorkspaceID); res.Code != 0 {
		t.Fatalf("got code %d: %s", res.Code, res.Errors)
	}
	if status, _ := one.Call(w.APIKey, http.MethodGet, "/v1/me", ""); status != http.StatusForbidden {
		t.Errorf("got %d where the command ran", status)
	}
	for status := 0; status != http.StatusForbidden; {
		status, _ = two.Call(w.APIKey, http.MethodGet, "/v1/me", "")
		if status == http.StatusTooManyRequests {
			t.Fatal("the other server never heard of it")
		}
	}
	one.Stop()
	two.Stop()
}
