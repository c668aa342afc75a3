package factsfile_test

import (
	"crypto/rand"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/factsfile"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/metrics"
	"fanfare/internal/metrics/duckdb"
	"fanfare/internal/store"
	"fanfare/internal/store/sqlite"
)

// node is a data folder with a store and facts.
type node struct {
	t      *testing.T
	dir    string
	engine store.Engine
	db     *store.DB
	file   *factsfile.File
}

func now() time.Time { return time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC) }

func (n *node) must(err error) {
	n.t.Helper()
	if err != nil {
		n.t.Fatal(err)
	}
}

// openStore opens the store alone.
func (n *node) openStore() {
	n.t.Helper()
	var err error
	n.engine, err = sqlite.Open(filepath.Join(n.dir, "fanfare.db"), sqlite.Options{})
	n.must(err)
	_, err = store.Migrate(n.t.Context(), n.engine, now)
	n.must(err)
	n.db = store.New(n.engine, 0, now, rand.Reader)
}

func (n *node) config() factsfile.Config {
	return factsfile.Config{Dir: n.dir, DB: n.db, Alone: true, Now: now, Random: rand.Reader, Log: slog.New(slog.DiscardHandler)}
}

// start opens the store and the facts.
func (n *node) start() {
	n.t.Helper()
	n.openStore()
	var err error
	n.file, err = factsfile.Open(n.t.Context(), n.config())
	n.must(err)
	n.db.SetFactsSource(n.file.Mark)
}

// stop closes everything without recording anything.
func (n *node) stop() {
	n.t.Helper()
	if n.file != nil {
		n.must(n.file.Close())
		n.file = nil
	}
	n.must(n.engine.Close())
}

// write adds a fact, which the store notes.
func (n *node) write(day clock.Date) {
	n.t.Helper()
	n.must(n.file.Write(n.t.Context(), batch(day)))
	n.must(n.file.RecordGeneration(n.t.Context()))
}

func batch(day clock.Date) *fact.Batch {
	s := &fact.Source{Connection: "con_1", Platform: "custom", Account: "1", Currency: "USD", Zone: "UTC"}
	r := fact.Row{Source: s, Date: day, Channel: "email"}
	r.Values.Set(fact.Clicks, 1)
	return &fact.Batch{Workspace: "wks_1", Rows: []fact.Row{r}}
}

// wants checks whether the facts can be used.
func (n *node) wants(reason string) {
	n.t.Helper()
	_, err := n.file.State(n.t.Context(), "wks_1")
	switch got := n.file.Problem(); {
	case reason == "" && (got != "" || err != nil):
		n.t.Errorf("facts cannot be used: %s, %v", got, err)
	case reason != "" && (!strings.Contains(got, reason) || !fault.Is(err, fault.Unavailable)):
		n.t.Errorf("got %q, %v want %q", got, err, reason)
	}
}

func copyFolder(t *testing.T, from string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "copy")
	if out, err := exec.Command("cp", "-a", from, to).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return to
}

func newNode(t *testing.T) *node {
	t.Helper()
	n := &node{t: t, dir: t.TempDir()}
	n.start()
	n.write(20_000)
	n.stop()
	return n
}

// TestStarts sees that facts are found again at every start, each time under
// another id.
func TestStarts(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	seen := map[string]bool{}
	for i := range 3 {
		n.start()
		n.wants("")
		mark, err := n.db.FactsMark(t.Context())
		if err != nil || mark.ID == "" || mark.Next != "" || mark.Generation != int64(i+1) || seen[mark.ID] {
			t.Errorf("the store has noted %+v, %v", mark, err)
		}
		seen[mark.ID] = true
		n.write(clock.Date(20_001 + i))
		n.stop()
	}
}

// TestCrashAtStart ends a start after each of its steps. The next one finds the
// facts, and a copy from before does not pass for them.
func TestCrashAtStart(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		adopts bool
	}{{"next id noted", false}, {"next id taken", true}} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			n := newNode(t)
			before := copyFolder(t, n.dir)
			n.openStore()
			mark, err := n.db.FactsMark(t.Context())
			n.must(err)
			next := mark
			next.Next = string(ident.New(ident.Facts, now(), rand.Reader))
			n.must(n.db.ChangeFactsMark(t.Context(), mark, next))
			if tt.adopts {
				e, err := duckdb.Open(t.Context(), n.dir, duckdb.Options{Now: now, Log: slog.New(slog.DiscardHandler)})
				n.must(err)
				n.must(e.Adopt(t.Context(), next.Next))
				n.must(e.Close())
			}
			n.stop()
			n.start()
			n.wants("")
			n.write(20_001)
			n.stop()
			n.must(os.Rename(filepath.Join(before, "facts.duckdb"), filepath.Join(n.dir, "facts.duckdb")))
			n.start()
			n.wants("does not belong to the database beside it")
			n.stop()
		})
	}
}

