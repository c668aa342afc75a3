package microsoft

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"errors"
	"io"
	"strconv"
	"strings"
	"time"

	"fanfare/internal/clock"
	"fanfare/internal/connection"
)

// maxFileBytes limits a report that is no longer compressed.
const maxFileBytes = 512 << 20

// reportFile is a downloaded report: what its header says, and its rows. Columns
// has the position of each column.
type reportFile struct {
	zone string
	// incomplete says that days are not counted completely, complete is the day
	// of the last complete count, 0 if the header has none.
	incomplete bool
	complete   clock.Date
	columns    map[string]int
	rows       [][]string
}

// parseFile parses a report: a ZIP, a gzip file or text. It returns an error if
// the file is not whole.
func parseFile(body []byte, columns []string) (*reportFile, error) {
	text, err := unpack(body)
	if err != nil {
		return nil, err
	}
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	text = bytes.ReplaceAll(text, []byte{0}, nil)
	f := &reportFile{}
	r := csv.NewReader(bytes.NewReader(text))
	r.FieldsPerRecord, r.LazyQuotes, r.ReuseRecord = -1, true, false
	stated := -1
	for {
		line, err := r.Read()
		switch {
		case errors.Is(err, io.EOF):
			return f.finish(stated)
		case err != nil:
			return nil, malformed("The report is not CSV.")
		case f.columns == nil && len(line) == 1:
			if name, value, ok := strings.Cut(line[0], ": "); ok {
				stated = f.setHeader(name, value, stated)
			}
		case f.columns == nil:
			if f.columns, err = columnsOf(line, columns); err != nil {
				return nil, err
			}
		case isTotal(line[0]):
		case len(line) == len(f.columns):
			f.rows = append(f.rows, line)
		case len(line) == 1 && isFooter(line[0]):
			return f.finish(stated)
		default:
			return nil, malformed("A line of the report has too few values.")
		}
	}
}

// finish checks that the file has as many rows as its header says.
func (f *reportFile) finish(stated int) (*reportFile, error) {
	if f.columns == nil || stated != len(f.rows) {
		return nil, malformed("The report does not have the number of rows that its header says.")
	}
	return f, nil
}

// isTotal reports whether a line is the sum of all others, as isFooter does for
// the last line. Both are excluded by the request; the reader of the SDK skips
// them too (bingads/v13/internal/reporting/row_report_iterator.py).
func isTotal(text string) bool { return strings.HasPrefix(text, "Total") }

func isFooter(text string) bool {
	return strings.HasPrefix(text, "@") || strings.HasPrefix(text, "©")
}

// columnsOf returns the positions of the columns, which must be the requested
// ones.
func columnsOf(line, want []string) (map[string]int, error) {
	at := map[string]int{}
	for i, name := range line {
		at[name] = i
	}
	for _, name := range want {
		if _, ok := at[name]; !ok {
			return nil, malformed("The report has no column " + name + ".")
		}
	}
	if len(at) != len(line) {
		return nil, malformed("The report has a column twice.")
	}
	return at, nil
}

// setHeader stores a line of the header and returns the stated number of rows.
func (f *reportFile) setHeader(name, value string, stated int) int {
	switch name {
	case "Time Zone":
		f.zone = value
	case "Potential Incomplete Data":
		f.incomplete = value == "true"
	case "Last Completed Available Day":
		day, _, _ := strings.Cut(value, " ")
		if at, err := time.Parse("1/2/2006", day); err == nil {
			f.complete = clock.DateIn(at, time.UTC)
		}
	case "Rows":
		if n, err := strconv.Atoi(value); err == nil {
			return n
		}
	}
	return stated
}

// unpack returns the text of a file. The first bytes tell its format, because
// Microsoft does not always compress files.
func unpack(body []byte) ([]byte, error) {
	var from io.Reader
	switch {
	case bytes.HasPrefix(body, []byte("PK\x03\x04")):
		archive, err := zip.NewReader(bytes.NewReader(body), int64(len(body)))
		if err != nil || len(archive.File) == 0 {
			return nil, malformed("The file of the report is not a whole ZIP.")
		}
		entry, err := archive.File[0].Open()
		if err != nil {
			return nil, malformed("The file of the report is not a whole ZIP.")
		}
		defer func() { _ = entry.Close() }()
		from = entry
	case bytes.HasPrefix(body, []byte{0x1f, 0x8b}):
		unzipped, err := gzip.NewReader(bytes.NewReader(body))
		if err != nil {
			return nil, malformed("The file of the report is not a whole gzip file.")
		}
		from = unzipped
	default:
		return body, nil
	}
	text, err := io.ReadAll(io.LimitReader(from, maxFileBytes+1))
	switch {
	case err != nil:
		return nil, malformed("The file of the report is not whole.")
	case len(text) > maxFileBytes:
		return nil, &connection.Error{Class: connection.TooLarge, Code: "file_too_long", Message: "The report is too long."}
	}
	return text, nil
}
