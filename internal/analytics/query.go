package analytics

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"fanfare/internal/ident"
	"fanfare/internal/money"
)

// Limits of a query.
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
	// MaxRows is the maximum number of rows of a result, including rows that
	// only fill a series.
	MaxRows = 100_000
)

// Workspace has the workspace settings that a query uses.
type Workspace struct {
	ID       ident.ID
	Timezone string
	Currency money.Currency
}

// NewWorkspace creates a Workspace from the settings of an account. It takes
// them one by one, so that a new setting does not compile until every caller
// passes it.
func NewWorkspace(id ident.ID, timezone string, currency money.Currency) Workspace {
	return Workspace{ID: id, Timezone: timezone, Currency: currency}
}

// Query is a query as the caller sent it. Absent fields are nil, and only types
// are checked.
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

	// report has the fields of a report that a query lacks. internal
	// marks a query of the server itself.
	report   *reportOptions
	internal bool
}

// Range is a range of days, both included, or the name of a preset.
type Range struct {
	Start, End, Preset *string
}

// Filter is a node of a condition: exactly one of And, Or, Not is set, or it is
// a leaf.
type Filter struct {
	And []Filter `json:"and,omitzero"`
	Or  []Filter `json:"or,omitzero"`
	Not *Filter  `json:"not,omitzero"`

	Field  string   `json:"field,omitzero"`
	Op     string   `json:"op,omitzero"`
	Values []Scalar `json:"values,omitzero"`

	// Path is the path of the node, such as filters.and[0].
	Path string `json:"-"`
}

// Scalar is a value in a condition. For a number, Text is the literal as sent.
type Scalar struct {
	Text   string
	Number bool
}

// MarshalJSON writes numbers that are plain decimals as numbers, and everything
// else as text, so that it never fails.
func (s Scalar) MarshalJSON() ([]byte, error) {
	if amount, reason := money.Parse(s.Text, 0); s.Number && reason == "" {
		return Number{N: amount.Micros, Digits: maxDigits, Known: true}.Append(nil), nil
	}
	return appendText(nil, s.Text), nil
}

// Compare requests the same metrics for another period.
type Compare struct {
	To           string
	Range        *Range
	MatchWeekday bool
}

// Order is a sort key. An empty Order means the default direction of the field.
type Order struct {
	Field, Order string
}

// Include selects optional parts of the answer; nil means the default.
type Include struct {
	Totals, EmptyRows, Labels, TotalRows *bool
}

// hash identifies a query, except for limit and cursor, which may differ
// between pages.
func (q *Query) hash() string {
	same := *q
	same.Limit, same.Cursor = nil, nil
	// Strings, numbers and flags can always be encoded.
	b, _ := json.Marshal(struct {
		Query  *Query
		Report *reportOptions
	}{&same, q.report})
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:16])
}

// isPageOnly reports whether the query has only limit and cursor.
func (q *Query) isPageOnly() bool {
	return q.Metrics == nil && q.Dimensions == nil && q.Range == nil && q.Granularity == nil && q.Timezone == nil && q.Currency == nil &&
		q.Filters == nil && q.Compare == nil && q.OrderBy == nil && q.Include == Include{} && !q.DryRun
}
