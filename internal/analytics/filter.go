package analytics

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"fanfare/internal/fact"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/money"
)

// having is a condition on a metric. It applies after grouping.
type having struct {
	column int
	op     Op
	values []Number
}

// Operators for dimensions and for metrics.
var (
	DimensionOps = []Op{Equal, NotEqual, In, NotIn, Contains, NotContains, StartsWith, Greater, AtLeast, Less, AtMost, Between, IsNull, IsNotNull}
	MetricOps    = []Op{Equal, NotEqual, In, NotIn, Greater, AtLeast, Less, AtMost, Between, IsNull, IsNotNull}
)

// operands returns how many values an operator takes.
func (o Op) operands() (least, most int) {
	switch o {
	case In, NotIn, Contains, NotContains, StartsWith:
		return 1, MaxValues
	case Between:
		return 2, 2
	case IsNull, IsNotNull:
		return 0, 0
	default:
		return 1, 1
	}
}

// MeasurementPlatform is the platform that measures the conversions of other
// platforms. Adding its metrics to theirs would count everything twice.
const MeasurementPlatform = "ga4"

// filterParser parses a filter recursively.
type filterParser struct {
	*resolver
	leaves, values int
	// fields are the dimensions of the leaves with their paths.
	fields []fieldRef
}

// fieldRef is a dimension and the query field that names it.
type fieldRef struct {
	dimension *Dimension
	field     string
}

func (c *resolver) readFilters() {
	t := &filterParser{resolver: c}
	if f := c.q.Filters; f != nil && (f.And == nil || len(f.And) > 0) {
		c.r.filters = f
		c.r.where = t.node(f, 1, true)
		if t.leaves > MaxLeaves {
			c.bad("filters", "too_many_items", fmt.Sprintf("must have at most %d conditions.", MaxLeaves), fault.Meta{"bound": "conditions", "maximum": MaxLeaves})
		}
		if t.values > MaxValues {
			c.bad("filters", "too_many_items", fmt.Sprintf("must have at most %d values in all.", MaxValues), fault.Meta{"bound": "values", "maximum": MaxValues})
		}
	}
	c.selectFamily(t.fields)
	if c.r.where == nil || !c.r.where.selectsPlatform(MeasurementPlatform) {
		without := Condition{Dimension: "platform", Op: NotEqual, Values: []string{MeasurementPlatform}}
		if c.r.where == nil {
			c.r.where = &without
			return
		}
		c.r.where = &Condition{And: []Condition{*c.r.where, without}}
	}
}

// selectsPlatform reports whether the condition selects a platform by name.
func (c *Condition) selectsPlatform(platform string) bool {
	if c.Dimension == "platform" {
		return (c.Op == Equal || c.Op == In) && slices.Contains(c.Values, platform)
	}
	return slices.ContainsFunc(slices.Concat(c.And, c.Or), func(c Condition) bool { return c.selectsPlatform(platform) })
}

// node parses a node and its children. free means that a metric is allowed
// here. It returns nil for invalid nodes and for conditions on metrics.
func (t *filterParser) node(f *Filter, depth int, free bool) *Condition {
	path := f.Path
	if path == "" {
		path = "filters"
	}
	if depth > MaxDepth {
		t.bad(path, "too_large", fmt.Sprintf("is nested too deep: at most %d levels.", MaxDepth), fault.Meta{"bound": "depth", "maximum": MaxDepth})
		return nil
	}
	kinds := 0
	for _, is := range []bool{f.And != nil, f.Or != nil, f.Not != nil, f.Field != "" || f.Op != "" || f.Values != nil} {
		if is {
			kinds++
		}
	}
	if kinds != 1 {
		t.bad(path, "invalid_value", "must be either a condition with field, op and values, or exactly one of and, or, not.", nil)
		return nil
	}
	switch {
	case f.And != nil:
		if list := t.nodes(f.And, path+".and", depth, free && depth == 1); len(list) > 0 {
			return &Condition{And: list}
		}
	case f.Or != nil:
		if list := t.nodes(f.Or, path+".or", depth, false); len(list) > 0 {
			return &Condition{Or: list}
		}
	case f.Not != nil:
		if inner := t.node(f.Not, depth+1, false); inner != nil {
			return &Condition{Not: inner}
		}
	default:
		return t.leaf(f, path, free)
	}
	return nil
}

func (t *filterParser) nodes(list []Filter, path string, depth int, free bool) []Condition {
	if len(list) == 0 {
		t.bad(path, "too_few_items", "must have at least one condition.", fault.Meta{"minimum": 1})
	}
	var conditions []Condition
	for i := range list {
		// Leaves beyond the limit are counted and not parsed.
		if t.leaves > MaxLeaves {
			t.leaves++
			continue
		}
		if c := t.node(&list[i], depth+1, free); c != nil {
			conditions = append(conditions, *c)
		}
	}
	return conditions
}

