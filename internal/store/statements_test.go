package store_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"fanfare/internal/store"
	"fanfare/internal/store/storetest"
)

// ledger records every statement of its engines.
type ledger struct {
	mu   sync.Mutex
	seen map[string]bool
}

func (l *ledger) wrap(e store.Engine) *storetest.Wrapped {
	return &storetest.Wrapped{Engine: e, Statement: func(query string, _ bool) error {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.seen == nil {
			l.seen = map[string]bool{}
		}
		l.seen[query] = true
		return nil
	}}
}

// script reports whether a query is a migration: migrations create tables or
// start with a comment.
func script(query string) bool {
	return strings.Contains(query, "CREATE TABLE") || strings.HasPrefix(query, "-- ")
}

// lint checks every recorded statement and returns the exceptions that it used.
func (l *ledger) lint(t *testing.T, tenant map[string]bool) map[int]bool {
	t.Helper()
	used := map[int]bool{}
	for _, query := range slices.Sorted(maps.Keys(l.seen)) {
		if script(query) {
			continue
		}
		problems := linter{tenant}.problems(query)
		if i := excepted(query); i >= 0 {
			used[i] = true
			problems = slices.DeleteFunc(problems, func(p string) bool { return strings.Contains(p, "workspace") })
		}
		for _, p := range problems {
			t.Errorf("%s\n\t%s", p, query)
		}
	}
	return used
}

// TestRecords runs the conformance suite on both engines and checks every
// statement that it runs.
func TestRecords(t *testing.T) {
	t.Parallel()
	var seen ledger
	t.Run("on", func(t *testing.T) {
		each(t, func(t *testing.T, open func(t *testing.T) store.Engine) {
			storetest.Records(t, func(t *testing.T) store.Engine { return seen.wrap(open(t)) })
		})
	})
	seen.lint(t, tenantTables())
}

// TestStatements runs every operation of the store on both engines. Every
// statement in the source must have run, so that the checked statements are
// complete.
func TestStatements(t *testing.T) {
	t.Parallel()
	var seen ledger
	for name, open := range engines {
		t.Run(name, func(t *testing.T) {
			w := storetest.NewFixture(t, seen.wrap(open(t)))
			for _, s := range w.Steps() {
				if err := s.Run(t.Context()); err != nil {
					t.Fatalf("%s: %v", s.Name, err)
				}
			}
			_, unlock, err := w.DB.Lock(t.Context(), "work")
			if err != nil {
				t.Fatal(err)
			}
			if held, err := w.DB.MoveLockEnd(t.Context(), "work", "somebody else", w.Clock.Now()); held || err != nil {
				t.Errorf("got %t, %v want no lock of another holder to move", held, err)
			}
			unlock()
			empty := seen.wrap(open(t))
			// The table of a program without kinds of steps.
			err = empty.Engine.Write(store.Across(t.Context()), func(tx store.Tx) error { return tx.Script(oldSchema) })
			if err != nil {
				t.Fatal(err)
			}
			if _, err := store.Migrate(t.Context(), empty, w.Clock.Now); err != nil {
				t.Fatal(err)
			}
			copyAll(t, w.Engine, empty)
		})
	}
	tenant := tenantTables()
	used := seen.lint(t, tenant)
	for i, a := range allowed {
		if !used[i] {
			t.Errorf("an exception that nothing needs: %s", a.statement)
		}
	}
	texts := slices.Collect(maps.Keys(seen.seen))
	templates := storetest.SourceStatements(t, ".")
	for template, place := range templates {
		whole := !strings.Contains(template, storetest.Hole) && !strings.HasSuffix(template, " ") && !script(template)
		if problems := (linter{tenant}).problems(template); whole && len(problems) > 0 && excepted(template) < 0 {
			t.Errorf("%s: %v:\n\t%s", place, problems, template)
		}
		prefix, _, _ := strings.Cut(template, storetest.Hole)
		re := templatePattern(template)
		if !slices.ContainsFunc(texts, func(text string) bool { return strings.HasPrefix(text, prefix) && re.MatchString(text) }) {
			t.Errorf("%s: this statement was never run:\n\t%s", place, strings.ReplaceAll(template, storetest.Hole, "…"))
		}
	}
	t.Logf("%d statements in the source, %d texts run, %d exceptions", len(templates), len(texts), len(allowed))
}

