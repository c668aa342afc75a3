package analytics

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"fanfare/internal/clock"
)

// storedRow is a row as it is stored for later pages. It is shorter and faster
// to write than the answer. Later pages are rare, so labels, formats and
// changes are computed when a page is requested.
type storedRow struct {
	// Date and DateBefore are nil if the period has no bucket.
	Date       *int32 `json:"d"`
	DateBefore *int32 `json:"e"`
	Partial    bool   `json:"p"`
	// Values are ids, names and platform ids. Missing ones are empty.
	Values [][3]string   `json:"v"`
	Now    storedNumbers `json:"n"`
	Before storedNumbers `json:"b"`
}

// storedNumbers are unrounded numbers.
type storedNumbers []Number

const millionths = "e-6"

// appendStoredRow appends a row as one line for readStoredRow.
func appendStoredRow(b []byte, r *row) []byte {
	b = append(b, '{')
	if r.current {
		b = append(strconv.AppendInt(append(b, `"d":`...), int64(r.date), 10), ',')
	}
	if r.paired {
		b = append(strconv.AppendInt(append(b, `"e":`...), int64(r.dateBefore), 10), ',')
	}
	if r.partial {
		b = append(b, `"p":true,`...)
	}
	b = append(b, `"v":[`...)
	for i := range r.values {
		v := &r.values[i]
		b = appendText(append(b, '['), v.ID)
		if v.Label != "" || v.External != "" {
			b = appendText(append(b, ','), v.Label)
		}
		if v.External != "" {
			b = appendText(append(b, ','), v.External)
		}
		b = append(b, ']', ',')
	}
	b = storedNumbers(r.now).append(append(closeList(b), `,"n":`...))
	if r.before != nil {
		b = storedNumbers(r.before).append(append(b, `,"b":`...))
	}
	return append(b, '}')
}

func (list storedNumbers) append(b []byte) []byte {
	b = append(b, '[')
	for _, n := range list {
		switch {
		case !n.Known:
			b = append(b, "null"...)
		case n.Digits == 0:
			b = strconv.AppendInt(b, n.N, 10)
		default:
			b = append(strconv.AppendInt(b, n.N, 10), millionths...)
		}
		b = append(b, ',')
	}
	return closeList(b)
}

// UnmarshalJSON parses the output of append.
func (list *storedNumbers) UnmarshalJSON(b []byte) error {
	for text := range strings.SplitSeq(strings.Trim(string(b), "[]"), ",") {
		n := Number{}
		if text != "null" {
			text, scaled := strings.CutSuffix(text, millionths)
			v, err := strconv.ParseInt(text, 10, 64)
			if err != nil {
				return fmt.Errorf("read stored number: %w", err)
			}
			n = Number{N: v, Known: true}
			if scaled {
				n.Digits = maxDigits
			}
		}
		*list = append(*list, n)
	}
	return nil
}

// closeList replaces the trailing comma of a list by its end.
func closeList(b []byte) []byte {
	if last := len(b) - 1; b[last] == ',' {
		b = b[:last]
	}
	return append(b, ']')
}

// readStoredRow parses a row of appendStoredRow. It returns false for rows that
// another version of the program wrote in another form.
func readStoredRow(text []byte, r *row) bool {
	var k storedRow
	if json.Unmarshal(text, &k) != nil || k.Now == nil || (k.DateBefore == nil) != (k.Before == nil) {
		return false
	}
	*r = row{current: k.Date != nil, paired: k.DateBefore != nil, partial: k.Partial, now: k.Now, before: k.Before}
	if r.current {
		r.date = clock.Date(*k.Date)
	}
	if r.paired {
		r.dateBefore = clock.Date(*k.DateBefore)
	}
	for _, v := range k.Values {
		r.values = append(r.values, Value{ID: v[0], Label: v[1], External: v[2], Null: v[0] == ""})
	}
	return true
}
