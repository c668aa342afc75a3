package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/metrics/dump"
	"fanfare/internal/metrics/numbers"
)

// dumped are the tables of a dump, by their name in the database. Others are
// derived from them.
func dumped() []dump.Table {
	list := []dump.Table{
		{Name: "metrics_workspace", Columns: []string{"key", "id", "generation", "mirrored", "texts", "next_source", "next_entity", "next_import"}, Texts: []string{"id"}},
		{Name: "metrics_word", Columns: []string{"workspace", "code", "text"}, Texts: []string{"text"}},
		{Name: "metrics_source", Columns: []string{"workspace", "key", "connection", "platform", "account", "currency", "zone"}, Texts: []string{"connection", "platform", "account", "currency", "zone"}},
		{Name: "metrics_entity", Columns: []string{"workspace", "key", "connection", "kind", "external", "name", "record", "variant"}, Texts: []string{"connection", "external", "name", "record", "variant"}},
		{Name: "metrics_record", Columns: []string{"workspace", "id", "kind", "name", "status", "objective", "type"}, Texts: []string{"id", "kind", "name", "status", "objective", "type"}},
		{Name: "metrics_tag", Columns: []string{"workspace", "record", "tag"}, Texts: []string{"record", "tag"}},
		{Name: "metrics_import", Columns: []string{"workspace", "key", "id", "written"}, Texts: []string{"id"}},
		{Name: "metrics_cover", Columns: []string{"workspace", "import", "family", "source", "first", "last"}},
		{Name: "metrics_replaced", Columns: append(slices.Clone(numbers.FactColumns), "family", "above")},
	}
	for _, f := range fact.Families {
		list = append(list, dump.Table{Name: tableOf(f), Columns: numbers.FactColumns})
	}
	return list
}

// Dump writes one unchanging state of all facts.
func (e *Engine) Dump(ctx context.Context, w io.Writer) error {
	out, err := dump.NewWriter(w)
	if err != nil {
		return fmt.Errorf("dump facts: %w", err)
	}
	err = e.snapshot(ctx, func(tx pgx.Tx) error {
		tables := dumped()
		for i := range tables {
			if err := dumpTable(ctx, tx, out, &tables[i]); err != nil {
				return fmt.Errorf("table %s: %w", tables[i].Name, err)
			}
		}
		return out.Close()
	})
	if err != nil {
		return fmt.Errorf("dump facts: %w", err)
	}
	return nil
}

func dumpTable(ctx context.Context, tx pgx.Tx, out *dump.Writer, t *dump.Table) error {
	if err := out.Table(t); err != nil {
		return err
	}
	columns := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		if columns[i] = c; !t.Text(i) {
			columns[i] = c + "::int8"
		}
	}
	rows, err := tx.Query(ctx, "SELECT "+strings.Join(columns, ", ")+" FROM "+t.Name)
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

// copyRows is how many rows Fill inserts at once.
const copyRows = 10_000

// Fill reads a dump into an empty engine.
func (e *Engine) Fill(ctx context.Context, r io.Reader) error {
	err := pgx.BeginFunc(ctx, e.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "LOCK TABLE metrics_workspace IN EXCLUSIVE MODE"); err != nil {
			return err
		}
		var used bool
		if err := tx.QueryRow(ctx, "SELECT EXISTS (SELECT 1 FROM metrics_workspace)").Scan(&used); err != nil {
			return err
		}
		if used {
			return errors.New("there are facts already: fill only an empty database")
		}
		f := &filler{e: e, tx: tx}
		if err := dump.Read(contextReader{ctx, r}, dumped(), func(t *dump.Table) error { return f.table(ctx, t) }, func(row []dump.Value) error { return f.row(ctx, row) }); err != nil {
			return err
		}
		return f.finish(ctx)
	})
	if err != nil {
		return fmt.Errorf("fill facts: %w", err)
	}
	return nil
}

// filler inserts the rows of a dump.
type filler struct {
	e    *Engine
	tx   pgx.Tx
	now  *dump.Table
	rows [][]any
}

func (f *filler) table(ctx context.Context, t *dump.Table) error {
	err := f.insert(ctx)
	f.now = t
	return err
}

func (f *filler) row(ctx context.Context, row []dump.Value) error {
	out := make([]any, len(row))
	for i, v := range row {
		switch {
		case f.now.Text(i):
			out[i] = v.Text
		case !v.Null:
			out[i] = v.Number
		}
	}
	if f.rows = append(f.rows, out); len(f.rows) < copyRows {
		return nil
	}
	return f.insert(ctx)
}

// insert inserts the rows that were read.
func (f *filler) insert(ctx context.Context) error {
	if len(f.rows) == 0 {
		return nil
	}
	if err := f.partitions(ctx); err != nil {
		return err
	}
	_, err := f.tx.CopyFrom(ctx, pgx.Identifier{f.now.Name}, f.now.Columns, pgx.CopyFromRows(f.rows))
	f.rows = f.rows[:0]
	if err != nil {
		return fmt.Errorf("table %s: %w", f.now.Name, err)
	}
	return nil
}

func (f *filler) partitions(ctx context.Context) error {
	family, isFacts := strings.CutPrefix(f.now.Name, "metrics_")
	if !isFacts || !slices.Contains(fact.Families, family) {
		return nil
	}
	day, months := slices.Index(f.now.Columns, "day"), map[clock.Date]bool{}
	for _, row := range f.rows {
		n, _ := row[day].(int64)
		d := clock.Date(n)
		if d < firstDay || d > lastDay {
			return fmt.Errorf("the dump has a fact of day %d", n)
		}
		months[d.FirstOfMonth()] = true
	}
	return f.e.createPartitions(ctx, family, monthsOf(months))
}

// finish inserts the last rows and what is derived from them.
func (f *filler) finish(ctx context.Context) error {
	if err := f.insert(ctx); err != nil {
		return err
	}
	if _, err := f.tx.Exec(ctx, "SELECT setval(pg_get_serial_sequence('metrics_workspace', 'key'), (SELECT max(key) FROM metrics_workspace)) WHERE EXISTS (SELECT 1 FROM metrics_workspace)"); err != nil {
		return err
	}
	for n, family := range fact.Families {
		if _, err := f.tx.Exec(ctx, `INSERT INTO metrics_part SELECT workspace, $1, source, month, sum(n), min(day), max(day)
			FROM (SELECT workspace, source, day, (date_trunc('month', date '1970-01-01' + day)::date - date '1970-01-01') AS month, count(*) AS n FROM `+tableOf(family)+` GROUP BY 1, 2, 3) d
			GROUP BY workspace, source, month`, int16(n)); err != nil {
			return fmt.Errorf("count facts: %w", err)
		}
	}
	return nil
}

// contextReader stops reading when its context ends.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (r contextReader) Read(b []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(b)
}
