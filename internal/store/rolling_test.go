package store_test

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fanfare/internal/store"
	"fanfare/internal/store/pgtest"
	"fanfare/internal/store/storetest"
)

// futureExpand is a migration of a later release that adds a column to every
// table, the table of steps included, and a table.
func futureExpand() string {
	var b strings.Builder
	columns, _ := store.Tables()
	for _, table := range append(slices.Sorted(maps.Keys(columns)), "schema_migration") {
		fmt.Fprintf(&b, "ALTER TABLE %s ADD COLUMN future TEXT;\n", table)
	}
	return b.String() + "CREATE TABLE future (id TEXT NOT NULL PRIMARY KEY);\n"
}

const futureContract = "-- kind: contract\nALTER TABLE campaign DROP COLUMN checksum"

// expandStore applies a future migration that expands to a database, as the first
// node of the next release does.
func expandStore(t *testing.T, e store.Engine) {
	t.Helper()
	future, err := store.FutureSteps(e.Traits().Name, futureExpand())
	if err != nil {
		t.Fatal(err)
	}
	if done, err := store.MigrateTo(t.Context(), e, future); err != nil || !slices.Equal(done, []string{"9000_future"}) {
		t.Fatalf("applied %v: %v", done, err)
	}
}

// TestRollingExpand runs a node of this release while one of a later release
// expands the schema: everything works before and after, with the statements that
// the node has prepared, and a node of this release still starts.
func TestRollingExpand(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	w := storetest.NewFixture(t, node(t, url))
	run := func(w *storetest.Fixture) {
		t.Helper()
		for _, s := range w.Steps() {
			if err := s.Run(t.Context()); err != nil {
				t.Fatalf("%s: %v", s.Name, err)
			}
		}
	}
	run(w)
	expandStore(t, node(t, url))
	again := *w
	again.Workspace, again.Owner, again.Secret = w.AddWorkspace("second@example.com")
	w.Clock.Advance(1000 * time.Hour)
	run(&again)
	started := node(t, url)
	if done, err := store.Migrate(t.Context(), started, now); err != nil || len(done) != 0 {
		t.Errorf("an older node applied %v: %v", done, err)
	}
	copyAll(t, started, migrated(t, node(t, pgtest.URL(t))))
}

// TestRollingRecords runs the conformance suite on a schema that a later release
// has expanded.
func TestRollingRecords(t *testing.T) {
	t.Parallel()
	storetest.Records(t, func(t *testing.T) store.Engine {
		e := migrated(t, node(t, pgtest.URL(t)))
		expandStore(t, e)
		return e
	})
}

// TestRollingContract checks that steps that contract wait on a database in use,
// that an older program refuses them, and that no other step waits for them.
func TestRollingContract(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	w := storetest.NewFixture(t, node(t, url))
	if _, err := w.DB.CursorKeys(t.Context()); err != nil {
		t.Fatal(err)
	}
	next := node(t, url)
	future, err := store.FutureSteps("postgres", futureContract)
	if err != nil {
		t.Fatal(err)
	}
	if done, err := store.MigrateTo(t.Context(), next, future); err != nil || len(done) != 0 {
		t.Errorf("a start applied %v: %v", done, err)
	}
	if waiting, err := store.WaitingOf(t.Context(), next, future); err != nil || !slices.Equal(waiting, []string{"9000_future"}) {
		t.Errorf("waiting are %v: %v", waiting, err)
	}
	for _, s := range w.Steps() {
		if err := s.Run(t.Context()); err != nil {
			t.Fatalf("%s: %v", s.Name, err)
		}
	}
	if done, err := store.ContractTo(t.Context(), next, future); err != nil || !slices.Equal(done, []string{"9000_future"}) {
		t.Errorf("applied %v: %v", done, err)
	}
	_, err = store.Migrate(t.Context(), node(t, url), now)
	for _, part := range []string{"newer than this program", "9000_future", "start the program that made it, or a newer one"} {
		if err == nil || !errors.Is(err, store.ErrNewer) || !strings.Contains(err.Error(), part) {
			t.Errorf("got %v want %q", err, part)
		}
	}
	if _, err := store.FindPending(t.Context(), next); !errors.Is(err, store.ErrNewer) {
		t.Errorf("pending: got %v", err)
	}
}

// TestContractOnEmpty checks that a new database, and one of a single process,
// get all steps at once.
func TestContractOnEmpty(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, open func(t *testing.T) store.Engine) {
		e := open(t)
		future, err := store.FutureSteps(e.Traits().Name, futureContract)
		if err != nil {
			t.Fatal(err)
		}
		want := future[:len(future)-1]
		if _, err := store.MigrateTo(t.Context(), e, want); err != nil {
			t.Fatal(err)
		}
		if e.Traits().Exclusive {
			storetest.NewFixture(t, e)
		}
		if done, err := store.MigrateTo(t.Context(), e, future); err != nil || !slices.Equal(done, []string{"9000_future"}) {
			t.Errorf("applied %v: %v", done, err)
		}
	})
}

