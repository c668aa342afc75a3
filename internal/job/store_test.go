package job_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"fanfare/internal/body"
	"fanfare/internal/campaign"
	"fanfare/internal/clock"
	"fanfare/internal/ident"
	"fanfare/internal/ingest"
	"fanfare/internal/job"
	"fanfare/internal/record"
	"fanfare/internal/store"
	"fanfare/internal/store/pgtest"
	"fanfare/internal/store/postgres"
	"fanfare/internal/store/sqlitetest"
	"fanfare/internal/store/storetest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

func openSQLite(t *testing.T) store.Engine {
	t.Helper()
	return sqlitetest.Open(t)
}

func openPostgres(t *testing.T, url string) store.Engine {
	t.Helper()
	e, err := postgres.Open(t.Context(), url, postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return e
}

// each runs a test on both engines.
func each(t *testing.T, test func(t *testing.T, w *storetest.Fixture)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		test(t, storetest.NewFixture(t, openSQLite(t)))
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		test(t, storetest.NewFixture(t, openPostgres(t, pgtest.URL(t))))
	})
}

// claim claims the due jobs for a minute.
func claim(t *testing.T, w *storetest.Fixture, want int) []job.Job {
	t.Helper()
	list, err := w.DB.Jobs().Claim(t.Context(), w.Now(), w.Now().Add(time.Minute), 10)
	if err != nil || len(list) != want {
		t.Fatalf("claimed %d jobs, %v want %d", len(list), err, want)
	}
	return list
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// scheduled launches a campaign that starts in an hour.
func scheduled(t *testing.T, w *storetest.Fixture) ident.ID {
	t.Helper()
	c := w.Draft("Scheduled")
	start := w.Now().Add(time.Hour)
	c.Schedule.StartAt = &start
	w.Insert(c)
	_, err := w.Campaigns.Transition(t.Context(), w.Cause(), c.ID, record.Match{}, campaign.Launch)
	must(t, err)
	return c.ID
}

var errLater = errors.New("a later statement failed")

// vain runs transactions to their end and then rolls them back.
type vain struct{ store.Engine }

func (v vain) Write(ctx context.Context, fn func(store.Tx) error) error {
	return v.Engine.Write(ctx, func(tx store.Tx) error {
		if err := fn(tx); err != nil {
			return err
		}
		return errLater
	})
}

// TestRollback checks that a rolled back transaction leaves no job.
func TestRollback(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *storetest.Fixture) {
		db := store.New(vain{w.Raw}, 0, w.Clock.Now, rand.Reader)
		c := w.Draft("Never")
		due := record.Job{Kind: campaign.JobSettle, Workspace: w.Workspace, ID: c.ID, At: w.Now()}
		_, err := db.Campaigns().Save(t.Context(), c, record.Save{Cause: w.Cause(), At: w.Now(), Jobs: []record.Job{due}})
		if !errors.Is(err, errLater) {
			t.Fatalf("got %v want %v", err, errLater)
		}
		claim(t, w, 0)
		if err := db.Jobs().Ensure(t.Context(), "prune", w.Now()); !errors.Is(err, errLater) {
			t.Fatal(err)
		}
		claim(t, w, 0)
	})
}

