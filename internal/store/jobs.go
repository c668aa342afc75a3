package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"fanfare/internal/clock"
	"fanfare/internal/ident"
	"fanfare/internal/ingest"
	"fanfare/internal/job"
	"fanfare/internal/record"
)

// Jobs stores background jobs.
type Jobs struct{ db *DB }

var _ job.Store = (*Jobs)(nil)

// Jobs returns the store of background jobs.
func (db *DB) Jobs() *Jobs { return &Jobs{db} }

// RegisterJobs wakes the runner when jobs are scheduled, and registers the jobs
// of the store itself.
func (db *DB) RegisterJobs(r *job.Runner) {
	db.OnJob(r.Wake)
	r.Repeat("prune", job.Every(time.Hour, db.now, func(ctx context.Context) error {
		_, err := db.Prune(ctx)
		return err
	}))
	r.Repeat("words", repeated(db, db.IndexWords))
	r.Repeat("reshape", repeated(db, db.Reshape))
}

// repeated returns a job that runs again at once until its work is done, and
// then every day.
func repeated(db *DB, work func(context.Context) (done bool, err error)) func(context.Context, job.Job) (*clock.Instant, error) {
	return func(ctx context.Context, _ job.Job) (*clock.Instant, error) {
		done, err := work(ctx)
		next := clock.At(db.now())
		if done {
			next = next.Add(24 * time.Hour)
		}
		return &next, err
	}
}

var jobTable = newTable(table{
	name: "job", key: []string{"id"}, columns: names("id", "workspace_id", "kind", "args", "uniq", "run_at", "attempt", "last_error"),
})

// Scheduling a job again resets its attempts, so that a worker that still runs
// it does not remove it on completion.
var upsertJob = jobTable.insert + `
ON CONFLICT (uniq) DO UPDATE SET run_at = excluded.run_at, args = excluded.args, attempt = 0, last_error = ''`

// enqueue schedules jobs, or cancels them, in the transaction of a change.
func (db *DB) enqueue(tx Tx, jobs []record.Job) error {
	for _, j := range jobs {
		unique := j.Kind + ":" + string(j.ID)
		if j.Cancel {
			if _, err := tx.Exec(`DELETE FROM job WHERE workspace_id = $1 AND uniq = $2`, string(j.Workspace), unique); err != nil {
				return fmt.Errorf("cancel %s: %w", j.Kind, err)
			}
			continue
		}
		id := ident.New(ident.Job, db.now(), db.random)
		if _, err := tx.Exec(upsertJob, string(id), string(j.Workspace), j.Kind, string(j.ID), unique, int64(j.At), 0, ""); err != nil {
			return fmt.Errorf("enqueue %s: %w", j.Kind, err)
		}
		tx.Touch(topicJob)
	}
	return nil
}

// Ensure schedules a job unless one of its kind exists.
func (s *Jobs) Ensure(ctx context.Context, kind string, at clock.Instant) error {
	return s.db.writeTx(Within(ctx, ""), func(tx Tx) error {
		id := ident.New(ident.Job, s.db.now(), s.db.random)
		_, err := tx.Exec(jobTable.insert+` ON CONFLICT (uniq) DO NOTHING`, string(id), "", kind, "", kind, int64(at), 0, "")
		tx.Touch(topicJob)
		return err
	})
}

// Claim leases due jobs. No other node gets them before the lease ends.
// Founders take turns: the next job is one of the founder with the fewest
// running ones, on all nodes, and none has more than job.PerFounder.
func (s *Jobs) Claim(ctx context.Context, now, leaseEnd clock.Instant, most int) ([]job.Job, error) {
	list, err := s.claim(ctx, "%", now, leaseEnd, most)
	if errors.Is(err, ErrUnavailable) {
		// On a full disk, requested states must still reach the platforms.
		if urgent, failed := s.claim(record.WithUrgent(ctx), record.JobPush, now, leaseEnd, most); failed == nil {
			return urgent, nil
		}
	}
	return list, err
}

// claimJobs numbers the jobs of each founder, those that run before those that
// are due. A job that runs has no error; one that waits for its next attempt
// has. Pushes are numbered apart, because they stop spend and must not wait for
// syncs of an hour. That a job is due is asked again beside the lock, because
// another node may have claimed it meanwhile.
const claimJobs = `UPDATE job SET run_at = $1, attempt = attempt + 1, last_error = '' WHERE id IN (SELECT id FROM job WHERE run_at <= $2 AND id IN (
SELECT n.id FROM (SELECT j.id, j.due, j.run_at, row_number() OVER (PARTITION BY coalesce(nullif(w.founder, ''), j.workspace_id), j.kind = '` + record.JobPush + `' ORDER BY j.due, j.run_at) AS place
FROM (SELECT id, workspace_id, kind, run_at, 1 AS due FROM job WHERE run_at <= $3 AND kind LIKE $4
UNION ALL SELECT id, workspace_id, kind, run_at, 0 FROM job WHERE run_at > $5 AND attempt > 0 AND last_error = '' AND kind LIKE $6) j
LEFT JOIN workspace w ON w.id = j.workspace_id) n WHERE n.due = 1 AND n.place <= $7 ORDER BY n.place, n.run_at LIMIT $8) `

