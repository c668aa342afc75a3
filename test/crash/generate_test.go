package crash_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"fanfare/internal/llm/sandbox"
	"fanfare/internal/store/pgtest"
	"fanfare/test/program"
)

// TestDrillGeneration stops the server while a model works for it: after the
// restart the creative is generated once, and another one that was archived
// meanwhile is not.
func TestDrillGeneration(t *testing.T) {
	t.Parallel()
	for name, env := range map[string]func(t *testing.T) []string{
		"sqlite":   func(*testing.T) []string { return nil },
		"postgres": func(t *testing.T) []string { return []string{"FANFARE_STORE=" + pgtest.URL(t)} },
	} {
		for ending, end := range map[string]func(*program.Server){"killed": (*program.Server).Kill, "stopped": (*program.Server).Stop} {
			t.Run(name+" "+ending, func(t *testing.T) {
				t.Parallel()
				drillGeneration(t, env(t), end)
			})
		}
	}
}

func drillGeneration(t *testing.T, env []string, end func(*program.Server)) {
	t.Helper()
	// The model answers no request before the stop.
	ended, asked := make(chan struct{}), make(chan struct{}, 100)
	sandbox := sandbox.New(time.Now)
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- struct{}{}
		<-ended
		sandbox.ServeHTTP(w, r)
	}))
	defer model.Close()
	data := filepath.Join(t.TempDir(), "data")
	server := program.Start(t, program.Options{Data: data, Env: env})
	run := func(args ...string) string {
		t.Helper()
		out := server.Run(args...)
		if out.Code != 0 {
			t.Fatalf("fanfare %s: got code %d: %s", strings.Join(args, " "), out.Code, out.Errors)
		}
		return out.Out
	}
	var made struct {
		Key string `json:"api_key"`
	}
	text := run("workspace", "create", "--name", "Drill", "--owner", "owner@example.com", "--plan", "growth", "--json")
	if err := json.Unmarshal([]byte(text), &made); err != nil {
		t.Fatal(err)
	}
	keyFile := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(keyFile, []byte("sk-drill"), 0o600); err != nil {
		t.Fatal(err)
	}
	run("provider", "set", "openai", "--model", "some-model", "--base-url", model.URL+"/v1", "--key-file", keyFile, "--price-input", "1", "--price-output", "1", "--default")

	type creative struct {
		ID         string `json:"id"`
		Status     string `json:"status"`
		Version    int64  `json:"version"`
		Variants   int    `json:"variant_count"`
		Generation struct {
			Cost *struct {
				Calls int64 `json:"calls"`
			} `json:"cost"`
		} `json:"generation"`
	}
	call := func(method, path, body string, status int, out any) {
		t.Helper()
		got, text := server.Call(made.Key, method, path, body)
		if got != status {
			t.Fatalf("%s %s: got %d want %d: %s", method, path, got, status, text)
		}
		v := struct {
			Data any `json:"data"`
		}{out}
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.Fatal(err)
		}
	}
	var kept, dropped creative
	const body = `{"prompt":"Handmade running shoes for wet stone and long trails","channels":["social"],"variants":2}`
	call("POST", "/v1/creative/generate", body, http.StatusAccepted, &kept)
	call("POST", "/v1/creative/generate", body, http.StatusAccepted, &dropped)
	for range 2 {
		select {
		case <-asked:
		case <-time.After(maxWait):
			t.Fatal("nobody asked the model")
		}
	}
	call("DELETE", "/v1/creative/"+dropped.ID, "", http.StatusOK, &dropped)
	call("GET", "/v1/creative/"+kept.ID, "", http.StatusOK, &kept)
	if kept.Status != "generating" || dropped.Status != "archived" {
		t.Fatalf("got %s and %s before the end", kept.Status, dropped.Status)
	}
	end(server)
	close(ended)
	// After the lease, which other nodes would wait for.
	server = program.Start(t, program.Options{Data: data, Env: env, ClockOffset: time.Minute})
	for late := time.Now().Add(maxWait); kept.Status == "generating"; {
		call("GET", "/v1/creative/"+kept.ID, "", http.StatusOK, &kept)
		if time.Now().After(late) {
			t.Fatalf("still generating after %s", maxWait)
		}
		<-time.After(50 * time.Millisecond)
	}
	if kept.Status != "ready" || kept.Version != 2 || kept.Variants != 2 || kept.Generation.Cost.Calls != 1 {
		t.Errorf("got %+v, want it ready, of one call", kept)
	}
	var list []map[string]any
	call("GET", "/v1/creative/"+kept.ID+"/variants", "", http.StatusOK, &list)
	if len(list) != 2 {
		t.Errorf("got %d variants want 2", len(list))
	}
	var events []struct {
		Type string `json:"type"`
	}
	call("GET", "/v1/events?order=asc&resource_id="+kept.ID, "", http.StatusOK, &events)
	if len(events) != 2 || events[0].Type != "creative.created" || events[1].Type != "creative.ready" {
		t.Errorf("got events %v", events)
	}
	call("GET", "/v1/creative/"+dropped.ID, "", http.StatusOK, &dropped)
	if dropped.Status != "archived" || dropped.Variants != 0 {
		t.Errorf("got %+v, want it left alone", dropped)
	}
	server.Stop()
}
