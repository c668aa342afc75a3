package main

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fanfare/internal/backup"
	"fanfare/internal/seal"
)

// TestMasterKeyRotation rotates the master key. Secrets must still work, and
// backups must name the key that they need.
func TestMasterKeyRotation(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.serve()
	w := p.workspace()
	p.run(0, "provider", "set", "openai", "--model", "local", "--base-url", "http://127.0.0.1:11434/v1")
	status, body := p.server.Call(w.APIKey, http.MethodPost, "/v1/connections", `{"platform":"sandbox","name":"Made up"}`)
	if status != http.StatusCreated {
		t.Fatalf("got %d %s", status, body)
	}
	saved := func(name string) []string {
		var s backup.Summary
		p.read(&s, "backup", "create", filepath.Join(t.TempDir(), name))
		return s.MasterKeys
	}
	before := saved("before")
	var out seal.Rotated
	p.read(&out, "master-key", "rotate")
	if len(before) != 1 || out.Active == before[0] || len(out.Dropped) != 1 || out.Dropped[0] != before[0] || out.Rewrapped != 2 {
		t.Errorf("got %+v after %v, want two secrets moved and the old key gone", out, before)
	}
	if after := saved("after"); len(after) != 1 || after[0] != out.Active {
		t.Errorf("got a backup that needs %v want %s", after, out.Active)
	}
	_, id, _ := strings.Cut(body, `"id":"`)
	id = id[:30]
	if status, body := p.server.Call(w.APIKey, http.MethodPost, "/v1/connections/"+id+"/sync", ""); status != http.StatusAccepted {
		t.Errorf("got %d %s want a run", status, body)
	}
	p.server.Stop()
	p.server = nil
	wants(t, p.examined(0)[good], "master key: it decrypts all stored secrets")

	// Without its key the server still starts and reports the missing key.
	if err := os.Remove(filepath.Join(p.data, "master.key")); err != nil {
		t.Fatal(err)
	}
	p.serve()
	wants(t, p.server.Log.String(), out.Active, "master key missing")
	if status, body := p.server.Call(w.APIKey, http.MethodGet, "/v1/connections/"+id, ""); status != http.StatusOK {
		t.Errorf("got %d %s", status, body)
	}
	wants(t, p.examined(exitConfig)[failure], "master key: missing "+out.Active, "reconnect the platforms")
	p.server.Stop()
}
