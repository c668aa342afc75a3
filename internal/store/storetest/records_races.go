package storetest

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"fanfare/internal/campaign"
	"fanfare/internal/fault"
	"fanfare/internal/record"
	"fanfare/internal/store"
)

// recordsLaunch lets 64 callers launch one draft.
func recordsLaunch(t *testing.T, w *Fixture) {
	c := w.Draft("Launch")
	w.Insert(c)
	var won, lost atomic.Int64
	together(64, func(int) {
		switch _, err := w.Campaigns.Transition(t.Context(), w.Cause(), c.ID, record.Match{}, campaign.Launch); {
		case err == nil:
			won.Add(1)
		case fault.Is(err, fault.InvalidState):
			lost.Add(1)
		default:
			t.Error(err)
		}
	})
	if won.Load() != 1 || lost.Load() != 63 {
		t.Errorf("got %d winners and %d losers, want 1 and 63", won.Load(), lost.Load())
	}
	if got := w.Load(c.ID); got.Version != 2 || got.Status != campaign.StatusActive {
		t.Errorf("got version %d and status %s want 2 and active", got.Version, got.Status)
	}
	w.Count(1, `SELECT count(*) FROM event WHERE workspace_id = $1 AND type = $2`, string(w.Workspace), "campaign.launched")
	w.Count(3, `SELECT count(*) FROM audit WHERE workspace_id = $1`, string(w.Workspace))
}

// together runs f in n goroutines that start at once.
func together(n int, f func(i int)) {
	var group sync.WaitGroup
	start := make(chan struct{})
	for i := range n {
		group.Go(func() {
			<-start
			f(i)
		})
	}
	close(start)
	group.Wait()
}

// recordsNoLostUpdate lets many callers add to one record.
func recordsNoLostUpdate(t *testing.T, w *Fixture) {
	const callers, times = 8, 6
	c := w.Draft("Shared")
	w.Insert(c)
	together(callers, func(i int) {
		for n := range times {
			patch := map[string]any{"metadata": map[string]string{fmt.Sprintf("%d-%d", i, n): "there"}}
			_, err := w.Campaigns.Update(t.Context(), w.Cause(), c.ID, record.Match{}, Sent(t, patch), campaign.Defaults{})
			if err != nil {
				t.Error(err)
			}
		}
	})
	got := w.Load(c.ID)
	if got.Version != 1+callers*times {
		t.Errorf("got version %d want %d", got.Version, 1+callers*times)
	}
	w.Count(1+callers*times, `SELECT count(*) FROM event WHERE workspace_id = $1 AND resource_id = $2`, string(w.Workspace), string(c.ID))
	if len(got.Metadata) != callers*times {
		t.Errorf("got %d keys want %d", len(got.Metadata), callers*times)
	}
	report, err := w.DB.VerifyAudit(t.Context(), func(int64) {})
	if err != nil || len(report.Faults) > 0 {
		t.Errorf("audit: %v %v", report.Faults, err)
	}
}

// recordsOnce lets 32 callers use one Idempotency-Key for different records.
func recordsOnce(t *testing.T, w *Fixture) {
	var won atomic.Int64
	cause := func() record.Cause {
		c := w.Cause()
		c.Idempotency = &record.Idempotency{Key: "one", Fingerprint: "f", Status: 201}
		return c
	}
	together(32, func(int) {
		switch _, err := w.Campaigns.CreateSpec(t.Context(), cause(), w.Draft("Once").Spec); {
		case err == nil:
			won.Add(1)
		case !errors.Is(err, record.ErrKeyUsed):
			t.Error(err)
		}
	})
	if won.Load() != 1 {
		t.Errorf("%d callers were let through", won.Load())
	}
	w.Count(1, `SELECT count(*) FROM campaign WHERE workspace_id = $1`, string(w.Workspace))
	w.Count(1, `SELECT count(*) FROM event WHERE workspace_id = $1 AND type = $2`, string(w.Workspace), "campaign.created")
	answer, err := w.DB.StoredResponse(t.Context(), w.Workspace, "one")
	w.must(err)
	if d, err := w.DB.Campaigns().Doc(t.Context(), w.Workspace, answer.Resource); err != nil || string(d.JSON) != string(answer.Doc.JSON) {
		t.Errorf("the remembered answer is not the record: %v", err)
	}
}

