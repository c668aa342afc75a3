package ingest

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"

	"fanfare/internal/fact"
	"fanfare/internal/fault"
)

// grid is a file as columns and rows.
type grid struct {
	columns []string
	// header is the line with the column names.
	header int
	// lines is the maximum number of lines, 0 if unknown.
	lines int
	// each visits the rows below the header. cells is valid only during the
	// call and has one entry per column.
	each func(visit func(line int, cells []string) error) error
}

// Text encodings.
const (
	encodingUTF8    = "utf-8"
	encodingUTF16LE = "utf-16le"
	encodingUTF16BE = "utf-16be"
	encodingWindows = "windows-1252"
)

// decodeText returns the text of a file and its encoding. Text without a byte
// order mark that is not UTF-8 is read as Windows-1252, which accepts any byte.
func decodeText(b []byte) (text, encoding string, err error) {
	switch {
	case bytes.HasPrefix(b, []byte{0xff, 0xfe}):
		text, encoding = decodeUTF16(b[2:], binary.LittleEndian), encodingUTF16LE
	case bytes.HasPrefix(b, []byte{0xfe, 0xff}):
		text, encoding = decodeUTF16(b[2:], binary.BigEndian), encodingUTF16BE
	case utf8.Valid(b):
		text, encoding = string(bytes.TrimPrefix(b, []byte("\ufeff"))), encodingUTF8
	default:
		decoded, err := charmap.Windows1252.NewDecoder().Bytes(b)
		if err != nil {
			return "", "", fmt.Errorf("decode Windows-1252: %w", err)
		}
		text, encoding = string(decoded), encodingWindows
	}
	switch {
	case strings.TrimSpace(text) == "":
		return "", "", unreadable("The file is empty.", nil)
	case strings.ContainsRune(text, 0):
		return "", "", unreadable("The file is no text: it contains the character U+0000. Send CSV, TSV or Parquet.", nil)
	}
	if !strings.Contains(text, "\n") {
		text = strings.ReplaceAll(text, "\r", "\n")
	}
	return text, encoding, nil
}

func decodeUTF16(b []byte, order binary.ByteOrder) string {
	units := make([]uint16, len(b)/2)
	for i := range units {
		units[i] = order.Uint16(b[2*i:])
	}
	return string(utf16.Decode(units))
}

// fileTooLarge returns the fault for a file that exceeds a limit.
func fileTooLarge(what string) error {
	return fault.Invalid([]fault.Detail{{
		Field: "body", Code: tooLarge, Message: what + " Split the file, or leave out columns that hold no metrics.",
		Meta: fault.Meta{"maximum_rows": MaxFileRows, "maximum_columns": MaxColumns, "maximum_cells": MaxCells, "maximum_cell_bytes": MaxCell, "maximum_text_bytes": MaxText},
	}})
}

func unreadable(message string, meta fault.Meta) *fault.Error {
	return fault.Invalid([]fault.Detail{{Field: "body", Code: "invalid_format", Message: message, Meta: meta}})
}

// textGrid returns the rows below the header of a text.
func textGrid(text string, delimiter rune, header int) (*grid, error) {
	g := &grid{header: header, lines: strings.Count(text, "\n")}
	err := records(text, delimiter, func(line int, cells []string) error {
		if line < header {
			return nil
		}
		if len(cells) > MaxColumns {
			return tooManyColumns(line)
		}
		g.columns = distinct(cells)
		return errStop
	})
	switch {
	case err == nil:
		return nil, unreadable("The file has no line with the names of its columns.", nil)
	case !errors.Is(err, errStop):
		return nil, err
	}
	g.each = func(visit func(line int, cells []string) error) error {
		return records(text, delimiter, func(line int, cells []string) error {
			if line <= header {
				return nil
			}
			return g.visit(line, cells, visit)
		})
	}
	return g, nil
}

// errStop stops a visit.
var errStop = errors.New("enough")

// parquetLimits are the limits of imports for the Parquet reader.
var parquetLimits = fact.FileLimits{Rows: MaxFileRows, Columns: MaxColumns, Cells: MaxCells, Cell: MaxCell, Text: MaxText}

// parquetGrid returns the rows of a Parquet file. Their lines count from 1.
func parquetGrid(ctx context.Context, p Parquet, b []byte) (*grid, error) {
	if p == nil {
		return nil, unreadable("Parquet files cannot be read here. Send CSV.", nil)
	}
	g := &grid{}
	read := func(visit func(line int, cells []string) error) error {
		line := 0
		var stopped error
		err := p.ReadParquet(ctx, b, parquetLimits, func(columns []string, rows [][]string) error {
			if g.columns == nil {
				g.columns = distinct(columns)
			}
			for _, cells := range rows {
				line++
				if stopped = g.visit(line, cells, visit); stopped != nil {
					return stopped
				}
			}
			return nil
		})
		if err == nil || stopped != nil || ctx.Err() != nil {
			return errors.Join(stopped, ctx.Err())
		}
		if large, ok := errors.AsType[*fact.FileTooLargeError](err); ok {
			return fileTooLarge(large.What)
		}
		if errors.Is(err, fact.ErrUnreadableFile) {
			return unreadable("The file is no Parquet file that can be read, or takes too much memory to read. Write it anew with fewer rows, or send CSV.", nil).Because(err)
		}
		return err
	}
	g.each = read
	err := read(func(int, []string) error { return errStop })
	switch {
	case err != nil && !errors.Is(err, errStop):
		return nil, err
	case len(g.columns) == 0:
		return nil, unreadable("The file has no rows.", nil)
	case len(g.columns) > MaxColumns:
		return nil, tooManyColumns(0)
	}
	return g, nil
}

// visit checks the limits of a row and adjusts its number of cells to the
// columns.
func (g *grid) visit(line int, cells []string, visit func(line int, cells []string) error) error {
	for len(cells) > len(g.columns) && strings.TrimSpace(cells[len(cells)-1]) == "" {
		cells = cells[:len(cells)-1]
	}
	if len(cells) > MaxColumns {
		return tooManyColumns(line)
	}
	for len(cells) < len(g.columns) {
		cells = append(cells, "")
	}
	return visit(line, cells)
}

// tooManyColumns returns the fault for a line, or for the whole file if line is
// 0.
func tooManyColumns(line int) error {
	where, meta := "The file", fault.Meta{"maximum": MaxColumns}
	if line > 0 {
		where, meta["line"] = fmt.Sprintf("Line %d", line), line
	}
	return fault.Invalid([]fault.Detail{{
		Field: "body", Code: "too_many_items", Message: fmt.Sprintf("%s has more than %d columns. Leave out columns that hold no metrics.", where, MaxColumns), Meta: meta,
	}})
}

// distinct makes the column names unique.
func distinct(names []string) []string {
	out, seen := make([]string, len(names)), map[string]bool{}
	for i, name := range names {
		name = cut(strings.TrimSpace(name), MaxID)
		if name == "" {
			name = fmt.Sprintf("Column %d", i+1)
		}
		unique := name
		for n := 2; seen[unique]; n++ {
			unique = fmt.Sprintf("%s (%d)", name, n)
		}
		seen[unique] = true
		out[i] = unique
	}
	return out
}
