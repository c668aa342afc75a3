package metrics_test

import (
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"fanfare/internal/analytics"
	"fanfare/internal/metrics/numbers"
	"fanfare/internal/store/storetest"
)

// sqlPackages are the packages of the engines with SQL.
var sqlPackages = []string{"duckdb", "postgres", "clickhouse", "pgtables", "numbers"}

// sharedTables have no rows of a single workspace.
var sharedTables = []string{
	// DuckDB: the version and identity of the file, words, how well facts are
	// sorted, and the list of workspaces.
	"format", "identity", "noted", "word", "layout", "workspace",
	// PostgreSQL and ClickHouse.
	"pg_inherits", "pg_class", "metrics_format", "metrics_workspace", "metrics_pending", "metrics_gone", "metrics_pair", "facts_pair",
	// Rows that the same statement deletes, and a file.
	"gone", "parquet_metadata",
}

var (
	tableName      = regexp.MustCompile(`\b(?:FROM|JOIN|UPDATE|INTO|USING) (?:ONLY )?([\w.\x00]+)`)
	namesWorkspace = regexp.MustCompile(`(?i)\bworkspace( = |,| IN\b|\))`)
	definition     = regexp.MustCompile(`^\s*(CREATE|DROP|ALTER|PRAGMA)\b`)
	impure         = regexp.MustCompile(`(?i)\b(now|random|clock_timestamp|statement_timestamp|transaction_timestamp|gen_random_uuid|generateUUIDv4|today|nextval)\s*\(|\bcurrent_(time|timestamp|date)\b|\blocaltime`)
	allColumns     = regexp.MustCompile(`(?i)\bSELECT (DISTINCT )?([\w\x00]+\.)?\*|, [\w\x00]+\.\*`)
	spaces         = regexp.MustCompile(`\s+`)
)

// allowedStatements are the statements on facts without a workspace, each with the
// reason. … is text that is known only when the program runs.
var allowedStatements = []exception{
	{"DELETE FROM rolled", "sums of an older version are deleted in all workspaces"},
	{"DELETE FROM base_month", "sums of an older version are deleted in all workspaces"},
	{"DELETE FROM base_ad_month", "sums of an older version are deleted in all workspaces"},
	{"SELECT loose, (SELECT count(*) FROM …) FROM layout WHERE family = ?", "maintenance sorts the facts of all workspaces"},
	{"SELECT coalesce(max(key), 0) FROM import WHERE written < ?", "old imports of all workspaces are forgotten"},
	{"DELETE FROM replaced WHERE above <= ?", "old imports of all workspaces are forgotten"},
	{"DELETE FROM cover WHERE import <= ?", "old imports of all workspaces are forgotten"},
	{"DELETE FROM import WHERE key <= ?", "old imports of all workspaces are forgotten"},
	{"SELECT coalesce(max(key), 0) + 1 FROM source", "numbers are unique in a facts file"},
	{"SELECT coalesce(max(key), 0) + 1 FROM entity", "numbers are unique in a facts file"},
	{"SELECT greatest((SELECT coalesce(max(key), 0) FROM import), (SELECT coalesce(max(import), 0) FROM base), (SELECT coalesce(max(import), 0) FROM geo), (SELECT coalesce(max(import), 0) FROM demographic), (SELECT coalesce(max(import), 0) FROM device)) + 1", "numbers are unique in a facts file"},
	{"INSERT INTO … SELECT … FROM temp.back", "the table has facts of one workspace"},
	{"INSERT INTO … BY NAME SELECT * FROM read_parquet(…)", "an old dump has all workspaces, and its columns have names"},
	{"SELECT column_name, column_type FROM (DESCRIBE SELECT *…)", "it asks for the columns of a file"},
	{"SELECT … FROM … ORDER BY …", "a dump has all workspaces"},
	{"SELECT … FROM ……", "a dump has all workspaces that the transaction may see"},
	{"INSERT INTO … (…) SELECT … FROM metrics_staged WHERE family = $1 ORDER BY day", "rows of one write, which has set their workspace, are in a temporary table"},
	{"CREATE TEMP TABLE IF NOT EXISTS … ON COMMIT DROP AS SELECT … FROM … WITH NO DATA", "it copies no rows"},
	{"INSERT INTO … (…) SELECT … FROM …", "rows of one write, which has set their workspace, go through a temporary table"},
	{"INSERT INTO … (…, facts, …) SELECT …, count(*), … FROM metrics_base", "a condition on the workspace follows, except in a transaction that may see only one"},
	{"SELECT count() FROM … WHERE … FORMAT TabSeparated", "cleaning counts facts of failed writes, whose slots no workspace has"},
}

