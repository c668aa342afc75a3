package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"fanfare/internal/llm/local"
)

// TestProviderDetect runs the command beside a server that answers as Ollama.
func TestProviderDetect(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/api/tags" {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write([]byte(`{"models":[{"name":"llama3.2:latest"}]}`))
	}))
	t.Cleanup(srv.Close)
	u, err := url.Parse(srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	port, err := strconv.Atoi(u.Port())
	if err != nil {
		t.Fatal(err)
	}
	run := func(ports local.Ports, args ...string) string {
		var out bytes.Buffer
		cmd := (&cli{}).providerDetect(ports)
		cmd.SetOut(&out)
		cmd.SetArgs(append([]string{}, args...))
		if err := cmd.ExecuteContext(t.Context()); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	// Only /api/tags is answered, so that the others are not found.
	found := run(local.Ports{Ollama: port, LMStudio: port, LlamaCPP: port})
	if want := "Ollama at " + srv.URL + "/v1\n  fanfare provider set openai --model llama3.2:latest --base-url " + srv.URL + "/v1 --price-input 0 --price-output 0\n"; found != want {
		t.Errorf("got %q want %q", found, want)
	}
	if list := run(local.Ports{Ollama: port, LMStudio: port, LlamaCPP: port}, "--json"); !strings.Contains(list, `"llama3.2:latest"`) {
		t.Errorf("got %s", list)
	}
	srv.Close()
	if none := run(local.Ports{Ollama: port, LMStudio: port, LlamaCPP: port}); !strings.Contains(none, "No model server answers") {
		t.Errorf("got %q", none)
	}
}
