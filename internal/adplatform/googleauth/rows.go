package googleauth

import (
	"fanfare/internal/connection"
	"fanfare/internal/fact"
)

// SeenRows detects duplicate rows of a report.
type SeenRows[K comparable] map[K]fact.Values

// Add reports whether a row is new. It returns an error if the same row had
// other values before, because the report changed while it was read.
func (g SeenRows[K]) Add(key K, v fact.Values) (bool, error) {
	before, there := g[key]
	switch {
	case !there:
		g[key] = v
		return true, nil
	case before != v:
		return false, ReportChanged("changed_row", "A row came twice with different figures while the report was read.")
	}
	return false, nil
}

// ReportChanged returns the error of a report that changed while it was read.
func ReportChanged(code, message string) error {
	return &connection.Error{Class: connection.PagesDisagree, Code: code, Message: message}
}

// MalformedAnswer returns the error of an answer with unexpected content.
func MalformedAnswer(message string) error {
	return &connection.Error{Class: connection.Transient, Code: "malformed", Message: message}
}
