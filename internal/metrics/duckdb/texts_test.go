package duckdb_test

import (
	"context"
	"strconv"
	"sync"
	"testing"

	"fanfare/internal/analytics"
	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/metrics/duckdb"
)

// batchNamed has i clicks for an ad with the name i.
func batchNamed(i int) *fact.Batch {
	r := fact.Row{Source: source, Date: first, Creative: fact.Entity{ExternalID: "ad", Name: strconv.Itoa(i)}}
	r.Values.Set(fact.Clicks, int64(i))
	return &fact.Batch{Workspace: "wks_1", Rows: []fact.Row{r}}
}

// named queries the ad of batchNamed.
func named(t *testing.T, e *duckdb.Engine) (label string, n int64) {
	t.Helper()
	groups, err := e.Query(context.Background(), &analytics.Plan{
		Workspace: "wks_1", First: first, Last: first, Granularity: analytics.Whole, Dimensions: []string{"creative_id"}, Measures: []fact.Measure{fact.Clicks}, MaxGroups: 10,
	})
	if err != nil || len(groups) != 1 {
		t.Errorf("query: got %d groups, %v want one", len(groups), err)
		return "", 0
	}
	return groups[0].Values[0].Label, groups[0].Sums[0].N
}

// TestNamesTogether changes a name and a number in one batch during queries. Each
// query returns both of one batch.
func TestNamesTogether(t *testing.T) {
	t.Parallel()
	e := openFiles(t, t.TempDir())
	write(t, e, batchNamed(1))
	ctx, stop := context.WithCancel(t.Context())
	var group sync.WaitGroup
	for range 3 {
		group.Go(func() {
			for ctx.Err() == nil {
				if label, n := named(t, e); label != strconv.FormatInt(n, 10) {
					t.Errorf("got name %q with %d clicks want the same", label, n)
				}
			}
		})
	}
	for i := range 20 {
		write(t, e, batchNamed(i+2))
	}
	stop()
	group.Wait()
}

// TestNamesChange checks that a name is the latest one, of the platform or of the
// linked record, however many names are cached.
func TestNamesChange(t *testing.T) {
	t.Parallel()
	e := openFiles(t, t.TempDir())
	mirror := func(name string) {
		records := []fact.Record{{ID: "crt_1", Kind: fact.KindCreative, Name: name}}
		if err := e.Mirror(t.Context(), "wks_1", records, clock.At(start)); err != nil {
			t.Fatal(err)
		}
	}
	for _, step := range []struct {
		what, want string
		do         func()
	}{
		{"first", "1", func() { write(t, e, batchNamed(1)) }},
		{"told again", "2", func() { write(t, e, batchNamed(2)) }},
		{"a record of nothing", "2", func() { mirror("ours") }},
		{"linked", "ours", func() {
			link := fact.Link{Connection: source.Connection, Kind: fact.KindCreative, Entity: fact.Entity{ExternalID: "ad", Record: "crt_1"}}
			write(t, e, &fact.Batch{Workspace: "wks_1", Links: []fact.Link{link}})
		}},
		{"renamed", "ours too", func() { mirror("ours too") }},
		{"too much cached", "ours too", func() { e.CacheNoTexts() }},
		{"renamed after that", "still ours", func() { mirror("still ours") }},
	} {
		step.do()
		for range 2 {
			if got, _ := named(t, e); got != step.want {
				t.Errorf("%s: got %q want %q", step.what, got, step.want)
			}
		}
	}
}
