package duckdb_test

import (
	"bytes"
	"database/sql"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"fanfare/internal/metrics/duckdb"
)

// TestIdentity checks that a file keeps its id and that its generation grows with
// its facts, also after reopening, and that a dump has neither.
func TestIdentity(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if duckdb.Exists(dir) {
		t.Error("an empty folder has facts")
	}
	now := start
	e, err := duckdb.Open(t.Context(), dir, options(&now))
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
	want := duckdb.Identity{ID: "one", Generation: 3, Writer: "one"}
	if got := e.Identity(); got != want {
		t.Errorf("got %+v want %+v", got, want)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	e = openFiles(t, dir)
	if got := e.Identity(); got != want {
		t.Errorf("opened again: got %+v want %+v", got, want)
	}
	var dump bytes.Buffer
	if err := e.Dump(t.Context(), &dump); err != nil {
		t.Fatal(err)
	}
	filled := openFiles(t, t.TempDir())
	if err := filled.Fill(t.Context(), &dump); err != nil {
		t.Fatal(err)
	}
	if got := filled.Identity(); got != (duckdb.Identity{Generation: 3}) {
		t.Errorf("filled from a dump: %+v", got)
	}
}

// TestLogOfAnother checks that a file is not opened with the log of a later state
// of it.
func TestLogOfAnother(t *testing.T) {
	t.Parallel()
	dir, now := t.TempDir(), start
	e := openFiles(t, dir)
	copyOf := func(name string) []byte {
		t.Helper()
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	write := func(n int) {
		t.Helper()
		if err := e.Write(t.Context(), batchOf(n)); err != nil {
			t.Fatal(err)
		}
	}
	write(1)
	if err := e.Adopt(t.Context(), "one"); err != nil {
		t.Fatal(err)
	}
	older := copyOf("facts.duckdb")
	write(2)
	if err := e.Maintain(t.Context()); err != nil {
		t.Fatal(err)
	}
	write(3)
	mixed := t.TempDir()
	for name, b := range map[string][]byte{"facts.duckdb": older, "facts.duckdb.wal": copyOf("facts.duckdb.wal")} {
		if err := os.WriteFile(filepath.Join(mixed, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if other, err := duckdb.Open(t.Context(), mixed, options(&now)); err == nil {
		t.Errorf("an older file opened with a newer log as %+v", other.Identity())
		_ = other.Close()
	}
}

// TestLogOfCopiedFile opens a file with the log of a copy that has had as many
// checkpoints, which DuckDB accepts. Its writer differs.
func TestLogOfCopiedFile(t *testing.T) {
	t.Parallel()
	dir, now := t.TempDir(), start
	openAs := func(dir, id string) *duckdb.Engine {
		t.Helper()
		e, err := duckdb.Open(t.Context(), dir, options(&now))
		if err == nil {
			err = e.Adopt(t.Context(), id)
		}
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	if err := openAs(dir, "one").Close(); err != nil {
		t.Fatal(err)
	}
	copied := t.TempDir()
	if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	other := openAs(copied, "two")
	if err := other.Write(t.Context(), batchOf(1)); err != nil {
		t.Fatal(err)
	}
	log, err := os.ReadFile(filepath.Join(copied, "facts.duckdb.wal"))
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	if err := openAs(dir, "three").Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "facts.duckdb.wal"), log, 0o600); err != nil {
		t.Fatal(err)
	}
	want := duckdb.Identity{ID: "three", Generation: 1, Writer: "two"}
	if got := openFiles(t, dir).Identity(); got != want {
		t.Errorf("got %+v want %+v", got, want)
	}
}

// TestDisplaced removes, replaces and puts back the file of an open engine.
func TestDisplaced(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	e := openFiles(t, dir)
	path := filepath.Join(dir, "facts.duckdb")
	is := func(want error, what string) {
		t.Helper()
		if got := e.CheckFiles(); !errors.Is(got, want) {
			t.Errorf("%s: got %v want %v", what, got, want)
		}
	}
	is(nil, "the file that was opened")
	if err := os.Rename(path, path+".away"); err != nil {
		t.Fatal(err)
	}
	is(duckdb.ErrDisplaced, "removed")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	is(duckdb.ErrDisplaced, "replaced")
	if err := os.Rename(path+".away", path); err != nil {
		t.Fatal(err)
	}
	is(nil, "put back")
}

// TestRetire checks that a retired file never replaces an earlier one.
func TestRetire(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "facts.duckdb")
	for i, want := range []string{path + ".old", path + ".old.2", path + ".old.3"} {
		if err := os.WriteFile(path, []byte{byte(i)}, 0o600); err != nil {
			t.Fatal(err)
		}
		if kept, err := duckdb.Retire(dir); err != nil || kept != want {
			t.Errorf("kept %q, %v want %q", kept, err, want)
		}
	}
	for i, name := range []string{".old", ".old.2", ".old.3"} {
		if b, err := os.ReadFile(path + name); err != nil || !bytes.Equal(b, []byte{byte(i)}) {
			t.Errorf("%s has %v, %v", name, b, err)
		}
	}
	if kept, err := duckdb.Retire(dir); kept != "" || err != nil {
		t.Errorf("nothing to keep: %q, %v", kept, err)
	}
}

// TestDamaged changes bytes of the file's blocks. Such a file cannot be opened,
// or a query fails with an error that Damaged accepts.
func TestDamaged(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	now := start
	e, err := duckdb.Open(t.Context(), dir, options(&now))
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
		e, err := duckdb.Open(t.Context(), dir, options(&now))
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

// TestFullDiskIsNoDamage writes a dump to a full disk.
func TestFullDiskIsNoDamage(t *testing.T) {
	t.Parallel()
	db, err := sql.Open("duckdb", "")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	file := filepath.Join(t.TempDir(), "base.parquet")
	if err := os.Symlink("/dev/full", file); err != nil {
		t.Fatal(err)
	}
	_, err = db.ExecContext(t.Context(), "COPY (SELECT 1) TO '"+file+"' (FORMAT parquet)")
	if err == nil || duckdb.Damaged(err) {
		t.Errorf("got %v, damaged %v want an error that is no damage", err, duckdb.Damaged(err))
	}
}
