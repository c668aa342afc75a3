// Package job runs background jobs with leases. A claim moves a job's due time
// to the end of the lease, so that the job of a dead worker becomes due again.
// A completion counts only for the attempt that it belongs to. A job can run
// twice, so workers must be idempotent.
package job

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"fanfare/internal/clock"
	"fanfare/internal/fairqueue"
	"fanfare/internal/ident"
	"fanfare/internal/record"
)

// Job is one claimed job.
type Job struct {
	ID          ident.ID
	WorkspaceID ident.ID
	Kind        string
	Args        string
	Attempt     int64
	LeaseEnd    clock.Instant
}

// Store stores jobs.
type Store interface {
	Claim(ctx context.Context, now, leaseEnd clock.Instant, most int) ([]Job, error)
	Due(ctx context.Context) (at clock.Instant, ok bool, err error)
	Done(ctx context.Context, j Job) error
	Again(ctx context.Context, j Job, at clock.Instant, why string) error
	// Extend moves the end of a lease that the worker still has, and reports
	// whether it did.
	Extend(ctx context.Context, j Job, leaseEnd clock.Instant) (bool, error)
	Ensure(ctx context.Context, kind string, at clock.Instant) error
	Release(ctx context.Context, now clock.Instant) error
}

// Worker runs jobs of one kind. It returns the time of the next run, nil for
// none. After an error the job is retried.
type Worker func(ctx context.Context, j Job) (again *clock.Instant, err error)

// Every returns a worker that runs work once and asks to run again after d. After
// an error the job is retried as usual.
func Every(d time.Duration, now func() time.Time, work func(context.Context) error) Worker {
	return func(ctx context.Context, _ Job) (*clock.Instant, error) {
		if err := work(ctx); err != nil {
			return nil, err
		}
		next := clock.At(now().Add(d))
		return &next, nil
	}
}

const (
	lease   = 30 * time.Second
	poll    = time.Second
	atOnce  = 64
	longest = 10 * time.Minute
	// PerFounder is how many jobs of one founder's workspaces run at once, so
	// that there is always room for those of others.
	PerFounder = 3 * atOnce / 4
	// resultTimeout is the last part of a lease, reserved for storing the result. The
	// worker may use the time before it.
	resultTimeout = 5 * time.Second
)

// Runner claims and runs jobs until it is stopped.
type Runner struct {
	store   Store
	workers map[string]Worker
	// limits are the time limits of workers that may run longer than a lease.
	limits map[string]time.Duration
	// periodic lists the kinds that are always scheduled.
	periodic []string
	now      func() time.Time
	log      *slog.Logger
	wake     chan struct{}
	running  sync.WaitGroup
}

// New creates a runner.
func New(store Store, now func() time.Time, log *slog.Logger) *Runner {
	return &Runner{store: store, workers: map[string]Worker{}, limits: map[string]time.Duration{}, now: now, log: log, wake: make(chan struct{}, 1)}
}

// Handle registers the worker of a kind.
func (r *Runner) Handle(kind string, w Worker) { r.workers[kind] = w }

// HandleLong registers the worker of a kind that may run longer than a lease.
// The lease is extended while it runs.
func (r *Runner) HandleLong(kind string, limit time.Duration, w Worker) {
	r.Handle(kind, w)
	r.limits[kind] = limit
}

// Register registers the handlers of a slice. factsWait returns how long a job
// that needs facts has to wait for them, 0 if this node has them.
func (r *Runner) Register(handlers []record.JobHandler, factsWait func() time.Duration) {
	for _, h := range handlers {
		w := func(ctx context.Context, j Job) (*clock.Instant, error) {
			if h.NeedsFacts {
				if wait := factsWait(); wait > 0 {
					again := clock.At(r.now().Add(wait))
					return &again, nil
				}
			}
			return h.Run(ctx, j.WorkspaceID, ident.ID(j.Args), j.Attempt)
		}
		if h.Limit > 0 {
			r.HandleLong(h.Kind, h.Limit, w)
		} else {
			r.Handle(h.Kind, w)
		}
	}
}

// Repeat registers a worker that is always scheduled, once for all nodes.
func (r *Runner) Repeat(kind string, w Worker) {
	r.Handle(kind, w)
	r.periodic = append(r.periodic, kind)
}

// Wake makes the runner look for new jobs. It never blocks.
func (r *Runner) Wake() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// Run runs jobs until ctx ends, then waits for the running ones.
func (r *Runner) Run(ctx context.Context) error {
	defer r.running.Wait()
	now := clock.At(r.now())
	if err := r.store.Release(ctx, now); err != nil {
		return fmt.Errorf("release jobs: %w", err)
	}
	for _, kind := range r.periodic {
		if err := r.store.Ensure(ctx, kind, now); err != nil {
			return fmt.Errorf("plan %s: %w", kind, err)
		}
	}
	slots := make(chan struct{}, atOnce)
	for ctx.Err() == nil {
		err := r.round(ctx, slots)
		if err != nil && ctx.Err() == nil {
			r.log.Error("claim jobs failed: check that the database is available", "error", err)
		}
		wait := poll
		// If all slots are busy, a due job must not end the wait at once. A
		// worker that finishes calls Wake.
		if err == nil && len(slots) < cap(slots) {
			wait = r.untilDue(ctx)
		}
		r.pause(ctx, wait)
	}
	return nil
}

