package analytics

import (
	"context"
	"errors"
	"time"

	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/ident"
	"fanfare/internal/money"
)

// Faults of a plan that only those find who run it.
var (
	ErrTooMany  = errors.New("the result has more groups than it may have")
	ErrTooLarge = errors.New("a sum is too large to be exact")
)

// RateBook knows what currencies were worth.
type RateBook interface {
	// Rates returns the stored rates of these currencies on these days, both
	// included, in no order. A day without a rate is left out.
	Rates(ctx context.Context, workspace ident.ID, currencies []money.Currency, first, last clock.Date) ([]DayRate, error)
}

// OneEuro is the rate of the euro itself, which is never stored.
const OneEuro = 100_000_000

// DayRate is how many units of a currency one euro was worth on a day, times
// OneEuro.
type DayRate struct {
	Currency money.Currency
	Date     clock.Date
	PerEuro  int64
}

// Results keeps the rows of long answers, so that their later pages show what
// the first one saw, whoever is asked for them.
type Results interface {
	Keep(ctx context.Context, workspace ident.ID, k *Kept) error
	// Page returns rows from an offset on, and how many there are in all. A
	// result that is unknown, another workspace's or expired is a not_found
	// fault.
	Page(ctx context.Context, workspace, id ident.ID, offset, limit int) (rows [][]byte, meta []byte, total int, err error)
}

// Kept is an answer with all its rows.
type Kept struct {
	ID ident.ID
	// Hash tells the query that it answers.
	Hash string
	// Rows are JSON without line breaks.
	Rows      [][]byte
	Meta      []byte
	ExpiresAt clock.Instant
}

// Flights knows what campaigns are planned to spend.
type Flights interface {
	// Flights leaves out campaigns that have no budget.
	Flights(ctx context.Context, workspace ident.ID, campaigns []ident.ID) (map[ident.ID]Flight, error)
}

// Flight is a campaign's plan: from when to when, and how much, a day or in
// all. Days are those of the campaign's zone.
type Flight struct {
	Start, End *clock.Date
	Daily      bool
	Micros     int64
	Currency   money.Currency
	// Running says that the campaign is active, neither paused nor over.
	Running bool
}

// Entities knows the records that facts are linked to.
type Entities interface {
	// Connections returns all of a workspace, also those that are gone: their
	// facts stay.
	Connections(ctx context.Context, workspace ident.ID) ([]Connection, error)
	// Records returns those of a kind that have these ids; nil asks for all
	// that are not archived.
	Records(ctx context.Context, workspace ident.ID, kind string, ids []ident.ID) ([]fact.Record, error)
}

// Connection is what an answer tells about where its numbers come from.
type Connection struct {
	ID       ident.ID
	Name     string
	Platform string
	Status   string
	// DataThrough is the last day that is there as a whole, nil where nobody
	// knows better than the facts.
	DataThrough *clock.Date
	// LookbackDays is for how many days the platform still corrects figures.
	LookbackDays int
	// A connection is stale when its last success is longer ago than
	// StaleAfter; 0 is for those that others push into whenever they like.
	LastSuccess *clock.Instant
	StaleAfter  time.Duration
	// Lost says that facts of it were lost and are not all there again.
	Lost bool
	// Sandbox says that its figures are made up.
	Sandbox bool
}
