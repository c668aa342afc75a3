package duckdb_test

import (
	"context"
	"fmt"
	"testing"

	"fanfare/internal/analytics"
	"fanfare/internal/clock"
	"fanfare/internal/fact"
)

// TestKeptPlans runs the same query after every write. Each write exceeds the
// statistics at the time of planning: more campaigns, later days, larger values.
func TestKeptPlans(t *testing.T) {
	t.Parallel()
	e := openFiles(t, t.TempDir())
	const apart = 50
	plans := []analytics.Plan{
		{Granularity: analytics.Whole},
		{Granularity: analytics.Day},
		{Granularity: analytics.Whole, Dimensions: []string{"campaign_id"}},
		{Granularity: analytics.Month, Dimensions: []string{"channel"}},
	}
	size, campaigns := int64(1), 0
	since := make([]int64, 6)
	for i, many := range []int{1, 2, 300, 5, 20_000, 1} {
		b := &fact.Batch{Workspace: "wks_1"}
		for range many {
			campaigns++
			r := fact.Row{Source: source, Date: first + apart*clock.Date(i), Channel: fact.Channels[i%5], Campaign: fact.Entity{ExternalID: fmt.Sprint(campaigns)}}
			r.Values.Set(fact.Clicks, size)
			b.Rows = append(b.Rows, r)
			for from := range i + 1 {
				since[from] += size
			}
		}
		write(t, e, b)
		size *= 500
		for from, want := range since {
			for _, p := range append(plans, plans...) {
				p.Workspace, p.Measures, p.MaxGroups = "wks_1", []fact.Measure{fact.Clicks}, analytics.MaxRows
				p.First, p.Last = first+apart*clock.Date(from), first+364
				groups, err := e.Query(context.Background(), &p)
				if err != nil {
					t.Fatal(err)
				}
				got := int64(0)
				for _, g := range groups {
					got += g.Sums[0].N
				}
				if got != want {
					t.Errorf("batch %d, %s by %v from day %d: got %d clicks want %d", i, p.Granularity, p.Dimensions, p.First-first, got, want)
				}
			}
		}
	}
}
