package job_test

import (
	"context"
	"testing"
	"time"

	"fanfare/internal/clock"
	"fanfare/internal/ident"
	"fanfare/internal/record"
)

// TestRegister checks the limits of handlers, and that a job which needs facts
// waits for them while others run.
func TestRegister(t *testing.T) {
	t.Parallel()
	var short, long visits
	within(t, func(r *running) {
		short.start, long.start = r.start, r.start
		visit := func(v *visits, limit time.Duration) func(context.Context, ident.ID, ident.ID, int64) (*clock.Instant, error) {
			return func(ctx context.Context, _, _ ident.ID, attempt int64) (*clock.Instant, error) {
				v.note()
				if end, ok := ctx.Deadline(); !ok || !end.Equal(time.Now().Add(limit)) {
					t.Errorf("a job with the limit %v may take until %v", limit, end)
				}
				if want := int64(len(v.all())); attempt < want {
					t.Errorf("got attempt %d want %d", attempt, want)
				}
				return nil, nil
			}
		}
		r.Register([]record.JobHandler{
			{Kind: "short", Run: visit(&short, working)},
			{Kind: "long", Limit: time.Hour, NeedsFacts: true, Run: visit(&long, time.Hour)},
		}, func() time.Duration {
			if time.Since(r.start) < 20*time.Second {
				return 15 * time.Second
			}
			return 0
		})
		r.store.plan("one", "short", r.start)
		r.store.plan("two", "long", r.start)
	}, func(t *testing.T, r *running) {
		r.at(time.Minute)
		short.want(t, 0)
		long.want(t, 30*time.Second)
	})
}
