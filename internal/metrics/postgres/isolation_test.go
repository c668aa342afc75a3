package postgres_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/metrics/postgres"
	"fanfare/internal/store/pgtest"
)

// batch returns a batch with one fact of each family.
func batch(workspace, imported ident.ID, day clock.Date) *fact.Batch {
	b := &fact.Batch{Workspace: workspace, Import: imported}
	source := &fact.Source{Connection: "con_one", Platform: "meta", Account: "act_1", Currency: "EUR", Zone: "UTC"}
	for f := range fact.Families {
		r := fact.Row{Source: source, Family: fact.Family(f), Date: day, Channel: "social", Campaign: fact.Entity{ExternalID: "c1", Name: "Spring"}}
		r.Values.Set(fact.Spend, 1_000_000)
		b.Rows = append(b.Rows, r)
	}
	b.Links = []fact.Link{{Connection: "con_one", Kind: fact.KindCampaign, Entity: fact.Entity{ExternalID: "c1", Record: "cmp_1"}}}
	return b
}

// TestRowLevelSecurity reads every table as the role of the server: without a
// workspace there are no rows, with one there are only its own.
func TestRowLevelSecurity(t *testing.T) {
	t.Parallel()
	ctx, url := t.Context(), pgtest.URL(t)
	e, err := postgres.Open(ctx, url, postgres.Options{Now: time.Now, NewID: "fct_test"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = e.Close() }()
	day := clock.MakeDate(2026, 3, 5)
	for _, w := range []ident.ID{"wks_one", "wks_two"} {
		for range 2 {
			if err := e.Write(ctx, batch(w, "imp_1", day)); err != nil {
				t.Fatal(err)
			}
		}
		replace := batch(w, "imp_2", day)
		replace.Replace = []fact.Window{{Source: replace.Rows[0].Source, Family: fact.Base, First: day, Last: day}}
		replace.Rows = replace.Rows[:1]
		if err := e.Write(ctx, replace); err != nil {
			t.Fatal(err)
		}
		if err := e.Mirror(ctx, w, []fact.Record{{ID: "cmp_1", Kind: fact.KindCampaign, Name: "Spring", Tags: []string{"q1"}}}, 1); err != nil {
			t.Fatal(err)
		}
	}
	e.SumSmallMonths()
	if err := e.SumMonths(ctx); err != nil {
		t.Fatal(err)
	}
	all, err := pgx.Connect(ctx, pgtest.SuperuserURL(t, url))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = all.Close(ctx) }()
	own, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = own.Close(ctx) }()
	rows, err := all.Query(ctx, "SELECT relname, relkind = 'p', relrowsecurity AND relforcerowsecurity FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') ORDER BY 1")
	if err != nil {
		t.Fatal(err)
	}
	type table struct {
		Name           string
		Parent, Forced bool
	}
	tables, err := pgx.CollectRows(rows, pgx.RowToStructByPos[table])
	if err != nil {
		t.Fatal(err)
	}
	count := func(c *pgx.Conn, name string) (n int) {
		t.Helper()
		if err := c.QueryRow(ctx, "SELECT count(*) FROM "+name).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	for _, table := range tables {
		if table.Name == "metrics_format" { // the version of the tables
			continue
		}
		stored := count(all, table.Name)
		if stored == 0 || stored%2 != 0 {
			t.Errorf("%s has %d rows: the test needs some of both workspaces", table.Name, stored)
		}
		if !table.Forced {
			t.Errorf("%s has no forced row-level security", table.Name)
		}
		if n := count(own, table.Name); n != 0 {
			t.Errorf("%s shows %d rows without a workspace", table.Name, n)
		}
		if _, err := own.Exec(ctx, "SELECT set_config('fanfare.metrics_key', '1', false), set_config('fanfare.metrics_id', encode('wks_one', 'hex'), false)"); err != nil {
			t.Fatal(err)
		}
		if n := count(own, table.Name); n != stored/2 {
			t.Errorf("%s shows %d of %d rows to one of two workspaces", table.Name, n, stored)
		}
		if _, err := own.Exec(ctx, "RESET ALL"); err != nil {
			t.Fatal(err)
		}
	}
}

// TestSuperuser opens with a role that row-level security does not bind.
func TestSuperuser(t *testing.T) {
	t.Parallel()
	_, err := postgres.Open(t.Context(), pgtest.SuperuserURL(t, pgtest.URL(t)), postgres.Options{Now: time.Now, NewID: "fct_test"})
	if err == nil || !strings.Contains(err.Error(), "superuser") || !strings.Contains(err.Error(), "CREATE ROLE") {
		t.Fatalf("open as superuser: %v", err)
	}
}

// TestUnavailable stops the database: every call says so, and works again when it
// is back.
func TestUnavailable(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	dir, err := os.MkdirTemp("", "fanfare-pg-")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	server, err := pgtest.Start(dir, true)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = server.Stop() }()
	url, err := server.CreateDatabase("metrics")
	if err != nil {
		t.Fatal(err)
	}
	e, err := postgres.Open(ctx, url, postgres.Options{Now: time.Now, NewID: "fct_test"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = e.Close() }()
	b := batch("wks_one", "", clock.MakeDate(2026, 3, 5))
	if err := e.Write(ctx, b); err != nil {
		t.Fatal(err)
	}
	if err := server.Kill(); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := e.Write(ctx, b); !fault.Is(err, fault.Unavailable) {
			t.Errorf("write without the database: %v", err)
		}
		if _, err := e.State(ctx, "wks_one"); !fault.Is(err, fault.Unavailable) {
			t.Errorf("state without the database: %v", err)
		}
	}
	if server, err = pgtest.Start(dir, true); err != nil {
		t.Fatal(err)
	}
	if err := e.Write(ctx, b); err != nil {
		t.Errorf("write after the database is back: %v", err)
	}
	if s, err := e.State(ctx, "wks_one"); err != nil || s.Generation != 2 {
		t.Errorf("state after the database is back: %+v, %v", s, err)
	}
}

// TestForgetImports writes an import, lets 30 days pass and undoes it: nothing can
// be taken back any more.
func TestForgetImports(t *testing.T) {
	t.Parallel()
	ctx, now := t.Context(), time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	e, err := postgres.Open(ctx, pgtest.URL(t), postgres.Options{Now: func() time.Time { return now }, NewID: "fct_test"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = e.Close() }()
	day := clock.MakeDate(2026, 2, 5)
	for i, imported := range []ident.ID{"imp_1", "imp_2", "imp_3"} {
		now = now.Add(time.Duration(i) * 16 * 24 * time.Hour)
		if err := e.Write(ctx, batch("wks_one", imported, day)); err != nil {
			t.Fatal(err)
		}
	}
	for imported, want := range map[ident.ID]int64{"imp_1": 0, "imp_3": int64(len(fact.Families))} {
		if n, err := e.Undo(ctx, "wks_one", imported); err != nil || n != want {
			t.Errorf("undo of %s removed %d facts instead of %d, %v", imported, n, want, err)
		}
	}
}
