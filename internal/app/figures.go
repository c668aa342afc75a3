package app

import (
	"context"
	"fmt"
	"slices"
	"time"

	"fanfare/internal/account"
	"fanfare/internal/analytics"
	"fanfare/internal/audience"
	"fanfare/internal/campaign"
	"fanfare/internal/clock"
	"fanfare/internal/creative"
	"fanfare/internal/ident"
	"fanfare/internal/money"
)

// figures tells campaigns, audiences and creatives what facts say about them.
type figures struct {
	analytics *analytics.Service
	accounts  *account.Service
	now       func() time.Time
}

// home is what analytics takes from a workspace.
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
func (f *figures) Audience(ctx context.Context, workspace, id ident.ID, baseline string, p audience.Period) (*audience.Figures, error) {
	w, err := f.home(ctx, workspace)
	if err != nil {
		return nil, err
	}
	first, ok := clock.ParseDate(p.StartDate)
	last, ok2 := clock.ParseDate(p.EndDate)
	if !ok || !ok2 {
		return nil, fmt.Errorf("insights: %s to %s are no days", p.StartDate, p.EndDate)
	}
	in, err := f.analytics.Insights(ctx, w, id, baseline, first, last)
	if err != nil || slices.ContainsFunc(in.Warnings, func(w analytics.Warning) bool { return w.Code == analytics.NoFacts }) {
		return nil, err
	}
	out := &audience.Figures{
		Composition: audience.Composition{
			AgeRange: parts(in.Composition["age_range"]), Gender: parts(in.Composition["gender"]),
			Country: parts(in.Composition["country"]), Device: parts(in.Composition["device"]),
		},
		Performance: audience.Performance{Metrics: in.Performance.Metrics, VersusWorkspace: in.Performance.VersusWorkspace},
	}
	for _, warning := range in.Warnings {
		// What is missing the audience finds out itself.
		if warning.Code != "no_breakdown" {
			out.Doubts = append(out.Doubts, audience.Warning{Code: warning.Code, Message: warning.Message})
		}
	}
	for _, d := range in.Trend {
		out.Trend = append(out.Trend, audience.Day{
			Date: d.Date, Impressions: d.Impressions, Clicks: d.Clicks, Conversions: d.Conversions, Spend: d.Spend,
		})
	}
	for _, c := range in.ByChannel {
		out.ByChannel = append(out.ByChannel, audience.ChannelPart{Channel: c.Channel, Metrics: c.Metrics, Index: c.Index})
	}
	for _, t := range in.BestTimes {
		out.BestTimes = append(out.BestTimes, audience.BestTime{Weekday: t.Weekday, Index: t.Index})
	}
	for _, c := range in.TopCreatives {
		out.TopCreatives = append(out.TopCreatives, audience.TopCreative{
			CreativeID: c.CreativeID, Name: c.Name, CTR: c.CTR, CVR: c.CVR, Conversions: c.Conversions,
		})
	}
	for _, c := range in.Campaigns {
		out.Campaigns = append(out.Campaigns, audience.Campaign{CampaignID: c.CampaignID, Name: c.Name, Spend: c.Spend, Conversions: c.Conversions})
	}
	return out, nil
}

func parts(list []analytics.Part) []audience.Part {
	out := make([]audience.Part, len(list))
	for i, p := range list {
		out[i] = audience.Part{Value: p.Value, Impressions: p.Impressions.N, Share: p.Share, Index: p.Index}
	}
	return out
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
