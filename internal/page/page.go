// Package page holds what a list asks for and where it goes on: the query of
// one page, the page itself, and the sealed cursor between two pages.
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
)

// ByRanking sorts by values that are not in the table.
const ByRanking = "ranking"

// Query asks for one page of a list.
type Query struct {
	Limit int
	// Sort is a name from the list's whitelist, or ByRanking.
	Sort string
	Desc bool
	// Ranking has the sort values of ByRanking. Records that are not in it
	// come last.
	Ranking map[ident.ID]int64
	// Status holds the wanted statuses; nil means all but archived, or what
	// else ends a life, and empty but not nil means every status.
	Status []string
	// From and Until cut created_at, half open; nil means no bound.
	From, Until *clock.Instant
	// Filters hold the resource's own filters in a fixed order.
	Filters []Filter
	// After is the place of the last row of the page before.
	After *Place
}

// Filter keeps rows whose column has one of the values.
type Filter struct {
	Name   string
	Values []string
}

// Place is the sort value and id of a row.
type Place struct {
	// Null rows come last in both directions.
	Null bool
	Text string
	Int  int64
	ID   string
}

// Page is one page of records.
type Page struct {
	Docs []record.Doc
	// Next is where the next page starts, nil on the last one.
	Next *Place
}
