// Package readme_test runs every command of the README in order, as a new user
// would.
package readme_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

var shellBlock = regexp.MustCompile("(?s)```sh\n(.*?)```")

// skippedCommands are commands that cannot run inside the test itself.
var skippedCommands = map[string]string{
	"make test": "it is what runs this test; .ci/run calls the same words",
}

func TestReadmeCommands(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	ci, err := os.ReadFile(filepath.Join(root, ".ci", "run"))
	if err != nil || !strings.Contains(string(ci), "\nmake test\n") {
		t.Fatalf(".ci/run must run the README's own test command: %v", err)
	}
	run := &commandRunner{t: t, root: root, dir: t.TempDir(), listen: freeAddress(t)}
	if err := os.Symlink(filepath.Join(root, "bin"), filepath.Join(run.dir, "bin")); err != nil {
		t.Fatal(err)
	}
	blocks := shellBlock.FindAllStringSubmatch(string(text), -1)
	if len(blocks) < 5 {
		t.Fatalf("found %d blocks of commands in the README", len(blocks))
	}
	for _, b := range blocks {
		command := strings.TrimSpace(b[1])
		if why := skippedCommands[command]; why != "" {
			continue
		}
		t.Log("$ " + command)
		run.runCommand(command)
	}
	if run.key == "" || run.created == "" {
		t.Fatal("the README never makes a campaign with its own key")
	}
}

// commandRunner has the state that one command leaves for the next.
type commandRunner struct {
	t            *testing.T
	root, dir    string
	listen       string
	key, created string
}

var keyPattern = regexp.MustCompile(`fanf_[0-9A-Za-z]{36}`)

func (r *commandRunner) runCommand(command string) {
	r.t.Helper()
	switch command {
	case "make run":
		r.runDemo()
	case "bin/fanfare serve":
		r.startServer()
	default:
		out := r.runShell(command)
		if strings.Contains(out, `"error":{`) {
			r.t.Errorf("%s\nanswered %s", command, out)
		}
		if k := keyPattern.FindString(out); k != "" {
			r.key = k
		}
		if strings.Contains(out, `"status":"draft"`) {
			r.created = out
		}
	}
}

func (r *commandRunner) env() []string {
	return append(os.Environ(), "FANFARE_LISTEN="+r.listen, "FANFARE_KEY="+r.key)
}

// runShell runs a command to its end; the port in the README is replaced by the
// test's.
func (r *commandRunner) runShell(command string) string {
	r.t.Helper()
	_, port, _ := net.SplitHostPort(r.listen)
	cmd := exec.CommandContext(r.t.Context(), "sh", "-c", strings.ReplaceAll(command, ":8443", ":"+port))
	cmd.Dir, cmd.Env = r.dir, r.env()
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("%s: %v\n%s", command, err, out)
	}
	return string(out)
}

// runDemo runs make run and the command that it prints.
func (r *commandRunner) runDemo() {
	r.t.Helper()
	line, stop := r.startProgram(r.root, "make", "run")
	var call string
	for l := range line {
		if strings.Contains(l, "curl") && strings.Contains(l, "https://") {
			call = l
			break
		}
	}
	if !strings.HasPrefix(call, "curl ") {
		r.t.Fatalf("make run printed no line to paste, but %q", call)
	}
	out := r.runShell(call)
	for _, want := range []string{`{"data":[`, `"has_more":`, `"next_cursor":`} {
		if !strings.Contains(out, want) {
			r.t.Errorf("the printed call answers without %s: %.300s", want, out)
		}
	}
	stop()
}

// startServer starts the server and waits until it is ready; it stops with the
// test.
func (r *commandRunner) startServer() {
	r.t.Helper()
	_, stop := r.startProgram(r.dir, "bin/fanfare", "serve")
	r.t.Cleanup(stop)
	ca := filepath.Join(r.dir, "fanfare-data", "tls", "ca.pem")
	for range 200 {
		cmd := exec.CommandContext(r.t.Context(), "curl", "-fs", "--cacert", ca, "https://"+r.listen+"/readyz")
		if cmd.Run() == nil {
			return
		}
		pause(r.t.Context())
	}
	r.t.Fatal("the server did not become ready")
}

// pause is one step of a bounded wait for another process.
func pause(ctx context.Context) {
	timer := time.NewTimer(50 * time.Millisecond)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// startProgram starts a program and returns its lines of output and a function
// to stop it.
func (r *commandRunner) startProgram(dir, name string, args ...string) (<-chan string, func()) {
	r.t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = dir, append(r.env(), "FANFARE_DRAIN_DELAY=0s")
	if name == "make" {
		cmd.Env = append(cmd.Env, "FANFARE_DATA="+filepath.Join(r.dir, "demo"))
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, in := io.Pipe()
	cmd.Stdout, cmd.Stderr = in, in
	if err := cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	lines := make(chan string, 1000)
	go func() {
		defer close(lines)
		for s := bufio.NewScanner(out); s.Scan(); {
			lines <- s.Text()
		}
	}()
	return lines, func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM)
		_ = cmd.Wait()
		_ = in.Close()
	}
}

func freeAddress(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ln.Close() }()
	return ln.Addr().String()
}
