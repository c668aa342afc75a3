package duckdb_test

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"fanfare/internal/ident"
	"fanfare/internal/metrics/duckdb"
)

// TestFillFromFile fills an engine from a file that was retired with its log
// after a crash. Both stay as they are. A file that is not accepted fills
// nothing.
func TestDumpFile(t *testing.T) {
	t.Parallel()
	dir, away := t.TempDir(), t.TempDir()
	e := fed(t, dir, 1)
	if err := e.Maintain(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := e.Write(t.Context(), batchOf(4)); err != nil {
		t.Fatal(err)
	}
	kept := map[string][]byte{}
	for name, as := range map[string]string{"facts.duckdb": "facts.duckdb.old.2", "facts.duckdb.wal": "facts.duckdb.wal.old.2"} {
		b := readFile(t, filepath.Join(dir, name))
		kept[filepath.Join(away, as)] = b
		if err := os.WriteFile(filepath.Join(away, as), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	closed(t, e)
	next := openFiles(t, t.TempDir())
	fill := func(accept func([]ident.ID) error) error {
		return duckdb.DumpFile(t.Context(), filepath.Join(away, "facts.duckdb.old.2"), t.TempDir(), duckdb.Options{Now: time.Now, Log: slog.New(slog.DiscardHandler)}, accept, func(r io.Reader) error { return next.Fill(t.Context(), r) })
	}
	refused := errors.New("refused")
	if err := fill(func([]ident.ID) error { return refused }); !errors.Is(err, refused) || clicks(t, next) != 0 {
		t.Errorf("got %v and %d clicks want a refusal and none", err, clicks(t, next))
	}
	err := fill(func(list []ident.ID) error {
		if !slices.Equal(list, []ident.ID{"wks_1"}) {
			t.Errorf("got workspaces %v", list)
		}
		return nil
	})
	if n := clicks(t, next); err != nil || n != 40 {
		t.Errorf("got %v and %d clicks want 40, which the log has", err, n)
	}
	for path, b := range kept {
		if !bytes.Equal(readFile(t, path), b) {
			t.Errorf("%s was changed", path)
		}
	}
}
