package sandbox

import (
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"

	"fanfare/internal/clock"
	"fanfare/internal/fact"
)

// ga4Report is a report that is being answered.
type ga4Report struct {
	ga4Viewer
	account  *Account
	in       *ga4Request
	lines    []ga4Line
	metadata map[string]any
	// byEvent says that rows are divided by event. cardinal says that the report
	// has a dimension that the row of the others loses, thresholded one that
	// small rows are left out for.
	byEvent, cardinal, thresholded bool
	// rolls says that small rows are put together, mixed that campaigns have
	// sessions in two channel groups. hidden is the kind of data that the role
	// hides, code the currency.
	rolls, mixed bool
	hidden, code string
}

// ga4Line is a row of an answer.
type ga4Line struct {
	dimensions, values []string
	sums               ga4Sums
}

// Limits that the simulated behaviors depend on.
const (
	// ga4MinSessions is the number of sessions that a row needs in a report that
	// is subject to thresholding.
	ga4MinSessions = 120 * million
	// ga4SampledDays is the number of days of which a sampled report reads the
	// percentage of the switch. It reads as many events of any other number.
	ga4SampledDays = 30
	// ga4RetentionMonths is how long events are kept if the switch is on,
	// ga4AdMonths how long metrics of ad accounts are.
	ga4RetentionMonths = 14
	ga4AdMonths        = 36
)

// read reads the rows, as the dimensions, filters and order of the request want
// them, and the metadata.
func (r *ga4Report) read() {
	r.hidden, r.code = r.Behavior(r.account, "restricted_metric"), r.in.CurrencyCode
	if r.code == "" {
		r.code = r.currency(r.account)
	}
	r.metadata["currencyCode"], r.metadata["timeZone"] = r.code, r.zone(r.account).String()
	if r.Behaves(r.account, "empty_reason") {
		r.metadata["emptyReason"] = "The property has no data for this report."
		return
	}
	r.byEvent = r.uses("eventName") || r.uses("isKeyEvent")
	for name, d := range ga4Dimensions {
		if (!d.kept || d.thresholded) && r.uses(name) {
			r.cardinal, r.thresholded = r.cardinal || !d.kept, r.thresholded || d.thresholded
		}
	}
	r.rolls = r.cardinal && r.Behaves(r.account, "other_row")
	r.mixed = r.Behaves(r.account, "mixed_channels")
	at := map[string]int{}
	for _, span := range r.in.spans {
		r.readSpan(span, at)
	}
	r.sample()
	r.threshold()
	r.truncate()
	r.restrict()
	empty := strings.Repeat("0", len(r.in.Metrics))
	for i := range r.lines {
		r.lines[i].values = r.render(&r.lines[i].sums)
	}
	r.lines = slices.DeleteFunc(r.lines, func(l ga4Line) bool {
		return !r.in.KeepEmptyRows && strings.Join(l.values, "") == empty || !r.in.MetricFilter.matches(func(name string) string { return r.renderMetric(name, &l.sums) })
	})
	r.sort()
}

// readSpan adds the rows of a date range to the lines.
func (r *ga4Report) readSpan(span ga4Span, at map[string]int) {
	a := r.source(r.account)
	counted, adCut := r.leadsCountFrom(a), r.monthsAgo(ga4AdMonths)
	first := max(span.first, a.First)
	if r.Behaves(r.account, "truncated_retention") {
		first = max(first, r.monthsAgo(ga4RetentionMonths))
	}
	for row, sign := range r.baseRows(a, first, span.last) {
		view := ga4View{Row: row, first: span.first, span: span.name, other: r.rollsUp(a, &row)}
		for i, values := range r.byChannel(a, &row) {
			view.unassigned = i > 0
			sums := newGA4Sums(&values, row.Date >= counted)
			if row.Date < adCut {
				sums.cost = 0
			}
			if sign < 0 {
				sums = ga4Sums{}.minus(sums)
			}
			r.addEvents(&view, sums, row.Date >= counted, at)
		}
	}
}

// byChannel divides the values of a row among channel groups: that of the
// campaign and, if the switch is on, Unassigned.
func (r *ga4Report) byChannel(a *Account, row *Row) []fact.Values {
	if !r.mixed {
		return []fact.Values{row.Values}
	}
	list, parts := make([]fact.Values, 2), make([]int64, 2)
	for _, m := range a.traits.measures {
		quantum := int64(1)
		if m == fact.Conversions {
			quantum = a.traits.conversionStep
		}
		divide(row.Values.V[m]/quantum, []int64{3, 1}, parts)
		for i := range list {
			list[i].Set(m, parts[i]*quantum)
		}
	}
	return list
}

