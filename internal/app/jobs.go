package app

import (
	"context"
	"time"

	"fanfare/internal/campaign"
	"fanfare/internal/clock"
	"fanfare/internal/connection"
	"fanfare/internal/creative"
	"fanfare/internal/ident"
	"fanfare/internal/ingest"
	"fanfare/internal/job"
	"fanfare/internal/record"
)

// followTime limits a job that refreshes all campaigns that refer to one
// record.
const followTime = 10 * time.Minute

// registerJobs registers what the background jobs do.
func (a *App) registerJobs() {
	c := a.config
	a.Jobs = job.New(a.DB.Jobs(), c.Now, c.Log)
	a.DB.OnJob(a.Jobs.Wake)
	a.Jobs.Handle(campaign.JobSettle, func(ctx context.Context, j job.Job) (*clock.Instant, error) {
		return a.Campaigns.Settle(ctx, j.WorkspaceID, ident.ID(j.Args))
	})
	a.Jobs.HandleLong(record.JobRefresh, followTime, func(ctx context.Context, j job.Job) (*clock.Instant, error) {
		return nil, a.Campaigns.Follow(ctx, j.WorkspaceID, ident.ID(j.Args))
	})
	a.Jobs.HandleLong(record.JobSpend, followTime, a.withFacts(func(ctx context.Context, j job.Job) (*clock.Instant, error) {
		return nil, a.Campaigns.UpdateSpend(ctx, j.WorkspaceID)
	}))
	a.Jobs.HandleLong(ingest.JobCommit, followTime, a.withFacts(func(ctx context.Context, j job.Job) (*clock.Instant, error) {
		return nil, a.Ingest.Resume(ctx, j.WorkspaceID, ident.ID(j.Args))
	}))
	a.Jobs.HandleLong(connection.JobSync, connection.Longest, a.withFacts(func(ctx context.Context, j job.Job) (*clock.Instant, error) {
		return a.Connections.Work(ctx, j.WorkspaceID, ident.ID(j.Args))
	}))
	a.Jobs.HandleLong(record.JobPush, followTime, func(ctx context.Context, j job.Job) (*clock.Instant, error) {
		return a.Connections.Push(ctx, j.WorkspaceID, ident.ID(j.Args), j.Attempt)
	})
	a.Jobs.HandleLong(creative.JobGenerate, creative.MaxDuration, func(ctx context.Context, j job.Job) (*clock.Instant, error) {
		return nil, a.Creatives.Run(ctx, j.WorkspaceID, ident.ID(j.Args))
	})
	a.Jobs.Repeat("prune", job.Every(time.Hour, c.Now, func(ctx context.Context) error {
		_, err := a.DB.Prune(ctx)
		return err
	}))
	a.Jobs.Repeat("assets", job.Every(time.Hour, c.Now, a.Assets.Sweep))
	a.Jobs.Repeat("imports", job.Every(time.Hour, c.Now, a.Ingest.Sweep))
	a.Jobs.Repeat("keys", job.Every(time.Hour, c.Now, a.Keys.Sweep))
	a.Jobs.Repeat("sign-ins", job.Every(5*time.Minute, c.Now, a.SignIn.Sweep))
	a.Jobs.Repeat("cursors", job.Every(24*time.Hour, c.Now, a.RefreshCursors))
	a.Jobs.Repeat("reshape", func(ctx context.Context, _ job.Job) (*clock.Instant, error) {
		done, err := a.DB.Reshape(ctx)
		next := clock.At(c.Now())
		if done {
			next = next.Add(24 * time.Hour)
		}
		return &next, err
	})
}

// withFacts postpones a job while this node has no facts.
func (a *App) withFacts(w job.Worker) job.Worker {
	return func(ctx context.Context, j job.Job) (*clock.Instant, error) {
		if a.factsFile != nil {
			if wait := a.factsFile.Wait(); wait > 0 {
				again := clock.At(a.config.Now().Add(wait))
				return &again, nil
			}
		}
		return w(ctx, j)
	}
}