// claim is Claim for kinds that match a LIKE pattern.
func (s *Jobs) claim(ctx context.Context, kind string, now, leaseEnd clock.Instant, most int) ([]job.Job, error) {
	var list []job.Job
	claim := claimJobs + s.db.engine.Traits().ClaimLock + `) RETURNING id, workspace_id, kind, args, attempt`
	err := s.db.writeTx(Across(ctx), func(tx Tx) error {
		list = nil
		rows, err := tx.Query(claim, int64(leaseEnd), int64(now), int64(now), kind, int64(now), kind, job.PerFounder, most)
		if err != nil {
			return err
		}
		for rows.Next() {
			list = append(list, job.Job{
				ID: ident.ID(rows.Text()), WorkspaceID: ident.ID(rows.Text()), Kind: rows.Text(), Args: rows.Text(), Attempt: rows.Int(),
				LeaseEnd: leaseEnd,
			})
		}
		return nil
	})
	return list, err
}

// urgent returns an urgent context for a job that can stop spend.
func urgent(ctx context.Context, j *job.Job) context.Context {
	if j.Kind == record.JobPush {
		return record.WithUrgent(ctx)
	}
	return ctx
}

// Due returns when the next job is due; ok is false if no job exists.
func (s *Jobs) Due(ctx context.Context) (at clock.Instant, ok bool, err error) {
	rows, err := s.db.engine.Query(Across(ctx), `SELECT run_at FROM job ORDER BY run_at LIMIT 1`)
	if err != nil || !rows.Next() {
		return 0, false, toFault(err)
	}
	return clock.Instant(rows.Int()), true, nil
}

// Done removes a finished job. It does nothing if the worker lost its lease,
// that is if the attempt or the end of the lease differs from the claim. The
// attempt alone is not enough: it restarts after a success, so that an old
// worker could be mistaken for a new one.
func (s *Jobs) Done(ctx context.Context, j job.Job) error {
	return s.db.writeTx(Within(urgent(ctx, &j), j.WorkspaceID), func(tx Tx) error {
		_, err := tx.Exec(`DELETE FROM job WHERE workspace_id = $1 AND id = $2 AND attempt = $3 AND run_at = $4`,
			string(j.WorkspaceID), string(j.ID), j.Attempt, int64(j.LeaseEnd))
		return err
	})
}

// Again reschedules a job under the same condition and stores the error.
// Without an error, it resets the attempts.
func (s *Jobs) Again(ctx context.Context, j job.Job, at clock.Instant, why string) error {
	set := `attempt = 0, last_error = $2`
	if why != "" {
		set = `last_error = $2`
	}
	return s.db.writeTx(Within(urgent(ctx, &j), j.WorkspaceID), func(tx Tx) error {
		_, err := tx.Exec(`UPDATE job SET run_at = $1, `+set+` WHERE workspace_id = $3 AND id = $4 AND attempt = $5 AND run_at = $6`,
			int64(at), why, string(j.WorkspaceID), string(j.ID), j.Attempt, int64(j.LeaseEnd))
		return err
	})
}

// Extend moves the end of a lease under the same condition, and reports whether
// it did.
func (s *Jobs) Extend(ctx context.Context, j job.Job, leaseEnd clock.Instant) (bool, error) {
	var n int64
	err := s.db.writeTx(Within(urgent(ctx, &j), j.WorkspaceID), func(tx Tx) (err error) {
		n, err = tx.Exec(`UPDATE job SET run_at = $1 WHERE workspace_id = $2 AND id = $3 AND attempt = $4 AND run_at = $5`,
			int64(leaseEnd), string(j.WorkspaceID), string(j.ID), j.Attempt, int64(j.LeaseEnd))
		return err
	})
	return n == 1, err
}

// Release makes every leased job due now, and every commit of an import, whose
// request has ended with the previous process. It does nothing on a shared
// engine, because other processes may run them. Call it at startup.
func (s *Jobs) Release(ctx context.Context, now clock.Instant) error {
	if !s.db.engine.Traits().Exclusive {
		return nil
	}
	return s.db.writeTx(Across(ctx), func(tx Tx) error {
		_, err := tx.Exec(`UPDATE job SET run_at = $1 WHERE (attempt > 0 OR kind = $2) AND run_at > $3`, int64(now), ingest.JobCommit, int64(now))
		return err
	})
}
