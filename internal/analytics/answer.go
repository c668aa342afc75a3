package analytics

import (
	"slices"
	"strconv"
	"time"

	"fanfare/internal/fact"
	"fanfare/internal/ident"
)

// Answer is one page of rows with its metadata.
type Answer struct {
	layout layout
	rows   []row
	// next is the cursor of the next page, empty on the last.
	next string
	// all has the rows of every page.
	all    []row
	totals row
	// head is the part of the meta object that all pages share, without its
	// closing brace.
	head []byte
	meta []byte

	// codes are the distinct codes of the warnings.
	codes []string

	totalRows *int
	cached    bool
	// estimated is true for the answer of a dry run.
	estimated bool

	report *reportOptions
	// records are the records that a report's rows are about.
	records map[ident.ID]fact.Record
}

// Next returns the cursor of the next page, empty on the last.
func (a *Answer) Next() string { return a.next }

// Estimated reports whether the query was a dry run, which has no rows.
func (a *Answer) Estimated() bool { return a.estimated }

// WarningCodes returns the distinct codes of the warnings, in their order.
// Formats without meta carry them in a header.
func (a *Answer) WarningCodes() []string { return a.codes }

// SetNext replaces the cursor. The new cursor must contain the old one.
func (a *Answer) SetNext(cursor string) { a.next = cursor }

// answer builds the first page.
func (e *evaluation) answer(started time.Time) *Answer {
	a := &Answer{layout: e.r.layout(), all: e.rows, rows: e.rows[:min(len(e.rows), e.r.limit)], totals: e.totals}
	if e.r.totalRows {
		n := len(e.rows)
		a.totalRows = &n
	}
	a.encodeSharedMeta(e, started, nil)
	return a
}

// encodeMeta adds the page's own members to meta.
func (a *Answer) encodeMeta(elapsed time.Duration) {
	b := append(make([]byte, 0, len(a.head)+100), a.head...)
	b = appendCount(append(b, `,"total_rows":`...), a.totalRows)
	b = strconv.AppendInt(append(b, `,"row_count":`...), int64(len(a.rows)), 10)
	b = strconv.AppendInt(append(b, `,"elapsed_ms":`...), elapsed.Milliseconds(), 10)
	cache := `,"cache":"miss"}`
	if a.cached {
		cache = `,"cache":"hit"}`
	}
	b = append(b, cache...)
	a.meta = b
}

// AppendJSON appends the answer as one JSON object.
func (a *Answer) AppendJSON(b []byte) []byte {
	if a.report != nil {
		return a.appendReport(b)
	}
	b = append(b, `{"data":[`...)
	for i := range a.rows {
		if i > 0 {
			b = append(b, ',')
		}
		b = a.layout.appendRow(b, &a.rows[i])
		if i == 0 {
			// Assume that all rows have about the same length.
			b = slices.Grow(b, len(b)*len(a.rows)+len(a.meta)+500)
		}
	}
	return a.appendPageMembers(append(b, ']'))
}

// appendPageMembers appends the members that follow data.
func (a *Answer) appendPageMembers(b []byte) []byte {
	b = strconv.AppendBool(append(b, `,"has_more":`...), a.next != "")
	b = appendNullable(append(b, `,"next_cursor":`...), a.next, a.next == "")
	b = append(append(b, `,"meta":`...), a.meta...)
	return append(b, '}')
}

// AppendNDJSON appends the rows, one JSON object per line.
func (a *Answer) AppendNDJSON(b []byte) []byte {
	for i := range a.rows {
		b = append(a.layout.appendRow(b, &a.rows[i]), '\n')
	}
	return b
}

// AppendCSV appends the rows as CSV with a header.
func (a *Answer) AppendCSV(b []byte) []byte {
	b = a.layout.appendHeader(b)
	for i := range a.rows {
		b = a.layout.appendLine(b, &a.rows[i])
	}
	return b
}
