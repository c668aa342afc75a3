package record

import (
	"context"
	"time"

	"fanfare/internal/clock"
	"fanfare/internal/ident"
)

// Job is background work that is scheduled in the transaction of a change. A
// record has at most one job of a kind: scheduling it again moves it and resets
// its attempts.
type Job struct {
	Kind      string
	Workspace ident.ID
	// ID is the record that the job is about.
	ID ident.ID
	At clock.Instant
	// Cancel removes the job instead of scheduling it.
	Cancel bool
}

// JobHandler runs the jobs of one kind. A slice lists the handlers of its jobs,
// and the runner of background jobs calls them.
type JobHandler struct {
	Kind string
	// Limit is how long a run may take. With 0 it must fit in one lease.
	Limit time.Duration
	// NeedsFacts postpones the jobs while this node has no facts.
	NeedsFacts bool
	// Run gets the workspace and the ID of the Job and how many times it was
	// tried. It returns the time of the next run, nil for none. After an error
	// the job is retried. Repeated runs must be safe.
	Run func(ctx context.Context, workspace, id ident.ID, attempt int64) (again *clock.Instant, err error)
}

// LongJob is the limit of a job that visits many records or calls platforms.
const LongJob = 10 * time.Minute

// Kinds of jobs that one slice schedules and another one runs. A slice that
// does both declares the kind itself.
const (
	// JobRefresh refreshes the campaigns that refer to a record whose usability
	// changed.
	JobRefresh = "campaign.follow"
	// JobSpend refreshes the spend of all campaigns of a workspace. Its ID is
	// the workspace, or the connection whose facts changed.
	JobSpend = "campaign.spend"
	// JobPush sends the requested state of a campaign to the platforms.
	JobPush = "campaign.push"
)

// RefreshJobs returns the job that refreshes the campaigns of a record, or none
// if the record's usability has not changed.
func RefreshJobs(before, now Usability, workspace, id ident.ID, at clock.Instant) []Job {
	if before == now {
		return nil
	}
	return []Job{{Kind: JobRefresh, Workspace: workspace, ID: id, At: at}}
}
