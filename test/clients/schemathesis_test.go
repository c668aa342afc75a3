//go:build contract

package clients_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"fanfare/internal/connection"
	"fanfare/test/program"
)

// TestSchemathesis lets Schemathesis derive requests from the contract and
// check the answers of the real server: no 5xx, no undocumented status, header
// or body, no invalid request accepted. With FANFARE_DRILL=full it tries every
// boundary value of every schema, which takes about 15 minutes.
func TestSchemathesis(t *testing.T) {
	const folder = "schemathesis"
	if err := environment(folder); err != nil {
		t.Fatal(err)
	}
	var urls []string
	for _, platform := range connection.Played {
		// No server listens there, so that calls to platforms fail at once.
		urls = append(urls, platform+"=http://127.0.0.1:9")
	}
	s := program.Start(t, program.Options{Env: []string{"FANFARE_LIMITS=growth=0/0/0", "FANFARE_PLATFORM_URLS=" + strings.Join(urls, ",")}})
	made := s.Run("workspace", "create", "--name", folder, "--plan", "growth", "--owner", folder+"@example.com", "--json")
	var workspace struct {
		Key string `json:"api_key"`
	}
	if err := json.Unmarshal([]byte(made.Out), &workspace); err != nil {
		t.Fatalf("create a workspace: %v\n%s%s", err, made.Out, made.Errors)
	}
	effort := []string{"--phases", "examples,fuzzing,stateful", "--max-examples", "5"}
	if os.Getenv("FANFARE_DRILL") == "full" {
		effort = []string{"--phases", "examples,coverage,fuzzing,stateful", "--max-examples", "50"}
	}
	cmd := exec.Command(".venv/bin/schemathesis", append([]string{
		"run", "../../../api/openapi.yaml", "--url", s.URL, "--tls-verify", filepath.Join(s.Data, "tls", "ca.pem"), "--header", "Authorization: Bearer " + workspace.Key,
	}, effort...)...)
	cmd.Dir = folder
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("schemathesis: %v\n%s", err, out)
	}
	if !strings.Contains(string(out), "Selected: ") {
		t.Errorf("schemathesis has tried nothing:\n%s", out)
	}
}
