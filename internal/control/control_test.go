package control

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fanfare/internal/fault"
)

type testInput struct {
	Text string `json:"text"`
}

func startServer(t *testing.T, path string, ops map[string]Op) *Client {
	t.Helper()
	s, err := Listen(path, ops)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- s.Serve() }()
	t.Cleanup(func() {
		_ = s.Close()
		if err := <-ended; err != nil {
			t.Errorf("serve: %v", err)
		}
		if _, err := os.Lstat(path); !os.IsNotExist(err) {
			t.Errorf("the socket is still there: %v", err)
		}
	})
	c, err := Dial(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func ignoreProgress(Progress) {}

func TestCall(t *testing.T) {
	t.Parallel()
	refused := fault.New(fault.AlreadyExists, "It is there.", fault.Detail{Field: "name", Code: "taken", Message: "Taken.", Meta: fault.Meta{"name": "x"}})
	c := startServer(t, filepath.Join(t.TempDir(), "s"), map[string]Op{
		"echo": NewOp(func(_ context.Context, in testInput, report func(Progress)) (testInput, error) {
			report(Progress{1, 2})
			report(Progress{2, 2})
			return testInput{in.Text + "!"}, nil
		}),
		"refuse": NewOp(func(context.Context, struct{}, func(Progress)) (testInput, error) { return testInput{}, refused }),
		"fail": NewOp(func(context.Context, struct{}, func(Progress)) (testInput, error) {
			return testInput{}, errors.New("out of paper")
		}),
		"unsayable": NewOp(func(context.Context, struct{}, func(Progress)) (func(), error) { return func() {}, nil }),
	})
	var got testInput
	var steps []Progress
	if err := c.Call(t.Context(), "echo", testInput{"hello"}, &got, func(p Progress) { steps = append(steps, p) }); err != nil {
		t.Fatal(err)
	}
	if got.Text != "hello!" || !cmp.Equal(steps, []Progress{{1, 2}, {2, 2}}) {
		t.Errorf("got %q after %v", got.Text, steps)
	}

	err := c.Call(t.Context(), "refuse", struct{}{}, &got, ignoreProgress)
	var f *fault.Error
	if !errors.As(err, &f) || f.Code != refused.Code || f.Message != refused.Message || !cmp.Equal(f.Details, refused.Details) {
		t.Errorf("got %v want %v", err, refused)
	}
	if err := c.Call(t.Context(), "fail", struct{}{}, &got, ignoreProgress); err == nil || err.Error() != "out of paper" {
		t.Errorf("got %v", err)
	}
	if err := c.Call(t.Context(), "unsayable", struct{}{}, &got, ignoreProgress); err == nil {
		t.Error("got no error for what cannot be encoded")
	}
	if err := c.Call(t.Context(), "unknown", struct{}{}, &got, ignoreProgress); err == nil || !strings.Contains(err.Error(), "of another version") {
		t.Errorf("got %v", err)
	}
	if err := c.Call(t.Context(), "echo", map[string]string{"txet": "x"}, &got, ignoreProgress); err == nil || !strings.Contains(err.Error(), "txet") {
		t.Errorf("got %v for an unknown member", err)
	}
}

// TestLargeAnswer has a list that is longer than any real one.
func TestLargeAnswer(t *testing.T) {
	t.Parallel()
	c := startServer(t, filepath.Join(t.TempDir(), "s"), map[string]Op{
		"list": NewOp(func(context.Context, struct{}, func(Progress)) ([]string, error) {
			return repeatString(strings.Repeat("x", 1000), 10_000), nil
		}),
	})
	var got []string
	if err := c.Call(t.Context(), "list", struct{}{}, &got, ignoreProgress); err != nil || len(got) != 10_000 {
		t.Errorf("got %d, %v", len(got), err)
	}
}

func repeatString(s string, n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = s
	}
	return list
}

// TestServerStopsDuringCall checks that a call ends with an error and not with
// a result.
func TestServerStopsDuringCall(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s")
	begun := make(chan struct{})
	s, err := Listen(path, map[string]Op{"wait": NewOp(func(ctx context.Context, _ struct{}, report func(Progress)) (string, error) {
		report(Progress{})
		close(begun)
		<-ctx.Done()
		return "", ctx.Err()
	})})
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = s.Serve() }()
	c, err := Dial(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		<-begun
		_ = s.Close()
	}()
	var got string
	if err := c.Call(t.Context(), "wait", struct{}{}, &got, ignoreProgress); err == nil {
		t.Error("got no error")
	}
}

func TestSocket(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{t.TempDir(), filepath.Join(t.TempDir(), strings.Repeat("d/", 60))} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, "control.sock")
		if _, err := Dial(t.Context(), path); !errors.Is(err, ErrNoServer) {
			t.Errorf("got %v where there is nothing", err)
		}
		// The socket of a killed server.
		dead, err := Listen(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		_ = dead.ln.Close()
		if _, err := os.Lstat(path); err != nil {
			t.Fatalf("there is no socket to begin with: %v", err)
		}
		if _, err := Dial(t.Context(), path); !errors.Is(err, ErrNoServer) {
			t.Errorf("got %v where nobody listens", err)
		}
		startServer(t, path, nil)
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != 0o600 || info.Mode().Type() != os.ModeSocket {
			t.Errorf("got %v, %v", info, err)
		}
	}
	if _, err := Listen(filepath.Join(t.TempDir(), "nowhere", "s"), nil); err == nil {
		t.Error("got no error for a folder that is not there")
	}
	if _, err := Listen(filepath.Join(t.TempDir(), strings.Repeat("nowhere", 30), "s"), nil); err == nil {
		t.Error("got no error for a long path that is not there")
	}
}
