package analytics

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/money"
	"fanfare/internal/nearest"
)

// Resolved is a valid query: all names are resolved, all defaults set, and
// ranges relative to today are fixed.
type Resolved struct {
	// metrics are the requested metrics, followed by those that only conditions
	// and sort keys need.
	metrics    []*Metric
	shown      int
	dimensions []*Dimension

	days        span
	preset      *preset
	today       clock.Date
	granularity Granularity
	timezone    string
	currency    money.Currency

	family  fact.Family
	filters *Filter
	where   *Condition
	having  []having

	compare *comparison
	order   []order
	limit   int

	totals, emptyRows, labels, totalRows bool
	// statuses are the record statuses to keep; nil keeps all.
	statuses []string
}

// comparison is the period that rows are compared with.
type comparison struct {
	to           string
	days         span
	matchWeekday bool
}

// spans returns the queried period and the comparison period.
func (r *Resolved) spans() []span {
	list := []span{r.days}
	if r.compare != nil {
		list = append(list, r.compare.days)
	}
	return list
}

// order is one sort key. at is the index of a dimension, -1 for the date, or
// the column of a metric.
type order struct {
	field string
	by    orderBy
	at    int
	desc  bool
}

type orderBy uint8

const (
	byDimension orderBy = iota
	byLabel
	byNow
	byPrevious
	byChange
)

// Comparisons lists the periods to compare with.
var Comparisons = []string{"previous_period", "previous_year", "custom"}

// resolver collects the problems of a query.
type resolver struct {
	q        *Query
	r        *Resolved
	problems []fault.Detail
}

func (c *resolver) bad(field, code, message string, meta fault.Meta) {
	c.problems = append(c.problems, fault.Detail{Field: field, In: "body", Code: code, Message: field + " " + message, Meta: meta})
}

// unknown reports a word that is not allowed. The message names the word.
func (c *resolver) unknown(field, word, message string, allowed []string) {
	shown := fault.Clip(word)
	meta := fault.Meta{"allowed": allowed, "value": shown}
	link := ":"
	if strings.HasPrefix(message, "must") {
		link = ", not"
	}
	message = fmt.Sprintf("%s%s %q.", strings.TrimSuffix(message, "."), link, shown)
	if near := nearest.Word(word, allowed); near != "" {
		meta["did_you_mean"] = near
		message += " Did you mean " + near + "?"
	}
	c.bad(field, "invalid_value", message, meta)
}

// Resolve checks a query and sets its defaults. It reports every problem at
// once, and returns a result only without problems.
func Resolve(q *Query, w Workspace, now time.Time) (*Resolved, []fault.Detail) {
	c := &resolver{q: q, r: &Resolved{granularity: Whole, timezone: w.Timezone, currency: w.Currency, limit: DefaultLimit}}
	c.readMetrics()
	c.readDimensions()
	c.readScope(now)
	c.readDays()
	c.readFilters()
	c.readCompare()
	c.readInclude()
	c.readOrder()
	c.checkPacing()
	if len(c.problems) > 0 {
		return nil, c.problems
	}
	return c.r, nil
}

var (
	metricNames    = namesOf(Metrics, func(m *Metric) string { return m.Name })
	dimensionNames = namesOf(Dimensions, func(d *Dimension) string { return d.Name })
)

func namesOf[T any](list []T, name func(*T) string) []string {
	names := make([]string, len(list))
	for i := range list {
		names[i] = name(&list[i])
	}
	return names
}

// checkNames checks the length of a list of names and that it has no
// duplicates.
func (c *resolver) checkNames(field string, list []string, most int) bool {
	if len(list) > most {
		c.bad(field, "too_many_items", fmt.Sprintf("must have at most %d items.", most), fault.Meta{"maximum": most})
		return false
	}
	for i, word := range list {
		if j := slices.Index(list, word); j < i {
			c.bad(itemPath(field, i), "duplicate_item", fmt.Sprintf("repeats %s.", fault.Clip(word)), fault.Meta{"first": j})
		}
	}
	return true
}

func itemPath(field string, i int) string { return field + "[" + strconv.Itoa(i) + "]" }

