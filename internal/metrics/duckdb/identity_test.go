package duckdb_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	"fanfare/internal/metrics/duckdb"
)

// TestIdentity sees that a file keeps its id and that its generation grows with
// its facts, over closing and opening, and that a dump has neither the id.
func TestIdentity(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if duckdb.Exists(dir) {
		t.Error("an empty folder has facts")
	}
	now := start
	e, err := duckdb.Open(dir, options(&now))
	if err != nil {
		t.Fatal(err)
	}
	if got := e.Identity(); got != (duckdb.Identity{}) {
		t.Errorf("a new file is %+v", got)
	}
	if err := e.Adopt(t.Context(), "one"); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		if err := e.Write(t.Context(), batchOf(i+1)); err != nil {
			t.Fatal(err)
		}
	}
	want := duckdb.Identity{ID: "one", Generation: 3}
	if got := e.Identity(); got != want {
		t.Errorf("got %+v want %+v", got, want)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	e = open(t, dir)
	if got := e.Identity(); got != want {
		t.Errorf("opened again: got %+v want %+v", got, want)
	}
	var dump bytes.Buffer
	if err := e.Dump(t.Context(), &dump); err != nil {
		t.Fatal(err)
	}
	filled := open(t, t.TempDir())
	if err := filled.Fill(t.Context(), &dump); err != nil {
		t.Fatal(err)
	}
	if got := filled.Identity(); got != (duckdb.Identity{Generation: 3}) {
		t.Errorf("filled from a dump: %+v", got)
	}
}

// TestDamaged changes bytes of the file's blocks. Such a file cannot be opened,
// or an error says that it is damaged: no number comes of it.
func TestDamaged(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	now := start
	e, err := duckdb.Open(dir, options(&now))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 20 {
		if err := e.Write(t.Context(), batchOf(i+1)); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.Maintain(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "facts.duckdb")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const block, header = 256 << 10, 12 << 10
	found := 0
	for at := header; at < len(whole); at += block {
		b := bytes.Clone(whole)
		for i := range 16 {
			b[at+100+i] ^= 0x5a
		}
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		e, err := duckdb.Open(dir, options(&now))
		if err == nil {
			err = e.Dump(t.Context(), io.Discard)
			_ = e.Close()
		}
		if err == nil {
			continue // the block is not in use
		}
		found++
		if !duckdb.Damaged(err) {
			t.Errorf("block at %d: %v", at, err)
		}
	}
	if found == 0 {
		t.Error("no damage was found")
	}
	t.Logf("%d of %d blocks", found, (len(whole)-header)/block)
}
