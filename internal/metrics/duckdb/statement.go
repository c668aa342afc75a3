package duckdb

import (
	"database/sql/driver"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"fanfare/internal/analytics"
	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/metrics/numbers"
)

// statement is a question in DuckDB's SQL. It implements numbers.Dialect.
// Parameters are in the order of their question marks, because numbers.Compile
// writes the statement from left to right. All of them are numbers.
type statement struct {
	question  *numbers.Question
	workspace int32
	sums      summedDays
	// exact returns sums of 128 bits. Otherwise a sum of more than 64 bits is an
	// error, and reading is faster.
	exact bool
	// maxRows limits the rows, 0 for all.
	maxRows int64

	text string
	args []any
}

// compile sets the text and the arguments.
func (s *statement) compile() {
	s.args = nil
	s.text = numbers.Compile(s.question, s)
	if s.maxRows > 0 {
		s.text += " LIMIT ?"
		s.args = append(s.args, s.maxRows)
	}
}

// literal returns the statement with numbers written into it. whole is false if
// it has other parameters.
func (s *statement) literal() (text string, whole bool) {
	var out strings.Builder
	rest := s.text
	for _, v := range s.args {
		before, after, _ := strings.Cut(rest, "?")
		out.WriteString(before)
		switch n := v.(type) {
		case int32:
			out.WriteString(strconv.Itoa(int(n)))
		case int64:
			out.WriteString(strconv.FormatInt(n, 10))
		default:
			return "", false
		}
		rest = after
	}
	return out.String() + rest, true
}

// bind adds parameters.
func (s *statement) bind(args ...any) { s.args = append(s.args, args...) }

// date is the day of a fact as a date of DuckDB.
const date = "(DATE '1970-01-01' + f.day)"

// BucketStart returns the month, quarter or year as a number that bucketStart
// reads. Counting months takes a fifth of the time of date_trunc.
func (s *statement) BucketStart([]int32) string {
	switch s.question.Granularity {
	case analytics.Month:
		return "year" + date + " * 12 + month" + date + " - 1"
	case analytics.Quarter:
		return "year" + date + " * 4 + quarter" + date + " - 1"
	default:
		return "year" + date
	}
}

// bucketStart returns the first day of a bucket.
func bucketStart(g analytics.Granularity, n int64) clock.Date {
	switch g {
	case analytics.Month:
		return clock.MakeDate(0, time.Month(n+1), 1)
	case analytics.Quarter:
		return clock.MakeDate(0, time.Month(n*3+1), 1)
	case analytics.Year:
		return clock.MakeDate(int(n), time.January, 1)
	default:
		return clock.Date(n)
	}
}

// Facts counts the rows. Rows of stored sums are fewer than their facts, but then
// the question has no measure that needs the exact number.
func (s *statement) Facts() string { return "count(*)" }

// Sum returns one column, which is NULL if no value is known. Reach has a second
// one, the number of known values, and converted amounts the number of those
// without a rate. Each amount is rounded before it is added.
func (s *statement) Sum(m fact.Measure) string {
	column := "f." + m.String()
	switch {
	case m == fact.Reach:
		return fmt.Sprintf("max(%s), count(%[1]s)", column)
	case s.question.Converts(m):
		return s.total(fmt.Sprintf(`CASE WHEN u.source IS NULL THEN CAST(%[1]s AS HUGEINT)
			ELSE sign(%[1]s) * ((abs(CAST(%[1]s AS HUGEINT)) * x.over * 2 + x.under) // (x.under * 2)) END`, column)) +
			fmt.Sprintf(", count(*) FILTER (%s IS NOT NULL AND u.source IS NOT NULL AND x.day IS NULL)", column)
	}
	return s.total(column)
}

func (s *statement) total(expression string) string {
	if s.exact {
		return "sum(" + expression + ")"
	}
	return "CAST(sum(" + expression + ") AS BIGINT)"
}

// From returns the tables of facts and of stored sums, and the joins of tags and
// rates.
func (s *statement) From() string {
	q, tables := s.question, s.tables()
	if len(tables) == 1 {
		from := tables[0].table + " f" + s.joins()
		s.bind(s.workspace, int32(tables[0].first), int32(tables[0].last))
		return from + " WHERE f.workspace = ? AND f.day BETWEEN ? AND ?"
	}
	parts := make([]string, len(tables))
	for i, t := range tables {
		parts[i] = "SELECT " + strings.Join(columnsOf(q), ", ") + " FROM " + t.table + " WHERE workspace = ? AND day BETWEEN ? AND ?"
		s.bind(s.workspace, int32(t.first), int32(t.last))
	}
	return "(" + strings.Join(parts, " UNION ALL ") + ") f" + s.joins() + " WHERE true"
}

// columnsOf returns the columns of facts that a question uses.
func columnsOf(q *numbers.Question) []string {
	used := map[string]bool{}
	for _, c := range slices.Concat(q.Columns, q.Match.Columns()) {
		switch c {
		case numbers.WeekdayColumn:
			used["day"] = true
		case numbers.TagColumn:
			used["campaign"] = true
		default:
			used[string(c)] = true
		}
	}
	for _, m := range q.Measures {
		used[m.String()] = true
	}
	// A statement without any other column only counts facts.
	if q.Granularity != analytics.Whole || len(q.Foreign) > 0 || len(used) == 0 {
		used["day"] = true
	}
	if len(q.Foreign) > 0 {
		used["source"] = true
	}
	return slices.DeleteFunc(slices.Clone(columns), func(c string) bool { return !used[c] })
}

