// Package internal_test holds the architecture: which room may know which, and
// how large a file may be. It reads as the drawing in docs/ARCHITECTURE.md.
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

// layer is a set of rooms with one rule.
type layer struct {
	name  string
	rooms []string
	// may are the layers and rooms that these rooms may import. Rooms of a
	// leaf layer may also import each other.
	may []string
	// never are packages outside the module that they must not import.
	never []string
	why   string
}

var (
	drivers = []string{"database/sql", "github.com/jackc/pgx", "github.com/mattn/go-sqlite3", "github.com/duckdb/duckdb-go"}
	http    = []string{"net/http"}
)

// layers are all rooms, from the vocabulary to the program. Read from below it
// is the way of a request: cmd, httpapi, campaign, store, engine. Only the
// arrow from store to the slices points back: the slice says what it needs, the
// store provides it.
var layers = []layer{
	{
		name: "leaf", rooms: []string{"fault", "ident", "clock", "money", "record", "page", "nearest", "fresh", "fact", "secret", "turn", "body"}, may: []string{"leaf"},
		never: slices.Concat(http, drivers), why: "the vocabulary is for everybody, so it may depend on nothing but itself",
	},
	{
		name: "slice", rooms: []string{"account", "analytics", "asset", "campaign", "connection", "creative", "ratelimit", "rates", "signin"}, may: []string{"leaf"},
		never: slices.Concat(http, drivers), why: "rules know neither how they are asked nor where things are kept, and slices stay strangers: what one needs of another it declares as an interface",
	},
	{
		name: "audience", rooms: []string{"audience"}, may: []string{"analytics", "leaf"},
		never: slices.Concat(http, drivers), why: "its insights are answers of analytics; a copy of each of those types would have to be kept equal",
	},
	{
		name: "ingest", rooms: []string{"ingest"}, may: []string{"connection", "leaf"},
		never: slices.Concat(http, drivers), why: "own data belongs to a connection, which says what a source is",
	},
	{
		name: "door", rooms: []string{"httpapi"}, may: []string{"slice", "audience", "ingest", "leaf"},
		never: drivers, why: "a door maps requests to slices; were it to reach the store, rules could be passed by",
	},
	{
		name: "console", rooms: []string{"console"}, may: []string{"door", "slice", "audience", "ingest", "leaf"},
		never: drivers, why: "the door for people stands beside the one for keys and goes to the same slices",
	},
	{
		name: "work", rooms: []string{"job"}, may: []string{"leaf"},
		never: slices.Concat(http, drivers), why: "the runner knows jobs by kind; what they do is plugged in",
	},
	{
		name: "store", rooms: []string{"store"}, may: []string{"slice", "audience", "ingest", "leaf", "work"},
		never: slices.Concat(http, drivers), why: "one SQL serves every engine, and slices say what they need of it",
	},
	{
		name: "engine", rooms: []string{"store/sqlite", "store/postgres"}, may: []string{"store"},
		never: http, why: "an engine runs statements and knows nothing of what they are about",
	},
	{
		name: "facts", rooms: []string{"metrics"}, may: []string{"analytics", "leaf"},
		never: slices.Concat(http, drivers), why: "sums are kept apart from what they mean",
	},
	{
		name: "facts engine", rooms: []string{"metrics/duckdb"}, may: []string{"facts", "analytics", "leaf"},
		never: http, why: "an engine stores facts and adds them up, and knows nothing of who asks",
	},
	{
		name: "facts file", rooms: []string{"factsfile"}, may: []string{"store", "facts", "facts engine", "analytics", "leaf"},
		never: slices.Concat(http, drivers), why: "it decides which facts belong to a store, and knows nothing of who asks",
	},
	{
		name: "wire", rooms: []string{"mail", "oidc", "outbound", "seal"}, may: []string{"leaf"},
		never: drivers, why: "they carry requests and keep secrets for whoever has them, and know nothing of either",
	},
	{
		name: "copywriter", rooms: []string{"creative/composer"}, may: []string{"creative", "leaf"},
		never: slices.Concat(http, drivers), why: "it writes what a brief asks for from the brief alone",
	},
	{
		name: "drawing", rooms: []string{"creative/picture"}, may: []string{"leaf"},
		never: slices.Concat(http, drivers), why: "a picture is made of what it is given",
	},
	{
		name: "llm", rooms: []string{"llm"}, may: []string{"creative", "wire", "leaf"},
		never: drivers, why: "a model writes what a brief asks for; it neither stores nor serves anything",
	},
	{
		name: "llm client", rooms: []string{"llm/openai", "llm/anthropic", "llm/gemini"}, may: []string{"llm", "creative", "wire", "leaf"},
		never: drivers, why: "one folder per API of models, each a client and nothing else",
	},
	{
		name: "llm provider", rooms: []string{"llm/provider"}, may: []string{"creative", "copywriter", "drawing", "llm", "llm client", "wire", "leaf"},
		never: slices.Concat(http, drivers), why: "it finds who can generate a creative, a model or the composer, and hides which",
	},
	{
		name:  "ad platform",
		rooms: []string{"adplatform/transport", "adplatform/googleauth", "adplatform/google", "adplatform/meta", "adplatform/tiktok", "adplatform/linkedin", "adplatform/ga4"},
		may:   []string{"adplatform/transport", "adplatform/googleauth", "connection", "wire", "leaf"},
		never: drivers, why: "one folder per ad platform, each a client and nothing else",
	},
	{
		name: "ad platforms", rooms: []string{"adplatform/registry"}, may: []string{"ad platform", "sandbox", "connection", "wire", "leaf"},
		never: drivers, why: "it finds the client of an ad platform and hides whether that speaks to the real one",
	},
	{
		name: "sandbox", rooms: []string{"llm/sandbox", "adplatform/sandbox"}, may: []string{"leaf"},
		never: drivers, why: "it plays the other side, so it may know nothing of ours",
	},
	{
		name: "listener", rooms: []string{"listen"},
		never: drivers, why: "connections and certificates have nothing to do with campaigns",
	},
	{
		name: "backup", rooms: []string{"backup"}, may: []string{"store", "leaf"},
		never: slices.Concat(http, drivers), why: "a backup goes through the store, so that it is the same for every engine",
	},
	{
		name: "setting", rooms: []string{"config"}, may: []string{"account", "httpapi", "ratelimit", "nearest", "listen", "leaf"},
		never: drivers, why: "settings are read in the words of those who use them, and start nothing",
	},
	{
		name: "tool", rooms: []string{"control", "datadir"}, may: []string{"fault"},
		never: drivers, why: "they carry commands and guard the folder for whatever service there is",
	},
	{
		name: "demo", rooms: []string{"demo"}, may: []string{"campaign", "connection", "creative", "audience", "leaf"},
		never: slices.Concat(http, drivers), why: "demo data is made by the rules, like everybody's",
	},
	{
		name: "docs", rooms: []string{"docs"}, may: []string{"leaf"},
		never: drivers, why: "pages are made of files and of the contract, so that they can be read wherever the service is in trouble",
	},
	{
		name: "whole", rooms: []string{"app"}, may: []string{"api", "slice", "audience", "ingest", "leaf", "door", "docs", "contract", "console", "work", "store", "engine", "facts", "facts engine", "facts file", "llm provider", "ad platforms", "wire"},
		never: drivers, why: "it puts the rooms together and is made the same way by a server, a command and a test",
	},
	{name: "contract", rooms: []string{"../api", ".."}, why: "files that are part of the program depend on no code"},
	{name: "program", rooms: []string{"../cmd/fanfare"}, may: []string{"*"}, never: drivers, why: "the only place that knows everybody"},
	{
		name: "test", rooms: []string{"fanfaretest", "store/pgtest", "store/storetest", "metrics/metricstest", "../bench", "../test/program", "../test/scenario", "../test/guard", "../test/readme", "../test/docs", "../test/crash", "../test/analytics", "../test/platforms"},
		may: []string{"*"}, why: "tests may look at everything; nobody may look at them",
	},
}

