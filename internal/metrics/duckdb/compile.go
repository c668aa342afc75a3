package duckdb

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"fanfare/internal/analytics"
	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/metrics/numbers"
)

// builder writes one statement from left to right, so that the parameters are in
// the order of their question marks. Only names from the tables of this package
// and numbers that the engine assigned become text; values of callers are bound.
type builder struct {
	strings.Builder
	args  []any
	p     *analytics.Plan
	w     *workspace
	words *words
	// tagged means that rows are multiplied by the tags of their campaigns.
	tagged bool
	// converts means that amounts of some source need a rate.
	converts bool
	// direct means that the statement returns groups of numbers without joining
	// texts. merged means that Go then merges groups of one record, which is
	// cheaper than a join and a second GROUP BY.
	direct, merged bool
	// entities has the keys of entities whose names are looked up later.
	entities []int32
}

func (b *builder) text(s string)    { b.WriteString(s) }
func (b *builder) bind(args ...any) { b.args = append(b.args, args...) }

// literal returns the statement with numbers written into it. whole is false if
// it has other parameters.
func (b *builder) literal() (text string, whole bool) {
	var out strings.Builder
	rest := b.String()
	for _, v := range b.args {
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

// weekday counts from Monday, also for days before 1970.
const weekday = "((f.day % 7 + 10) % 7)"

// date is the day as a date of DuckDB.
const date = "(DATE '1970-01-01' + f.day)"

// buckets has the SQL that maps a day to its bucket, as a number that bucketStart
// reads. Counting months takes a fifth of the time of date_trunc.
var buckets = map[analytics.Granularity]string{
	analytics.Whole:   "0",
	analytics.Day:     "f.day",
	analytics.Week:    "f.day - " + weekday,
	analytics.Month:   "year" + date + " * 12 + month" + date + " - 1",
	analytics.Quarter: "year" + date + " * 4 + quarter" + date + " - 1",
	analytics.Year:    "year" + date,
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

// sourceColumns has the dimensions of a source, with their columns.
var sourceColumns = map[string]string{"connection_id": "connection", "platform": "platform", "account_id": "account"}

// groupColumn returns the number that facts are first grouped by for a dimension.
func groupColumn(dimension string) (column, expression string) {
	if t, ok := entityAttributes[dimension]; ok {
		return t.entity, "f." + t.entity
	}
	if _, ok := sourceColumns[dimension]; ok {
		return "source", "f.source"
	}
	switch dimension {
	case "weekday":
		return dimension, weekday
	case "tag":
		return dimension, "t.tag"
	}
	return dimension, "f." + dimension
}

// compile writes the statement that answers a plan. It groups facts by numbers,
// then joins texts to the few groups, and merges groups of one text. grouped
// makes the statement merge them, even if Go could do it cheaper.
func compile(p *analytics.Plan, w *workspace, words *words, rolled summedDays, grouped bool) (*builder, error) {
	if err := numbers.Check(p); err != nil {
		return nil, err
	}
	b := &builder{p: p, w: w, words: words, tagged: slices.Contains(p.Dimensions, "tag"), converts: converts(p, w)}
	b.merged = !grouped && slices.ContainsFunc(p.Dimensions, func(d string) bool { return entityAttributes[d].attribute == "id" })
	b.direct = !slices.ContainsFunc(p.Dimensions, func(d string) bool {
		return entityAttributes[d].entity != "" && (entityAttributes[d].attribute != "id" || grouped) || sourceColumns[d] != ""
	})
	b.merged = b.merged && b.direct
	b.text("SELECT g.bucket, " + b.count("g.n"))
	for _, d := range p.Dimensions {
		b.text(", " + b.dimensionColumns(d))
	}
	for i, m := range p.Measures {
		b.text(", " + b.sum(i, m))
	}
	b.text(" FROM (SELECT CAST(" + buckets[p.Granularity] + " AS BIGINT) AS bucket, count(*) AS n")
	for _, d := range b.groupDimensions() {
		column, expression := groupColumn(d)
		b.text(", " + expression + " AS " + column)
	}
	for i, m := range p.Measures {
		b.text(b.partial(i, m))
	}
	b.from(rolled)
	b.text(" GROUP BY ALL) g")
	b.joinTexts()
	if !b.direct {
		b.text(" GROUP BY ALL")
	}
	b.text(" LIMIT ?")
	b.bind(int64(p.MaxGroups) + 1)
	return b, nil
}

// groupDimensions returns the dimensions without those that are grouped by the
// number of an earlier one.
func (b *builder) groupDimensions() []string {
	var list, taken []string
	for _, d := range b.p.Dimensions {
		if column, _ := groupColumn(d); !slices.Contains(taken, column) {
			list, taken = append(list, d), append(taken, column)
		}
	}
	return list
}

// sumOf returns the sum over the groups of numbers that have one text.
func (b *builder) sumOf(expression string) string {
	if b.direct {
		return expression
	}
	return "sum(" + expression + ")"
}

// count returns a sum of counts. A count is BIGINT if there is only one.
func (b *builder) count(expression string) string {
	if b.direct {
		return expression
	}
	return "CAST(sum(" + expression + ") AS BIGINT)"
}

// partial returns the inner sum, and for converted amounts the number of facts
// without a rate. Each amount is rounded before it is added. Reach is kept only
// for a single fact.
func (b *builder) partial(i int, m fact.Measure) string {
	column := "f." + m.String()
	switch {
	case m == fact.Reach:
		return fmt.Sprintf(", max(%s) AS m%d, count(%[1]s) AS k%[2]d", column, i)
	case m.Money() && b.converts:
		return fmt.Sprintf(`, sum(CASE WHEN u.source IS NULL THEN CAST(%[1]s AS HUGEINT)
			ELSE sign(%[1]s) * ((abs(CAST(%[1]s AS HUGEINT)) * x.over * 2 + x.under) // (x.under * 2)) END) AS m%[2]d,
			count(*) FILTER (%[1]s IS NOT NULL AND u.source IS NOT NULL AND x.day IS NULL) AS k%[2]d`, column, i)
	}
	return fmt.Sprintf(", sum(%s) AS m%d", column, i)
}

// sum returns the result columns of a measure; see read.
func (b *builder) sum(i int, m fact.Measure) string {
	column, count := fmt.Sprintf("g.m%d", i), b.count(fmt.Sprintf("g.k%d", i))
	sum := "CAST(" + b.sumOf(column) + " AS BIGINT)"
	if b.p.UnknownIfTooLarge {
		sum = "TRY_" + sum
	}
	switch {
	case m == fact.Reach && b.direct:
		return column + ", " + count
	case m == fact.Reach:
		return "max(" + column + "), " + count
	case m.Money() && b.converts:
		return "CASE WHEN " + count + " = 0 THEN " + sum + " END, " + count
	}
	return sum
}

// dimensionColumns returns the result columns of a dimension; see read.
func (b *builder) dimensionColumns(dimension string) string {
	t, ok := entityAttributes[dimension]
	switch {
	case ok && t.attribute == "id" && b.merged:
		return "g." + t.entity
	case ok && t.attribute == "id":
		// Entities linked to one record are one group, whatever the platforms
		// call them.
		return fmt.Sprintf(`%[1]s.id, CASE WHEN %[1]s.id IS NULL THEN %[1]s.external END, CASE WHEN %[1]s.id IS NULL THEN %[1]s.theirs END,
			coalesce(max(%[1]s.ours), min(%[1]s.theirs))`, t.entity)
	case ok:
		return t.entity + "." + t.attribute
	case sourceColumns[dimension] != "":
		return "nullif(s." + sourceColumns[dimension] + ", '')"
	}
	return "g." + dimension
}

// from writes the tables and the conditions of the facts. Planning takes as long
// as a small query, so the statement has as few subqueries and columns as
// possible.
func (b *builder) from(rolled summedDays) {
	joins, where := b.fork(), b.fork()
	joins.joins()
	if b.p.Where != nil {
		where.where(b.p.Where)
	}
	tables := b.tablesToRead(rolled)
	const days = "workspace = ? AND day BETWEEN ? AND ?"
	if len(tables) == 1 && joins.Len() == 0 {
		b.text(" FROM " + tables[0].table + " f WHERE " + days)
		b.bind(b.w.key, int32(tables[0].first), int32(tables[0].last))
		b.include(" AND ", where)
		return
	}
	needed, before := neededColumns(b.String(), joins.String(), where.String()), " FROM ("
	for _, t := range tables {
		b.text(before + "SELECT " + needed + " FROM " + t.table + " WHERE " + days)
		b.bind(b.w.key, int32(t.first), int32(t.last))
		before = " UNION ALL "
	}
	b.text(") f")
	b.include("", joins)
	b.include(" WHERE ", where)
}

// fork returns a builder of another part of the same statement.
func (b *builder) fork() *builder {
	return &builder{p: b.p, w: b.w, words: b.words, tagged: b.tagged, converts: b.converts}
}

// include writes a part, if it is not empty.
func (b *builder) include(before string, part *builder) {
	if part.Len() > 0 {
		b.text(before + part.String())
		b.bind(part.args...)
	}
}

// neededColumns returns the columns of facts that the texts name.
func neededColumns(texts ...string) string {
	var list []string
	for _, c := range columns {
		if slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(text, "f."+c) }) {
			list = append(list, c)
		}
	}
	if list == nil {
		return "day" // facts are only counted
	}
	return strings.Join(list, ", ")
}

// tableDays is a table and the days to read from it.
type tableDays struct {
	table       string
	first, last clock.Date
}

// tablesToRead returns the tables of facts, and those of sums for days that have
// sums.
func (b *builder) tablesToRead(rolled summedDays) []tableDays {
	table, sums := b.p.Family.String(), b.sumsPrefix()
	list := []tableDays{{table, b.p.First, b.p.Last}}
	switch {
	case rolled == noSums:
	case rolled.firstMonth > rolled.lastMonth:
		list = []tableDays{{table, b.p.First, rolled.first - 1}, {sums + "_pentad", rolled.first, rolled.last}, {table, rolled.last + 1, b.p.Last}}
	default:
		list = []tableDays{
			{table, b.p.First, rolled.first - 1},
			{sums + "_pentad", rolled.first, rolled.firstMonth - 1},
			{sums + "_month", rolled.firstMonth, rolled.lastMonth},
			{sums + "_pentad", rolled.lastMonth + 1, rolled.last},
			{table, rolled.last + 1, b.p.Last},
		}
	}
	return slices.DeleteFunc(list, func(a tableDays) bool { return a.first > a.last })
}

// joins writes the joins of facts with the rates and with the tags of campaigns.
func (b *builder) joins() {
	if b.converts {
		b.rates()
	}
	if b.tagged {
		b.text(" LEFT JOIN (SELECT e.key, t.tag FROM entity e JOIN tag t ON t.workspace = e.workspace AND t.record = e.record WHERE e.workspace = ?) t ON t.key = f.campaign")
		b.bind(b.w.key)
	}
}

// sumsPrefix returns the prefix of the smallest tables of sums that can answer
// the plan.
func (b *builder) sumsPrefix() string {
	audience := func(d string) bool { return entityAttributes[d].entity == fact.KindAudience }
	if slices.ContainsFunc(b.p.Dimensions, audience) || b.p.Where != nil && mentions(b.p.Where, audience) {
		return "base"
	}
	return "base_ad"
}

// converts reports whether a plan asks for amounts that some source has in
// another currency.
func converts(p *analytics.Plan, w *workspace) bool {
	return slices.ContainsFunc(p.Measures, fact.Measure.Money) &&
		slices.ContainsFunc(w.sources, func(s source) bool { return s.Currency != p.Currency })
}

// rates joins the rate of the day to each fact of a source in another currency.
func (b *builder) rates() {
	currencies := map[string]int32{}
	var sources, sourceCurrency []int32
	for _, s := range b.w.sources {
		if s.Currency == b.p.Currency {
			continue
		}
		n, there := currencies[string(s.Currency)]
		if !there {
			n = int32(len(currencies))
			currencies[string(s.Currency)] = n
		}
		sources, sourceCurrency = append(sources, s.key), append(sourceCurrency, n)
	}
	type when struct{ currency, day int32 }
	taken := map[when]bool{}
	rateCurrency, day, over, under := []int32{}, []int32{}, []int64{}, []int64{}
	for _, r := range b.p.Rates {
		n, there := currencies[string(r.Currency)]
		// Invalid rates are ignored.
		if w := (when{n, int32(r.Date)}); there && !taken[w] && r.Over >= 0 && r.Under > 0 {
			taken[w] = true
			rateCurrency, day, over, under = append(rateCurrency, n), append(day, w.day), append(over, r.Over), append(under, r.Under)
		}
	}
	b.text(` LEFT JOIN (SELECT unnest(?::INTEGER[]) AS source, unnest(?::INTEGER[]) AS currency) u ON u.source = f.source
		LEFT JOIN (SELECT unnest(?::INTEGER[]) AS currency, unnest(?::INTEGER[]) AS day, CAST(unnest(?::BIGINT[]) AS HUGEINT) AS over, CAST(unnest(?::BIGINT[]) AS HUGEINT) AS under) x
		ON x.currency = u.currency AND x.day = f.day`)
	b.bind(sources, sourceCurrency, rateCurrency, day, over, under)
}

// joinTexts joins the texts of the dimensions to the groups of numbers.
func (b *builder) joinTexts() {
	for _, d := range b.groupDimensions() {
		if t, ok := entityAttributes[d]; ok && !b.merged {
			b.text(fmt.Sprintf(" LEFT JOIN described %[1]s ON %[1]s.workspace = ? AND %[1]s.key = g.%[1]s", t.entity))
			b.bind(b.w.key)
		}
		if _, ok := sourceColumns[d]; ok {
			b.text(" JOIN source s ON s.key = g.source")
		}
	}
}
