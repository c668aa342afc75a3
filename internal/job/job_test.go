package job_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"fanfare/internal/clock"
	"fanfare/internal/fairqueue"
	"fanfare/internal/job"
)

const (
	lease   = 30 * time.Second
	working = 25 * time.Second
)

func TestBackoff(t *testing.T) {
	t.Parallel()
	for attempt, base := range map[int64]time.Duration{
		0: time.Second, 1: time.Second, 2: 2 * time.Second, 3: 4 * time.Second, 9: 256 * time.Second, 10: 512 * time.Second,
		11: 10 * time.Minute, 64: 10 * time.Minute, 1 << 40: 10 * time.Minute,
	} {
		least, most := 1000*time.Hour, time.Duration(0)
		for range 1000 {
			d := job.Backoff(attempt)
			least, most = min(least, d), max(most, d)
		}
		if low, high := base*8/10, base*12/10; least < low || most > high || least == most {
			t.Errorf("attempt %d: got %v to %v want %v to %v", attempt, least, most, low, high)
		}
	}
}

// TestTurnsInBackground wants the work of jobs to come after requests.
func TestTurnsInBackground(t *testing.T) {
	t.Parallel()
	var leave func()
	within(t, func(r *running) {
		q := fairqueue.New(fairqueue.Limits{Work: "jobs", Running: 1, PerWorkspace: 1}, nil)
		var err error
		if leave, err = q.Take(t.Context(), "wks_1", time.Minute); err != nil {
			t.Fatal(err)
		}
		r.Handle("take", func(ctx context.Context, _ job.Job) (*clock.Instant, error) {
			// A request would be refused: the workspace is at its limit.
			own, err := q.Take(ctx, "wks_1", time.Second)
			if err != nil {
				t.Errorf("got %v want a turn", err)
				return nil, err
			}
			own()
			return nil, nil
		})
		r.store.plan("one", "take", r.start)
	}, func(_ *testing.T, r *running) {
		r.at(time.Second)
		leave()
		synctest.Wait()
	})
}

// TestMoments checks jobs that are due later, due now with and without a
// wake-up, and no job.
func TestMoments(t *testing.T) {
	t.Parallel()
	var v visits
	within(t, func(r *running) {
		v.start = r.start
		r.Handle("note", func(context.Context, job.Job) (*clock.Instant, error) { v.note(); return nil, nil })
		r.store.plan("later", "note", r.start.Add(90*time.Second))
	}, func(t *testing.T, r *running) {
		r.at(10*time.Second + 100*time.Millisecond)
		r.store.plan("now", "note", time.Now())
		r.Wake()
		synctest.Wait()
		r.at(20*time.Second + 300*time.Millisecond)
		r.store.plan("unannounced", "note", time.Now())
		r.at(2 * time.Minute)
		got := v.all()
		if len(got) != 3 {
			t.Fatalf("worked at %v", got)
		}
		if late := got[1] - (20*time.Second + 300*time.Millisecond); late > time.Second {
			t.Errorf("what nobody announced waited %v, more than a poll", late)
		}
		v.want(t, 10*time.Second+100*time.Millisecond, got[1], 90*time.Second)
		if _, ok, _ := r.store.Due(t.Context()); ok {
			t.Error("a finished job is still there")
		}
	})
}

// TestRetries makes a job fail seven times, in three ways, and then succeed.
func TestRetries(t *testing.T) {
	t.Parallel()
	var v visits
	within(t, func(r *running) {
		v.start = r.start
		r.Handle("shaky", func(ctx context.Context, j job.Job) (*clock.Instant, error) {
			n := v.note()
			if j.Attempt != int64(n) {
				t.Errorf("run %d has attempt %d", n, j.Attempt)
			}
			if end, ok := ctx.Deadline(); !ok || !end.Equal(time.Now().Add(working)) {
				t.Errorf("run %d may take until %v", n, end)
			}
			switch {
			case n == 8:
				return nil, nil
			case n%3 == 1:
				panic("lost marbles")
			}
			return nil, errors.New("not yet")
		})
		r.store.plan("job", "shaky", r.start)
	}, func(t *testing.T, r *running) {
		r.at(time.Millisecond)
		if row, _ := r.store.row("job"); !strings.Contains(row.last, "lost marbles") {
			t.Errorf("the job's last error is %q", row.last)
		}
		r.at(10 * time.Minute)
		times := v.all()
		if len(times) != 8 {
			t.Fatalf("worked at %v", times)
		}
		for i, base := 1, time.Second; i < len(times); i, base = i+1, base*2 {
			if wait := times[i] - times[i-1]; wait < base*8/10-time.Millisecond || wait > base*12/10+time.Millisecond {
				t.Errorf("run %d came after %v, want about %v", i+1, wait, base)
			}
		}
		if _, ok := r.store.row("job"); ok {
			t.Error("the job is still there")
		}
		if n := strings.Count(r.log.String(), "job failed"); n != 7 {
			t.Errorf("%d failures are in the log, want 7", n)
		}
	})
}

