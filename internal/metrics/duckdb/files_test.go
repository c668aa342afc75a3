package duckdb_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/metrics/duckdb"
)

// fed opens the facts of a folder and writes batches.
func fed(t *testing.T, dir string, batches ...int) *duckdb.Engine {
	t.Helper()
	now := start
	o := options(&now)
	// On a busy machine, maintenance would write between two steps.
	o.NoMaintenance = true
	e, err := duckdb.Open(t.Context(), dir, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range batches {
		if err := e.Write(t.Context(), batchOf(i)); err != nil {
			t.Fatal(err)
		}
	}
	return e
}

func closed(t *testing.T, e *duckdb.Engine) {
	t.Helper()
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestOverwritten overwrites the files of an open engine, in place as cp does.
// The engine reports it and writes no more, and another engine can open the
// files.
func TestOverwritten(t *testing.T) {
	t.Parallel()
	const file, log = "facts.duckdb", "facts.duckdb.wal"
	for _, tt := range []struct {
		name, file string
		// make prepares an open engine and returns what its file is overwritten
		// with.
		make func(t *testing.T, dir string) (*duckdb.Engine, []byte)
	}{
		{"facts of another folder", file, func(t *testing.T, dir string) (*duckdb.Engine, []byte) {
			other := t.TempDir()
			closed(t, fed(t, other, 1, 2))
			return fed(t, dir, 1, 2), readFile(t, filepath.Join(other, file))
		}},
		{"older facts", file, func(t *testing.T, dir string) (*duckdb.Engine, []byte) {
			closed(t, fed(t, dir, 1))
			older := readFile(t, filepath.Join(dir, file))
			closed(t, fed(t, dir, 2))
			return fed(t, dir, 3), older
		}},
		{"nothing", file, func(t *testing.T, dir string) (*duckdb.Engine, []byte) { return fed(t, dir, 1), nil }},
		{"log of another folder", log, func(t *testing.T, dir string) (*duckdb.Engine, []byte) {
			// Equal writes of two files without an id can have equal logs.
			other := t.TempDir()
			e := fed(t, other, 2)
			b := readFile(t, filepath.Join(other, log))
			closed(t, e)
			return fed(t, dir, 1), b
		}},
		{"older log", log, func(t *testing.T, dir string) (*duckdb.Engine, []byte) {
			e := fed(t, dir, 1)
			older := readFile(t, filepath.Join(dir, log))
			if err := e.Write(t.Context(), batchOf(2)); err != nil {
				t.Fatal(err)
			}
			return e, older
		}},
		{"a log where there was none", log, func(t *testing.T, dir string) (*duckdb.Engine, []byte) {
			e := fed(t, dir, 1)
			older := readFile(t, filepath.Join(dir, log))
			closed(t, e)
			return fed(t, dir), older
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			e, with := tt.make(t, dir)
			path := filepath.Join(dir, tt.file)
			// The time of a file is that of the last tick of the clock.
			_ = os.Chtimes(path, time.Unix(1e9, 0), time.Unix(1e9, 0))
			if err := e.CheckFiles(); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, with, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := e.CheckFiles(); !errors.Is(err, duckdb.ErrOverwritten) {
				t.Errorf("check: %v", err)
			}
			if err := e.Write(t.Context(), batchOf(3)); !errors.Is(err, duckdb.ErrOverwritten) {
				t.Errorf("write: %v", err)
			}
			if err := e.Maintain(t.Context()); !errors.Is(err, duckdb.ErrOverwritten) {
				t.Errorf("maintain: %v", err)
			}
			closed(t, e)
			if !bytes.Equal(readFile(t, path), with) {
				t.Error("something was written to the file")
			}
			if _, err := duckdb.Retire(dir); err != nil {
				t.Fatal(err)
			}
			again := fed(t, dir, 4)
			if n := clicks(t, again); n != 40 {
				t.Errorf("new facts have %d clicks, want 40", n)
			}
			closed(t, again)
		})
	}
}

// TestUnfinishedLog opens facts whose log ends within a transaction, as after
// kill -9. DuckDB cuts that end off, which is not reported. What another program
// does to the log during the first write is.
func TestUnfinishedLog(t *testing.T) {
	t.Parallel()
	const file, log = "facts.duckdb", "facts.duckdb.wal"
	dir := t.TempDir()
	e := fed(t, dir, 1)
	finished := len(readFile(t, filepath.Join(dir, log)))
	if err := e.Write(t.Context(), batchOf(2)); err != nil {
		t.Fatal(err)
	}
	facts, whole := readFile(t, filepath.Join(dir, file)), readFile(t, filepath.Join(dir, log))
	closed(t, e)
	put := func(t *testing.T, dir, name string, b []byte) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, length := range []int{finished, finished + 1, (finished + len(whole)) / 2, len(whole) - 1} {
		t.Run(fmt.Sprintf("%d bytes of the second write", length-finished), func(t *testing.T) {
			t.Parallel()
			afterCrash := func() (*duckdb.Engine, string) {
				dir := t.TempDir()
				put(t, dir, file, facts)
				put(t, dir, log, whole[:length])
				return fed(t, dir), dir
			}
			e, _ := afterCrash()
			if n := clicks(t, e); n != 10 {
				t.Errorf("%d clicks, want 10", n)
			}
			if err := e.Write(t.Context(), batchOf(3)); err != nil {
				t.Error(err)
			}
			if err := e.CheckFiles(); err != nil {
				t.Errorf("after a write: %v", err)
			}
			if n := clicks(t, e); n != 30 {
				t.Errorf("%d clicks after a write, want 30", n)
			}
			closed(t, e)

			e, dir := afterCrash()
			if err := e.WhileWriting(t.Context(), func() {
				b := readFile(t, filepath.Join(dir, log))
				b[len(b)-1]++
				put(t, dir, log, b)
			}); err != nil {
				t.Error(err)
			}
			if err := e.CheckFiles(); !errors.Is(err, duckdb.ErrOverwritten) {
				t.Errorf("overwritten during a write: %v", err)
			}
			closed(t, e)
		})
	}
}

// TestFilesTouched changes the times of the files and writes the same bytes
// again. That is no error.
func TestFilesTouched(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	e := fed(t, dir, 1)
	for i, at := range []time.Time{time.Unix(0, 0), time.Unix(4e9, 0), time.Unix(1e9, 0)} {
		for _, name := range []string{"facts.duckdb", "facts.duckdb.wal"} {
			path := filepath.Join(dir, name)
			if err := os.Chtimes(path, at, at); err != nil {
				t.Fatal(err)
			}
			if err := e.CheckFiles(); err != nil {
				t.Errorf("%s with another time: %v", name, err)
			}
			if err := os.WriteFile(path, readFile(t, path), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := e.CheckFiles(); err != nil {
				t.Errorf("%s with the same bytes: %v", name, err)
			}
		}
		if err := e.Write(t.Context(), batchOf(i+2)); err != nil {
			t.Error(err)
		}
	}
	closed(t, e)
}

// TestOwnWrites runs all kinds of writes concurrently and checks the files
// meanwhile. None of them is reported.
func TestOwnWrites(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	e := fed(t, dir)
	done := make(chan struct{})
	var watching, group sync.WaitGroup
	watching.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
			}
			if err := e.CheckFiles(); err != nil {
				t.Error(err)
				return
			}
		}
	})
	for n := range 2 {
		group.Go(func() {
			for i := range 40 {
				if err := e.Write(t.Context(), batchOf(i+1)); err != nil {
					t.Error(err)
				}
				clicks(t, e)
				if i%10 == 9 && n == 0 {
					if err := e.Maintain(t.Context()); err != nil {
						t.Error(err)
					}
				}
				if i%10 == 5 && n == 1 {
					if err := e.Dump(t.Context(), io.Discard); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	group.Wait()
	// Large enough for rows to be written before the commit, and for a
	// checkpoint within it.
	for d := range clock.Date(3) {
		b := &fact.Batch{Workspace: "wks_1", Replace: []fact.Window{{Source: source, First: first + d, Last: first + d}}}
		for i := range 130_000 {
			b.Rows = append(b.Rows, benchRow(source, first+d, i))
		}
		if err := e.Write(t.Context(), b); err != nil {
			t.Error(err)
		}
	}
	close(done)
	watching.Wait()
	closed(t, e)
	closed(t, fed(t, dir, 1))
}

// BenchmarkFiles measures CheckFiles, which every query calls twice.
func BenchmarkFiles(b *testing.B) {
	e := openFiles(b, b.TempDir())
	if err := e.Write(b.Context(), batchOf(1)); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if err := e.CheckFiles(); err != nil {
			b.Fatal(err)
		}
	}
}
