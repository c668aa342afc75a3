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

// Errors that only the engine detects when it runs a plan.
var (
	ErrTooMany  = errors.New("the result has more groups than it may have")
	ErrTooLarge = errors.New("a sum is too large to be exact")
)

// RateReader stores exchange rates.
type RateReader interface {
	// Rates returns the stored rates of the currencies from first to last, both
	// included, in no order. It omits days without a rate.
	Rates(ctx context.Context, workspace ident.ID, currencies []money.Currency, first, last clock.Date) ([]DayRate, error)
}

// OneEuro is the rate of the euro, which is not stored.
const OneEuro = 100_000_000

// DayRate is the value of one euro in a currency on a day, times OneEuro.
type DayRate struct {
	Currency money.Currency
	Date     clock.Date
	PerEuro  int64
}

// Results stores the rows of long answers, so that later pages show the same
// result as the first one on every instance.
type Results interface {
	Save(ctx context.Context, workspace ident.ID, k *StoredResult) error
	// Page returns rows starting at offset, and the total number of rows. An
	// unknown or expired result, or one of another workspace, is a not_found
	// fault.
	Page(ctx context.Context, workspace, id ident.ID, offset, limit int) (rows [][]byte, meta []byte, total int, err error)
}

// StoredResult is a stored answer with all its rows.
type StoredResult struct {
	ID ident.ID
	// Hash identifies the query.
	Hash string
	// Rows are JSON without line breaks.
	Rows      [][]byte
	Meta      []byte
	ExpiresAt clock.Instant
}

// Flights returns the plans of campaigns.
type Flights interface {
	// Flights omits campaigns without a budget.
	Flights(ctx context.Context, workspace ident.ID, campaigns []ident.ID) (map[ident.ID]Flight, error)
}

// Flight is a campaign's plan: its dates and its budget, daily or total. Days
// are in the campaign's time zone.
type Flight struct {
	Start, End *clock.Date
	Daily      bool
	Micros     int64
	Currency   money.Currency
	// Running means that the campaign is active, not paused or completed.
	Running bool
}

// RecordReader reads the records that facts are linked to.
type RecordReader interface {
	// Connections returns all connections of a workspace, including
	// disconnected ones, because their facts remain.
	Connections(ctx context.Context, workspace ident.ID) ([]Connection, error)
	// Records returns the records of a kind with the given ids; nil means all
	// that are not archived.
	Records(ctx context.Context, workspace ident.ID, kind string, ids []ident.ID) ([]fact.Record, error)
}

// Connection describes the source of an answer's metrics.
type Connection struct {
	ID       ident.ID
	Name     string
	Platform string
	Status   string
	// DataThrough is the last complete day, or nil if only the facts show it.
	DataThrough *clock.Date
	// LookbackDays is the number of days in which the platform still restates
	// metrics.
	LookbackDays int
	// A connection is stale if its last success is longer ago than StaleAfter.
	// 0 means never, for connections that receive data by push.
	LastSuccess *clock.Instant
	StaleAfter  time.Duration
	// Lost means that facts were lost and are not fully restored.
	Lost bool
	// Own means that callers send the data.
	Own bool
	// Sandbox means that the metrics are simulated.
	Sandbox bool
	// Gaps are the days whose metrics are missing or not all there.
	Gaps []Gap
}

// Gap is a range of days of one report of an account whose metrics are missing
// or not all there.
type Gap struct {
	Platform string
	Account  string
	Currency money.Currency
	Family   fact.Family
	First    clock.Date
	Last     clock.Date
	Message  string
	// Measures are those that the gap is about, nil for all.
	Measures []fact.Measure
	// Metric and Amount are what is at stake; Metric is empty if nobody knows.
	Metric string
	Amount fact.Number
}
