package connection

import (
	"context"
	"fmt"

	"github.com/go-json-experiment/json"

	"fanfare/internal/clock"
	"fanfare/internal/ident"
	"fanfare/internal/record"
)

// JobSync is the job that runs the due work of a connection.
const JobSync = "connection.sync"

// JobHandlers returns the handlers of the background jobs of connections.
func (s *Service) JobHandlers() []record.JobHandler {
	return []record.JobHandler{
		{Kind: JobSync, Limit: Longest, NeedsFacts: true, Run: func(ctx context.Context, workspace, id ident.ID, _ int64) (*clock.Instant, error) {
			return s.Work(ctx, workspace, id)
		}},
		{Kind: record.JobPush, Limit: record.LongJob, Run: s.Push},
	}
}

// scheduleWork schedules the connection's job.
func (ch *Change) scheduleWork(c *Connection, at clock.Instant) {
	ch.Jobs = append(ch.Jobs, record.Job{Kind: JobSync, Workspace: c.WorkspaceID, ID: c.ID, At: at})
}

// spendJob refreshes the spend of a workspace's campaigns after facts changed.
// about is the workspace or a connection.
func spendJob(workspace, about ident.ID, at clock.Instant) record.Job {
	return record.Job{Kind: record.JobSpend, Workspace: workspace, ID: about, At: at}
}

// PushJobs returns the jobs that push the requested states which these links
// have not confirmed.
func PushJobs(workspace ident.ID, links []Link, at clock.Instant) []record.Job {
	var jobs []record.Job
	for i := range links {
		if l := &links[i]; l.RecordID != nil && l.Unconfirmed() {
			jobs = append(jobs, record.Job{Kind: record.JobPush, Workspace: workspace, ID: *l.RecordID, At: at})
		}
	}
	return jobs
}

// refreshJobs refreshes the campaigns of a stored connection whose usability
// has changed.
func (c *Connection) refreshJobs(at clock.Instant) ([]record.Job, error) {
	before := c.Stored()
	if before.JSON == nil {
		return nil, nil
	}
	var was struct {
		Status Status `json:"status"`
	}
	if err := json.Unmarshal(before.JSON, &was); err != nil {
		return nil, fmt.Errorf("decode status of %s: %w", c.ID, err)
	}
	stored := &Connection{Status: was.Status, Platform: c.Platform}
	return record.RefreshJobs(stored.Usability(), c.Usability(), c.WorkspaceID, c.ID, at), nil
}

// apply writes a change. Every change of a connection's status goes through it,
// so that campaigns are refreshed.
func (s *shared) apply(ctx context.Context, ch *Change) (record.Doc, error) {
	if ch.Connection != nil {
		jobs, err := ch.Connection.refreshJobs(ch.At)
		if err != nil {
			return record.Doc{}, err
		}
		ch.Jobs = append(ch.Jobs, jobs...)
	}
	return s.store.Apply(ctx, ch)
}
