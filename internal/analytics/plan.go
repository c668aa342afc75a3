package analytics

import (
	"context"

	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/ident"
	"fanfare/internal/money"
)

// Granularity is how days are put together.
type Granularity string

// The granularities. A week begins on Monday.
const (
	Whole   Granularity = "none"
	Day     Granularity = "day"
	Week    Granularity = "week"
	Month   Granularity = "month"
	Quarter Granularity = "quarter"
	Year    Granularity = "year"
)

// Granularities lists them all.
var Granularities = []Granularity{Whole, Day, Week, Month, Quarter, Year}

// Op compares a dimension with values.
type Op string

// The operators. Those that deny keep rows that have no value at all: what is
// not known is not what was excluded. Contains, not contains and starts with
// ignore case.
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
// it is a leaf. A condition on a tag is about the row's tag where rows are
// grouped by tag, else about any tag of the campaign.
type Condition struct {
	And, Or   []Condition
	Not       *Condition
	Dimension string
	Op        Op
	// Values are compared with any of them: eq and in, contains, starts_with
	// mean one of them, ne, not_in and not_contains none of them. Text sorts
	// by its bytes for gt, gte, lt, lte and between.
	Values []string
}

// DimensionVariant is the variant of a creative. It is asked for from within
// and not in the catalogue: what a caller sees of variants is listed with them.
const DimensionVariant = "variant_id"

// Plan is one question to the facts, checked and with every default filled in.
// Who keeps the facts answers it with sums alone; what they mean is decided
// here.
type Plan struct {
	Workspace ident.ID
	Family    fact.Family
	// First and Last are the days, both included.
	First, Last clock.Date
	Granularity Granularity
	// Dimensions are names of the catalogue, each known to the family.
	Dimensions []string
	// Measures may be none: groups then say only that there are facts.
	Measures []fact.Measure
	// Where is nil for everything.
	Where *Condition
	// Currency is what amounts are given in. Every amount is converted and
	// rounded by itself, so that sums stay sums.
	Currency money.Currency
	// Rates give for a day and a currency of a source how many units of
	// Currency one unit is worth: Over / Under. A source whose currency is
	// Currency needs none. Where one is missing, the sums that it would be
	// part of are unknown.
	Rates []Rate
	// MaxGroups is how many groups there may be; more are an error.
	MaxGroups int
	// Forgiving has a sum that is too large to be exact be unknown, and the
	// others told. Otherwise it is an error.
	Forgiving bool
}

// Rate converts one currency on one day: an amount times Over / Under, half
// away from zero.
type Rate struct {
	Currency    money.Currency
	Date        clock.Date
	Over, Under int64
}

// Value is a dimension's value in a group. For the dimensions that identify a
// record, ID is ours; where there is none, Null is set and External and Label
// tell what the platform calls it, and groups with different ones are
// different groups. Where nothing is there at all, all are empty.
type Value struct {
	ID       string
	Null     bool
	External string
	Label    string
}

// Sum is a total of a measure. It is not known where no row knew it, where a
// rate is missing, and for reach where it is not the figure of one row alone.
type Sum struct {
	N     int64
	Known bool
	// NoRate says that a rate was missing, Mixed that the figure of more than
	// one row would be needed.
	NoRate, Mixed bool
}

// Group is one group of facts.
type Group struct {
	// Bucket is the first day of the group's day, week, month, quarter or
	// year, which may be before the plan's first day; it is 0 for Whole.
	Bucket clock.Date
	Values []Value
	Sums   []Sum
}

// Facts answers plans.
type Facts interface {
	// Query returns the groups that have any fact, in no order. It stops when
	// ctx ends. More groups than the plan allows are ErrTooMany, sums that are
	// too large to be exact ErrTooLarge.
	Query(ctx context.Context, p *Plan) ([]Group, error)
	// State tells what there is of a workspace.
	State(ctx context.Context, workspace ident.ID) (State, error)
}

// State is what there is of a workspace's facts.
type State struct {
	// Generation rises with every write.
	Generation int64
	Sources    []fact.Coverage
	// Mirrored is how far the copies of records have come, 0 for never.
	Mirrored clock.Instant
}
