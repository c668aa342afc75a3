package postgres

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/jackc/pgx/v5"

	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/metrics/dump"
	"fanfare/internal/metrics/pgtables"
	"fanfare/internal/pgdriver"
)

// Dump writes one snapshot of all facts.
func (e *Engine) Dump(ctx context.Context, w io.Writer) error {
	out, err := dump.NewWriter(w)
	if err != nil {
		return fmt.Errorf("dump facts: %w", err)
	}
	err = pgx.BeginTxFunc(ctx, e.DB, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		workspaces, err := pgtables.ListWorkspaces(ctx, tx)
		if err != nil {
			return err
		}
		tables := dump.Tables()
		for i := range tables {
			if err := pgtables.DumpTable(ctx, tx, out, &tables[i], workspaces); err != nil {
				return fmt.Errorf("table %s: %w", tables[i].Name, err)
			}
		}
		return out.Close()
	})
	if err != nil {
		return fmt.Errorf("dump facts: %w", pgtables.ToFault(ctx, err))
	}
	return nil
}

// Fill reads a dump into an empty engine.
func (e *Engine) Fill(ctx context.Context, r io.Reader) error {
	err := pgdriver.Transact(ctx, e.DB, func(tx pgx.Tx) error {
		if err := pgtables.Fill(ctx, tx, r, func(t *dump.Table, rows [][]any) error {
			if err := e.createPartitionsOfDump(ctx, t, rows); err != nil {
				return err
			}
			return pgtables.Copy(ctx, tx, tableOf(t.Name), t.Columns, pgx.CopyFromRows(rows))
		}); err != nil {
			return err
		}
		return derive(ctx, tx)
	})
	if err != nil {
		return fmt.Errorf("fill facts: %w", pgtables.ToFault(ctx, err))
	}
	return nil
}

// createPartitionsOfDump creates the partitions that rows of a dump need.
func (e *Engine) createPartitionsOfDump(ctx context.Context, t *dump.Table, rows [][]any) error {
	if !slices.Contains(fact.Families, t.Name) {
		return nil
	}
	day, months := slices.Index(t.Columns, "day"), map[clock.Date]bool{}
	for _, row := range rows {
		n, _ := row[day].(int64)
		d := clock.Date(n)
		if err := pgtables.CheckDay(d); err != nil {
			return err
		}
		months[d.FirstOfMonth()] = true
	}
	if err := e.createPartitions(ctx, tableOf(t.Name), sortedMonths(months)); err != nil {
		return err
	}
	return e.createPartitions(ctx, dayTable, sortedMonths(months))
}

// derive calculates the sums and counts of facts.
func derive(ctx context.Context, tx pgx.Tx) error {
	workspaces, err := pgtables.ListWorkspaces(ctx, tx)
	if err != nil {
		return err
	}
	for _, w := range workspaces {
		if err := pgtables.SetWorkspace(ctx, tx, w); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, insertDays+" "+groupDays); err != nil {
			return fmt.Errorf("sum facts: %w", err)
		}
		for n, family := range fact.Families {
			if _, err := tx.Exec(ctx, `INSERT INTO metrics_part (workspace, family, source, month, n, first, last) SELECT workspace, $1, source, month, sum(n), min(day), max(day)
				FROM (SELECT workspace, source, day, (date_trunc('month', date '1970-01-01' + day)::date - date '1970-01-01') AS month, count(*) AS n FROM `+tableOf(family)+` GROUP BY 1, 2, 3) d
				GROUP BY workspace, source, month`, int16(n)); err != nil {
				return fmt.Errorf("count facts: %w", err)
			}
		}
	}
	return nil
}
