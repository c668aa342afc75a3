package sqlite

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"fanfare/internal/store"
)

// insert returns a transaction that adds a row.
func insert(id int) func(store.Tx) error {
	return func(tx store.Tx) error {
		_, err := tx.Exec("INSERT INTO item (id) VALUES ($1)", id)
		return err
	}
}

// table opens a database that has rows, of which the last one is only in the
// log if the caller closes nothing.
func table(t *testing.T, path string, rows int) *Engine {
	t.Helper()
	e, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Write(t.Context(), func(tx store.Tx) error { return tx.Script("CREATE TABLE item (id BIGINT PRIMARY KEY)") }); err != nil {
		t.Fatal(err)
	}
	for id := range rows {
		if err := e.Write(t.Context(), insert(id)); err != nil {
			t.Fatal(err)
		}
	}
	return e
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// overwrite writes to a file in place, as cp does.
func overwrite(t *testing.T, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// reopened closes a database and opens it again.
func reopened(t *testing.T, e *Engine) *Engine {
	t.Helper()
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := Open(e.path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return again
}

// TestOverwritten overwrites the files of an open database. From then on every
// read and write is refused, the engine writes nothing to the files, and the
// database is not opened with a log that belongs to another file.
func TestOverwritten(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, suffix string
		// make prepares an open database and returns what its file is
		// overwritten with.
		make func(t *testing.T, path string) (*Engine, []byte)
		// opens says that the next start can open what is left.
		opens bool
	}{
		{"another database", "", func(t *testing.T, path string) (*Engine, []byte) {
			other := filepath.Join(t.TempDir(), "other.db")
			if err := table(t, other, 3).Close(); err != nil {
				t.Fatal(err)
			}
			return table(t, path, 3), read(t, other)
		}, false},
		{"older state of the same size", "", func(t *testing.T, path string) (*Engine, []byte) {
			e := reopened(t, table(t, path, 3))
			older := read(t, path)
			if err := e.Write(t.Context(), insert(50)); err != nil {
				t.Fatal(err)
			}
			e = reopened(t, e)
			if now := read(t, path); len(now) != len(older) {
				t.Fatalf("the file has grown from %d to %d bytes", len(older), len(now))
			}
			if err := e.Write(t.Context(), insert(51)); err != nil {
				t.Fatal(err)
			}
			return e, older
		}, false},
		{"nothing", "", func(t *testing.T, path string) (*Engine, []byte) { return reopened(t, table(t, path, 3)), nil }, true},
		{"log of another database", "-wal", func(t *testing.T, path string) (*Engine, []byte) {
			other := reopened(t, table(t, filepath.Join(t.TempDir(), "other.db"), 3))
			if err := other.Write(t.Context(), insert(7)); err != nil {
				t.Fatal(err)
			}
			log := read(t, other.path+"-wal")
			if err := other.Close(); err != nil {
				t.Fatal(err)
			}
			return reopened(t, table(t, path, 3)), log
		}, false},
		{"older log", "-wal", func(t *testing.T, path string) (*Engine, []byte) {
			e := table(t, path, 3)
			older := read(t, path+"-wal")
			if err := e.Write(t.Context(), insert(50)); err != nil {
				t.Fatal(err)
			}
			return e, older
		}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "fanfare.db")
			e, with := tt.make(t, path)
			file := path + tt.suffix
			// The time of a file is that of the last tick of the clock.
			if err := errors.Join(os.Chtimes(file, time.Unix(1e9, 0), time.Unix(1e9, 0)), e.intact()); err != nil {
				t.Fatal(err)
			}
			overwrite(t, file, with)
			for range 2 {
				if _, err := e.Query(t.Context(), "SELECT count(*) FROM item"); !errors.Is(err, store.ErrOverwritten) || !strings.Contains(err.Error(), file+": stop the server") {
					t.Errorf("read: got %v want %v", err, store.ErrOverwritten)
				}
				for name, err := range map[string]error{
					"write":    e.Write(t.Context(), insert(100)),
					"snapshot": e.Snapshot(t.Context(), func(store.Tx) error { return nil }),
					"check":    e.Check(t.Context(), true),
				} {
					if !errors.Is(err, store.ErrOverwritten) {
						t.Errorf("%s: got %v want %v", name, err, store.ErrOverwritten)
					}
				}
			}
			if err := e.Close(); !errors.Is(err, store.ErrOverwritten) {
				t.Errorf("close: %v", err)
			}
			if !bytes.Equal(read(t, file), with) {
				t.Error("something was written to the file")
			}
			again, err := Open(path, Options{})
			if err == nil {
				err = again.Close()
			}
			if opens := !errors.Is(err, store.ErrOverwritten); opens != tt.opens || opens && err != nil {
				t.Errorf("opened again: %v", err)
			}
		})
	}
}

