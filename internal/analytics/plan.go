package analytics

import (
	"context"
	"time"

	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/ident"
	"fanfare/internal/money"
)

// Granularity is the size of time buckets.
type Granularity string

// The granularities. A week starts on Monday.
const (
	Whole   Granularity = "none"
	Day     Granularity = "day"
	Week    Granularity = "week"
	Month   Granularity = "month"
	Quarter Granularity = "quarter"
	Year    Granularity = "year"
)

// Granularities lists all granularities.
var Granularities = []Granularity{Whole, Day, Week, Month, Quarter, Year}

// Op is an operator of a condition.
type Op string

// The operators. Negated operators keep rows without a value: an unknown value
// is not the excluded one. Contains, not contains and starts with ignore case.
const (
	Equal       Op = "eq"
	NotEqual    Op = "ne"
	In          Op = "in"
	NotIn       Op = "not_in"
	Contains    Op = "contains"
	NotContains Op = "not_contains"
	StartsWith  Op = "starts_with"
	Greater     Op = "gt"
	AtLeast     Op = "gte"
	Less        Op = "lt"
	AtMost      Op = "lte"
	Between     Op = "between"
	IsNull      Op = "is_null"
	IsNotNull   Op = "is_not_null"
)

// Condition is a tree over dimensions: exactly one of And, Or, Not is set, or
// it is a leaf. A condition on a tag applies to the row's tag if rows are
// grouped by tag, otherwise to any tag of the campaign.
type Condition struct {
	And, Or   []Condition
	Not       *Condition
	Dimension string
	Op        Op
	// Values are the operands. eq, in, contains and starts_with match any of
	// them; ne, not_in and not_contains match none of them. gt, gte, lt, lte
	// and between compare text by bytes.
	Values []string
}

// DimensionVariant is the variant of a creative. It is for internal queries and
// not in the catalog: callers see variants in their creative.
const DimensionVariant = "variant_id"

// Plan is one query of the facts, validated and with all defaults set. The
// engine returns only sums; this package interprets them.
type Plan struct {
	Workspace ident.ID
	Family    fact.Family
	// First and Last are the days, both included.
	First, Last clock.Date
	Granularity Granularity
	// Dimensions are catalog names. The family has all of them.
	Dimensions []string
	// Measures may be empty. Groups then only show that facts exist.
	Measures []fact.Measure
	// Where is nil for all facts.
	Where *Condition
	// Currency is the currency of amounts. Every amount is converted and
	// rounded on its own, so that totals equal the sums of their parts.
	Currency money.Currency
	// Rates has, per day and currency of a source, the value of one unit in
	// Currency: Over / Under. Sources in Currency need no rate. If a rate is
	// missing, the affected sums are unknown.
	Rates []Rate
	// MaxGroups is the maximum number of groups. More are an error.
	MaxGroups int
	// UnknownIfTooLarge makes a sum that is too large to be exact unknown.
	// Otherwise such a sum is an error.
	UnknownIfTooLarge bool
}

// Rate converts a currency on one day: amount × Over / Under, rounded half away
// from zero.
type Rate struct {
	Currency    money.Currency
	Date        clock.Date
	Over, Under int64
}

// Value is the value of a dimension in a group. For dimensions that identify
// records, ID is the record's id. Without a linked record, Null is set, and
// External and Label are the platform's id and name; groups with different ones
// are distinct. If neither exists, all fields are empty.
type Value struct {
	ID       string
	Null     bool
	External string
	Label    string
}

// Sum is the total of a measure. It is unknown if no row has it, if a rate is
// missing, or, for reach, if it needs more than one row.
type Sum struct {
	N     int64
	Known bool
	// NoRate means that a rate was missing. Mixed means that the sum needs more
	// than one row.
	NoRate, Mixed bool
}

// Group is one group of facts.
type Group struct {
	// Bucket is the first day of the group's day, week, month, quarter or year.
	// It can be before the plan's first day, and is 0 for Whole.
	Bucket clock.Date
	Values []Value
	Sums   []Sum
}

// Facts runs plans.
type Facts interface {
	// Begin waits for the turn of a request, in which plans run without another
	// wait: with the returned context, until end is called. plans are those that
	// read most. A turn that does not come within wait is an unavailable fault,
	// one request too many of a workspace a rate_limit_exceeded fault.
	Begin(ctx context.Context, workspace ident.ID, wait time.Duration, plans ...*Plan) (turn context.Context, end func(), err error)
	// Query returns the groups that have facts, in no order. It stops when ctx
	// ends. It returns ErrTooMany for more groups than the plan allows, and
	// ErrTooLarge for sums that are too large to be exact. Without a turn of
	// Begin it waits for one as long as ctx, and is never refused.
	Query(ctx context.Context, p *Plan) ([]Group, error)
	// State returns the state of a workspace's facts.
	State(ctx context.Context, workspace ident.ID) (State, error)
}

// State describes the facts of a workspace.
type State struct {
	// Generation rises with every write.
	Generation int64
	Sources    []fact.Coverage
	// Mirrored is the time up to which copies of records are current, 0 for
	// never.
	Mirrored clock.Instant
}
