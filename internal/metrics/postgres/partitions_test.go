package postgres_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/metrics/postgres"
	"fanfare/internal/store/pgtest"
)

// TestEmptyPartitionsAreDropped empties one of two months: its partitions are
// dropped, also while another node remembers them, and a later write creates
// them again. Partitions of this month stay.
func TestEmptyPartitionsAreDropped(t *testing.T) {
	t.Parallel()
	ctx, url := t.Context(), pgtest.URL(t)
	now := func() time.Time { return time.Date(2026, 3, 20, 12, 0, 0, 0, time.UTC) }
	openNode := func() *postgres.Engine {
		t.Helper()
		e, err := postgres.Open(ctx, url, postgres.Options{Now: now, NewID: "fct_test"})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = e.Close() })
		return e
	}
	one, other := openNode(), openNode()
	old, kept, current := clock.MakeDate(2020, 1, 7), clock.MakeDate(2021, 2, 7), clock.MakeDate(2026, 3, 5)
	write := func(e *postgres.Engine, b *fact.Batch) {
		t.Helper()
		if err := e.Write(ctx, b); err != nil {
			t.Fatal(err)
		}
	}
	empty := func(day clock.Date) {
		t.Helper()
		b := batch("wks_one", "", day)
		for f := range fact.Families {
			b.Replace = append(b.Replace, fact.Window{Source: b.Rows[0].Source, Family: fact.Family(f), First: day, Last: day})
		}
		b.Rows = nil
		write(one, b)
	}
	for _, day := range []clock.Date{old, kept, current} {
		write(one, batch("wks_one", "", day))
		write(other, batch("wks_one", "", day))
	}
	empty(old)
	empty(current)
	if err := one.DropEmptyPartitions(ctx); err != nil {
		t.Fatal(err)
	}
	want := []string{"metrics_base_2021_02", "metrics_base_2026_03"}
	if got := partitions(ctx, t, url, "metrics_base"); !slices.Equal(got, want) {
		t.Errorf("got %v want %v", got, want)
	}
	write(other, batch("wks_one", "", old))
	if got := partitions(ctx, t, url, "metrics_base"); len(got) != 3 {
		t.Errorf("got %v want the old month again", got)
	}
	if err := one.DropEmptyPartitions(ctx); err != nil {
		t.Fatal(err)
	}
	if got := partitions(ctx, t, url, "metrics_day"); len(got) != 3 {
		t.Errorf("got %v want all months with facts", got)
	}
}

// partitions returns the names of a table's partitions.
func partitions(ctx context.Context, t *testing.T, url, table string) (list []string) {
	t.Helper()
	c, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close(ctx) }()
	rows, err := c.Query(ctx, "SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = $1::regclass ORDER BY 1", table)
	if err != nil {
		t.Fatal(err)
	}
	list, err = pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return list
}
