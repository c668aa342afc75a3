package duckdb_test

import (
	"strconv"
	"testing"

	"fanfare/internal/analytics"
	"fanfare/internal/clock"
	"fanfare/internal/fact"
)

// TestStoredSums compares sums over every range of some months with what the days
// have, so that each day is in one sum and no other.
func TestStoredSums(t *testing.T) {
	t.Parallel()
	e := openFiles(t, t.TempDir())
	e.SumFrom(1)
	from, days := clock.MakeDate(2024, 1, 1), 121
	b := &fact.Batch{Workspace: "wks_1"}
	for d := range days {
		r := fact.Row{Source: source, Date: from + clock.Date(d), Audience: fact.Entity{ExternalID: strconv.Itoa(d % 2)}}
		r.Values.Set(fact.Clicks, int64(d*d+1))
		b.Rows = append(b.Rows, r)
	}
	// The second write deletes the sums, and they are calculated again.
	for range 2 {
		write(t, e, b)
		if err := e.Maintain(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	ends := []int{0, 5, 25, 29, 30, 31, 36, 55, 59, 60, 85, 90, 119, 120}
	for i, first := range ends {
		for _, last := range ends[i:] {
			var want int64
			for d := first; d <= last; d++ {
				want += int64(d*d + 1)
			}
			for _, dimensions := range [][]string{nil, {"audience_id"}} {
				groups, err := e.Query(t.Context(), &analytics.Plan{
					Workspace: "wks_1", First: from + clock.Date(first), Last: from + clock.Date(last), Granularity: analytics.Whole,
					Dimensions: dimensions, Measures: []fact.Measure{fact.Clicks}, MaxGroups: 10,
				})
				if err != nil {
					t.Fatal(err)
				}
				var got int64
				for _, g := range groups {
					got += g.Sums[0].N
				}
				if got != want {
					t.Errorf("days %d to %d by %v: got %d clicks want %d", first, last, dimensions, got, want)
				}
			}
		}
	}
}
