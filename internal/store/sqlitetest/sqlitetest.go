// Package sqlitetest opens SQLite databases for tests in memory, where a commit
// waits for no disk: opening and migrating one takes milliseconds.
package sqlitetest

import (
	"os"
	"path/filepath"
	"testing"

	"fanfare/internal/store"
	"fanfare/internal/store/sqlite"
	"fanfare/internal/store/testdir"
)

// Dir returns a folder that is removed when the test ends, in memory if possible.
func Dir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp(testdir.Root(), "fanfare-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// Open opens an empty database. It is the same SQLite as on a disk, with its log,
// snapshots and readers, which SQLite's own databases in memory do not have.
func Open(t testing.TB) store.Engine {
	t.Helper()
	e, err := sqlite.Open(filepath.Join(Dir(t), "fanfare.db"), sqlite.Options{})
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