// TestContractLast checks on a database of a program from before steps had kinds
// that the steps may be applied in the order in which nodes are replaced: first
// all that expand, later all that contract.
func TestContractLast(t *testing.T) {
	t.Parallel()
	straight := schema(t, migrated(t, node(t, pgtest.URL(t))))
	e := node(t, pgtest.URL(t))
	err := e.Write(store.Across(t.Context()), func(tx store.Tx) error { return tx.Script(oldSchema) })
	if err != nil {
		t.Fatal(err)
	}
	old, err := store.StepsUntil("postgres", "0011")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.MigrateTo(t.Context(), e, old); err != nil {
		t.Fatal(err)
	}
	err = e.Write(store.Across(t.Context()), func(tx store.Tx) error {
		if err := tx.Script(`ALTER TABLE schema_migration DROP COLUMN kind`); err != nil {
			return err
		}
		_, err := tx.Exec(`INSERT INTO setting (name, value, updated_at) VALUES ('cursor_keys', '', 0)`)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	left, err := store.FindPending(t.Context(), e)
	if err != nil || !slices.Equal(left.Start, []string{"0013_call_budget", "0014_platform_grant", "0015_word", "0016_word_isolation", "0017_report", "0018_report_isolation", "0019_annotation", "0020_annotation_isolation", "0021_brand_kit", "0022_brand_kit"}) || !slices.Equal(left.Contract, []string{"0012_isolation"}) {
		t.Errorf("pending are %v: %v", left, err)
	}
	if done, err := store.Migrate(t.Context(), e, now); err != nil || !slices.Equal(done, left.Start) {
		t.Errorf("applied %v: %v", done, err)
	}
	if done, err := store.Contract(t.Context(), e, now); err != nil || !slices.Equal(done, left.Contract) {
		t.Errorf("applied %v: %v", done, err)
	}
	if n := countRows(t.Context(), t, e, "pg_class", ` WHERE relname = 'campaign' AND relforcerowsecurity`); n != 1 {
		t.Error("the step that contracts was not run")
	}
	if diff := cmp.Diff(straight, schema(t, e)); diff != "" {
		t.Errorf("the schema depends on the order (-straight +contracted last):\n%s", diff)
	}
}

// removes matches what the previous release may not survive.
var removes = regexp.MustCompile(`(?i)\bDROP\b|\bRENAME\b|\bALTER COLUMN\b|\bSET NOT NULL\b|\bADD CONSTRAINT\b|\bADD COLUMN \w+ \w+ NOT NULL(;| CHECK)`)

// isolates matches a policy on a table, and creates a new table.
var (
	isolates = regexp.MustCompile(`\bALTER TABLE (\S+) (?:ENABLE|FORCE) ROW LEVEL SECURITY\b`)
	creates  = regexp.MustCompile(`\bCREATE TABLE (\w+) \(`)
)

// TestMigrationKinds checks the first line of migrations, and that none that
// removes or tightens says that it expands.
func TestMigrationKinds(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"", "CREATE TABLE x (n BIGINT)", "-- kind: both\nCREATE TABLE x (n BIGINT)", "-- Kind: expand\n"} {
		if err := store.ReadMigration(file); err == nil || !strings.Contains(err.Error(), "-- kind: contract") {
			t.Errorf("%q: got %v", file, err)
		}
	}
	texts := store.ExpandTexts(t)
	for name, text := range texts {
		for _, table := range isolates.FindAllStringSubmatch(text, -1) {
			if !isNew(texts, name, table[1]) {
				t.Errorf("%s expands, but isolates %s, which the previous release may use", name, table[1])
			}
		}
		if found := removes.FindString(text); found != "" {
			t.Errorf("%s expands, but has %q", name, found)
		}
	}
}

// isNew reports whether the step before a step creates a table, so that no
// earlier release uses the table.
func isNew(texts map[string]string, step, table string) bool {
	before := ""
	for name := range texts {
		if name < step && name > before {
			before = name
		}
	}
	for _, created := range creates.FindAllStringSubmatch(texts[before], -1) {
		if created[1] == table {
			return true
		}
	}
	return false
}

// sumsBeforeKinds are the checksums that databases have of steps that were applied
// before steps had kinds.
var sumsBeforeKinds = map[string]string{
	"0001_foundation":  "ca0520d7514c0d515f6f53f9dba7e4e5d0b4152e78547629a0bfc7faea93bb6b",
	"0002_creative":    "db6365528657a05442efadec48e6c772f976cc88ea88baa9b16069c283f18b40",
	"0003_facts":       "ec917fa14b51a39994207b20ab751bece2a576a3c12d8637a85a2bea43594e7c",
	"0004_syncs":       "20837c638219d8b06c9c8f7ceb079dd876a95426091c2ded51a930844712a7ae",
	"0005_signin":      "5ab5e3a79ac7321b6134ff730d88397b7c34651d4f492ff12b34d7a6dbc2fa7e",
	"0006_linked":      "ec46bd2f68243ccacfaa73f7941880927bf15ec0f39c86100d107d32e0c693c2",
	"0007_checksums":   "a4afceafb18fa9648fea5a0d505afd1f6711477d3aa09cda1bb0cfd19e4902b9",
	"0008_founders":    "9ef8ad3c7d0c7e230be9133a1fad24b26a275a460aeb131bfb1e3d59d29b7717",
	"0009_claims":      "4d853adea6a429288f0b15486517298e5bec202851c07ef74f77914eba92cc1d",
	"0010_asset_bytes": "b382b6ee63bbf007ae05f12b6e680db8aa33ed107551d3041d580d9fcb1d8bb6",
	"0011_locks":       "fa98562be3dfbd3dfee373339d0cf0426624b3f5a23b98f3a0761283a1306b6c",
	"0012_isolation":   "38752708ab6ac17d7e853c14b3a291e3b646bdf6811f36486cea993ace5851a6",
}

// TestMigrationSums checks that databases from before steps had kinds still match
// the files.
func TestMigrationSums(t *testing.T) {
	t.Parallel()
	found := 0
	for name, sum := range store.MigrationSums(t) {
		if want, there := sumsBeforeKinds[name]; there {
			found++
			if sum != want {
				t.Errorf("%s was changed after databases had it", name)
			}
		}
	}
	if found != len(sumsBeforeKinds) {
		t.Errorf("got %d of %d steps", found, len(sumsBeforeKinds))
	}
}
