package connection_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"fanfare/internal/adplatform/sandbox"
	"fanfare/internal/clock"
	"fanfare/internal/connection"
	"fanfare/internal/ingest"
)

// TestFirstSync follows a connection from the moment it is made: three months
// are read at once, what is older comes afterwards, and the sums are those of
// the platforms to the last millionth.
func TestFirstSync(t *testing.T) {
	t.Parallel()
	s := newSyncFixture(t)
	s.id = s.connect(map[string]any{"platform": "sandbox", "name": "Sandbox", "config": map[string]any{"seed": sandboxAccounts.Seed}}).OK().ID()
	s.only("meta_ads", "linkedin_ads")
	first := s.runs()[0]
	want(t, "first run", []any{connection.RunQueued, "initial", "full"}, []any{first.Status, first.Trigger, first.Mode})
	if got := s.ask(`{}`); got != first.ID {
		t.Errorf("a sync beside the first: got run %s want %s", got, first.ID)
	}
	s.Sync(s.id)
	first = s.run(first.ID)
	want(t, "first run", []any{connection.RunSucceeded, connection.Days{StartDate: today - 89, EndDate: today}}, []any{first.Status, first.Window})
	want(t, "its drift", []connection.TotalDrift{}, first.Drift)
	if n := metricsOf(t, first); n.SlicesDone != n.SlicesTotal || n.RecordsWritten == 0 || *n.CursorFrom != today-89 || *n.CursorTo != today {
		t.Errorf("got stream %+v want all of its parts done", n)
	}
	sums, warnings := s.spendBy("platform")
	want(t, "spend", map[string]string{"meta_ads": s.truth("meta_ads", today-14), "linkedin_ads": s.truth("linkedin_ads", today-14)}, sums)
	if !slices.Contains(warnings, "sandbox_data") || slices.Contains(warnings, "stale_connections") {
		t.Errorf("got warnings %v want sandbox_data and not stale_connections", warnings)
	}
	c := s.connection()
	want(t, "days", []clock.Date{today - 89, today}, []clock.Date{*c.Sync.BackfilledSince, *c.Sync.DataThrough})
	want(t, "events", []string{"connection.connected", "connection.created", "connection.updated"}, s.events(s.id))
	want(t, "events of the run", []string{"sync.started", "sync.succeeded"}, s.events(string(first.ID)))
	older := s.runs()[0]
	if older.ID == first.ID {
		older = s.runs()[1]
	}
	want(t, "the older days", []any{connection.RunQueued, "backfill", connection.Days{StartDate: today - 729, EndDate: today - 90}}, []any{older.Status, older.Trigger, older.Window})
}

// TestSchedule checks that a sync reads the days that may still change once a
// day, and the last two days in between. Restatements are reported.
func TestSchedule(t *testing.T) {
	withSyncFixture(t, func(t *testing.T, s *syncFixture) {
		s.sync(recent)
		s.Clock.Advance(50 * time.Minute)
		at, err := s.work(t.Context())
		if err != nil || at == nil || at.Sub(s.Clock.Now()) > 16*time.Minute {
			t.Fatalf("got %v, %v want to be called within the hour", at, err)
		}
		want(t, "next run", at.UTC(), s.connection().Sync.NextRunAt.Time().UTC())
		var windows []connection.Days
		for range 3 {
			s.Clock.Advance(70 * time.Minute)
			s.Sync(s.id)
			r := s.runs()[0]
			want(t, "run", []any{connection.RunSucceeded, "scheduled"}, []any{r.Status, r.Trigger})
			windows = append(windows, r.Window)
		}
		short := connection.Days{StartDate: today - 1, EndDate: today}
		want(t, "windows", []connection.Days{{StartDate: today - 30, EndDate: today}, short, short}, windows)

		s.Clock.Advance(24 * time.Hour)
		s.Sync(s.id)
		r := s.runs()[0]
		want(t, "the next day", connection.Days{StartDate: today - 29, EndDate: today + 1}, r.Window)
		if !slices.Contains(r.RestatedDays, today-1) {
			t.Errorf("got corrected days %v want yesterday's among them", r.RestatedDays)
		}
		want(t, "events of the run", []string{"metrics.restated", "sync.started", "sync.succeeded"}, s.events(string(r.ID)))
	}, "tiktok_ads")
}

