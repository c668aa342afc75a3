package backup_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"fanfare/internal/backup"
	"fanfare/internal/campaign"
	"fanfare/internal/clock"
	"fanfare/internal/creative"
	"fanfare/internal/fault"
	"fanfare/internal/record"
	"fanfare/internal/signin"
	"fanfare/internal/store"
	"fanfare/internal/store/pgtest"
	"fanfare/internal/store/postgres"
	"fanfare/internal/store/sqlitetest"
	"fanfare/internal/store/storetest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// engines open an empty database each.
var engines = map[string]func(t *testing.T) store.Engine{
	"sqlite": func(t *testing.T) store.Engine { return sqlitetest.Open(t) },
	"postgres": func(t *testing.T) store.Engine {
		e, err := postgres.Open(t.Context(), pgtest.URL(t), postgres.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = e.Close() })
		return e
	},
}

// empty opens an engine and migrates its schema.
func empty(t *testing.T, name string) store.Engine {
	t.Helper()
	e := engines[name](t)
	if _, err := store.Migrate(t.Context(), e, time.Now); err != nil {
		t.Fatal(err)
	}
	return e
}

func quiet(int64, int64) {}

var manifest = backup.Manifest{CreatedAt: 1_794_713_133_567_000, Build: "test"}

// witness records the checksums of all tables in the same snapshot as the
// backup.
type witness struct {
	store.Engine
	seen map[string]storetest.Sum
}

func (w *witness) Snapshot(ctx context.Context, fn func(store.Tx) error) error {
	return w.Engine.Snapshot(store.Across(ctx), func(tx store.Tx) (err error) {
		if w.seen, err = storetest.Sums(tx, w.Traits().Name); err != nil {
			return err
		}
		return fn(tx)
	})
}

