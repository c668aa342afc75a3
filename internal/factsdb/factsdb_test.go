package factsdb_test

import (
	"log/slog"
	"testing"
	"time"

	"fanfare/internal/metrics"
	"fanfare/internal/metrics/duckdb"
	"fanfare/internal/metrics/metricstest"
	"fanfare/internal/metrics/postgres"
	"fanfare/internal/store/pgtest"
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
