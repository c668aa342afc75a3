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
func Dir(tb testing.TB) string {
	tb.Helper()
	dir, err := os.MkdirTemp(testdir.Root(), "fanfare-test-")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// Open opens an empty database. It is the same SQLite as on a disk, with its log,
// snapshots and readers, which SQLite's own databases in memory do not have.
func Open(tb testing.TB) store.Engine {
	tb.Helper()
	e, err := sqlite.Open(filepath.Join(Dir(tb), "fanfare.db"), sqlite.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := e.Close(); err != nil {
			tb.Errorf("close: %v", err)
		}
	})
	return e
}
