package app

import (
	"context"
	"fmt"
	"time"

	"fanfare/internal/adplatform/registry"
	"fanfare/internal/campaign"
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

// buildConnections creates the connection service. Campaigns and audiences are
// created later; linked reads them from the App.
func (a *App) buildConnections() error {
	c := a.config
	var err error
	if a.Catalogue, err = registry.New(registry.Options{
		Apps: c.OAuth, URLs: c.PlatformURLs, Sandbox: c.Sandbox, State: c.SandboxState, Now: c.Now, Sleep: c.Sleep,
	}); err != nil {
		return err
	}
	parts := connection.Parts{
		Store: a.DB.Connections(), Runs: a.DB.Runs(), Links: a.DB.Links(), Facts: metrics.Connections{Engine: a.Facts}, Records: &linked{app: a},
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

// grantPurpose limits the sealed state of an OAuth grant to this purpose.
const grantPurpose = "grant"

// openRing opens the master keys, if configured.
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

// planConnections registers the background jobs of connections.
func (a *App) planConnections() {
	a.Jobs.HandleLong(store.KindSync, connection.Longest, a.withFacts(func(ctx context.Context, j job.Job) (*clock.Instant, error) {
		return a.Connections.Work(ctx, j.WorkspaceID, ident.ID(j.Args))
	}))
	a.Jobs.HandleLong(store.KindPush, followTime, func(ctx context.Context, j job.Job) (*clock.Instant, error) {
		return a.Connections.Push(ctx, j.WorkspaceID, ident.ID(j.Args), j.Attempt)
	})
}

// linked gives connections access to linked records.
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

// Runs implements connection.Records.
func (l *linked) Runs(ctx context.Context, workspace, id ident.ID) (bool, error) {
	d, err := l.app.Campaigns.Get(ctx, workspace, id)
	if err != nil {
		return false, err
	}
	c, err := campaign.Read(d)
	if err != nil {
		return false, err
	}
	return c.Runs(), nil
}

// Find implements connection.Records.
func (l *linked) Find(ctx context.Context, workspace ident.ID, kind string, ids []ident.ID) (map[ident.ID]ident.ID, error) {
	return l.app.DB.Find(ctx, workspace, kind, ids)
}

var _ connection.Records = (*linked)(nil)

// sunsetNotice is how many days before the end of a platform's API version the
// log warns.
const sunsetNotice = 60

// warnOfSunsets warns the operator to update the server before a platform ends
// an API version.
func (a *App) warnOfSunsets() {
	today := clock.DateIn(a.config.Now(), time.UTC)
	for _, p := range a.Catalogue.About() {
		if p.Sunset != nil && *p.Sunset-sunsetNotice <= today {
			a.config.Log.Warn("a platform ends the version of its API that this build speaks: update the server", "platform", p.Platform, "version", p.Version, "last_day", p.Sunset.String())
		}
	}
}
