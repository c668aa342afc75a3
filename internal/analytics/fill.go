package analytics

import (
	"slices"

	"fanfare/internal/clock"
)

// fill creates a row for every bucket of every combination of values with facts
// in either period. Without buckets and comparison, groups are rows. Connection
// labels come from their records.
func (e *evaluation) fill() error {
	r := e.r
	if at := slices.Index(r.dimensions, dimensions["connection_id"]); at >= 0 {
		e.labelConnections(at)
	}
	if r.granularity == Whole && r.compare == nil && len(r.dimensions) > 0 && !r.emptyRows {
		e.rows = make([]row, len(e.now))
		for i := range e.now {
			e.rows[i] = row{values: e.now[i].Values, current: true, facts: cell{sums: e.now[i].Sums}}
		}
		return nil
	}
	combinations, index := e.combinations()
	seriesOf := r.seriesByWeekday()
	starts, n := make([]int, len(combinations)), 0
	for i, values := range combinations {
		starts[i] = n
		if n += len(seriesOf(values).rows); n > MaxRows {
			return ErrTooMany
		}
	}
	e.rows = make([]row, 0, n)
	for _, values := range combinations {
		from := len(e.rows)
		e.rows = append(e.rows, seriesOf(values).rows...)
		for i := from; i < len(e.rows); i++ {
			e.rows[i].values = values
		}
	}
	now, before := make([]reportedMeasures, len(combinations)), make([]reportedMeasures, len(combinations))
	for i := range e.now {
		g, at := &e.now[i], index(e.now[i].Values)
		s := seriesOf(g.Values)
		e.rows[starts[at]+s.at[bucketIndex(s.now, g.Bucket)]].facts.sums = g.Sums
		now[at].add(e.reportedBy(g))
	}
	for i := range e.before {
		g, at := &e.before[i], index(e.before[i].Values)
		s := seriesOf(g.Values)
		e.rows[starts[at]+s.at[bucketIndex(s.before, g.Bucket)]].factsBefore.sums = g.Sums
		before[at].add(e.reportedBy(g))
	}
	lost := len(e.lost()) > 0
	for i, from := range starts {
		zeros, zerosBefore := now[i].zeros(e.reported), before[i].zeros(e.reportedBefore)
		if lost {
			zeros, zerosBefore = 0, 0
		}
		for j := range seriesOf(combinations[i]).rows {
			e.rows[from+j].setReported(zeros, zerosBefore)
		}
	}
	return nil
}

// bucketIndex returns the index of an existing bucket.
func bucketIndex(starts []clock.Date, start clock.Date) int {
	i, _ := slices.BinarySearch(starts, start)
	return i
}

// reportedMeasures collects the measures that the facts of one combination
// report in a period.
type reportedMeasures struct {
	any      bool
	reported measureSet
}

func (t *reportedMeasures) add(s measureSet) { t.any, t.reported = true, t.reported|s }

// zeros returns the measures that are zero in buckets without facts: those of
// the combination's other facts, or all of the period if it has none.
func (t *reportedMeasures) zeros(all measureSet) measureSet {
	if t.any {
		return t.reported
	}
	return all
}

// setReported sets the measures that are zero in the row's buckets without
// facts.
func (r *row) setReported(now, before measureSet) {
	if r.current {
		r.facts.reported = now
	}
	if r.paired {
		r.factsBefore.reported = before
	}
}

// series has the rows of a combination of values: the buckets of the queried
// period, paired by index with those of the comparison period.
type series struct {
	now, before []clock.Date
	// rows have no values and facts yet. at maps the index of a bucket to its
	// row, -1 for none.
	rows []row
	at   []int
}

// newSeries creates the rows for combinations with the given weekday, or for
// combinations without weekday if it is empty. It omits buckets without such a
// day in the range: a Monday is never a Sunday.
func (r *Resolved) newSeries(weekday string) *series {
	s := &series{now: r.granularity.buckets(r.days)}
	if r.compare != nil {
		s.before = r.granularity.buckets(r.compare.days)
	}
	for i := range max(len(s.now), len(s.before)) {
		t := row{}
		if t.paired = i < len(s.before) && r.granularity.hasWeekday(s.before[i], r.compare.days, weekday); t.paired {
			t.dateBefore, t.partial = s.before[i], r.granularity.partial(s.before[i], r.compare.days)
		}
		if t.current = i < len(s.now) && r.granularity.hasWeekday(s.now[i], r.days, weekday); t.current {
			t.date, t.partial = s.now[i], r.granularity.partial(s.now[i], r.days)
		}
		if !t.current && !t.paired {
			s.at = append(s.at, -1)
			continue
		}
		s.at, s.rows = append(s.at, len(s.rows)), append(s.rows, t)
	}
	return s
}

// seriesByWeekday returns a function that finds the series of a combination of
// values.
func (r *Resolved) seriesByWeekday() func([]Value) *series {
	at := slices.Index(r.dimensions, dimensions["weekday"])
	byWeekday := map[string]*series{}
	return func(values []Value) *series {
		weekday := ""
		if at >= 0 {
			weekday = values[at].ID
		}
		s := byWeekday[weekday]
		if s == nil {
			s = r.newSeries(weekday)
			byWeekday[weekday] = s
		}
		return s
	}
}

// combinations returns the distinct values of the groups of both periods, and a
// function that returns the index of a combination, -1 for none.
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
	for _, groups := range [][]Group{e.now, e.before} {
		for i := range groups {
			add(groups[i].Values)
		}
	}
	for _, values := range e.empty {
		add(values)
	}
	return list, find
}

// appendKey appends a key that identifies a combination of values. Labels of
// records are not part of it.
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
	for _, groups := range [][]Group{e.now, e.before} {
		for i := range groups {
			groups[i].Values[at].Label = names[groups[i].Values[at].ID]
		}
	}
}