// addEvents adds a row to its line, or its events to theirs if the report is by
// event.
func (r *ga4Report) addEvents(view *ga4View, sums ga4Sums, leadsCount bool, at map[string]int) {
	if !r.byEvent {
		r.addView(view, sums, at)
		return
	}
	events := sums.byEvent()
	for _, name := range slices.Sorted(maps.Keys(events)) {
		view.event, view.keyEvent = name, name == ga4Purchase || name == ga4Lead && leadsCount
		r.addView(view, events[name], at)
	}
}

// uses reports whether a dimension is in the report or in its filter.
func (r *ga4Report) uses(name string) bool {
	found := r.in.hasDimension(name)
	r.in.DimensionFilter.fields(func(field string) { found = found || field == name })
	return found
}

func (r *ga4Report) monthsAgo(months int) clock.Date {
	return clock.DateIn(r.today(r.account).Time().AddDate(0, -months, 0), r.today(r.account).Time().Location())
}

// addView adds a row to its line, if the filter lets it through.
func (r *ga4Report) addView(view *ga4View, sums ga4Sums, at map[string]int) {
	if !r.in.DimensionFilter.matches(func(name string) string { return ga4Dimensions[name].value(view) }) {
		return
	}
	dimensions := make([]string, len(r.in.Dimensions))
	for i, d := range r.in.Dimensions {
		dimensions[i] = ga4Dimensions[d.Name].value(view)
	}
	key := strings.Join(dimensions, "\x00")
	i, there := at[key]
	if !there {
		i = len(r.lines)
		at[key] = i
		r.lines = append(r.lines, ga4Line{dimensions: dimensions})
	}
	r.lines[i].sums.add(sums)
}

// baseRows returns the rows at the levels of the request, with their sign. Rows
// of a campaign without an ad are what the campaign has less its ads.
func (r *ga4Report) baseRows(a *Account, first, last clock.Date) iter.Seq2[Row, int] {
	levels := r.in.levels
	if len(levels) == 0 {
		levels = []Level{ByCampaign}
	}
	return func(yield func(Row, int) bool) {
		each := func(row Row, sign int) bool {
			return splitGA4Row(a, row, levels[1:], func(part Row) bool { return yield(part, sign) })
		}
		for row := range r.Rows(a, levels[0], first, last) {
			if !each(row, 1) {
				return
			}
			if row.Group, row.Ad = nil, nil; levels[0] == ByAd && !each(row, -1) {
				return
			}
		}
		if levels[0] != ByAd {
			return
		}
		for row := range r.Rows(a, ByCampaign, first, last) {
			if !each(row, 1) {
				return
			}
		}
	}
}

// splitGA4Row divides a row by further levels. The parts add up to the row.
//
// Choice: the proportions are those of an average campaign, so sums by the
// further levels differ from the reports that have only one of them.
func splitGA4Row(a *Account, row Row, levels []Level, yield func(Row) bool) bool {
	if len(levels) == 0 {
		return yield(row)
	}
	cells := cellsOf(a, row.Campaign, levels[0])
	weights, parts := make([]int64, len(cells)), make([]int64, len(cells))
	for i := range cells {
		weights[i] = cells[i].weight
	}
	values := make([]fact.Values, len(cells))
	for _, m := range a.traits.measures {
		quantum := int64(1)
		if m == fact.Conversions {
			quantum = a.traits.conversionStep
		}
		divide(row.Values.V[m]/quantum, weights, parts)
		for i := range cells {
			values[i].Set(m, parts[i]*quantum)
		}
	}
	for i, cell := range cells {
		part := row
		part.Values = values[i]
		switch levels[0] {
		case ByCountry:
			part.Country = cell.country
		case ByAgeAndGender:
			part.AgeRange, part.Gender = cell.age, cell.gender
		case ByDevice:
			part.Device = cell.device
		default:
		}
		if !splitGA4Row(a, part, levels[1:], yield) {
			return false
		}
	}
	return true
}

// rollsUp reports whether a row is put into the row of the others: those of the
// last campaign, and of every fourth ad. It sets the flag.
func (r *ga4Report) rollsUp(a *Account, row *Row) bool {
	if !r.rolls {
		return false
	}
	if row.Campaign != a.Campaigns[len(a.Campaigns)-1] && (row.Ad == nil || row.Ad.key.named("other").intBelow(4) > 0) {
		return false
	}
	r.metadata["dataLossFromOtherRow"] = true
	return true
}

