package app

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"fanfare/internal/analytics"
	"fanfare/internal/asset"
	"fanfare/internal/campaign"
	"fanfare/internal/clock"
	"fanfare/internal/connection"
	"fanfare/internal/factsfile"
	"fanfare/internal/ident"
	"fanfare/internal/ingest"
	"fanfare/internal/job"
	"fanfare/internal/metrics"
	"fanfare/internal/metrics/duckdb"
	"fanfare/internal/page"
	"fanfare/internal/rates"
	"fanfare/internal/store"
)

// FactsConfig returns the configuration for opening the facts file.
func (c Config) FactsConfig(e store.Engine, db *store.DB) factsfile.Config {
	return factsfile.Config{Dir: c.Facts, Memory: c.Memory.Facts, DB: db, Alone: e.Traits().Exclusive, Now: c.Now, Random: c.Random, Log: c.Log}
}

// buildFacts opens the facts and creates the services that use them.
func (a *App) buildFacts(ctx context.Context) error {
	c := a.config
	if a.Facts = c.FactsEngine; a.Facts == nil {
		f, err := factsfile.Open(ctx, c.FactsConfig(a.Engine, a.DB))
		if err != nil {
			return err
		}
		a.Facts, a.factsFile = f, f
		a.DB.SetFactsSource(f.Mark)
	}
	var err error
	if a.Uploads, err = asset.OpenFolder(filepath.Join(c.Assets, "imports"), c.Now, c.Random); err != nil {
		return err
	}
	if err := a.buildConnections(); err != nil {
		return err
	}
	a.Rates = rates.New(a.DB.Rates(), c.Now)
	a.Analytics = analytics.New(analytics.Deps{
		Facts: a.Facts, Rates: a.DB.Rates(), Results: a.DB.Results(), Flights: flights{a.DB.Campaigns()}, Records: entities{a.DB},
		Workspace: a.analyticsWorkspace, Catchup: metrics.NewMirror(a.Facts, a.DB, c.Now).CatchUp,
		Seal: func(workspace ident.ID, plain []byte) string {
			return a.cursors.Load().SealBytes(resultPurpose+string(workspace), plain)
		},
		Open: func(workspace ident.ID, text string) ([]byte, bool) {
			return a.cursors.Load().OpenBytes(resultPurpose+string(workspace), text)
		},
		Now: c.Now, Random: c.Random,
	})
	a.Ingest = ingest.New(ingest.Parts{
		Facts: a.Facts, Sources: a.Connections, Records: a.DB, Imports: a.DB.Imports(), Files: a.Uploads, Parquet: parquet(a.Facts),
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

// resultPurpose limits sealed cursors to query results.
const resultPurpose = "result "

// tables reads Parquet files with the engine's reader, if it has one.
type tables struct{ engine parquetReader }

type parquetReader interface {
	ReadParquet(ctx context.Context, file []byte, b duckdb.Bounds, each func(columns []string, rows [][]string) error) error
}

func parquet(e metrics.Engine) ingest.Parquet {
	if r, ok := e.(parquetReader); ok {
		return tables{r}
	}
	return nil
}

// Read implements ingest.Parquet.
func (t tables) Read(ctx context.Context, b []byte, each func(columns []string, rows [][]string) error) error {
	var stopped error
	bounds := duckdb.Bounds{Rows: ingest.MaxFileRows, Columns: ingest.MaxColumns, Cell: ingest.MaxCell, Text: ingest.MaxText}
	err := t.engine.ReadParquet(ctx, b, bounds, func(columns []string, rows [][]string) error {
		stopped = each(columns, rows)
		return stopped
	})
	if err == nil || stopped != nil || ctx.Err() != nil {
		return errors.Join(stopped, ctx.Err())
	}
	var large *duckdb.TooLargeError
	switch {
	case errors.As(err, &large):
		return ingest.TooLarge(large.What)
	case errors.Is(err, duckdb.ErrUnreadable):
		return fmt.Errorf("%w: %w", ingest.ErrUnreadable, err)
	}
	return err
}

// entities gives analytics access to records.
type entities struct{ *store.DB }

// Connections implements analytics.Entities.
func (e entities) Connections(ctx context.Context, workspace ident.ID) ([]analytics.Connection, error) {
	var list []analytics.Connection
	q := page.Query{Sort: "created_at", Status: []string{}, Limit: page.MaxLimit}
	for {
		p, err := e.DB.Connections().List(ctx, workspace, q)
		if err != nil {
			return nil, err
		}
		for _, d := range p.Docs {
			c, err := connection.Read(d)
			if err != nil {
				return nil, err
			}
			list = append(list, analytics.Connection{
				ID: c.ID, Name: c.Name, Platform: c.Platform, Status: string(c.Status), DataThrough: c.Sync.DataThrough,
				Lost:         c.StatusReason != nil && c.StatusReason.Code == connection.DataLost && c.Status != connection.StatusDisconnected,
				LookbackDays: int(c.Sync.LookbackDays), LastSuccess: c.Sync.LastSuccessAt, StaleAfter: c.StaleAfter(), Sandbox: c.Platform == connection.PlatformSandbox,
			})
		}
		if p.Next == nil {
			return list, nil
		}
		q.After = p.Next
	}
}

// flights gives analytics the dates and budgets of campaigns.
type flights struct{ campaigns *store.Campaigns }

// Flights implements analytics.Flights.
func (f flights) Flights(ctx context.Context, workspace ident.ID, ids []ident.ID) (map[ident.ID]analytics.Flight, error) {
	found := map[ident.ID]analytics.Flight{}
	list, err := f.campaigns.ByIDs(ctx, workspace, ids)
	if err != nil {
		return nil, err
	}
	for _, c := range list {
		if c.Budget == nil {
			continue
		}
		first, last, err := c.Flight()
		if err != nil {
			return nil, fmt.Errorf("campaign %s: %w", c.ID, err)
		}
		found[c.ID] = analytics.Flight{
			Start: first, End: last, Daily: c.Budget.Type == "daily", Micros: c.Budget.Amount.Micros,
			Currency: c.Budget.Currency, Running: c.Status == campaign.StatusActive,
		}
	}
	return found, nil
}

// analyticsWorkspace returns the settings of a workspace that analytics needs.
func (a *App) analyticsWorkspace(ctx context.Context, id ident.ID) (analytics.Workspace, error) {
	w, err := a.Accounts.Workspace(ctx, id)
	return analytics.Workspace{ID: id, Timezone: w.Timezone, Currency: w.Currency}, err
}
