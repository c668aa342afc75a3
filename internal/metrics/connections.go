package metrics

import (
	"context"
	"slices"

	"fanfare/internal/analytics"
	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/ident"
)

// Connections is the engine as the package connection uses it.
type Connections struct{ Engine }

// measured are the measures whose totals platforms report.
var measured = []fact.Measure{
	fact.Impressions, fact.Clicks, fact.Spend, fact.Conversions, fact.Revenue, fact.Leads, fact.Engagements, fact.VideoViews, fact.VideoCompletions,
}

// Totals returns the sums of an account in the base family, by day.
func (c Connections) Totals(ctx context.Context, workspace ident.ID, s *fact.Source, first, last clock.Date) (map[clock.Date]fact.Values, error) {
	groups, err := c.Query(ctx, &analytics.Plan{
		Workspace: workspace, Family: fact.Base, First: first, Last: last, Granularity: analytics.Day, Measures: measured, Currency: s.Currency,
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
		for i, m := range measured {
			if g.Sums[i].Known {
				v.Set(m, g.Sums[i].N)
			}
		}
		totals[g.Bucket] = v
	}
	return totals, nil
}

// Sources returns the connections that have facts.
func (c Connections) Sources(ctx context.Context, workspace ident.ID) ([]ident.ID, error) {
	state, err := c.State(ctx, workspace)
	var ids []ident.ID
	for i := range state.Sources {
		if id := state.Sources[i].Connection; !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids, err
}

// Erase deletes all facts of a connection.
func (c Connections) Erase(ctx context.Context, workspace, connection ident.ID) error {
	state, err := c.State(ctx, workspace)
	if err != nil {
		return err
	}
	b := &fact.Batch{Workspace: workspace}
	for i := range state.Sources {
		s := &state.Sources[i]
		if s.Connection != connection {
			continue
		}
		for family := range fact.Families {
			b.Replace = append(b.Replace, fact.Window{Source: &s.Source, Family: fact.Family(family), First: s.First, Last: s.Last})
		}
	}
	if len(b.Replace) == 0 {
		return nil
	}
	return c.Write(ctx, b)
}