func (t *filterParser) leaf(f *Filter, path string, free bool) *Condition {
	t.leaves++
	t.values += len(f.Values)
	if m := metrics[f.Field]; m != nil {
		if !free {
			t.bad(path+".field", "invalid_value", "is a metric: such a condition holds after grouping, so it may stand only directly under the outermost and.", fault.Meta{"allowed": dimensionNames})
			return nil
		}
		if t.op(f, path, MetricOps) && t.count(f, path) {
			t.having(m, f, path)
		}
		return nil
	}
	d := dimensions[f.Field]
	switch {
	case d != nil:
	case f.Field == "":
		t.bad(path+".field", "required", "is required.", nil)
		return nil
	case f.Field == "date":
		t.bad(path+".field", "invalid_value", "cannot be date: set date_range.", fault.Meta{"allowed": dimensionNames})
		return nil
	default:
		t.unknown(path+".field", f.Field, "is neither a dimension nor a metric.", slices.Concat(dimensionNames, metricNames))
		return nil
	}
	t.fields = append(t.fields, fieldRef{d, path + ".field"})
	if !t.op(f, path, DimensionOps) || !t.count(f, path) {
		return nil
	}
	c := &Condition{Dimension: d.Name, Op: Op(f.Op)}
	for i, v := range f.Values {
		c.Values = append(c.Values, t.text(d, Op(f.Op), v, itemPath(path+".values", i)))
	}
	if c.Op == Between && c.Values[0] > c.Values[1] {
		t.bad(path+".values", "invalid_value", "must have the lower bound first.", nil)
	}
	return c
}

func (t *filterParser) op(f *Filter, path string, allowed []Op) bool {
	switch {
	case f.Op == "":
		t.bad(path+".op", "required", "is required.", nil)
	case !slices.Contains(allowed, Op(f.Op)):
		t.unknown(path+".op", f.Op, "must be one of "+joinWords(allowed)+".", namesOf(allowed, func(o *Op) string { return string(*o) }))
	default:
		return true
	}
	return false
}

func items(n int) string {
	if n == 1 {
		return "item"
	}
	return "items"
}

func (t *filterParser) count(f *Filter, path string) bool {
	least, most := Op(f.Op).operands()
	switch n := len(f.Values); {
	case n < least:
		t.bad(path+".values", "too_few_items", fmt.Sprintf("must have at least %d %s for this operator.", least, items(least)), fault.Meta{"minimum": least})
	case n > most && most == MaxValues:
		// The limit on the total number of values reports this.
		return false
	case n > most:
		hint := ""
		if more := map[Op]Op{Equal: In, NotEqual: NotIn}[Op(f.Op)]; more != "" {
			hint = " For several use " + string(more) + "."
		}
		t.bad(path+".values", "too_many_items", fmt.Sprintf("must have at most %d items for this operator.%s", most, hint), fault.Meta{"maximum": most})
	default:
		return true
	}
	return false
}

// text checks a value of a dimension and returns it in stored form.
func (t *filterParser) text(d *Dimension, op Op, v Scalar, path string) string {
	exact := op == Equal || op == NotEqual || op == In || op == NotIn
	switch {
	case v.Number:
		t.bad(path, "invalid_type", "must be text: put it in quotes.", nil)
	case v.Text == "":
		t.bad(path, "too_short", "must have at least 1 character; for rows without a value use is_null.", fault.Meta{"minimum": 1})
	case utf8.RuneCountInString(v.Text) > MaxText:
		t.bad(path, "too_long", fmt.Sprintf("must have at most %d characters.", MaxText), fault.Meta{"maximum": MaxText})
	case exact && d.Allowed != nil && !slices.Contains(d.Allowed, v.Text):
		t.unknown(path, v.Text, "must be one of "+strings.Join(d.Allowed, ", ")+".", d.Allowed)
	case exact && recordPrefixes[d.Name] != "" && !validID(d.Name, v.Text):
		t.bad(path, "invalid_format", "must be an id that starts with "+recordPrefixes[d.Name]+"_.", nil)
	case exact && d.Name == "country" && !fact.IsCountry(v.Text):
		t.bad(path, "invalid_format", "must be an ISO 3166 code of two capitals such as DE.", nil)
	case d.Name == "tag":
		return strings.ToLower(v.Text)
	}
	return v.Text
}

// validID accepts ids of records. For creative_id it also accepts variant ids,
// because facts can be linked to variants.
func validID(dimension, text string) bool {
	return ident.Valid(recordPrefixes[dimension], text) || dimension == "creative_id" && ident.Valid(ident.Variant, text)
}