func TestUnknownKind(t *testing.T) {
	t.Parallel()
	within(t, func(r *running) { r.store.plan("job", "nobody", r.start) }, func(t *testing.T, r *running) {
		r.at(10 * time.Second)
		if row, ok := r.store.row("job"); !ok || row.Attempt < 2 || !strings.Contains(row.last, "no worker") {
			t.Errorf("got %+v", row)
		}
	})
}

// TestLease checks a worker that respects its deadline and one that does not.
func TestLease(t *testing.T) {
	t.Parallel()
	var obedient, deaf visits
	within(t, func(r *running) {
		obedient.start, deaf.start = r.start, r.start
		r.Handle("obedient", func(ctx context.Context, _ job.Job) (*clock.Instant, error) {
			if obedient.note() > 1 {
				return nil, nil
			}
			<-ctx.Done()
			return nil, ctx.Err()
		})
		r.Handle("deaf", func(context.Context, job.Job) (*clock.Instant, error) {
			if deaf.note() > 1 {
				return nil, errors.New("not yet")
			}
			time.Sleep(lease + 300*time.Millisecond)
			return nil, nil // too late: the second run has the job
		})
		r.store.plan("job_o", "obedient", r.start)
		r.store.plan("job_d", "deaf", r.start)
	}, func(t *testing.T, r *running) {
		r.at(working + 100*time.Millisecond)
		obedient.want(t, 0)
		if row, ok := r.store.row("job_o"); !ok || !strings.Contains(row.last, "deadline") || row.runAt.Time().Before(r.start.Add(working+800*time.Millisecond)) {
			t.Errorf("a job that ran out of time is %+v", row)
		}
		r.at(lease + 600*time.Millisecond)
		deaf.want(t, 0, lease)
		if row, ok := r.store.row("job_d"); !ok || row.Attempt != 2 || row.last != "not yet" {
			t.Errorf("a worker that came too late has changed the job: %+v", row)
		}
		if n := len(obedient.all()); n != 2 {
			t.Errorf("the job ran %d times want 2", n)
		}
	})
}

// TestLongWork checks that a worker that needs several leases keeps its job,
// that a worker is stopped at its limit, and that a worker whose job was taken
// away is canceled.
func TestLongWork(t *testing.T) {
	t.Parallel()
	const limit = 5 * lease
	var steady, endless, robbed visits
	within(t, func(r *running) {
		steady.start, endless.start, robbed.start = r.start, r.start, r.start
		r.HandleLong("steady", limit, func(context.Context, job.Job) (*clock.Instant, error) {
			steady.note()
			time.Sleep(3 * lease)
			return nil, nil
		})
		stubborn := func(v *visits) job.Worker {
			return func(ctx context.Context, _ job.Job) (*clock.Instant, error) {
				if v.note() > 1 {
					return nil, nil
				}
				<-ctx.Done()
				v.note()
				return nil, ctx.Err()
			}
		}
		r.HandleLong("endless", limit, stubborn(&endless))
		r.HandleLong("robbed", limit, stubborn(&robbed))
		r.store.plan("job_s", "steady", r.start)
		r.store.plan("job_e", "endless", r.start)
		r.store.plan("job_r", "robbed", r.start)
	}, func(t *testing.T, r *running) {
		r.at(lease / 4)
		r.store.plan("job_r", "robbed", r.start.Add(10*lease))
		r.at(4 * lease)
		steady.want(t, 0)
		robbed.want(t, 0, lease/2)
		if _, there := r.store.row("job_s"); there {
			t.Error("a job that took three leases is still there after it was done")
		}
		r.at(limit + lease)
		endless.want(t, 0, limit, limit+endless.all()[2]-limit)
	})
}

// TestStopBreaksLongWorkOff checks that a stop does not wait for jobs of many
// leases. Such a job is due at the next start and does not count as failed.
func TestStopBreaksLongWorkOff(t *testing.T) {
	t.Parallel()
	var v visits
	within(t, func(r *running) {
		v.start = r.start
		r.HandleLong("long", time.Hour, func(ctx context.Context, _ job.Job) (*clock.Instant, error) {
			<-ctx.Done()
			v.note()
			return nil, ctx.Err()
		})
		r.store.plan("job_l", "long", r.start)
	}, func(t *testing.T, r *running) {
		r.at(2 * lease)
		r.stop()
		synctest.Wait()
		v.want(t, 2*lease)
		row, there := r.store.row("job_l")
		if wait := row.runAt.Time().Sub(r.start) - 2*lease; !there || wait > 0 || row.Attempt != 0 {
			t.Errorf("got a job that is due in %v at attempt %d, want it at once as if it had not begun", wait, row.Attempt)
		}
	})
}

