package clickhouse_test

import (
	"testing"
	"time"

	"fanfare/internal/metrics"
	"fanfare/internal/metrics/clickhouse"
	"fanfare/internal/metrics/clickhouse/chtest"
	"fanfare/internal/metrics/metricstest"
	"fanfare/internal/store/pgtest"
)

func TestMain(m *testing.M) {
	chtest.Serve()
	pgtest.Main(m, chtest.Stop)
}

func open(t testing.TB) metrics.Engine {
	t.Helper()
	e, err := clickhouse.Open(t.Context(), chtest.URL(t), clickhouse.Options{Postgres: pgtest.URL(t), Now: time.Now, NewID: "fct_test"})
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return e
}

// TestEngine holds ClickHouse to everything that every engine must do.
func TestEngine(t *testing.T) {
	t.Parallel()
	metricstest.Run(t, open)
}
