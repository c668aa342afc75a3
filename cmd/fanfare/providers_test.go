package main

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fanfare/internal/account"
	"fanfare/internal/llm/provider"
)

// TestProviderCommands configures models on a data folder without a server and
// on one with a running server.
func TestProviderCommands(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"alone", "beside a server"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			if mode != "alone" {
				p.serve()
			}
			w := p.workspace()
			p.providers(w)
			p.rules(w)
			if mode == "alone" {
				p.serve()
			}
			status, body := p.server.Call(w.APIKey, http.MethodPost, "/v1/creative/generate", `{"prompt":"Tea","provider":"anthropic"}`)
			if status != http.StatusUnprocessableEntity || !strings.Contains(body, `"allowed":["openai","composer"]`) {
				t.Errorf("got %d %s, want openai as the default and no anthropic", status, body)
			}
			status, body = p.server.Call(w.APIKey, http.MethodPost, "/v1/creative/generate", `{"prompt":"Tea","provider":"composer"}`)
			if status != http.StatusCreated || !strings.Contains(body, `"approval":{"status":"pending"`) {
				t.Errorf("got %d %s, want it to wait for approval", status, body)
			}
			p.server.Stop()
		})
	}
}

// providers runs the model provider commands.
func (p *testInstall) providers(w madeWorkspace) {
	p.Helper()
	const secret = "sk-very-secret-4711"
	file := filepath.Join(p.TempDir(), "key")
	if err := os.WriteFile(file, []byte("  "+secret+"\n"), 0o600); err != nil {
		p.Fatal(err)
	}
	var l provider.Listed
	p.read(&l, "provider", "set", "openai", "--model", "gpt-5.4", "--key-file", file, "--default", "--json")
	if l.Kind != "openai" || l.Model != "gpt-5.4" || !l.Default || !l.Priced || l.WorkspaceID != "" || l.Version != 1 {
		p.Errorf("got %+v", l)
	}
	p.read(&l, "provider", "set", "openai", "--workspace", w.WorkspaceID, "--model", "local", "--base-url", "http://127.0.0.1:11434/v1",
		"--image-model", "painter", "--price-input", "0.5", "--price-output", "1.25", "--default", "--json")
	if string(l.WorkspaceID) != w.WorkspaceID || !l.Priced || l.Price.InputMicros != 500_000 || l.Price.OutputMicros != 1_250_000 || l.Price.ImageMicros != 0 {
		p.Errorf("got %+v", l)
	}
	text := p.run(0, "provider", "set", "anthropic", "--model", "unheard-of", "--key-file", file).Out
	wants(p.T, text, "anthropic is set up with model unheard-of.", "price is unknown")
	if text := p.run(0, "provider", "set", "gemini", "--workspace", w.WorkspaceID, "--model", "gemini-3.6-flash").Out; strings.Contains(text, "not known") {
		p.Errorf("got %q", text)
	}

	var list []provider.Listed
	p.read(&list, "provider", "list", "--json")
	if len(list) != 2 || list[0].Kind != "anthropic" || list[1].Model != "gpt-5.4" {
		p.Errorf("got %+v, want those of all", list)
	}
	p.read(&list, "provider", "list", "--workspace", w.WorkspaceID, "--json")
	if len(list) != 3 || list[1].Model != "local" {
		p.Errorf("got %+v, want its own before those of all", list)
	}
	shown := p.run(0, "provider", "list", "--workspace", w.WorkspaceID).Out
	wants(p.T, shown, "KIND", "USE", "openai", "local", w.WorkspaceID, "default", "anthropic", "all")
	for _, command := range []string{shown, p.run(0, "provider", "list", "--json").Out} {
		if strings.Contains(command, secret) {
			p.Error("the list shows a key")
		}
	}

	empty := filepath.Join(p.TempDir(), "empty")
	if err := os.WriteFile(empty, []byte(" \n"), 0o600); err != nil {
		p.Fatal(err)
	}
	for _, tt := range []struct {
		code int
		says string
		args []string
	}{
		{2, "none of openai, anthropic, gemini", []string{"set", "watson", "--model", "m"}},
		{2, "only https", []string{"set", "openai", "--model", "m", "--base-url", "ftp://models.example"}},
		{2, "do not draw", []string{"set", "anthropic", "--model", "m", "--image-model", "i"}},
		{2, "model", []string{"set", "openai"}},
		{2, "KIND", []string{"set", "--model", "m"}},
		{2, "--price-output", []string{"set", "openai", "--model", "m", "--price-input", "1"}},
		{2, "--price-input", []string{"set", "openai", "--model", "m", "--price-input", "cheap", "--price-output", "1"}},
		{2, "--price-image", []string{"set", "openai", "--model", "m", "--price-input", "1", "--price-output", "1", "--price-image", "-1"}},
		{1, "empty", []string{"set", "openai", "--model", "m", "--key-file", empty}},
		{5, "nowhere", []string{"set", "openai", "--model", "m", "--key-file", filepath.Join(p.TempDir(), "nowhere")}},
		{5, "no workspace wks_x", []string{"set", "openai", "--model", "m", "--workspace", "wks_x"}},
		{5, "no workspace wks_x", []string{"list", "--workspace", "wks_x"}},
		{5, "", []string{"remove", "gemini"}},
		{5, "", []string{"remove", "anthropic", "--workspace", w.WorkspaceID}},
	} {
		res := p.run(tt.code, append([]string{"provider"}, tt.args...)...)
		wants(p.T, res.Errors, tt.says)
	}
	p.run(0, "provider", "remove", "gemini", "--workspace", w.WorkspaceID)
	p.run(5, "provider", "remove", "gemini", "--workspace", w.WorkspaceID)
	p.run(0, "provider", "remove", "anthropic")
	p.read(&list, "provider", "list", "--workspace", w.WorkspaceID, "--json")
	if len(list) != 1 || list[0].Kind != "openai" {
		p.Errorf("got %+v", list)
	}
	if err := filepath.WalkDir(p.data, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		if err == nil && strings.Contains(string(b), secret) {
			p.Errorf("the key is in %s", path)
		}
		return err
	}); err != nil {
		p.Fatal(err)
	}
}

