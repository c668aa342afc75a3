package clickhouse_test

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/ident"
	"fanfare/internal/metrics/clickhouse"
	"fanfare/internal/metrics/clickhouse/chtest"
	"fanfare/internal/store/pgtest"
)

// TestRowLevelSecurity reads every table of PostgreSQL that has a workspace, as
// the role of the server: without a workspace there are no rows.
func TestRowLevelSecurity(t *testing.T) {
	t.Parallel()
	ctx, url := t.Context(), pgtest.URL(t)
	e, err := clickhouse.Open(ctx, chtest.URL(t), clickhouse.Options{Postgres: url, Now: time.Now, NewID: "fct_test"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = e.Close() }()
	day := clock.MakeDate(2026, 3, 5)
	source := &fact.Source{Connection: "con_one", Platform: "meta", Account: "act_1", Currency: "EUR", Zone: "UTC"}
	for _, w := range []ident.ID{"wks_one", "wks_two"} {
		r := fact.Row{Source: source, Family: fact.Base, Date: day, Channel: "social", Campaign: fact.Entity{ExternalID: "c1", Name: "Spring"}}
		r.Values.Set(fact.Spend, 1_000_000)
		if err := e.Write(ctx, &fact.Batch{Workspace: w, Import: "imp_1", Rows: []fact.Row{r}}); err != nil {
			t.Fatal(err)
		}
	}
	superuser, err := pgx.Connect(ctx, pgtest.SuperuserURL(t, url))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = superuser.Close(ctx) }()
	own, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = own.Close(ctx) }()
	rows, err := superuser.Query(ctx, `SELECT c.oid::regclass::text, c.relrowsecurity AND c.relforcerowsecurity FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
		WHERE c.relnamespace = 'fanfare_clickhouse'::regnamespace AND c.relkind IN ('r', 'p') AND a.attname = 'workspace' ORDER BY 1`)
	if err != nil {
		t.Fatal(err)
	}
	forced := map[string]bool{}
	var table string
	var yes bool
	if _, err := pgx.ForEachRow(rows, []any{&table, &yes}, func() error { forced[table] = yes; return nil }); err != nil {
		t.Fatal(err)
	}
	filled := 0
	for table, forced := range forced {
		if !forced {
			t.Errorf("%s has no forced row-level security", table)
		}
		var stored, shown int
		if err := superuser.QueryRow(ctx, "SELECT count(*) FROM "+table).Scan(&stored); err != nil {
			t.Fatal(err)
		}
		if err := own.QueryRow(ctx, "SELECT count(*) FROM "+table).Scan(&shown); err != nil {
			t.Fatal(err)
		}
		if shown != 0 {
			t.Errorf("%s shows %d rows without a workspace", table, shown)
		}
		if stored > 0 {
			filled++
		}
	}
	if len(forced) < 8 || filled < 4 {
		t.Errorf("got %d tables with a workspace, %d of them with rows, want 8 and 4 at least", len(forced), filled)
	}
}