func recordsOnceExpires(t *testing.T, w *Fixture) {
	create := func() (record.Doc, error) {
		cause := w.Cause()
		cause.Idempotency = &record.Idempotency{Key: "again", Fingerprint: w.Now().String(), Status: 201}
		return w.Campaigns.CreateSpec(t.Context(), cause, w.Draft("Once").Spec)
	}
	const life = store.IdempotencyTTL * time.Microsecond
	first, err := create()
	w.must(err)
	w.Clock.Advance(life - time.Millisecond)
	if _, err := create(); !errors.Is(err, record.ErrKeyUsed) {
		t.Errorf("just before the end: got %v want %v", err, record.ErrKeyUsed)
	}
	if a, err := w.DB.StoredResponse(t.Context(), w.Workspace, "again"); err != nil || a == nil || string(a.Doc.JSON) != string(first.JSON) {
		t.Errorf("just before the end: got answer %v, %v", a, err)
	}
	w.Clock.Advance(time.Millisecond)
	if a, err := w.DB.StoredResponse(t.Context(), w.Workspace, "again"); a != nil || err != nil {
		t.Errorf("at the end: got answer %v, %v", a, err)
	}
	second, err := create()
	w.must(err)
	if a, err := w.DB.StoredResponse(t.Context(), w.Workspace, "again"); err != nil || a == nil || string(a.Doc.JSON) != string(second.JSON) || a.Fingerprint != w.Now().String() {
		t.Errorf("after the end: got answer %v, %v", a, err)
	}
	w.Count(2, `SELECT count(*) FROM campaign WHERE workspace_id = $1`, string(w.Workspace))
}

// recordsJobs follows the job of a record through its life.
func recordsJobs(t *testing.T, w *Fixture) {
	c := w.Draft("Scheduled")
	start, end := w.Now().Add(time.Hour), w.Now().Add(2*time.Hour)
	c.Schedule.StartAt, c.Schedule.EndAt = &start, &end
	w.Insert(c)
	due := func(want int64) {
		t.Helper()
		w.Count(want, `SELECT coalesce(max(run_at), 0) FROM job WHERE workspace_id = $1 AND args = $2`, string(w.Workspace), string(c.ID))
		if want > 0 {
			w.Count(1, `SELECT count(*) FROM job WHERE workspace_id = $1`, string(w.Workspace))
		}
	}
	act := func(a campaign.Action) {
		t.Helper()
		_, err := w.Campaigns.Transition(t.Context(), w.Cause(), c.ID, record.Match{}, a)
		w.must(err)
	}
	due(0) // a draft waits for nothing
	act(campaign.Launch)
	due(int64(start))
	act(campaign.Pause)
	due(int64(end))
	act(campaign.Resume)
	due(int64(start))
	w.Clock.Advance(time.Hour)
	next, err := w.Campaigns.Settle(t.Context(), w.Workspace, c.ID)
	if err != nil || next == nil || *next != end {
		t.Errorf("got next %v, %v want %v", next, err, end)
	}
	due(int64(end))
	w.Clock.Advance(time.Hour)
	if next, err = w.Campaigns.Settle(t.Context(), w.Workspace, c.ID); next != nil || err != nil {
		t.Errorf("got next %v, %v want none", next, err)
	}
	due(0)
	if got := w.Load(c.ID); got.Status != campaign.StatusCompleted {
		t.Errorf("got status %s want completed", got.Status)
	}
	if next, err := w.Campaigns.Settle(t.Context(), w.Workspace, "cmp_none"); next != nil || err != nil {
		t.Errorf("settling what is not there: got %v, %v", next, err)
	}
}
