package analytics

import (
	"cmp"
	"slices"
	"strings"

	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/ident"
)

// evaluation turns groups of sums into the rows of an answer.
type evaluation struct {
	r         *Resolved
	workspace ident.ID
	state     State
	// sources are those of the asked days.
	sources     []fact.Coverage
	connections []Connection
	// rates are those of the days that are asked for.
	rates map[span][]Rate

	// measures are what groups have sums of, in this order.
	measures []fact.Measure
	at       [fact.NumMeasures]int

	now, before           []Group
	nowTotal, beforeTotal []Group
	byPlatform            []Group
	empty                 [][]Value
	pacing                map[string]Number
	// unpaced are the currencies of budgets that spend cannot be shown in.
	unpaced []string

	rows []row
	// sum and sumBefore are all rows together, whole and wholeBefore what
	// shares are a part of.
	sum, sumBefore     []Sum
	whole, wholeBefore []Sum
	totals             row
	// mixed and noRate say which measures could not be told somewhere.
	mixed, noRate [fact.NumMeasures]bool
}

// row is one row of an answer.
type row struct {
	values []Value
	date   clock.Date
	// sums are nil where there are no facts.
	sums, sumsBefore []Sum
	// paired says that there is a bucket to compare with.
	paired  bool
	partial bool
	// now and before are the metrics, before only where there is a pair.
	now, before []Number
}

// null reports whether the dimension has no value.
func (v *Value) null() bool { return v.Null || v.ID == "" }

// evaluate makes the rows, filters and sorts them.
func (e *evaluation) evaluate() error {
	for i, m := range e.measures {
		e.at[m] = i
	}
	if err := e.fill(); err != nil {
		return err
	}
	if err := e.total(); err != nil {
		return err
	}
	columns := len(e.r.metrics)
	if e.r.compare != nil {
		columns *= 2
	}
	slab := make([]Number, 0, columns*(len(e.rows)+1))
	for i := range e.rows {
		slab = e.compute(&e.rows[i], slab)
	}
	if len(e.r.having) > 0 {
		e.rows = slices.DeleteFunc(e.rows, func(r row) bool { return !e.keeps(&r) })
		if err := e.totalOfRows(); err != nil {
			return err
		}
		if slices.Contains(e.r.dimensions, dimensions["tag"]) {
			e.sum, e.sumBefore = e.untold(), e.untold()
		}
	}
	if e.r.totals {
		e.totals = row{sums: e.sum, sumsBefore: e.sumBefore, paired: e.r.compare != nil}
		e.compute(&e.totals, slab)
	}
	e.sort()
	return nil
}

// fill makes a row for every bucket of every combination of values that has
// any fact; where there are no buckets, groups are rows. The labels of
// connections come from their records.
func (e *evaluation) fill() error {
	r := e.r
	if at := slices.Index(r.dimensions, dimensions["connection_id"]); at >= 0 {
		e.labelConnections(at)
	}
	if r.granularity == Whole && r.compare == nil && len(r.dimensions) > 0 && !r.emptyRows {
		e.rows = make([]row, len(e.now))
		for i := range e.now {
			e.rows[i] = row{values: e.now[i].Values, sums: e.now[i].Sums}
		}
		return nil
	}
	buckets := r.granularity.buckets(r.days)
	var before []clock.Date
	if r.compare != nil {
		before = r.granularity.buckets(r.compare.days)
	}
	combinations, index := e.combinations()
	if len(combinations)*len(buckets) > MaxRows {
		return ErrTooMany
	}
	e.rows = make([]row, 0, len(combinations)*len(buckets))
	for _, values := range combinations {
		for i, start := range buckets {
			e.rows = append(e.rows, row{values: values, date: start, paired: i < len(before), partial: r.granularity.partial(start, r.days)})
		}
	}
	for i := range e.now {
		g := &e.now[i]
		b, _ := slices.BinarySearch(buckets, g.Bucket)
		e.rows[index(g.Values)*len(buckets)+b].sums = g.Sums
	}
	for i := range e.before {
		g := &e.before[i]
		b, _ := slices.BinarySearch(before, g.Bucket)
		if at := index(g.Values); at >= 0 && b < len(buckets) {
			e.rows[at*len(buckets)+b].sumsBefore = g.Sums
		}
	}
	return nil
}

// combinations are the different values that groups have, and a function that
// finds theirs, -1 for none.
func (e *evaluation) combinations() ([][]Value, func([]Value) int) {
	if len(e.r.dimensions) == 0 {
		return [][]Value{nil}, func([]Value) int { return 0 }
	}
	list := make([][]Value, 0, len(e.now))
	known := make(map[string]int, len(e.now))
	var key []byte
	find := func(values []Value) int {
		key = appendKey(key[:0], values)
		if i, there := known[string(key)]; there {
			return i
		}
		return -1
	}
	add := func(values []Value) {
		if find(values) < 0 {
			known[string(key)] = len(list)
			list = append(list, values)
		}
	}
	for i := range e.now {
		add(e.now[i].Values)
	}
	for _, values := range e.empty {
		add(values)
	}
	return list, find
}

