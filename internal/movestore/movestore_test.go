package movestore_test

import (
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"fanfare/internal/asset"
	"fanfare/internal/factsfile"
	"fanfare/internal/fault"
	"fanfare/internal/metrics/clickhouse/chtest"
	"fanfare/internal/metrics/metricstest"
	"fanfare/internal/movestore"
	"fanfare/internal/seal"
	"fanfare/internal/secret"
	"fanfare/internal/store"
	"fanfare/internal/store/pgtest"
	"fanfare/internal/store/postgres"
	"fanfare/internal/store/sqlite"
	"fanfare/internal/store/storetest"
)

func TestMain(m *testing.M) {
	chtest.Serve()
	pgtest.Main(m, chtest.Stop, func() { _ = os.RemoveAll(template.dir) })
}

// embedded returns a place in a new folder.
func embedded(t *testing.T) movestore.Place {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "data")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return movestore.Place{Data: dir, Store: filepath.Join(dir, "fanfare.db"), Assets: filepath.Join(dir, "assets"), MasterKey: filepath.Join(dir, "master.key")}
}

// shared returns a place on a new PostgreSQL database.
func shared(t *testing.T) movestore.Place {
	t.Helper()
	p := embedded(t)
	p.Store = pgtest.URL(t)
	p.Metrics = p.Store
	return p
}

// quiet discards log lines.
var quiet = slog.New(slog.DiscardHandler)

// must fails the test at the first error.
func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// template is an installation that tests copy, because it takes time to fill one.
var template struct {
	once sync.Once
	dir  string
}

// installation returns an installation on SQLite with rows in every table, random
// facts, files and a master key.
func installation(t *testing.T) movestore.Place {
	t.Helper()
	template.once.Do(func() {
		var err error
		template.dir, err = os.MkdirTemp("", "fanfare-move-")
		must(t, err)
		p := embedded(t)
		fill(t, p)
		must(t, os.CopyFS(template.dir, os.DirFS(p.Data)))
	})
	p := embedded(t)
	must(t, os.CopyFS(p.Data, os.DirFS(template.dir)), os.Chmod(p.MasterKey, 0o600))
	return p
}

// small returns another installation, with one workspace.
func small(t *testing.T) movestore.Place {
	t.Helper()
	p := embedded(t)
	e, err := sqlite.Open(p.Store, sqlite.Options{})
	must(t, err)
	w := storetest.NewFixture(t, e)
	files, err := asset.OpenFolder(p.Assets, time.Now, rand.Reader)
	must(t, err, files.Put(w.Workspace, fmt.Sprintf("%x", sha256.Sum256([]byte("x"))), []byte("x")), files.Close(), e.Close())
	return p
}

// fill fills an installation.
func fill(t *testing.T, p movestore.Place) {
	t.Helper()
	e, err := sqlite.Open(p.Store, sqlite.Options{})
	must(t, err)
	w := storetest.NewFixture(t, e)
	f, err := factsfile.Open(t.Context(), factsfile.Config{Dir: p.Data, DB: w.DB, Alone: true, Now: w.Clock.Now, Random: rand.Reader, Log: quiet})
	must(t, err)
	w.Files, err = asset.OpenFolder(p.Assets, w.Clock.Now, rand.Reader)
	must(t, err)
	w.LimitAssets(0)
	for _, s := range w.Steps() {
		must(t, s.Run(t.Context()))
	}
	for i := range 3 {
		w.Keep(fmt.Sprint("picture ", i))
	}
	// The steps have changed the mark.
	mark, _ := f.Mark()
	must(t, w.DB.SetFactsMark(t.Context(), mark))
	g := metricstest.NewGenerator(1)
	for range 40 {
		must(t, f.Write(t.Context(), g.Batch()))
	}
	workspace, imported := g.Import()
	_, err = f.Undo(t.Context(), workspace, imported)
	records := g.Records()
	for len(records) == 0 || len(records[0].Tags) == 0 {
		records = g.Records()
	}
	must(t, err, f.Mirror(t.Context(), workspace, records, 5), f.RecordGeneration(t.Context()))
	upload(t, w, filepath.Join(p.Assets, "imports"))
	ring, _, err := seal.OpenOrCreate(p.MasterKey, rand.Reader)
	must(t, err)
	sealed, err := ring.Seal(seal.Context{Workspace: "w", Record: "r", Field: "f"}, secret.New("token of a platform"))
	must(t, err, w.Raw.Write(store.Across(t.Context()), func(tx store.Tx) error {
		_, errSession := tx.Exec("INSERT INTO session (hash, id, user_id, current_workspace, method, created_at, used_at, expires_at, proved_at, address, agent) VALUES ('h', 'ses_1', $1, $2, 'password', 1, 2, 3, 4, '127.0.0.1', 'Browser')", string(w.Owner), string(w.Workspace))
		_, errToken := tx.Exec("INSERT INTO token (hash, id, kind, workspace_id, subject, doc, tries, created_at, expires_at) VALUES ('h', 'tok_1', 'invite', $1, 'ada@example.com', '{}', 0, 1, 2)", string(w.Workspace))
		_, errSealed := tx.Exec("INSERT INTO credential (kind, id, user_id, rev, doc, sealed) VALUES ('totp', 'seed', $1, 1, '{}', $2)", string(w.Owner), sealed)
		return errors.Join(errSession, errToken, errSealed)
	}))
	must(t, err, f.Close(), w.Files.Close(), e.Close())
}

