package job_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"fanfare/internal/clock"
	"fanfare/internal/ident"
	"fanfare/internal/job"
)

var errDown = errors.New("the store is down")

// fake stores jobs in memory, with the rules of the real store.
type fake struct {
	mu    sync.Mutex
	jobs  map[ident.ID]*row
	calls int
	down  bool
}

type row struct {
	job.Job
	runAt clock.Instant
	last  string
}

func (f *fake) lock() (func(), error) {
	f.mu.Lock()
	f.calls++
	if f.down {
		f.mu.Unlock()
		return nil, errDown
	}
	return f.mu.Unlock, nil
}

// plan adds a job, as the transaction of a record does.
func (f *fake) plan(id ident.ID, kind string, at time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.jobs == nil {
		f.jobs = map[ident.ID]*row{}
	}
	f.jobs[id] = &row{Job: job.Job{ID: id, Kind: kind}, runAt: clock.At(at)}
}

func (f *fake) row(id ident.ID) (row, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	r, ok := f.jobs[id]
	if !ok {
		return row{}, false
	}
	return *r, true
}

func (f *fake) setDown(down bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.down = down
}

func (f *fake) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls
}

func (f *fake) Claim(_ context.Context, now, leaseEnd clock.Instant, most int) ([]job.Job, error) {
	unlock, err := f.lock()
	if err != nil {
		return nil, err
	}
	defer unlock()
	var due []*row
	for _, r := range f.jobs {
		if r.runAt <= now {
			due = append(due, r)
		}
	}
	slices.SortFunc(due, func(a, b *row) int { return int(a.runAt - b.runAt) })
	var list []job.Job
	for _, r := range due[:min(most, len(due))] {
		r.runAt, r.LeaseEnd = leaseEnd, leaseEnd
		r.Attempt++
		list = append(list, r.Job)
	}
	return list, nil
}

func (f *fake) Due(context.Context) (at clock.Instant, ok bool, err error) {
	unlock, err := f.lock()
	if err != nil {
		return 0, false, err
	}
	defer unlock()
	for _, r := range f.jobs {
		if !ok || r.runAt < at {
			at, ok = r.runAt, true
		}
	}
	return at, ok, nil
}

func (f *fake) held(j job.Job) *row {
	if r := f.jobs[j.ID]; r != nil && r.Attempt == j.Attempt && r.runAt == j.LeaseEnd {
		return r
	}
	return nil
}

func (f *fake) Done(ctx context.Context, j job.Job) error {
	unlock, err := f.lock()
	if err != nil {
		return err
	}
	defer unlock()
	if f.held(j) != nil {
		delete(f.jobs, j.ID)
	}
	return ctx.Err()
}

func (f *fake) Again(ctx context.Context, j job.Job, at clock.Instant, why string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	unlock, err := f.lock()
	if err != nil {
		return err
	}
	defer unlock()
	if r := f.held(j); r != nil {
		r.runAt, r.last = at, why
		if why == "" {
			r.Attempt = 0
		}
	}
	return nil
}

func (f *fake) Extend(_ context.Context, j job.Job, leaseEnd clock.Instant) (bool, error) {
	unlock, err := f.lock()
	if err != nil {
		return false, err
	}
	defer unlock()
	r := f.held(j)
	if r == nil {
		return false, nil
	}
	r.runAt = leaseEnd
	return true, nil
}

func (f *fake) Ensure(_ context.Context, kind string, at clock.Instant) error {
	unlock, err := f.lock()
	if err != nil {
		return err
	}
	defer unlock()
	if f.jobs == nil {
		f.jobs = map[ident.ID]*row{}
	}
	if f.jobs[ident.ID(kind)] == nil {
		f.jobs[ident.ID(kind)] = &row{Job: job.Job{ID: ident.ID(kind), Kind: kind}, runAt: at}
	}
	return nil
}

func (f *fake) Release(context.Context, clock.Instant) error {
	unlock, err := f.lock()
	if err == nil {
		unlock()
	}
	return err
}

// running is a runner in a synctest bubble.
type running struct {
	*job.Runner
	store *fake
	log   *bytes.Buffer
	start time.Time
	ended chan error
	stop  context.CancelFunc
}

// within runs a test in a synctest bubble and stops its runner at the end.
func within(t *testing.T, prepare func(r *running), test func(t *testing.T, r *running)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := &running{store: &fake{}, log: &bytes.Buffer{}, start: time.Now(), ended: make(chan error, 1)}
		r.Runner = job.New(r.store, time.Now, slog.New(slog.NewTextHandler(r.log, nil)))
		prepare(r)
		ctx, stop := context.WithCancel(context.Background())
		r.stop = stop
		go func() { r.ended <- r.Run(ctx) }()
		synctest.Wait()
		test(t, r)
		stop()
		if err := <-r.ended; err != nil {
			t.Errorf("run: %v", err)
		}
	})
}

// at waits until a duration after the start.
func (r *running) at(d time.Duration) {
	time.Sleep(time.Until(r.start.Add(d)))
	synctest.Wait()
}

// visits records when a worker ran.
type visits struct {
	mu    sync.Mutex
	start time.Time
	list  []time.Duration
}

func (v *visits) note() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.list = append(v.list, time.Since(v.start))
	return len(v.list)
}

func (v *visits) all() []time.Duration {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Clone(v.list)
}

func (v *visits) want(t *testing.T, want ...time.Duration) {
	t.Helper()
	if got := v.all(); !slices.Equal(got, want) {
		t.Errorf("worked at %v want %v", got, want)
	}
}

func name(i int) ident.ID { return ident.ID(fmt.Sprintf("job_%03d", i)) }
