package connection_test

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"fanfare/internal/clock"
	"fanfare/internal/connection"
)

var errDown = errors.New("the platform is down")

// reading returns a function that reads rows in a second, or fails, and counts.
func reading(count *atomic.Int64, rows int, err error) func() (int, error) {
	return func() (int, error) {
		count.Add(1)
		time.Sleep(time.Second)
		return rows, err
	}
}

// TestAnswersAreShared has ten connections read the same at once, and others
// later: each answer is read once.
func TestAnswersAreShared(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var s connection.Answers
		var calls atomic.Int64
		get := func(grant string, since clock.Instant) {
			t.Helper()
			if rows, err := s.Get(t.Context(), grant, since, reading(&calls, 7, nil)); rows != 7 || err != nil {
				t.Errorf("got %d rows, %v want 7", rows, err)
			}
		}
		var group sync.WaitGroup
		for range 10 {
			group.Go(func() { get("one", 0) })
		}
		group.Wait()
		want(t, "calls of ten", int64(1), calls.Load())
		get("other", 0)
		want(t, "calls with another grant", int64(2), calls.Load())
		time.Sleep(10*time.Minute - 3*time.Second)
		get("one", 0)
		want(t, "calls before the answer is too old", int64(2), calls.Load())
		get("one", clock.At(time.Now()))
		want(t, "calls for one who needs a newer answer", int64(3), calls.Load())
		get("one", clock.At(time.Now().Add(-time.Second)))
		want(t, "calls for others who need the newer answer", int64(3), calls.Load())
		time.Sleep(10 * time.Minute)
		get("other", 0)
		answers, rows := s.Held()
		want(t, "calls, answers and rows later", []any{int64(4), 1, 7}, []any{calls.Load(), answers, rows})
	})
}

// TestAnswersThatFail has the one who reads fail. The next in line reads, and no
// error is given to anyone else.
func TestAnswersThatFail(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var s connection.Answers
		var calls, failed atomic.Int64
		var group sync.WaitGroup
		for range 5 {
			group.Go(func() {
				_, err := s.Get(t.Context(), "one", 0, func() (int, error) {
					if calls.Add(1); calls.Load() <= 2 {
						return reading(new(atomic.Int64), 0, errDown)()
					}
					return 7, nil
				})
				if err != nil {
					failed.Add(1)
				}
			})
		}
		group.Wait()
		want(t, "calls and failures", []int64{3, 2}, []int64{calls.Load(), failed.Load()})

		// Who waits can give up while the other one reads on.
		go func() { _, _ = s.Get(t.Context(), "two", 0, reading(&calls, 7, nil)) }()
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := s.Get(ctx, "two", 0, reading(&calls, 7, nil)); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v want it to be canceled", err)
		}
		if rows, err := s.Get(t.Context(), "two", 0, reading(&calls, 0, errDown)); rows != 7 || err != nil {
			t.Errorf("got %d rows, %v want the 7 of the first", rows, err)
		}
	})
}

// TestAnswersAreFew keeps no more rows than memory is meant for.
func TestAnswersAreFew(t *testing.T) {
	t.Parallel()
	var s connection.Answers
	var calls int
	get := func(grant int) {
		if _, err := s.Get(t.Context(), strconv.Itoa(grant), 0, func() (int, error) { calls++; return 30_000, nil }); err != nil {
			t.Error(err)
		}
	}
	for i := range 5 {
		get(i)
	}
	answers, rows := s.Held()
	want(t, "answers and rows", []int{3, 90_000}, []int{answers, rows})
	get(4)
	want(t, "calls with the newest", 5, calls)
	get(0)
	want(t, "calls with the oldest", 6, calls)
}

// agency are connections of two workspaces with one grant, and one with the grant
// of another person.
type agency struct {
	*syncFixture
	first, second, stranger place
	reports, entities       map[string]int
}

func newAgency(t *testing.T, platform string) *agency {
	t.Helper()
	t.Parallel()
	s := newSyncFixture(t)
	other, _, _ := s.AddWorkspace("agency@example.com")
	a := &agency{syncFixture: s}
	a.first, a.second, a.stranger = s.grantedBy(s.Workspace, platform, "7001"), s.grantedBy(other, platform, "7001"), s.grantedBy(other, platform, "7002")
	s.faults.report = func(_ context.Context, q connection.Report) error {
		a.reports[q.Account]++
		return nil
	}
	s.faults.entities = func() { a.entities["all"]++ }
	return a
}

// scheduled has the scheduled run of a connection done, and returns how many
// reports and lists were read.
func (a *agency) scheduled(p place) (reports, entities int) {
	a.t.Helper()
	a.at(p)
	a.reports, a.entities = map[string]int{}, map[string]int{}
	a.Sync(p.id)
	r := a.runs()[0]
	want(a.t, "run", []any{connection.TriggerScheduled, connection.RunSucceeded}, []any{r.Trigger, r.Status})
	for _, n := range a.reports {
		reports += n
	}
	return reports, a.entities["all"]
}

// dueAt returns when a connection is synced next.
func (a *agency) dueAt(p place) clock.Instant {
	a.t.Helper()
	a.at(p)
	return *a.connection().Sync.NextRunAt
}

