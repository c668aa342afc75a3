package pgtest

import (
	"context"
	"os"
	"testing"

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

// TestReplica writes to a primary, kills it and promotes its replica. A client
// that knows both addresses finds everything that was acknowledged, and writes.
func TestReplica(t *testing.T) {
	t.Parallel()
	primary, err := Start("", true)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = primary.Stop() }()
	database, err := primary.CreateDatabase("kept")
	if err != nil {
		t.Fatal(err)
	}
	replica, err := primary.Replica()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = replica.Stop() }()
	either, err := primary.EitherURL(database, replica)
	if err != nil {
		t.Fatal(err)
	}
	if err := run(t.Context(), either, "CREATE TABLE kept AS SELECT 1 AS n"); err != nil {
		t.Fatal(err)
	}
	if err := primary.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := run(t.Context(), either, "SELECT n FROM kept"); err == nil {
		t.Error("a replica was accepted that does not accept writes")
	}
	if err := replica.Promote(); err != nil {
		t.Fatal(err)
	}
	if err := run(t.Context(), either, "INSERT INTO kept SELECT 2 / n FROM kept"); err != nil {
		t.Error(err)
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
