package store

import (
	"context"
	"fmt"

	"fanfare/internal/analytics"
	"fanfare/internal/campaign"
	"fanfare/internal/clock"
	"fanfare/internal/connection"
	"fanfare/internal/fact"
	"fanfare/internal/ident"
)

// Analytics reads the records that analytics needs.
type Analytics struct{ db *DB }

// Analytics returns the reader of the records that analytics needs.
func (db *DB) Analytics() Analytics { return Analytics{db} }

var (
	_ analytics.RecordReader = Analytics{}
	_ analytics.Flights      = Analytics{}
)

// Records implements analytics.RecordReader.
func (a Analytics) Records(ctx context.Context, workspace ident.ID, kind string, ids []ident.ID) ([]fact.Record, error) {
	return a.db.Records(ctx, workspace, kind, ids)
}

// Connections implements analytics.RecordReader.
func (a Analytics) Connections(ctx context.Context, workspace ident.ID) ([]analytics.Connection, error) {
	all, err := connection.All(ctx, a.db.Connections(), workspace)
	if err != nil {
		return nil, err
	}
	var list []analytics.Connection
	for _, c := range all {
		list = append(list, analytics.Connection{
			ID: c.ID, Name: c.Name, Platform: c.Platform, Status: string(c.Status), DataThrough: c.Sync.DataThrough,
			Lost: c.DataLostAt != nil, Own: c.Platform == connection.PlatformAPI || c.Platform == connection.PlatformCSV,
			LookbackDays: int(c.Sync.LookbackDays), LastSuccess: c.Sync.LastSuccessAt, StaleAfter: c.StaleAfter(), Sandbox: c.Platform == connection.PlatformSandbox,
			Gaps: gapsOf(c, clock.At(a.db.now())),
		})
	}
	return list, nil
}

// gapsOf returns the days of a connection whose metrics are missing or not all
// there.
func gapsOf(c *connection.Connection, now clock.Instant) (list []analytics.Gap) {
	for i := range c.Accounts {
		a := &c.Accounts[i]
		for f := range fact.Families {
			for _, g := range c.Lacks(a, fact.Family(f), now) {
				gap := analytics.Gap{
					Platform: a.Platform, Account: a.ExternalID, Currency: a.Currency, Family: fact.Family(f),
					First: g.StartDate, Last: g.EndDate, Message: g.Message, Measures: g.Measures(),
				}
				if g.Metric != nil && g.Amount != nil {
					gap.Metric, gap.Amount = *g.Metric, *g.Amount
				}
				list = append(list, gap)
			}
		}
	}
	return list
}

// Workspace returns the settings of a workspace that analytics needs.
func (a Analytics) Workspace(ctx context.Context, id ident.ID) (analytics.Workspace, error) {
	w, err := a.db.Accounts().Workspace(ctx, id)
	if err != nil {
		return analytics.Workspace{}, err
	}
	return analytics.NewWorkspace(id, w.Timezone, w.Currency), nil
}

// Flights implements analytics.Flights with the dates and budgets of campaigns.
func (a Analytics) Flights(ctx context.Context, workspace ident.ID, ids []ident.ID) (map[ident.ID]analytics.Flight, error) {
	found := map[ident.ID]analytics.Flight{}
	list, err := a.db.Campaigns().ByIDs(ctx, workspace, ids)
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
