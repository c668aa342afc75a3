package numbers

import (
	"strconv"
	"strings"
	"time"

	"fanfare/internal/analytics"
	"fanfare/internal/clock"
	"fanfare/internal/fact"
)

// Dialect is the SQL of one engine, for one question. Facts are called f. All
// values are parameters of the statement: a dialect stores them and returns text
// that refers to them.
type Dialect interface {
	// From returns the tables and the condition that selects the workspace and
	// the days. If TagColumn is one of the question's columns, tags are called t.
	From() string
	// Facts returns the number of facts: count(*), unless rows are sums of facts.
	Facts() string
	// BucketStart returns the month, quarter or year of f.day. Starts are their
	// first days.
	BucketStart(starts []int32) string
	// Sum returns the columns of a measure, from which the engine reads a Sum.
	Sum(m fact.Measure) string
	// In returns the condition that an expression has one of the numbers.
	In(expression string, numbers []int32) string
}

// Compile writes a question in an engine's SQL. The statement returns for each
// group the bucket, the number of facts, the Columns, and the columns of Sum for
// each measure. Only names of this package become text. A question that groups by
// nothing has one group, also if there are no facts.
func Compile(q *Question, d Dialect) string {
	var b strings.Builder
	b.WriteString("SELECT " + bucket(q, d) + ", " + d.Facts())
	for _, c := range q.Columns {
		b.WriteString(", " + expression(c))
	}
	for _, m := range q.Measures {
		b.WriteString(", " + d.Sum(m))
	}
	b.WriteString(" FROM " + d.From())
	if q.Match != nil {
		b.WriteString(" AND " + condition(q.Match, d))
	}
	by := make([]string, 0, 1+len(q.Columns))
	if q.Granularity != analytics.Whole {
		by = append(by, "1")
	}
	for i := range q.Columns {
		by = append(by, strconv.Itoa(i+3))
	}
	if len(by) > 0 {
		b.WriteString(" GROUP BY " + strings.Join(by, ", "))
	}
	return b.String()
}

// weekday counts from Monday, also before 1970.
const weekday = "((f.day % 7 + 10) % 7)"

func expression(c Column) string {
	switch c {
	case WeekdayColumn:
		return weekday
	case TagColumn:
		return "coalesce(t.tag, 0)"
	default:
		return "f." + string(c)
	}
}

func bucket(q *Question, d Dialect) string {
	switch q.Granularity {
	case analytics.Day:
		return "f.day"
	case analytics.Week:
		return "f.day - " + weekday
	case analytics.Month, analytics.Quarter, analytics.Year:
		if starts := q.starts(); starts != nil {
			return d.BucketStart(starts)
		}
	case analytics.Whole:
	}
	return "0"
}

// starts returns the first days of the question's months, quarters or years.
func (q *Question) starts() (list []int32) {
	months := map[analytics.Granularity]time.Month{analytics.Month: 1, analytics.Quarter: 3, analytics.Year: 12}[q.Granularity]
	year, month, _ := q.First.Calendar()
	month -= (month - 1) % months
	for d := clock.MakeDate(year, month, 1); d <= q.Last; d = clock.MakeDate(year, month, 1) {
		list = append(list, int32(d))
		month += months
	}
	return list
}

func condition(m *Match, d Dialect) string {
	switch {
	case m.Not != nil:
		return "NOT (" + condition(m.Not, d) + ")"
	case m.Column != "" && len(m.Numbers) == 0:
		return "false"
	case m.Column != "":
		return d.In(expression(m.Column), m.Numbers)
	case len(m.And) > 0:
		return conditions(m.And, " AND ", d)
	default:
		return conditions(m.Or, " OR ", d)
	}
}

func conditions(list []Match, with string, d Dialect) string {
	terms := make([]string, len(list))
	for i := range list {
		terms[i] = condition(&list[i], d)
	}
	return "(" + strings.Join(terms, with) + ")"
}
