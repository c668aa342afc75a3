package store_test

import (
	"errors"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fanfare/internal/store"
	"fanfare/internal/store/pgtest"
	"fanfare/internal/store/storetest"
)

var update = flag.Bool("update", false, "rewrite golden files")

func now() time.Time { return time.Date(2026, time.November, 15, 12, 0, 0, 0, time.UTC) }

func migrated(t *testing.T, e store.Engine) store.Engine {
	t.Helper()
	if _, err := store.Migrate(t.Context(), e, now); err != nil {
		t.Fatal(err)
	}
	return e
}

// schemaOf has the query for the schema of each engine: a table, and a column
// or an index of it.
var schemaOf = map[string]string{
	"sqlite": `SELECT '', sql || ';' FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY tbl_name, type DESC, name`,
	"postgres": `SELECT CASE part WHEN 3 THEN '' ELSE t END AS shown, line FROM (
		SELECT table_name::text AS t, 1 AS part, lpad(ordinal_position::text, 3, '0') AS n,
			column_name || ' ' || data_type || coalesce(' COLLATE "' || collation_name || '"', '')
			|| CASE is_nullable WHEN 'NO' THEN ' NOT NULL' ELSE '' END || coalesce(' DEFAULT ' || column_default, '') AS line
		FROM information_schema.columns WHERE table_schema = current_schema()
		UNION ALL
		SELECT c.conrelid::regclass::text, 2, CASE c.contype WHEN 'p' THEN 'a' ELSE 'b' END || c.conname, pg_get_constraintdef(c.oid)
		FROM pg_constraint c WHERE c.connamespace = current_schema()::regnamespace AND c.contype <> 'n'
		UNION ALL
		SELECT i.indrelid::regclass::text, 3, i.indexrelid::regclass::text, replace(pg_get_indexdef(i.indexrelid), current_schema() || '.', '') || ';'
		FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
		WHERE c.relnamespace = current_schema()::regnamespace AND NOT EXISTS (SELECT 1 FROM pg_constraint p WHERE p.conindid = i.indexrelid)
	) s ORDER BY t, part, n`,
}

// schema returns the schema of an engine as text.
func schema(t *testing.T, e store.Engine) string {
	t.Helper()
	rows, err := e.Query(store.Across(t.Context()), schemaOf[e.Traits().Name])
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	inside := ""
	for rows.Next() {
		table, line := rows.Text(), rows.Text()
		switch {
		case table != "" && table == inside:
			b.WriteString(",\n  " + line)
		default:
			if inside != "" {
				b.WriteString("\n);\n")
			}
			if table != "" {
				line = "CREATE TABLE " + table + " (\n  " + line
			} else {
				line += "\n"
			}
			b.WriteString(line)
		}
		inside = table
	}
	if inside != "" {
		b.WriteString("\n);\n")
	}
	return b.String()
}

// TestSchema compares the schema with the golden dumps.
func TestSchema(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, open func(t *testing.T) store.Engine) {
		e := migrated(t, open(t))
		got := schema(t, e)
		path := filepath.Join("testdata", "schema."+e.Traits().Name+".sql")
		if *update {
			if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Errorf("the schema is not what %s says; if that is wanted, run make golden:\n%s", path, diff)
		}
	})
}

// TestTables checks that every table of the schema is registered with all its
// columns and its key.
func TestTables(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, open func(t *testing.T) store.Engine) {
		e := migrated(t, open(t))
		columns, keys := store.Tables()
		var schema map[string][]string
		err := e.Snapshot(store.Across(t.Context()), func(tx store.Tx) (err error) {
			schema, err = storetest.Columns(tx, e.Traits().Name)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, lists := range []map[string][]string{schema, columns} {
			for _, list := range lists {
				slices.Sort(list)
			}
		}
		if diff := cmp.Diff(schema, columns); diff != "" {
			t.Errorf("the registered tables are not the schema (-schema +registered):\n%s", diff)
		}
		for table, key := range keys {
			if !unique(t, e, table, key) {
				t.Errorf("%v is not the key of %s", key, table)
			}
		}
	})
}

// unique checks that the columns are the table's key.
func unique(t *testing.T, e store.Engine, table string, key []string) bool {
	t.Helper()
	query := map[string]string{
		"sqlite": `SELECT name FROM pragma_table_info($1) WHERE pk > 0 ORDER BY pk`,
		"postgres": `SELECT a.attname::text FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY(i.indkey)
			WHERE i.indrelid = $1::regclass AND i.indisprimary ORDER BY array_position(i.indkey, a.attnum)`,
	}[e.Traits().Name]
	rows, err := e.Query(store.Across(t.Context()), query, table)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for rows.Next() {
		got = append(got, rows.Text())
	}
	return slices.Equal(got, key)
}

