package store

import (
	"encoding/binary"
	"fmt"
)

// Rows are the fetched rows of one statement, packed in one buffer that belongs
// to the caller. After Next, read the columns from left to right, each exactly
// once, with the method of its type.
type Rows struct {
	// Cut reports that the engine left out the last rows; see WithMaxBytes.
	Cut  bool
	buf  []byte
	cols int
	read int
}

// Tags of packed values. A value is its tag followed by nothing (null), eight
// bytes little-endian (integer), or a four-byte little-endian length and that
// many bytes (text and bytes).
const (
	TagNull byte = iota
	TagInt
	TagText
)

// NewRows returns packed rows with cols columns, for engines.
func NewRows(buf []byte, cols int) *Rows { return &Rows{buf: buf, cols: cols, read: cols} }

// Next steps to the next row and reports whether there is one.
func (r *Rows) Next() bool {
	if r.read != r.cols {
		panic(fmt.Sprintf("store: %d of %d columns read", r.read, r.cols))
	}
	r.read = 0
	if len(r.buf) == 0 {
		r.read = r.cols
		return false
	}
	return true
}

// Int reads an integer column; null reads as 0.
func (r *Rows) Int() int64 {
	n, _ := r.IntOrNull()
	return n
}

// Bool reads a flag; null reads as false.
func (r *Rows) Bool() bool { return r.Int() != 0 }

// IntOrNull reads an integer column that may be null.
func (r *Rows) IntOrNull() (n int64, ok bool) {
	if r.tag(TagInt) == TagNull {
		return 0, false
	}
	n = int64(binary.LittleEndian.Uint64(r.buf))
	r.buf = r.buf[8:]
	return n, true
}

// Text reads a text column; null reads as "".
func (r *Rows) Text() string { return string(r.Bytes()) }

// Bytes reads a text or bytes column without a copy; null reads as nil.
func (r *Rows) Bytes() []byte {
	if r.tag(TagText) == TagNull {
		return nil
	}
	n := binary.LittleEndian.Uint32(r.buf)
	v := r.buf[4 : 4+n : 4+n]
	r.buf = r.buf[4+n:]
	return v
}

// Value reads a column of any type as nil, int64 or string; for backups.
func (r *Rows) Value() any {
	switch r.buf[0] {
	case TagNull:
		r.tag(TagNull)
		return nil
	case TagInt:
		return r.Int()
	default:
		return r.Text()
	}
}

// Columns returns how many columns a row has.
func (r *Rows) Columns() int { return r.cols }

func (r *Rows) tag(want byte) byte {
	got := r.buf[0]
	if got != want && got != TagNull {
		panic(fmt.Sprintf("store: column %d has tag %d, want %d", r.read, got, want))
	}
	r.read++
	r.buf = r.buf[1:]
	return got
}

// AppendNull packs a null. Engines use it, AppendInt and AppendText.
func AppendNull(b []byte) []byte { return append(b, TagNull) }

// AppendInt packs an integer.
func AppendInt(b []byte, n int64) []byte {
	return binary.LittleEndian.AppendUint64(append(b, TagInt), uint64(n))
}

// AppendText packs text or bytes.
func AppendText[T string | []byte](b []byte, s T) []byte {
	b = binary.LittleEndian.AppendUint32(append(b, TagText), uint32(len(s)))
	return append(b, s...)
}

// CountRows counts packed rows and reports whether they are complete.
func CountRows(buf []byte, cols int) (rows int, ok bool) {
	for len(buf) > 0 {
		for range cols {
			n := 1
			switch {
			case len(buf) == 0:
				return rows, false
			case buf[0] == TagInt:
				n = 9
			case buf[0] == TagText && len(buf) >= 5:
				n = 5 + int(binary.LittleEndian.Uint32(buf[1:]))
			case buf[0] != TagNull:
				return rows, false
			}
			if n > len(buf) {
				return rows, false
			}
			buf = buf[n:]
		}
		rows++
	}
	return rows, true
}
