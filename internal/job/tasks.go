package job

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// Tasks run in this process until their context ends. A task is stored nowhere
// and runs on every node; a job is stored and runs on one of them.
type Tasks struct {
	sync.WaitGroup
	Log *slog.Logger
}

// Every calls task after each interval until ctx ends. After an error it logs
// the name and continues.
func (t *Tasks) Every(ctx context.Context, interval time.Duration, name string, task func(context.Context) error) {
	t.Go(func() {
		ticker := time.NewTicker(interval)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
			if err := task(ctx); err != nil && ctx.Err() == nil {
				t.Log.Error("background task failed, it will be tried again", "task", name, "error", err)
			}
		}
	})
}

// startRetry is how long RunAlways waits before it tries to start again.
const startRetry = time.Second

// RunAlways runs jobs until ctx ends, also if the store is unavailable when it
// is called.
func (r *Runner) RunAlways(ctx context.Context) {
	for ctx.Err() == nil {
		if err := r.Run(ctx); err != nil && ctx.Err() == nil {
			r.log.Error("background jobs not started: check that the database is available", "error", err, "again_in", startRetry)
			select {
			case <-ctx.Done():
			case <-time.After(startRetry):
			}
		}
	}
}
