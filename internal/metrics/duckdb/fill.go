package duckdb

import (
	"context"
	"database/sql/driver"
	"fmt"
	"io"
	"slices"

	"fanfare/internal/metrics/dump"
	"fanfare/internal/metrics/numbers"
)

// fillRows is the number of rows appended at once.
const fillRows = 10_000

// filler reads a dump into empty tables. A dump numbers per workspace, the file
// for all workspaces, so everything is renumbered.
type filler struct {
	ctx context.Context //nolint:containedctx // it lives as long as the call of fillFrom
	c   *conn
	now *dump.Table
	// rows of now that are not appended yet; counts are rows per table.
	rows   [][]driver.Value
	counts map[string]int64
	// sources, entities and imports have the new numbers, words the new codes.
	sources, entities, imports, words map[oldNumber]int32
	// codes are the new codes of words by their text.
	codes map[string]int32
	// unnumbered has the imports until all are read: their numbers rise with the
	// time of a write, across workspaces.
	unnumbered [][]driver.Value
}

// oldNumber is a number in a dump.
type oldNumber struct{ workspace, number int32 }

// fillFrom reads a dump and returns the number of rows by table.
func fillFrom(ctx context.Context, c *conn, in io.Reader) (map[string]int64, error) {
	f := &filler{
		ctx: ctx, c: c, counts: map[string]int64{}, codes: map[string]int32{},
		sources: map[oldNumber]int32{}, entities: map[oldNumber]int32{}, imports: map[oldNumber]int32{}, words: map[oldNumber]int32{},
	}
	if err := dump.Read(in, dump.Tables(), f.table, f.row); err != nil {
		return nil, err
	}
	return f.counts, f.end()
}

func (f *filler) table(t *dump.Table) error {
	if f.now != nil {
		if err := f.end(); err != nil {
			return err
		}
	}
	f.now = t
	return nil
}

// end appends the last rows of a table.
func (f *filler) end() error {
	if f.now.Name == dump.Imports {
		f.numberImports()
	}
	return f.flush()
}

func (f *filler) numberImports() {
	// Columns of an import: key, workspace, id, written.
	slices.SortStableFunc(f.unnumbered, func(a, b []driver.Value) int {
		x, y := a[3].(int64), b[3].(int64)
		switch {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	})
	for i, row := range f.unnumbered {
		f.imports[oldNumber{row[1].(int32), row[0].(int32)}] = int32(i + 1)
		row[0] = int32(i + 1)
	}
	f.rows, f.unnumbered = f.unnumbered, nil
}

// row appends a row with new numbers. The row is valid only until it returns.
func (f *filler) row(row []dump.Value) error {
	if f.now.Name == dump.Words {
		return f.word(row)
	}
	out, workspace := make([]driver.Value, len(row)), int32(row[0].Number)
	for i, v := range row {
		column := f.now.Columns[i]
		switch {
		case f.now.Text(i):
			out[i] = string(v.Text)
		case v.Null:
		case is64Bit(f.now.Name, column):
			out[i] = v.Number
		default:
			n, err := f.number(workspace, column, int32(v.Number))
			if err != nil {
				return err
			}
			out[i] = n
		}
	}
	if f.now.Name == dump.Imports {
		f.unnumbered = append(f.unnumbered, []driver.Value{out[1], out[0], out[2], out[3]})
		return nil
	}
	f.rows = append(f.rows, f.reorderColumns(out))
	if len(f.rows) < fillRows {
		return nil
	}
	return f.flush()
}

// reorderColumns sorts the columns of a row in the order of the file's table.
func (f *filler) reorderColumns(row []driver.Value) []driver.Value {
	switch f.now.Name {
	case dump.Sources:
		row[0], row[1] = row[1], row[0]
	case dump.Entities:
		row[0], row[1] = row[1], row[0]
		row[3] = numbers.Kinds[row[3].(int32)]
	case "cover":
		row[0], row[1] = row[1], row[0]
	}
	return row
}

// is64Bit reports whether a column has 64 bits.
func is64Bit(table, column string) bool {
	switch table {
	case dump.Workspaces:
		return column == "generation" || column == "mirrored"
	case dump.Imports:
		return column == "written"
	}
	return isMeasure(column)
}

func isMeasure(column string) bool {
	return !slices.Contains(numbers.KeyColumns, column) && slices.Contains(numbers.FactColumns, column) && column != "workspace" && column != "import"
}

// number returns the new number for a number of a workspace.
func (f *filler) number(workspace int32, column string, n int32) (int32, error) {
	old, known := oldNumber{workspace, n}, true
	switch {
	case n == 0:
	case f.now.Name == dump.Sources && column == "key":
		f.sources[old] = int32(len(f.sources) + 1)
		n = f.sources[old]
	case f.now.Name == dump.Entities && column == "key":
		f.entities[old] = int32(len(f.entities) + 1)
		n = f.entities[old]
	case column == "source":
		n, known = f.sources[old]
	case column == "campaign" || column == "creative" || column == "audience":
		n, known = f.entities[old]
	case slices.Contains(wordDimensions, column):
		n, known = f.words[old]
	case column == "import" || column == "above":
		// Facts may name deleted imports; their import becomes 0.
		n = f.imports[old]
	}
	if !known {
		return 0, fmt.Errorf("the dump has no %s %d of workspace %d", column, old.number, workspace)
	}
	return n, nil
}

// word assigns a global code to a word of a workspace.
func (f *filler) word(row []dump.Value) error {
	text := string(row[2].Text)
	code, known := f.codes[text]
	if !known {
		code = int32(len(f.codes) + 1)
		f.codes[text] = code
		f.rows = append(f.rows, []driver.Value{code, text})
	}
	f.words[oldNumber{int32(row[0].Number), int32(row[1].Number)}] = code
	return nil
}

func (f *filler) flush() error {
	rows := f.rows
	f.counts[f.now.Name] += int64(len(rows))
	f.rows = nil
	if len(rows) == 0 {
		return nil
	}
	return f.c.appendTo(f.ctx, "", f.now.Name, len(rows), len(rows[0]), func(i int, row []driver.Value) { copy(row, rows[i]) })
}
