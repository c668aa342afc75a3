package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"fanfare/internal/store"
	"fanfare/internal/store/storetest"
)

func open(t testing.TB, path string, opt Options) *Engine {
	t.Helper()
	e, err := Open(path, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return e
}

func TestEngine(t *testing.T) {
	t.Parallel()
	storetest.Engine(t, func(t *testing.T) store.Engine {
		return open(t, filepath.Join(t.TempDir(), "records.db"), Options{})
	})
}

func TestEngineSingleCommits(t *testing.T) {
	t.Parallel()
	storetest.Engine(t, func(t *testing.T) store.Engine {
		return open(t, filepath.Join(t.TempDir(), "records.db"), Options{MaxBatch: 1, Readers: 1, MapBytes: -1})
	})
}

func TestFileModesAndLog(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "records.db")
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	e, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	err = e.Write(t.Context(), func(tx store.Tx) error { return tx.Script(testSchema) })
	if err == nil {
		err = e.Write(t.Context(), addItem(7))
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{path, path + "-wal", path + "-shm"} {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v", name, info.Mode())
		}
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path + "-wal"); !os.IsNotExist(err) {
		t.Errorf("the log is still there: %v", err)
	}
	e = open(t, path, Options{})
	if n := countItems(t, e, "SELECT count(*) FROM item WHERE id = $1", 7); n != 1 {
		t.Errorf("got %d items after reopening want 1", n)
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "records.db")
	if err := os.WriteFile(path, []byte(strings.Repeat("no database ", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{path, filepath.Join(path, "below", "a", "file")} {
		if e, err := Open(bad, Options{}); err == nil {
			t.Errorf("%s opened", bad)
			_ = e.Close()
		}
	}
}

func TestManyStatements(t *testing.T) {
	t.Parallel()
	e := openItems(t, Options{Readers: 1})
	for range 2 {
		for i := range 2 * maxStatements {
			if got := countItems(t, e, fmt.Sprintf("SELECT %d + $1", i), 1); got != int64(i)+1 {
				t.Fatalf("got %d want %d", got, i+1)
			}
		}
	}
	if n := len(e.readers.idle[0].stmts); n > maxStatements {
		t.Errorf("%d statements are kept, want at most %d", n, maxStatements)
	}
}

// TestReadersAfterSchemaChange reads with statements prepared before a change.
func TestReadersAfterSchemaChange(t *testing.T) {
	t.Parallel()
	e := openItems(t, Options{Readers: 1})
	if err := e.Write(t.Context(), addItem(1)); err != nil {
		t.Fatal(err)
	}
	for want := 2; want < 5; want++ {
		r, err := e.Query(t.Context(), "SELECT * FROM item")
		if err != nil {
			t.Fatal(err)
		}
		if r.Columns() != want || !r.Next() {
			t.Fatalf("got %d columns want %d", r.Columns(), want)
		}
		err = e.Write(t.Context(), func(tx store.Tx) error {
			return tx.Script(fmt.Sprintf("ALTER TABLE item ADD COLUMN more%d TEXT", want))
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestLogStaysShort writes many times the log's length while others read. Idle
// and busy readers keep transactions open; the log must be reused all the same.
func TestLogStaysShort(t *testing.T) {
	t.Parallel()
	e := openItems(t, Options{})
	ctx, cancel := context.WithCancel(t.Context())
	var group sync.WaitGroup
	for range 3 {
		group.Go(func() {
			for ctx.Err() == nil {
				if _, err := e.Query(context.Background(), "SELECT count(*) FROM item WHERE id < $1", 100); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for i := range 400 {
		// SQLite does not write pages that stay the same.
		doc := strings.Repeat(fmt.Sprintf("%08d", i), 50_000)
		err := e.Write(t.Context(), func(tx store.Tx) error {
			_, err := tx.Exec("INSERT INTO item (id, doc) VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET doc = excluded.doc", 1, doc)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	cancel()
	group.Wait()
	info, err := os.Stat(e.path + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	// 160 MB were written; the log is 17 MB when it is never held up.
	if info.Size() > 70<<20 {
		t.Errorf("the log has grown to %d MB", info.Size()>>20)
	}
}

// TestReadersLine has more readers than connections, some of which give up.
func TestReadersLine(t *testing.T) {
	t.Parallel()
	e := openItems(t, Options{Readers: 2})
	var group sync.WaitGroup
	for i := range 32 {
		group.Go(func() {
			for n := range 200 {
				ctx, cancel := context.WithCancel(t.Context())
				if (i+n)%3 == 0 {
					time.AfterFunc(time.Duration(n)*time.Microsecond, cancel)
				}
				_, err := e.Query(ctx, "SELECT count(*) FROM sqlite_schema WHERE name <> $1", fmt.Sprint(n))
				if err != nil && !errors.Is(err, context.Canceled) {
					t.Error(err)
				}
				cancel()
			}
		})
	}
	group.Wait()
	if r := &e.readers; len(r.idle) != 2 || r.lent != 0 || len(r.line) != 0 || r.waking {
		t.Errorf("after all: %d idle, %d lent, %d in line, waking %v", len(r.idle), r.lent, len(r.line), r.waking)
	}
	long, cancel := context.WithCancel(t.Context())
	for range 2 {
		group.Go(func() {
			_, err := e.Query(long, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n")
			if !errors.Is(err, context.Canceled) {
				t.Errorf("got %v want %v", err, context.Canceled)
			}
		})
	}
	for busy := false; !busy; runtime.Gosched() {
		e.readers.mu.Lock()
		busy = len(e.readers.idle) == 0
		e.readers.mu.Unlock()
	}
	short, stop := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer stop()
	if _, err := e.Query(short, "SELECT 1"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v want %v", err, context.DeadlineExceeded)
	}
	cancel()
	group.Wait()
}