// rules runs the commands for a workspace's creative rules.
func (p *testInstall) rules(w madeWorkspace) {
	p.Helper()
	var one account.Workspace
	p.read(&one, "workspace", "set-approval", "--workspace", w.WorkspaceID)
	if !one.RequireApproval {
		p.Error("approval is not required")
	}
	p.read(&one, "workspace", "set-approval", "--workspace", w.WorkspaceID, "--required=false")
	if one.RequireApproval {
		p.Error("approval is still required")
	}
	p.read(&one, "workspace", "set-approval", "--workspace", w.WorkspaceID, "--json")
	for text, want := range map[string]int64{"12.50": 12_500_000, "0": 0} {
		p.read(&one, "workspace", "set-model-budget", "--workspace", w.WorkspaceID, "--monthly", text)
		if one.ModelBudget == nil || *one.ModelBudget != want || !one.RequireApproval {
			p.Errorf("got %+v after a budget of %s", one, text)
		}
	}
	p.read(&one, "workspace", "set-model-budget", "--workspace", w.WorkspaceID, "--monthly", "none")
	if one.ModelBudget != nil {
		p.Errorf("got budget %d want none", *one.ModelBudget)
	}
	for _, text := range []string{"much", "-1", ""} {
		p.run(2, "workspace", "set-model-budget", "--workspace", w.WorkspaceID, "--monthly="+text)
	}
	p.run(2, "workspace", "set-model-budget", "--workspace", w.WorkspaceID)
	p.run(5, "workspace", "set-model-budget", "--workspace", "wks_x", "--monthly", "1")
	p.run(5, "workspace", "set-approval", "--workspace", "wks_x")
	var list []account.Workspace
	p.read(&list, "workspace", "list", "--json")
	if len(list) != 1 || !list[0].RequireApproval || list[0].ModelBudget != nil {
		p.Errorf("got %+v", list)
	}
}
