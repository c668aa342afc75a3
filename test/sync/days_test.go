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

// inside is a drill on the service in this process: time passes when somebody
// waits, so that weeks take seconds and a seed always gives the same.
type inside struct {
	*drill
	clock     *storetest.Clock
	app       *app.App
	workspace ident.ID
	// broken counts how often the work was broken off in the middle.
	broken atomic.Int64
	// checked is the last run that was looked at.
	checked string
}

// TestDrillDays syncs for ten days, or sixty, with faults of every kind, and
// breaks the work off at random calls.
func TestDrillDays(t *testing.T) {
	t.Parallel()
	d := newInside(t)
	days := 60
	if !full() {
		days, d.skip = 10, []string{"initial", "backfill"}
	}
	d.connect()
	d.forget()
	first := d.first()
	d.spoil()
	for range days {
		d.day()
	}
	d.clear("faults")
	d.clock.Advance(time.Hour)
	d.mend()
	r := d.last(first)
	for range 100 {
		if r = d.find(r.ID); r.over() {
			break
		}
		d.work(d.Context(), d.clock.Now().Add(time.Hour))
	}
	if r.Status != "succeeded" || len(r.Drift) > 0 {
		t.Fatalf("last run: got %+v want succeeded without drift", r)
	}
	n := d.compare(first, d.today())
	d.report(days, n)
	t.Logf("broken off %d times; %d sums were equal to the truth right after a run", d.broken.Load(), d.counts.checked)
}

func newInside(t *testing.T) *inside {
	t.Helper()
	d := &inside{clock: storetest.NewClock(start)}
	d.drill = newDrill(t, d.clock.Now)
	w := fanfaretest.New(t, nil, func(c *app.Config) {
		c.Now, c.Sandbox, c.Limits = d.clock.Now, d.url, nil
		c.Sleep = func(ctx context.Context, wait time.Duration) error {
			d.clock.Advance(wait)
			return ctx.Err()
		}
	})
	tenant := w.Tenant(account.Enterprise)
	d.app, d.workspace, d.pass = w.App, tenant.Workspace, d.clock.Advance
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

// day lets a day pass.
func (d *inside) day() {
	d.Helper()
	end := d.clock.Now().Add(24 * time.Hour)
	for d.clock.Now().Before(end) {
		if d.r.IntN(10) == 0 {
			d.request(d.today())
		}
		ctx, cancel := context.WithCancel(d.Context())
		if d.r.IntN(4) == 0 {
			var left atomic.Int64
			left.Store(int64(1 + d.r.IntN(100)))
			told := func() {
				if left.Add(-1) == 0 {
					d.broken.Add(1)
					cancel()
				}
			}
			d.watch.Store(&told)
		}
		d.work(ctx, end)
		cancel()
		d.watch.Store(nil)
		d.check()
		d.mend()
	}
	d.tally()
}

// check looks at a run that calls itself succeeded: faults or not, all of its
// days are there, as they are known on the day on which it was done.
func (d *inside) check() {
	d.Helper()
	s := d.state()
	if s.Sync.Last == "" || s.Sync.Last == d.checked {
		return
	}
	d.checked = s.Sync.Last
	r := d.find(s.Sync.Last)
	// There is a slice for what each account has that the platform listed.
	if r.Streams[0].Slices < len(s.Accounts) {
		return
	}
	if r.Status != "succeeded" || r.Trigger == "backfill" || d.dayOf(r.Started.Time()) != d.today() {
		return
	}
	d.counts.checked += d.compare(r.Window.First, min(r.Window.Last, d.today()))
	if d.Failed() {
		for _, e := range d.sandbox.Journal() {
			if e.Fault != "" {
				d.Logf("%s %s %s: %s", e.Platform, e.Method, e.Path, e.Fault)
			}
		}
		d.Fatalf("run %s of %s to %s is not what it says: %+v", r.ID, r.Window.First, r.Window.Last, r)
	}
}

// work does what is to be done, and lets time pass to when there is more, but
// not beyond an end.
func (d *inside) work(ctx context.Context, end time.Time) {
	d.Helper()
	again, err := d.app.Connections.Work(ctx, d.workspace, ident.ID(d.id))
	now := clock.At(d.clock.Now())
	switch {
	case ctx.Err() != nil:
		// Whoever takes over has to wait for the lease of the one before.
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
