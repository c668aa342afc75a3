package postgres_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"fanfare/internal/analytics"
	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/ident"
	"fanfare/internal/metrics/postgres"
	"fanfare/internal/store/pgtest"
)

// TestDrillLargeWrite writes a large batch of one workspace, a million rows in the
// long form. Others write and query meanwhile: what they do ends before the large
// write does, and so do queries of the workspace itself.
func TestDrillLargeWrite(t *testing.T) {
	t.Parallel()
	n, ctx := 60_000, t.Context()
	if os.Getenv("FANFARE_DRILL") == "full" {
		n = 1_000_000
	}
	e, err := postgres.Open(ctx, pgtest.URL(t), postgres.Options{Now: time.Now, NewID: "fct_test"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = e.Close() }()
	day := clock.MakeDate(2026, 3, 5)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Error(err)
		}
	}
	must(e.Write(ctx, batch("wks_large", "", day)))
	large := &fact.Batch{Workspace: "wks_large"}
	source := &fact.Source{Connection: "con_one", Platform: "meta", Account: "act_1", Currency: "EUR", Zone: "UTC"}
	for i := range n {
		r := fact.Row{Source: source, Date: day + clock.Date(i%28), Channel: "social", Campaign: fact.Entity{ExternalID: fmt.Sprint("c", i/28)}}
		r.Values.Set(fact.Clicks, 1)
		large.Rows = append(large.Rows, r)
	}
	large.Replace = []fact.Window{{Source: source, First: day, Last: day + 27}}
	written := make(chan error, 1)
	go func() { written <- e.Write(ctx, large) }()
	ask := func(p *analytics.Plan) {
		t.Helper()
		_, err := e.Query(ctx, p)
		must(err)
	}
	plan := func(workspace ident.ID) *analytics.Plan {
		return &analytics.Plan{Workspace: workspace, First: day, Last: day, Granularity: analytics.Whole, Measures: []fact.Measure{fact.Spend}, Currency: "EUR", MaxGroups: 10}
	}
	rounds := 0
	for done := false; !done && !t.Failed(); rounds++ {
		must(e.Write(ctx, batch("wks_other", "", day)))
		ask(plan("wks_other"))
		ask(plan("wks_large"))
		select {
		case err := <-written:
			must(err)
			done = true
		default:
		}
	}
	// In the last round the large write may have ended first.
	if rounds < 3 {
		t.Errorf("got %d rounds of others beside the large write want some", rounds-1)
	}
	t.Logf("%d writes and %d queries of others beside a write of %d rows", rounds-1, 2*(rounds-1), n)
}
