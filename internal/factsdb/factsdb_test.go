package factsdb_test

import (
	"crypto/rand"
	"log/slog"
	"strings"
	"testing"
	"time"

	"fanfare/internal/factsdb"
	"fanfare/internal/metrics"
	"fanfare/internal/metrics/duckdb"
	"fanfare/internal/metrics/metricstest"
	"fanfare/internal/metrics/postgres"
	"fanfare/internal/store"
	"fanfare/internal/store/pgtest"
	"fanfare/internal/store/sqlitetest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// TestMove moves facts between engines, in both directions.
func TestMove(t *testing.T) {
	t.Parallel()
	engines := map[string]func(t *testing.T) metrics.Engine{
		"duckdb": func(t *testing.T) metrics.Engine {
			t.Helper()
			e, err := duckdb.Open(t.Context(), t.TempDir(), duckdb.Options{Now: time.Now, Log: slog.New(slog.DiscardHandler)})
			if err != nil {
				t.Fatal(err)
			}
			return e
		},
		"postgres": func(t *testing.T) metrics.Engine {
			t.Helper()
			e, err := postgres.Open(t.Context(), pgtest.URL(t), postgres.Options{Now: time.Now, NewID: "fct_test"})
			if err != nil {
				t.Fatal(err)
			}
			return e
		},
	}
	for from, to := range map[string]string{"duckdb": "postgres", "postgres": "duckdb"} {
		t.Run(from+" to "+to, func(t *testing.T) {
			t.Parallel()
			a, b := engines[from](t), engines[to](t)
			metricstest.Move(t, a, b)
			for _, e := range []metrics.Engine{a, b} {
				if err := e.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// TestInterruptedRestore wants doctor to say of an interrupted restore what a
// start says.
func TestInterruptedRestore(t *testing.T) {
	t.Parallel()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	e := sqlitetest.Open(t)
	_, err := store.Migrate(t.Context(), e, time.Now)
	must(err)
	c := factsdb.Config{
		URL: pgtest.URL(t), DB: store.New(e, 0, time.Now, rand.Reader), Dir: t.TempDir(), Replacing: true,
		Now: time.Now, Random: rand.Reader, Log: slog.New(slog.DiscardHandler),
	}
	must(factsdb.Examine(t.Context(), c))
	d, err := factsdb.Open(t.Context(), c)
	must(err)
	must(d.Restore(t.Context(), nil))
	must(d.Close())
	found := factsdb.Examine(t.Context(), c)
	c.Replacing = false
	_, refused := factsdb.Open(t.Context(), c)
	if found == nil || refused == nil || found.Error() != refused.Error() || !strings.Contains(found.Error(), "a restore was interrupted: run `fanfare backup restore` again") {
		t.Errorf("got %v of Examine and %v of Open", found, refused)
	}
}