// TestSharedReads syncs two workspaces with the grant of one person at the same
// time: the platform is asked once, and both have its numbers. A workspace with the
// grant of another person gets nothing of it.
func TestSharedReads(t *testing.T) {
	t.Parallel()
	for _, platform := range []string{"google_ads", "ga4", "meta_ads"} {
		t.Run(platform, func(t *testing.T) {
			a := newAgency(t, platform)
			due := a.dueAt(a.first)
			want(t, "the second is due at the same time", due, a.dueAt(a.second))
			a.Clock.Advance(due.Time().Sub(a.Clock.Now()))
			reports, entities := a.scheduled(a.first)
			if reports == 0 || entities == 0 {
				t.Fatalf("got %d reports and %d lists want some", reports, entities)
			}
			again, lists := a.scheduled(a.second)
			want(t, "reports and lists of the second", []int{0, 0}, []int{again, lists})
			var stored []int64
			for _, p := range []place{a.first, a.second} {
				a.at(p)
				sums, _ := a.spendIn((today - 1).String(), today.String(), "platform")
				if platform != connection.PlatformGA4 {
					want(t, "spend", a.truth(platform, today-1), sums[platform])
				}
				stored = append(stored, a.runs()[0].Totals.RecordsWritten)
			}
			want(t, "rows of the second", stored[0], stored[1])
			if stored[0] == 0 {
				t.Error("got no rows want some")
			}
			a.Clock.Advance(a.dueAt(a.stranger).Time().Sub(a.Clock.Now()))
			again, lists = a.scheduled(a.stranger)
			want(t, "reports and lists of another person", []int{reports, entities}, []int{again, lists})
		})
	}
}

// TestRequestedReadsAreNew requests a sync minutes after the platform was asked:
// it is asked again, once for both workspaces.
func TestRequestedReadsAreNew(t *testing.T) {
	a := newAgency(t, "meta_ads")
	a.reports, a.entities = map[string]int{}, map[string]int{}
	read := func(p place) int {
		t.Helper()
		a.at(p)
		want(t, "run", connection.RunSucceeded, a.sync(recent).Status)
		return a.entities["all"]
	}
	want(t, "lists for the first", 1, read(a.first))
	a.Clock.Advance(time.Minute)
	want(t, "lists for the first, a minute later", 2, read(a.first))
	want(t, "lists for the second, at that time", 2, read(a.second))
}

// TestSharedAccountsAreChosen has the second workspace choose no account: it gets
// nothing of what the first one reads.
func TestSharedAccountsAreChosen(t *testing.T) {
	a := newAgency(t, "google_ads")
	a.at(a.second)
	account := a.connection().Accounts[0].ExternalID
	a.patch(map[string]any{"accounts": []any{map[string]any{"external_id": account, "enabled": false}}}).OK()
	a.Clock.Advance(a.dueAt(a.first).Time().Sub(a.Clock.Now()))
	a.scheduled(a.first)
	reports, entities := a.scheduled(a.second)
	sums, _ := a.spendBy("platform")
	list := a.syncFixture.entities([]string{"campaign"}, nil)
	want(t, "reports, lists, sums and campaigns", []int{0, 0, 0, 0}, []int{reports, entities, len(sums), len(list)})
}

// TestSharedStatesAreOlder pauses a campaign after the other workspace has read
// its state: the older answer says nothing about the pause.
func TestSharedStatesAreOlder(t *testing.T) {
	a := newAgency(t, "meta_ads")
	a.at(a.second)
	a.patch(map[string]any{"write_enabled": true}).OK()
	a.reports, a.entities = map[string]int{}, map[string]int{}
	a.sync(recent)
	there := a.twin("meta_ads")
	id := a.campaign("Ours")
	a.link(there.ExternalID, id)
	a.act(id, "launch")

	a.Clock.Advance(a.dueAt(a.first).Time().Sub(a.Clock.Now()))
	a.scheduled(a.first)
	a.Clock.Advance(time.Minute)
	a.at(a.second)
	a.act(id, "pause")
	want(t, "push", "applied", *a.refs(id)[0].Push)
	a.Clock.Advance(time.Minute)
	_, entities := a.scheduled(a.second)
	ref := a.refs(id)[0]
	want(t, "lists, push and state", []any{0, "applied", "PAUSED"}, []any{entities, *ref.Push, *ref.ExternalStatus})
}

// TestRefusedReadsAreNotShared has the first connection's calls refused: the second
// one makes its own.
func TestRefusedReadsAreNotShared(t *testing.T) {
	a := newAgency(t, "google_ads")
	a.Clock.Advance(a.dueAt(a.first).Time().Sub(a.Clock.Now()))
	refuse := true
	a.faults.report = func(context.Context, connection.Report) error {
		if a.reports["all"]++; refuse {
			return &connection.Error{Class: connection.Forbidden, Code: "refused", Message: "No."}
		}
		return nil
	}
	a.reports, a.entities = map[string]int{}, map[string]int{}
	a.at(a.first)
	a.Sync(a.first.id)
	want(t, "run of the first", connection.RunPartial, a.runs()[0].Status)
	refuse = false
	if reports, _ := a.scheduled(a.second); reports == 0 {
		t.Error("got no reports for the second want its own")
	}
}
