package app

import (
	"slices"
	"time"

	"fanfare/internal/job"
)

// registerJobs registers what the background jobs do.
func (a *App) registerJobs() {
	c := a.config
	a.Jobs = job.New(a.DB.Jobs(), c.Now, c.Log)
	a.DB.RegisterJobs(a.Jobs)
	a.Jobs.Register(slices.Concat(a.Campaigns.JobHandlers(), a.Ingest.JobHandlers(), a.Connections.JobHandlers(), a.Creatives.JobHandlers()), a.FactsFile.JobDelay)
	a.Jobs.Repeat("assets", job.Every(time.Hour, c.Now, a.Assets.Sweep))
	a.Jobs.Repeat("imports", job.Every(time.Hour, c.Now, a.Ingest.Sweep))
	a.Jobs.Repeat("keys", job.Every(time.Hour, c.Now, a.Keys.Sweep))
	a.Jobs.Repeat("sign-ins", job.Every(5*time.Minute, c.Now, a.SignIn.Sweep))
	a.Jobs.Repeat("cursors", job.Every(24*time.Hour, c.Now, a.Keyring.Refresh))
}
