package googleauth

import (
	"fanfare/internal/connection"
	"fanfare/internal/fact"
)

// SeenRows sees that the parts of a report belong together.
type SeenRows[K comparable] map[K]fact.Values

// Add reports whether a row is a new one. One that came before with the same
// values is not; with other values it is an error, because then nobody knows
// which of them count.
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

// ReportChanged is the error of a report that changed while it was read.
func ReportChanged(code, message string) error {
	return &connection.Error{Class: connection.Drift, Code: code, Message: message}
}

// MalformedAnswer is the error of an answer that has something else than it should.
func MalformedAnswer(message string) error {
	return &connection.Error{Class: connection.Transient, Code: "malformed", Message: message}
}