// TestFoundersTakeTurns wants the next job to be one of the founder with the
// fewest running ones, whatever others have waiting and in however many
// workspaces. Jobs that wait for another attempt do not count.
func TestFoundersTakeTurns(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *storetest.Fixture) {
		jobs := w.DB.Jobs()
		count := 0
		due := func(workspace ident.ID, kind string, n int) {
			t.Helper()
			must(t, w.Raw.Write(store.Across(t.Context()), func(tx store.Tx) error {
				for range n {
					count++
					id := fmt.Sprintf("job_%04d", count)
					if _, err := tx.Exec(`INSERT INTO job (id, workspace_id, kind, args, uniq, run_at, attempt, last_error) VALUES ($1, $2, $3, '', $4, $5, 0, '')`,
						id, string(workspace), kind, id, int64(w.Now())); err != nil {
						return err
					}
				}
				return nil
			}))
			w.Clock.Advance(time.Second)
		}
		owned := func(email string) ident.ID { id, _, _ := w.AddWorkspace(email); return id }
		first, second, other, third := owned("ada@example.com"), owned("ada@example.com"), owned("eve@example.com"), owned("bob@example.com")
		due(first, "count", 70)
		due(second, "count", 70)
		due(other, "count", 2)
		claimed := func(most int) (list []ident.ID, running []job.Job) {
			t.Helper()
			running, err := jobs.Claim(t.Context(), w.Now(), w.Now().Add(time.Hour), most)
			must(t, err)
			for _, j := range running {
				list = append(list, j.WorkspaceID)
			}
			slices.Sort(list)
			return list, running
		}
		want := func(most int, want ...ident.ID) []job.Job {
			t.Helper()
			got, running := claimed(most)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("got jobs of %v want %v", got, want)
			}
			return running
		}
		want(3, first, first, other)
		due(third, "count", 1)
		want(1, third)
		want(1, other)
		got, running := claimed(1000)
		if len(got) != job.PerFounder-2 {
			t.Errorf("got %d more jobs of one founder want %d", len(got), job.PerFounder-2)
		}
		want(10)
		due(second, record.JobPush, 1)
		want(10, second)
		must(t, jobs.Again(t.Context(), running[0], w.Now().Add(time.Hour), "failed"))
		want(10, first)
	})
}

// TestPlannedWhileRunning changes the schedule while the job for it runs.
func TestPlannedWhileRunning(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *storetest.Fixture) {
		jobs, id := w.DB.Jobs(), scheduled(t, w)
		w.Clock.Advance(time.Hour)
		running := claim(t, w, 1)[0]
		if running.Kind != campaign.JobSettle || running.Args != string(id) || running.WorkspaceID != w.Workspace || running.Attempt != 1 {
			t.Errorf("claimed %+v", running)
		}
		end := w.Now().Add(10 * time.Minute)
		patch, err := body.ValueOf(map[string]any{"schedule": map[string]any{"end_at": end}})
		must(t, err)
		_, err = w.Campaigns.Update(t.Context(), w.Cause(), id, record.Match{}, patch, campaign.Defaults{})
		must(t, err)
		for _, finish := range []func() error{
			func() error { return jobs.Done(t.Context(), running) },
			func() error { return jobs.Again(t.Context(), running, w.Now(), "") },
			func() error { return jobs.Again(t.Context(), running, w.Now(), "broken") },
		} {
			must(t, finish())
			if at, ok, err := jobs.Due(t.Context()); err != nil || !ok || at != end {
				t.Fatalf("the plan is due %v, %v, %v want %v", at, ok, err, end)
			}
		}
		w.Clock.Advance(10 * time.Minute)
		if again := claim(t, w, 1)[0]; again.Attempt != 1 {
			t.Errorf("a new plan starts with attempt %d", again.Attempt)
		}
	})
}

// TestFence checks workers that finish after their lease.
func TestFence(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *storetest.Fixture) {
		jobs := w.DB.Jobs()
		must(t, jobs.Ensure(t.Context(), "hourly", w.Now()))
		first := claim(t, w, 1)[0]
		claim(t, w, 0)
		w.Clock.Advance(time.Minute - time.Millisecond)
		claim(t, w, 0)
		w.Clock.Advance(time.Millisecond)
		second := claim(t, w, 1)[0]
		if second.ID != first.ID || second.Attempt != 2 {
			t.Errorf("after the lease: claimed %+v", second)
		}
		late := func(w *storetest.Fixture, j job.Job) {
			t.Helper()
			must(t, jobs.Again(t.Context(), j, w.Now(), "late"))
			must(t, jobs.Done(t.Context(), j))
			claim(t, w, 0)
		}
		late(w, first)
		// The second worker is done and the job is scheduled again with new
		// attempts. The first worker must still have no effect.
		must(t, jobs.Again(t.Context(), second, w.Now().Add(time.Hour), ""))
		w.Clock.Advance(time.Hour)
		third := claim(t, w, 1)[0]
		if third.Attempt != first.Attempt {
			t.Errorf("the third claim is attempt %d want %d", third.Attempt, first.Attempt)
		}
		late(w, first)
		late(w, second)
		foreign := third
		foreign.WorkspaceID = w.Workspace
		late(w, foreign)
		must(t, jobs.Done(t.Context(), third))
		if _, ok, err := jobs.Due(t.Context()); ok || err != nil {
			t.Errorf("the finished job is still there: %v", err)
		}
	})
}

