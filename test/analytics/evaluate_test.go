package analytics_test

import (
	"cmp"
	"maps"
	"math/big"
	"slices"
	"strings"
)

// value is the value of a row in a dimension.
type value struct {
	text, external, label string
	null                  bool
}

// expectedRow is a row of a result.
type expectedRow struct {
	values  []value
	partial bool
	// current and paired say whether the two periods have a bucket for the row.
	current, paired  bool
	date, dateBefore day
	now, before      map[string]*big.Rat

	views, earlier []taggedRow
	// zeros are the measures that are zero although no row has them.
	zeros, zerosBefore map[string]bool
}

// expectedResult is the whole answer to a query.
type expectedResult struct {
	rows   []*expectedRow
	totals expectedRow
	// mixed and noRate say that something is unknown.
	mixed, noRate bool
	// noPacing says that a campaign's spend cannot be compared with its plan.
	noPacing bool
	zones    map[string]bool
}

// evaluate computes the answer to a query.
func (b *referenceData) evaluate(q *testQuery) *expectedResult {
	days, earlier := q.days(b)
	views, viewsBefore := b.matchingRows(q, days), []taggedRow{}
	if q.Compare != nil {
		viewsBefore = b.matchingRows(q, earlier)
	}
	reported, reportedBefore := b.reported(q, views, days), b.reported(q, viewsBefore, earlier)
	if q.statuses != nil {
		other := func(v taggedRow) bool { return !b.hasStatus(q, v) }
		views, viewsBefore = slices.DeleteFunc(views, other), slices.DeleteFunc(viewsBefore, other)
	}
	c := b.newResultBuilder(q, views, viewsBefore, reported, reportedBefore)
	for _, v := range views {
		c.zones[b.accounts[[2]string{v.connection, v.account}].zone] = true
	}
	c.rows = b.groupRows(q, views, viewsBefore, days, earlier)
	b.setZeros(c.rows, reported, reportedBefore)
	for _, o := range c.rows {
		c.compute(o)
	}
	conditions := q.onMetrics()
	c.rows = slices.DeleteFunc(c.rows, func(o *expectedRow) bool {
		return slices.ContainsFunc(conditions, func(n condition) bool { return !n.keepsValue(o.now[n.Field]) })
	})
	c.total(views, viewsBefore, len(conditions) > 0, reported, reportedBefore)
	slices.SortFunc(c.rows, func(x, y *expectedRow) int { return q.compare(x, y) })
	return &c.expectedResult
}

// hasStatus reports whether the record of a report's row has one of the
// requested statuses.
func (b *referenceData) hasStatus(q *testQuery, v taggedRow) bool {
	kind, _, _ := strings.Cut(q.Dimensions[0], "_")
	r, known := b.records[b.entityOf(v.rowKey, kind).record]
	return known && slices.Contains(q.statuses, r.status)
}

// resultBuilder computes a result.
type resultBuilder struct {
	expectedResult
	b        *referenceData
	q        *testQuery
	currency string
	needed   map[string]bool
	pace     map[string]*big.Rat
	// whole and wholeBefore are the totals that shares refer to.
	whole, wholeBefore sums
	// totalsKnown says that totals are known: rows by tag overlap, and if a
	// condition excludes tags, totals are null.
	totalsKnown bool
}

func (b *referenceData) newResultBuilder(q *testQuery, views, viewsBefore []taggedRow, reported, reportedBefore map[string]bool) *resultBuilder {
	c := &resultBuilder{b: b, q: q, currency: cmp.Or(q.Currency, b.currency), needed: neededMeasures(q.neededMetrics())}
	c.zones = map[string]bool{}
	asked, denied := q.filter.onTags(false)
	c.totalsKnown = !slices.Contains(q.Dimensions, "tag") || asked <= 1 && !denied
	if c.totalsKnown {
		c.whole, c.wholeBefore = b.sumRows(views, c.currency, c.needed, zerosWithout(views, reported)), b.sumRows(viewsBefore, c.currency, c.needed, zerosWithout(viewsBefore, reportedBefore))
	}
	if slices.Contains(q.Metrics, "pacing") {
		c.pace, c.noPacing = b.pacing(q, slices.Concat(views, viewsBefore))
	}
	return c
}