var testSteps = []string{
	`CREATE TABLE a (n BIGINT NOT NULL); INSERT INTO a (n) VALUES (1)`,
	`CREATE TABLE b (n BIGINT NOT NULL); INSERT INTO b (n) SELECT n FROM a; DELETE FROM a`,
	"-- kind: contract\n" + `CREATE TABLE c (n BIGINT NOT NULL); INSERT INTO c (n) SELECT n FROM b; DROP TABLE b`,
}

// TestMigrateSteps makes each statement of a migration fail in turn and
// continues from there.
func TestMigrateSteps(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, open func(t *testing.T) store.Engine) {
		steps := store.StepsFrom(testSteps...)
		broken := errors.New("the statement failed")
		for at := 1; ; at++ {
			w := &storetest.Wrapped{Engine: open(t)}
			n := 0
			w.Statement = func(string, bool) error {
				if n++; n == at {
					return broken
				}
				return nil
			}
			first, err := store.MigrateTo(t.Context(), w, steps)
			if err == nil {
				if len(first) != 3 || at < 8 {
					t.Errorf("after %d failures the steps are %v", at-1, first)
				}
				break
			}
			if !errors.Is(err, broken) {
				t.Fatalf("failing at statement %d: %v", at, err)
			}
			w.Statement = nil
			left, err := store.PendingOf(t.Context(), w, steps)
			if err != nil || len(left) != 3-len(first) {
				t.Errorf("failing at statement %d: pending are %v after %v: %v", at, left, first, err)
			}
			rest, err := store.MigrateTo(t.Context(), w, steps)
			if err != nil || !slices.Equal(rest, left) {
				t.Errorf("failing at statement %d: the rest is %v want %v: %v", at, rest, left, err)
			}
			wantC(t, w)
		}
	})
}

// wantC checks the result of the test's steps.
func wantC(t *testing.T, e store.Engine) {
	t.Helper()
	rows, err := e.Query(store.Across(t.Context()), `SELECT count(*), coalesce(max(n), 0) FROM c`)
	if err != nil {
		t.Fatal(err)
	}
	rows.Next()
	if n, value := rows.Int(), rows.Int(); n != 1 || value != 1 {
		t.Errorf("got %d rows with %d, want one with 1", n, value)
	}
	if got := slices.Sorted(maps.Keys(storetest.State(t, e))); !slices.Equal(got, []string{"a", "c"}) {
		t.Errorf("got tables %v want a and c", got)
	}
}

// TestMigrateFails checks that a failed step leaves no change.
func TestMigrateFails(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, open func(t *testing.T) store.Engine) {
		e := open(t)
		steps := store.StepsFrom(testSteps[0], `CREATE TABLE half (n BIGINT); INSERT INTO nowhere (n) VALUES (1)`)
		done, err := store.MigrateTo(t.Context(), e, steps)
		if err == nil || !slices.Equal(done, []string{"0001_test"}) || !strings.Contains(err.Error(), "0002_test") {
			t.Errorf("took %v: %v", done, err)
		}
		if got := slices.Sorted(maps.Keys(storetest.State(t, e))); !slices.Equal(got, []string{"a"}) {
			t.Errorf("got tables %v want a", got)
		}
	})
}

func TestMigrateRefuses(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, open func(t *testing.T) store.Engine) {
		e := open(t)
		all := store.StepsFrom(testSteps...)
		if left, err := store.PendingOf(t.Context(), e, all); err != nil || len(left) != 3 {
			t.Errorf("of an empty database: pending are %v: %v", left, err)
		}
		if _, err := store.MigrateTo(t.Context(), e, all); err != nil {
			t.Fatal(err)
		}
		if again, err := store.MigrateTo(t.Context(), e, all); err != nil || len(again) != 0 {
			t.Errorf("the second time it took %v: %v", again, err)
		}
		changed := store.StepsFrom(testSteps[0], testSteps[1]+" ", testSteps[2])
		for what, try := range map[string]func() error{
			"newer, migrate":   func() error { _, err := store.MigrateTo(t.Context(), e, all[:2]); return err },
			"newer, pending":   func() error { _, err := store.PendingOf(t.Context(), e, all[:2]); return err },
			"changed, migrate": func() error { _, err := store.MigrateTo(t.Context(), e, changed); return err },
			"changed, pending": func() error { _, err := store.PendingOf(t.Context(), e, changed); return err },
		} {
			err := try()
			if newer := strings.HasPrefix(what, "newer"); err == nil || errors.Is(err, store.ErrNewer) != newer || !newer && !strings.Contains(err.Error(), "0002_test") {
				t.Errorf("%s: got %v", what, err)
			}
		}
		wantC(t, e)
	})
}