// appendKey writes what tells combinations of values apart. The label of a
// record is not part of it.
func appendKey(b []byte, values []Value) []byte {
	for i := range values {
		if v := &values[i]; v.null() {
			b = append(append(append(append(append(b, 1), v.External...), 0), v.Label...), 0)
		} else {
			b = append(append(append(b, 2), v.ID...), 0)
		}
	}
	return b
}

func (e *evaluation) labelConnections(at int) {
	names := make(map[string]string, len(e.connections))
	for _, c := range e.connections {
		names[string(c.ID)] = c.Name
	}
	for i := range e.now {
		e.now[i].Values[at].Label = names[e.now[i].Values[at].ID]
	}
}

// total adds up all rows, or takes what was asked for apart where rows share
// people or facts.
func (e *evaluation) total() error {
	err := e.totalOfRows()
	if err != nil {
		return err
	}
	if e.r.overlaps() && e.r.statuses == nil {
		e.sum, e.sumBefore = sumsOf(e.nowTotal), sumsOf(e.beforeTotal)
		if slices.Contains(e.r.dimensions, dimensions["tag"]) && !e.r.where.onAnyTag() {
			e.sum, e.sumBefore = e.untold(), e.untold()
		}
	} else if e.r.compare != nil {
		if e.sumBefore, err = add(e.measures, e.before, func(g *Group) []Sum { return g.Sums }); err != nil {
			return err
		}
	}
	e.whole, e.wholeBefore = e.sum, e.sumBefore
	return nil
}

// untold are sums that nobody can tell.
// Choice: where rows by tag are chosen by their figures, or by what tags they
// do not have, the facts that are in any of them cannot be asked for at once,
// and adding the rows up would count facts twice. No total is better than a
// wrong one.
func (e *evaluation) untold() []Sum { return make([]Sum, len(e.measures)) }

func sumsOf(total []Group) []Sum {
	if len(total) == 0 {
		return nil
	}
	return total[0].Sums
}

// totalOfRows adds up the rows that there are. Of those that are compared with
// it knows only what stands beside a row.
func (e *evaluation) totalOfRows() (err error) {
	if e.sum, err = add(e.measures, e.rows, func(r *row) []Sum { return r.sums }); err != nil {
		return err
	}
	e.sumBefore, err = add(e.measures, e.rows, func(r *row) []Sum { return r.sumsBefore })
	return err
}

// add adds up sums as the facts would have: what no part knows is unknown, and
// so is an amount that lacks a rate anywhere and the reach of more than one
// part. Where no part has facts, there are no sums.
func add[T any](measures []fact.Measure, parts []T, sums func(*T) []Sum) ([]Sum, error) {
	var total []Sum
	for i := range parts {
		part := sums(&parts[i])
		if part == nil {
			continue
		}
		if total == nil {
			total = slices.Clone(part)
			continue
		}
		for j, m := range measures {
			t, p := &total[j], &part[j]
			if m == fact.Reach {
				*t = Sum{Mixed: t.Known || p.Known || t.Mixed || p.Mixed}
				continue
			}
			n := t.N + p.N
			if (n > t.N) != (p.N > 0) && p.N != 0 {
				return nil, ErrTooLarge
			}
			noRate := t.NoRate || p.NoRate
			*t = Sum{N: n, Known: (t.Known || p.Known) && !noRate, NoRate: noRate}
		}
	}
	return total, nil
}

// compute works out all metrics of a row; the slab is where they are kept.
func (e *evaluation) compute(r *row, slab []Number) []Number {
	e.note(r.sums)
	from := len(slab)
	for _, m := range e.r.metrics {
		slab = append(slab, e.metric(m, r, r.sums, e.whole))
	}
	r.now = slab[from:]
	if !r.paired {
		return slab
	}
	e.note(r.sumsBefore)
	from = len(slab)
	for _, m := range e.r.metrics {
		n := Number{}
		if m.special != againstPlan {
			n = e.metric(m, r, r.sumsBefore, e.wholeBefore)
		}
		slab = append(slab, n)
	}
	r.before = slab[from:]
	return slab
}

// note remembers what could not be told.
func (e *evaluation) note(sums []Sum) {
	for i := range sums {
		if sums[i].Mixed {
			e.mixed[e.measures[i]] = true
		}
		if sums[i].NoRate {
			e.noRate[e.measures[i]] = true
		}
	}
}