func (t *filterParser) having(m *Metric, f *Filter, path string) {
	h := having{column: t.r.column(m), op: Op(f.Op)}
	for i, v := range f.Values {
		amount, reason := money.Parse(v.Text, 0)
		switch {
		case !v.Number:
			t.bad(itemPath(path+".values", i), "invalid_type", "must be a number, because the field is a metric.", nil)
		case reason == money.TooLarge:
			t.bad(itemPath(path+".values", i), "too_large", fmt.Sprintf("must be at most %d.", int64(money.MaxUnits)), fault.Meta{"maximum": int64(money.MaxUnits)})
		case reason != "":
			t.bad(itemPath(path+".values", i), "invalid_format", "must be a plain decimal number with at most 13 digits before and 6 after the point.", nil)
		}
		h.values = append(h.values, Number{N: amount.Micros, Digits: maxDigits, Known: true})
	}
	if h.op == Between && compare(h.values[0], h.values[1]) > 0 {
		t.bad(path+".values", "invalid_value", "must have the lower bound first.", nil)
	}
	t.r.having = append(t.r.having, h)
}

// matches reports whether a number satisfies the condition. As for dimensions,
// negated operators keep unknown values.
func (h *having) matches(n Number) bool {
	equals := func(v Number) bool { return compare(n, v) == 0 }
	if !n.Known {
		return h.op == IsNull || h.op == NotEqual || h.op == NotIn
	}
	switch h.op {
	case IsNull:
		return false
	case IsNotNull:
		return true
	case NotEqual, NotIn:
		return !slices.ContainsFunc(h.values, equals)
	case Greater:
		return compare(n, h.values[0]) > 0
	case AtLeast:
		return compare(n, h.values[0]) >= 0
	case Less:
		return compare(n, h.values[0]) < 0
	case AtMost:
		return compare(n, h.values[0]) <= 0
	case Between:
		return compare(n, h.values[0]) >= 0 && compare(n, h.values[1]) <= 0
	default:
		return slices.ContainsFunc(h.values, equals)
	}
}

// selectFamily selects the smallest report family that has every dimension. A
// dimension is in one family or in all, so if no family fits, two dimensions
// can never be combined.
func (c *resolver) selectFamily(fields []fieldRef) {
	used := slices.Clone(fields)
	for i, d := range c.r.dimensions {
		used = slices.Insert(used, i, fieldRef{d, itemPath("dimensions", slices.Index(c.q.Dimensions, d.Name))})
	}
	for _, f := range everyFamily {
		knows := func(p fieldRef) bool { return !slices.Contains(p.dimension.families, f) }
		if !slices.ContainsFunc(used, knows) {
			c.r.family = f
			return
		}
	}
	var first fieldRef
	for _, p := range used {
		if len(p.dimension.families) > 1 {
			continue
		}
		if first.dimension == nil {
			first = p
		}
		if f := p.dimension.families[0]; f != first.dimension.families[0] {
			c.reportIncompatible(first, p, used)
			return
		}
	}
}

// reportIncompatible reports that two dimensions cannot be combined, and which
// of the query's dimensions can.
func (c *resolver) reportIncompatible(a, b fieldRef, used []fieldRef) {
	works := func(f fact.Family) []string {
		var list []string
		for _, p := range used {
			if slices.Contains(p.dimension.families, f) && !slices.Contains(list, p.dimension.Name) {
				list = append(list, p.dimension.Name)
			}
		}
		return list
	}
	one, other := works(a.dimension.families[0]), works(b.dimension.families[0])
	c.bad(b.field, "incompatible_fields", fmt.Sprintf("cannot be combined with %s: platforms report %s and %s apart. Ask for %s, or for %s.",
		a.dimension.Name, a.dimension.Name, b.dimension.Name, strings.Join(one, ", "), strings.Join(other, ", ")),
		fault.Meta{"fields": []string{a.dimension.Name, b.dimension.Name}, "works": [][]string{one, other}})
}

// checkPacing checks the query's other fields against pacing, which is only
// defined for whole campaigns.
func (c *resolver) checkPacing() {
	pacing := slices.IndexFunc(c.r.metrics, func(m *Metric) bool { return m.special == againstPlan })
	if pacing < 0 {
		return
	}
	field := "filters"
	if i := slices.Index(c.q.Metrics, "pacing"); i >= 0 {
		field = itemPath("metrics", i)
	}
	if !slices.Contains(c.r.dimensions, dimensions["campaign_id"]) {
		c.bad(field, "incompatible_fields", "is known only by campaign: add campaign_id to dimensions.", fault.Meta{"fields": []string{"pacing", "dimensions"}, "works": []string{"campaign_id"}})
	}
	if c.r.granularity != Whole {
		c.bad(field, "incompatible_fields", "is about today: leave granularity out.", fault.Meta{"fields": []string{"pacing", "granularity"}, "works": []string{string(Whole)}})
	}
}
