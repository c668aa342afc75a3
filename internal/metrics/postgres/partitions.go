package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"fanfare/internal/clock"
	"fanfare/internal/metrics/pgtables"
	"fanfare/internal/pgdriver"
)

// vacuumedBytes is the size up to which a partition is vacuumed before it is
// looked at. Autovacuum does that for larger ones.
const vacuumedBytes = 64 << 20

const selectPartitions = `SELECT c.relname::text, pg_relation_size(c.oid) FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
WHERE i.inhparent = $1::regclass ORDER BY c.relname`

// dropEmptyPartitions drops the partitions of months before the last one that
// have no facts any more, after a purge or an undone import. A partition without
// pages has no rows of any workspace; row-level security would hide them from a
// count. A write that needs the partition meanwhile creates it again.
func (e *Engine) dropEmptyPartitions(ctx context.Context, pool *pgxpool.Pool) error {
	last := clock.DateIn(e.now(), time.UTC).FirstOfMonth() - 1
	for _, table := range partitioned() {
		found, err := listPartitions(ctx, pool, table)
		if err != nil {
			return err
		}
		for name, bytes := range found {
			if name >= partitionOf(table, last.FirstOfMonth()) || bytes > vacuumedBytes {
				continue
			}
			if bytes > 0 {
				if _, err := pool.Exec(ctx, "VACUUM (SKIP_LOCKED) "+pgx.Identifier{name}.Sanitize()); err != nil {
					return fmt.Errorf("vacuum %s: %w", name, err)
				}
			}
			if err := e.dropIfEmpty(ctx, pool, name); err != nil && !pgdriver.LockTimeout(err) {
				return fmt.Errorf("drop %s: %w", name, err)
			}
		}
	}
	return nil
}

func listPartitions(ctx context.Context, pool *pgxpool.Pool, table string) (map[string]int64, error) {
	rows, err := pool.Query(ctx, selectPartitions, table)
	if err != nil {
		return nil, fmt.Errorf("list partitions: %w", err)
	}
	found := map[string]int64{}
	var name string
	var bytes int64
	_, err = pgx.ForEachRow(rows, []any{&name, &bytes}, func() error {
		found[name] = bytes
		return nil
	})
	return found, err
}

// dropIfEmpty drops a partition that has no pages. It fails if it does not get the
// lock soon, because queries would wait behind it.
func (e *Engine) dropIfEmpty(ctx context.Context, pool *pgxpool.Pool, name string) error {
	size := func(tx pgx.Tx) (bytes int64, err error) {
		err = tx.QueryRow(ctx, "SELECT coalesce(pg_relation_size(to_regclass($1)), 1)", name).Scan(&bytes)
		return bytes, err
	}
	return pgdriver.Transact(ctx, pool, func(tx pgx.Tx) error {
		if bytes, err := size(tx); err != nil || bytes > 0 {
			return err
		}
		if err := pgtables.LockSchema(ctx, tx); err != nil {
			return err
		}
		table := pgx.Identifier{name}.Sanitize()
		for _, text := range []string{"SET LOCAL lock_timeout = '1s'", "LOCK TABLE " + table + " IN ACCESS EXCLUSIVE MODE"} {
			if _, err := tx.Exec(ctx, text); err != nil {
				return err
			}
		}
		if bytes, err := size(tx); err != nil || bytes > 0 {
			return err
		}
		if _, err := tx.Exec(ctx, "DROP TABLE "+table); err != nil {
			return err
		}
		e.partitions.Delete(name)
		return nil
	})
}