// compute computes the metrics of a row.
func (c *resultBuilder) compute(o *expectedRow) {
	var pace *big.Rat
	if at := slices.Index(c.q.Dimensions, "campaign_id"); at >= 0 && at < len(o.values) && !o.values[at].null {
		pace = c.pace[o.values[at].text]
	}
	figures := func(views []taggedRow, zeros map[string]bool, whole sums, pace *big.Rat) map[string]*big.Rat {
		s := c.b.sumRows(views, c.currency, c.needed, zeros)
		c.mixed, c.noRate = c.mixed || s.mixed, c.noRate || s.noRate
		list := map[string]*big.Rat{}
		for _, m := range c.q.neededMetrics() {
			list[m] = s.metric(m, whole, pace)
		}
		return list
	}
	if o.now = map[string]*big.Rat{}; o.current {
		o.now = figures(o.views, o.zeros, c.whole, pace)
	}
	if o.paired {
		o.before = figures(o.earlier, o.zerosBefore, c.wholeBefore, nil)
	}
}

// total adds the rows of each period; chosen says that a condition on metrics
// removed some. A measure that is zero in a row is zero in the total. In a
// period without rows, the reported measures are zero.
func (c *resultBuilder) total(views, viewsBefore []taggedRow, chosen bool, reported, reportedBefore map[string]bool) {
	c.totals = expectedRow{views: views, earlier: viewsBefore, current: true, paired: c.q.Compare != nil}
	if chosen {
		c.totals.views, c.totals.earlier = nil, nil
		for _, o := range c.rows {
			c.totals.views = append(c.totals.views, o.views...)
			c.totals.earlier = append(c.totals.earlier, o.earlier...)
		}
	}
	c.totals.zeros, c.totals.zerosBefore = zerosWithout(c.totals.views, reported), zerosWithout(c.totals.earlier, reportedBefore)
	if slices.ContainsFunc(c.rows, func(o *expectedRow) bool { return o.current }) {
		c.totals.zeros = map[string]bool{}
	}
	if slices.ContainsFunc(c.rows, func(o *expectedRow) bool { return o.paired }) {
		c.totals.zerosBefore = map[string]bool{}
	}
	for _, o := range c.rows {
		if o.current {
			maps.Copy(c.totals.zeros, o.zeros)
		}
		if o.paired {
			maps.Copy(c.totals.zerosBefore, o.zerosBefore)
		}
	}
	switch {
	case c.q.Include != nil && !boolOr(c.q.Include.Totals, true):
	case chosen && slices.Contains(c.q.Dimensions, "tag") || !c.totalsKnown:
		c.totals.now, c.totals.before = map[string]*big.Rat{}, map[string]*big.Rat{}
	default:
		c.compute(&c.totals)
	}
}

// buckets are the buckets of one period of a query: their first days, those
// that are partial, and the weekdays in each.
type buckets struct {
	granularity string
	starts      []day
	partial     map[day]bool
	weekdays    map[int]map[string]bool
}

func (q *testQuery) buckets(days span) *buckets {
	b := &buckets{granularity: q.Granularity, starts: []day{0}, partial: map[day]bool{}, weekdays: map[int]map[string]bool{}}
	if q.dated() {
		b.starts, b.partial = days.buckets(q.Granularity)
	}
	for d := days.first; d <= days.last; d++ {
		i := b.index(d)
		if b.weekdays[i] == nil {
			b.weekdays[i] = map[string]bool{}
		}
		b.weekdays[i][d.weekday()] = true
	}
	return b
}

// index returns the bucket of a day.
func (b *buckets) index(d day) int {
	if len(b.partial) == 0 {
		return 0
	}
	return slices.Index(b.starts, d.bucket(b.granularity))
}

// has reports whether there is a bucket with an index that has days of the
// weekday among values.
func (b *buckets) has(i int, dimensions []string, values []value) bool {
	if i >= len(b.starts) {
		return false
	}
	at := slices.Index(dimensions, "weekday")
	return at < 0 || b.weekdays[i][values[at].text]
}

func (q *testQuery) dated() bool { return q.Granularity != "" && q.Granularity != "none" }

