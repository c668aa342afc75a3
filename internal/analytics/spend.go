package analytics

import (
	"cmp"
	"context"
	"fmt"

	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/ident"
	"fanfare/internal/money"
)

// Spend returns the spend of campaigns; nil ids mean all campaigns with facts.
// Amounts are in the given currency and days in the given zone; an empty value
// means the workspace's. The map omits campaigns without reported spend and
// campaigns whose spend is too large to be exact.
func (s *Service) Spend(ctx context.Context, workspace ident.ID, ids []ident.ID, currency money.Currency, zone string) (map[ident.ID]fact.CampaignSpend, error) {
	if ids != nil && len(ids) == 0 {
		return nil, nil
	}
	w, err := s.Workspace(ctx, workspace)
	if err != nil {
		return nil, err
	}
	currency, zone = cmp.Or(currency, w.Currency), cmp.Or(zone, w.Timezone)
	loc, err := clock.Zone(zone)
	if err != nil {
		return nil, fmt.Errorf("spend: %w", err)
	}
	if err := s.Catchup(ctx, workspace); err != nil {
		return nil, fmt.Errorf("bring records up to date: %w", err)
	}
	state, err := s.Facts.State(ctx, workspace)
	if err != nil {
		return nil, fmt.Errorf("read state of facts: %w", err)
	}
	total, err := s.spendByCampaign(ctx, workspace, state.Sources, ids, currency, span{earliest, latest})
	if err != nil {
		return nil, err
	}
	now := s.Now()
	day := clock.DateIn(now, loc)
	today, err := s.spendByCampaign(ctx, workspace, state.Sources, ids, currency, span{day, day})
	if err != nil {
		return nil, err
	}
	spends := make(map[ident.ID]fact.CampaignSpend, len(total))
	for id, sum := range total {
		if sum.Known || sum.NoRate {
			spends[id] = fact.CampaignSpend{Total: sum.N, Today: today[id].N, Currency: currency, Known: sum.Known, AsOf: clock.At(now)}
		}
	}
	return spends, nil
}

// LostSources implements campaign.Spending.
func (s *Service) LostSources(ctx context.Context, workspace ident.ID) (list []fact.LostSource, err error) {
	connections, err := s.connections(ctx, workspace)
	for _, c := range connections {
		if c.Lost {
			list = append(list, fact.LostSource{ID: c.ID, Own: c.Own})
		}
	}
	return list, err
}

// spendByCampaign adds up spend by campaign. It queries only days on which a
// source has facts.
func (s *Service) spendByCampaign(ctx context.Context, workspace ident.ID, sources []fact.Coverage, ids []ident.ID, currency money.Currency, days span) (map[ident.ID]Sum, error) {
	covered := span{days.last + 1, days.first - 1}
	for _, c := range sources {
		if covers(&c, days) {
			covered.first, covered.last = min(covered.first, max(c.First, days.first)), max(covered.last, min(c.Last, days.last))
		}
	}
	if covered.first > covered.last {
		return nil, nil
	}
	rates, err := s.ratesTo(ctx, workspace, sources, currency, covered)
	if err != nil {
		return nil, err
	}
	which := Condition{Dimension: "campaign_id", Op: IsNotNull}
	if ids != nil {
		which = Condition{Dimension: "campaign_id", Op: In}
		for _, id := range ids {
			which.Values = append(which.Values, string(id))
		}
	}
	groups, err := s.Facts.Query(ctx, &Plan{
		Workspace: workspace, Family: fact.Base, First: covered.first, Last: covered.last, Granularity: Whole, Dimensions: []string{"campaign_id"},
		Measures: []fact.Measure{fact.Spend}, Currency: currency, Rates: rates, MaxGroups: MaxRows, UnknownIfTooLarge: true,
		Where: &Condition{And: []Condition{which, {Dimension: "platform", Op: NotEqual, Values: []string{MeasurementPlatform}}}},
	})
	if err != nil {
		return nil, fmt.Errorf("query facts for spend: %w", err)
	}
	sums := make(map[ident.ID]Sum, len(groups))
	for _, g := range groups {
		sums[ident.ID(g.Values[0].ID)] = g.Sums[0]
	}
	return sums, nil
}
