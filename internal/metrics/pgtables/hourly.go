package pgtables

import (
	"context"
	"log/slog"
	"time"
)

// Hourly runs work every hour until ctx ends. It logs errors under the name.
func Hourly(ctx context.Context, name string, work func(context.Context) error) {
	tick := time.NewTicker(time.Hour)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if err := work(ctx); err != nil && ctx.Err() == nil {
				slog.Warn("hourly work failed", "work", name, "error", err)
			}
		}
	}
}