// TestSyncTogether has many ask for the same at once: there is one run.
func TestSyncTogether(t *testing.T) {
	withSyncFixture(t, func(t *testing.T, s *syncFixture) {
		var answers [8]connection.Run
		var wg sync.WaitGroup
		for i := range answers {
			wg.Go(func() { s.request(`{}`).Decode(&answers[i]) })
		}
		wg.Wait()
		r, found := answers[0], 0
		for _, a := range answers {
			if a.ID != r.ID || a.Status != connection.RunQueued {
				t.Errorf("got run %s, which is %s, want %s", a.ID, a.Status, r.ID)
			}
			if a.Coalesced {
				found++
			}
		}
		want(t, "those who found the run there", 7, found)
		want(t, "runs", 2, len(s.runs())) // and the canceled one
		// A sync of other data is another run.
		if other := s.ask(`{"mode":"full"}`); other == r.ID {
			t.Error("got the same run for more days, want another")
		}
	})
}

// TestSyncRefused tries to sync what cannot be synced.
func TestSyncRefused(t *testing.T) {
	withSyncFixture(t, func(_ *testing.T, s *syncFixture) {
		s.only()
		s.request(nil).Fault("invalid_state")
		s.addFault(sandbox.FaultRule{Fault: sandbox.FaultRevokedToken})
		s.only("meta_ads")
		s.sync(recent)
		s.request(nil).Fault("connection_reauth_required")
		s.disconnect(false).OK()
		s.request(nil).Fault("invalid_state")
		s.reconnect(nil).Fault("invalid_state")

		s.ingest(ingest.DefaultSource, `[{"date":"2026-11-14","clicks":1}]`).OK()
		s.id = s.ownData()
		s.request(nil).Fault("invalid_state")
		s.reconnect(nil).Fault("invalid_state")
		s.id = s.connect(`{"platform":"meta_ads","name":"Waiting"}`).OK().ID()
		s.request(nil).Fault("invalid_state")
	})
}

// TestCancel cancels a run before and while it is done. What it has brought in
// stays, and nothing begins in its place.
func TestCancel(t *testing.T) {
	withSyncFixture(t, func(t *testing.T, s *syncFixture) {
		if at, err := s.work(t.Context()); err != nil || at == nil || !at.After(s.Clock.Now()) || len(s.runs()) != 1 {
			t.Fatalf("after a run was canceled: got %v, %v and %d runs, want nothing to do before the next", at, err, len(s.runs()))
		}
		reads, reached := 0, make(chan struct{})
		s.faults.report = func(ctx context.Context, q connection.Report) error {
			if q.Account != s.tiktok() {
				return nil
			}
			if reads++; reads == 1 {
				close(reached)
				<-ctx.Done()
			}
			return ctx.Err()
		}
		id := s.ask(recent)
		ended := make(chan error, 1)
		go func() {
			_, err := s.work(t.Context())
			ended <- err
		}()
		<-reached
		// TikTok is read while Meta is. All four reports of Meta are stored first.
		for metricsOf(t, s.run(id)).SlicesDone < 4 {
			runtime.Gosched()
		}
		s.cancel(id).OK()
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
		r := s.run(id)
		want(t, "run", []any{connection.RunCanceled, "canceled"}, []any{r.Status, metricsOf(t, r).Status})
		c := s.connection()
		want(t, "connection", []any{connection.StatusConnected, "idle"}, []any{c.Status, c.Sync.State})
		sums, _ := s.spendBy("platform")
		want(t, "what was brought in", map[string]string{"meta_ads": s.truth("meta_ads", today-2)}, sums)
		s.cancel(id).Fault("invalid_state")
	}, "meta_ads", "tiktok_ads")
}

// TestAccountsDuringRun switches accounts on and off while a run is at work:
// the run keeps both.
func TestAccountsDuringRun(t *testing.T) {
	withSyncFixture(t, func(t *testing.T, s *syncFixture) {
		asked := false
		s.faults.report = func(context.Context, connection.Report) error {
			if !asked {
				asked = true
				s.only("meta_ads", "linkedin_ads")
			}
			return nil
		}
		s.sync(recent)
		var enabled []string
		for _, a := range s.connection().Accounts {
			if a.Enabled {
				enabled = append(enabled, a.Platform)
			}
		}
		want(t, "accounts", []string{"meta_ads", "linkedin_ads"}, enabled)
	}, "meta_ads", "tiktok_ads")
}

func (s *syncFixture) tiktok() string {
	a, _ := s.registry.Server().Grant(sandboxAccounts)
	return a[sandbox.TikTokAds].AccountID
}

