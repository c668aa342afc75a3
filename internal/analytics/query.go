package analytics

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"fanfare/internal/ident"
	"fanfare/internal/money"
)

// Bounds of a query.
const (
	MaxMetrics    = 20
	MaxDimensions = 5
	MaxMonths     = 37
	MaxOrder      = 3
	DefaultLimit  = 1_000
	MaxLimit      = 10_000
	MaxDepth      = 4
	MaxLeaves     = 100
	MaxValues     = 500
	MaxText       = 200
	// MaxRows is how many rows a result may have, those included that only
	// fill a series.
	MaxRows = 100_000
)

// Workspace is what a query takes from the workspace it is asked in.
type Workspace struct {
	ID       ident.ID
	Timezone string
	Currency money.Currency
}

// Query is a question as a caller wrote it: what is absent is nil, and nothing
// is checked but the types.
type Query struct {
	Metrics     []string
	Dimensions  []string
	Range       *Range
	Granularity *string
	Timezone    *string
	Currency    *string
	Filters     *Filter
	Compare     *Compare
	OrderBy     []Order
	Include     Include
	Limit       *int64
	Cursor      *string
	DryRun      bool

	// report is what a report asks for beyond a query, inside says that it is
	// asked from within.
	report *report
	inside bool
}

// Range is a run of days, both included, or a name for one.
type Range struct {
	Start, End, Preset *string
}

// Filter is a node of a condition: exactly one of And, Or, Not is set, or it
// is a leaf.
type Filter struct {
	And []Filter `json:"and,omitzero"`
	Or  []Filter `json:"or,omitzero"`
	Not *Filter  `json:"not,omitzero"`

	Field  string   `json:"field,omitzero"`
	Op     string   `json:"op,omitzero"`
	Values []Scalar `json:"values,omitzero"`

	// Path is where the node stands, such as filters.and[0].
	Path string `json:"-"`
}

// Scalar is a value in a condition. Text of a number is the literal as it was
// written.
type Scalar struct {
	Text   string
	Number bool
}

// MarshalJSON writes the value as it was meant. What is no plain decimal is
// text, so that any value can be written.
func (s Scalar) MarshalJSON() ([]byte, error) {
	if amount, reason := money.Parse(s.Text, 0); s.Number && reason == "" {
		return Number{N: amount.Micros, Digits: maxDigits, Known: true}.Append(nil), nil
	}
	return appendText(nil, s.Text), nil
}

// Compare asks for the same figures of another time.
type Compare struct {
	To           string
	Range        *Range
	MatchWeekday bool
}

// Order sorts rows. An empty Order is the field's usual direction.
type Order struct {
	Field, Order string
}

// Include says what an answer holds; nil is the default.
type Include struct {
	Totals, EmptyRows, Labels, TotalRows *bool
}

// hash tells queries apart. Limit and cursor may differ from page to page.
func (q *Query) hash() string {
	same := *q
	same.Limit, same.Cursor = nil, nil
	// A tree of strings, numbers and flags can always be encoded.
	b, _ := json.Marshal(struct {
		Query  *Query
		Report *report
	}{&same, q.report})
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:16])
}

// bare reports whether nothing but the page is asked for.
func (q *Query) bare() bool {
	return q.Metrics == nil && q.Dimensions == nil && q.Range == nil && q.Granularity == nil && q.Timezone == nil && q.Currency == nil &&
		q.Filters == nil && q.Compare == nil && q.OrderBy == nil && q.Include == Include{} && !q.DryRun
}
