package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"fanfare/internal/store/pgtest"
	"fanfare/test/program"
)

func TestMain(m *testing.M) { pgtest.Main(m, program.Clean) }

// testInstall is a data folder for commands, with or without a running server.
type testInstall struct {
	*testing.T
	data   string
	env    []string
	server *program.Server
}

func newPlace(t *testing.T) *testInstall {
	t.Helper()
	return &testInstall{T: t, data: filepath.Join(t.TempDir(), "data"), env: []string{"FANFARE_LISTEN=127.0.0.1:0"}}
}

// serve starts a server on the folder.
func (p *testInstall) serve(args ...string) *program.Server {
	p.Helper()
	p.server = program.Start(p.T, program.Options{Data: p.data, Args: args})
	return p.server
}

// run runs a command on the folder and checks its exit code.
func (p *testInstall) run(code int, args ...string) program.Result {
	p.Helper()
	env := append([]string{"FANFARE_DATA=" + p.data}, p.env...)
	if p.server != nil {
		env = append(env, "FANFARE_LISTEN="+p.server.Host)
	}
	res := program.Run(p.T, program.Build(p.T), p.TempDir(), env, args...)
	if res.Code != code {
		p.Fatalf("fanfare %s: got code %d want %d\n%s%s", strings.Join(args, " "), res.Code, code, res.Out, res.Errors)
	}
	return res
}

// read runs a command that prints JSON and decodes it strictly.
func (p *testInstall) read(out any, args ...string) {
	p.Helper()
	res := p.run(0, args...)
	if err := jsonLine(res.Out, out); err != nil {
		p.Fatalf("fanfare %s: %v: %s", strings.Join(args, " "), err, res.Out)
	}
}

type madeWorkspace struct {
	WorkspaceID string `json:"workspace_id"`
	UserID      string `json:"user_id"`
	APIKey      string `json:"api_key"`
}

type madeKey struct {
	ID     string `json:"id"`
	APIKey string `json:"api_key"`
}

// workspace creates a workspace with the owner ada.
func (p *testInstall) workspace() madeWorkspace {
	p.Helper()
	var w madeWorkspace
	p.read(&w, "workspace", "create", "--name", "Acme", "--plan", "growth", "--owner", "ada@example.com", "--json")
	return w
}

// wants fails the test unless every text is in got.
func wants(t *testing.T, got string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(got, text) {
			t.Errorf("got %q, want %q in it", got, text)
		}
	}
}

func jsonLine(text string, out any) error {
	return json.Unmarshal([]byte(text), out, json.RejectUnknownMembers(true))
}