// lived returns a store with rows in every table.
func lived(t *testing.T, name string) *storetest.Fixture {
	t.Helper()
	w := storetest.NewFixture(t, engines[name](t))
	for _, s := range w.Steps() {
		if err := s.Run(t.Context()); err != nil {
			t.Fatalf("%s: %v", s.Name, err)
		}
	}
	w.AddWorkspace("Ünïcode+☃@example.com")
	odd := w.Draft("nul-free \u0001 oddities \U0010FFFF \u2028 '; DROP TABLE campaign; --")
	odd.Tags = []string{"", " ", "é", "e\u0301"}
	w.Insert(odd)
	model := creative.Setup{Workspace: w.Workspace, Kind: "openai", Sealed: "sealed"}
	if err := w.DB.Providers().Put(t.Context(), model, w.Cause(), w.Now()); err != nil {
		t.Fatal(err)
	}
	password := signin.Credential{Kind: "password", ID: string(w.Owner), Doc: []byte("hash"), Sealed: "sealed"}
	if err := w.DB.SignIn().Save(t.Context(), signin.UserChange{User: w.Owner, At: w.Now(), Put: []signin.Credential{password}}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.DB.Jobs().Claim(t.Context(), w.Now(), w.Now().Add(time.Minute), 1); err != nil {
		t.Fatal(err)
	}
	// Backups omit sessions, links and locks.
	for table, s := range storetest.State(t, w.Raw) {
		if s.Rows == 0 && !slices.Contains([]string{"job", "session", "token", "worker_lock", "call_budget"}, table) {
			t.Errorf("table %s is empty, so that its backup is not tested", table)
		}
	}
	return w
}

// TestWhileWriting backs up a store while 16 writers run, and restores the
// backup into both engines.
func TestWhileWriting(t *testing.T) {
	t.Parallel()
	for name := range engines {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := lived(t, name)
			ctx, stop := context.WithCancel(t.Context())
			var group sync.WaitGroup
			var written atomic.Int64
			for i := range 16 {
				group.Go(func() {
					for n := 0; ctx.Err() == nil; n++ {
						c := w.Draft(fmt.Sprintf("writer %d record %d", i, n))
						c.Tags = []string{fmt.Sprint(n)}
						w.Insert(c)
						if _, err := w.Campaigns.Transition(t.Context(), w.Cause(), c.ID, record.Match{}, campaign.Launch); err != nil {
							t.Error(err)
						}
						if n%8 == 0 {
							w.Keep(fmt.Sprintf("writer %d picture %d", i, n))
						}
						written.Add(1)
					}
				})
			}
			for written.Load() < 100 {
				if _, err := w.DB.Campaigns().Doc(t.Context(), w.Workspace, "cmp_none"); !fault.Is(err, fault.NotFound) {
					t.Fatal(err)
				}
			}
			path := filepath.Join(t.TempDir(), "backup")
			seen := &witness{Engine: w.Raw}
			made, err := backup.Create(t.Context(), backup.Parts{Store: seen, Files: w.Files}, path, manifest, quiet)
			if err != nil {
				t.Fatal(err)
			}
			for enough := written.Load() + 50; written.Load() < enough; {
				if _, err := w.DB.Campaigns().Doc(t.Context(), w.Workspace, "cmp_none"); !fault.Is(err, fault.NotFound) {
					t.Fatal(err)
				}
			}
			stop()
			group.Wait()
			checked, err := backup.Verify(path, quiet)
			if err != nil || !maps.Equal(made.Rows, checked.Rows) || checked.CreatedAt != manifest.CreatedAt || checked.Build != "test" || checked.Bytes != made.Bytes || checked.Assets != made.Assets || made.Assets != made.Rows["asset"] {
				t.Errorf("made %+v, checked %+v, %v", made, checked, err)
			}
			for table, s := range seen.seen {
				if made.Rows[table] != int64(s.Rows) {
					t.Errorf("table %s: %d rows in the backup, %d in the store", table, made.Rows[table], s.Rows)
				}
			}
			for to := range engines {
				restored, files := empty(t, to), folder(t)
				if _, err := backup.Restore(t.Context(), backup.Parts{Store: restored, Files: files}, path, quiet); err != nil {
					t.Fatalf("restore into %s: %v", to, err)
				}
				if got := storetest.State(t, restored); !maps.Equal(got, seen.seen) {
					t.Errorf("restored into %s, the tables are not what they were: got %v want %v", to, got, seen.seen)
				}
				works(t, w, restored)
				sameFiles(t, w, restored, files)
			}
			t.Logf("%d rows, %d bytes, %d records written meanwhile", total(made), made.Bytes, written.Load())
		})
	}
}

func total(s backup.Summary) (n int64) {
	for _, rows := range s.Rows {
		n += rows
	}
	return n
}

// works checks that the audit log of a restored store is valid and that the
// store accepts changes.
func works(t *testing.T, w *storetest.Fixture, e store.Engine) {
	t.Helper()
	db := store.New(e, 64, w.Clock.Now, zeros{})
	report, err := db.VerifyAudit(t.Context(), func(int64) {})
	if err != nil || len(report.Faults) > 0 || report.Entries == 0 {
		t.Errorf("the restored audit log: %+v, %v", report, err)
	}
	c := w.Draft("After the restore")
	if _, err := db.Campaigns().Save(t.Context(), c, w.Save("campaign.created")); err != nil {
		t.Errorf("a restored store cannot be written to: %v", err)
	}
	if report, err = db.VerifyAudit(t.Context(), func(int64) {}); err != nil || len(report.Faults) > 0 {
		t.Errorf("the audit log after that: %+v, %v", report, err)
	}
}

// zeros is enough randomness for one record.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// small creates a backup for tests of the file itself.
func small(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "backup")
	w := lived(t, "sqlite")
	if _, err := backup.Create(t.Context(), backup.Parts{Store: w.Raw, Files: w.Files}, path, manifest, quiet); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestDrillDamage changes a backup byte by byte, truncates it and extends it.