// round claims due jobs and starts them.
func (r *Runner) round(ctx context.Context, slots chan struct{}) error {
	free := cap(slots) - len(slots)
	if free == 0 {
		return nil
	}
	at, ok, err := r.store.Due(ctx)
	now := r.now()
	if err != nil || !ok || at > clock.At(now) {
		return err
	}
	jobs, err := r.store.Claim(ctx, clock.At(now), clock.At(now.Add(lease)), free)
	for _, j := range jobs {
		slots <- struct{}{}
		r.running.Go(func() {
			defer func() { <-slots; r.Wake() }()
			r.runJob(ctx, j)
		})
	}
	return err
}

// untilDue returns the time until the next job is due, at most poll.
func (r *Runner) untilDue(ctx context.Context) time.Duration {
	at, ok, err := r.store.Due(ctx)
	if err != nil || !ok {
		return poll
	}
	return min(poll, max(time.Millisecond, at.Time().Sub(r.now())))
}

// pause waits until the time has passed, Wake is called or ctx ends.
func (r *Runner) pause(ctx context.Context, wait time.Duration) {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-r.wake:
	case <-timer.C:
	}
}

// runJob runs one job within its lease and stores the result. The store ignores
// the result if the lease has ended and another worker has the job. A shutdown
// waits for jobs that fit in one lease; longer jobs are canceled and continue
// on another node or after a restart.
func (r *Runner) runJob(stop context.Context, j Job) {
	ctx := fairqueue.InBackground(context.WithoutCancel(stop))
	again, err := r.work(ctx, stop, &j)
	ctx, cancel := context.WithTimeout(ctx, resultTimeout)
	defer cancel()
	switch {
	case err != nil && stop.Err() != nil:
		// A shutdown is no failure: the job continues after the next start.
		err = r.store.Again(ctx, j, clock.At(r.now()), "")
	case err != nil:
		wait := Backoff(j.Attempt)
		r.log.Warn("job failed", "kind", j.Kind, "args", j.Args, "attempt", j.Attempt, "again_in", wait, "error", err)
		err = r.store.Again(ctx, j, clock.At(r.now().Add(wait)), err.Error())
	case again != nil:
		err = r.store.Again(ctx, j, *again, "")
	default:
		err = r.store.Done(ctx, j)
	}
	if err != nil {
		r.log.Error("job result not stored: the job will run again", "kind", j.Kind, "error", err)
	}
}

func (r *Runner) work(ctx, stop context.Context, j *Job) (again *clock.Instant, err error) {
	w := r.workers[j.Kind]
	if w == nil {
		return nil, errors.New("no worker for this kind")
	}
	limit, long := r.limits[j.Kind]
	if !long {
		limit = j.LeaseEnd.Time().Sub(r.now()) - resultTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	if long {
		defer r.extendLease(ctx, cancel, j)()
		defer context.AfterFunc(stop, cancel)()
	}
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return w(ctx, *j)
}

// extendLease extends the lease of a job until ctx ends, and cancels ctx if another
// worker has the job. The returned function waits for the end; after it, j has
// the last lease.
func (r *Runner) extendLease(ctx context.Context, cancel context.CancelFunc, j *Job) func() {
	done := make(chan struct{})
	held := *j
	go func() {
		defer close(done)
		ticker := time.NewTicker(lease / 2)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
			// An extension that has begun must complete, so that held has the
			// lease end of the store.
			end := clock.At(r.now().Add(lease))
			ok, err := r.extend(context.WithoutCancel(ctx), held, end)
			switch {
			case err != nil:
				r.log.Warn("job lease not extended: another node can run the job too", "kind", held.Kind, "error", err)
			case !ok:
				cancel()
				return
			default:
				held.LeaseEnd = end
			}
		}
	}()
	return func() {
		<-done
		j.LeaseEnd = held.LeaseEnd
	}
}

func (r *Runner) extend(ctx context.Context, j Job, end clock.Instant) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, resultTimeout)
	defer cancel()
	return r.store.Extend(ctx, j, end)
}

// Backoff returns the delay before the next attempt: one second, doubled with
// each attempt up to ten minutes, plus or minus 20 percent.
func Backoff(attempt int64) time.Duration {
	d := longest
	if attempt <= 10 {
		d = min(longest, time.Second<<max(0, attempt-1))
	}
	return time.Duration(float64(d) * (0.8 + 0.4*rand.Float64()))
}
