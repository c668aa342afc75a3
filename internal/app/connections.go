package app

import (
	"context"
	"fmt"
	"time"

	"fanfare/internal/adplatform/registry"
	"fanfare/internal/analytics"
	"fanfare/internal/clock"
	"fanfare/internal/connection"
	"fanfare/internal/fact"
	"fanfare/internal/ident"
	"fanfare/internal/job"
	"fanfare/internal/metrics"
	"fanfare/internal/record"
	"fanfare/internal/seal"
	"fanfare/internal/store"
)

// buildConnections makes the service of connections. Records are plugged in
// when they are there.
func (a *App) buildConnections() error {
	c := a.config
	var err error
	if a.Catalogue, err = registry.New(registry.Options{
		Apps: c.OAuth, URLs: c.PlatformURLs, Sandbox: c.Sandbox, State: c.SandboxState, Now: c.Now, Sleep: c.Sleep,
	}); err != nil {
		return err
	}
	parts := connection.Parts{
		Store: a.DB.Connections(), Runs: a.DB.Runs(), Links: a.DB.Links(), Facts: ledger{a.Facts}, Records: &linked{app: a},
		Catalogue: a.Catalogue, Sandbox: a.Catalogue, PublicURL: c.PublicURL, HistoryDays: c.HistoryDays,
		SealState: func(plain []byte) string { return a.cursors.Load().SealBytes(grantPurpose, plain) },
		OpenState: func(text string) ([]byte, bool) { return a.cursors.Load().OpenBytes(grantPurpose, text) },
		Now:       c.Now, Random: c.Random, Log: c.Log,
	}
	if a.ring != nil {
		parts.Vault = registry.Vault{Ring: a.ring}
	}
	a.Connections = connection.New(parts)
	return nil
}

// grantPurpose binds what people carry to platforms and back to nothing else.
const grantPurpose = "grant"

// openRing opens the keys that seal others, if there are any.
func (a *App) openRing() error {
	c := a.config
	if c.MasterKey == "" {
		return nil
	}
	ring, made, err := seal.OpenOrCreate(c.MasterKey, c.Random)
	if err != nil {
		return fmt.Errorf("open master key: %w", err)
	}
	if made {
		c.Log.Warn("made a master key: without this file stored keys to other services cannot be read; back it up apart from the data", "file", c.MasterKey)
	}
	a.ring = ring
	return nil
}

// planConnections names the background work for connections.
func (a *App) planConnections() {
	a.Jobs.HandleLong(store.KindSync, connection.Longest, a.withFacts(func(ctx context.Context, j job.Job) (*clock.Instant, error) {
		return a.Connections.Work(ctx, j.WorkspaceID, ident.ID(j.Args))
	}))
	a.Jobs.HandleLong(store.KindPush, followTime, func(ctx context.Context, j job.Job) (*clock.Instant, error) {
		return a.Connections.Push(ctx, j.WorkspaceID, ident.ID(j.Args), j.Attempt)
	})
}

// ledger lets figures into facts.
type ledger struct{ metrics.Engine }

var totalled = []fact.Measure{
	fact.Impressions, fact.Clicks, fact.Spend, fact.Conversions, fact.Revenue, fact.Leads, fact.Engagements, fact.VideoViews, fact.VideoCompletions,
}

// Totals implements connection.Facts.
func (l ledger) Totals(ctx context.Context, workspace ident.ID, s *fact.Source, first, last clock.Date) (map[clock.Date]fact.Values, error) {
	groups, err := l.Query(ctx, &analytics.Plan{
		Workspace: workspace, Family: fact.Base, First: first, Last: last, Granularity: analytics.Day, Measures: totalled, Currency: s.Currency,
		MaxGroups: int(last-first) + 1,
		Where: &analytics.Condition{And: []analytics.Condition{
			{Dimension: "connection_id", Op: analytics.Equal, Values: []string{string(s.Connection)}},
			{Dimension: "account_id", Op: analytics.Equal, Values: []string{s.Account}},
		}},
	})
	if err != nil {
		return nil, err
	}
	totals := map[clock.Date]fact.Values{}
	for _, g := range groups {
		var v fact.Values
		for i, m := range totalled {
			if g.Sums[i].Known {
				v.Set(m, g.Sums[i].N)
			}
		}
		totals[g.Bucket] = v
	}
	return totals, nil
}

// Relink implements connection.Facts.
func (l ledger) Relink(ctx context.Context, workspace, id ident.ID, links []connection.Link) error {
	b := &fact.Batch{Workspace: workspace}
	for _, link := range links {
		e := fact.Entity{External: link.ExternalID, Name: link.Name}
		if link.RecordID != nil {
			e.Record = *link.RecordID
		}
		b.Links = append(b.Links, fact.Link{Connection: id, Kind: link.Kind, Entity: e})
	}
	return l.Write(ctx, b)
}

// Erase implements connection.Facts.
func (l ledger) Erase(ctx context.Context, workspace, id ident.ID) error {
	state, err := l.State(ctx, workspace)
	if err != nil {
		return err
	}
	b := &fact.Batch{Workspace: workspace}
	for i := range state.Sources {
		s := &state.Sources[i]
		if s.Connection != id {
			continue
		}
		for family := range fact.Families {
			b.Replace = append(b.Replace, fact.Window{Source: &s.Source, Family: fact.Family(family), First: s.First, Last: s.Last})
		}
	}
	if len(b.Replace) == 0 {
		return nil
	}
	return l.Write(ctx, b)
}

// linked are the records that platforms are linked to.
type linked struct{ app *App }

// Refer implements connection.Records.
func (l *linked) Refer(ctx context.Context, workspace ident.ID, kind string, id ident.ID, look func(context.Context) ([]record.ExternalRef, error)) error {
	switch kind {
	case fact.KindCampaign:
		return l.app.Campaigns.Refer(ctx, workspace, id, look)
	case fact.KindAudience:
		refs, err := look(ctx)
		if err != nil {
			return err
		}
		return l.app.Audiences.Refer(ctx, workspace, id, refs)
	}
	return nil
}

// Find implements connection.Records.
func (l *linked) Find(ctx context.Context, workspace ident.ID, kind string, ids []ident.ID) (map[ident.ID]ident.ID, error) {
	return l.app.DB.Find(ctx, workspace, kind, ids)
}

var (
	_ connection.Records = (*linked)(nil)
	_ connection.Facts   = ledger{}
)

// sunsetNotice is how long before a platform ends the version of its API that
// is spoken here the log says so.
const sunsetNotice = 60

// warnOfSunsets tells the operator to bring the server up to date in time.
func (a *App) warnOfSunsets() {
	today := clock.DateIn(a.config.Now(), time.UTC)
	for _, p := range a.Catalogue.About() {
		if p.Sunset != nil && *p.Sunset-sunsetNotice <= today {
			a.config.Log.Warn("a platform ends the version of its API that this build speaks: update the server", "platform", p.Platform, "version", p.Version, "last_day", p.Sunset.String())
		}
	}
}
