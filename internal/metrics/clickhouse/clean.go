package clickhouse

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/metrics/pgtables"
	"fanfare/internal/pgdriver"
)

const (
	// keepReplacedFor is how long replaced facts stay at least. A query takes at
	// most maxTime.
	keepReplacedFor = 2 * time.Hour
	// maxDead limits the slots of one cleaning, because ClickHouse rewrites whole
	// parts.
	maxDead = 50_000
	// maxRemoved is the number of slots in one statement. A cluster stores the
	// statement in ClickHouse Keeper, which accepts 1 MB.
	maxRemoved = 20_000
)

// Clean deletes facts that no longer count: of slots that were replaced more than
// two hours ago, and of writes that failed. One node cleans at a time, and none
// during a dump.
func (e *Engine) Clean(ctx context.Context) error {
	err := pgdriver.Transact(ctx, e.DB, func(tx pgx.Tx) error {
		var locked bool
		if err := tx.QueryRow(ctx, "SELECT pg_try_advisory_xact_lock($1)", int64(cleanLock)).Scan(&locked); err != nil || !locked {
			return err
		}
		before := int64(clock.At(e.now().Add(-keepReplacedFor)))
		if err := e.deleteFailed(ctx, tx, before); err != nil {
			return fmt.Errorf("delete facts of failed writes: %w", err)
		}
		if err := e.deleteBelow(ctx, tx, before); err != nil {
			return fmt.Errorf("delete facts that were replaced together: %w", err)
		}
		if err := e.deleteDead(ctx, tx, before); err != nil {
			return fmt.Errorf("delete replaced facts: %w", err)
		}
		return nil
	})
	return pgtables.ToFault(ctx, err)
}

// deleteDead deletes the facts of dead slots and the list of these slots. If the
// transaction fails in between, the next cleaning deletes them once more.
func (e *Engine) deleteDead(ctx context.Context, tx pgx.Tx, before int64) error {
	workspaces, err := pgtables.ListWorkspaces(ctx, tx)
	if err != nil {
		return err
	}
	slots, of, n := make([][]int64, len(fact.Families)), make([][]int32, len(fact.Families)), 0
	for _, w := range workspaces {
		if err := pgtables.SetWorkspace(ctx, tx, w); err != nil {
			return err
		}
		if err := pgtables.EachPair(ctx, tx, func(f int16, slot int64) error {
			slots[f], n = append(slots[f], slot), n+1
			if i := len(of[f]); i == 0 || of[f][i-1] != w {
				of[f] = append(of[f], w)
			}
			return nil
		}, "DELETE FROM metrics_dead WHERE workspace = $1 AND died < $2 RETURNING family, slot", w, before); err != nil {
			return err
		}
		if n >= maxDead {
			break
		}
	}
	for f := range slots {
		for part := range slices.Chunk(slots[f], maxRemoved) {
			p := params{}
			if err := e.facts.remove(ctx, fact.Family(f), in(p, "workspace", of[f])+" AND "+in(p, "slot", part), p); err != nil {
				return err
			}
		}
	}
	return nil
}

// deleteFailed deletes the facts of writes that neither finished nor still run.
// The row of a running write is locked.
func (e *Engine) deleteFailed(ctx context.Context, tx pgx.Tx, before int64) error {
	rows, err := tx.Query(ctx, "DELETE FROM metrics_pending WHERE write IN (SELECT write FROM metrics_pending WHERE started < $1 FOR UPDATE SKIP LOCKED) RETURNING write", before)
	if err != nil {
		return err
	}
	failed, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil || len(failed) == 0 {
		return err
	}
	for f := range fact.Families {
		p := params{}
		if err := e.facts.remove(ctx, fact.Family(f), in(p, fmt.Sprintf("toInt64(bitShiftRight(slot, %d))", slotBits), failed), p); err != nil {
			return err
		}
	}
	return nil
}

// deleteBelow deletes the facts of all slots below a number.
func (e *Engine) deleteBelow(ctx context.Context, tx pgx.Tx, before int64) error {
	var below int64
	if err := tx.QueryRow(ctx, "WITH gone AS (DELETE FROM metrics_gone WHERE died < $1 RETURNING below) SELECT coalesce(max(below), 0) FROM gone", before).Scan(&below); err != nil || below == 0 {
		return err
	}
	for f := range fact.Families {
		p := params{}
		if err := e.facts.remove(ctx, fact.Family(f), "slot < "+number(p, below), p); err != nil {
			return err
		}
	}
	return nil
}

// remove deletes facts, if there are any, and waits until they are deleted.
func (c *client) remove(ctx context.Context, f fact.Family, where string, p params) error {
	if n, err := c.count(ctx, f, where, p); err != nil || n == 0 {
		return err
	}
	return c.mutate(ctx, removeText(c.address, f, where), p)
}

func removeText(a address, f fact.Family, where string) string {
	on := ""
	if a.cluster != "" {
		on = " ON CLUSTER " + a.cluster
	}
	return "ALTER TABLE " + storedTable(a, tableOf(f)) + on + " DELETE WHERE " + where
}
