package main

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
)

// TestBackup creates backups with and without a server, checks damaged ones,
// and restores a data folder.
func TestBackup(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.serve()
	w := p.workspace()
	status, body := p.server.Call(w.APIKey, http.MethodPost, "/v1/campaigns", `{"name": "Spring"}`)
	if status != http.StatusCreated {
		t.Fatalf("got %d: %s", status, body)
	}
	var made struct {
		Data struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if err := json.Unmarshal([]byte(body), &made); err != nil {
		t.Fatal(err)
	}
	_, before := p.server.Call(w.APIKey, http.MethodGet, "/v1/campaigns/"+made.Data.ID, "")
	picture := p.upload(w.APIKey, `<svg xmlns="http://www.w3.org/2000/svg"><rect/></svg>`)
	if status, body := p.server.Call(w.APIKey, http.MethodPost, "/v1/ingest/metrics", `[{"date":"2026-11-01","spend":12.5}]`); status != http.StatusOK {
		t.Fatalf("got %d %s", status, body)
	}
	const report = "/v1/analytics/overview?start_date=2026-11-01&end_date=2026-11-01&metrics=spend"
	const spend = `{"data":{"metrics":{"spend":12.5}`

	dir := t.TempDir()
	file := filepath.Join(dir, "one.backup")
	var summary struct {
		Path      string         `json:"path"`
		CreatedAt string         `json:"created_at"`
		Build     string         `json:"build"`
		Bytes     int64          `json:"bytes"`
		Rows      map[string]int `json:"rows"`
		Assets    int            `json:"assets"`
		Facts     int64          `json:"facts_bytes"`
		Keys      []string       `json:"master_keys"`
	}
	p.read(&summary, "backup", "create", file)
	if summary.Path != file || summary.Bytes == 0 || summary.Rows["campaign"] != 1 || summary.Rows["workspace"] != 1 || summary.Assets != 1 || summary.Facts == 0 || len(summary.Keys) != 0 {
		t.Errorf("got %+v", summary)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("got %v, %v", info.Mode(), err)
	}
	wants(t, p.run(6, "backup", "create", file).Errors, "there already", "another name")
	wants(t, p.run(6, "backup", "restore", file).Errors, "in use", "stop it first")
	p.server.Stop()
	p.server = nil

	wants(t, p.run(6, "backup", "create", file).Errors, "there already")
	wants(t, p.run(6, "backup", "restore", file).Errors, "not empty")
	second := filepath.Join(dir, "two.backup")
	p.read(&summary, "backup", "create", second)
	p.read(&summary, "backup", "verify", second)
	p.read(&summary, "backup", "verify", file)
	if summary.Rows["campaign"] != 1 {
		t.Errorf("got %+v", summary)
	}
	damage(t, p, file, dir)

	restored := newPlace(t)
	restored.read(&summary, "backup", "restore", file)
	wants(t, restored.run(6, "backup", "restore", file).Errors, "not empty")
	restored.serve()
	if _, after := restored.server.Call(w.APIKey, http.MethodGet, "/v1/campaigns/"+made.Data.ID, ""); after != before {
		t.Errorf("got %s want %s", after, before)
	}
	if _, after := restored.server.Call(w.APIKey, http.MethodGet, picture, ""); after != `<svg xmlns="http://www.w3.org/2000/svg"><rect/></svg>` {
		t.Errorf("got the picture %s", after)
	}
	if _, after := restored.server.Call(w.APIKey, http.MethodGet, report, ""); !strings.HasPrefix(after, spend) {
		t.Errorf("got %s want %s", after, spend)
	}
	wants(t, restored.run(0, "audit", "verify").Out, "entries in 1 chains")
	restored.server.Stop()
}

// upload uploads a drawing and returns its path.
func (p *testInstall) upload(key, drawing string) string {
	p.Helper()
	req, err := http.NewRequest(http.MethodPost, p.server.URL+"/v1/assets", strings.NewReader(drawing))
	if err != nil {
		p.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+key)
	req.Header.Set("Content-Type", "image/svg+xml")
	res, err := p.server.Client().Do(req)
	if err != nil {
		p.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusCreated {
		p.Fatalf("got %s", res.Status)
	}
	return res.Header.Get("Location")
}

// damage changes single bytes and truncates the file. Such files must not be
// restored.
func damage(t *testing.T, p *testInstall, file, dir string) {
	t.Helper()
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	broken := filepath.Join(dir, "broken.backup")
	for i, at := range []int{0, len(whole) / 2, len(whole) - 60, len(whole) - 1, -1} {
		text := append([]byte(nil), whole...)
		if at < 0 {
			text = text[:len(text)/2]
		} else {
			text[at] ^= 1
		}
		if err := os.WriteFile(broken, text, 0o600); err != nil {
			t.Fatal(err)
		}
		wants(t, p.run(1, "backup", "verify", broken).Errors, "damaged")
		if i == 0 {
			fresh := newPlace(t)
			wants(t, fresh.run(1, "backup", "restore", broken).Errors, "damaged")
			fresh.run(0, "backup", "restore", file)
		}
	}
}