// TestFull checks that at most 64 jobs run at once, and that the runner does
// not poll the store while all slots are busy.
func TestFull(t *testing.T) {
	t.Parallel()
	var now, most, done atomic.Int64
	within(t, func(r *running) {
		r.Handle("slow", func(context.Context, job.Job) (*clock.Instant, error) {
			if n := now.Add(1); n > most.Load() {
				most.Store(n)
			}
			time.Sleep(10 * time.Second)
			now.Add(-1)
			done.Add(1)
			return nil, nil
		})
		for i := range 160 {
			r.store.plan(name(i), "slow", r.start)
		}
	}, func(t *testing.T, r *running) {
		r.at(time.Second)
		before := r.store.count()
		r.at(9 * time.Second)
		if n := r.store.count() - before; n > 20 {
			t.Errorf("the store was asked %d times in 8 seconds while all hands were busy", n)
		}
		r.at(21 * time.Second)
		if done.Load() != 128 {
			t.Errorf("%d jobs are done after 21 seconds, want 128", done.Load())
		}
		r.at(31 * time.Second)
		if done.Load() != 160 || most.Load() != 64 {
			t.Errorf("%d jobs are done, %d ran at once; want 160 and 64", done.Load(), most.Load())
		}
	})
}

// TestStoreDown makes the store unavailable for a minute.
func TestStoreDown(t *testing.T) {
	t.Parallel()
	var v visits
	within(t, func(r *running) {
		v.start = r.start
		r.Handle("note", func(context.Context, job.Job) (*clock.Instant, error) { v.note(); return nil, nil })
		r.store.plan("job", "note", r.start.Add(10*time.Second))
	}, func(t *testing.T, r *running) {
		r.at(5 * time.Second)
		r.store.setDown(true)
		r.at(65 * time.Second)
		if n := strings.Count(r.log.String(), "claim jobs"); n < 10 || n > 70 {
			t.Errorf("an outage of a minute made %d log lines", n)
		}
		r.store.setDown(false)
		r.at(67 * time.Second)
		if got := v.all(); len(got) != 1 {
			t.Errorf("worked at %v", got)
		}
	})
}

func TestDownAtStart(t *testing.T) {
	t.Parallel()
	r := job.New(&fake{down: true}, time.Now, slog.New(slog.DiscardHandler))
	if err := r.Run(t.Context()); !errors.Is(err, errDown) {
		t.Errorf("got %v want %v", err, errDown)
	}
}

// TestStop stops a runner with one running job and one due job.
func TestStop(t *testing.T) {
	t.Parallel()
	var v visits
	within(t, func(r *running) {
		v.start = r.start
		r.Handle("slow", func(ctx context.Context, _ job.Job) (*clock.Instant, error) {
			v.note()
			time.Sleep(20 * time.Second)
			return nil, ctx.Err()
		})
		r.store.plan("running", "slow", r.start)
		r.store.plan("due", "slow", r.start.Add(6*time.Second))
	}, func(t *testing.T, r *running) {
		r.at(5 * time.Second)
		r.stop()
		r.at(10 * time.Second)
		select {
		case <-r.ended:
			t.Error("the runner ended before its job")
		default:
		}
		err := <-r.ended
		r.ended <- err
		if took := time.Since(r.start); took != 20*time.Second {
			t.Errorf("the runner ended after %v want 20s", took)
		}
		v.want(t, 0)
		if _, ok := r.store.row("running"); ok {
			t.Error("the finished job is still there")
		}
		if _, ok := r.store.row("due"); !ok {
			t.Error("the job that was not begun is gone")
		}
	})
}

// TestRepeat runs an hourly job on two nodes.
func TestRepeat(t *testing.T) {
	t.Parallel()
	var v visits
	work := job.Every(time.Hour, time.Now, func(context.Context) error {
		if n := v.note(); n == 3 {
			return errors.New("once in a while")
		}
		return nil
	})
	within(t, func(r *running) {
		v.start = r.start
		r.Repeat("hourly", work)
	}, func(t *testing.T, r *running) {
		second := job.New(r.store, time.Now, slog.New(slog.DiscardHandler))
		second.Repeat("hourly", work)
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- second.Run(ctx) }()
		defer func() { stop(); <-ended }()
		r.at(24 * time.Hour)
		// Runs at 0, 1 and 2 hours and a little later once more, then each hour
		// after that.
		if n := len(v.all()); n != 25 {
			t.Errorf("worked %d times: %v", n, v.all())
		}
		for i, d := range v.all() {
			want := time.Duration(i) * time.Hour
			if i >= 3 {
				want -= time.Hour
			}
			if d < want || d > want+3*time.Minute {
				t.Errorf("run %d was at %v want about %v", i, d, want)
			}
		}
		if row, ok := r.store.row("hourly"); !ok || row.Attempt > 1 {
			t.Errorf("the job is %+v", row)
		}
	})
}
