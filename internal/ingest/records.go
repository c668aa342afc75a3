package ingest

import (
	"fmt"
	"strings"

	"fanfare/internal/fault"
)

// maxCells is the maximum number of cells per line, including empty ones at its
// end: spreadsheets write one per column.
const maxCells = 16_384

// records visits the records of CSV text (RFC 4180, more tolerant of quotes).
// It stops at a cell or a record that is too long. cells is valid only during
// the call.
//
// Choice: not encoding/csv, which parses a whole record before the caller can
// check it: 25 MB of commas make it allocate more than 1 GB. A test compares
// the two.
func records(text string, delimiter rune, visit func(line int, cells []string) error) error {
	r := splitter{text: text, mark: byte(delimiter)}
	for r.next() {
		if r.rest == "" {
			continue
		}
		line := r.line
		if err := r.record(); err != nil {
			return err
		}
		if err := visit(line, r.cells); err != nil {
			return err
		}
	}
	return nil
}

// splitter splits text into cells.
type splitter struct {
	// text is the text after the current line.
	text string
	mark byte
	line int
	// rest is the remainder of the line. ended means that a line break follows.
	rest  string
	ended bool
	// start is the first line of the record.
	start   int
	cells   []string
	scratch []byte
}

// next moves to the next line. It returns false at the end of the text.
func (r *splitter) next() bool {
	if r.text == "" {
		r.rest, r.ended = "", false
		return false
	}
	r.line++
	r.rest, r.text, r.ended = strings.Cut(r.text, "\n")
	r.rest = strings.TrimSuffix(r.rest, "\r")
	return true
}

// record reads the cells of the record that starts on this line.
func (r *splitter) record() error {
	r.cells, r.start = r.cells[:0], r.line
	for more := true; more; {
		var cell string
		var err error
		if strings.HasPrefix(r.rest, `"`) {
			cell, more, err = r.quoted()
		} else {
			cell, r.rest, more = strings.Cut(r.rest, string(rune(r.mark)))
		}
		if err == nil && len(cell) > MaxCell {
			err = r.tooLong()
		}
		if err == nil && len(r.cells) == maxCells {
			err = tooManyColumns(r.start)
		}
		if err != nil {
			return err
		}
		r.cells = append(r.cells, cell)
	}
	return nil
}

func (r *splitter) tooLong() error {
	return unreadable(fmt.Sprintf("Line %d has a cell of more than %d bytes. Is a quote not closed?", r.start, MaxCell), fault.Meta{"line": r.start, "maximum": MaxCell})
}

// quoted reads a quoted cell and reports whether another cell follows. Two
// quotes are one; a quote that does not end the cell is literal.
func (r *splitter) quoted() (cell string, more bool, err error) {
	r.rest = r.rest[1:]
	cell, after, closed := strings.Cut(r.rest, `"`)
	if closed && (after == "" || after[0] == r.mark) {
		return r.after(cell, after)
	}
	r.scratch = r.scratch[:0]
	for len(r.scratch) <= MaxCell {
		inside, after, closed := strings.Cut(r.rest, `"`)
		switch {
		case closed && (after == "" || after[0] == r.mark):
			return r.after(string(append(r.scratch, inside...)), after)
		case closed:
			r.scratch = append(append(r.scratch, inside...), '"')
			r.rest = strings.TrimPrefix(after, `"`)
		case r.rest == "" && !r.ended: // the text ends
			return string(r.scratch), false, nil
		default:
			r.scratch = append(r.scratch, r.rest...)
			if r.ended {
				r.scratch = append(r.scratch, '\n')
			}
			r.next()
		}
	}
	return "", false, r.tooLong()
}

// after continues after the closing quote of a cell.
func (r *splitter) after(cell, after string) (string, bool, error) {
	if after == "" {
		r.rest = ""
		return cell, false, nil
	}
	r.rest = after[1:]
	return cell, true, nil
}
