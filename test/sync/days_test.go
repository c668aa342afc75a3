package sync_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"fanfare/internal/account"
	"fanfare/internal/app"
	"fanfare/internal/clock"
	"fanfare/internal/fanfaretest"
	"fanfare/internal/ident"
	"fanfare/internal/store/storetest"
)

// inProcessDrill is a drill on the service in this process. Time passes only
// when the service waits, so that weeks take seconds and a seed is
// reproducible.
type inProcessDrill struct {
	*drill
	clock     *storetest.Clock
	app       *app.App
	workspace ident.ID
	// interrupted is how often the work was canceled in the middle.
	interrupted atomic.Int64
	// checked is the last run that was checked.
	checked string
}

// TestDrillDays syncs for ten days, or sixty, with all kinds of faults, and
// cancels the work at random calls.
func TestDrillDays(t *testing.T) {
	t.Parallel()
	d := newInProcessDrill(t)
	days := 60
	if !isFull() {
		days, d.skip = 10, []string{"initial", "backfill"}
	}
	d.connect()
	d.cancelSkipped()
	first := d.firstCompared()
	d.addFaults()
	for range days {
		d.day()
	}
	d.clearSandbox("faults")
	d.clock.Advance(time.Hour)
	d.repairConnection()
	r := d.finalSync(first)
	for range 100 {
		if r = d.readRun(r.ID); r.hasEnded() {
			break
		}
		d.runUntil(d.Context(), d.clock.Now().Add(time.Hour))
	}
	if r.Status != "succeeded" || len(r.Drift) > 0 {
		t.Fatalf("last run: got %+v want succeeded without drift", r)
	}
	warned := d.counts.warned
	n := d.compareWithTruth(first, d.today())
	if d.counts.warned != warned {
		t.Errorf("got %d other values on days that are called incomplete want none after the last run", d.counts.warned-warned)
	}
	d.report(days, n)
	t.Logf("broken off %d times; %d sums were equal to the truth right after a run; %d others were on days of breakdowns that the answer called incomplete", d.interrupted.Load(), d.counts.checked-warned, warned)
}

func newInProcessDrill(t *testing.T) *inProcessDrill {
	t.Helper()
	d := &inProcessDrill{clock: storetest.NewClock(startTime)}
	d.drill = newDrill(t, d.clock.Now)
	w := fanfaretest.New(t, nil, func(c *app.Config) {
		c.Now, c.Sandbox, c.Limits = d.clock.Now, d.url, nil
		c.Sleep = func(ctx context.Context, wait time.Duration) error {
			d.clock.Advance(wait)
			return ctx.Err()
		}
	})
	tenant := w.Tenant(account.Enterprise)
	d.app, d.workspace, d.advance = w.App, tenant.Workspace, d.clock.Advance
	d.call = func(method, path, body string) (int, []byte) {
		var sent any
		if body != "" {
			sent = body
		}
		r := tenant.Do(method, path, sent)
		return r.Status, r.Body
	}
	return d
}

// day advances the clock by a day.
func (d *inProcessDrill) day() {
	d.Helper()
	end := d.clock.Now().Add(24 * time.Hour)
	for d.clock.Now().Before(end) {
		if d.r.IntN(10) == 0 {
			d.requestSync(d.today())
		}
		ctx, cancel := context.WithCancel(d.Context())
		if d.r.IntN(4) == 0 {
			var left atomic.Int64
			left.Store(int64(1 + d.r.IntN(100)))
			told := func(string) {
				if left.Add(-1) == 0 {
					d.interrupted.Add(1)
					cancel()
				}
			}
			d.onCall.Store(&told)
		}
		d.runUntil(ctx, end)
		cancel()
		d.onCall.Store(nil)
		d.checkRun()
		d.repairConnection()
	}
	d.countFaults()
}

// checkRun checks a succeeded run: all its days are stored as they were
// reported on the day of the run.
func (d *inProcessDrill) checkRun() {
	d.Helper()
	s := d.state()
	if s.Sync.Last == "" || s.Sync.Last == d.checked {
		return
	}
	d.checked = s.Sync.Last
	r := d.readRun(s.Sync.Last)
	// There is a slice for every stream of each account that the platform
	// listed.
	if r.Streams[0].Slices < len(s.Accounts) {
		return
	}
	if r.Status != "succeeded" || r.Trigger == "backfill" || d.dayOf(r.Started.Time()) != d.today() {
		return
	}
	d.counts.checked += d.compareWithTruth(r.Window.First, min(r.Window.Last, d.today()))
	if d.Failed() {
		for _, e := range d.sandbox.Journal() {
			if e.Fault != "" {
				d.Logf("%s %s %s: %s", e.Platform, e.Method, e.Path, e.Fault)
			}
		}
		d.Fatalf("run %s of %s to %s is not what it says: %+v", r.ID, r.Window.First, r.Window.Last, r)
	}
}

// runUntil does all due work and advances the clock to the next work, but not
// beyond an end.
func (d *inProcessDrill) runUntil(ctx context.Context, end time.Time) {
	d.Helper()
	again, err := d.app.Connections.Work(ctx, d.workspace, ident.ID(d.id))
	now := clock.At(d.clock.Now())
	switch {
	case ctx.Err() != nil:
		// The next worker must wait for the lease of the previous one.
		d.clock.Advance(time.Minute)
	case err != nil:
		d.Fatalf("work: %v", err)
	case again == nil:
		d.clock.Advance(time.Hour)
	case again.Time().After(end):
		d.clock.Advance(end.Sub(d.clock.Now()))
	default:
		d.clock.Advance(time.Duration(max(0, *again-now)) * time.Microsecond)
	}
}
