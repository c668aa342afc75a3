package pgtables

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"fanfare/internal/metrics/dump"
)

// Table returns the name of a table of a dump in the database.
func Table(name string) string { return "metrics_" + name }

// ListWorkspaces returns the keys of all workspaces, and lets the transaction
// read their rows.
func ListWorkspaces(ctx context.Context, tx pgx.Tx) ([]int32, error) {
	if _, err := tx.Exec(ctx, "SELECT set_config('fanfare.metrics_id', '*', true)"); err != nil {
		return nil, err
	}
	rows, err := tx.Query(ctx, "SELECT key FROM metrics_workspace ORDER BY key")
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[int32])
}

// SetWorkspace limits a transaction to the facts of a workspace.
func SetWorkspace(ctx context.Context, tx pgx.Tx, workspace int32) error {
	_, err := tx.Exec(ctx, "SELECT set_config('fanfare.metrics_key', $1::int4::text, true)", workspace)
	return err
}

// DumpTable writes the rows of workspaces in a table.
func DumpTable(ctx context.Context, tx pgx.Tx, out *dump.Writer, t *dump.Table, workspaces []int32) error {
	if err := out.Table(t); err != nil {
		return err
	}
	if t.Name == dump.Workspaces {
		return dumpRows(ctx, tx, out, t)
	}
	for _, w := range workspaces {
		if err := SetWorkspace(ctx, tx, w); err != nil {
			return err
		}
		if err := dumpRows(ctx, tx, out, t); err != nil {
			return err
		}
	}
	return nil
}

// dumpRows writes the rows of a table that the transaction sees.
func dumpRows(ctx context.Context, tx pgx.Tx, out *dump.Writer, t *dump.Table) error {
	columns := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		if columns[i] = c; !t.Text(i) {
			columns[i] = c + "::int8"
		}
	}
	rows, err := tx.Query(ctx, "SELECT "+strings.Join(columns, ", ")+" FROM "+Table(t.Name)+order(t))
	if err != nil {
		return err
	}
	row, values, into := make([]dump.Value, len(t.Columns)), make([]*int64, len(t.Columns)), make([]any, len(t.Columns))
	for i := range t.Columns {
		if into[i] = &values[i]; t.Text(i) {
			into[i] = &row[i].Text
		}
	}
	_, err = pgx.ForEachRow(rows, into, func() error {
		for i, v := range values {
			if row[i].Null = v == nil; v != nil {
				row[i].Number = *v
			}
		}
		return out.Row(row)
	})
	return err
}

// order returns the order of a table's rows. The order of facts does not matter.
func order(t *dump.Table) string {
	if slices.Contains(t.Columns, "key") {
		return " ORDER BY key"
	}
	return ""
}

// fillRows is the number of rows that Fill inserts at once.
const fillRows = 10_000

// Fill reads a dump into empty tables. insert gets some rows of one workspace in
// a table, in their order: numbers as int64 or nil, texts as []byte.
func Fill(ctx context.Context, tx pgx.Tx, r io.Reader, insert func(t *dump.Table, rows [][]any) error) error {
	if _, err := tx.Exec(ctx, "LOCK TABLE metrics_workspace IN EXCLUSIVE MODE"); err != nil {
		return err
	}
	used, err := ListWorkspaces(ctx, tx)
	if err != nil {
		return err
	}
	if len(used) > 0 {
		return errors.New("there are facts already: fill only an empty database")
	}
	f := &filler{ctx: ctx, tx: tx, insert: insert, nextImport: map[int64]int64{}}
	if err := dump.Read(dump.WithContext(ctx, r), dump.Tables(), f.table, f.row); err != nil {
		return err
	}
	if err := f.flush(); err != nil {
		return err
	}
	_, err = tx.Exec(ctx, "SELECT setval(pg_get_serial_sequence('metrics_workspace', 'key'), (SELECT max(key) FROM metrics_workspace)) WHERE EXISTS (SELECT 1 FROM metrics_workspace)")
	if err != nil {
		return err
	}
	for workspace, next := range f.nextImport {
		if err := SetWorkspace(ctx, tx, int32(workspace)); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, nextNumbers, workspace, next); err != nil {
			return fmt.Errorf("number: %w", err)
		}
	}
	return nil
}

// nextNumbers sets the numbers that new sources, entities and imports get.
const nextNumbers = `UPDATE metrics_workspace SET
	next_source = 1 + coalesce((SELECT max(key) FROM metrics_source WHERE workspace = $1), 0), next_entity = 1 + coalesce((SELECT max(key) FROM metrics_entity WHERE workspace = $1), 0), next_import = $2
	WHERE key = $1`

// Copy inserts many rows. They go through a temporary table, because PostgreSQL
// does not copy into tables with row-level security.
func Copy(ctx context.Context, tx pgx.Tx, table string, columns []string, rows pgx.CopyFromSource) error {
	names, copied := strings.Join(columns, ", "), table+"_copied"
	if _, err := tx.Exec(ctx, "CREATE TEMP TABLE IF NOT EXISTS "+copied+" ON COMMIT DROP AS SELECT "+names+" FROM "+table+" WITH NO DATA"); err != nil {
		return err
	}
	if _, err := tx.CopyFrom(ctx, pgx.Identifier{copied}, columns, rows); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, "INSERT INTO "+table+" ("+names+") SELECT "+names+" FROM "+copied); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, "TRUNCATE "+copied)
	return err
}

// filler collects the rows of a dump, those of one workspace at a time.
type filler struct {
	ctx       context.Context //nolint:containedctx // it lives as long as the call of Fill
	tx        pgx.Tx
	insert    func(t *dump.Table, rows [][]any) error
	now       *dump.Table
	workspace int64
	rows      [][]any
	// nextImport has the numbers of new imports by workspace. Facts may name
	// deleted imports.
	nextImport map[int64]int64
}

func (f *filler) table(t *dump.Table) error {
	err := f.flush()
	f.now, f.workspace = t, 0
	return err
}

func (f *filler) row(row []dump.Value) error {
	if f.now.Name != dump.Workspaces && row[0].Number != f.workspace {
		if err := f.flush(); err != nil {
			return err
		}
		f.workspace = row[0].Number
		if err := SetWorkspace(f.ctx, f.tx, int32(f.workspace)); err != nil {
			return err
		}
	}
	f.countImports(row)
	out := make([]any, len(row))
	for i, v := range row {
		switch {
		case f.now.Text(i):
			out[i] = v.Text
		case !v.Null:
			out[i] = v.Number
		}
	}
	if f.rows = append(f.rows, out); len(f.rows) < fillRows {
		return nil
	}
	return f.flush()
}

// countImports records that the number of an import is used.
func (f *filler) countImports(row []dump.Value) {
	column := slices.Index(f.now.Columns, "import")
	switch f.now.Name {
	case dump.Workspaces:
		f.nextImport[row[0].Number] = 1
		return
	case dump.Imports:
		column = slices.Index(f.now.Columns, "key")
	}
	if column >= 0 {
		f.nextImport[f.workspace] = max(f.nextImport[f.workspace], row[column].Number+1)
	}
}

func (f *filler) flush() error {
	if len(f.rows) == 0 {
		return nil
	}
	err := f.insert(f.now, f.rows)
	f.rows = f.rows[:0]
	if err != nil {
		return fmt.Errorf("table %s: %w", f.now.Name, err)
	}
	return nil
}