// TestMigrateTogether starts eight nodes on one empty database.
func TestMigrateTogether(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	var group sync.WaitGroup
	var mu sync.Mutex
	var taken []string
	steps := store.StepsFrom(testSteps...)
	for range 8 {
		e := node(t, url)
		group.Go(func() {
			done, err := store.MigrateTo(t.Context(), e, steps)
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			taken = append(taken, done...)
		})
	}
	group.Wait()
	if slices.Sort(taken); !slices.Equal(taken, []string{"0001_test", "0002_test", "0003_test"}) {
		t.Errorf("all together took %v", taken)
	}
	wantC(t, node(t, url))
}

// TestMigrations checks that the real migrations can be applied once and are in
// order.
func TestMigrations(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, open func(t *testing.T) store.Engine) {
		e := open(t)
		left, err := store.FindPending(t.Context(), e)
		if err != nil || len(left.Start) == 0 || !slices.IsSorted(left.Start) || len(left.Contract) != 0 {
			t.Fatalf("pending are %v: %v", left, err)
		}
		done, err := store.Migrate(t.Context(), e, now)
		if err != nil || !slices.Equal(done, left.Start) {
			t.Errorf("took %v want %v: %v", done, left, err)
		}
		if left, err := store.FindPending(t.Context(), e); err != nil || len(left.Start)+len(left.Contract) != 0 {
			t.Errorf("pending are %v: %v", left, err)
		}
	})
}

// TestMigrationLinked checks that campaigns of an older database are refreshed
// and are indexed by the connections that they are linked through.
func TestMigrationLinked(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, open func(t *testing.T) store.Engine) {
		e := open(t)
		for _, version := range []string{"0005", "0006"} {
			steps, err := store.StepsUntil(e.Traits().Name, version)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := store.MigrateTo(t.Context(), e, steps); err != nil {
				t.Fatal(err)
			}
			if version == "0006" {
				continue
			}
			err = e.Write(store.Across(t.Context()), func(tx store.Tx) (err error) {
				exec := func(query string) {
					if err == nil {
						_, err = tx.Exec(query)
					}
				}
				for id, status := range map[string]string{"cmp_1": "active", "cmp_2": "draft", "cmp_3": "archived"} {
					exec(`INSERT INTO campaign (workspace_id, id, version, rev, shape, status, created_at, updated_at, name, delivery_status, doc)
						VALUES ('w', '` + id + `', 1, 1, 1, '` + status + `', 0, 0, 'x', 'delivering', '{}')`)
				}
				exec(`INSERT INTO job (id, workspace_id, kind, args, uniq, run_at, attempt, last_error) VALUES ('job_x', 'w', 'campaign.settle', 'cmp_1', 'campaign.settle:cmp_1', 99, 0, '')`)
				exec(`INSERT INTO link (workspace_id, connection_id, kind, external_id, account_id, record_id, name, runs, wanted, doc) VALUES ('w', 'con_1', 'campaign', '7', 'a', 'cmp_1', 'x', 1, '', '{}')`)
				exec(`INSERT INTO link (workspace_id, connection_id, kind, external_id, account_id, record_id, name, runs, wanted, doc) VALUES ('w', 'con_1', 'campaign', '8', 'a', '', 'y', 1, '', '{}')`)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		texts := func(query string) (list []string) {
			rows, err := e.Query(store.Across(t.Context()), query)
			if err != nil {
				t.Fatal(err)
			}
			for rows.Next() {
				list = append(list, rows.Text())
			}
			return list
		}
		if diff := cmp.Diff([]string{"cmp_1", "cmp_2"}, texts(`SELECT args FROM job WHERE kind = 'campaign.settle' AND run_at = 0 ORDER BY args`)); diff != "" {
			t.Errorf("jobs differ (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{"cmp_1"}, texts(`SELECT record_id FROM ref WHERE kind = 'connection_id' AND value = 'con_1'`)); diff != "" {
			t.Errorf("campaigns of the connection differ (-want +got):\n%s", diff)
		}
	})
}