// room is the import path of a room.
func room(name string) string { return path.Join(module, "internal", name) }

// layerOf finds the layer of a package.
func layerOf(pkg string) *layer {
	for i, l := range layers {
		if slices.ContainsFunc(l.rooms, func(name string) bool { return room(name) == pkg }) {
			return &layers[i]
		}
	}
	return nil
}

// allows says whether a room of the layer may import a package of the module.
func (l *layer) allows(pkg string) bool {
	other := layerOf(pkg)
	if other == nil || other.name == "test" && l.name != "test" {
		return false
	}
	return slices.ContainsFunc(l.may, func(may string) bool {
		return may == "*" || may == other.name || room(may) == pkg || may == "api" && pkg == module+"/api"
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
	err := filepath.WalkDir("..", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel("..", file)
		if err != nil {
			return err
		}
		if d.IsDir() {
			// A folder with a module of its own is not ours.
			if _, err := os.Stat(filepath.Join(file, "go.mod")); err == nil && name != "." || strings.HasPrefix(d.Name(), ".") && name != "." || d.Name() == "testdata" || d.Name() == "node_modules" {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		visit(name, text)
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
			t.Errorf("%s is in no layer: give it one in internal/layers_test.go, with the reason for what it may know.", pkg)
			continue
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
	for _, l := range layers {
		for _, name := range l.rooms {
			if _, there := packages[room(name)]; !there && l.name != "test" {
				t.Errorf("layer %s names %s, which is not there any more: take it out of internal/layers_test.go.", l.name, room(name))
			}
		}
	}
}

func list(may []string) string {
	if len(may) == 0 {
		return "what is not ours"
	}
	return strings.Join(may, ", ")
}

// TestLayersBite sees that the rules refuse what they are for.
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
		if got := layerOf(room(test.from)).allows(room(test.to)); got != test.want {
			t.Errorf("%s to %s: got %v want %v", test.from, test.to, got, test.want)
		}
	}
}

// TestFileLength keeps files to what can be read in one sitting.
func TestFileLength(t *testing.T) {
	t.Parallel()
	walk(t, func(name string, text []byte) {
		if n := bytes.Count(text, []byte("\n")); n > maxLines {
			t.Errorf("%s has %d lines, more than %d: a file that long has two subjects; give each its own.", name, n, maxLines)
		}
	})
}
