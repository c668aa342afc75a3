package postgres_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"fanfare/internal/analytics"
	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/metrics/postgres"
	"fanfare/internal/store/pgtest"
)

// creativeBatch returns facts of two creatives on every day.
func creativeBatch(first, last clock.Date, clicks int64) *fact.Batch {
	source := &fact.Source{Connection: "con_one", Platform: "meta", Account: "act_1", Currency: "EUR", Zone: "UTC"}
	b := &fact.Batch{Workspace: "wks_one", Replace: []fact.Window{{Source: source, First: first, Last: last}}}
	for day := first; day <= last; day++ {
		for n := range int64(2) {
			r := fact.Row{Source: source, Date: day, Channel: "social", Creative: fact.Entity{ExternalID: fmt.Sprint("ad", n)}}
			r.Values.Set(fact.Clicks, clicks+n)
			b.Rows = append(b.Rows, r)
		}
	}
	return b
}

// TestMonths checks that sums of months answer a question about creatives, and
// only while the facts of the month do not change.
func TestMonths(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	now, url := time.Date(2026, 5, 20, 0, 0, 0, 0, time.UTC), pgtest.URL(t)
	e, err := postgres.Open(ctx, url, postgres.Options{Now: func() time.Time { return now }, NewID: "fct_test"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = e.Close() }()
	e.SumSmallMonths()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	p := &analytics.Plan{
		Workspace: "wks_one", First: clock.MakeDate(2026, 1, 10), Last: clock.MakeDate(2026, 5, 10), MaxGroups: 100,
		Granularity: analytics.Whole, Dimensions: []string{"creative_id"}, Measures: []fact.Measure{fact.Clicks}, Currency: "EUR",
	}
	// ask returns the answer and how many months it read from sums.
	ask := func() ([]analytics.Group, int) {
		t.Helper()
		groups, err := e.Query(ctx, p)
		must(err)
		text, args, err := e.Explain(ctx, p)
		must(err)
		if !strings.Contains(text, "metrics_month") {
			return groups, 0
		}
		return groups, len(args[1].([]int32))
	}
	must(e.Write(ctx, creativeBatch(clock.MakeDate(2026, 1, 1), clock.MakeDate(2026, 5, 15), 10)))
	before, months := ask()
	if months != 0 {
		t.Errorf("got %d summed months before they were summed", months)
	}
	must(e.SumMonths(ctx))
	after, months := ask()
	// January is not asked for as a whole, and May has not ended.
	if diff := cmp.Diff(before, after); diff != "" || months != 3 {
		t.Errorf("got %d summed months want 3: %s", months, diff)
	}
	must(e.Write(ctx, creativeBatch(clock.MakeDate(2026, 3, 31), clock.MakeDate(2026, 3, 31), 500)))
	changed, months := ask()
	if months != 2 || cmp.Equal(before, changed) {
		t.Errorf("got %d summed months after a change of one want 2, and another answer", months)
	}
	all, err := pgx.Connect(ctx, pgtest.SuperuserURL(t, url))
	must(err)
	defer func() { _ = all.Close(ctx) }()
	var stale int
	if must(all.QueryRow(ctx, "SELECT count(*) FROM metrics_month WHERE day = $1", int32(clock.MakeDate(2026, 3, 1))).Scan(&stale)); stale != 0 {
		t.Errorf("got %d sums of the changed month, which may have been deleted for good, want none", stale)
	}
	must(e.SumMonths(ctx))
	again, months := ask()
	if diff := cmp.Diff(changed, again); diff != "" || months != 3 {
		t.Errorf("got %d summed months want 3: %s", months, diff)
	}
}

// TestUpgrade opens tables of the version without sums of months.
func TestUpgrade(t *testing.T) {
	t.Parallel()
	ctx, url := t.Context(), pgtest.URL(t)
	open := func() *postgres.Engine {
		t.Helper()
		e, err := postgres.Open(ctx, url, postgres.Options{Now: time.Now, NewID: "fct_test"})
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	e := open()
	if err := e.Write(ctx, creativeBatch(clock.MakeDate(2026, 1, 1), clock.MakeDate(2026, 2, 1), 10)); err != nil {
		t.Fatal(err)
	}
	_ = e.Close()
	c, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Exec(ctx, "DROP TABLE metrics_month, metrics_summed; UPDATE metrics_format SET version = 1"); err != nil {
		t.Fatal(err)
	}
	_ = c.Close(ctx)
	e = open()
	defer func() { _ = e.Close() }()
	if id, err := e.CurrentID(ctx); id != "fct_test" || err != nil {
		t.Errorf("got id %q, %v want that of before", id, err)
	}
	if err := e.Write(ctx, creativeBatch(clock.MakeDate(2026, 1, 1), clock.MakeDate(2026, 1, 1), 20)); err != nil {
		t.Error(err)
	}
}
