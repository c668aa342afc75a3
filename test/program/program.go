// Package program builds the program and runs it for tests: a server on a free
// port of this machine, and commands. It is not part of the product.
package program

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// maxWait limits every wait. It is long because the machine may be busy; no
// test depends on how long something takes.
const maxWait = 10 * time.Minute

var builds struct {
	sync.Mutex
	dir  string
	made map[string]string
}

// programEnv names a program that was already built with the tag testclock, so
// that not every package of a test run builds its own.
const programEnv = "FANFARE_TEST_PROGRAM"

// Build builds the program, once per set of flags and test run, and returns its
// path. Its clock can be moved; see Options.
func Build(t testing.TB, flags ...string) string {
	t.Helper()
	builds.Lock()
	defer builds.Unlock()
	if path := os.Getenv(programEnv); path != "" && len(flags) == 0 {
		// Reading the file makes cached test results depend on it.
		if _, err := os.Stat(path); err != nil {
			t.Fatal(err)
		}
		return path
	}
	key := strings.Join(flags, " ")
	if path := builds.made[key]; path != "" {
		return path
	}
	if builds.made == nil {
		dir, err := os.MkdirTemp("", "fanfare-program-")
		if err != nil {
			t.Fatal(err)
		}
		builds.dir, builds.made = dir, map[string]string{}
	}
	path := filepath.Join(builds.dir, fmt.Sprintf("fanfare-%d", len(builds.made)))
	args := append([]string{"build", "-tags", "testclock", "-ldflags=-s -w", "-o", path}, flags...)
	cmd := exec.Command("go", append(args, "fanfare/cmd/fanfare")...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build the program: %v\n%s", err, out)
	}
	builds.made[key] = path
	return path
}

// Clean removes the built programs; for TestMain, after the tests.
func Clean() {
	builds.Lock()
	defer builds.Unlock()
	if builds.dir != "" {
		_ = os.RemoveAll(builds.dir)
	}
}

// Environ returns the environment for the program: that of the test without
// settings of the program, and then extra.
func Environ(extra ...string) []string {
	var env []string
	for _, pair := range os.Environ() {
		if !strings.HasPrefix(pair, "FANFARE_") {
			env = append(env, pair)
		}
	}
	return append(env, extra...)
}

// Result is the result of a command.
type Result struct {
	Code        int
	Out, Errors string
}

// Run runs a command in a folder and waits for its end.
func Run(t testing.TB, binary, dir string, env []string, args ...string) Result {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), maxWait)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Dir, cmd.Env = dir, Environ(env...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("run %s: %v", strings.Join(args, " "), err)
	}
	if ctx.Err() != nil {
		t.Fatalf("%s did not end within %s: %s", strings.Join(args, " "), maxWait, errs.String())
	}
	return Result{cmd.ProcessState.ExitCode(), out.String(), errs.String()}
}

// process is a running program that ends with the test process.
type process struct {
	cmd    *exec.Cmd
	exited chan struct{}
}

func start(cmd *exec.Cmd) (*process, error) {
	p := &process{cmd: cmd, exited: make(chan struct{})}
	cmd.SysProcAttr = processAttributes()
	started := make(chan error, 1)
	go func() {
		// The death signal is sent when the thread that started the process
		// ends, so the thread is kept as long as the process runs.
		runtime.LockOSThread()
		defer close(p.exited)
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait()
		}
	}()
	return p, <-started
}

// wait waits for the end and returns the exit code, -1 after a signal.
func (p *process) wait(t testing.TB) int {
	t.Helper()
	select {
	case <-p.exited:
	case <-time.After(maxWait):
		_ = p.cmd.Process.Kill()
		<-p.exited
		t.Errorf("process %d did not end within %s", p.cmd.Process.Pid, maxWait)
	}
	return p.cmd.ProcessState.ExitCode()
}
