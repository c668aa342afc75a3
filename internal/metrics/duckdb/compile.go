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

// builder writes one statement from left to right, so that the parameters are
// in the order of their question marks. Only names from the tables of this
// package and numbers of ours become text; what a caller sends is bound.
type builder struct {
	strings.Builder
	args  []any
	p     *analytics.Plan
	w     *workspace
	words *words
	// tagged says that rows are multiplied by the tags of their campaigns.
	tagged bool
	// converts says that amounts of some source need a rate.
	converts bool
	// direct says that the groups of numbers are the groups, but for those of
	// one record under several names on platforms, which merged puts together
	// when it has found the names: for ids that is far cheaper than to join
	// texts and to group by them once more.
	direct, merged bool
	// entities are those of the groups that were read, where they have no
	// names yet.
	entities []int32
}

func (b *builder) text(s string)    { b.WriteString(s) }
func (b *builder) bind(args ...any) { b.args = append(b.args, args...) }

// literal is the statement with numbers in the place of its parameters. Where
// it has others, texts above all, there is none.
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

// date is the day as DuckDB's own date.
const date = "(DATE '1970-01-01' + f.day)"

// buckets are what days are put together to, as numbers that bucketStart reads.
// Counting months takes a fifth of what date_trunc does.
var buckets = map[analytics.Granularity]string{
	analytics.Whole:   "0",
	analytics.Day:     "f.day",
	analytics.Week:    "f.day - " + weekday,
	analytics.Month:   "year" + date + " * 12 + month" + date + " - 1",
	analytics.Quarter: "year" + date + " * 4 + quarter" + date + " - 1",
	analytics.Year:    "year" + date,
}

// bucketStart is the first day of a bucket.
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

// sourced are the dimensions that a source tells, and their columns.
var sourced = map[string]string{"connection_id": "connection", "platform": "platform", "account_id": "account"}

