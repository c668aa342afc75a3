package analytics

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"fanfare/internal/body"
	"fanfare/internal/fault"
)

// parseQuery reads and checks the query that a caller sent. It reports all
// problems at once: those of the body, and those of the members that can be
// read.
func parseQuery(sent *body.Value, w Workspace, now time.Time) (*Query, error) {
	f := body.NewReader(sent, false)
	q := readQuery(f)
	f.Done()
	if f.Err() == nil {
		return q, nil
	}
	_, more := Resolve(q, w, now)
	for _, d := range more {
		if !slices.ContainsFunc(f.Problems.List, func(had fault.Detail) bool { return overlaps(had.Field, d.Field) }) {
			f.Problems.Add(d)
		}
	}
	return nil, f.Err()
}

// overlaps reports whether two paths name the same member, or one lies in the
// other.
func overlaps(a, b string) bool {
	in := func(outer, inner string) bool {
		rest, ok := strings.CutPrefix(inner, outer)
		return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
	}
	return in(a, b) || in(b, a)
}

// readQuery reads the body of a query. It checks only the names and types of
// members; Resolve checks their values.
func readQuery(f *body.Reader) *Query {
	q := &Query{
		Metrics:     readNames(f, "metrics", MaxMetrics),
		Dimensions:  readNames(f, "dimensions", MaxDimensions),
		Range:       readRange(f, "date_range"),
		Granularity: word(f, "granularity", body.Optional),
		Timezone:    word(f, "timezone", body.Optional),
		Currency:    f.Text("currency", body.Optional, 0, maxWord),
		Filters:     readFilters(f),
		Limit:       f.Integer("limit", body.Optional, 1, MaxLimit),
		Cursor:      f.Text("cursor", body.Nullable, 1, maxCursor),
	}
	body.Set(&q.DryRun, f.Flag("dry_run"))
	if c := f.Nested("compare", body.Optional); c != nil {
		q.Compare = &Compare{Range: readRange(c, "date_range")}
		body.Set(&q.Compare.To, word(c, "to", body.Required))
		body.Set(&q.Compare.MatchWeekday, c.Flag("match_weekday"))
		c.Done()
	}
	for _, o := range f.Objects("order_by", MaxOrder) {
		var by Order
		body.Set(&by.Field, word(o, "field", body.Required))
		body.Set(&by.Order, o.Choice("order", body.Optional, []string{"asc", "desc"}))
		o.Done()
		q.OrderBy = append(q.OrderBy, by)
	}
	if i := f.Nested("include", body.Optional); i != nil {
		q.Include = Include{
			Totals: i.Flag("totals"), EmptyRows: i.Flag("empty_rows"),
			Labels: i.Flag("labels"), TotalRows: i.Flag("total_rows"),
		}
		i.Done()
	}
	return q
}

// maxCursor is far above the size of any cursor.
const maxCursor = 4096

// maxWord is the maximum length of a name that Resolve looks up.
const maxWord = 200

// word reads a name that Resolve looks up.
func word(f *body.Reader, name string, p body.Presence) *string { return f.Text(name, p, 1, maxWord) }

// readNames reads an array of names that Resolve looks up. It returns nil if the
// member is absent.
func readNames(f *body.Reader, name string, most int) []string {
	if f.Object.Get(name) == nil {
		f.Skip(name)
		return nil
	}
	return f.List(name, most, func(path, item string) (string, bool) { return item, f.CheckText(path, item, 1, maxWord) })
}

func readRange(f *body.Reader, name string) *Range {
	o := f.Nested(name, body.Optional)
	if o == nil {
		return nil
	}
	r := &Range{Start: word(o, "start_date", body.Optional), End: word(o, "end_date", body.Optional), Preset: word(o, "preset", body.Optional)}
	o.Done()
	if r.Preset == nil && o.Object.Get("preset") != nil {
		// preset is present but invalid, which is reported already. Without
		// this return, the dates would be reported as missing too.
		return nil
	}
	return r
}

// readFilters reads one condition, or an array of conditions that are combined
// with AND.
func readFilters(f *body.Reader) *Filter {
	v := f.Take("filters", body.Optional)
	if v == nil {
		return nil
	}
	if v.Kind != body.KindArray {
		return readFilter(f, f.At("filters"), v)
	}
	node := &Filter{Path: f.At("filters")}
	node.And = readNodes(f, node.Path, v)
	return node
}

func readNodes(f *body.Reader, path string, v *body.Value) []Filter {
	list := make([]Filter, 0, len(v.Items))
	for i := range v.Items {
		if n := readFilter(f, fmt.Sprintf("%s[%d]", path, i), &v.Items[i]); n != nil {
			list = append(list, *n)
		}
	}
	return list
}

// joins are the members that combine conditions; parts are the members of a
// single condition.
var (
	joins = []string{"and", "or", "not"}
	parts = []string{"field", "op", "values"}
)

// readFilter reads one node of a filter. The depth limit of the JSON parser
// bounds the recursion.
func readFilter(f *body.Reader, path string, v *body.Value) *Filter {
	o := f.Item(path, v)
	if o == nil {
		return nil
	}
	defer o.Done()
	n := &Filter{Path: path}
	kinds := kindsOf(v)
	if len(kinds) == 0 || kinds[0] == "" {
		body.Set(&n.Field, word(o, "field", body.Required))
		body.Set(&n.Op, word(o, "op", body.Required))
		n.Values = readConditionValues(o)
		return n
	}
	if len(kinds) > 1 {
		o.Bad(path, "incompatible_fields", "must have exactly one of and, or, not, or else field, op and values.", fault.Meta{"allowed": joins})
		for _, name := range slices.Concat(joins, parts) {
			o.Skip(name)
		}
		return nil
	}
	for _, name := range []string{"and", "or"} {
		list := o.Typed(name, body.Optional, func(v *body.Value) bool { return v.Kind == body.KindArray }, "an array")
		if list == nil {
			continue
		}
		if len(list.Items) == 0 {
			o.Bad(o.At(name), "too_few_items", "must have at least 1 item.", fault.Meta{"minimum": 1})
		}
		nodes := readNodes(f, o.At(name), list)
		if name == "and" {
			n.And = nodes
		} else {
			n.Or = nodes
		}
	}
	if not := o.Take("not", body.Optional); not != nil {
		n.Not = readFilter(f, o.At("not"), not)
	}
	return n
}

// kindsOf returns the kinds of a filter node by its members: and, or, not, or
// an empty string for a condition. A valid node has exactly one kind.
func kindsOf(v *body.Value) []string {
	var kinds []string
	for _, m := range v.Members {
		kind := m.Name
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

// readConditionValues reads the values of a condition.
func readConditionValues(o *body.Reader) []Scalar {
	v := o.Typed("values", body.Optional, func(v *body.Value) bool { return v.Kind == body.KindArray }, "an array")
	if v == nil {
		return nil
	}
	list := make([]Scalar, 0, len(v.Items))
	for i, item := range v.Items {
		path := fmt.Sprintf("%s[%d]", o.At("values"), i)
		switch item.Kind {
		case body.KindString, body.KindNumber:
			list = append(list, Scalar{Text: item.Text, Number: item.Kind == body.KindNumber})
		case body.KindNull:
			o.Bad(path, "not_nullable", "cannot be null; use is_null.", nil)
		default:
			o.Bad(path, "invalid_type", "must be a string or a number.", fault.Meta{"expected": "a string or a number"})
		}
	}
	return list
}
