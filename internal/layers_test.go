// Package internal_test checks the architecture: which package may import which,
// how large a file may be, and that the documents about it are complete.
package internal_test

import (
	"bytes"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const (
	module   = "fanfare"
	maxLines = 500
)

// layer is a set of packages with one rule. Packages are named by their path
// from internal.
type layer struct {
	name     string
	packages []string
	// may are the layers and packages that these packages may import.
	may []string
	// never are packages outside the module that they must not import.
	never []string
	why   string
}

var (
	drivers = []string{"database/sql", "github.com/jackc/pgx", "github.com/mattn/go-sqlite3", "github.com/duckdb/duckdb-go"}
	http    = []string{"net/http"}
)

// layers are all packages, from the leaf packages to the program. A request passes
// them in the opposite order: cmd, httpapi, campaign, store, engine. Only the
// import from store to the slices goes back: a slice declares what it needs, the
// store provides it.
var layers = []layer{
	{
		name: "leaf", packages: []string{"fault", "ident", "clock", "money", "record", "page", "nearest", "fresh", "fact", "secret", "fairqueue", "body", "memory"}, may: []string{"leaf"},
		never: slices.Concat(http, drivers), why: "every package uses them, so they import only each other",
	},
	{
		name: "slice", packages: []string{"account", "analytics", "asset", "campaign", "connection", "ratelimit", "rates", "report", "search", "signin"}, may: []string{"leaf"},
		never: slices.Concat(http, drivers), why: "rules know neither HTTP nor SQL, and no slice imports another: what one needs of another it declares as an interface",
	},
	{
		name: "asset storage", packages: []string{"asset/s3"}, may: []string{"asset", "leaf"},
		never: drivers, why: "it stores the files of assets at a service, which has an HTTP interface",
	},
	{
		name: "asset files", packages: []string{"assetfiles"}, may: []string{"asset", "asset storage", "leaf"},
		never: slices.Concat(http, drivers), why: "it opens files where a setting says, and hides where they are",
	},
	{
		name: "audience", packages: []string{"audience"}, may: []string{"analytics", "leaf"},
		never: slices.Concat(http, drivers), why: "its insights are answers of analytics; a copy of each of those types would have to be kept equal",
	},
	{
		name: "copy policy", packages: []string{"creative/policy"},
		never: slices.Concat(http, drivers), why: "a check of ad copy depends on the text, its channel and its source alone",
	},
	{
		name: "brief", packages: []string{"creative/brief", "creative/atoms", "creative/words", "creative/copybank"}, may: []string{"brief"},
		never: slices.Concat(http, drivers), why: "facts, words and patterns depend on no channel and no request",
	},
	{
		name: "brief parser", packages: []string{"creative/parser", "creative/shorten", "creative/claims"}, may: []string{"brief", "copy policy"},
		never: slices.Concat(http, drivers), why: "they work on texts and do not know who asks",
	},
	{
		name: "creative", packages: []string{"creative"}, may: []string{"copy policy", "brief", "brief parser", "asset", "leaf"},
		never: slices.Concat(http, drivers), why: "it checks the copy of its variants, whose pictures are assets",
	},
	{
		name: "ingest", packages: []string{"ingest"}, may: []string{"connection", "leaf"},
		never: slices.Concat(http, drivers), why: "own data belongs to a connection, which defines what a source is",
	},
	{
		name: "http", packages: []string{"httpapi"}, may: []string{"slice", "audience", "creative", "ingest", "leaf"},
		never: drivers, why: "the HTTP layer maps requests to slices; with access to the store it could bypass their rules",
	},
	{
		name: "console", packages: []string{"console"}, may: []string{"http", "slice", "audience", "creative", "ingest", "llm provider", "leaf"},
		never: drivers, why: "the HTTP layer of the console calls the same slices as the API",
	},
	{
		name: "work", packages: []string{"job"}, may: []string{"leaf"},
		never: slices.Concat(http, drivers), why: "the runner knows jobs by kind; slices say what they do",
	},
	{
		name: "store", packages: []string{"store"}, may: []string{"slice", "audience", "creative", "ingest", "leaf", "work"},
		never: slices.Concat(http, drivers), why: "one SQL serves every engine, and slices declare what they need of it",
	},
	{
		name: "PostgreSQL driver", packages: []string{"pgdriver"},
		never: http, why: "records and facts use the same database in the same way",
	},
	{
		name: "engine", packages: []string{"store/sqlite", "store/postgres"}, may: []string{"store", "datadir", "PostgreSQL driver", "secret"},
		never: http, why: "an engine runs statements and does not know their meaning",
	},
	{
		name: "facts", packages: []string{"metrics"}, may: []string{"analytics", "leaf"},
		never: slices.Concat(http, drivers), why: "sums are separate from their meaning",
	},
	{
		name: "facts as numbers", packages: []string{"metrics/numbers", "metrics/dump"}, may: []string{"metrics/numbers", "analytics", "leaf"},
		never: slices.Concat(http, drivers), why: "what engines share knows none of them",
	},
	{
		name: "facts in PostgreSQL", packages: []string{"metrics/pgtables"}, may: []string{"facts as numbers", "analytics", "PostgreSQL driver", "leaf"},
		never: http, why: "what engines share knows none of them",
	},
	{
		name: "facts engine", packages: []string{"metrics/duckdb", "metrics/postgres"}, may: []string{"facts", "facts as numbers", "facts in PostgreSQL", "analytics", "datadir", "PostgreSQL driver", "leaf"},
		never: http, why: "an engine stores facts and adds them up, and does not know the caller",
	},
	{
		name: "facts engine over HTTP", packages: []string{"metrics/clickhouse"}, may: []string{"facts", "facts as numbers", "facts in PostgreSQL", "PostgreSQL driver", "wire", "analytics", "leaf"},
		why: "as other engines of facts; its database has an HTTP interface",
	},
	{
		name: "store file", packages: []string{"storefile"}, may: []string{"store", "leaf"},
		never: slices.Concat(http, drivers), why: "it checks the file of the store, and does not know the caller",
	},
	{
		name: "facts of a store", packages: []string{"factsfile", "factsdb"}, may: []string{"store", "facts", "facts as numbers", "facts engine", "facts engine over HTTP", "facts of a store", "analytics", "connection", "ingest", "datadir", "leaf"},
		never: slices.Concat(http, drivers), why: "it decides which facts belong to a store and which connections and imports lose theirs, and does not know the caller",
	},
	{
		name: "wire", packages: []string{"mail", "outbound", "seal"}, may: []string{"leaf"},
		never: drivers, why: "they send requests and encrypt secrets without knowing their meaning",
	},
	{
		name: "single sign-on", packages: []string{"oidc"}, may: []string{"signin", "leaf"},
		never: drivers, why: "it implements the issuer that signin declares",
	},
	{
		name: "copywriter", packages: []string{"creative/copywriter"}, may: []string{"creative", "copy policy", "brief", "leaf"},
		never: slices.Concat(http, drivers), why: "it writes copy from the brief alone",
	},
	{
		name: "drawing", packages: []string{"creative/picture"}, may: []string{"leaf"},
		never: slices.Concat(http, drivers), why: "a picture depends only on its parameters",
	},
	{
		name: "llm", packages: []string{"llm"}, may: []string{"creative", "copy policy", "creative/claims", "wire", "leaf"},
		never: drivers, why: "a model writes copy from a brief; it neither stores nor serves anything",
	},
	{
		name: "llm client", packages: []string{"llm/openai", "llm/anthropic", "llm/gemini"}, may: []string{"llm", "creative", "wire", "leaf"},
		never: drivers, why: "one folder per API of models, each a client and nothing else",
	},
	{
		name: "local models", packages: []string{"llm/local"},
		never: drivers, why: "it asks the servers of this machine and knows nothing of ours",
	},
	{
		name: "llm provider", packages: []string{"llm/provider"}, may: []string{"creative", "copywriter", "brief", "brief parser", "drawing", "llm", "llm client", "wire", "leaf"},
		never: slices.Concat(http, drivers), why: "it chooses the generator of a creative, a model or the composer, and hides which",
	},
	{
		name:     "ad platform",
		packages: []string{"adplatform/transport", "adplatform/googleauth", "adplatform/google", "adplatform/meta", "adplatform/tiktok", "adplatform/linkedin", "adplatform/ga4", "adplatform/microsoft"},
		may:      []string{"adplatform/transport", "adplatform/googleauth", "connection", "wire", "leaf"},
		never:    drivers, why: "one folder per ad platform, each a client and nothing else",
	},
	{
		name: "ad platforms", packages: []string{"adplatform/registry"}, may: []string{"ad platform", "sandbox", "connection", "wire", "leaf"},
		never: drivers, why: "it chooses the client of an ad platform and hides whether that is the real one",
	},
	{
		name: "sandbox", packages: []string{"llm/sandbox", "adplatform/sandbox"}, may: []string{"leaf"},
		never: drivers, why: "it simulates the other side, so it must not depend on our code",
	},
	{
		name: "listener", packages: []string{"listen"},
		never: drivers, why: "connections and certificates have nothing to do with campaigns",
	},
	{
		name: "backup", packages: []string{"backup"}, may: []string{"store", "leaf"},
		never: slices.Concat(http, drivers), why: "a backup goes through the store, so that it is the same for every engine",
	},
	{
		name: "setting", packages: []string{"config"}, may: []string{"account", "asset storage", "httpapi", "ratelimit", "nearest", "listen", "leaf"},
		never: drivers, why: "settings are read into the types of the packages that use them, and start nothing",
	},
	{
		name: "tool", packages: []string{"control", "datadir"}, may: []string{"fault"},
		never: drivers, why: "they run commands and lock the data folder, independent of the service",
	},
	{
		name: "demo", packages: []string{"demo"}, may: []string{"campaign", "connection", "creative", "audience", "leaf"},
		never: slices.Concat(http, drivers), why: "demo data is created through the same rules as all data",
	},
	{
		name: "docs", packages: []string{"docs"}, may: []string{"leaf"},
		never: drivers, why: "pages are built from files and the contract, so they can be read while the service is in trouble",
	},
	{
		name: "whole", packages: []string{"app"}, may: []string{"api", "slice", "asset files", "audience", "creative", "ingest", "leaf", "http", "docs", "contract", "console", "work", "store", "engine", "facts", "facts engine", "facts of a store", "store file", "llm provider", "ad platforms", "single sign-on", "wire"},
		never: drivers, why: "it connects the packages, in the same way for a server, a command and a test",
	},
	{
		name: "move", packages: []string{"movestore"}, may: []string{"asset files", "store", "engine", "facts as numbers", "facts engine", "facts of a store", "seal", "leaf"},
		never: slices.Concat(http, drivers), why: "it copies every part of an installation through the package that owns the part",
	},
	{name: "contract", packages: []string{"../api", ".."}, why: "files that are part of the program depend on no code"},
	{name: "program", packages: []string{"../cmd/fanfare"}, may: []string{"*"}, never: drivers, why: "the only package that may import all others"},
	{
		name: "test", packages: []string{"fanfaretest", "store/pgtest", "store/sqlitetest", "store/testdir", "store/storetest", "asset/filestest", "metrics/metricstest", "metrics/clickhouse/chtest", "../bench", "../test/program", "../test/scenario", "../test/guard", "../test/readme", "../test/docs", "../test/crash", "../test/analytics", "../test/platforms", "../test/browser", "../test/clients", "../test/damage", "../test/models", "../test/nodes", "../test/balancer", "../test/sync"},
		may: []string{"*"}, why: "tests may import everything; nothing may import them",
	},
}

// importPath is the import path of a package.
func importPath(name string) string { return path.Join(module, "internal", name) }

// layerOf finds the layer of a package.
func layerOf(pkg string) *layer {
	for i, l := range layers {
		if slices.ContainsFunc(l.packages, func(name string) bool { return importPath(name) == pkg }) {
			return &layers[i]
		}
	}
	return nil
}

// allows reports whether a package of the layer may import a package of the module.
func (l *layer) allows(pkg string) bool {
	other := layerOf(pkg)
	if other == nil || other.name == "test" && l.name != "test" {
		return false
	}
	return slices.ContainsFunc(l.may, func(may string) bool {
		return may == "*" || may == other.name || importPath(may) == pkg || may == "api" && pkg == module+"/api"
	})
}

// imports are what the non-test files of each package import, with the file
// that does so.
func imports(t *testing.T) map[string]map[string]string {
	t.Helper()
	packages := map[string]map[string]string{}
	walk(t, func(name string, text []byte) {
		pkg := path.Join(module, filepath.ToSlash(filepath.Dir(name)))
		if packages[pkg] == nil {
			packages[pkg] = map[string]string{}
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range f.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			packages[pkg][imported] = name
		}
	})
	return packages
}

// walk visits the non-test Go files of the module.
func walk(t *testing.T, visit func(name string, text []byte)) {
	t.Helper()
	walkNames(t, func(name string) {
		if strings.HasSuffix(name, "_test.go") {
			return
		}
		text, err := os.ReadFile(filepath.Join("..", name))
		if err != nil {
			t.Fatal(err)
		}
		visit(name, text)
	})
}

// walkNames visits the names of all Go files of the module.
func walkNames(t *testing.T, visit func(name string)) {
	t.Helper()
	err := filepath.WalkDir("..", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel("..", file)
		if err != nil {
			return err
		}
		if d.IsDir() {
			// A folder with its own go.mod is another module.
			if _, err := os.Stat(filepath.Join(file, "go.mod")); err == nil && name != "." || strings.HasPrefix(d.Name(), ".") && name != "." || d.Name() == "testdata" || d.Name() == "node_modules" {
				return filepath.SkipDir
			}
			return nil
		}
		if strings.HasSuffix(name, ".go") {
			visit(name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestLayers(t *testing.T) {
	t.Parallel()
	packages := imports(t)
	if len(packages) < 20 {
		t.Fatalf("only %d packages were found", len(packages))
	}
	for _, pkg := range slices.Sorted(maps.Keys(packages)) {
		l := layerOf(pkg)
		if l == nil {
			continue // TestAllInLayers reports it.
		}
		for imported, file := range packages[pkg] {
			ours := imported == module || strings.HasPrefix(imported, module+"/")
			if ours && !l.allows(imported) {
				t.Errorf("%s imports %s, but a %s may import only %s: %s.", file, imported, l.name, list(l.may), l.why)
			}
			for _, never := range l.never {
				if imported == never || strings.HasPrefix(imported, never+"/") {
					t.Errorf("%s imports %s, which a %s must never do: %s.", file, imported, l.name, l.why)
				}
			}
		}
	}
}

// TestAllInLayers checks that the layers have every package, also one that has
// only tests, and no others.
func TestAllInLayers(t *testing.T) {
	t.Parallel()
	found := map[string]bool{}
	walkNames(t, func(name string) { found[path.Join(module, filepath.ToSlash(filepath.Dir(name)))] = true })
	// Structure tests are about all packages and are in no layer.
	delete(found, path.Join(module, "internal"))
	for _, pkg := range slices.Sorted(maps.Keys(found)) {
		if layerOf(pkg) == nil {
			t.Errorf("%s is in no layer: add it to one in internal/layers_test.go, with the reason for what it may import.", pkg)
		}
	}
	for _, l := range layers {
		for _, name := range l.packages {
			if !found[importPath(name)] {
				t.Errorf("layer %s names %s, which does not exist: remove it from internal/layers_test.go.", l.name, importPath(name))
			}
		}
	}
}

func list(may []string) string {
	if len(may) == 0 {
		return "packages of other modules"
	}
	return strings.Join(may, ", ")
}

// TestLayersBite checks that the rules refuse wrong imports.
func TestLayersBite(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		from, to string
		want     bool
	}{
		{"campaign", "clock", true},
		{"campaign", "account", false},
		{"campaign", "store", false},
		{"campaign", "httpapi", false},
		{"clock", "ident", true},
		{"clock", "campaign", false},
		{"httpapi", "campaign", true},
		{"httpapi", "store", false},
		{"httpapi", "store/sqlite", false},
		{"httpapi", "job", false},
		{"httpapi", "console", false},
		{"console", "httpapi", true},
		{"console", "store", false},
		{"store", "campaign", true},
		{"store", "job", true},
		{"store", "store/sqlite", false},
		{"store", "store/storetest", false},
		{"store/sqlite", "store", true},
		{"store/sqlite", "campaign", false},
		{"job", "store", false},
		{"listen", "fault", false},
		{"backup", "store", true},
		{"backup", "store/sqlite", false},
		{"app", "store/postgres", true},
		{"app", "fanfaretest", false},
		{"../cmd/fanfare", "store/storetest", false},
		{"../cmd/fanfare", "app", true},
		{"fanfaretest", "app", true},
		{"campaign", "unknown", false},
	} {
		if got := layerOf(importPath(test.from)).allows(importPath(test.to)); got != test.want {
			t.Errorf("%s to %s: got %v want %v", test.from, test.to, got, test.want)
		}
	}
}

// TestFileLength limits the length of files, so that each can be read at one
// time.
func TestFileLength(t *testing.T) {
	t.Parallel()
	walk(t, func(name string, text []byte) {
		if n := bytes.Count(text, []byte("\n")); n > maxLines {
			t.Errorf("%s has %d lines, more than %d: a file that long has two subjects; give each its own.", name, n, maxLines)
		}
	})
}

// architectureFile has a table of all packages.
const architectureFile = "docs/ARCHITECTURE.md"

// tableNames returns the names in the first column of the table of packages. A
// name that ends in a slash means all packages below it.
func tableNames(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", architectureFile))
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(text), "\n## Packages\n")
	if !found {
		t.Fatalf("%s: got no section Packages", architectureFile)
	}
	section, _, _ = strings.Cut(section, "\n## ")
	var names []string
	for line := range strings.Lines(section) {
		cells := strings.Split(line, "|")
		if len(cells) < 3 {
			continue
		}
		for i, name := range strings.Split(cells[1], "`") {
			if i%2 == 1 {
				names = append(names, name)
			}
		}
	}
	return names
}

// TestArchitectureTable compares the table of packages with the layers.
func TestArchitectureTable(t *testing.T) {
	t.Parallel()
	names := tableNames(t)
	for i, name := range names {
		if info, err := os.Stat(filepath.Join("..", name)); err != nil || !info.IsDir() {
			t.Errorf("%s: the table names %s, which does not exist: remove it.", architectureFile, name)
		}
		if slices.Contains(names[:i], name) {
			t.Errorf("%s: the table names %s twice: remove one.", architectureFile, name)
		}
	}
	for _, l := range layers {
		for _, p := range l.packages {
			name := path.Join("internal", p)
			if !slices.ContainsFunc(names, func(n string) bool {
				return n == name || strings.HasSuffix(n, "/") && strings.HasPrefix(name, n)
			}) {
				t.Errorf("%s: the table does not have %s of layer %s: add what it is for.", architectureFile, name, l.name)
			}
		}
	}
}