func (c *resolver) readMetrics() {
	switch {
	case c.q.Metrics == nil:
		c.bad("metrics", "required", "is required: name at least one metric.", nil)
		return
	case len(c.q.Metrics) == 0:
		c.bad("metrics", "too_few_items", "must name at least one metric.", fault.Meta{"minimum": 1})
		return
	case !c.checkNames("metrics", c.q.Metrics, MaxMetrics):
		return
	}
	for i, name := range c.q.Metrics {
		m := metrics[name]
		switch {
		case m != nil:
			c.r.metrics = append(c.r.metrics, m)
		case dimensions[name] != nil:
			c.bad(itemPath("metrics", i), "invalid_value", "is a dimension; put it into dimensions.", fault.Meta{"allowed": metricNames})
		default:
			c.unknown(itemPath("metrics", i), name, "has an unknown metric.", metricNames)
		}
	}
	c.r.shown = len(c.r.metrics)
}

// column returns the column of a metric. A metric that was not requested is
// computed but not shown.
func (r *Resolved) column(m *Metric) int {
	if i := slices.Index(r.metrics, m); i >= 0 {
		return i
	}
	r.metrics = append(r.metrics, m)
	return len(r.metrics) - 1
}

func (c *resolver) readDimensions() {
	if !c.checkNames("dimensions", c.q.Dimensions, MaxDimensions) {
		return
	}
	for i, name := range c.q.Dimensions {
		d := dimensions[name]
		if c.q.internal && name == DimensionVariant {
			d = &variantDimension
		}
		switch {
		case d != nil:
			c.r.dimensions = append(c.r.dimensions, d)
		case name == "date":
			c.bad(itemPath("dimensions", i), "invalid_value", "is not allowed here: set granularity, and every row has its date.", fault.Meta{"allowed": dimensionNames})
		case metrics[name] != nil:
			c.bad(itemPath("dimensions", i), "invalid_value", "is a metric; put it into metrics.", fault.Meta{"allowed": dimensionNames})
		default:
			c.unknown(itemPath("dimensions", i), name, "has an unknown dimension.", dimensionNames)
		}
	}
}

// readScope reads the settings of the whole answer: time zone, currency,
// granularity and limit.
func (c *resolver) readScope(now time.Time) {
	if z := c.q.Timezone; z != nil {
		c.r.timezone = *z
	}
	zone, err := clock.Zone(c.r.timezone)
	if err != nil {
		c.bad("timezone", "invalid_value", "must be an IANA time zone such as Europe/Berlin.", nil)
		zone = time.UTC
	}
	c.r.today = clock.DateIn(now, zone)
	if code := c.q.Currency; code != nil {
		c.r.currency = money.Currency(*code)
		if _, ok := c.r.currency.Digits(); !ok {
			c.bad("currency", "invalid_value", "must be an ISO 4217 code in capitals such as EUR.", nil)
		}
	}
	if g := c.q.Granularity; g != nil {
		c.r.granularity = Granularity(*g)
		if !slices.Contains(Granularities, c.r.granularity) {
			c.unknown("granularity", *g, "must be one of "+joinWords(Granularities)+".", namesOf(Granularities, func(g *Granularity) string { return string(*g) }))
			c.r.granularity = Whole
		}
	}
	if n := c.q.Limit; n != nil {
		c.r.limit = int(min(*n, MaxLimit))
		switch {
		case *n < 1:
			c.bad("limit", "too_small", "must be at least 1.", fault.Meta{"minimum": 1})
		case *n > MaxLimit:
			c.bad("limit", "too_large", fmt.Sprintf("must be at most %d.", MaxLimit), fault.Meta{"maximum": MaxLimit})
		}
	}
}

func joinWords[S ~string](list []S) string {
	texts := make([]string, len(list))
	for i, s := range list {
		texts[i] = string(s)
	}
	return strings.Join(texts, ", ")
}

// The first and the last day of a query. Days outside this range are refused as
// typing errors.
var (
	earliest = clock.MakeDate(2000, time.January, 1)
	latest   = clock.MakeDate(2099, time.December, 31)
)

