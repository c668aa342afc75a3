package postgres_test

import (
	"testing"
	"time"

	"fanfare/internal/metrics"
	"fanfare/internal/metrics/metricstest"
	"fanfare/internal/metrics/postgres"
	"fanfare/internal/store/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

func open(t testing.TB) metrics.Engine {
	t.Helper()
	e, err := postgres.Open(t.Context(), pgtest.URL(t), postgres.Options{Now: time.Now, NewID: "fct_test"})
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return e
}

// TestEngine holds PostgreSQL to everything that every engine must do.
func TestEngine(t *testing.T) {
	t.Parallel()
	metricstest.Run(t, open)
}