type exception struct{ statement, reason string }

// excepted returns which exception a statement is, -1 for none.
func excepted(text string) int {
	return slices.IndexFunc(allowedStatements, func(a exception) bool { return a.statement == text })
}

// TestStatements checks all SQL of the engines: every statement on a table of
// workspaces names the workspace, none reads the clock or chance, and none reads
// columns that it does not name.
func TestStatements(t *testing.T) {
	t.Parallel()
	used, n := map[int]bool{}, 0
	for _, dir := range sqlPackages {
		for text, place := range storetest.SourceStatements(t, dir) {
			text = strings.TrimSpace(spaces.ReplaceAllString(text, " "))
			shown := strings.ReplaceAll(text, storetest.Hole, "…")
			n++
			if impure.MatchString(text) {
				t.Errorf("%s: it asks the database for the time or for chance; both come from Go:\n\t%s", place, shown)
			}
			i := excepted(shown)
			if i < 0 && allColumns.MatchString(text) {
				t.Errorf("%s: it does not name its columns:\n\t%s", place, shown)
			}
			used[i] = true
			if definition.MatchString(text) && !strings.Contains(text, "SELECT") || !ofWorkspaces(text) || namesWorkspace.MatchString(text) {
				continue
			}
			if i < 0 {
				t.Errorf("%s: it reaches every workspace:\n\t%s", place, shown)
			}
		}
	}
	for i, a := range allowedStatements {
		if !used[i] {
			t.Errorf("an exception that nothing needs: %s", a.statement)
		}
	}
	if n < 100 {
		t.Errorf("got %d statements want at least 100", n)
	}
	t.Logf("%d statements", n)
}

// ofWorkspaces reports whether a statement names a table that has rows of single
// workspaces, or one that is known only when the program runs.
func ofWorkspaces(text string) bool {
	text = strings.ReplaceAll(text, "FOR UPDATE", "")
	return slices.ContainsFunc(tableName.FindAllStringSubmatch(text, -1), func(m []string) bool {
		return !slices.Contains(sharedTables, m[1]) && !strings.HasPrefix(m[1], "temp.")
	})
}

// TestQuestionsHaveNoText checks that texts of a request cannot get into a query:
// a question, from which every engine writes its SQL, has none. Names of columns
// and granularities are checked by Translate.
func TestQuestionsHaveNoText(t *testing.T) {
	t.Parallel()
	checked := []reflect.Type{reflect.TypeFor[numbers.Column](), reflect.TypeFor[analytics.Granularity]()}
	seen := map[reflect.Type]bool{}
	var walk func(at string, of reflect.Type)
	walk = func(at string, of reflect.Type) {
		if seen[of] || slices.Contains(checked, of) {
			return
		}
		seen[of] = true
		switch of.Kind() {
		case reflect.Struct:
			for field := range of.Fields() {
				walk(at+"."+field.Name, field.Type)
			}
		case reflect.Slice, reflect.Pointer, reflect.Array:
			walk(at, of.Elem())
		case reflect.String, reflect.Interface, reflect.Map, reflect.Func, reflect.Chan, reflect.UnsafePointer:
			t.Errorf("%s: a %s can have a text of a request", at, of)
		default: // a number
		}
	}
	walk("Question", reflect.TypeFor[numbers.Question]())
}
