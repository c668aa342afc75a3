package analytics

import (
	"cmp"
	"slices"
	"strings"
)

// sort sorts the rows. Unknown values come last in both directions. Ties are
// sorted by date and values, so that the same facts always have the same order.
func (e *evaluation) sort() {
	// Rows are large and scattered in memory. Sorting small entries with the
	// first key, and moving each row once, is faster.
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
		c := 0
		if e.r.granularity != Whole {
			c = compareDates(a.row, b.row, false)
		}
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

// numeric reports whether the sort key is a number.
func (o *order) numeric() bool { return o.at >= 0 && o.by != byDimension && o.by != byLabel }

func (o *order) compare(r *Resolved, a, b *row) int {
	switch {
	case o.at < 0:
		return compareDates(a, b, o.desc)
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

// compareDates compares rows by their buckets in the queried period. Rows
// without one come last, sorted by their buckets in the comparison period.
func compareDates(a, b *row, desc bool) int {
	if !a.current || !b.current {
		return cmp.Or(lastIf(!a.current, !b.current), directed(cmp.Compare(a.dateBefore, b.dateBefore), desc))
	}
	return directed(cmp.Compare(a.date, b.date), desc)
}

func (o *order) compareNumbers(left, right Number) int {
	if !left.Known || !right.Known {
		return lastIf(!left.Known, !right.Known)
	}
	return directed(compare(left, right), o.desc)
}

// number returns the sort key of a row.
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

// name returns the label of the value, or its id without a label.
func (v *Value) name() string {
	if v.Label != "" || v.null() {
		return v.Label
	}
	return v.ID
}

// compareValues compares values of a dimension: weekdays in calendar order,
// other values by bytes.
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

// lastIf sorts rows with the flag after rows without it.
func lastIf(a, b bool) int {
	switch {
	case a && !b:
		return 1
	case b && !a:
		return -1
	}
	return 0
}
