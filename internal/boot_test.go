package internal_test

import (
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// boots are the packages below internal whose tests start the whole
// application or open DuckDB, with the reason. All others are tested on a store
// in memory, so that their tests take milliseconds and link no DuckDB.
var boots = map[string]string{
	"httpapi":        "a request passes through the whole application",
	"console":        "a request passes through the whole application",
	"metrics/duckdb": "it is about DuckDB",
	"factsfile":      "it is about the file of DuckDB",
	"factsdb":        "facts move between DuckDB and PostgreSQL",
	"backup":         "a backup contains the facts of DuckDB",
	"movestore":      "it copies the facts of DuckDB",
}

// heavy are the packages that start the application or link DuckDB.
var heavy = []string{importPath("fanfaretest"), importPath("app"), importPath("metrics/duckdb"), importPath("factsfile"), importPath("factsdb")}

// TestOnlySomeTestsBoot checks that the tests of slices need no application.
func TestOnlySomeTestsBoot(t *testing.T) {
	t.Parallel()
	found := map[string]string{}
	err := filepath.WalkDir(".", func(file string, _ os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(file, "_test.go") {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range f.Imports {
			if imported, err := strconv.Unquote(spec.Path.Value); err == nil && slices.Contains(heavy, imported) {
				found[filepath.ToSlash(filepath.Dir(file))] = path.Join("internal", file) + " imports " + imported
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for pkg, why := range found {
		if boots[pkg] == "" {
			t.Errorf("%s: test the slice on storetest.Fixture, and what HTTP adds in internal/httpapi.", why)
		}
	}
	for _, pkg := range slices.Sorted(maps.Keys(boots)) {
		if found[pkg] == "" {
			t.Errorf("no test of %s starts the application: remove it from boots.", pkg)
		}
	}
}