// joins returns the joins of facts with the tags of campaigns and with rates.
func (s *statement) joins() (text string) {
	q := s.question
	if slices.Contains(q.Columns, numbers.TagColumn) {
		campaigns, tags := make([]int32, len(q.Tags)), make([]int32, len(q.Tags))
		for i, t := range q.Tags {
			campaigns[i], tags[i] = t.Campaign, t.Tag
		}
		text = " LEFT JOIN (SELECT unnest(?::INTEGER[]) AS campaign, unnest(?::INTEGER[]) AS tag) t ON t.campaign = f.campaign"
		s.bind(campaigns, tags)
	}
	if len(q.Foreign) == 0 {
		return text
	}
	sources, sourceCurrency := make([]int32, len(q.Foreign)), make([]int32, len(q.Foreign))
	for i, f := range q.Foreign {
		sources[i], sourceCurrency[i] = f.Source, f.Currency
	}
	n := len(q.Rates)
	currency, day, over, under := make([]int32, n), make([]int32, n), make([]int64, n), make([]int64, n)
	for i, r := range q.Rates {
		currency[i], day[i], over[i], under[i] = r.Currency, r.Day, r.Over, r.Under
	}
	s.bind(sources, sourceCurrency, currency, day, over, under)
	return text + ` LEFT JOIN (SELECT unnest(?::INTEGER[]) AS source, unnest(?::INTEGER[]) AS currency) u ON u.source = f.source
		LEFT JOIN (SELECT unnest(?::INTEGER[]) AS currency, unnest(?::INTEGER[]) AS day, CAST(unnest(?::BIGINT[]) AS HUGEINT) AS over, CAST(unnest(?::BIGINT[]) AS HUGEINT) AS under) x
		ON x.currency = u.currency AND x.day = f.day`
}

// maxListed is the number of numbers that are written into a statement. More are
// one parameter, because parsing them takes longer than joining them.
const maxListed = 100

// In returns a list of numbers, or a subquery if there are many.
func (s *statement) In(expression string, list []int32) string {
	if len(list) <= maxListed {
		return expression + " IN " + inList(list)
	}
	s.bind(list)
	return expression + " IN (SELECT unnest(?::INTEGER[]))"
}

// tableDays is a table and the days to read from it.
type tableDays struct {
	table       string
	first, last clock.Date
}

// tables returns the tables of facts, and those of sums for days that have sums.
func (s *statement) tables() []tableDays {
	q, days := s.question, s.sums
	table, sums := q.Family.String(), "base_ad"
	all := tableDays{table, q.First, q.Last}
	if slices.Contains(slices.Concat(q.Columns, q.Match.Columns()), numbers.AudienceColumn) {
		sums = "base"
	}
	list := []tableDays{all}
	switch {
	case days == noSums:
		return list
	case days.firstMonth > days.lastMonth:
		list = []tableDays{{table, q.First, days.first - 1}, {sums + "_pentad", days.first, days.last}, {table, days.last + 1, q.Last}}
	default:
		list = []tableDays{
			{table, q.First, days.first - 1},
			{sums + "_pentad", days.first, days.firstMonth - 1},
			{sums + "_month", days.firstMonth, days.lastMonth},
			{sums + "_pentad", days.lastMonth + 1, days.last},
			{table, days.last + 1, q.Last},
		}
	}
	return slices.DeleteFunc(list, func(a tableDays) bool { return a.first > a.last })
}

// newRow returns a row that read sets.
func (s *statement) newRow() *numbers.Row {
	return &numbers.Row{Values: make([]int32, len(s.question.Columns)), Sums: make([]numbers.Sum, len(s.question.Measures))}
}

// read sets r to a row of the result.
func (s *statement) read(r *numbers.Row, row []driver.Value) (err error) {
	switch n := row[0].(type) {
	case int32:
		r.Bucket = bucketStart(s.question.Granularity, int64(n))
	case int64:
		r.Bucket = bucketStart(s.question.Granularity, n)
	}
	r.Facts = row[1].(int64)
	row = row[2:]
	for i := range r.Values {
		r.Values[i] = row[i].(int32)
	}
	row = row[len(r.Values):]
	for i, m := range s.question.Measures {
		sum := numbers.Sum{}
		switch n := row[0].(type) {
		case int64:
			sum.Total, sum.Known = numbers.Int128From(n), 1
		case *big.Int:
			sum.Known = 1
			if sum.Total, err = numbers.Int128FromBig(n); err != nil {
				return err
			}
		}
		row = row[1:]
		switch {
		case m == fact.Reach:
			sum.Known, row = row[0].(int64), row[1:]
		case s.question.Converts(m):
			sum.Unrated, row = row[0].(int64), row[1:]
		}
		r.Sums[i] = sum
	}
	return nil
}