// groupRows returns a row for every bucket of every combination of values that
// has a row in either period.
func (b *referenceData) groupRows(q *testQuery, views, viewsBefore []taggedRow, days, earlier span) []*expectedRow {
	now, before := q.buckets(days), &buckets{}
	if q.Compare != nil {
		before = q.buckets(earlier)
	}
	rows := map[string][]*expectedRow{}
	rowsOf := func(values []value) []*expectedRow {
		key := keyOfValues(values)
		if rows[key] != nil {
			return rows[key]
		}
		for i := range max(len(now.starts), len(before.starts)) {
			o := &expectedRow{values: values, current: now.has(i, q.Dimensions, values), paired: before.has(i, q.Dimensions, values)}
			if o.paired {
				o.dateBefore, o.partial = before.starts[i], before.partial[before.starts[i]]
			}
			if o.current {
				o.date, o.partial = now.starts[i], now.partial[now.starts[i]]
			}
			rows[key] = append(rows[key], o)
		}
		return rows[key]
	}
	if len(q.Dimensions) == 0 {
		rowsOf(nil)
	}
	for _, v := range views {
		o := rowsOf(b.rowValues(q, v))[now.index(v.day)]
		o.views = append(o.views, v)
	}
	for _, v := range viewsBefore {
		o := rowsOf(b.rowValues(q, v))[before.index(v.day)]
		o.earlier = append(o.earlier, v)
	}
	if q.Include != nil && boolOr(q.Include.EmptyRows, false) {
		for _, values := range b.recordValues(q) {
			rowsOf(values)
		}
	}
	return slices.DeleteFunc(slices.Concat(slicesOf(rows)...), func(o *expectedRow) bool { return !o.current && !o.paired })
}

func slicesOf(m map[string][]*expectedRow) (list [][]*expectedRow) {
	for _, rows := range m {
		list = append(list, rows)
	}
	return list
}

func keyOfValues(values []value) string {
	var key strings.Builder
	for _, v := range values {
		if v.null {
			key.WriteString("null " + v.external + "\x00" + v.label + "\x00")
		} else {
			key.WriteString("text " + v.text + "\x00")
		}
	}
	return key.String()
}

// rowValues returns the values of a row. Without a linked record, the
// platform's name separates groups.
func (b *referenceData) rowValues(q *testQuery, v taggedRow) []value {
	var list []value
	for _, d := range q.Dimensions {
		texts := b.dimensionValues(v, d, true)
		one := value{null: len(texts) == 0}
		if !one.null {
			one.text = texts[0]
		}
		switch d {
		case "campaign_id", "creative_id", "audience_id":
			kind, _, _ := strings.Cut(d, "_")
			e := b.entityOf(v.rowKey, kind)
			one.label = cmp.Or(b.records[e.record].name, e.name)
			if one.null {
				one.external = e.external
			}
		case "connection_id":
			one.label = b.sources[v.connection].name
		}
		list = append(list, one)
	}
	return list
}

// recordValues returns the values of all records that the query may be about.
func (b *referenceData) recordValues(q *testQuery) (list [][]value) {
	kind := ""
	for _, d := range q.Dimensions {
		if k, isID := strings.CutSuffix(d, "_id"); isID && k != "account" {
			kind = k
		}
	}
	own := func(of map[string]string, tags []string, label string) {
		if q.filter != nil && !q.filter.matches(func(d string) []string {
			if d == "tag" {
				return tags
			}
			if of[d] == "" {
				return nil
			}
			return []string{of[d]}
		}) {
			return
		}
		var values []value
		for _, d := range q.Dimensions {
			v := value{text: of[d], null: of[d] == ""}
			if d == kind+"_id" {
				v.label = label
			}
			values = append(values, v)
		}
		list = append(list, values)
	}
	if kind == "connection" {
		for _, s := range b.sources {
			own(map[string]string{"connection_id": s.id, "platform": s.platform}, nil, s.name)
		}
		return list
	}
	for _, r := range b.records {
		if r.kind == kind && r.status != "archived" {
			own(map[string]string{
				kind + "_id": r.id, kind + "_name": r.name, kind + "_status": r.status, "objective": r.objective, "creative_type": r.form,
			}, r.tags, r.name)
		}
	}
	return list
}

// keepsValue reports whether a metric satisfies a condition. An unknown one
// satisfies only negations.
func (n *condition) keepsValue(v *big.Rat) bool {
	if v == nil {
		return n.Op == "is_null" || n.Op == "ne" || n.Op == "not_in"
	}
	against := func(i int) int { return v.Cmp(parseNumber(cmp.Or(asText(n.Values[i]), "0"))) }
	equal := func(of any) bool { return v.Cmp(parseNumber(asText(of))) == 0 }
	switch n.Op {
	case "eq", "in":
		return slices.ContainsFunc(n.Values, equal)
	case "ne", "not_in":
		return !slices.ContainsFunc(n.Values, equal)
	case "gt":
		return against(0) > 0
	case "gte":
		return against(0) >= 0
	case "lt":
		return against(0) < 0
	case "lte":
		return against(0) <= 0
	case "between":
		return against(0) >= 0 && against(1) <= 0
	}
	return n.Op == "is_not_null"
}
