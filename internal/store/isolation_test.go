package store_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"fanfare/internal/ident"
	"fanfare/internal/store"
	"fanfare/internal/store/pgtest"
	"fanfare/internal/store/postgres"
	"fanfare/internal/store/storetest"
)

// openPostgres opens an engine on an empty PostgreSQL database.
func openPostgres(t *testing.T) store.Engine {
	t.Helper()
	e, err := postgres.Open(t.Context(), pgtest.URL(t), postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return e
}

// countRows counts rows of a table in the scope of ctx, all of them or those of
// other workspaces.
func countRows(ctx context.Context, t *testing.T, e store.Engine, table, where string, args ...any) int64 {
	t.Helper()
	rows, err := e.Query(ctx, `SELECT count(*) FROM `+table+where, args...)
	if err != nil {
		t.Fatalf("%s: %v", table, err)
	}
	rows.Next()
	return rows.Int()
}

// TestIsolation reads and writes every table of tenants without a condition on
// the workspace: the database shows nothing without a scope, and only the rows of
// one workspace within it.
func TestIsolation(t *testing.T) {
	t.Parallel()
	e := openPostgres(t)
	w := storetest.NewFixture(t, e)
	other, _, _ := w.AddWorkspace("other@example.com")
	for _, s := range w.Steps() {
		if err := s.Run(t.Context()); err != nil {
			t.Fatalf("%s: %v", s.Name, err)
		}
	}
	columns, _ := store.Tables()
	all := store.Across(t.Context())
	rows, err := e.Query(t.Context(), `SELECT relname::text, relforcerowsecurity FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r' ORDER BY relname`)
	if err != nil {
		t.Fatal(err)
	}
	forced := map[string]bool{}
	for rows.Next() {
		name := rows.Text()
		forced[name] = rows.Bool()
	}
	tried := 0
	for table, list := range columns {
		key := "workspace_id"
		if table == "workspace" {
			key = "id"
		} else if !slices.Contains(list, key) {
			continue
		}
		tried++
		if !forced[table] {
			t.Errorf("%s has no row-level security", table)
		}
		if n := countRows(t.Context(), t, e, table, ""); n != 0 {
			t.Errorf("%s: got %d rows without a scope", table, n)
		}
		for _, workspace := range []ident.ID{w.Workspace, other} {
			in := store.Within(t.Context(), workspace)
			own := countRows(all, t, e, table, ` WHERE `+key+` = $1`, string(workspace))
			shared := int64(0)
			if table == "model_provider" {
				shared = countRows(all, t, e, table, ` WHERE workspace_id = ''`)
			}
			if n := countRows(in, t, e, table, ""); n != own+shared {
				t.Errorf("%s: got %d rows within %s want %d", table, n, workspace, own+shared)
			}
			before := countRows(all, t, e, table, ` WHERE `+key+` <> $1`, string(workspace))
			err := e.Write(in, func(tx store.Tx) error {
				_, err := tx.Exec(`DELETE FROM ` + table)
				if err != nil && !strings.Contains(err.Error(), "foreign key") {
					t.Errorf("%s: %v", table, err)
				}
				return fmt.Errorf("undo")
			})
			if after := countRows(all, t, e, table, ` WHERE `+key+` <> $1`, string(workspace)); err == nil || after != before {
				t.Errorf("%s: got %d rows of others want %d", table, after, before)
			}
		}
	}
	if tried < 25 {
		t.Errorf("got %d tables of tenants want 25 at least", tried)
	}
	err = e.Write(store.Within(t.Context(), other), func(tx store.Tx) error {
		_, err := tx.Exec(`INSERT INTO quota (workspace_id, opened_at, minute, day_of, day) VALUES ($1, 0, 0, 0, 0)`, "wks_foreign")
		return err
	})
	if err == nil || !strings.Contains(err.Error(), "row-level security") {
		t.Errorf("got %v want a refused row of another workspace", err)
	}
}

// TestScopeEndsWithTransaction uses the connections of a pool in turn for two
// workspaces, all and none: no transaction sees the scope of the one before.
func TestScopeEndsWithTransaction(t *testing.T) {
	t.Parallel()
	e := openPostgres(t)
	w := storetest.NewFixture(t, e)
	other, _, _ := w.AddWorkspace("other@example.com")
	want := map[string]int64{store.NoScope: 0, store.AllWorkspaces: 2, "." + string(w.Workspace): 1, "." + string(other): 1}
	var group sync.WaitGroup
	for n := range 8 {
		random := rand.New(rand.NewPCG(uint64(n), 1))
		group.Go(func() {
			for range 250 {
				ctx := []context.Context{t.Context(), store.Across(t.Context()), store.Within(t.Context(), w.Workspace), store.Within(t.Context(), other)}[random.IntN(4)]
				var rows *store.Rows
				var err error
				if random.IntN(2) == 0 {
					rows, err = e.Query(ctx, `SELECT count(*) FROM workspace`)
				} else {
					err = e.Write(ctx, func(tx store.Tx) (err error) {
						rows, err = tx.Query(`SELECT count(*) FROM workspace`)
						return err
					})
				}
				if err != nil || !rows.Next() {
					t.Error(err)
					return
				}
				if got := rows.Int(); got != want[store.Scope(ctx)] {
					t.Errorf("got %d workspaces in the scope %q want %d", got, store.Scope(ctx), want[store.Scope(ctx)])
					return
				}
			}
		})
	}
	group.Wait()
}
