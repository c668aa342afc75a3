package postgres

import (
	"context"

	"github.com/jackc/pgx/v5/pgxpool"
)

// DropEmptyPartitions is dropEmptyPartitions.
func (e *Engine) DropEmptyPartitions(ctx context.Context) error {
	return e.dropEmptyPartitions(ctx, e.DB.(*pgxpool.Pool))
}

// SumSmallMonths makes months with few facts worth sums.
func (e *Engine) SumSmallMonths() { e.minMonthFacts = 1 }
