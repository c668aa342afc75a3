package guard_test

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"fanfare/internal/account"
	"fanfare/internal/fanfaretest"
	"fanfare/internal/ratelimit"
	"fanfare/internal/store"
	"fanfare/internal/store/sqlite"
)

func openFile(t *testing.T, path string) store.Engine {
	t.Helper()
	e, err := sqlite.Open(path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// remaining returns how many requests a workspace may still send in its minute
// and its day.
func remaining(t *testing.T, c *fanfaretest.Client) (minute, day float64) {
	t.Helper()
	quotas := c.Do("GET", "/v1/me", nil).Want(200).Record()["quotas"].(map[string]any)
	of := func(name string) float64 { return quotas[name].(map[string]any)["remaining"].(float64) }
	return of("minute"), of("day")
}

// TestR1Restart: a regular restart loses no counts of the day or the minute.
func TestR1Restart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fanfare.db")
	small := withStarterLimits(ratelimit.Limits{PerMinute: 30, PerDay: 50})
	w := fanfaretest.New(t, openFile(t, path), small)
	a := w.Tenant(account.Starter)
	for range 20 {
		a.Do("GET", "/v1", nil).Want(200)
	}
	w.Clock.Advance(time.Minute)
	for range 10 {
		a.Do("GET", "/v1", nil).Want(200)
	}
	if err := w.App.Close(); err != nil {
		t.Fatal(err)
	}
	again := fanfaretest.New(t, openFile(t, path), small)
	again.Clock.Advance(time.Minute + 30*time.Second)
	c := again.Client(a.Key)
	if minute, day := remaining(t, c); minute != 19 || day != 19 {
		t.Errorf("got %v and %v left after a restart, want 19 and 19", minute, day)
	}
	for range 19 {
		c.Do("GET", "/v1", nil).Want(200)
	}
	c.Do("GET", "/v1", nil).WantError(429, "rate_limit_exceeded")
}

// copyFile copies the state of a file that a crash would leave.
func copyFile(t *testing.T, from, to string) {
	t.Helper()
	in, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.Close() }()
	out, err := os.Create(to)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(out, in); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
}

// notifyingEngine signals when something was written.
type notifyingEngine struct {
	store.Engine
	wrote chan struct{}
}

func (n *notifyingEngine) Write(ctx context.Context, fn func(store.Tx) error) error {
	err := n.Engine.Write(ctx, fn)
	select {
	case n.wrote <- struct{}{}:
	default:
	}
	return err
}

func (n *notifyingEngine) WriteAsync(ctx context.Context, fn func(store.Tx) error) error {
	return n.Write(ctx, fn)
}

// TestR1Crash: a crash loses at most the counts since the last save, which the
// service makes every second.
func TestR1Crash(t *testing.T) {
	path, crashed := filepath.Join(t.TempDir(), "fanfare.db"), filepath.Join(t.TempDir(), "fanfare.db")
	e := &notifyingEngine{openFile(t, path), make(chan struct{}, 1)}
	w := fanfaretest.New(t, e)
	a := w.Tenant(account.Starter)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		w.App.Run(ctx)
	}()
	spend := func(n int) {
		for range n {
			a.Do("GET", "/v1", nil).Want(200)
		}
	}
	saved := func(n int64) {
		for {
			usage, err := w.App.DB.Quotas().LoadUsage(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if usage[a.Workspace].Day == n {
				return
			}
			<-e.wrote
		}
	}
	spend(20)
	saved(20)
	spend(7)
	saved(27)
	cancel()
	<-ended
	spend(5) // lost
	copyFile(t, path, crashed)
	copyFile(t, path+"-wal", crashed+"-wal")
	again := fanfaretest.New(t, openFile(t, crashed))
	if minute, _ := remaining(t, again.Client(a.Key)); minute != 60-27-1 {
		t.Errorf("got %v left after a crash, want 32: all but what came after the last save", minute)
	}
}
