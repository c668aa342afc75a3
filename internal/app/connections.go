package app

import (
	"time"

	"fanfare/internal/adplatform/registry"
	"fanfare/internal/clock"
	"fanfare/internal/connection"
	"fanfare/internal/metrics"
)

// buildConnections creates the connection service.
func (a *App) buildConnections() error {
	c := a.config
	var err error
	if a.Catalogue, err = registry.New(registry.Options{
		Apps: c.OAuth, URLs: c.PlatformURLs, Sandbox: c.Sandbox, State: c.SandboxState, Now: c.Now, Sleep: c.Sleep,
	}); err != nil {
		return err
	}
	parts := connection.Parts{
		Store: a.DB.Connections(), Runs: a.DB.Runs(), Links: a.DB.Links(), Facts: metrics.Connections{Engine: a.Facts},
		Campaigns: a.Campaigns, Audiences: a.Audiences, Find: a.DB.Find,
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

// sunsetNotice is how many days before the end of a platform's API version the
// log warns.
const sunsetNotice = 60

// warnOfSunsets warns the operator to update the server before a platform ends
// an API version.
func (a *App) warnOfSunsets() {
	today := clock.DateIn(a.config.Now(), time.UTC)
	for _, p := range a.Catalogue.About() {
		if p.Sunset != nil && *p.Sunset-sunsetNotice <= today {
			a.config.Log.Warn("platform API version ends soon: update the server before its last day", "platform", p.Platform, "version", p.Version, "last_day", p.Sunset.String())
		}
	}
}