// TestInterrupted stops a run in the middle, as the end of the process does,
// and continues with the parts that are left.
func TestInterrupted(t *testing.T) {
	withSyncFixture(t, func(t *testing.T, s *syncFixture) {
		type part struct {
			account string
			level   connection.Level
		}
		ctx, stop := context.WithCancel(t.Context())
		var mu sync.Mutex
		var asked []part
		s.faults.report = func(_ context.Context, q connection.Report) error {
			mu.Lock()
			defer mu.Unlock()
			if asked = append(asked, part{q.Account, q.Level}); len(asked) == 7 {
				stop()
				return ctx.Err()
			}
			return nil
		}
		id := s.ask(recent)
		if _, err := s.work(ctx); !errors.Is(err, context.Canceled) {
			t.Fatalf("got %v want that the work was broken off", err)
		}
		r := s.run(id)
		metrics := metricsOf(t, r)
		want(t, "in the middle", []any{connection.RunRunning, true}, []any{r.Status, metrics.SlicesDone > 0 && metrics.SlicesDone < metrics.SlicesTotal})
		before := asked[:6]
		asked = nil
		s.Sync(s.id)
		r = s.run(id)
		want(t, "afterwards", []any{connection.RunSucceeded, int64(2)}, []any{r.Status, r.Attempt})
		// A part of base metrics has three levels and is read as a whole. Of each
		// account, only the interrupted part is read twice.
		twice := map[string]map[connection.Level]bool{s.tiktok(): {}, s.account("meta_ads"): {}}
		for _, p := range before {
			if slices.Contains(asked, p) {
				twice[p.account][max(p.level, connection.LevelAd)] = true
			}
		}
		for account, parts := range twice {
			if len(parts) > 1 {
				t.Errorf("got %v of %s read again, want one part at the most (first %v, then %v)", parts, account, before, asked)
			}
		}
		sums, _ := s.spendBy("platform")
		want(t, "figures", map[string]string{"meta_ads": s.truth("meta_ads", today-2), "tiktok_ads": s.truth("tiktok_ads", today-2)}, sums)
	}, "meta_ads", "tiktok_ads")
}

// TestThrottled makes a platform request a longer wait than a call has. The
// other platforms are read meanwhile, and the run continues after the wait.
func TestThrottled(t *testing.T) {
	withSyncFixture(t, func(t *testing.T, s *syncFixture) {
		once := 1
		s.addFault(sandbox.FaultRule{Platform: sandbox.MetaAds, Path: "insights", Fault: sandbox.FaultThrottle, Seconds: 600, Count: &once})
		id := s.ask(recent)
		at, err := s.work(t.Context())
		if err != nil || at == nil || at.Sub(s.Clock.Now()) < 9*time.Minute {
			t.Fatalf("got %v, %v want to be called in ten minutes", at, err)
		}
		r := s.run(id)
		want(t, "parked", []any{connection.RunWaiting, at.UTC()}, []any{r.Status, r.WaitingUntil.Time().UTC()})
		sums, _ := s.spendBy("platform")
		want(t, "figures meanwhile", map[string]string{"tiktok_ads": s.truth("tiktok_ads", today-2)}, sums)
		s.Clock.Advance(time.Minute)
		if early, err := s.work(t.Context()); err != nil || early == nil || !early.Equal(*at) || s.run(id).Status != connection.RunWaiting {
			t.Errorf("too early: got %v, %v want %v", early, err, at)
		}
		if got := s.ask(recent); got != id {
			t.Errorf("a sync beside it: got %s want %s", got, id)
		}
		s.Clock.Advance(at.Sub(s.Clock.Now()))
		s.Sync(s.id)
		r = s.run(id)
		want(t, "afterwards", []any{connection.RunSucceeded, (*clock.Instant)(nil)}, []any{r.Status, r.WaitingUntil})
		if r.Totals.ThrottledSeconds < 540 {
			t.Errorf("got %d throttled seconds want ten minutes", r.Totals.ThrottledSeconds)
		}
		sums, _ = s.spendBy("platform")
		want(t, "figures", map[string]string{"meta_ads": s.truth("meta_ads", today-2), "tiktok_ads": s.truth("tiktok_ads", today-2)}, sums)
	}, "meta_ads", "tiktok_ads")
}