// upload gives all imports the same file.
func upload(t *testing.T, w *storetest.Fixture, dir string) {
	t.Helper()
	text := []byte("date,clicks\n2026-11-01,7\n")
	sum := fmt.Sprintf("%x", sha256.Sum256(text))
	files, err := asset.OpenFolder(dir, w.Clock.Now, rand.Reader)
	must(t, err, files.Put(w.Workspace, sum, text), files.Close(), w.Raw.Write(store.Across(t.Context()), func(tx store.Tx) error {
		_, err := tx.Exec("UPDATE import SET sha256 = $1", sum)
		return err
	}))
}

// move returns the configuration of a copy.
func move(from, to movestore.Place) movestore.Config {
	return movestore.Config{From: from, To: to, Now: time.Now, Random: rand.Reader, Log: quiet, Report: func(string, int64, int64) {}}
}

// hashes returns the hash of every file in a folder.
func hashes(t *testing.T, dir string) map[string]string {
	t.Helper()
	list := map[string]string{}
	must(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		list[path] = fmt.Sprintf("%x", sha256.Sum256(b))
		return err
	}))
	return list
}

var errKilled = errors.New("killed")

// complete returns what a node finds that opens the records and the master key of
// a place.
func complete(t *testing.T, p movestore.Place) error {
	t.Helper()
	e, err := postgres.Open(t.Context(), p.Store, postgres.Options{})
	must(t, err)
	defer func() { _ = e.Close() }()
	db := store.New(e, 0, time.Now, rand.Reader)
	if err := db.CheckComplete(t.Context()); err != nil {
		return err
	}
	if noted, err := db.MasterKey(t.Context()); noted == "" || err != nil {
		t.Errorf("got the master key %q, %v want that of the source", noted, err)
	}
	_, _, err = seal.OpenShared(t.Context(), p.MasterKey, rand.Reader, db)
	return err
}

// moveBack copies into a folder again and compares all checksums with those of
// the first copy.
func moveBack(t *testing.T, from movestore.Place, first movestore.Result) {
	t.Helper()
	back := embedded(t)
	second, err := movestore.Run(t.Context(), move(from, back))
	must(t, err)
	if diff := cmp.Diff(first.Checks, second.Checks); diff != "" {
		t.Errorf("the copy of the copy differs:\n%s", diff)
	}
	rows := map[string]int64{}
	for _, c := range first.Checks {
		rows[c.Part+" "+c.Name] = c.Rows
	}
	for _, name := range []string{"records campaign", "records session", "records token", "records audit", "records api_key", "metrics base", "metrics geo", "metrics replaced", "metrics tag", "files assets", "files uploads", "secrets credentials"} {
		if rows[name] == 0 {
			t.Errorf("%s is empty, so that nothing was tested: %v", name, rows)
		}
	}
}

// TestDrillKilledAtEveryStep ends copies after each step and goes on with them, to
// PostgreSQL with metrics there or in ClickHouse, and back. With
// FANFARE_DRILL=full it ends them after every table, else after some.
func TestDrillKilledAtEveryStep(t *testing.T) {
	t.Parallel()
	for name, metrics := range map[string]func(testing.TB) string{"postgres": func(testing.TB) string { return "" }, "clickhouse": chtest.URL} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			from, to := installation(t), shared(t)
			if url := metrics(t); url != "" {
				to.Metrics = url
			}
			before := hashes(t, from.Data)
			c, done, kills := move(from, to), map[string]bool{}, 0
			c.Step = func(step string) error {
				table, isTable := strings.CutPrefix(step, "records ")
				if done[step] || isTable && os.Getenv("FANFARE_DRILL") != "full" && table != "campaign" && table != "setting" {
					return nil
				}
				done[step] = true
				kills++
				return errKilled
			}
			for {
				result, err := movestore.Run(t.Context(), c)
				if err == nil {
					if !result.Resumed {
						t.Error("the last run did not go on with a copy")
					}
					if err := complete(t, to); err != nil {
						t.Errorf("the copy is complete: got %v", err)
					}
					if diff := cmp.Diff(before, hashes(t, from.Data)); diff != "" {
						t.Errorf("the source was changed:\n%s", diff)
					}
					moveBack(t, to, result)
					break
				}
				if !errors.Is(err, errKilled) {
					t.Fatal(err)
				}
				if err := complete(t, to); !errors.Is(err, store.ErrUnfinished) {
					t.Errorf("after %d kills: got %v want %v", kills, err, store.ErrUnfinished)
				}
			}
			if kills < 8 {
				t.Errorf("ended %d times, fewer than there are steps: %v", kills, done)
			}
		})
	}
}