// TestRelease restarts after a crash.
func TestRelease(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *storetest.Fixture) {
		jobs := w.DB.Jobs()
		must(t, jobs.Ensure(t.Context(), "claimed", w.Now()))
		claim(t, w, 1)
		// The job is scheduled twice for later and no worker has started it.
		id := scheduled(t, w)
		_, err := w.Campaigns.Transition(t.Context(), w.Cause(), id, record.Match{}, campaign.Pause)
		must(t, err)
		_, err = w.Campaigns.Transition(t.Context(), w.Cause(), id, record.Match{}, campaign.Resume)
		must(t, err)
		must(t, jobs.Ensure(t.Context(), "later", w.Now().Add(time.Hour)))
		// The request that commits an import ends with its process.
		must(t, jobs.Ensure(t.Context(), ingest.JobCommit, w.Now().Add(time.Hour)))
		w.Clock.Advance(time.Second)
		must(t, jobs.Release(t.Context(), w.Now()))
		if w.Raw.Traits().Exclusive {
			for _, got := range claim(t, w, 2) {
				if (got.Kind != "claimed" || got.Attempt != 2) && (got.Kind != ingest.JobCommit || got.Attempt != 1) {
					t.Errorf("claimed %+v", got)
				}
			}
			return
		}
		claim(t, w, 0) // another node may be working on it
	})
}

func TestEnsure(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *storetest.Fixture) {
		var group sync.WaitGroup
		for range 8 {
			group.Go(func() {
				if err := w.DB.Jobs().Ensure(t.Context(), "hourly", w.Now()); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		must(t, w.DB.Jobs().Ensure(t.Context(), "hourly", w.Now().Add(-time.Hour)))
		if at, _, err := w.DB.Jobs().Due(t.Context()); err != nil || at != w.Now() {
			t.Errorf("due %v, %v want %v", at, err, w.Now())
		}
		claim(t, w, 1)
	})
}

// addJobs schedules many jobs at once.
func addJobs(t *testing.T, w *storetest.Fixture, n int, at clock.Instant) {
	t.Helper()
	must(t, w.Raw.Write(store.Across(t.Context()), func(tx store.Tx) error {
		for i := range n {
			id := fmt.Sprintf("job_%04d", i)
			_, err := tx.Exec(`INSERT INTO job (id, workspace_id, kind, args, uniq, run_at, attempt, last_error) VALUES ($1, $2, 'count', $3, $4, $5, 0, '')`,
				id, string(w.Workspace), id, id, int64(at)+int64(i%7))
			if err != nil {
				return err
			}
		}
		return nil
	}))
}

// TestClaimAtMost claims from many jobs, also after the query planner has
// statistics.
func TestClaimAtMost(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *storetest.Fixture) {
		addJobs(t, w, 500, w.Now().Add(-time.Hour))
		seen := map[ident.ID]bool{}
		for most := 1; len(seen) < 500; most = most%16 + 1 {
			if most == 8 {
				must(t, w.Raw.Write(store.Across(t.Context()), func(tx store.Tx) error { return tx.Script("ANALYZE") }))
			}
			list, err := w.DB.Jobs().Claim(t.Context(), w.Now(), w.Now().Add(time.Minute), most)
			if err != nil || len(list) == 0 || len(list) > most {
				t.Fatalf("claimed %d jobs of at most %d: %v", len(list), most, err)
			}
			for _, j := range list {
				if seen[j.ID] {
					t.Fatalf("%s was claimed twice", j.ID)
				}
				seen[j.ID] = true
				// One founder has no more than some running at once.
				must(t, w.DB.Jobs().Done(t.Context(), j))
			}
		}
	})
}