func (c *resolver) readDays() {
	r := c.q.Range
	if r == nil {
		name := defaultPreset
		r = &Range{Preset: &name}
	}
	c.r.days, c.r.preset = c.span("date_range", r)
}

// span reads a range. For an invalid range it returns today, so that the other
// fields can still be checked.
func (c *resolver) span(field string, r *Range) (span, *preset) {
	fallback := span{c.r.today, c.r.today}
	if r.Preset != nil {
		if r.Start != nil || r.End != nil {
			c.bad(field, "incompatible_fields", "must have either preset or start_date and end_date.", fault.Meta{"fields": []string{"preset", "start_date", "end_date"}})
			return fallback, nil
		}
		p := findPreset(*r.Preset)
		if p == nil {
			c.unknown(field+".preset", *r.Preset, "must be one of "+strings.Join(Presets, ", ")+".", Presets)
			return fallback, nil
		}
		return p.span(c.r.today), p
	}
	first, okFirst := c.date(field+".start_date", r.Start)
	last, okLast := c.date(field+".end_date", r.End)
	switch {
	case !okFirst || !okLast:
		return fallback, nil
	case last < first:
		c.bad(field+".end_date", "invalid_value", "must not be before start_date.", fault.Meta{"start_date": first.String()})
		return fallback, nil
	case last >= addMonths(first, MaxMonths):
		c.bad(field, "too_large", fmt.Sprintf("spans more than %d months; ask for parts.", MaxMonths), fault.Meta{"bound": "months", "maximum": MaxMonths})
		return fallback, nil
	}
	return span{first, last}, nil
}

func (c *resolver) date(field string, text *string) (clock.Date, bool) {
	if text == nil {
		c.bad(field, "required", "is required beside the other end; or name a preset.", nil)
		return 0, false
	}
	d, ok := clock.ParseDate(*text)
	switch {
	case !ok:
		c.bad(field, "invalid_format", "must be a day such as 2026-11-15.", nil)
	case d < earliest:
		c.bad(field, "too_small", "must not be before "+earliest.String()+".", fault.Meta{"minimum": earliest.String()})
	case d > latest:
		c.bad(field, "too_large", "must not be after "+latest.String()+".", fault.Meta{"maximum": latest.String()})
	default:
		return d, true
	}
	return 0, false
}

func (c *resolver) readCompare() {
	q := c.q.Compare
	if q == nil {
		return
	}
	to := &comparison{to: q.To, matchWeekday: q.MatchWeekday}
	c.r.compare = to
	if (q.To == "previous_period" || q.To == "previous_year") && q.Range != nil {
		c.bad("compare.date_range", "incompatible_fields", "goes only with to: custom.", fault.Meta{"fields": []string{"to", "date_range"}})
	}
	switch q.To {
	case "previous_period":
		to.days = previous(c.r.days, c.r.preset, q.MatchWeekday)
	case "previous_year":
		to.days = yearBefore(c.r.days, q.MatchWeekday)
	case "custom":
		if q.MatchWeekday {
			c.bad("compare.match_weekday", "incompatible_fields", "does not go with to: custom, whose days you choose.", fault.Meta{"fields": []string{"to", "match_weekday"}})
		}
		if q.Range == nil {
			c.bad("compare.date_range", "required", "is required with to: custom.", nil)
			return
		}
		to.days, _ = c.span("compare.date_range", q.Range)
	default:
		c.unknown("compare.to", q.To, "must be one of "+strings.Join(Comparisons, ", ")+".", Comparisons)
	}
}

func (c *resolver) readInclude() {
	q, r := c.q.Include, c.r
	is := func(b *bool, fallback bool) bool {
		if b == nil {
			return fallback
		}
		return *b
	}
	r.totals, r.emptyRows = is(q.Totals, true), is(q.EmptyRows, false)
	r.labels, r.totalRows = is(q.Labels, true), is(q.TotalRows, false)
	if r.emptyRows && r.recordDimension() == nil {
		c.bad("include.empty_rows", "incompatible_fields",
			"adds records without facts, so dimensions must hold one of "+strings.Join(entityDimensions, ", ")+", and beside it only what that record itself has.",
			fault.Meta{"fields": []string{"include.empty_rows", "dimensions"}, "allowed": entityDimensions})
	}
}