// sample replaces the values by estimates, if the request is too large to read
// all events.
func (r *ga4Report) sample() {
	percent, err := strconv.Atoi(r.Behavior(r.account, "sampled"))
	if err != nil {
		return
	}
	const eventsPerDay = 1_000_000
	var list []any
	sampled := false
	for _, span := range r.in.spans {
		space := int64(span.last-span.first+1) * eventsPerDay
		read := min(space, int64(percent)*ga4SampledDays*eventsPerDay/100)
		sampled = sampled || read < space
		list = append(list, map[string]string{"samplesReadCount": strconv.FormatInt(read, 10), "samplingSpaceSize": strconv.FormatInt(space, 10)})
	}
	if !sampled {
		return
	}
	r.metadata["samplingMetadatas"] = list
	for i := range r.lines {
		k := seedKey(0).named("sample").named(strings.Join(r.lines[i].dimensions, "\x00"))
		r.lines[i].sums = r.lines[i].sums.scaled(k.intBetween(960_000, 1_040_000))
	}
}

// threshold leaves small rows out of reports by age, gender, interest or
// audience.
func (r *ga4Report) threshold() {
	if r.thresholded && r.Behaves(r.account, "thresholded") {
		r.metadata["subjectToThresholding"] = true
		r.lines = slices.DeleteFunc(r.lines, func(l ga4Line) bool { return l.sums.sessions < ga4MinSessions })
	}
}

// truncate reports which days are cut off.
func (r *ga4Report) truncate() {
	reasons := []any{}
	add := func(kind, message string, before clock.Date) {
		for _, span := range r.in.spans {
			if span.first < before {
				reasons = append(reasons, map[string]any{
					"dataTruncationType": "DATA_TRUNCATION_TYPE_" + kind, "dataTruncationMessage": message, "dataTruncationDate": before.String(),
				})
				return
			}
		}
	}
	if slices.ContainsFunc(r.in.Metrics, func(m ga4MetricAsk) bool { return slices.Contains(ga4AdMetrics, m.Name) }) {
		add("GOOGLE_ADS", "Google Ads data is kept for 36 months.", r.monthsAgo(ga4AdMonths))
	}
	if r.Behaves(r.account, "truncated_retention") {
		add("PROPERTY", "Event data before the retention date of the property is not available.", r.monthsAgo(ga4RetentionMonths))
	}
	if len(reasons) > 0 {
		r.metadata["dataTruncationReasons"] = reasons
	}
}

// restrict reports which metrics the role hides. Their values are 0.
func (r *ga4Report) restrict() {
	list := []any{}
	for _, m := range r.in.Metrics {
		if r.restricts(r.account, m.Name) {
			list = append(list, map[string]any{"metricName": m.Name, "restrictedMetricTypes": []string{ga4Metrics[m.Name].restricted}})
		}
	}
	if len(list) > 0 {
		r.metadata["schemaRestrictionResponse"] = map[string]any{"activeMetricRestrictions": list}
	}
}

// sort sorts the rows as requested.
func (r *ga4Report) sort() {
	if len(r.in.OrderBys) == 0 && r.Behaves(r.account, ga4RowOrder) {
		r.shuffle()
		return
	}
	slices.SortStableFunc(r.lines, func(x, y ga4Line) int {
		for _, o := range r.in.OrderBys {
			var c int
			if i := slices.Index(r.in.Dimensions, ga4Name{o.Dimension.DimensionName}); i >= 0 {
				c = o.compare(x.dimensions[i], y.dimensions[i])
			} else {
				i := r.in.metricIndex(o.Metric.MetricName)
				c = ga4CompareNumbers(x.values[i], y.values[i])
			}
			if o.Desc {
				c = -c
			}
			if c != 0 {
				return c
			}
		}
		return 0
	})
}

func (o *ga4Order) compare(x, y string) int {
	switch o.Dimension.OrderType {
	case "NUMERIC":
		return ga4CompareNumbers(x, y)
	case "CASE_INSENSITIVE_ALPHANUMERIC":
		return strings.Compare(strings.ToLower(x), strings.ToLower(y))
	}
	return strings.Compare(x, y)
}

func ga4CompareNumbers(x, y string) int {
	switch a, b := ga4ParseValue(x), ga4ParseValue(y); {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}