// runs counts the runs of each attempt of each job.
type runs struct {
	mu   sync.Mutex
	each map[job.Job]int
	left atomic.Int64
}

func (r *runs) work(_ context.Context, j job.Job) (*clock.Instant, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.each == nil {
		r.each = map[job.Job]int{}
	}
	j.LeaseEnd = 0
	r.each[j]++
	if j.Attempt == 1 && len(r.each)%10 == 0 {
		return nil, errors.New("not yet")
	}
	r.left.Add(-1)
	return nil, nil
}

// TestTwoNodes runs 300 jobs with two runners on one database. Some jobs fail
// at first.
func TestTwoNodes(t *testing.T) {
	t.Parallel()
	const n = 300
	url := pgtest.URL(t)
	w := storetest.NewFixture(t, openPostgres(t, url))
	var r runs
	r.left.Store(n)
	addJobs(t, w, n, clock.At(time.Now().Add(-time.Minute)))
	ctx, stop := context.WithCancel(t.Context())
	var group sync.WaitGroup
	for range 2 {
		db := store.New(openPostgres(t, url), 0, time.Now, rand.Reader)
		runner := job.New(db.Jobs(), time.Now, slog.New(slog.DiscardHandler))
		runner.Handle("count", r.work)
		db.OnJob(runner.Wake)
		group.Go(func() {
			if err := runner.Run(ctx); err != nil {
				t.Error(err)
			}
		})
	}
	waitFor(t, func() bool { return r.left.Load() <= 0 })
	stop()
	group.Wait()
	done := map[ident.ID]bool{}
	for j, times := range r.each {
		if times != 1 {
			t.Errorf("attempt %d of %s was run %d times", j.Attempt, j.ID, times)
		}
		done[j.ID] = true
	}
	if len(done) != n || r.left.Load() != 0 {
		t.Errorf("%d jobs were done, %d times too often", len(done), -r.left.Load())
	}
	w.Count(0, `SELECT count(*) FROM job`)
}

// waitFor polls until a condition is true.
func waitFor(t *testing.T, so func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(time.Minute); !so(); <-tick.C {
		if time.Now().After(end) {
			t.Fatal("it did not happen within a minute")
		}
	}
}

// TestSchedule applies the schedule of a campaign. The commit that schedules
// the job wakes the runner.
func TestSchedule(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *storetest.Fixture) {
		runner := job.New(w.DB.Jobs(), w.Clock.Now, slog.New(slog.DiscardHandler))
		var settled atomic.Int64
		runner.Handle(campaign.JobSettle, func(ctx context.Context, j job.Job) (*clock.Instant, error) {
			defer settled.Add(1)
			return w.Campaigns.Settle(ctx, j.WorkspaceID, ident.ID(j.Args))
		})
		w.DB.OnJob(runner.Wake)
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- runner.Run(ctx) }()
		id := scheduled(t, w)
		if status := w.Load(id).Delivery.Status; status != campaign.PendingStart {
			t.Errorf("got delivery %s want %s", status, campaign.PendingStart)
		}
		w.Clock.Advance(time.Hour)
		runner.Wake()
		waitFor(t, func() bool { return settled.Load() > 0 })
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if got := w.Load(id); got.Delivery.Status == campaign.PendingStart || got.Version != 2 || got.Rev != 1 {
			t.Errorf("got delivery %s in version %d.%d", got.Delivery.Status, got.Version, got.Rev)
		}
		w.Count(1, `SELECT count(*) FROM event WHERE workspace_id = $1 AND type = $2`, string(w.Workspace), "campaign.delivery_changed")
	})
}
