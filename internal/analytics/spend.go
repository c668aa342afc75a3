package analytics

import (
	"context"
	"fmt"

	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/ident"
	"fanfare/internal/money"
)

// Spend is the spend of a campaign in micros: total and today.
type Spend struct {
	Total, Today int64
	// Known is false if an exchange rate is missing.
	Known bool
}

// Spend returns the spend of campaigns in a currency; nil ids mean all
// campaigns with facts. The map omits campaigns without reported spend and
// campaigns whose spend is too large to be exact.
func (s *Service) Spend(ctx context.Context, w Workspace, ids []ident.ID, currency money.Currency, today clock.Date) (map[ident.ID]Spend, error) {
	if ids != nil && len(ids) == 0 {
		return nil, nil
	}
	if err := s.Catchup(ctx, w.ID); err != nil {
		return nil, fmt.Errorf("bring records up to date: %w", err)
	}
	state, err := s.Facts.State(ctx, w.ID)
	if err != nil {
		return nil, fmt.Errorf("read state of facts: %w", err)
	}
	total, err := s.spent(ctx, w.ID, state.Sources, ids, currency, span{earliest, latest})
	if err != nil {
		return nil, err
	}
	now, err := s.spent(ctx, w.ID, state.Sources, ids, currency, span{today, today})
	if err != nil {
		return nil, err
	}
	spends := make(map[ident.ID]Spend, len(total))
	for id, sum := range total {
		if sum.Known || sum.NoRate {
			spends[id] = Spend{Total: sum.N, Today: now[id].N, Known: sum.Known}
		}
	}
	return spends, nil
}

// spent adds up spend by campaign. It queries only days on which a source has
// facts.
func (s *Service) spent(ctx context.Context, workspace ident.ID, sources []fact.Coverage, ids []ident.ID, currency money.Currency, days span) (map[ident.ID]Sum, error) {
	covered := span{days.last + 1, days.first - 1}
	for _, c := range sources {
		if covers(&c, days) {
			covered.first, covered.last = min(covered.first, max(c.First, days.first)), max(covered.last, min(c.Last, days.last))
		}
	}
	if covered.first > covered.last {
		return nil, nil
	}
	rates, err := s.convert(ctx, workspace, sources, currency, covered)
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
		Measures: []fact.Measure{fact.Spend}, Currency: currency, Rates: rates, MaxGroups: MaxRows, Forgiving: true,
		Where: &Condition{And: []Condition{which, {Dimension: "platform", Op: NotEqual, Values: []string{Measurement}}}},
	})
	if err != nil {
		return nil, fmt.Errorf("ask facts for spend: %w", err)
	}
	sums := make(map[ident.ID]Sum, len(groups))
	for _, g := range groups {
		sums[ident.ID(g.Values[0].ID)] = g.Sums[0]
	}
	return sums, nil
}
