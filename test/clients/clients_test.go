// Package clients_test generates clients of the contract with public tools,
// without changes to the contract, and runs a program with each against the
// real server. docs/guides/clients.md shows these programs.
package clients_test

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fanfare/test/program"
)

const (
	root     = "../.."
	contract = root + "/api/openapi.yaml"
)

func TestMain(m *testing.M) {
	code := m.Run()
	program.Clean()
	os.Exit(code)
}

// client is a generated client in a separate folder.
type client struct {
	folder string
	// inputs are the files that the generated code depends on, besides the
	// contract.
	inputs []string
	// output is the generated code; a mark in it identifies its inputs.
	output string
	// generate, build and run are commands in the folder.
	generate, build, run []string
	// install installs the tool.
	install func(folder string) error
}

// clients are tested by make test; the tag contract adds more.
var clients = []client{
	{
		folder: "go", inputs: []string{"oapi-codegen.yaml", root + "/../tools/go.mod"}, output: "fanfare",
		generate: []string{"go", "tool", "-modfile=../../../tools/go.mod", "oapi-codegen", "-config", "oapi-codegen.yaml", "../../../api/openapi.yaml"},
		build:    []string{"go", "build", "-o", "dist/", "."},
		run:      []string{"dist/go"},
	},
	{
		folder: "openapi-fetch", inputs: []string{"package-lock.json"}, output: "fanfare.gen.ts",
		generate: []string{"npm", "run", "--silent", "generate"},
		build:    []string{"npm", "run", "--silent", "build"},
		run:      []string{"node", "dist/main.js"},
		install:  packages,
	},
}

func TestClients(t *testing.T) {
	t.Parallel()
	s := program.Start(t, program.Options{})
	for _, c := range clients {
		t.Run(c.folder, func(t *testing.T) {
			if c.install != nil {
				if err := c.install(c.folder); err != nil {
					t.Fatal(err)
				}
			}
			c.generateIfChanged(t)
			if c.build != nil {
				c.runCommand(t, c.build, nil)
			}
			c.checkRun(t, s)
		})
	}
}

// packages installs the packages of a folder's lock file.
func packages(folder string) error { return program.PackagesIn(folder) }

// runCommand runs a command in the folder and returns its output.
func (c *client) runCommand(t *testing.T, command []string, env []string) string {
	t.Helper()
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Dir, cmd.Env = c.folder, program.Environ(env...)
	out, err := cmd.Output()
	if err != nil {
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			t.Fatalf("%s: %v\n%s%s", strings.Join(command, " "), err, out, exit.Stderr)
		}
		t.Fatalf("%s: %v", strings.Join(command, " "), err)
	}
	return string(out)
}

// generateIfChanged generates the client if one of its inputs has changed.
func (c *client) generateIfChanged(t *testing.T) {
	t.Helper()
	h := sha256.New()
	for _, file := range append([]string{filepath.Join("..", contract)}, c.inputs...) {
		text, err := os.ReadFile(filepath.Join(c.folder, file))
		if err != nil {
			t.Fatal(err)
		}
		h.Write(text)
	}
	fmt.Fprintln(h, c.generate)
	sum, mark := fmt.Sprintf("%x", h.Sum(nil)), filepath.Join(c.folder, ".generated")
	if made, err := os.ReadFile(mark); err == nil && string(made) == sum {
		if _, err := os.Stat(filepath.Join(c.folder, c.output)); err == nil {
			return
		}
	}
	_ = os.Remove(mark)
	if err := os.RemoveAll(filepath.Join(c.folder, c.output)); err != nil {
		t.Fatal(err)
	}
	if c.folder == "go" {
		if err := os.Mkdir(filepath.Join(c.folder, c.output), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	c.runCommand(t, c.generate, nil)
	if err := os.WriteFile(mark, []byte(sum), 0o600); err != nil {
		t.Fatal(err)
	}
}

// checkRun runs the program in a separate workspace and compares its output.
func (c *client) checkRun(t *testing.T, s *program.Server) {
	t.Helper()
	made := s.Run("workspace", "create", "--name", c.folder, "--plan", "growth", "--owner", c.folder+"@example.com", "--json")
	var workspace struct {
		Key string `json:"api_key"`
	}
	if err := json.Unmarshal([]byte(made.Out), &workspace); err != nil {
		t.Fatalf("create a workspace: %v\n%s%s", err, made.Out, made.Errors)
	}
	trust := filepath.Join(s.Data, "tls", "ca.pem")
	out := c.runCommand(t, c.run, []string{
		"FANFARE_URL=" + s.URL, "FANFARE_API_KEY=" + workspace.Key,
		"SSL_CERT_FILE=" + trust, "NODE_EXTRA_CA_CERTS=" + trust,
	})
	var got map[string]any
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	names, _ := got["names"].([]any)
	delete(got, "names")
	want := map[string]any{"status": "active", "amount": "150.00", "linked": true, "clicks": 7.0, "spend": 12345678.25}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the program has seen something else (-want +got):\n%s", diff)
	}
	if len(names) != 3 || !strings.HasSuffix(fmt.Sprint(names[0]), " 0") || !strings.HasSuffix(fmt.Sprint(names[2]), " 2") {
		t.Errorf("got campaigns %v, want three on two pages, the oldest first", names)
	}
}

// guideCommands are the commands in the guide. They equal the generate commands
// of the clients, for a reader without this repository.
var guideCommands = []string{
	"go run github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2 -config oapi-codegen.yaml openapi.yaml",
	"npx openapi-typescript openapi.yaml --default-non-nullable=false -o fanfare.gen.ts",
	"npx @hey-api/openapi-ts -i openapi.yaml -o fanfare -c @hey-api/client-fetch",
	"openapi-python-client generate --path openapi.yaml --meta none --config openapi-python-client.yaml --output-path fanfare",
}

// TestGuide checks that every line of code in the guide is one that runs here.
func TestGuide(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(root + "/docs/guides/clients.md")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, line := range guideCommands {
		known[line] = true
	}
	for _, name := range []string{
		"go/main.go", "go/oapi-codegen.yaml", "openapi-fetch/main.ts", "hey-api/main.ts", "python/main.py", "python/openapi-python-client.yaml",
	} {
		file, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(file)) {
			known[strings.TrimSpace(line)] = true
		}
	}
	lines := 0
	for i, block := range strings.Split(string(text), "```") {
		if i%2 == 0 {
			continue
		}
		for line := range strings.Lines(strings.TrimPrefix(block, "text\n")) {
			if lines++; !known[strings.TrimSpace(line)] {
				t.Errorf("the guide shows %q, which is in no program or options under test/clients", line)
			}
		}
	}
	if lines < 40 {
		t.Errorf("got %d lines of code in the guide, want the options and a start for each client", lines)
	}
}