// TestMismatchedFiles checks a store and facts that do not belong together.
func TestMismatchedFiles(t *testing.T) {
	t.Parallel()
	move := func(n *node, from string, names ...string) {
		for _, name := range names {
			n.must(os.Rename(filepath.Join(from, name), filepath.Join(n.dir, name)))
		}
	}
	for _, tt := range []struct {
		name string
		mix  func(n *node)
		want string
	}{
		{"facts of a copy that was used", func(n *node) {
			other := &node{t: n.t, dir: copyFolder(n.t, n.dir)}
			other.start()
			other.write(20_001)
			other.stop()
			move(n, other.dir, "facts.duckdb")
		}, "does not belong to the database beside it"},
		{"facts of a copy after both were used", func(n *node) {
			other := &node{t: n.t, dir: copyFolder(n.t, n.dir)}
			for _, x := range []*node{n, other} {
				x.start()
				x.write(20_001)
				x.stop()
			}
			move(n, other.dir, "facts.duckdb")
		}, "does not belong to the database beside it"},
		{"older store", func(n *node) {
			older := copyFolder(n.t, n.dir)
			n.start()
			n.write(20_001)
			n.stop()
			move(n, older, "fanfare.db")
		}, "does not belong to the database beside it"},
		{"older store of the same start", func(n *node) {
			n.start()
			n.write(20_001)
			older := copyFolder(n.t, n.dir)
			n.write(20_002)
			n.write(20_003)
			n.stop()
			n.must(os.Remove(filepath.Join(n.dir, "fanfare.db")))
			move(n, older, "fanfare.db", "fanfare.db-wal")
		}, "does not belong to the database beside it"},
		{"new store", func(n *node) { n.must(os.Remove(filepath.Join(n.dir, "fanfare.db"))) }, "does not belong to the database beside it"},
		{"no facts", func(n *node) { n.must(os.Remove(filepath.Join(n.dir, "facts.duckdb"))) }, "is missing"},
		{"a pipe", func(n *node) {
			path := filepath.Join(n.dir, "facts.duckdb")
			n.must(os.Remove(path))
			n.must(syscall.Mkfifo(path, 0o600))
		}, "cannot be opened"},
		{"damaged mark", func(n *node) {
			n.openStore()
			n.must(n.db.SetFactsMark(n.t.Context(), store.FactsMark{ID: "fct_1 9z", Generation: 1}))
			n.stop()
		}, "does not belong to the database beside it"},
		{"fewer facts than were noted", func(n *node) {
			n.openStore()
			mark, err := n.db.FactsMark(n.t.Context())
			n.must(err)
			mark.Generation++
			n.must(n.db.RaiseFactsMark(n.t.Context(), mark))
			n.stop()
		}, "is an older copy"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			n := newNode(t)
			n.t = t
			tt.mix(n)
			n.start()
			n.wants(tt.want)
			n.stop()
			n.openStore()
			if err := factsfile.Examine(t.Context(), n.config()); err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "fanfare facts reset --data "+n.dir) {
				t.Errorf("examined: %v", err)
			}
			n.stop()
			// The remedy works, and lasts.
			n.start()
			if _, err := n.file.Replace(t.Context(), nil, func(metrics.ReplaceableEngine, *factsfile.Replaced) error { return nil }, func(metrics.ReplaceableEngine) error { return nil }); err != nil {
				t.Fatal(err)
			}
			n.write(20_009)
			n.stop()
			n.start()
			n.wants("")
			n.stop()
		})
	}
}

// TestFileGone removes the file while it is in use, and puts it back.
func TestFileGone(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	n.start()
	path := filepath.Join(n.dir, "facts.duckdb")
	n.must(os.Rename(path, path+".away"))
	n.wants("was removed or replaced")
	if err := n.file.Write(t.Context(), batch(20_001)); !fault.Is(err, fault.Unavailable) {
		t.Errorf("write: %v", err)
	}
	n.must(os.Rename(path+".away", path))
	n.wants("")
	n.stop()
}

// TestTwoNodes starts two nodes that have the same facts, as a copied folder
// has, on one store. One of them has the facts then.
func TestTwoNodes(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	dir := copyFolder(t, n.dir)
	n.start()
	second := n.config()
	second.Dir, second.Alone = dir, false
	other, err := factsfile.Open(t.Context(), second)
	n.must(err)
	if got := other.Problem(); !strings.Contains(got, "another node has taken over") {
		t.Errorf("the second node says %q", got)
	}
	n.wants("")
	n.stop()
}

// TestReplaceInUse replaces facts that are in use by fewer. What the store had
// noted of the old file says nothing of the new one.
func TestReplaceInUse(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	n.start()
	for day := range clock.Date(5) {
		n.write(20_001 + day)
	}
	if _, err := n.file.Replace(t.Context(), nil, func(metrics.ReplaceableEngine, *factsfile.Replaced) error { return nil }, func(metrics.ReplaceableEngine) error { return nil }); err != nil {
		t.Fatal(err)
	}
	n.write(20_001)
	n.stop()
	n.start()
	n.wants("")
	n.stop()
}

// TestNoFile checks a node whose facts are not in a file.
func TestNoFile(t *testing.T) {
	t.Parallel()
	var f *factsfile.File
	if f.Problem() != "" || f.OperatorProblem() != "" || f.JobDelay() != 0 || f.RecordGeneration(t.Context()) != nil {
		t.Error("a node without a file of facts reports a fault")
	}
	if _, err := f.Replace(t.Context(), nil, nil, nil); err == nil {
		t.Error("facts without a file were replaced")
	}
}
