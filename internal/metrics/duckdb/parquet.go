package duckdb

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"os"

	duckdb "github.com/duckdb/duckdb-go/v2"
)

// Bounds of reading a file that somebody sent.
const (
	parquetChunk    = 1000
	parquetMemoryMB = 512
)

// ReadParquet gives every cell of a Parquet file as text, some rows at a time:
// days as YYYY-MM-DD, decimals exactly, what is null as "". The rows belong to
// each.
// Choice: it runs in a database of its own that lives only in memory, so that
// whatever a hostile file does to the reader, the facts are not in its reach.
func (e *Engine) ReadParquet(ctx context.Context, file []byte, each func(columns []string, rows [][]string) error) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("read parquet: %w", err)
		}
	}()
	name, err := e.spoolFile()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.Remove(name)) }()
	if err := os.WriteFile(name, file, 0o600); err != nil {
		return err
	}
	connector, err := duckdb.NewConnector("", func(c driver.ExecerContext) error { return confine(ctx, c, e.spool, 1, parquetMemoryMB) })
	if err != nil {
		return err
	}
	p := newPool(connector)
	defer func() { err = errors.Join(err, p.close()) }()
	return p.use(ctx, func(c *conn) error {
		var names []string
		if err := c.query(ctx, func(row []driver.Value) error { names = append(names, row[0].(string)); return nil },
			"SELECT column_name FROM (DESCRIBE SELECT * FROM read_parquet("+quote(name)+"))"); err != nil {
			return err
		}
		var rows [][]string
		if err := c.query(ctx, func(row []driver.Value) error {
			cells := make([]string, len(row))
			for i, v := range row {
				cells[i], _ = v.(string)
			}
			if rows = append(rows, cells); len(rows) < parquetChunk {
				return nil
			}
			full := rows
			rows = nil
			return each(names, full)
		}, "SELECT CAST(COLUMNS(*) AS VARCHAR) FROM read_parquet("+quote(name)+")"); err != nil {
			return err
		}
		if len(rows) == 0 {
			return nil
		}
		return each(names, rows)
	})
}
