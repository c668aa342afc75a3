package postgres

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/metrics/numbers"
)

// dayTable has the sums of base facts by day, source, channel and campaign, which
// answer most reports. A large workspace has 17 times as many facts as sums.
const dayTable = "metrics_day"

// dayColumns are the columns that the sums group by.
var dayColumns = []string{"workspace", "day", "source", "channel", "campaign"}

// summedMeasures returns the measures that can be added; reach cannot.
func summedMeasures() (list []string) {
	for m := range fact.Measure(fact.NumMeasures) {
		if m != fact.Reach {
			list = append(list, m.String())
		}
	}
	return list
}

// sumsDefinition returns the columns of a table of sums.
func sumsDefinition(keys []string) string {
	var b strings.Builder
	for _, c := range keys {
		b.WriteString(c + " int4 NOT NULL, ")
	}
	b.WriteString("facts int8 NOT NULL")
	for _, m := range summedMeasures() {
		b.WriteString(", " + m + " int8")
	}
	return b.String()
}

// canBeSummed reports whether a question's measures can be read from sums. A
// conversion is rounded for each fact, so sums cannot be converted.
func canBeSummed(q *numbers.Question) bool {
	return q.Family == fact.Base && len(q.Foreign) == 0 && !slices.Contains(q.Measures, fact.Reach)
}

// answeredByDays reports whether the sums by day answer a question.
func answeredByDays(q *numbers.Question) bool {
	return canBeSummed(q) && q.Match.Only(inSums) && !slices.ContainsFunc(q.Columns, func(c numbers.Column) bool { return !inSums(c) })
}

func inSums(c numbers.Column) bool {
	return c == numbers.WeekdayColumn || c == numbers.TagColumn || slices.Contains(dayColumns, string(c))
}

// largeValue is the limit above which a value gets its own sum: 9 million values
// below it fit into a sum.
const largeValue = 1_000_000_000_000

// updateSums updates the sums by day and the counts of months.
func (c *change) updateSums(ctx context.Context) error {
	for p, d := range c.touched {
		from := tableOf(p.family.String())
		count := "count(*)"
		if p.family == fact.Base {
			if err := c.sumDays(ctx, p, d); err != nil {
				return err
			}
			if err := c.dropMonth(ctx, p.month); err != nil {
				return err
			}
			from, count = dayTable, "sum(facts)"
		}
		if _, err := c.Tx.Exec(ctx, "DELETE FROM metrics_part WHERE workspace = $1 AND family = $2 AND source = $3 AND month = $4", c.Workspace, int16(p.family), p.source, int32(p.month)); err != nil {
			return err
		}
		if _, err := c.Tx.Exec(ctx, "INSERT INTO metrics_part (workspace, family, source, month, n, first, last) SELECT $1, $2, $3, $4, "+count+", min(day), max(day) FROM "+from+
			" WHERE workspace = $1 AND source = $3 AND day BETWEEN $4 AND $5 HAVING count(*) > 0",
			c.Workspace, int16(p.family), p.source, int32(p.month), int32(p.month.NextMonth()-1)); err != nil {
			return err
		}
	}
	return nil
}

// sumDays replaces the sums of days of a source.
func (c *change) sumDays(ctx context.Context, p part, d days) error {
	if _, err := c.Tx.Exec(ctx, "DELETE FROM metrics_day WHERE workspace = $1 AND source = $2 AND day BETWEEN $3 AND $4", c.Workspace, p.source, int32(d.first), int32(d.last)); err != nil {
		return err
	}
	_, err := c.Tx.Exec(ctx, insertDays+" WHERE workspace = $1 AND source = $2 AND day BETWEEN $3 AND $4 "+groupDays, c.Workspace, p.source, int32(d.first), int32(d.last))
	return err
}

// insertDays and groupDays sum the facts that a condition between them selects.
var insertDays, groupDays = insertSums(dayTable, strings.Join(dayColumns, ", "))

// insertSums returns a statement that sums facts by keys, without its condition,
// and what follows the condition. A fact with a large value gets its own sum, so
// that no sum is too large for its column.
func insertSums(table, keys string) (insert, group string) {
	sums := make([]string, len(summedMeasures()))
	for i, m := range summedMeasures() {
		sums[i] = "sum(" + m + ")::int8"
	}
	measures := strings.Join(summedMeasures(), ", ")
	return "INSERT INTO " + table + " (" + keys + ", facts, " + measures + ") SELECT " + keys + ", count(*), " + strings.Join(sums, ", ") + " FROM metrics_base",
		fmt.Sprintf("GROUP BY %s, CASE WHEN greatest(%s) > %d OR least(%[2]s) < -%[3]d THEN ctid END", keys, measures, largeValue)
}

// sortedMonths returns a set of months as a sorted list.
func sortedMonths(months map[clock.Date]bool) []clock.Date {
	return slices.Sorted(maps.Keys(months))
}
