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

// parquetReader is the name under which a program that has this package starts
// itself again to read one file.
const parquetReader = "fanfare-parquet-reader"

// Memory of a reader, in megabytes: the limit of DuckDB, and what the process may
// use beyond what it starts with.
const (
	parquetMemoryMB  = 192
	parquetProcessMB = 384
)

// parquetWindow is the number of rows queried at once. DuckDB keeps the whole
// result in memory.
const parquetWindow = 10_000

// maxColumnName is the number of bytes of a column's name that are read.
const maxColumnName = 1024

// A program that was started as a reader exits after reading.
func init() {
	if len(os.Args) != 7 || os.Args[0] != parquetReader {
		return
	}
	// The server ends this process, also if a signal goes to all processes of a
	// group.
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
	err := r.readRows(context.Background())
	var large *fact.FileTooLargeError
	switch {
	case err == nil:
		send(out, doneMessage)
	case errors.As(err, &large):
		send(out, tooLargeMessage, large.What)
	default:
		send(out, unreadableMessage, cutText(err.Error(), maxColumnName))
	}
	if out.Flush() != nil {
		os.Exit(1)
	}
	os.Exit(0)
}

// send writes a message. An error of a write is returned by the flush.
func send(out *bufio.Writer, kind byte, texts ...string) {
	_ = out.WriteByte(kind)
	var number [binary.MaxVarintLen64]byte
	_, _ = out.Write(binary.AppendUvarint(number[:0], uint64(len(texts))))
	for _, t := range texts {
		_, _ = out.Write(binary.AppendUvarint(number[:0], uint64(len(t))))
		_, _ = io.WriteString(out, t)
	}
}

// cutText shortens a text to a number of bytes.
func cutText(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "")
}

// parquetFile is the file to read.
type parquetFile struct {
	name string
	b    fact.FileLimits
	out  *bufio.Writer
	c    *conn

	names, types []string
}

func (r *parquetFile) readRows(ctx context.Context) error {
	connector, err := duckdb.NewConnector("", func(c driver.ExecerContext) error {
		return restrict(ctx, c, filepath.Dir(r.name), 1, parquetMemoryMB)
	})
	if err != nil {
		return err
	}
	return newPool(connector).use(ctx, func(c *conn) error {
		r.c = c
		rows, err := r.checkFooter(ctx)
		if err != nil {
			return err
		}
		if err := r.sendColumns(ctx, rows); err != nil {
			return err
		}
		if rows, err = r.measure(ctx); err != nil {
			return err
		}
		return r.sendRows(ctx, rows)
	})
}

// from returns the FROM clause of the file.
func (r *parquetFile) from() string { return " FROM read_parquet(" + quote(r.name) + ")" }

// numbers runs a query that returns one row of integers.
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

// checkFooter refuses a file by its metadata. It returns the number of rows in
// the metadata.
func (r *parquetFile) checkFooter(ctx context.Context) (int64, error) {
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

// checkCells refuses too many cells. Empty cells count, because each takes as
// long to read as one with a number.
func (r *parquetFile) checkCells(rows int64) error {
	if cells := rows * int64(len(r.names)); cells > int64(r.b.Cells) {
		return &fact.FileTooLargeError{What: fmt.Sprintf("It has %d cells (%d rows of %d columns); at most %d are read.", cells, rows, len(r.names), r.b.Cells)}
	}
	return nil
}

// sendColumns sends the names of the columns.
func (r *parquetFile) sendColumns(ctx context.Context, rows int64) error {
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
	send(r.out, columnsMessage, short...)
	return nil
}

// lengths has the functions for the length of a text or of bytes.
var lengths = map[string]string{"VARCHAR": "strlen", "JSON": "strlen", "BLOB": "octet_length"}

// shortCell is the size that a value of shortTypes counts.
const shortCell = 8

// shortTypes are the types whose values are short as text. Types that are neither
// here nor in lengths, such as lists and records, are not supported.
var shortTypes = map[string]bool{
	"BOOLEAN": true, "TINYINT": true, "SMALLINT": true, "INTEGER": true, "BIGINT": true, "HUGEINT": true,
	"UTINYINT": true, "USMALLINT": true, "UINTEGER": true, "UBIGINT": true, "UHUGEINT": true, "FLOAT": true, "DOUBLE": true,
	"DATE": true, "TIME": true, "TIME WITH TIME ZONE": true, "TIMESTAMP": true, "TIMESTAMP_S": true, "TIMESTAMP_MS": true, "TIMESTAMP_NS": true,
	"TIMESTAMP WITH TIME ZONE": true, "INTERVAL": true, "UUID": true,
}

// measure refuses too much text. It reads lengths without copying a text: a file
// has each text only once, however many rows refer to it.
func (r *parquetFile) measure(ctx context.Context) (rows int64, err error) {
	list := []string{"count(*)"}
	var long []int
	for i, t := range r.types {
		if length := lengths[t]; length != "" {
			column := length + "(" + columnName(r.names[i]) + ")"
			list, long = append(list, "coalesce(sum("+column+"), 0)::BIGINT", "coalesce(max("+column+"), 0)"), append(long, i)
		}
	}
	n, err := r.numbers(ctx, "SELECT "+strings.Join(list, ", ")+r.from())
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

// sendRows sends all rows.
func (r *parquetFile) sendRows(ctx context.Context, rows int64) error {
	list := make([]string, len(r.names))
	for i, name := range r.names {
		switch t := r.types[i]; {
		case lengths[t] != "", shortTypes[t], strings.HasPrefix(t, "DECIMAL("):
			list[i] = "CAST(" + columnName(name) + " AS VARCHAR)"
		default:
			list[i] = "NULL::VARCHAR"
		}
	}
	cells := make([]string, len(list))
	for at := int64(0); at < rows; at += parquetWindow {
		if err := r.c.query(ctx, func(row []driver.Value) error {
			for i, v := range row {
				// Bytes that are not text are longer as text.
				text, _ := v.(string)
				cells[i] = cutText(text, r.b.Cell)
			}
			send(r.out, rowMessage, cells...)
			return nil
		}, fmt.Sprintf("SELECT %s%s LIMIT %d OFFSET %d", strings.Join(list, ", "), r.from(), parquetWindow, at)); err != nil {
			return err
		}
	}
	return nil
}

// columnName quotes a name for SQL.
func columnName(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