// oldSchema is the table of applied steps as it was before steps had kinds.
const oldSchema = `CREATE TABLE schema_migration (version TEXT NOT NULL PRIMARY KEY, name TEXT NOT NULL, sum TEXT NOT NULL, applied_at BIGINT NOT NULL)`

// bareInsert matches an INSERT without a list of columns in source code, and
// fromFunction the columns of a function, which no release adds to.
var (
	bareInsert   = regexp.MustCompile(`INSERT INTO [\w."` + storetest.Hole + `]+ (?:VALUES|SELECT|\(SELECT)`)
	fromFunction = regexp.MustCompile(`\* FROM unnest\(`)
)

// TestStatementsNameColumns checks the statements on records and on the metrics
// that nodes share: a column that a later release adds must not change what they
// read and write. Fragments of statements are checked too.
func TestStatementsNameColumns(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{".", "../metrics/postgres", "../metrics/pgtables", "../metrics/clickhouse"} {
		statements := 0
		storetest.EachText(t, dir, func(text, place string) {
			text = fromFunction.ReplaceAllString(space.ReplaceAllString(text, " "), "")
			if strings.Contains(text, "FROM ") || strings.Contains(text, "INTO ") || strings.Contains(text, "RETURNING ") {
				statements++
			}
			for _, problem := range []*regexp.Regexp{bareInsert, allColumns} {
				if found := problem.FindString(text); found != "" {
					t.Errorf("%s: %q does not name its columns", place, found)
				}
			}
		})
		if statements < 10 {
			t.Errorf("%s: only %d statements were looked at", dir, statements)
		}
	}
}

// copyAll copies everything from one store to an empty one.
func copyAll(t *testing.T, from, to store.Engine) {
	t.Helper()
	var chunks []store.Chunk
	err := store.Dump(t.Context(), from, func(c store.Chunk, _ int64) error { chunks = append(chunks, c); return nil })
	if err != nil {
		t.Fatal(err)
	}
	err = store.Restore(t.Context(), to, func(put func(store.Chunk) error) error {
		for _, c := range chunks {
			if err := put(c); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func templatePattern(template string) *regexp.Regexp {
	return regexp.MustCompile("^(?s:" + strings.ReplaceAll(regexp.QuoteMeta(template), storetest.Hole, ".*") + ")")
}

// sqlAnywhere matches SQL.
var sqlAnywhere = regexp.MustCompile(`\bSELECT\b.+\bFROM\b|\bINSERT\s+INTO\b|\bUPDATE\s+\w+\s+SET\b|\bDELETE\s+FROM\b|\b(CREATE|ALTER|DROP)\s+(TABLE|INDEX)\b|\bPRAGMA\s`)

// notSQL lists the packages with text that looks like SQL but does not run on
// the product's database of records.
var notSQL = []string{
	// The engines of facts have their own SQL; a test of package metrics checks it.
	"internal/store", "internal/metrics",
	// Google Ads has its own query language.
	"internal/adplatform/google",
	// It asks PostgreSQL for the rights of the role.
	"internal/pgdriver",
	// Benchmarks fill databases of other products.
	"bench", "tools",
}

// TestNoSQLElsewhere checks that all SQL on records is in this package.
func TestNoSQLElsewhere(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	files := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(root, path)
		switch {
		case d.IsDir() && (slices.Contains(notSQL, filepath.ToSlash(name)) || strings.HasPrefix(d.Name(), ".") && name != "." || d.Name() == "node_modules"):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		files++
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING && sqlAnywhere.MatchString(strings.ToUpper(lit.Value)) && sqlAnywhere.MatchString(lit.Value) {
				t.Errorf("%s: SQL outside internal/store: %s", set.Position(lit.Pos()), lit.Value)
			}
			return true
		})
		return nil
	})
	if err != nil || files < 50 {
		t.Errorf("%d files were looked at: %v", files, err)
	}
}
