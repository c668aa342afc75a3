package app

import (
	"context"
	"os"
	"path/filepath"

	"fanfare/internal/analytics"
	"fanfare/internal/assetfiles"
	"fanfare/internal/factsdb"
	"fanfare/internal/factsfile"
	"fanfare/internal/ident"
	"fanfare/internal/ingest"
	"fanfare/internal/metrics"
	"fanfare/internal/metrics/duckdb"
	"fanfare/internal/page"
	"fanfare/internal/rates"
)

// openMetrics opens the engine that stores the metrics. It is the only place
// that chooses one; FactsFile stays nil for an engine without a file.
func (a *App) openMetrics(ctx context.Context) error {
	c := a.config
	if c.FactsEngine != nil {
		// A nil File refuses to be replaced.
		a.Facts, a.replaceable = c.FactsEngine, a.FactsFile
		return nil
	}
	if c.Metrics != "" {
		d, err := factsdb.Open(ctx, factsdb.Config{URL: c.Metrics, Postgres: c.Store, DB: a.DB, Dir: c.Facts, Log: c.Log, Replacing: c.ReplacingFacts, Founder: a.Accounts.Founder, Now: c.Now, Random: c.Random})
		if err == nil {
			a.Facts, a.replaceable = d, d
		}
		return err
	}
	f, err := factsfile.Open(ctx, factsfile.Config{
		Dir: c.Facts, Memory: c.Memory.Facts, DB: a.DB, Alone: a.Engine.Traits().Exclusive, Founder: a.Accounts.Founder, Now: c.Now, Random: c.Random, Log: c.Log,
	})
	if err != nil {
		return err
	}
	a.Facts, a.FactsFile, a.replaceable = f, f, f
	a.DB.SetFactsSource(f.Mark)
	return nil
}

// buildAnalytics creates analytics.
func (a *App) buildAnalytics() {
	c := a.config
	results := page.ForEach[ident.ID](a.Keyring, "result")
	a.Rates = rates.New(a.DB.Rates(), c.Now)
	a.Analytics = analytics.New(analytics.Deps{
		Facts: a.Facts, Rates: a.DB.Rates(), Results: a.DB.Results(), Flights: a.DB.Analytics(), Records: a.DB.Analytics(),
		Workspace: a.DB.Analytics().Workspace, Catchup: metrics.NewMirror(a.Facts, a.DB, c.Now).CatchUp,
		Seal: results.Seal, Open: results.Open,
		ChangesLost: a.storeFile.ChangesLost, Now: c.Now, Random: c.Random,
	})
}

// buildIngest creates the import of own data, the last user of facts.
func (a *App) buildIngest() (err error) {
	c := a.config
	if a.Uploads, err = assetfiles.Open(c.Assets, assetfiles.Imports, c.Now, c.Random); err != nil {
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
	a.FactsReplacement = factsfile.Replacement{Facts: a.replaceable, Dir: c.Facts, Workspaces: a.Accounts.WorkspaceIDs, Connections: a.Connections, Imports: a.Ingest}
	return nil
}