func TestDrillDamage(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "backup")
	w := storetest.NewFixture(t, engines["sqlite"](t))
	w.Insert(w.Draft("Small"))
	if _, err := backup.Create(t.Context(), backup.Parts{Store: w.Raw, Files: w.Files}, path, manifest, quiet); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	refused, tried := 0, 0
	try := func(what string, b []byte) {
		t.Helper()
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		tried++
		if _, err := backup.Verify(path, quiet); errors.Is(err, backup.ErrDamaged) || err != nil && strings.Contains(err.Error(), "format") {
			refused++
		} else {
			t.Errorf("seed %d: %s: got %v", seed, what, err)
		}
	}
	for range 1000 {
		i, b := r.IntN(len(whole)), append([]byte(nil), whole...)
		b[i] ^= byte(1 + r.IntN(255))
		try(fmt.Sprintf("byte %d is %#x", i, b[i]), b)
	}
	for range 50 {
		n := r.IntN(len(whole))
		try(fmt.Sprintf("cut to %d bytes", n), whole[:n])
		i := r.IntN(len(whole) - 1)
		j := i + 1 + r.IntN(len(whole)-i-1)
		try(fmt.Sprintf("bytes %d to %d are missing", i, j), append(append([]byte(nil), whole[:i]...), whole[j:]...))
		try("something was added", append(append([]byte(nil), whole...), make([]byte, 1+r.IntN(100))...))
	}
	try("nothing is left", nil)
	e := empty(t, "sqlite")
	if _, err := backup.Restore(t.Context(), backup.Parts{Store: e, Files: folder(t)}, path, quiet); !errors.Is(err, backup.ErrDamaged) {
		t.Errorf("restoring a damaged backup: %v", err)
	}
	nothing(t, e)
	if err := os.WriteFile(path, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := backup.Verify(path, quiet); err != nil {
		t.Errorf("the whole backup: %v", err)
	}
	t.Logf("seed %d: %d of %d damages of a file of %d bytes refused", seed, refused, tried, len(whole))
}

// nothing checks that all tables are empty.
func nothing(t *testing.T, e store.Engine) {
	t.Helper()
	for table, s := range storetest.State(t, e) {
		if s.Rows != 0 {
			t.Errorf("table %s has %d rows", table, s.Rows)
		}
	}
}

// TestRestoreFails makes a restore fail at many places. Nothing may remain, and
// the next restore must work.
func TestRestoreFails(t *testing.T) {
	t.Parallel()
	path := small(t)
	for name := range engines {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			broken := errors.New("the statement failed")
			e := &storetest.Wrapped{Engine: empty(t, name)}
			n := 0
			for at := 1; ; at += 1 + at/3 {
				n = 0
				e.Statement = func(string, bool) error {
					if n++; n == at {
						return broken
					}
					return nil
				}
				_, err := backup.Restore(t.Context(), backup.Parts{Store: e, Files: folder(t)}, path, quiet)
				if err == nil {
					break
				}
				if !errors.Is(err, broken) {
					t.Fatalf("failing at statement %d: %v", at, err)
				}
				nothing(t, e.Engine)
			}
			if n < 50 {
				t.Errorf("the restore had only %d statements", n)
			}
			full := storetest.State(t, e.Engine)
			e.Statement = nil
			if _, err := backup.Restore(t.Context(), backup.Parts{Store: e, Files: folder(t)}, path, quiet); !errors.Is(err, store.ErrNotEmpty) {
				t.Errorf("into a store that is not empty: %v", err)
			}
			if after := storetest.State(t, e.Engine); !maps.Equal(full, after) {
				t.Error("a refused restore has changed the store")
			}
		})
	}
}