// TestOverwrittenMeanwhile writes over the log in the middle of a transaction,
// and over the database file in the middle of a long read.
func TestOverwrittenMeanwhile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "fanfare.db")
	e := table(t, path, 3)
	older := read(t, path+"-wal")
	if err := e.Write(t.Context(), insert(50)); err != nil {
		t.Fatal(err)
	}
	err := e.Write(t.Context(), func(tx store.Tx) error {
		overwrite(t, path+"-wal", older)
		return insert(51)(tx)
	})
	if !errors.Is(err, store.ErrOverwritten) {
		t.Errorf("a transaction: %v", err)
	}
	if err := e.Close(); !errors.Is(err, store.ErrOverwritten) {
		t.Errorf("close: %v", err)
	}
	path = filepath.Join(t.TempDir(), "fanfare.db")
	e = table(t, path, 3)
	err = e.Snapshot(t.Context(), func(store.Tx) error {
		overwrite(t, path, append(read(t, path), make([]byte, 4096)...))
		return nil
	})
	if !errors.Is(err, store.ErrOverwritten) {
		t.Errorf("a snapshot: %v", err)
	}
	if err := e.Close(); !errors.Is(err, store.ErrOverwritten) {
		t.Errorf("close: %v", err)
	}
}

// TestTouched gives the files other times, also earlier ones, and writes the
// same bytes again. That is no fault.
func TestTouched(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "fanfare.db")
	e := reopened(t, table(t, path, 3))
	for i, at := range []time.Time{time.Unix(0, 0), time.Unix(4e9, 0), time.Unix(1e9, 0)} {
		for _, file := range []string{path, path + "-wal"} {
			if err := os.Chtimes(file, at, at); err != nil {
				t.Fatal(err)
			}
			overwrite(t, file, read(t, file))
			if _, err := e.Query(t.Context(), "SELECT count(*) FROM item"); err != nil {
				t.Errorf("read: %v", err)
			}
		}
		if err := e.Write(t.Context(), insert(100+i)); err != nil {
			t.Errorf("write: %v", err)
		}
	}
	if err := e.Check(t.Context(), true); err != nil {
		t.Error(err)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

// TestOwnWrites runs everything that writes to the files concurrently: small
// and large transactions, failing ones, ones that do not fit into the cache,
// and checkpoints with and without readers. The engine never takes its own
// writes for those of another program.
func TestOwnWrites(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "fanfare.db")
	e := table(t, path, 0)
	if err := e.Write(t.Context(), func(tx store.Tx) error { return tx.Script("CREATE TABLE large (id BIGINT, doc TEXT)") }); err != nil {
		t.Fatal(err)
	}
	errFailed := errors.New("the transaction fails")
	large := strings.Repeat("x", 1<<20)
	var group sync.WaitGroup
	for n := range 4 {
		group.Go(func() {
			for i := range 150 {
				err := e.Write(t.Context(), func(tx store.Tx) error {
					if err := insert(1000*n + i)(tx); err != nil {
						return err
					}
					// Above the cache of the writer, and above the length of the
					// log that starts a checkpoint.
					for range 40 * (i % 50 / 49) {
						if _, err := tx.Exec("INSERT INTO large (id, doc) VALUES ($1, $2)", i, large); err != nil {
							return err
						}
					}
					if i%7 == 0 {
						return errFailed
					}
					return nil
				})
				if err != nil && !errors.Is(err, errFailed) {
					t.Errorf("write: %v", err)
				}
				if _, err := e.Query(t.Context(), "SELECT count(*) FROM item WHERE id <> $1", i); err != nil {
					t.Errorf("read: %v", err)
				}
				if i%50 == 0 {
					if err := e.Check(t.Context(), false); err != nil {
						t.Errorf("check: %v", err)
					}
				}
			}
		})
	}
	group.Wait()
	e = reopened(t, e)
	rows, err := e.Query(t.Context(), "SELECT count(*) FROM item")
	if err != nil || !rows.Next() {
		t.Fatal(err)
	}
	if got, want := rows.Int(), int64(4*(150-22)); got != want {
		t.Errorf("%d rows, want %d", got, want)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

// TestLogAfterCrash opens copies of the files from a life with checkpoints, as a
// crash leaves them. The log always belongs to the file.
func TestLogAfterCrash(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "fanfare.db")
	e := table(t, path, 3)
	if err := e.Write(t.Context(), func(tx store.Tx) error { return tx.Script("CREATE TABLE large (doc TEXT)") }); err != nil {
		t.Fatal(err)
	}
	ids := map[int32]bool{}
	for i := range 4 {
		if i%2 == 1 { // above the length of the log that starts a checkpoint
			err := e.Write(t.Context(), func(tx store.Tx) error {
				_, err := tx.Exec("INSERT INTO large (doc) VALUES ($1)", strings.Repeat("x", (checkpointFrames+1)*4096))
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		for n := range 3 {
			// When a transaction has ended, so has the checkpoint before it.
			if err := e.Write(t.Context(), func(store.Tx) error { return nil }); err != nil {
				t.Fatal(err)
			}
			ids[e.main.checkpointID()] = true
			copied := filepath.Join(t.TempDir(), "fanfare.db")
			overwrite(t, copied, read(t, path))
			overwrite(t, copied+"-wal", read(t, path+"-wal"))
			again, err := Open(copied, Options{})
			if err != nil {
				t.Fatalf("after step %d.%d: %v", i, n, err)
			}
			if err := again.Close(); err != nil {
				t.Error(err)
			}
			if err := e.Write(t.Context(), insert(10*i+n+100)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if len(ids) != 3 {
		t.Errorf("the file had %d ids, want one for each of 2 checkpoints and none before", len(ids))
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

// BenchmarkFiles measures what every commit and every read pays.
func BenchmarkFiles(b *testing.B) {
	e := benchEngine(b, Options{}, 1)
	for name, check := range map[string]func() error{"displaced": e.displaced, "intact": e.intact, "note": func() error {
		e.log.written.Store(nil)
		return e.writer.noteLog()
	}} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if err := check(); err != nil {
					b.Fatal(fmt.Errorf("%s: %w", name, err))
				}
			}
		})
	}
}

// TestOpenError checks that an error names the file, and the fix if the file is
// damaged.
func TestOpenError(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "records.db")
	if err := os.WriteFile(path, bytes.Repeat([]byte("no database "), 1000), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path, Options{}); !errors.Is(err, store.ErrDamaged) || !strings.HasPrefix(err.Error(), "open SQLite at "+path+": ") || !strings.HasSuffix(err.Error(), "move the files "+path+"* away and restore the last good backup with `fanfare backup restore`") {
		t.Errorf("damaged file: got %v", err)
	}
	folder := t.TempDir()
	if _, err := Open(folder, Options{}); err == nil || !strings.HasPrefix(err.Error(), "open SQLite at "+folder+": ") || strings.Contains(err.Error(), "backup") {
		t.Errorf("folder: got %v", err)
	}
}
