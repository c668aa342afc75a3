package pgtest

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

func TestMain(m *testing.M) { Main(m) }

func TestURL(t *testing.T) {
	t.Parallel()
	for range 3 {
		t.Run("database", func(t *testing.T) {
			t.Parallel()
			if err := run(t.Context(), URL(t), "CREATE TABLE mine (id BIGINT)"); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestRestart keeps the data and the address over a kill.
func TestRestart(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", tempPrefix)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	s, err := Start(dir, true)
	if err != nil {
		t.Fatal(err)
	}
	address := s.URL("")
	if err := run(t.Context(), address, "CREATE TABLE kept AS SELECT 1 AS n"); err != nil {
		t.Fatal(err)
	}
	if err := s.Kill(); err != nil {
		t.Fatal(err)
	}
	if s, err = Start(dir, true); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Stop() }()
	if s.URL("") != address {
		t.Errorf("got address %s want %s", s.URL(""), address)
	}
	if err := run(t.Context(), address, "SELECT n FROM kept"); err != nil {
		t.Error(err)
	}
}

func TestSweep(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	old, used := filepath.Join(root, tempPrefix+"old"), filepath.Join(root, tempPrefix+"used")
	for _, dir := range []string{old, used} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	unlock, err := occupy(used)
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	long := time.Now().Add(-time.Hour)
	for _, dir := range []string{old, used} {
		if err := os.WriteFile(filepath.Join(dir, "log"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(dir, long, long); err != nil {
			t.Fatal(err)
		}
	}
	sweep(root)
	if _, err := os.Stat(old); !os.IsNotExist(err) {
		t.Errorf("the abandoned folder is still there: %v", err)
	}
	if _, err := os.Stat(used); err != nil {
		t.Errorf("the used folder is gone: %v", err)
	}
}

func BenchmarkDatabase(b *testing.B) {
	for b.Loop() {
		c, err := pgx.Connect(context.Background(), URL(b))
		if err != nil {
			b.Fatal(err)
		}
		_ = c.Close(context.Background())
	}
}
