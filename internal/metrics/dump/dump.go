// Package dump writes and reads the format in which engines exchange facts: one
// stream of tables, the same for every engine. A stream that ends early or was
// changed is refused.
package dump

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
)

// Version is the version of the format.
const Version = 4

// magic begins a stream, before its version.
const magic = "fanfare metrics "

// maxText is the longest text that a reader accepts.
const maxText = 16 << 20

// Table is a table of a dump. A column is a number or, if its name is in Texts,
// a text. Numbers may be null, texts may not.
type Table struct {
	Name    string
	Columns []string
	Texts   []string
}

// Text reports whether a column has texts.
func (t *Table) Text(column int) bool { return slices.Contains(t.Texts, t.Columns[column]) }

// Value is a value of a row: a number, null or a text.
type Value struct {
	Number int64
	Null   bool
	Text   []byte
}

// Writer writes a dump.
type Writer struct {
	zip   *gzip.Writer
	out   *bufio.Writer
	table *Table
	rows  int64
	buf   []byte
}

// NewWriter begins a dump.
func NewWriter(w io.Writer) (*Writer, error) {
	if _, err := fmt.Fprintf(w, "%s%d\n", magic, Version); err != nil {
		return nil, err
	}
	zip, err := gzip.NewWriterLevel(w, gzip.BestSpeed)
	if err != nil {
		return nil, err
	}
	return &Writer{zip: zip, out: bufio.NewWriterSize(zip, 64<<10)}, nil
}

// Each entry of the stream begins with one of these.
const (
	rowEntry   = 1
	tableEntry = 2
	endEntry   = 3
)

// Table begins a table.
func (w *Writer) Table(t *Table) error {
	w.table = t
	w.buf = append(w.buf[:0], tableEntry)
	w.text([]byte(t.Name))
	w.buf = binary.AppendUvarint(w.buf, uint64(len(t.Columns)))
	return w.flush()
}

// Row writes a row of the table.
func (w *Writer) Row(row []Value) error {
	w.rows++
	w.buf = append(w.buf[:0], rowEntry)
	for i := range row {
		switch v := &row[i]; {
		case w.table.Text(i):
			w.text(v.Text)
		case v.Null:
			w.buf = append(w.buf, 0)
		default:
			w.buf = append(w.buf, 1)
			w.buf = binary.AppendVarint(w.buf, v.Number)
		}
	}
	return w.flush()
}

func (w *Writer) text(s []byte) {
	w.buf = append(binary.AppendUvarint(w.buf, uint64(len(s))), s...)
}

func (w *Writer) flush() error {
	_, err := w.out.Write(w.buf)
	return err
}

// Close ends the dump. It does not close the underlying writer.
func (w *Writer) Close() error {
	w.buf = binary.AppendUvarint(append(w.buf[:0], endEntry), uint64(w.rows))
	return errors.Join(w.flush(), w.out.Flush(), w.zip.Close())
}

// HasMagic reports whether a stream begins like a dump of this format.
func HasMagic(r *bufio.Reader) bool {
	begin, err := r.Peek(len(magic))
	return err == nil && string(begin) == magic
}

// Read reads a dump that has exactly the given tables. It calls table at the
// beginning of each and row for each row; the row is valid until row returns.
func Read(r io.Reader, tables []Table, table func(*Table) error, row func([]Value) error) error {
	in := bufio.NewReader(r)
	line, err := in.ReadString('\n')
	if err != nil {
		return unexpected(err)
	}
	if want := fmt.Sprintf("%s%d\n", magic, Version); line != want {
		return fmt.Errorf("the dump begins with %q instead of %q: use the program that wrote it", line, want)
	}
	zip, err := gzip.NewReader(in)
	if err != nil {
		return unexpected(err)
	}
	d := &decoder{in: bufio.NewReaderSize(zip, 64<<10), tables: tables}
	if err := d.readTables(table, row); err != nil {
		return unexpected(err)
	}
	// Reading to EOF checks the gzip checksum.
	if _, err := d.in.ReadByte(); !errors.Is(err, io.EOF) {
		return errors.Join(errors.New("the dump goes on after its end"), err)
	}
	return nil
}

// WithContext returns a reader that fails when ctx ends.
func WithContext(ctx context.Context, r io.Reader) io.Reader { return contextReader{ctx, r} }

type contextReader struct {
	ctx context.Context //nolint:containedctx // it lives as long as one call of Read
	r   io.Reader
}

func (r contextReader) Read(b []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(b)
}

// errIncomplete hides io.EOF, because a lost database connection returns it too.
var errIncomplete = errors.New("the dump is not complete")

func unexpected(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errIncomplete
	}
	return err
}

type decoder struct {
	in     *bufio.Reader
	tables []Table
	next   int
	rows   uint64
	values []Value
}

func (d *decoder) readTables(table func(*Table) error, row func([]Value) error) error {
	for {
		entry, err := d.in.ReadByte()
		if err != nil {
			return err
		}
		switch {
		case entry == tableEntry && d.next < len(d.tables):
			if err := d.readTable(); err != nil {
				return err
			}
			if err := table(&d.tables[d.next-1]); err != nil {
				return err
			}
		case entry == rowEntry && d.next > 0:
			d.rows++
			if err := d.readRow(&d.tables[d.next-1]); err != nil {
				return err
			}
			if err := row(d.values); err != nil {
				return err
			}
		case entry == endEntry && d.next == len(d.tables):
			n, err := binary.ReadUvarint(d.in)
			if err == nil && n != d.rows {
				err = fmt.Errorf("the dump has %d rows instead of %d", d.rows, n)
			}
			return err
		default:
			return fmt.Errorf("the dump has an entry %d after table %d, which is not expected", entry, d.next)
		}
	}
}

func (d *decoder) readTable() error {
	t := &d.tables[d.next]
	name, err := d.text()
	if err != nil {
		return err
	}
	columns, err := binary.ReadUvarint(d.in)
	if err != nil {
		return err
	}
	if string(name) != t.Name || columns != uint64(len(t.Columns)) {
		return fmt.Errorf("the dump has table %q with %d columns instead of %q with %d", name, columns, t.Name, len(t.Columns))
	}
	d.values = make([]Value, columns)
	d.next++
	return nil
}

func (d *decoder) readRow(t *Table) (err error) {
	for i := range d.values {
		v := &d.values[i]
		if t.Text(i) {
			if v.Text, err = d.text(); err != nil {
				return err
			}
			continue
		}
		known, err := d.in.ReadByte()
		if err != nil {
			return err
		}
		if v.Null, v.Number = known == 0, 0; v.Null {
			continue
		}
		if v.Number, err = binary.ReadVarint(d.in); err != nil {
			return err
		}
	}
	return nil
}

func (d *decoder) text() ([]byte, error) {
	n, err := binary.ReadUvarint(d.in)
	if err != nil {
		return nil, err
	}
	if n > maxText {
		return nil, fmt.Errorf("the dump has a text of %d bytes: it is damaged", n)
	}
	text := make([]byte, n)
	_, err = io.ReadFull(d.in, text)
	return text, err
}
