package postgres

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/metrics/numbers"
	"fanfare/internal/metrics/pgtables"
	"fanfare/internal/pgdriver"
)

// version is the version of the tables.
const version = 2

var factList = strings.Join(numbers.FactColumns, ", ")

// factsOf returns the columns of facts of an alias.
func factsOf(alias string) string {
	return alias + "." + strings.Join(numbers.FactColumns, ", "+alias+".")
}

// createTables creates missing tables. Beside the tables of pgtables there are
// those of facts, one for each family, and metrics_day: the sums of base facts by
// day, source, channel and campaign. These have a partition for each month.
// metrics_part has the number of facts of a source in a month, metrics_month sums
// of whole months. newID is the id of
// the facts if there are none yet.
func createTables(ctx context.Context, tx pgx.Tx, newID string) error {
	texts := append([]string{`CREATE TABLE IF NOT EXISTS metrics_part (workspace int4 NOT NULL, family int2 NOT NULL, source int4 NOT NULL, month int4 NOT NULL,
		n int8 NOT NULL, first int4 NOT NULL, last int4 NOT NULL, PRIMARY KEY (workspace, family, source, month))`}, pgtables.Isolate("metrics_part")...)
	for _, table := range partitioned() {
		definition := pgtables.FactDefinition()
		if table == dayTable {
			definition = sumsDefinition(dayColumns)
		}
		texts = append(texts, "CREATE TABLE IF NOT EXISTS "+table+" ("+definition+") PARTITION BY RANGE (day)",
			"CREATE INDEX IF NOT EXISTS "+table+"_day ON "+table+" (workspace, day, source)")
		texts = append(texts, pgtables.Isolate(table)...)
	}
	return pgtables.Create(ctx, tx, version, newID, append(texts, createMonths()...)...)
}

func tableOf(family string) string { return pgtables.Table(family) }

// partitioned returns the tables that have a partition for each month.
func partitioned() (list []string) {
	for _, f := range fact.Families {
		list = append(list, tableOf(f))
	}
	return append(list, dayTable)
}

// createPartitions creates missing partitions. They are created as tables and
// then attached: creating them in place would wait for all queries of the table,
// and block new ones.
func (e *Engine) createPartitions(ctx context.Context, table string, months []clock.Date) error {
	for _, month := range months {
		name := partitionOf(table, month)
		if _, known := e.partitions.Load(name); known {
			continue
		}
		if err := pgdriver.Transact(ctx, e.DB, func(tx pgx.Tx) error { return createPartition(ctx, tx, table, month) }); err != nil {
			return fmt.Errorf("create table %s: %w", name, err)
		}
		e.partitions.Store(name, true)
	}
	return nil
}

func partitionOf(table string, month clock.Date) string {
	return table + "_" + strings.ReplaceAll(month.String()[:7], "-", "_")
}

func createPartition(ctx context.Context, tx pgx.Tx, table string, month clock.Date) error {
	name := partitionOf(table, month)
	if err := pgtables.LockSchema(ctx, tx); err != nil {
		return err
	}
	var exists bool
	if err := tx.QueryRow(ctx, "SELECT to_regclass($1) IS NOT NULL", name).Scan(&exists); err != nil || exists {
		return err
	}
	texts := []string{
		"CREATE TABLE " + name + " (LIKE " + table + " INCLUDING INDEXES)",
		"ALTER TABLE " + name + " SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 10000)",
	}
	texts = append(texts, pgtables.Isolate(name)...)
	texts = append(texts, fmt.Sprintf("ALTER TABLE %s ATTACH PARTITION %s FOR VALUES FROM (%d) TO (%d)", table, name, month, month.NextMonth()))
	for _, text := range texts {
		if _, err := tx.Exec(ctx, text); err != nil {
			return err
		}
	}
	return nil
}
