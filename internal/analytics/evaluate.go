package analytics

import (
	"slices"

	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/ident"
)

// evaluation computes the rows of an answer from groups of sums.
type evaluation struct {
	r         *Resolved
	workspace ident.ID
	state     State
	// sources are the sources with facts in the queried days.
	sources     []fact.Coverage
	connections []Connection
	// changesLost is the message of the warning changes_lost, empty for none.
	changesLost string
	// rates has the exchange rates of each queried span.
	rates map[span][]Rate

	// measures are the measures of the groups' sums, in this order.
	measures []fact.Measure
	column   [fact.NumMeasures]int

	now, before           []Group
	nowTotal, beforeTotal []Group
	byPlatform            []Group
	empty                 [][]Value
	pacing                map[string]Number
	// unpacedCurrencies are budget currencies without an exchange rate for
	// spend.
	unpacedCurrencies []string

	// reported and reportedBefore are the measures that are 0, not unknown, for
	// rows without facts in the period.
	reported, reportedBefore measureSet

	rows []row
	// sum and sumBefore are the sums of all rows. shareTotal and
	// shareTotalBefore are the totals that shares refer to.
	sum, sumBefore               cell
	shareTotal, shareTotalBefore cell
	totals                       row
	// mixed and noRate mark the measures that are unknown in at least one row.
	mixed, noRate [fact.NumMeasures]bool
}

// row is one row of an answer. It has a bucket in the queried period, in the
// comparison period, or in both.
type row struct {
	values []Value
	// current means that the row has a bucket in the queried period, which
	// starts on date. paired and dateBefore are the same for the comparison
	// period.
	current, paired  bool
	date, dateBefore clock.Date
	partial          bool

	facts, factsBefore cell
	// now and before are the metrics. before is set only for paired rows.
	now, before []Number
}

// cell has the sums of one row in one period.
type cell struct {
	// sums is nil if the row has no facts in the period.
	sums []Sum
	// reported are the measures that are 0, not null, if the row has no facts.
	reported measureSet
}

// null reports whether the dimension has no value.
func (v *Value) null() bool { return v.Null || v.ID == "" }

// evaluate computes, filters and sorts the rows.
func (e *evaluation) evaluate() error {
	for i, m := range e.measures {
		e.column[m] = i
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
		e.rows = slices.DeleteFunc(e.rows, func(r row) bool { return !e.matchesHaving(&r) })
		if err := e.totalOfRows(); err != nil {
			return err
		}
		if slices.Contains(e.r.dimensions, dimensions["tag"]) {
			e.sum, e.sumBefore = e.unknownSums(), e.unknownSums()
		}
	}
	if e.r.totals {
		e.totals = row{facts: e.sum, factsBefore: e.sumBefore, current: true, paired: e.r.compare != nil}
		e.compute(&e.totals, slab)
	}
	e.sort()
	return nil
}

// total computes the totals from all rows, or from separate queries if the rows
// share people or facts.
func (e *evaluation) total() error {
	if err := e.totalOfRows(); err != nil {
		return err
	}
	if e.r.overlaps() && e.r.statuses == nil {
		e.sum, e.sumBefore = cell{sumsOf(e.nowTotal), e.reported}, cell{sumsOf(e.beforeTotal), e.reportedBefore}
		if slices.Contains(e.r.dimensions, dimensions["tag"]) && !e.r.where.onAnyTag() {
			e.sum, e.sumBefore = e.unknownSums(), e.unknownSums()
		}
	}
	e.shareTotal, e.shareTotalBefore = e.sum, e.sumBefore
	return nil
}

// unknownSums returns sums that are all unknown.
//
// Choice: if rows by tag are filtered by metrics or by excluded tags, no single
// query selects the facts of all rows, and adding up the rows would count facts
// twice. No total is better than a wrong one.
func (e *evaluation) unknownSums() cell { return cell{sums: make([]Sum, len(e.measures))} }

func sumsOf(total []Group) []Sum {
	if len(total) == 0 {
		return nil
	}
	return total[0].Sums
}

// totalOfRows adds up the rows of each period.
func (e *evaluation) totalOfRows() (err error) {
	now := func(r *row) (*cell, bool) { return &r.facts, r.current }
	if e.sum, err = e.addRows(now, e.reported); err != nil {
		return err
	}
	if e.r.compare != nil {
		before := func(r *row) (*cell, bool) { return &r.factsBefore, r.paired }
		e.sumBefore, err = e.addRows(before, e.reportedBefore)
	}
	return err
}

// addRows adds up one period of all rows as a query without dimensions would. A
// measure is unknown if no row knows it. An amount is unknown if a rate is
// missing in any row, and reach if more than one row has it. Without facts in
// any row, the sums are nil; without rows in the period, the reported measures
// are zero. of returns the period's part of a row, and whether it has one.
func (e *evaluation) addRows(of func(*row) (*cell, bool), reported measureSet) (total cell, err error) {
	rows := 0
	for i := range e.rows {
		c, there := of(&e.rows[i])
		if !there {
			continue
		}
		rows++
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
	if rows == 0 {
		total.reported = reported
	}
	for i := range total.sums {
		if s := &total.sums[i]; !s.NoRate && total.reported.has(e.measures[i]) {
			s.Known = true
		}
	}
	return total, nil
}

// addSums adds the sums of a part to total.
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

// compute calculates all metrics of a row and stores them in slab. If the row
// has no bucket in the queried period, its metrics are unknown.
func (e *evaluation) compute(r *row, slab []Number) []Number {
	e.noteUnknown(r.facts.sums)
	from := len(slab)
	for _, m := range e.r.metrics {
		n := Number{}
		if r.current {
			n = e.metric(m, r, &r.facts, &e.shareTotal)
		}
		slab = append(slab, n)
	}
	r.now = slab[from:]
	if !r.paired {
		return slab
	}
	e.noteUnknown(r.factsBefore.sums)
	from = len(slab)
	for _, m := range e.r.metrics {
		n := Number{}
		if m.special != againstPlan {
			n = e.metric(m, r, &r.factsBefore, &e.shareTotalBefore)
		}
		slab = append(slab, n)
	}
	r.before = slab[from:]
	return slab
}

// noteUnknown records measures that are unknown because of reach or missing
// rates.
func (e *evaluation) noteUnknown(sums []Sum) {
	for i := range sums {
		if sums[i].Mixed {
			e.mixed[e.measures[i]] = true
		}
		if sums[i].NoRate {
			e.noRate[e.measures[i]] = true
		}
	}
}

// metric calculates a metric from facts. Shares refer to whole.
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

// measure returns the sum of a measure. Without facts it is zero if the measure
// is reported, otherwise unknown.
func (e *evaluation) measure(m fact.Measure, facts *cell) Number {
	if facts.sums == nil {
		return Sum{Known: facts.reported.has(m)}.asNumber(m)
	}
	return facts.sums[e.column[m]].asNumber(m)
}

// matchesHaving reports whether a row satisfies all conditions on metrics.
func (e *evaluation) matchesHaving(r *row) bool {
	for i := range e.r.having {
		if h := &e.r.having[i]; !h.matches(r.now[h.column]) {
			return false
		}
	}
	return true
}
