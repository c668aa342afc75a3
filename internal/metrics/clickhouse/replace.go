package clickhouse

import (
	"context"
	"fmt"
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
	write, err := e.reserve(ctx)
	if err != nil {
		return fmt.Errorf("replace facts: %w", err)
	}
	err = pgdriver.Transact(ctx, e.DB, func(tx pgx.Tx) error {
		if err := truncate(ctx, tx, write, clock.At(e.now())); err != nil {
			return err
		}
		next := &Engine{pool: e.pool, Database: pgtables.Database{DB: pgtables.Transaction{Tx: tx}}, facts: e.facts, now: e.now, queries: e.queries, writes: e.writes, cache: pgtables.NewCache()}
		if err := fill(next); err != nil {
			return err
		}
		return pgtables.SetNewID(ctx, tx, id, clock.At(e.now()))
	})
	if err != nil {
		return fmt.Errorf("replace facts: %w", pgtables.ToFault(ctx, err))
	}
	return nil
}

// truncate empties the tables of PostgreSQL and records that no slot of an
// earlier write counts. A write that has its number and waits for the tables
// fails and must be repeated.
func truncate(ctx context.Context, tx pgx.Tx, write int64, now clock.Instant) error {
	tables := []string{"metrics_slot", "metrics_dead"}
	for _, t := range dump.Tables() {
		if _, isFacts := familyOf(&t); !isFacts {
			tables = append(tables, pgtables.Table(t.Name))
		}
	}
	if _, err := tx.Exec(ctx, "TRUNCATE "+strings.Join(tables, ", ")); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, "DELETE FROM metrics_pending WHERE write <= $1", write); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, "INSERT INTO metrics_gone (below, died) VALUES ($1, $2)", write<<slotBits, int64(now))
	return err
}
