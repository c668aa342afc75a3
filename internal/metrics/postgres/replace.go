package postgres

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"fanfare/internal/clock"
	"fanfare/internal/metrics/dump"
	"fanfare/internal/metrics/pgtables"
	"fanfare/internal/pgdriver"
)

// Replace replaces all facts with those that fill writes into an empty engine, in
// one transaction: if fill fails, nothing changes. Queries and writes of all
// nodes wait meanwhile. id is the id of the new facts. A window is replaced by
// Write.
func (e *Engine) Replace(ctx context.Context, id string, fill func(*Engine) error) error {
	err := pgdriver.Transact(ctx, e.DB, func(tx pgx.Tx) error {
		// Tables that an operator has dropped are created again.
		for _, text := range []string{pgtables.CreateFormat, "DELETE FROM metrics_format"} {
			if _, err := tx.Exec(ctx, text); err != nil {
				return err
			}
		}
		if err := createTables(ctx, tx, id); err != nil {
			return err
		}
		var tables []string
		for _, t := range dump.Tables() {
			tables = append(tables, tableOf(t.Name))
		}
		if _, err := tx.Exec(ctx, "TRUNCATE "+strings.Join(slices.Concat(tables, []string{dayTable, monthTable, "metrics_summed", "metrics_part"}), ", ")); err != nil {
			return err
		}
		next := &Engine{Database: pgtables.Database{DB: pgtables.Transaction{Tx: tx}}, close: func() {}, now: e.now, queries: e.queries, writes: e.writes, cache: pgtables.NewCache(), minMonthFacts: e.minMonthFacts}
		if err := fill(next); err != nil {
			return err
		}
		return pgtables.SetNewID(ctx, tx, id, clock.At(e.now()))
	})
	if err != nil {
		return fmt.Errorf("replace facts: %w", pgtables.ToFault(ctx, err))
	}
	e.partitions.Clear()
	return nil
}
