package app

import (
	"context"
	"path/filepath"

	"fanfare/internal/analytics"
	"fanfare/internal/asset"
	"fanfare/internal/factsfile"
	"fanfare/internal/ident"
	"fanfare/internal/ingest"
	"fanfare/internal/metrics"
	"fanfare/internal/rates"
	"fanfare/internal/store"
)

// FactsConfig returns the configuration for opening the facts file.
func (c Config) FactsConfig(e store.Engine, db *store.DB) factsfile.Config {
	return factsfile.Config{Dir: c.Facts, Memory: c.Memory.Facts, DB: db, Alone: e.Traits().Exclusive, Now: c.Now, Random: c.Random, Log: c.Log}
}

// openFacts opens the facts.
func (a *App) openFacts(ctx context.Context) error {
	if a.Facts = a.config.FactsEngine; a.Facts != nil {
		return nil
	}
	f, err := factsfile.Open(ctx, a.config.FactsConfig(a.Engine, a.DB))
	if err != nil {
		return err
	}
	a.Facts, a.factsFile = f, f
	a.DB.SetFactsSource(f.Mark)
	return nil
}

// buildAnalytics creates analytics.
func (a *App) buildAnalytics() {
	c := a.config
	a.Rates = rates.New(a.DB.Rates(), c.Now)
	a.Analytics = analytics.New(analytics.Deps{
		Facts: a.Facts, Rates: a.DB.Rates(), Results: a.DB.Results(), Flights: a.DB.Analytics(), Records: a.DB.Analytics(),
		Workspace: a.analyticsWorkspace, Catchup: metrics.NewMirror(a.Facts, a.DB, c.Now).CatchUp,
		Seal: func(workspace ident.ID, plain []byte) string {
			return a.cursors.Load().SealBytes(resultPurpose+string(workspace), plain)
		},
		Open: func(workspace ident.ID, text string) ([]byte, bool) {
			return a.cursors.Load().OpenBytes(resultPurpose+string(workspace), text)
		},
		ChangesLost: a.storeFile.ChangesLost, Now: c.Now, Random: c.Random,
	})
}

// buildIngest creates the import of own data.
func (a *App) buildIngest() (err error) {
	c := a.config
	if a.Uploads, err = asset.OpenFolder(filepath.Join(c.Assets, "imports"), c.Now, c.Random); err != nil {
		return err
	}
	parquet, _ := a.Facts.(ingest.Parquet)
	a.Ingest = ingest.New(ingest.Deps{
		Facts: a.Facts, Sources: a.Connections, Records: a.DB, Imports: a.DB.Imports(), Files: a.Uploads, Parquet: parquet,
		Now: c.Now, Random: c.Random,
	})
	return nil
}

// FactsFault returns why metrics are unavailable or incomplete on this node,
// empty if they are complete.
func (a *App) FactsFault() string {
	if a.factsFile == nil {
		return ""
	}
	return a.factsFile.Fault()
}

// FactsOperatorFault returns FactsFault with commands for the operator that
// name the data folder.
func (a *App) FactsOperatorFault() string {
	if a.factsFile == nil {
		return ""
	}
	return a.factsFile.OperatorFault()
}

// noteFacts records the generation of the facts in the store.
func (a *App) noteFacts(ctx context.Context) error {
	if a.factsFile == nil {
		return nil
	}
	return a.factsFile.Note(ctx)
}

// resultPurpose limits sealed cursors to query results.
const resultPurpose = "result "

// analyticsWorkspace returns the settings of a workspace that analytics needs.
func (a *App) analyticsWorkspace(ctx context.Context, id ident.ID) (analytics.Workspace, error) {
	w, err := a.Accounts.Workspace(ctx, id)
	return analytics.Workspace{ID: id, Timezone: w.Timezone, Currency: w.Currency}, err
}
