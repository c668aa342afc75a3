package app

import (
	"fmt"

	"fanfare/internal/creative"
	"fanfare/internal/llm/provider"
	"fanfare/internal/outbound"
)

// buildCreatives creates the creative service and its dependencies.
func (a *App) buildCreatives() error {
	c := a.config
	var err error
	// Choice: only the operator can set up a model, so a model's address may be
	// local or in a private network.
	if a.Providers, err = provider.New(a.DB.Providers(), a.ring, outbound.Trusted(), c.Now); err != nil {
		return err
	}
	pictures, err := outbound.New(outbound.Options{Policy: outbound.Guarded(nil), Timeout: creative.FetchTimeout, MaxBytes: creative.MaxFetchBytes})
	if err != nil {
		return fmt.Errorf("create client for pictures: %w", err)
	}
	a.Creatives = creative.New(creative.Deps{
		Store: a.DB.Creatives(), Kits: a.DB.BrandKits(), Providers: a.Providers, Painter: provider.NewPainter(c.Fonts...), Assets: a.Assets,
		Fetch: pictures.Get, Records: a.DB.CreativeReferences(), Metrics: a.Analytics, Founder: a.Accounts.Founder, Now: c.Now, Random: c.Random,
	})
	return nil
}
