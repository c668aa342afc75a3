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
}

const chunkRows = 1000

// Dump reads all tables from one snapshot, chunk by chunk. total is the number
// of rows of all tables. Dump returns ErrChecksum at the first damaged
// document.
func Dump(ctx context.Context, e Engine, each func(c Chunk, total int64) error) error {
	return toFault(e.Snapshot(Across(ctx), func(tx Tx) error {
		var total int64
		for _, t := range tables {
			if t.transient {
				continue
			}
			rows, err := tx.Query(`SELECT count(*) FROM ` + t.name)
			if err != nil {
				return fmt.Errorf("count %s: %w", t.name, err)
			}
			rows.Next()
			total += rows.Int()
		}
		for _, t := range tables {
			if t.transient {
				continue
			}
			err := t.dump(tx, func(c Chunk) error {
				if err := c.damaged(); err != nil {
					return err
				}
				return each(c, total)
			})
			if err != nil {
				return fmt.Errorf("dump %s: %w", t.name, err)
			}
		}
		return nil
	}))
}

// dump reads all rows in the order of the key, chunk by chunk.
func (t *table) dump(tx Tx, each func(Chunk) error) error {
	columns, keys := columnNames(t.columns), strings.Join(t.key, ", ")
	query := `SELECT ` + keys + `, ` + strings.Join(columns, ", ") + ` FROM ` + t.name
	var last []any
	for {
		text := query
		if last != nil {
			text += ` WHERE (` + keys + `) > (` + numbered(1, len(t.key)) + `)`
		}
		rows, err := tx.Query(text+fmt.Sprintf(` ORDER BY %s LIMIT %d`, keys, chunkRows), last...)
		if err != nil {
			return err
		}
		c := Chunk{Table: t.name, Columns: columns}
		for rows.Next() {
			last = make([]any, len(t.key))
			for i := range t.key {
				last[i] = rows.Value()
			}
			for range columns {
				c.Data = appendValue(c.Data, rows.Value())
			}
			c.Rows++
		}
		if c.Rows == 0 {
			return nil
		}
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

func restoreChunk(tx Tx, c Chunk) error {
	t := tableNamed(c.Table)
	if t == nil || slices.ContainsFunc(c.Columns, func(name string) bool { return !slices.Contains(columnNames(t.columns), name) }) {
		return errors.New("this program has no such table or column; restore with the version that made the backup")
	}
	insert := `INSERT INTO ` + c.Table + ` (` + strings.Join(c.Columns, ", ") + `) VALUES (` + numbered(1, len(c.Columns)) + `)`
	rows := NewRows(c.Data, len(c.Columns))
	args := make([]any, len(c.Columns))
	for rows.Next() {
		for i := range args {
			args[i] = rows.Value()
		}
		if _, err := tx.Exec(insert, args...); err != nil {
			return err
		}
	}
	return nil
}