// metric is the value of a metric for sums that are a part of a whole.
func (e *evaluation) metric(m *Metric, r *row, sums, whole []Sum) Number {
	switch {
	case m.special == againstPlan:
		at := slices.Index(e.r.dimensions, dimensions["campaign_id"])
		if at >= len(r.values) {
			return Number{}
		}
		return e.pacing[r.values[at].ID]
	case m.special == ofTotal:
		over := e.measure(*m.over, sums)
		return ratio(1, over, Number{Digits: over.Digits, Known: true}, e.measure(*m.over, whole))
	case m.over == nil:
		return e.measure(m.needs[0], sums)
	}
	over := e.measure(*m.over, sums)
	less := Number{Digits: over.Digits, Known: true}
	if m.less != nil {
		less = e.measure(*m.less, sums)
	}
	return ratio(m.factor, over, less, e.measure(*m.under, sums))
}

// measure is a sum. Where there are no facts nothing has happened, which is
// zero; but nobody has told of people reached.
func (e *evaluation) measure(m fact.Measure, sums []Sum) Number {
	if sums == nil {
		return Sum{Known: m != fact.Reach}.of(m)
	}
	return sums[e.at[m]].of(m)
}

// keeps reports whether a row satisfies every condition on metrics.
func (e *evaluation) keeps(r *row) bool {
	for i := range e.r.having {
		if h := &e.r.having[i]; !h.holds(r.now[h.column]) {
			return false
		}
	}
	return true
}

// sort puts rows in the asked order. What is unknown comes last in both
// directions, and ties are in the order of dates and values, so that the same
// facts always give the same order.
func (e *evaluation) sort() {
	// Rows are large and lie far apart, so they are moved once, and what
	// decides most comparisons is beside where they are.
	type place struct {
		first Number
		*row
	}
	order, rest := make([]place, len(e.rows)), e.r.order
	for i := range e.rows {
		order[i].row = &e.rows[i]
	}
	numeric := len(rest) > 0 && rest[0].numeric()
	if numeric {
		for i := range order {
			order[i].first = rest[0].number(order[i].row)
		}
		rest = rest[1:]
	}
	slices.SortFunc(order, func(a, b place) int {
		if numeric {
			if c := e.r.order[0].compareNumbers(a.first, b.first); c != 0 {
				return c
			}
		}
		for i := range rest {
			if c := rest[i].compare(e.r, a.row, b.row); c != 0 {
				return c
			}
		}
		c := cmp.Compare(a.date, b.date)
		for i := 0; c == 0 && i < len(a.values); i++ {
			c = compareValues(e.r.dimensions[i], &a.values[i], &b.values[i], false)
		}
		return c
	})
	sorted := make([]row, len(order))
	for i := range order {
		sorted[i] = *order[i].row
	}
	e.rows = sorted
}

// numeric reports whether rows are sorted by a figure.
func (o *order) numeric() bool { return o.at >= 0 && o.by != byDimension && o.by != byLabel }

func (o *order) compare(r *Resolved, a, b *row) int {
	switch {
	case o.at < 0:
		return directed(cmp.Compare(a.date, b.date), o.desc)
	case o.by == byDimension:
		return compareValues(r.dimensions[o.at], &a.values[o.at], &b.values[o.at], o.desc)
	case o.by == byLabel:
		left, right := a.values[o.at].name(), b.values[o.at].name()
		if left == "" || right == "" {
			return lastIf(left == "", right == "")
		}
		return directed(cmp.Or(cmp.Compare(strings.ToLower(left), strings.ToLower(right)), cmp.Compare(left, right)), o.desc)
	}
	return o.compareNumbers(o.number(a), o.number(b))
}

func (o *order) compareNumbers(left, right Number) int {
	if !left.Known || !right.Known {
		return lastIf(!left.Known, !right.Known)
	}
	return directed(compare(left, right), o.desc)
}

// number is the figure that a row is sorted by.
func (o *order) number(r *row) Number {
	switch {
	case o.by == byNow:
		return r.now[o.at]
	case r.before == nil:
		return Number{}
	case o.by == byPrevious:
		return r.before[o.at]
	default:
		return change(r.now[o.at], r.before[o.at])
	}
}

// name is what the value is called: its label, or itself.
func (v *Value) name() string {
	if v.Label != "" || v.null() {
		return v.Label
	}
	return v.ID
}

// compareValues orders values of a dimension: days of the week as they come,
// everything else by its bytes.
func compareValues(d *Dimension, a, b *Value, desc bool) int {
	switch {
	case a.null() && b.null():
		return cmp.Or(cmp.Compare(a.External, b.External), cmp.Compare(a.Label, b.Label))
	case a.null() || b.null():
		return lastIf(a.null(), b.null())
	case d.Name == "weekday":
		return directed(slices.Index(Weekdays, a.ID)-slices.Index(Weekdays, b.ID), desc)
	}
	return directed(cmp.Compare(a.ID, b.ID), desc)
}

func directed(c int, desc bool) int {
	if desc {
		return -c
	}
	return c
}

// lastIf puts what has nothing behind what has something.
func lastIf(a, b bool) int {
	switch {
	case a && !b:
		return 1
	case b && !a:
		return -1
	}
	return 0
}