// TestPartial makes one account fail permanently and checks that the others are
// synced.
func TestPartial(t *testing.T) {
	withSyncFixture(t, func(t *testing.T, s *syncFixture) {
		bad := s.account("tiktok_ads")
		s.faults.report = func(_ context.Context, q connection.Report) error {
			if q.Account == bad {
				return &connection.Error{Class: connection.Forbidden, Code: "40001", Message: "No permission."}
			}
			return nil
		}
		r := s.sync(recent)
		remedy := "Ask an administrator of the account on the platform to give the connected user access to it, or turn the account off."
		forbidden := &connection.RunError{Class: "permission", Code: "40001", Message: "No permission.", Remediation: &remedy}
		want(t, "run", []any{connection.RunPartial, forbidden, "partial"}, []any{r.Status, r.Error, metricsOf(t, r).Status})
		c := s.connection()
		want(t, "connection", []any{connection.StatusConnected, forbidden}, []any{c.Status, c.Sync.LastError})
		sums, _ := s.spendBy("platform")
		want(t, "figures", map[string]string{"meta_ads": s.truth("meta_ads", today-2)}, sums)
		want(t, "events of the run", []string{"sync.partial", "sync.started"}, s.events(string(r.ID)))
	}, "meta_ads", "tiktok_ads")
}

// TestFailing has every run fail: after three the connection has an error, and
// one that works heals it.
func TestFailing(t *testing.T) {
	withSyncFixture(t, func(t *testing.T, s *syncFixture) {
		broken := true
		s.faults.report = func(context.Context, connection.Report) error {
			if broken {
				return &connection.Error{Class: connection.Refused, Code: "100", Message: "Wrong."}
			}
			return nil
		}
		s.faults.PlatformRegistry = &noEntities{s.faults.PlatformRegistry, &broken}
		var statuses []connection.Status
		for range 3 {
			if r := s.sync(recent); r.Status != connection.RunFailed {
				t.Fatalf("got %s want failed", r.Status)
			}
			statuses = append(statuses, s.connection().Status)
		}
		want(t, "statuses", []connection.Status{connection.StatusConnected, connection.StatusConnected, connection.StatusError}, statuses)
		broken = false
		r := s.sync(recent)
		c := s.connection()
		want(t, "healed", []any{connection.RunSucceeded, connection.StatusConnected, (*connection.Reason)(nil), 0.25}, []any{r.Status, c.Status, c.StatusReason, *c.Health.SuccessRate7d})
		want(t, "events", []string{"connection.connected", "connection.connected", "connection.created", "connection.error", "connection.updated"}, s.events(s.id))
	}, "meta_ads")
}

// noEntities are clients that cannot say what accounts have.
type noEntities struct {
	connection.PlatformRegistry
	broken *bool
}

func (c *noEntities) Client(platform string, sandbox bool) (connection.Client, bool) {
	client, ok := c.PlatformRegistry.Client(platform, sandbox)
	return struct {
		blind
		connection.Grantor
	}{blind{client, c.broken}, client.(connection.Grantor)}, ok
}

type blind struct {
	connection.Client
	broken *bool
}

func (c blind) Entities(ctx context.Context, k connection.Credentials, account string) (*connection.Entities, error) {
	if *c.broken {
		return nil, &connection.Error{Class: connection.Refused, Code: "100", Message: "Wrong."}
	}
	return c.Client.Entities(ctx, k, account)
}

// TestTooLarge has a platform refuse more than two days at once.
func TestTooLarge(t *testing.T) {
	withSyncFixture(t, func(t *testing.T, s *syncFixture) {
		longest := clock.Date(0)
		s.faults.report = func(_ context.Context, q connection.Report) error {
			if q.Last-q.First > 1 {
				return &connection.Error{Class: connection.TooLarge, Code: "1", Message: "Please reduce the amount of data."}
			}
			longest = max(longest, q.Last-q.First+1)
			return nil
		}
		r := s.sync(`{"mode":"backfill","start_date":"2026-11-01","end_date":"2026-11-15"}`)
		want(t, "run", []any{connection.RunSucceeded, clock.Date(2)}, []any{r.Status, longest})
		sums, _ := s.spendBy("platform")
		want(t, "figures", map[string]string{"meta_ads": s.truth("meta_ads", today-14)}, sums)

		s.faults.report = func(context.Context, connection.Report) error {
			return &connection.Error{Class: connection.TooLarge, Code: "1", Message: "Please reduce the amount of data."}
		}
		r = s.sync(recent)
		want(t, "even a day is too much", []any{connection.RunPartial, "validation"}, []any{r.Status, r.Error.Class})
		after, _ := s.spendBy("platform")
		want(t, "figures afterwards", sums, after)
	}, "meta_ads")
}
