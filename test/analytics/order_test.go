package analytics_test

import (
	"cmp"
	"math/big"
	"slices"
	"strings"
)

// compare orders rows as the query requests: unknown values last, ties by date
// and values.
func (q *testQuery) compare(x, y *expectedRow) int {
	dated := q.dated()
	order := q.OrderBy
	switch {
	case q.sort != nil:
		order = []sortOrder{*q.sort}
	case len(order) == 0 && dated:
		order = []sortOrder{{"date", "asc"}}
	case len(order) == 0:
		order = []sortOrder{{q.Metrics[0], "desc"}}
	}
	for _, o := range order {
		if c := q.by(o, x, y); c != 0 {
			return c
		}
	}
	if c := compareDates(x, y); dated && c != 0 {
		return c
	}
	for i, d := range q.Dimensions {
		if c := compareValues(d, x.values[i], y.values[i], false); c != 0 {
			return c
		}
	}
	return 0
}

func (q *testQuery) by(o sortOrder, x, y *expectedRow) int {
	at := slices.Index(q.Dimensions, o.Field)
	plain := o.Field == "date" || o.Field == "name" || at >= 0
	desc := o.Order == "desc" || o.Order == "" && !plain
	turn := func(c int) int {
		if desc {
			return -c
		}
		return c
	}
	switch {
	case o.Field == "date":
		if c := compareEmpty(!x.current, !y.current); c != 0 {
			return c
		}
		return turn(compareDates(x, y))
	case o.Field == "name":
		name := func(o *expectedRow) string {
			if v := o.values[0]; v.label != "" || v.null {
				return v.label
			}
			return o.values[0].text
		}
		if c := compareEmpty(name(x) == "", name(y) == ""); c != 0 || name(x) == "" {
			return c
		}
		return turn(cmp.Or(strings.Compare(strings.ToLower(name(x)), strings.ToLower(name(y))), strings.Compare(name(x), name(y))))
	case at >= 0:
		return compareValues(o.Field, x.values[at], y.values[at], desc)
	}
	figure := func(o *expectedRow, field string) *big.Rat {
		if m, ok := strings.CutPrefix(field, "previous."); ok {
			return o.before[m]
		}
		if m, ok := strings.CutPrefix(field, "change."); ok {
			return relativeChange(o.now[m], o.before[m])
		}
		return o.now[field]
	}
	l, r := figure(x, o.Field), figure(y, o.Field)
	if l == nil || r == nil {
		return compareEmpty(l == nil, r == nil)
	}
	return turn(l.Cmp(r))
}

// compareDates orders rows without a bucket after the others, by the days that
// they are compared with.
func compareDates(x, y *expectedRow) int {
	if x.current && y.current {
		return cmp.Compare(x.date, y.date)
	}
	return cmp.Or(compareEmpty(!x.current, !y.current), cmp.Compare(x.dateBefore, y.dateBefore))
}

func compareValues(dimension string, x, y value, desc bool) int {
	turn := 1
	if desc {
		turn = -1
	}
	switch {
	case x.null && y.null:
		return cmp.Or(strings.Compare(x.external, y.external), strings.Compare(x.label, y.label))
	case x.null || y.null:
		return compareEmpty(x.null, y.null)
	case dimension == "weekday":
		return turn * cmp.Compare(slices.Index(weekdays, x.text), slices.Index(weekdays, y.text))
	}
	return turn * strings.Compare(x.text, y.text)
}

// compareEmpty orders empty values last.
func compareEmpty(x, y bool) int {
	switch {
	case x && !y:
		return 1
	case y && !x:
		return -1
	}
	return 0
}
