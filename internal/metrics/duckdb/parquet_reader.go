package duckdb

import (
	"bufio"
	"context"
	"database/sql/driver"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	duckdb "github.com/duckdb/duckdb-go/v2"

	"fanfare/internal/fact"
)

// parquetReader is the name under which a program that has this package in it
// starts itself again to read one file.
const parquetReader = "fanfare-parquet-reader"

// Memory of a reader, in megabytes: what DuckDB may use by its own count, and
// what the process may use beyond what it starts with, however it is used.
const (
	parquetMemoryMB  = 192
	parquetProcessMB = 384
)

// parquetWindow is how many rows are asked for at once: DuckDB keeps the whole
// answer to a question in memory.
const parquetWindow = 10_000

// maxColumnName is how many bytes of a column's name are read.
const maxColumnName = 1024

// A program that was started as a reader is nothing else.
func init() {
	if len(os.Args) != 7 || os.Args[0] != parquetReader {
		return
	}
	// The server decides when it ends, also where a signal goes to all
	// processes of a group.
	signal.Ignore(os.Interrupt, syscall.SIGTERM)
	if err := limitMemory(parquetProcessMB << 20); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	var n [5]int
	for i := range n {
		n[i], _ = strconv.Atoi(os.Args[2+i])
	}
	out := bufio.NewWriterSize(os.Stdout, 64<<10)
	r := parquetFile{name: os.Args[1], b: fact.FileLimits{Rows: n[0], Columns: n[1], Cells: n[2], Cell: n[3], Text: n[4]}, out: out}
	err := r.read(context.Background())
	var large *fact.FileTooLargeError
	switch {
	case err == nil:
		say(out, saysDone)
	case errors.As(err, &large):
		say(out, saysTooLarge, large.What)
	default:
		say(out, saysUnreadable, cutText(err.Error(), maxColumnName))
	}
	if out.Flush() != nil {
		os.Exit(1)
	}
	os.Exit(0)
}

// say writes a message. A failed write shows when all of it is flushed.
func say(out *bufio.Writer, kind byte, texts ...string) {
	_ = out.WriteByte(kind)
	var number [binary.MaxVarintLen64]byte
	_, _ = out.Write(binary.AppendUvarint(number[:0], uint64(len(texts))))
	for _, t := range texts {
		_, _ = out.Write(binary.AppendUvarint(number[:0], uint64(len(t))))
		_, _ = io.WriteString(out, t)
	}
}

// cutText shortens a text to so many bytes.
func cutText(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "")
}

// parquetFile is the file that a reader reads.
type parquetFile struct {
	name string
	b    fact.FileLimits
	out  *bufio.Writer
	c    *conn

	names, types []string
}

func (r *parquetFile) read(ctx context.Context) error {
	connector, err := duckdb.NewConnector("", func(c driver.ExecerContext) error {
		return confine(ctx, c, filepath.Dir(r.name), 1, parquetMemoryMB)
	})
	if err != nil {
		return err
	}
	return newPool(connector).use(ctx, func(c *conn) error {
		r.c = c
		rows, err := r.footer(ctx)
		if err != nil {
			return err
		}
		if err := r.columns(ctx, rows); err != nil {
			return err
		}
		if rows, err = r.measure(ctx); err != nil {
			return err
		}
		return r.rows(ctx, rows)
	})
}

// from is the file as a table.
func (r *parquetFile) from() string { return " FROM read_parquet(" + quote(r.name) + ")" }

// numbers runs a question whose answer is one row of integers.
func (r *parquetFile) numbers(ctx context.Context, query string) (list []int64, err error) {
	err = r.c.query(ctx, func(row []driver.Value) error {
		list = make([]int64, len(row))
		for i, v := range row {
			list[i], _ = v.(int64)
		}
		return nil
	}, query)
	return list, err
}

// footer refuses a file by what it says about itself. It returns the number of
// rows that it announces.
func (r *parquetFile) footer(ctx context.Context) (int64, error) {
	n, err := r.numbers(ctx, `SELECT coalesce(sum(greatest(size, 0)), 0)::BIGINT, coalesce(sum(greatest(rows, 0)), 0)::BIGINT FROM
		(SELECT sum(total_uncompressed_size) AS size, any_value(row_group_num_rows) AS rows FROM parquet_metadata(`+quote(r.name)+`) GROUP BY row_group_id)`)
	if err != nil {
		return 0, err
	}
	size, rows := n[0], n[1]
	switch {
	case rows > int64(r.b.Rows):
		return 0, r.tooManyRows()
	case size > 2*int64(r.b.Text):
		return 0, r.tooMuchText()
	}
	return rows, nil
}

func (r *parquetFile) tooManyRows() error {
	return &fact.FileTooLargeError{What: fmt.Sprintf("It has more than %d rows.", r.b.Rows)}
}

func (r *parquetFile) tooMuchText() error {
	return &fact.FileTooLargeError{What: fmt.Sprintf("Its cells have more than %d MiB of text.", r.b.Text>>20)}
}

