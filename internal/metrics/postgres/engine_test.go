package postgres_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"fanfare/internal/analytics"
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
	e.SumSmallMonths()
	return &summingEngine{Engine: e}
}

// summingEngine sums months before every other query, so that half of the queries
// read sums of months and half of them facts.
type summingEngine struct {
	*postgres.Engine
	queries atomic.Int64
}

func (e *summingEngine) Query(ctx context.Context, p *analytics.Plan) ([]analytics.Group, error) {
	if e.queries.Add(1)%2 == 0 {
		// A query that is canceled must say so itself.
		if err := e.SumMonths(context.WithoutCancel(ctx)); err != nil {
			return nil, err
		}
	}
	return e.Engine.Query(ctx, p)
}

// TestEngine holds PostgreSQL to everything that every engine must do.
func TestEngine(t *testing.T) {
	t.Parallel()
	metricstest.Run(t, open)
}
