package app

import (
	"context"
	"os"
	"path/filepath"

	"fanfare/internal/analytics"
	"fanfare/internal/asset"
	"fanfare/internal/factsdb"
	"fanfare/internal/factsfile"
	"fanfare/internal/ident"
	"fanfare/internal/ingest"
	"fanfare/internal/metrics"
	"fanfare/internal/metrics/duckdb"
	"fanfare/internal/page"
	"fanfare/internal/rates"
	"fanfare/internal/record"
)

// openMetrics opens the engine that stores the metrics. It is the only place
// that chooses one; FactsFile stays nil for an engine without a file.
func (a *App) openMetrics(ctx context.Context) error {
	c := a.config
	if c.FactsEngine != nil {
		a.Facts = c.FactsEngine
		return nil
	}
	if c.Metrics != "" {
		d, err := factsdb.Open(ctx, factsdb.Config{URL: c.Metrics, Postgres: c.Store, DB: a.DB, Dir: c.Facts, Log: c.Log, Replacing: c.ReplacingFacts, Founder: a.Accounts.Founder, Now: c.Now, Random: c.Random})
		if err == nil {
			a.Facts = d
		}
		return err
	}
	f, err := factsfile.Open(ctx, factsfile.Config{
		Dir: c.Facts, Memory: c.Memory.Facts, DB: a.DB, Alone: a.Engine.Traits().Exclusive, Founder: a.Accounts.Founder, Now: c.Now, Random: c.Random, Log: c.Log,
	})
	if err != nil {
		return err
	}
	a.Facts, a.FactsFile = f, f
	a.DB.SetFactsSource(f.Mark)
	return nil
}

// ReplaceFacts replaces the facts by empty ones or by those that fill writes.
// It starts a new sync of all connections, because a backup lacks later facts,
// and deletes again what was deleted since the backup. dir is a folder for
// temporary files.
func (a *App) ReplaceFacts(ctx context.Context, cause record.Cause, fill func(e metrics.ReplaceableEngine, dir string) error) (factsfile.Replaced, error) {
	workspaces, err := a.Accounts.WorkspaceIDs(ctx)
	if err != nil {
		return factsfile.Replaced{}, err
	}
	reconcile := func(e metrics.ReplaceableEngine, r *factsfile.Replaced) (err error) {
		if r.Losses, err = a.Connections.LoseAll(ctx, cause, workspaces); err != nil {
			return err
		}
		return r.DeleteAgain(ctx, e,
			func(workspace ident.ID) (int, error) { return a.Ingest.UndoAgain(ctx, e, workspace) },
			func(workspace ident.ID) (int, error) {
				return a.Connections.Reconcile(ctx, metrics.Connections{Engine: e}, workspace)
			})
	}
	with := func(e metrics.ReplaceableEngine) error { return fill(e, a.config.Facts) }
	if d, shared := a.Facts.(*factsdb.Database); shared {
		return d.Replace(ctx, workspaces, reconcile, with)
	}
	return a.FactsFile.Replace(ctx, reconcile, with)
}

// buildAnalytics creates analytics.
func (a *App) buildAnalytics() {
	c := a.config
	results := page.ForEach[ident.ID](a.Cursors, "result")
	a.Rates = rates.New(a.DB.Rates(), c.Now)
	a.Analytics = analytics.New(analytics.Deps{
		Facts: a.Facts, Rates: a.DB.Rates(), Results: a.DB.Results(), Flights: a.DB.Analytics(), Records: a.DB.Analytics(),
		Workspace: a.DB.Analytics().Workspace, Catchup: metrics.NewMirror(a.Facts, a.DB, c.Now).CatchUp,
		Seal: results.Seal, Open: results.Open,
		ChangesLost: a.storeFile.ChangesLost, Now: c.Now, Random: c.Random,
	})
}

// buildIngest creates the import of own data.
func (a *App) buildIngest() (err error) {
	c := a.config
	if a.Uploads, err = asset.OpenFolder(filepath.Join(c.Assets, "imports"), c.Now, c.Random); err != nil {
		return err
	}
	spool := filepath.Join(c.Facts, "spool")
	if err := os.MkdirAll(spool, 0o700); err != nil {
		return err
	}
	a.Ingest = ingest.New(ingest.Deps{
		Facts: a.Facts, Sources: a.Connections, Records: a.DB, Imports: a.DB.Imports(), Files: a.Uploads, Parquet: duckdb.Parquet{Dir: spool},
		Founder: a.Accounts.Founder, Now: c.Now, Random: c.Random,
	})
	return nil
}