// checkCells refuses too many cells. Empty ones count: each takes as long to
// read as one with a number.
func (r *parquetFile) checkCells(rows int64) error {
	if cells := rows * int64(len(r.names)); cells > int64(r.b.Cells) {
		return &fact.FileTooLargeError{What: fmt.Sprintf("It has %d cells (%d rows of %d columns); at most %d are read.", cells, rows, len(r.names), r.b.Cells)}
	}
	return nil
}

// columns tells the names of the columns.
func (r *parquetFile) columns(ctx context.Context, rows int64) error {
	err := r.c.query(ctx, func(row []driver.Value) error {
		if len(r.names) == r.b.Columns {
			return &fact.FileTooLargeError{What: fmt.Sprintf("It has more than %d columns.", r.b.Columns)}
		}
		r.names, r.types = append(r.names, row[0].(string)), append(r.types, row[1].(string))
		return nil
	}, "SELECT column_name, column_type FROM (DESCRIBE SELECT *"+r.from()+")")
	if err != nil {
		return err
	}
	if err := r.checkCells(rows); err != nil {
		return err
	}
	short := make([]string, len(r.names))
	for i, name := range r.names {
		short[i] = cutText(name, maxColumnName)
	}
	say(r.out, saysColumns, short...)
	return nil
}

// lengths are the functions that tell how long a value of text or of bytes is.
var lengths = map[string]string{"VARCHAR": "strlen", "JSON": "strlen", "BLOB": "octet_length"}

// shortCell is what a value counts whose type is in shortTypes.
const shortCell = 8

// shortTypes are the types whose values are short as text. All that are
// neither here nor in lengths are lists, records and the like, which are no
// cells of a table.
var shortTypes = map[string]bool{
	"BOOLEAN": true, "TINYINT": true, "SMALLINT": true, "INTEGER": true, "BIGINT": true, "HUGEINT": true,
	"UTINYINT": true, "USMALLINT": true, "UINTEGER": true, "UBIGINT": true, "UHUGEINT": true, "FLOAT": true, "DOUBLE": true,
	"DATE": true, "TIME": true, "TIME WITH TIME ZONE": true, "TIMESTAMP": true, "TIMESTAMP_S": true, "TIMESTAMP_MS": true, "TIMESTAMP_NS": true,
	"TIMESTAMP WITH TIME ZONE": true, "INTERVAL": true, "UUID": true,
}

// measure finds out how much text there is and refuses too much. Lengths are
// found without making a copy of any text: a file has each only once, however
// many rows refer to it.
func (r *parquetFile) measure(ctx context.Context) (rows int64, err error) {
	ask := []string{"count(*)"}
	var long []int
	for i, t := range r.types {
		if length := lengths[t]; length != "" {
			column := length + "(" + columnName(r.names[i]) + ")"
			ask, long = append(ask, "coalesce(sum("+column+"), 0)::BIGINT", "coalesce(max("+column+"), 0)"), append(long, i)
		}
	}
	n, err := r.numbers(ctx, "SELECT "+strings.Join(ask, ", ")+r.from())
	if err != nil {
		return 0, err
	}
	if rows = n[0]; rows > int64(r.b.Rows) {
		return 0, r.tooManyRows()
	}
	if err := r.checkCells(rows); err != nil {
		return 0, err
	}
	text := rows * int64(len(r.names)-len(long)) * shortCell
	for k, i := range long {
		sum, most := n[1+2*k], n[2+2*k]
		if most > int64(r.b.Cell) {
			return 0, &fact.FileTooLargeError{What: fmt.Sprintf("Column %q has a cell of %d bytes; at most %d are read.", cutText(r.names[i], 100), most, r.b.Cell)}
		}
		text += sum
	}
	if text > int64(r.b.Text) {
		return 0, r.tooMuchText()
	}
	return rows, nil
}

// rows tells all rows.
func (r *parquetFile) rows(ctx context.Context, rows int64) error {
	ask := make([]string, len(r.names))
	for i, name := range r.names {
		switch t := r.types[i]; {
		case lengths[t] != "", shortTypes[t], strings.HasPrefix(t, "DECIMAL("):
			ask[i] = "CAST(" + columnName(name) + " AS VARCHAR)"
		default:
			ask[i] = "NULL::VARCHAR"
		}
	}
	cells := make([]string, len(ask))
	for at := int64(0); at < rows; at += parquetWindow {
		if err := r.c.query(ctx, func(row []driver.Value) error {
			for i, v := range row {
				// Bytes that are no text are longer as text.
				text, _ := v.(string)
				cells[i] = cutText(text, r.b.Cell)
			}
			say(r.out, saysRow, cells...)
			return nil
		}, fmt.Sprintf("SELECT %s%s LIMIT %d OFFSET %d", strings.Join(ask, ", "), r.from(), parquetWindow, at)); err != nil {
			return err
		}
	}
	return nil
}

// columnName writes a name as SQL has it.
func columnName(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
