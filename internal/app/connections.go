package app

import (
	"fanfare/internal/adplatform/registry"
	"fanfare/internal/connection"
	"fanfare/internal/metrics"
)

// buildConnections creates the connection service.
func (a *App) buildConnections() error {
	c := a.config
	platforms := registry.Options{Apps: c.OAuth, URLs: c.PlatformURLs, DailyCalls: c.PlatformCalls, Sandbox: c.Sandbox, State: c.SandboxState, Log: c.Log, Now: c.Now, Sleep: c.Sleep}
	if !a.Engine.Traits().Exclusive {
		platforms.Budgets = a.DB.CallBudgets()
	}
	var err error
	if a.Platforms, err = registry.New(platforms); err != nil {
		return err
	}
	grants := a.Keyring.For("grant")
	parts := connection.Parts{
		Store: a.DB.Connections(), Lock: a.DB.Lock, Runs: a.DB.Runs(), Links: a.DB.Links(), Facts: metrics.Connections{Engine: a.Facts},
		Campaigns: a.Campaigns, Audiences: a.Audiences, Find: a.DB.Find,
		Registry: a.Platforms, Sandbox: a.Platforms, PublicURL: c.PublicURL, HistoryDays: c.HistoryDays,
		SealState: grants.Seal, OpenState: grants.Open,
		Now: c.Now, Random: c.Random, Log: c.Log,
	}
	if a.ring != nil {
		parts.Vault = registry.Vault{Ring: a.ring}
	}
	a.Connections = connection.New(parts)
	return nil
}
