package job_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fanfare/internal/clock"
	"fanfare/internal/job"
)

// TestTasks checks that a task runs after each interval, also after an error,
// and that Wait waits for its end.
func TestTasks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var text strings.Builder
		tasks := job.Tasks{Log: slog.New(slog.NewTextHandler(&text, nil))}
		ctx, stop := context.WithCancel(t.Context())
		runs := 0
		tasks.Every(ctx, time.Minute, "count", func(context.Context) error {
			if runs++; runs == 2 {
				return errDown
			}
			return nil
		})
		time.Sleep(3*time.Minute + time.Second)
		stop()
		tasks.Wait()
		if got := strings.Count(text.String(), "task=count"); runs != 3 || got != 1 || !strings.Contains(text.String(), errDown.Error()) {
			t.Errorf("got %d runs and the log %s want 3 runs, one of which is logged", runs, text.String())
		}
	})
}

// TestRunAlways starts jobs while the store is unavailable. They run once it is
// back.
func TestRunAlways(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &fake{down: true}
		store.plan("one", "note", time.Now())
		runner := job.New(store, time.Now, slog.New(slog.DiscardHandler))
		done := false
		runner.Handle("note", func(context.Context, job.Job) (*clock.Instant, error) { done = true; return nil, nil })
		ctx, stop := context.WithCancel(t.Context())
		tasks := job.Tasks{}
		tasks.Go(func() { runner.RunAlways(ctx) })
		time.Sleep(10*time.Second + time.Millisecond)
		if got := store.count(); got != 11 || done {
			t.Errorf("got %d attempts to start in 10 seconds want 11", got)
		}
		store.setDown(false)
		time.Sleep(time.Second)
		stop()
		tasks.Wait()
		if !done {
			t.Error("the job did not run after the store was back")
		}
	})
}
