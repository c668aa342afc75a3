package app

import (
	"context"
	"fmt"
	"time"

	"fanfare/internal/account"
	"fanfare/internal/analytics"
	"fanfare/internal/campaign"
	"fanfare/internal/clock"
	"fanfare/internal/creative"
	"fanfare/internal/ident"
	"fanfare/internal/money"
)

// figures gives campaigns, audiences and creatives their metrics.
type figures struct {
	analytics *analytics.Service
	accounts  *account.Service
	now       func() time.Time
}

// home returns the workspace as analytics needs it.
func (f *figures) home(ctx context.Context, id ident.ID) (analytics.Workspace, error) {
	w, err := f.accounts.Workspace(ctx, id)
	return analytics.Workspace{ID: id, Timezone: w.Timezone, Currency: w.Currency}, err
}

// Spend implements campaign.Spending.
func (f *figures) Spend(ctx context.Context, workspace ident.ID, ids []ident.ID, currency money.Currency, zone string) (map[ident.ID]campaign.Spend, error) {
	w, err := f.home(ctx, workspace)
	if err != nil {
		return nil, err
	}
	if currency == "" {
		currency = w.Currency
	}
	if zone == "" {
		zone = w.Timezone
	}
	loc, err := clock.Zone(zone)
	if err != nil {
		return nil, fmt.Errorf("spend: %w", err)
	}
	now := f.now()
	list, err := f.analytics.Spend(ctx, w, ids, currency, clock.DateIn(now, loc))
	if err != nil {
		return nil, err
	}
	spent := make(map[ident.ID]campaign.Spend, len(list))
	for id, s := range list {
		spent[id] = campaign.Spend{Total: s.Total, Today: s.Today, Currency: currency, Known: s.Known, AsOf: clock.At(now)}
	}
	return spent, nil
}

// Audience implements audience.Facts.
func (f *figures) Audience(ctx context.Context, workspace, id ident.ID, baseline string, first, last clock.Date) (*analytics.AudienceFacts, error) {
	w, err := f.home(ctx, workspace)
	if err != nil {
		return nil, err
	}
	return f.analytics.Insights(ctx, w, id, baseline, first, last)
}

// Variants implements creative.Figures.
func (f *figures) Variants(ctx context.Context, workspace, id ident.ID) (map[ident.ID]creative.Metrics, error) {
	w, err := f.home(ctx, workspace)
	if err != nil {
		return nil, err
	}
	list, err := f.analytics.Variants(ctx, w, id)
	if err != nil {
		return nil, err
	}
	out := make(map[ident.ID]creative.Metrics, len(list))
	for id, m := range list {
		out[id] = creative.Metrics{
			Impressions: m["impressions"], Clicks: m["clicks"], CTR: m["ctr"], Conversions: m["conversions"],
			CVR: m["cvr"], Spend: m["spend"], CPA: m["cpa"],
		}
	}
	return out, nil
}