// TestRestoreTwice uses an engine that runs the transaction twice, as engines
// may. The result must be complete.
func TestRestoreTwice(t *testing.T) {
	t.Parallel()
	w := lived(t, "sqlite")
	path := filepath.Join(t.TempDir(), "backup")
	if _, err := backup.Create(t.Context(), backup.Parts{Store: w.Raw, Files: w.Files}, path, manifest, quiet); err != nil {
		t.Fatal(err)
	}
	for name := range engines {
		e := &storetest.Wrapped{Engine: empty(t, name), Twice: true}
		if _, err := backup.Restore(t.Context(), backup.Parts{Store: e, Files: folder(t)}, path, quiet); err != nil {
			t.Fatal(err)
		}
		if got, want := storetest.State(t, e.Engine), storetest.State(t, w.Raw); !maps.Equal(got, want) {
			t.Errorf("%s: got %v want %v", name, got, want)
		}
	}
}

// TestRestoreCancelled cancels a restore halfway.
func TestRestoreCancelled(t *testing.T) {
	t.Parallel()
	path := small(t)
	for name := range engines {
		ctx, cancel := context.WithCancel(t.Context())
		n := 0
		e := &storetest.Wrapped{Engine: empty(t, name), Statement: func(string, bool) error {
			if n++; n == 40 {
				cancel()
			}
			return nil
		}}
		if _, err := backup.Restore(ctx, backup.Parts{Store: e, Files: folder(t)}, path, quiet); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: got %v want %v", name, err, context.Canceled)
		}
		nothing(t, e.Engine)
		cancel()
	}
}

// TestCreateFails checks that a failed backup leaves no file and never changes
// an existing one.
func TestCreateFails(t *testing.T) {
	t.Parallel()
	w := lived(t, "sqlite")
	dir := t.TempDir()
	path := filepath.Join(dir, "backup")
	broken := errors.New("the statement failed")
	for at := 1; ; at += 7 {
		n := 0
		e := &storetest.Wrapped{Engine: w.Raw, Statement: func(string, bool) error {
			if n++; n == at {
				return broken
			}
			return nil
		}}
		if _, err := backup.Create(t.Context(), backup.Parts{Store: e, Files: w.Files}, path, manifest, quiet); err == nil {
			break
		} else if !errors.Is(err, broken) {
			t.Fatal(err)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Fatalf("failing at statement %d left %v, %v", at, left, err)
		}
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := backup.Create(t.Context(), backup.Parts{Store: w.Raw, Files: w.Files}, path, manifest, quiet); !fault.Is(err, fault.AlreadyExists) {
		t.Errorf("over another backup: %v", err)
	}
	if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
		t.Errorf("the other backup was touched: %v", err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file can be read by others: %v, %v", info.Mode(), err)
	}
	if _, err := backup.Create(t.Context(), backup.Parts{Store: w.Raw, Files: w.Files}, filepath.Join(dir, "no", "folder"), manifest, quiet); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("into a folder that is not there: %v", err)
	}
	if _, err := backup.Verify(filepath.Join(dir, "none"), quiet); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
}

// TestReport checks that progress rises and ends at the total.
func TestReport(t *testing.T) {
	t.Parallel()
	w := lived(t, "sqlite")
	path := filepath.Join(t.TempDir(), "backup")
	check := func(what string) (func(done, total int64), func(want int64)) {
		var last, whole int64
		return func(done, total int64) {
				if done < last || done > total || total <= 0 {
					t.Errorf("%s: %d of %d after %d", what, done, total, last)
				}
				last, whole = done, total
			}, func(want int64) {
				if last != want || whole < want {
					t.Errorf("%s ended at %d of %d want %d", what, last, whole, want)
				}
			}
	}
	report, end := check("create")
	made, err := backup.Create(t.Context(), backup.Parts{Store: w.Raw, Files: w.Files}, path, backup.Manifest{CreatedAt: clock.At(time.Now())}, report)
	if err != nil {
		t.Fatal(err)
	}
	end(total(made) + made.Assets)
	report, end = check("verify")
	if _, err := backup.Verify(path, report); err != nil {
		t.Fatal(err)
	}
	const tail = 32 + 16 // the hash and the mark at the end are not read through it
	end(made.Bytes - tail)
}
