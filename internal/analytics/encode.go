package analytics

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"fanfare/internal/clock"
)

// layout describes the columns of a row.
type layout struct {
	dimensions []*Dimension
	metrics    []*Metric
	dated      bool
	labels     bool
	compare    bool
	// edges means that the range can cut buckets.
	edges bool
}

func appendText(b []byte, s string) []byte {
	// AppendQuote replaces invalid UTF-8; its error only reports that.
	b, _ = jsontext.AppendQuote(b, s)
	return b
}

// appendMember starts an object member, with a comma except for the first.
func appendMember(b []byte, name string) []byte {
	if b[len(b)-1] != '{' {
		b = append(b, ',')
	}
	b = append(b, '"')
	b = append(b, name...)
	return append(b, '"', ':')
}

func appendDate(b []byte, d clock.Date) []byte {
	return append(d.Append(append(b, '"')), '"')
}

// appendDate appends the first day of the row's bucket, or null if only the
// comparison period has a bucket.
func (r *row) appendDate(b []byte) []byte {
	return appendDateIf(append(b, `"date":`...), r.date, r.current)
}

func appendDateIf(b []byte, d clock.Date, there bool) []byte {
	if !there {
		return append(b, "null"...)
	}
	return appendDate(b, d)
}

// appendRow appends a row as a JSON object.
func (l *layout) appendRow(b []byte, r *row) []byte {
	b = append(b, `{"dimensions":{`...)
	if l.dated {
		b = r.appendDate(b)
	}
	foreign := false
	for i, d := range l.dimensions {
		v := &r.values[i]
		b = appendNullable(appendMember(b, d.Name), v.ID, v.null())
		foreign = foreign || v.null() && v.External != ""
	}
	if l.labels {
		b = append(b, `},"labels":{`...)
		for i, d := range l.dimensions {
			if v := &r.values[i]; d.Identifies {
				b = appendNullable(appendMember(b, d.Name), v.Label, v.Label == "")
			}
		}
	}
	if foreign {
		b = append(b, `},"external_ids":{`...)
		for i, d := range l.dimensions {
			if v := &r.values[i]; v.null() && v.External != "" {
				b = appendText(appendMember(b, d.Name), v.External)
			}
		}
	}
	b = append(b, '}')
	b = l.appendMetrics(b, r)
	if r.partial {
		b = append(b, `,"partial":true`...)
	}
	return append(b, '}')
}

func appendNullable(b []byte, text string, null bool) []byte {
	if null {
		return append(b, "null"...)
	}
	return appendText(b, text)
}

// appendMetrics appends the metrics, the comparison and the change as the last
// members of an object.
func (l *layout) appendMetrics(b []byte, r *row) []byte {
	b = l.appendValues(append(b, `,"metrics":`...), r.now)
	if l.compare {
		if l.dated {
			b = appendDateIf(append(b, `,"previous_date":`...), r.dateBefore, r.paired)
		}
		b = l.appendValues(append(b, `,"previous":`...), r.before)
		b = l.appendChange(append(b, `,"change":`...), r)
	}
	return b
}

// appendValues appends the metrics by name, or null for nil.
func (l *layout) appendValues(b []byte, numbers []Number) []byte {
	if numbers == nil {
		return append(b, "null"...)
	}
	b = append(b, '{')
	for i, m := range l.metrics {
		b = numbers[i].Append(appendMember(b, m.Name))
	}
	return append(b, '}')
}

func (l *layout) appendChange(b []byte, r *row) []byte {
	if r.before == nil {
		return append(b, "null"...)
	}
	b = append(b, '{')
	for i, m := range l.metrics {
		b = change(r.now[i], r.before[i]).Append(appendMember(b, m.Name))
	}
	return append(b, '}')
}

// appendHeader appends the CSV header.
func (l *layout) appendHeader(b []byte) []byte {
	var names []string
	if l.dated {
		names = append(names, "date")
	}
	for _, d := range l.dimensions {
		names = append(names, d.Name)
		if d.Identifies {
			if l.labels {
				names = append(names, d.Name+".label")
			}
			names = append(names, d.Name+".external_id")
		}
	}
	prefixes := []string{""}
	if l.compare {
		prefixes = []string{"", "previous.", "change."}
	}
	for _, prefix := range prefixes {
		if l.dated && prefix == "previous." {
			names = append(names, "previous.date")
		}
		for _, m := range l.metrics {
			names = append(names, prefix+m.Name)
		}
	}
	if l.edges {
		names = append(names, "partial")
	}
	return append(append(b, strings.Join(names, ",")...), "\r\n"...)
}

// appendLine appends a row as a CSV line (RFC 4180). Null is empty.
func (l *layout) appendLine(b []byte, r *row) []byte {
	from := len(b)
	date := func(d clock.Date, there bool) {
		if there {
			b = d.Append(b)
		}
		b = append(b, ',')
	}
	if l.dated {
		date(r.date, r.current)
	}
	for i, d := range l.dimensions {
		v := &r.values[i]
		b = append(appendCell(b, v.ID), ',')
		if d.Identifies {
			if l.labels {
				b = append(appendCell(b, v.Label), ',')
			}
			b = append(appendCell(b, v.External), ',')
		}
	}
	number := func(n Number) {
		if n.Known {
			b = n.Append(b)
		}
		b = append(b, ',')
	}
	for i := range l.metrics {
		number(r.now[i])
	}
	if l.compare {
		pairs := make([]Number, len(l.metrics))
		copy(pairs, r.before)
		if l.dated {
			date(r.dateBefore, r.paired)
		}
		for i := range pairs {
			number(pairs[i])
		}
		for i := range pairs {
			number(change(r.now[i], pairs[i]))
		}
	}
	if l.edges {
		if r.partial {
			b = append(b, "true"...)
		}
		b = append(b, ',')
	}
	// A row has at least one metric, so the line ends with a comma.
	b = b[:max(from, len(b)-1)]
	if len(b) == from {
		// Many CSV readers skip an empty line.
		b = append(b, `""`...)
	}
	return append(b, "\r\n"...)
}

// appendCell appends text that spreadsheets do not interpret as a formula.
func appendCell(b []byte, s string) []byte {
	if s == "" {
		return b
	}
	if strings.ContainsRune("=+-@\t\r", rune(s[0])) {
		s = "'" + s
	}
	if !strings.ContainsAny(s, ",\"\r\n") {
		return append(b, s...)
	}
	b = append(b, '"')
	b = append(b, strings.ReplaceAll(s, `"`, `""`)...)
	return append(b, '"')
}
