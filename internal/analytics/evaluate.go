package analytics

import (
	"slices"

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

	// reported and reportedBefore are the measures that are 0 and not unknown
	// for what has no facts in the period.
	reported, reportedBefore measureSet

	rows []row
	// sum and sumBefore are all rows together, whole and wholeBefore what
	// shares are a part of.
	sum, sumBefore     cell
	whole, wholeBefore cell
	totals             row
	// mixed and noRate say which measures could not be told somewhere.
	mixed, noRate [fact.NumMeasures]bool
}

// row is one row of an answer. It has a bucket in the asked period, in the one
// that is compared with, or in both.
type row struct {
	values []Value
	// current says that there is a bucket of the asked period, and date is its
	// first day; paired and dateBefore are the same for the other period.
	current, paired  bool
	date, dateBefore clock.Date
	partial          bool

	facts, factsBefore cell
	// now and before are the metrics, before only where there is a pair.
	now, before []Number
}

// cell is what facts tell about one period of a row.
type cell struct {
	// sums are nil where there are no facts.
	sums []Sum
	// reported are the measures that are 0 where there are no facts.
	reported measureSet
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
		e.totals = row{facts: e.sum, factsBefore: e.sumBefore, current: true, paired: e.r.compare != nil}
		e.compute(&e.totals, slab)
	}
	e.sort()
	return nil
}

// total adds up all rows, or takes what was asked for apart where rows share
// people or facts.
func (e *evaluation) total() error {
	if err := e.totalOfRows(); err != nil {
		return err
	}
	if e.r.overlaps() && e.r.statuses == nil {
		e.sum, e.sumBefore = cell{sumsOf(e.nowTotal), e.reported}, cell{sumsOf(e.beforeTotal), e.reportedBefore}
		if slices.Contains(e.r.dimensions, dimensions["tag"]) && !e.r.where.onAnyTag() {
			e.sum, e.sumBefore = e.untold(), e.untold()
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
func (e *evaluation) untold() cell { return cell{sums: make([]Sum, len(e.measures))} }

func sumsOf(total []Group) []Sum {
	if len(total) == 0 {
		return nil
	}
	return total[0].Sums
}

// totalOfRows adds up the rows that there are, both periods by themselves.
func (e *evaluation) totalOfRows() (err error) {
	if e.sum, err = e.add(func(r *row) *cell { return &r.facts }, e.reported); err != nil {
		return err
	}
	if e.r.compare != nil {
		e.sumBefore, err = e.add(func(r *row) *cell { return &r.factsBefore }, e.reportedBefore)
	}
	return err
}

// add adds up one period of all rows as the facts would have: what no row knows
// is unknown, and so is an amount that lacks a rate anywhere and the reach of
// more than one row. Where no row has facts, there are no sums; without rows,
// reported are zero.
func (e *evaluation) add(of func(*row) *cell, reported measureSet) (total cell, err error) {
	for i := range e.rows {
		c := of(&e.rows[i])
		switch {
		case c.sums == nil:
			total.reported |= c.reported
		case total.sums == nil:
			total.sums = slices.Clone(c.sums)
		default:
			if err := addSums(e.measures, total.sums, c.sums); err != nil {
				return cell{}, err
			}
		}
	}
	if len(e.rows) == 0 {
		total.reported = reported
	}
	for i := range total.sums {
		if s := &total.sums[i]; !s.NoRate && total.reported.has(e.measures[i]) {
			s.Known = true
		}
	}
	return total, nil
}

// addSums adds the sums of a part to a total.
func addSums(measures []fact.Measure, total, part []Sum) error {
	for j, m := range measures {
		t, p := &total[j], &part[j]
		if m == fact.Reach {
			*t = Sum{Mixed: t.Known || p.Known || t.Mixed || p.Mixed}
			continue
		}
		n := t.N + p.N
		if (n > t.N) != (p.N > 0) && p.N != 0 {
			return ErrTooLarge
		}
		noRate := t.NoRate || p.NoRate
		*t = Sum{N: n, Known: (t.Known || p.Known) && !noRate, NoRate: noRate}
	}
	return nil
}

// compute works out all metrics of a row; the slab is where they are kept. A
// row without a bucket in the asked period has metrics that are all unknown.
func (e *evaluation) compute(r *row, slab []Number) []Number {
	e.note(r.facts.sums)
	from := len(slab)
	for _, m := range e.r.metrics {
		n := Number{}
		if r.current {
			n = e.metric(m, r, &r.facts, &e.whole)
		}
		slab = append(slab, n)
	}
	r.now = slab[from:]
	if !r.paired {
		return slab
	}
	e.note(r.factsBefore.sums)
	from = len(slab)
	for _, m := range e.r.metrics {
		n := Number{}
		if m.special != againstPlan {
			n = e.metric(m, r, &r.factsBefore, &e.wholeBefore)
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

// metric is the value of a metric for facts that are a part of a whole.
func (e *evaluation) metric(m *Metric, r *row, facts, whole *cell) Number {
	switch {
	case m.special == againstPlan:
		at := slices.Index(e.r.dimensions, dimensions["campaign_id"])
		if at >= len(r.values) {
			return Number{}
		}
		return e.pacing[r.values[at].ID]
	case m.special == ofTotal:
		over := e.measure(*m.over, facts)
		return ratio(1, over, Number{Digits: over.Digits, Known: true}, e.measure(*m.over, whole))
	case m.over == nil:
		return e.measure(m.needs[0], facts)
	}
	over := e.measure(*m.over, facts)
	less := Number{Digits: over.Digits, Known: true}
	if m.less != nil {
		less = e.measure(*m.less, facts)
	}
	return ratio(m.factor, over, less, e.measure(*m.under, facts))
}

// measure is a sum. Where there are no facts, nothing has happened of what is
// reported otherwise, which is zero.
func (e *evaluation) measure(m fact.Measure, facts *cell) Number {
	if facts.sums == nil {
		return Sum{Known: facts.reported.has(m)}.of(m)
	}
	return facts.sums[e.at[m]].of(m)
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
