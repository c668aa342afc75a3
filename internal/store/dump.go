package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Chunk is a sequence of packed rows of one table.
type Chunk struct {
	Table   string
	Columns []string
	Rows    int
	Data    []byte
	// Last is the position of the last row.
	Last Position
}

// Position names a row of a dump by its table and its packed key. The zero value
// is before all rows.
type Position struct {
	Table string `json:"table,omitzero"`
	Key   []byte `json:"key,omitzero"`
}

const chunkRows = 1000

// Dump reads all tables from one snapshot, chunk by chunk. total is the number
// of rows of all tables. Dump returns ErrChecksum at the first damaged
// document.
func Dump(ctx context.Context, e Engine, each func(c Chunk, total int64) error) error {
	list := slices.DeleteFunc(slices.Clone(tables), func(t *table) bool { return t.transient })
	return dumpTables(ctx, e, list, Position{}, each)
}

// dumpTables is Dump for some tables, from the row after a position on.
func dumpTables(ctx context.Context, e Engine, list []*table, after Position, each func(c Chunk, total int64) error) error {
	return toFault(e.Snapshot(Across(ctx), func(tx Tx) error {
		var total int64
		for _, t := range list {
			rows, err := tx.Query(`SELECT count(*) FROM ` + t.name)
			if err != nil {
				return fmt.Errorf("count %s: %w", t.name, err)
			}
			rows.Next()
			total += rows.Int()
		}
		first := max(0, slices.IndexFunc(list, func(t *table) bool { return t.name == after.Table }))
		for _, t := range list[first:] {
			err := t.dump(tx, after.Key, func(c Chunk) error {
				if err := c.damaged(); err != nil {
					return err
				}
				return each(c, total)
			})
			if err != nil {
				return fmt.Errorf("dump %s: %w", t.name, err)
			}
			after.Key = nil
		}
		return nil
	}))
}

// dump reads the rows after a packed key, or all rows, in the order of the key,
// chunk by chunk.
func (t *table) dump(tx Tx, after []byte, each func(Chunk) error) error {
	columns, keys := columnNames(t.columns), strings.Join(t.key, ", ")
	query := `SELECT ` + keys + `, ` + strings.Join(columns, ", ") + ` FROM ` + t.name
	for {
		text := query
		var last []any
		if after != nil {
			text += ` WHERE (` + keys + `) > (` + numbered(1, len(t.key)) + `)`
			for r := NewRows(after, len(t.key)); len(last) < len(t.key); {
				last = append(last, r.Value())
			}
		}
		rows, err := tx.Query(text+fmt.Sprintf(` ORDER BY %s LIMIT %d`, keys, chunkRows), last...)
		if err != nil {
			return err
		}
		c := Chunk{Table: t.name, Columns: columns}
		for rows.Next() {
			after = nil
			for range t.key {
				after = appendValue(after, rows.Value())
			}
			for range columns {
				c.Data = appendValue(c.Data, rows.Value())
			}
			c.Rows++
		}
		if c.Rows == 0 {
			return nil
		}
		c.Last = Position{t.name, after}
		if err := each(c); err != nil {
			return err
		}
	}
}

func appendValue(b []byte, v any) []byte {
	switch v := v.(type) {
	case int64:
		return AppendInt(b, v)
	case string:
		return AppendText(b, v)
	}
	return AppendNull(b)
}

// ErrNotEmpty is returned by a restore into a store that has data, because two
// histories would mix.
var ErrNotEmpty = errors.New("the store is not empty: restore into an empty data folder or database")

// Empty returns nil if nothing is stored, else ErrNotEmpty.
func Empty(ctx context.Context, e Engine) error { return toFault(e.Snapshot(Across(ctx), empty)) }

func empty(tx Tx) error {
	for _, t := range tables {
		rows, err := tx.Query(`SELECT 1 FROM ` + t.name + ` LIMIT 1`)
		if err != nil {
			return fmt.Errorf("look at %s: %w", t.name, err)
		}
		if rows.Next() {
			rows.Int()
			return fmt.Errorf("%w (table %s)", ErrNotEmpty, t.name)
		}
	}
	return nil
}

// Restore writes all chunks that fill puts into an empty store, in one
// transaction. It may call fill more than once, as an engine may run a
// transaction more than once.
func Restore(ctx context.Context, e Engine, fill func(put func(Chunk) error) error) error {
	return toFault(e.Write(Across(ctx), func(tx Tx) error {
		if err := empty(tx); err != nil {
			return err
		}
		err := fill(func(c Chunk) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := restoreChunk(tx, c); err != nil {
				return fmt.Errorf("fill %s: %w", c.Table, err)
			}
			return nil
		})
		if err != nil {
			return err
		}
		// They name files of the old installation: its facts, its count of changes
		// and its master key.
		for _, name := range []string{factsSetting, countedSetting, masterKeySetting} {
			if _, err := tx.Exec(`DELETE FROM setting WHERE name = $1`, name); err != nil {
				return err
			}
		}
		return nil
	}))
}

// insertValues is how many values one statement inserts at most.
const insertValues = 1000

func restoreChunk(tx Tx, c Chunk) error {
	t := tableNamed(c.Table)
	if t == nil || slices.ContainsFunc(c.Columns, func(name string) bool { return !slices.Contains(columnNames(t.columns), name) }) {
		return errors.New("this program has no such table or column; restore with the version that made the backup")
	}
	insert := `INSERT INTO ` + c.Table + ` (` + strings.Join(c.Columns, ", ") + `) VALUES `
	var args []any
	put := func() error {
		values := make([]string, len(args)/len(c.Columns))
		for i := range values {
			values[i] = `(` + numbered(i*len(c.Columns)+1, len(c.Columns)) + `)`
		}
		_, err := tx.Exec(insert+strings.Join(values, ", "), args...)
		args = args[:0]
		return err
	}
	for rows, left := NewRows(c.Data, len(c.Columns)), c.Rows; rows.Next(); left-- {
		for range c.Columns {
			args = append(args, rows.Value())
		}
		if len(args)+len(c.Columns) <= insertValues && left > 1 {
			continue
		}
		if err := put(); err != nil {
			return err
		}
	}
	return nil
}