// number is what facts are grouped by first for a dimension.
func number(dimension string) (column, expression string) {
	if t, ok := texts[dimension]; ok {
		return t.entity, "f." + t.entity
	}
	if _, ok := sourced[dimension]; ok {
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

// compile writes the statement that answers a plan. Facts are grouped by
// numbers; only then texts are joined to the few groups that are left, and
// groups of one text become one.
// grouped has that done by the statement even where it would be cheaper to do
// it to its rows.
func compile(p *analytics.Plan, w *workspace, words *words, rolled run, grouped bool) (*builder, error) {
	if err := numbers.Check(p); err != nil {
		return nil, err
	}
	b := &builder{p: p, w: w, words: words, tagged: slices.Contains(p.Dimensions, "tag"), converts: converts(p, w)}
	b.merged = !grouped && slices.ContainsFunc(p.Dimensions, func(d string) bool { return texts[d].attribute == "id" })
	b.direct = !slices.ContainsFunc(p.Dimensions, func(d string) bool {
		return texts[d].entity != "" && (texts[d].attribute != "id" || grouped) || sourced[d] != ""
	})
	b.merged = b.merged && b.direct
	b.text("SELECT g.bucket, " + b.count("g.n"))
	for _, d := range p.Dimensions {
		b.text(", " + b.shown(d))
	}
	for i, m := range p.Measures {
		b.text(", " + b.sum(i, m))
	}
	b.text(" FROM (SELECT CAST(" + buckets[p.Granularity] + " AS BIGINT) AS bucket, count(*) AS n")
	for _, d := range b.numbers() {
		column, expression := number(d)
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

// numbers are the dimensions, without those that are grouped by a number that
// another one is grouped by already.
func (b *builder) numbers() []string {
	var list, taken []string
	for _, d := range b.p.Dimensions {
		if column, _ := number(d); !slices.Contains(taken, column) {
			list, taken = append(list, d), append(taken, column)
		}
	}
	return list
}

// add sums up over the groups of numbers that have one text.
func (b *builder) add(expression string) string {
	if b.direct {
		return expression
	}
	return "sum(" + expression + ")"
}

// count adds up counts, which are BIGINT where they are but one.
func (b *builder) count(expression string) string {
	if b.direct {
		return expression
	}
	return "CAST(sum(" + expression + ") AS BIGINT)"
}

// partial sums a measure over facts. Reach is the figure of one fact, if there
// is but one. An amount is converted and rounded by itself before it is added;
// beside the sum goes how many had no rate.
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

// sum is what a group shows of a measure; see read.
func (b *builder) sum(i int, m fact.Measure) string {
	column, count := fmt.Sprintf("g.m%d", i), b.count(fmt.Sprintf("g.k%d", i))
	sum := "CAST(" + b.add(column) + " AS BIGINT)"
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

// shown are the columns of a dimension; see read.
func (b *builder) shown(dimension string) string {
	t, ok := texts[dimension]
	switch {
	case ok && t.attribute == "id" && b.merged:
		return "g." + t.entity
	case ok && t.attribute == "id":
		// What is linked is one group by our id, whatever platforms call it.
		return fmt.Sprintf(`%[1]s.id, CASE WHEN %[1]s.id IS NULL THEN %[1]s.external END, CASE WHEN %[1]s.id IS NULL THEN %[1]s.theirs END,
			coalesce(max(%[1]s.ours), min(%[1]s.theirs))`, t.entity)
	case ok:
		return t.entity + "." + t.attribute
	case sourced[dimension] != "":
		return "nullif(s." + sourced[dimension] + ", '')"
	}
	return "g." + dimension
}

// from writes where facts come from and which of them count. To find out what
// a statement means takes DuckDB as long as to answer a small one, so it is
// written with no more levels and columns than it needs.
func (b *builder) from(rolled run) {
	joins, where := b.beside(), b.beside()
	joins.joins()
	if b.p.Where != nil {
		where.where(b.p.Where)
	}
	arms := b.arms(rolled)
	const days = "workspace = ? AND day BETWEEN ? AND ?"
	if len(arms) == 1 && joins.Len() == 0 {
		b.text(" FROM " + arms[0].table + " f WHERE " + days)
		b.bind(b.w.key, int32(arms[0].first), int32(arms[0].last))
		b.include(" AND ", where)
		return
	}
	needed, before := neededColumns(b.String(), joins.String(), where.String()), " FROM ("
	for _, a := range arms {
		b.text(before + "SELECT " + needed + " FROM " + a.table + " WHERE " + days)
		b.bind(b.w.key, int32(a.first), int32(a.last))
		before = " UNION ALL "
	}
	b.text(") f")
	b.include("", joins)
	b.include(" WHERE ", where)
}

// beside is a builder of another part of the same statement.
func (b *builder) beside() *builder {
	return &builder{p: b.p, w: b.w, words: b.words, tagged: b.tagged, converts: b.converts}
}

// include writes a part, if there is anything in it.
func (b *builder) include(before string, part *builder) {
	if part.Len() > 0 {
		b.text(before + part.String())
		b.bind(part.args...)
	}
}

// neededColumns are those of the facts that texts name.
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

// arm is a table and the days that are taken from it.
type arm struct {
	table       string
	first, last clock.Date
}

// arms are the facts of the days, or for those that are summed up ahead the
// sums.
func (b *builder) arms(rolled run) []arm {
	table, sums := b.p.Family.String(), b.sums()
	list := []arm{{table, b.p.First, b.p.Last}}
	switch {
	case rolled == none:
	case rolled.firstMonth > rolled.lastMonth:
		list = []arm{{table, b.p.First, rolled.first - 1}, {sums + "_pentad", rolled.first, rolled.last}, {table, rolled.last + 1, b.p.Last}}
	default:
		list = []arm{
			{table, b.p.First, rolled.first - 1},
			{sums + "_pentad", rolled.first, rolled.firstMonth - 1},
			{sums + "_month", rolled.firstMonth, rolled.lastMonth},
			{sums + "_pentad", rolled.lastMonth + 1, rolled.last},
			{table, rolled.last + 1, b.p.Last},
		}
	}
	return slices.DeleteFunc(list, func(a arm) bool { return a.first > a.last })
}

// joins writes what stands beside facts.
func (b *builder) joins() {
	if b.converts {
		b.rates()
	}
	if b.tagged {
		b.text(" LEFT JOIN (SELECT e.key, t.tag FROM entity e JOIN tag t ON t.workspace = e.workspace AND t.record = e.record WHERE e.workspace = ?) t ON t.key = f.campaign")
		b.bind(b.w.key)
	}
}

// sums is the beginning of the names of the smallest tables of sums that the
// plan can be answered from.
func (b *builder) sums() string {
	audience := func(d string) bool { return texts[d].entity == fact.KindAudience }
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

// rates joins to each fact of a source in another currency the rate of its day.
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
		// A rate that cannot be one is none.
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

// joinTexts joins what the dimensions need to the groups of numbers.
func (b *builder) joinTexts() {
	for _, d := range b.numbers() {
		if t, ok := texts[d]; ok && !b.merged {
			b.text(fmt.Sprintf(" LEFT JOIN described %[1]s ON %[1]s.workspace = ? AND %[1]s.key = g.%[1]s", t.entity))
			b.bind(b.w.key)
		}
		if _, ok := sourced[d]; ok {
			b.text(" JOIN source s ON s.key = g.source")
		}
	}
}
