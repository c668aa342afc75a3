package analytics_test

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// testQuery is the body of a query.
type testQuery struct {
	Metrics     []string    `json:"metrics"`
	Dimensions  []string    `json:"dimensions,omitempty"`
	DateRange   *period     `json:"date_range,omitempty"`
	Granularity string      `json:"granularity,omitempty"`
	Timezone    string      `json:"timezone,omitempty"`
	Currency    string      `json:"currency,omitempty"`
	Filters     any         `json:"filters,omitempty"`
	Compare     *comparison `json:"compare,omitempty"`
	OrderBy     []sortOrder `json:"order_by,omitempty"`
	Include     *include    `json:"include,omitempty"`
	Limit       int         `json:"limit,omitempty"`
	Cursor      string      `json:"cursor,omitempty"`
	DryRun      bool        `json:"dry_run,omitempty"`

	// filter is the parsed form of Filters.
	filter *condition
	// statuses and sort are for reports only: the statuses of records, and a
	// sort metric that need not be shown, or name.
	statuses []string
	sort     *sortOrder
}

type period struct {
	StartDate string `json:"start_date,omitempty"`
	EndDate   string `json:"end_date,omitempty"`
	Preset    string `json:"preset,omitempty"`
}

type comparison struct {
	To           string  `json:"to"`
	DateRange    *period `json:"date_range,omitempty"`
	MatchWeekday bool    `json:"match_weekday,omitempty"`
}

type sortOrder struct {
	Field string `json:"field"`
	Order string `json:"order,omitempty"`
}

type include struct {
	Totals    *bool `json:"totals,omitempty"`
	EmptyRows *bool `json:"empty_rows,omitempty"`
	Labels    *bool `json:"labels,omitempty"`
	TotalRows *bool `json:"total_rows,omitempty"`
}

// condition is one of and, or and not, or a leaf.
type condition struct {
	And []condition `json:"and,omitempty"`
	Or  []condition `json:"or,omitempty"`
	Not *condition  `json:"not,omitempty"`

	Field  string `json:"field,omitempty"`
	Op     string `json:"op,omitempty"`
	Values []any  `json:"values,omitempty"`
}

// families are the reports that have a dimension; all reports have the
// dimensions that are not listed.
var families = map[string]string{
	"creative_id": "base", "creative_name": "base", "creative_type": "base",
	"country": "geo", "age_range": "demographic", "gender": "demographic", "device": "device",
}

// family returns the report that answers the query.
func (q *testQuery) family() string {
	for _, d := range append(slices.Clone(q.Dimensions), q.filter.fields()...) {
		if f := families[d]; f != "" {
			return f
		}
	}
	return "base"
}

// fields returns the names in a condition.
func (n *condition) fields() []string {
	if n == nil {
		return nil
	}
	if n.Field != "" {
		return []string{n.Field}
	}
	list := n.Not.fields()
	for _, inner := range slices.Concat(n.And, n.Or) {
		list = append(list, inner.fields()...)
	}
	return list
}

// onTags counts the conditions on tags, and reports whether one is negated.
func (n *condition) onTags(not bool) (asked int, denied bool) {
	if n == nil {
		return 0, false
	}
	if n.Not != nil {
		return n.Not.onTags(!not)
	}
	if n.Field == "tag" {
		return 1, not != slices.Contains([]string{"ne", "not_in", "not_contains"}, n.Op)
	}
	for _, inner := range slices.Concat(n.And, n.Or) {
		more, is := inner.onTags(not)
		asked, denied = asked+more, denied || is
	}
	return asked, denied
}

func isMetric(field string) bool { return slices.Contains(metrics, field) }

// matches reports whether the condition is true. Conditions on metrics are
// ignored; they are checked for rows.
func (n *condition) matches(of func(dimension string) []string) bool {
	switch {
	case n.And != nil:
		return !slices.ContainsFunc(n.And, func(n condition) bool { return !n.matches(of) })
	case n.Or != nil:
		return slices.ContainsFunc(n.Or, func(n condition) bool { return n.matches(of) })
	case n.Not != nil:
		return !n.Not.matches(of)
	case isMetric(n.Field):
		return true
	}
	return n.matchesValues(of(n.Field))
}

// matchesValues compares the values of a dimension. Without a value only
// negations are true.
func (n *condition) matchesValues(values []string) bool {
	lower := strings.ToLower
	// Tags are compared in lower case.
	text := func(wanted any) string {
		if n.Field == "tag" {
			return lower(wanted.(string))
		}
		return wanted.(string)
	}
	found := func(fits func(value, wanted string) bool) bool {
		for _, v := range values {
			for _, w := range n.Values {
				if fits(v, text(w)) {
					return true
				}
			}
		}
		return false
	}
	equal := func(v, w string) bool { return v == w }
	contains := func(v, w string) bool { return strings.Contains(lower(v), lower(w)) }
	switch n.Op {
	case "eq", "in":
		return found(equal)
	case "ne", "not_in":
		return !found(equal)
	case "contains":
		return found(contains)
	case "not_contains":
		return !found(contains)
	case "starts_with":
		return found(func(v, w string) bool { return strings.HasPrefix(lower(v), lower(w)) })
	case "gt":
		return found(func(v, w string) bool { return v > w })
	case "gte":
		return found(func(v, w string) bool { return v >= w })
	case "lt":
		return found(func(v, w string) bool { return v < w })
	case "lte":
		return found(func(v, w string) bool { return v <= w })
	case "between":
		return slices.ContainsFunc(values, func(v string) bool { return v >= text(n.Values[0]) && v <= text(n.Values[1]) })
	case "is_null":
		return len(values) == 0
	case "is_not_null":
		return len(values) > 0
	}
	panic("no operator " + n.Op)
}

// onMetrics returns the conditions on metrics.
func (q *testQuery) onMetrics() []condition {
	list := []condition{}
	if q.filter == nil {
		return list
	}
	for _, n := range append(slices.Clone(q.filter.And), *q.filter) {
		if isMetric(n.Field) {
			list = append(list, n)
		}
	}
	return list
}

// neededMetrics returns all metrics that the answer depends on.
func (q *testQuery) neededMetrics() []string {
	list := slices.Clone(q.Metrics)
	for _, n := range q.onMetrics() {
		list = append(list, n.Field)
	}
	if q.sort != nil && isMetric(q.sort.Field) {
		list = append(list, q.sort.Field)
	}
	return list
}

// asText returns the value of a condition on a metric.
func asText(v any) string { return string(v.(json.Number)) }

// today returns the day in the query's time zone.
func (q *testQuery) today(b *referenceData) day {
	name := b.zone
	if q.Timezone != "" {
		name = q.Timezone
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		panic(err)
	}
	return dayOf(b.now().In(zone))
}

// days returns the requested days and those that they are compared with.
func (q *testQuery) days(b *referenceData) (now, earlier span) {
	preset := "last_30_days"
	if q.DateRange != nil {
		preset = q.DateRange.Preset
	}
	if preset != "" {
		now = presetSpan(preset, q.today(b))
	} else {
		now = span{parseDay(q.DateRange.StartDate), parseDay(q.DateRange.EndDate)}
	}
	if q.Compare == nil {
		return now, span{}
	}
	if c := q.Compare; c.To == "custom" && c.DateRange.Preset != "" {
		return now, presetSpan(c.DateRange.Preset, q.today(b))
	}
	return now, comparedSpan(now, preset, *q.Compare)
}

func boolOr(b *bool, fallback bool) bool {
	if b == nil {
		return fallback
	}
	return *b
}
