package httpapi

import (
	"fmt"
	"slices"

	"fanfare/internal/analytics"
	"fanfare/internal/fault"
)

// readAnalyticsQuery reads the body of a query. It looks at types and names of
// members alone; what they say is checked by those who know what it means.
func readAnalyticsQuery(f *fields) *analytics.Query {
	q := &analytics.Query{
		Metrics:     f.names("metrics", analytics.MaxMetrics),
		Dimensions:  f.names("dimensions", analytics.MaxDimensions),
		Range:       readRange(f, "date_range"),
		Granularity: f.word("granularity", optional),
		Timezone:    f.word("timezone", optional),
		Currency:    f.text("currency", optional, 0, maxWord),
		Filters:     readFilters(f),
		Limit:       f.integer("limit", optional, 1, analytics.MaxLimit),
		Cursor:      f.text("cursor", nullable, 1, maxCursor),
	}
	set(&q.DryRun, f.flag("dry_run"))
	if c := f.nested("compare", optional); c != nil {
		q.Compare = &analytics.Compare{Range: readRange(c, "date_range")}
		set(&q.Compare.To, c.word("to", required))
		set(&q.Compare.MatchWeekday, c.flag("match_weekday"))
		c.done()
	}
	for _, o := range f.objects("order_by", analytics.MaxOrder) {
		var by analytics.Order
		set(&by.Field, o.word("field", required))
		set(&by.Order, o.choice("order", optional, []string{"asc", "desc"}))
		o.done()
		q.OrderBy = append(q.OrderBy, by)
	}
	if i := f.nested("include", optional); i != nil {
		q.Include = analytics.Include{
			Totals: i.flag("totals"), EmptyRows: i.flag("empty_rows"),
			Labels: i.flag("labels"), TotalRows: i.flag("total_rows"),
		}
		i.done()
	}
	return q
}

// maxCursor is far above the size of any cursor.
const maxCursor = 4096

// maxWord bounds names that somebody else will look up.
const maxWord = 200

// word reads a name that is looked up later.
func (f *fields) word(name string, p presence) *string { return f.text(name, p, 1, maxWord) }

// names reads an array of names that are looked up later; nil where there is
// none.
func (f *fields) names(name string, most int) []string {
	if f.object.get(name) == nil {
		f.read[name] = true
		return nil
	}
	return f.list(name, most, func(path, item string) (string, bool) { return item, f.checkText(path, item, 1, maxWord) })
}

func readRange(f *fields, name string) *analytics.Range {
	o := f.nested(name, optional)
	if o == nil {
		return nil
	}
	r := &analytics.Range{Start: o.word("start_date", optional), End: o.word("end_date", optional), Preset: o.word("preset", optional)}
	o.done()
	if r.Preset == nil && o.object.get("preset") != nil {
		// It cannot be read, which is all that is wrong: no days are missing.
		return nil
	}
	return r
}

// readFilters reads a condition, or an array of them that must all hold.
func readFilters(f *fields) *analytics.Filter {
	v := f.take("filters", optional)
	if v == nil {
		return nil
	}
	if v.kind != kindArray {
		return readFilter(f, f.at("filters"), v)
	}
	node := &analytics.Filter{Path: f.at("filters")}
	node.And = readNodes(f, node.Path, v)
	return node
}

func readNodes(f *fields, path string, v *value) []analytics.Filter {
	list := make([]analytics.Filter, 0, len(v.items))
	for i := range v.items {
		if n := readFilter(f, fmt.Sprintf("%s[%d]", path, i), &v.items[i]); n != nil {
			list = append(list, *n)
		}
	}
	return list
}

// joins are the members that put conditions together, parts those of one.
var (
	joins = []string{"and", "or", "not"}
	parts = []string{"field", "op", "values"}
)

// readFilter reads one node. Deeper than a body may nest it cannot get.
func readFilter(f *fields, path string, v *value) *analytics.Filter {
	o := f.item(path, v)
	if o == nil {
		return nil
	}
	defer o.done()
	n := &analytics.Filter{Path: path}
	kinds := kindsOf(v)
	if len(kinds) == 0 || kinds[0] == "" {
		set(&n.Field, o.word("field", required))
		set(&n.Op, o.word("op", required))
		n.Values = readScalars(o)
		return n
	}
	if len(kinds) > 1 {
		o.bad(path, "incompatible_fields", "must have exactly one of and, or, not, or else field, op and values.", fault.Meta{"allowed": joins})
		for _, name := range slices.Concat(joins, parts) {
			o.read[name] = true
		}
		return nil
	}
	for _, name := range []string{"and", "or"} {
		list := o.typed(name, optional, func(v *value) bool { return v.kind == kindArray }, "an array")
		if list == nil {
			continue
		}
		if len(list.items) == 0 {
			o.bad(o.at(name), "too_few_items", "must have at least 1 item.", fault.Meta{"minimum": 1})
		}
		nodes := readNodes(f, o.at(name), list)
		if name == "and" {
			n.And = nodes
		} else {
			n.Or = nodes
		}
	}
	if not := o.take("not", optional); not != nil {
		n.Not = readFilter(f, o.at("not"), not)
	}
	return n
}

// kindsOf lists what a node is by its members: what joins others, and empty
// for a condition of its own. A right node is only one.
func kindsOf(v *value) []string {
	var kinds []string
	for _, m := range v.members {
		kind := m.name
		if slices.Contains(parts, kind) {
			kind = ""
		} else if !slices.Contains(joins, kind) {
			continue
		}
		if !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// readScalars reads the values of a condition.
func readScalars(o *fields) []analytics.Scalar {
	v := o.typed("values", optional, func(v *value) bool { return v.kind == kindArray }, "an array")
	if v == nil {
		return nil
	}
	list := make([]analytics.Scalar, 0, len(v.items))
	for i, item := range v.items {
		path := fmt.Sprintf("%s[%d]", o.at("values"), i)
		switch item.kind {
		case kindString, kindNumber:
			list = append(list, analytics.Scalar{Text: item.text, Number: item.kind == kindNumber})
		case kindNull:
			o.bad(path, "not_nullable", "cannot be null; use is_null.", nil)
		default:
			o.bad(path, "invalid_type", "must be a string or a number.", fault.Meta{"expected": "a string or a number"})
		}
	}
	return list
}
