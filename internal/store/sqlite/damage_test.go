package sqlite

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fanfare/internal/store"
)

const pageSize = 4096

// rotten makes a database of many pages and destroys one in ten of them, but
// not the first, which has the schema.
func rotten(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "records.db")
	e, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	err = e.Write(t.Context(), func(tx store.Tx) error {
		if err := tx.Script("CREATE TABLE item (id BIGINT PRIMARY KEY, doc TEXT NOT NULL)"); err != nil {
			return err
		}
		for i := range 4000 {
			if _, err := tx.Exec("INSERT INTO item (id, doc) VALUES ($1, $2)", i, strings.Repeat("d", 300)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if e.Traits().Unclean || e.Check(t.Context(), false) != nil {
		t.Errorf("a new database is unclean (%v) or damaged: %v", e.Traits().Unclean, e.Check(t.Context(), false))
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for at := 5 * pageSize; at < len(b); at += 10 * pageSize {
		copy(b[at:], strings.Repeat("\xa5", 100))
	}
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestDamage destroys pages and finds them in a read, in a check and in a
// write. From then on writes are refused, reads still work, and the next
// process checks the file before it uses it.
func TestDamage(t *testing.T) {
	t.Parallel()
	write := func(tx store.Tx) error {
		_, err := tx.Exec("UPDATE item SET doc = 'x' WHERE id >= $1", 0)
		return err
	}
	for name, meet := range map[string]func(e *Engine) error{
		"read": func(e *Engine) error {
			_, err := e.Query(t.Context(), "SELECT max(length(doc)) FROM item")
			return err
		},
		"check": func(e *Engine) error { return e.Check(t.Context(), false) },
		"write": func(e *Engine) error { return e.Write(t.Context(), write) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := rotten(t)
			e := open(t, path, Options{})
			if e.Traits().Unclean {
				t.Error("the database was closed and is unclean")
			}
			if err := meet(e); !errors.Is(err, store.ErrDamaged) {
				t.Fatalf("got %v want %v", err, store.ErrDamaged)
			}
			err := e.Write(t.Context(), func(tx store.Tx) error {
				_, err := tx.Exec("INSERT INTO item (id, doc) VALUES ($1, 'new')", 1_000_000)
				return err
			})
			if !errors.Is(err, store.ErrDamaged) {
				t.Errorf("a write after the damage was found: got %v want %v", err, store.ErrDamaged)
			}
			if _, err := e.Query(t.Context(), "SELECT count(*) FROM sqlite_schema"); err != nil {
				t.Errorf("a read beside the damage: %v", err)
			}
			if err := e.Close(); err != nil {
				t.Error(err)
			}
			again := open(t, path, Options{})
			if !again.Traits().Unclean {
				t.Error("the next process does not know that the file is damaged")
			}
			if err := again.Check(t.Context(), false); !errors.Is(err, store.ErrDamaged) {
				t.Errorf("the check of the next process: got %v want %v", err, store.ErrDamaged)
			}
		})
	}
}

// TestMended sees that a file that was put in order can be written again.
func TestMended(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "records.db")
	if err := os.WriteFile(path+"-damaged", []byte("once"), 0o600); err != nil {
		t.Fatal(err)
	}
	e := open(t, path, Options{})
	if !e.Traits().Unclean {
		t.Error("the mark was not seen")
	}
	if err := e.Check(t.Context(), false); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(path + "-damaged"); err == nil {
		t.Error("the mark is still there")
	}
}

// BenchmarkCheck measures how long a check takes per megabyte.
func BenchmarkCheck(b *testing.B) {
	e := benchEngine(b, Options{}, benchRecords)
	rows, err := e.Query(b.Context(), "PRAGMA page_count")
	if err != nil {
		b.Fatal(err)
	}
	rows.Next()
	size := rows.Int() * pageSize
	for name, thorough := range map[string]bool{"quick": false, "thorough": true} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(size)
			for b.Loop() {
				if err := e.Check(b.Context(), thorough); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestDisplaced removes, replaces and puts back the files of an open database.
// Meanwhile writes and snapshots are refused, reads still work, and no
// acknowledged change is lost.
func TestDisplaced(t *testing.T) {
	t.Parallel()
	for _, suffix := range []string{"", "-wal"} {
		t.Run("fanfare.db"+suffix, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "fanfare.db")
			e := open(t, path, Options{})
			insert := func(id int) error {
				return e.Write(t.Context(), func(tx store.Tx) error {
					_, err := tx.Exec("INSERT INTO item (id) VALUES ($1)", id)
					return err
				})
			}
			if err := e.Write(t.Context(), func(tx store.Tx) error { return tx.Script("CREATE TABLE item (id BIGINT PRIMARY KEY)") }); err != nil {
				t.Fatal(err)
			}
			if err := insert(1); err != nil {
				t.Fatal(err)
			}
			file := path + suffix
			refused := func(when string) {
				t.Helper()
				if err := insert(2); !errors.Is(err, store.ErrDisplaced) || !strings.Contains(err.Error(), file+": put the same file back") {
					t.Errorf("write, %s: got %v want %v", when, err, store.ErrDisplaced)
				}
				if err := e.Snapshot(t.Context(), func(store.Tx) error { return nil }); !errors.Is(err, store.ErrDisplaced) {
					t.Errorf("snapshot, %s: got %v want %v", when, err, store.ErrDisplaced)
				}
				if err := e.Check(t.Context(), true); !errors.Is(err, store.ErrDisplaced) {
					t.Errorf("check, %s: got %v want %v", when, err, store.ErrDisplaced)
				}
				if rows, err := e.Query(t.Context(), "SELECT id FROM item"); err != nil || !rows.Next() || rows.Int() != 1 || rows.Next() {
					t.Errorf("read, %s: %v", when, err)
				}
			}
			if err := os.Rename(file, file+".away"); err != nil {
				t.Fatal(err)
			}
			refused("removed")
			b, err := os.ReadFile(file + ".away")
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, b, 0o600); err != nil {
				t.Fatal(err)
			}
			refused("replaced by a copy")
			if err := os.Rename(file+".away", file); err != nil {
				t.Fatal(err)
			}
			if err := insert(3); err != nil {
				t.Errorf("with the file in its place: %v", err)
			}
			if err := e.Check(t.Context(), true); err != nil {
				t.Errorf("with the file in its place: %v", err)
			}
			if err := e.Close(); err != nil {
				t.Fatal(err)
			}
			rows, err := open(t, path, Options{}).Query(t.Context(), "SELECT count(*), max(id) FROM item")
			if err != nil || !rows.Next() || rows.Int() != 2 || rows.Int() != 3 {
				t.Errorf("the next process reads other rows: %v", err)
			}
		})
	}
}

// TestLogRemoved removes the log of an open database. A clean close still
// writes all changes to the file.
func TestLogRemoved(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "fanfare.db")
	e := open(t, path, Options{})
	if err := e.Write(t.Context(), func(tx store.Tx) error { return tx.Script("CREATE TABLE item (id BIGINT PRIMARY KEY)") }); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path + "-wal"); err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := open(t, path, Options{}).Query(t.Context(), "SELECT id FROM item"); err != nil {
		t.Error(err)
	}
}