// readOrder reads the sort keys. The default is the date, otherwise the first
// metric.
func (c *resolver) readOrder() {
	r := c.r
	if c.q.report != nil {
		r.order, r.statuses = c.q.report.order(r), c.q.report.Statuses
		return
	}
	if len(c.q.OrderBy) > MaxOrder {
		c.bad("order_by", "too_many_items", fmt.Sprintf("must have at most %d items.", MaxOrder), fault.Meta{"maximum": MaxOrder})
		return
	}
	seen := map[string]bool{}
	for i, q := range c.q.OrderBy {
		path := itemPath("order_by", i)
		o, ok := r.orderOn(q.Field)
		switch {
		case !ok:
			c.unknown(path+".field", q.Field, "must be something that the query selects, with previous. or change. before a metric where it compares.", r.orderFields())
		case seen[q.Field]:
			c.bad(path+".field", "duplicate_item", "is in the list twice.", nil)
		}
		seen[q.Field] = true
		switch q.Order {
		case "asc", "desc":
			o.desc = q.Order == "desc"
		case "":
			// Choice: the usual directions: dates and names ascending, metrics
			// descending.
			o.desc = o.by > byLabel
		default:
			c.unknown(path+".order", q.Order, "must be asc or desc.", []string{"asc", "desc"})
		}
		r.order = append(r.order, o)
	}
	if len(r.order) > 0 {
		return
	}
	r.order = []order{{field: "date", at: -1}}
	if r.granularity == Whole && len(r.metrics) > 0 {
		r.order = []order{{field: r.metrics[0].Name, by: byNow, desc: true}}
	}
}

// orderOn resolves a field of order_by.
func (r *Resolved) orderOn(field string) (order, bool) {
	if field == "date" {
		return order{field: field, at: -1}, r.granularity != Whole
	}
	for i, d := range r.dimensions {
		if d.Name == field {
			return order{field: field, at: i}, true
		}
	}
	by, name := byNow, field
	if rest, ok := strings.CutPrefix(field, "previous."); ok {
		by, name = byPrevious, rest
	} else if rest, ok := strings.CutPrefix(field, "change."); ok {
		by, name = byChange, rest
	}
	for i, m := range r.metrics[:r.shown] {
		if m.Name == name {
			return order{field: field, by: by, at: i}, by == byNow || r.compare != nil
		}
	}
	return order{field: field}, false
}

// orderFields lists all fields that the query can be sorted by.
func (r *Resolved) orderFields() []string {
	var list []string
	if r.granularity != Whole {
		list = append(list, "date")
	}
	for _, d := range r.dimensions {
		list = append(list, d.Name)
	}
	for _, m := range r.metrics[:r.shown] {
		list = append(list, m.Name)
		if r.compare != nil {
			list = append(list, "previous."+m.Name, "change."+m.Name)
		}
	}
	return list
}

// The dimensions that belong to a record, by the dimension that identifies the
// record.
var (
	entityDimensions = []string{"campaign_id", "creative_id", "audience_id", "connection_id"}
	recordDimensions = map[string][]string{
		"campaign_id":   {"campaign_id", "campaign_name", "campaign_status", "objective"},
		"creative_id":   {"creative_id", "creative_name", "creative_type"},
		"audience_id":   {"audience_id", "audience_name"},
		"connection_id": {"connection_id", "platform"},
	}
	recordKinds    = map[string]string{"campaign_id": fact.KindCampaign, "creative_id": fact.KindCreative, "audience_id": fact.KindAudience}
	recordPrefixes = map[string]string{"campaign_id": ident.Campaign, "creative_id": ident.Creative, "audience_id": ident.Audience, "connection_id": ident.Connection}
)

// recordDimension returns the dimension that identifies a record if all other
// dimensions belong to the same record, otherwise nil.
func (r *Resolved) recordDimension() *Dimension {
	for _, id := range r.dimensions {
		own := recordDimensions[id.Name]
		foreign := func(d *Dimension) bool { return !slices.Contains(own, d.Name) }
		if own != nil && !slices.ContainsFunc(r.dimensions, foreign) {
			return id
		}
	}
	return nil
}
