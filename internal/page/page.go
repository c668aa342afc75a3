// Package page defines the query of one page of a list, the page, and the
// encrypted cursor between two pages.
package page

import (
	"fanfare/internal/clock"
	"fanfare/internal/ident"
	"fanfare/internal/record"
)

// Limits of a page.
const (
	DefaultLimit = 20
	MaxLimit     = 100
	// MaxBytes is the size at which a page ends before its limit, unless its
	// first record is larger. It bounds what one request for a list costs.
	MaxBytes = 1 << 20
)

// ByRanking sorts by values that are not in the table.
const ByRanking = "ranking"

// Query asks for one page of a list.
type Query struct {
	Limit int
	// Sort is one of the list's sort fields, or ByRanking.
	Sort string
	Desc bool
	// Ranking has the sort values of ByRanking. Records without a value come
	// last.
	Ranking map[ident.ID]int64
	// Status has the requested statuses. Nil means all except archived or
	// another final status; empty but not nil means every status.
	Status []string
	// From and Until limit created_at, half open; nil means no limit.
	From, Until *clock.Instant
	// Filters has the filters of the resource in a fixed order.
	Filters []Filter
	// After is the position of the last row of the previous page.
	After *Position
}

// Filter keeps rows whose column has one of the values.
type Filter struct {
	Name   string
	Values []string
}

// Position is the sort value and the id of a row.
type Position struct {
	// Null rows come last in both directions.
	Null bool
	Text string
	Int  int64
	ID   string
}

// Page is one page of records.
type Page struct {
	Docs []record.Doc
	// Next is the position of the last record, for the query of the next page. It
	// is nil on the last page.
	Next *Position
}