// TestDamagedCopy changes the destination before the comparison, which finds it.
func TestDamagedCopy(t *testing.T) {
	t.Parallel()
	for want, statements := range map[string][]string{
		"records campaign": {"SELECT set_config('fanfare.workspace', '*', false)", "UPDATE campaign SET name = name || 'x' WHERE id = (SELECT min(id) FROM campaign)"},
		"records session":  {"SELECT set_config('fanfare.workspace', '*', false)", "DELETE FROM session"},
		"metrics base":     {"SELECT set_config('fanfare.metrics_key', '1', false)", "UPDATE metrics_base SET clicks = coalesce(clicks, 0) + 1"},
		"files assets":     nil,
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			to, spoiled := shared(t), false
			c := move(installation(t), to)
			c.Step = func(step string) error {
				if step == "metrics claimed" {
					change(t, to.Store, statements)
				}
				if step == "file" && statements == nil && !spoiled {
					spoiled = true
					return spoil(to.Assets)
				}
				return nil
			}
			result, err := movestore.Run(t.Context(), c)
			if !errors.Is(err, movestore.ErrDiffers) || !strings.Contains(err.Error(), want) {
				t.Fatalf("got %v want %v in %s", err, movestore.ErrDiffers, want)
			}
			for _, check := range result.Checks {
				if check.Same() == (check.Part+" "+check.Name == want) {
					t.Errorf("%s: got %+v", want, check)
				}
			}
			if err := complete(t, to); !errors.Is(err, store.ErrUnfinished) {
				t.Errorf("got %v want %v", err, store.ErrUnfinished)
			}
		})
	}
}

// change runs statements on a database.
func change(t *testing.T, url string, statements []string) {
	t.Helper()
	db, err := pgx.Connect(t.Context(), url)
	must(t, err)
	defer func() { _ = db.Close(t.Context()) }()
	for _, text := range statements {
		_, err := db.Exec(t.Context(), text)
		must(t, err)
	}
}

// spoil changes the bytes of all files in a folder.
func spoil(dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		return os.WriteFile(path, []byte("spoiled"), 0o600)
	})
}

// TestRefused checks that only an empty destination or the same unfinished copy is
// used.
func TestRefused(t *testing.T) {
	t.Parallel()
	from := installation(t)
	refused := func(c movestore.Config, says string) {
		t.Helper()
		if _, err := movestore.Run(t.Context(), c); !fault.Is(err, fault.InvalidState) || !strings.Contains(err.Error(), says) {
			t.Errorf("got %v want %q", err, says)
		}
	}
	refused(move(from, from), "is the store that is copied")
	beside := shared(t)
	beside.Metrics, beside.Data = "", from.Data
	refused(move(from, beside), "in the file that is copied")

	// The copy of another installation, complete or not.
	to := embedded(t)
	c := move(from, to)
	c.Step = func(string) error { return errKilled }
	if _, err := movestore.Run(t.Context(), c); !errors.Is(err, errKilled) {
		t.Fatal(err)
	}
	refused(move(small(t), to), "unfinished copy of another installation")
	if _, err := movestore.Run(t.Context(), move(to, embedded(t))); !errors.Is(err, store.ErrUnfinished) {
		t.Errorf("the source is an unfinished copy: got %v want %v", err, store.ErrUnfinished)
	}
	_, err := movestore.Run(t.Context(), move(from, to))
	must(t, err)
	refused(move(small(t), to), "--to-data")
	refused(move(from, to), "not empty")

	// Metrics or files of another installation.
	metrics := embedded(t)
	must(t, os.WriteFile(filepath.Join(metrics.Data, "facts.duckdb"), nil, 0o600))
	refused(move(from, metrics), "has metrics in")
	files := embedded(t)
	files.Assets = small(t).Assets
	refused(move(from, files), "--to-assets")
	database := shared(t)
	_, err = movestore.Run(t.Context(), move(from, database))
	must(t, err)
	again := shared(t)
	again.Metrics = database.Store
	refused(move(from, again), "--to-metrics")

	// A master key that cannot open the secrets.
	key := embedded(t)
	_, _, err = seal.OpenOrCreate(key.MasterKey, rand.Reader)
	must(t, err)
	refused(move(from, key), "--to-master-key")

	// A database that a node uses.
	e, err := postgres.Open(t.Context(), database.Store, postgres.Options{})
	must(t, err)
	defer func() { _ = e.Close() }()
	if _, err := movestore.Run(t.Context(), move(database, embedded(t))); !errors.Is(err, store.ErrInUse) {
		t.Errorf("got %v want %v", err, store.ErrInUse)
	}
}

// TestLostFile checks that a picture that the source has lost is named.
func TestLostFile(t *testing.T) {
	t.Parallel()
	from := installation(t)
	must(t, spoil(from.Assets))
	if _, err := movestore.Run(t.Context(), move(from, embedded(t))); err == nil || !strings.Contains(err.Error(), "missing or damaged in the source") {
		t.Errorf("got %v", err)
	}
}
