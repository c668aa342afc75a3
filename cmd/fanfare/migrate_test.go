package main

import (
	"slices"
	"testing"

	"fanfare/internal/app"
	"fanfare/internal/store"
	"fanfare/internal/store/pgtest"
)

// beforeIsolation turns a new database into one that a program has used and that
// lacks the step 0012.
const beforeIsolation = `DO $$
DECLARE
  p record;
BEGIN
  FOR p IN SELECT tablename, policyname FROM pg_policies WHERE schemaname = current_schema() LOOP
    EXECUTE format('DROP POLICY %I ON %I', p.policyname, p.tablename);
  END LOOP;
END
$$;
DELETE FROM schema_migration WHERE version = '0012';
INSERT INTO setting (name, value, updated_at) VALUES ('cursor_keys', '', 0)`

// TestMigrateContract checks that a step that contracts waits on a database in
// use, that the command and doctor name it, and that --contract applies it.
func TestMigrateContract(t *testing.T) {
	t.Parallel()
	e, err := app.OpenEngine(t.Context(), pgtest.URL(t))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = e.Close() }()
	run := func(contract bool, applied int, waiting ...string) {
		t.Helper()
		out, err := migrateStore(t.Context(), e, contract)
		if err != nil || len(out.Applied) != applied || !slices.Equal(out.Waiting, waiting) {
			t.Errorf("got %v, %v want %d steps and %v to wait", out, err, applied, waiting)
		}
	}
	left, err := store.FindPending(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	run(false, len(left.Start))
	if err := e.Write(store.Across(t.Context()), func(tx store.Tx) error { return tx.Script(beforeIsolation) }); err != nil {
		t.Fatal(err)
	}
	run(false, 0, "0012_isolation")
	schema := func() (found finding) {
		for _, f := range examineStore(t.Context(), e, store.New(e, 0, now, nil), "") {
			if f.Check == "schema" {
				found = f
			}
		}
		return found
	}
	if f := schema(); f.Status != warning {
		t.Errorf("got %+v want a warning", f)
	} else {
		wants(t, f.Detail, "0012_isolation", "fanfare migrate --contract")
	}
	run(true, 1)
	if f := schema(); f.Status != good {
		t.Errorf("got %+v want no warning", f)
	}
}
