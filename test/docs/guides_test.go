// Package docs_test runs every code block of the guides in order against the
// real program, and compares the output with the guides.
package docs_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"fanfare/test/program"
)

const guides = "../../docs/guides"

func TestMain(m *testing.M) {
	code := m.Run()
	program.Clean()
	os.Exit(code)
}

// neededPrograms are the programs of the blocks, and how to install them.
var neededPrograms = map[string]string{
	"curl": "apt-get install curl", "jq": "apt-get install jq", "node": "apt-get install nodejs (20 or newer)",
	"python3": "apt-get install python3", "go": "see go.dev/doc/install",
}

// skippedBlocks are blocks for readers that the test has already done.
var skippedBlocks = map[string]string{"make run": "the server of this test is what it starts"}

func TestGuides(t *testing.T) {
	t.Parallel()
	for name, install := range neededPrograms {
		if _, err := exec.LookPath(name); err != nil {
			t.Fatalf("the guides need %s, which is not here: %s", name, install)
		}
	}
	s := program.Launch(t, program.Options{Command: "demo"})
	demo := demoKey(t, s)
	files, err := filepath.Glob(filepath.Join(guides, "*.md"))
	if err != nil || len(files) < 10 {
		t.Fatalf("got %d guides and %v, want at least 10", len(files), err)
	}
	// Guides run one after the other, because each program that they start
	// needs a processor.
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			r := newGuideReader(t, s)
			if filepath.Base(file) == "getting-started.md" {
				r.env["FANFARE_API_KEY"] = demo
			}
			r.runGuide(file)
		})
	}
}

var keyPattern = regexp.MustCompile(`fanf_[0-9A-Za-z]{36}`)

// demoKey waits until the demo is ready and returns the key that it prints.
// This takes longer than for other servers, because the demo first syncs three
// months of metrics.
func demoKey(t *testing.T, s *program.Server) string {
	t.Helper()
	deadline := time.Now().Add(5 * time.Minute)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for ; time.Now().Before(deadline); <-tick.C {
		if s.Ended() {
			t.Fatalf("the demo ended with code %d", s.Wait())
		}
		if key := keyPattern.FindString(s.Out.String()); key != "" && s.FindAddress() {
			return key
		}
	}
	t.Fatalf("the demo printed no key, but %q", s.Out.String())
	return ""
}

// guideReader follows one guide with a separate workspace.
type guideReader struct {
	t   *testing.T
	dir string
	env map[string]string
	// out is the output of the last block.
	out string
}

func newGuideReader(t *testing.T, s *program.Server) *guideReader {
	t.Helper()
	binary := program.Build(t)
	made := program.Run(t, binary, t.TempDir(), []string{"FANFARE_DATA=" + s.Data},
		"workspace", "create", "--name", "Guide", "--plan", "growth", "--owner", "ada@example.com", "--json")
	var workspace struct {
		Key string `json:"api_key"`
	}
	if err := json.Unmarshal([]byte(made.Out), &workspace); err != nil {
		t.Fatalf("make a workspace: %v\n%s%s", err, made.Out, made.Errors)
	}
	bin := t.TempDir()
	if err := os.Symlink(binary, filepath.Join(bin, "fanfare")); err != nil {
		t.Fatal(err)
	}
	trust := filepath.Join(s.Data, "tls", "ca.pem")
	return &guideReader{t: t, dir: t.TempDir(), env: map[string]string{
		"FANFARE_URL": s.URL, "FANFARE_API_KEY": workspace.Key, "FANFARE_DATA": s.Data,
		"CURL_CA_BUNDLE": trust, "SSL_CERT_FILE": trust, "NODE_EXTRA_CA_CERTS": trust,
		"PATH": bin + string(os.PathListSeparator) + os.Getenv("PATH"),
	}}
}

var codeBlock = regexp.MustCompile("(?ms)^```([a-z]*)\n(.*?)^```$")

// runGuide runs a guide from start to end.
func (r *guideReader) runGuide(file string) {
	r.t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		r.t.Fatal(err)
	}
	places := codeBlock.FindAllStringSubmatchIndex(string(text), -1)
	if len(places) < 3 {
		r.t.Errorf("got %d blocks of code, want a guide to show more", len(places))
	}
	for i, p := range places {
		language, block := string(text[p[2]:p[3]]), string(text[p[4]:p[5]])
		where := fmt.Sprintf("%s:%d", file, 1+strings.Count(string(text[:p[0]]), "\n"))
		if language == "json" {
			r.checkOutput(where, block)
			continue
		}
		next := ""
		if i+1 < len(places) && string(text[places[i+1][2]:places[i+1][3]]) == "json" {
			next = string(text[places[i+1][4]:places[i+1][5]])
		}
		r.runBlock(where, language, block)
		if strings.Contains(r.out, `"error":{`) && !strings.Contains(next, `"error"`) {
			r.t.Fatalf("%s: got %s want no error", where, r.out)
		}
	}
}

// blockCommands run a block of a language from a file.
var blockCommands = map[string]struct{ file, program string }{
	"js": {"block.mjs", "node"}, "python": {"block.py", "python3"}, "go": {"block.go", "go run"},
}

func (r *guideReader) runBlock(where, language, block string) {
	r.t.Helper()
	if skippedBlocks[strings.TrimSpace(block)] != "" || language == "text" {
		return
	}
	// Shell variables persist between blocks, so each block writes them to a
	// file at its end.
	script := "set -ae\n" + block + "\nenv -0 > .environment\n"
	if c, known := blockCommands[language]; known {
		if err := os.WriteFile(filepath.Join(r.dir, c.file), []byte(block), 0o600); err != nil {
			r.t.Fatal(err)
		}
		script = c.program + " " + c.file
	} else if language != "sh" {
		r.t.Fatalf("%s: got a block in %q, want sh, js, python, go, json or text", where, language)
	}
	cmd := exec.CommandContext(r.t.Context(), "sh", "-c", script)
	cmd.Dir, cmd.Env = r.dir, program.Environ()
	for name, value := range r.env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		r.t.Fatalf("%s: %v\n%s%s", where, err, out, errs.String())
	}
	r.out = string(out)
	if language == "sh" {
		r.readVariables()
	}
}

// readVariables reads the variables that a shell block has set.
func (r *guideReader) readVariables() {
	r.t.Helper()
	text, err := os.ReadFile(filepath.Join(r.dir, ".environment"))
	if err != nil {
		r.t.Fatal(err)
	}
	for pair := range strings.SplitSeq(string(text), "\x00") {
		if name, value, ok := strings.Cut(pair, "="); ok {
			r.env[name] = value
		}
	}
}

// checkOutput compares the output with the guide.
func (r *guideReader) checkOutput(where, block string) {
	r.t.Helper()
	var want, got any
	if err := json.Unmarshal([]byte(block), &want); err != nil {
		r.t.Fatalf("%s: %v", where, err)
	}
	if err := json.Unmarshal([]byte(r.out), &got); err != nil {
		r.t.Fatalf("%s: got %s want JSON: %v", where, r.out, err)
	}
	for _, difference := range differences("", got, want) {
		r.t.Errorf("%s: %s\n%s", where, difference, r.out)
	}
}
