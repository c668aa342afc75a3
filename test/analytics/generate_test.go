package analytics_test

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

var (
	dimensions = []string{
		"campaign_id", "campaign_name", "campaign_status", "objective", "tag", "channel", "platform", "connection_id", "account_id", "creative_id",
		"creative_name", "creative_type", "audience_id", "audience_name", "country", "age_range", "gender", "device", "weekday",
	}
	granularities = []string{"none", "day", "week", "month", "quarter", "year"}
)

// randomQuery returns a valid query.
func (g *testWorkspace) randomQuery() *testQuery {
	q := &testQuery{Granularity: g.pickOne("", "", "none", "day", "week", "month", "quarter", "year")}
	dated := q.dated()
	for range 1 + g.r.IntN(g.r.IntN(8)+1) {
		if m := g.pickOne(metrics...); !slices.Contains(q.Metrics, m) && m != "pacing" {
			q.Metrics = append(q.Metrics, m)
		}
	}
	if q.Metrics == nil {
		q.Metrics = []string{"spend"}
	}
	for range g.r.IntN(4) {
		g.addDimension(q)
	}
	if !dated && !slices.Contains(q.Dimensions, "campaign_id") && len(q.Dimensions) < 3 && g.withProbability(20) {
		q.Dimensions = append(q.Dimensions, "campaign_id")
	}
	if slices.Contains(q.Dimensions, "campaign_id") && !dated && g.withProbability(60) {
		q.Metrics = append(q.Metrics, "pacing")
	}
	q.DateRange = g.randomRange(q.Granularity)
	if g.withProbability(30) {
		q.Timezone = g.pickOne("UTC", "Pacific/Kiritimati", "America/Los_Angeles")
	}
	if g.withProbability(50) {
		q.Currency = g.pickOne("USD", "EUR", "SEK", "JPY", "GBP")
	}
	if g.withProbability(60) {
		g.addFilters(q)
	}
	if g.withProbability(40) {
		g.addCompare(q)
	}
	g.addOrder(q)
	g.addIncludes(q)
	return q
}

func (g *testWorkspace) addDimension(q *testQuery) {
	d := g.pickOne(dimensions...)
	fits := !slices.ContainsFunc(q.Dimensions, func(other string) bool {
		return d == other || families[d] != "" && families[other] != "" && families[d] != families[other]
	})
	if fits && len(q.Dimensions) < 5 {
		q.Dimensions = append(q.Dimensions, d)
	}
}

// randomRange returns a period; with daily rows it is short.
func (g *testWorkspace) randomRange(granularity string) *period {
	switch {
	case g.withProbability(15):
		return nil
	case g.withProbability(50):
		p := &period{Preset: g.pickOne(presets...)}
		if s := presetSpan(p.Preset, g.today); granularity == "day" && s.days() > 100 {
			p.Preset = "last_28_days"
		}
		return p
	}
	longest := 1000
	if granularity == "day" {
		longest = 80
	}
	first := g.randomDay()
	return &period{StartDate: first.String(), EndDate: (first + day(g.r.IntN(1+g.r.IntN(longest)))).String()}
}

func (g *testWorkspace) addCompare(q *testQuery) {
	c := &comparison{To: g.pickOne("previous_period", "previous_year", "custom")}
	if c.To == "custom" {
		first := g.randomDay()
		c.DateRange = &period{StartDate: first.String(), EndDate: (first + day(g.r.IntN(60))).String()}
		if g.withProbability(20) {
			c.DateRange = &period{Preset: "last_7_days"}
		}
	} else {
		c.MatchWeekday = g.withProbability(30)
	}
	q.Compare = c
}

func (g *testWorkspace) addFilters(q *testQuery) {
	n := g.randomCondition(g.r.IntN(3))
	var onMetrics []condition
	for range g.r.IntN(3) {
		if g.withProbability(40) {
			onMetrics = append(onMetrics, g.randomMetricLeaf())
		}
	}
	switch {
	case onMetrics != nil && g.withProbability(20):
		n = onMetrics[0]
	case onMetrics != nil || g.withProbability(30):
		n = condition{And: append(onMetrics, n)}
	}
	q.filter, q.Filters = &n, n
	if n.And != nil && g.withProbability(40) {
		// An array means the same.
		q.Filters = n.And
	}
	if !q.answerable() {
		q.filter, q.Filters = nil, nil
	}
}

// answerable reports whether one report has all dimensions.
func (q *testQuery) answerable() bool {
	var special []string
	for _, d := range append(slices.Clone(q.Dimensions), q.filter.fields()...) {
		if f := families[d]; f != "" && !slices.Contains(special, f) {
			special = append(special, f)
		}
	}
	return len(special) < 2
}

func (g *testWorkspace) randomCondition(depth int) condition {
	if depth == 0 || g.withProbability(35) {
		return g.randomLeaf()
	}
	switch g.r.IntN(3) {
	case 0:
		n := g.randomCondition(depth - 1)
		return condition{Not: &n}
	case 1:
		return condition{And: []condition{g.randomCondition(depth - 1), g.randomCondition(depth - 1)}}
	default:
		return condition{Or: []condition{g.randomCondition(depth - 1), g.randomCondition(depth - 1)}}
	}
}

func (g *testWorkspace) randomLeaf() condition {
	d := g.pickOne(dimensions...)
	if families[d] != "" && g.withProbability(70) {
		d = "channel"
	}
	op := g.pickOne("eq", "ne", "in", "not_in", "contains", "not_contains", "starts_with", "gt", "gte", "lt", "lte", "between", "is_null", "is_not_null")
	n := condition{Field: d, Op: op}
	text := func() string {
		v := g.randomValue(d)
		if op == "contains" || op == "not_contains" || op == "starts_with" {
			runes := []rune(v)
			from := 0
			if op != "starts_with" {
				from = g.r.IntN(len(runes))
			}
			v = string(runes[from : from+1+g.r.IntN(len(runes)-from)])
			if g.withProbability(50) {
				v = strings.ToUpper(v)
			}
		}
		return v
	}
	switch op {
	case "is_null", "is_not_null":
	case "between":
		a, b := g.randomValue(d), g.randomValue(d)
		n.Values = []any{min(a, b), max(a, b)}
	case "in", "not_in":
		for range 1 + g.r.IntN(3) {
			n.Values = append(n.Values, text())
		}
	default:
		n.Values = []any{text()}
	}
	return n
}

// randomValue returns a value that rows may have.
func (g *testWorkspace) randomValue(dimension string) string {
	f := g.feeds[g.r.IntN(len(g.feeds))]
	switch dimension {
	case "campaign_id":
		return g.pickOne(g.campaigns...)
	case "creative_id":
		return g.pickOne(g.creatives...)
	case "audience_id":
		return g.pickOne(g.audiences...)
	case "connection_id":
		return f.id
	case "campaign_status":
		return g.pickOne("draft", "active", "paused", "completed", "archived")
	case "objective":
		return g.pickOne(objectives...)
	case "tag":
		return g.pickOne("bf", "brand", "q4", "BF", "none")
	case "channel":
		return g.pickOne(channels...)
	case "platform":
		return g.pickOne("api", "csv")
	case "account_id":
		return g.pickOne("default", "second", "kampanj", "tokyo")
	case "creative_type":
		return g.pickOne("text", "email", "video")
	case "country":
		return g.pickOne(countries...)
	case "age_range":
		return g.pickOne(ages...)
	case "gender":
		return g.pickOne(genders...)
	case "device":
		return g.pickOne(devices...)
	case "weekday":
		return g.pickOne(weekdays...)
	default:
		return g.pickOne(names...)
	}
}

func (g *testWorkspace) randomMetricLeaf() condition {
	m := g.pickOne(append([]string{"spend", "impressions"}, metrics...)...)
	if m == "pacing" {
		m = "clicks"
	}
	n := condition{Field: m, Op: g.pickOne("eq", "ne", "in", "not_in", "gt", "gte", "lt", "lte", "between", "is_null", "is_not_null")}
	some := func() any { return json.Number(strconv.FormatFloat(g.r.Float64()*2000-100, 'f', g.r.IntN(4), 64)) }
	switch n.Op {
	case "is_null", "is_not_null":
	case "between":
		a := g.r.Float64() * 1000
		n.Values = []any{json.Number(strconv.FormatFloat(a, 'f', 2, 64)), json.Number(strconv.FormatFloat(a+500, 'f', 2, 64))}
	default:
		n.Values = []any{some()}
	}
	return n
}

func (g *testWorkspace) addOrder(q *testQuery) {
	fields := slices.Concat(q.Dimensions, q.Metrics)
	if q.dated() {
		fields = append(fields, "date")
	}
	if q.Compare != nil {
		for _, m := range q.Metrics {
			fields = append(fields, "previous."+m, "change."+m)
		}
	}
	for range g.r.IntN(4) {
		f := g.pickOne(fields...)
		if !slices.ContainsFunc(q.OrderBy, func(s sortOrder) bool { return s.Field == f }) {
			q.OrderBy = append(q.OrderBy, sortOrder{f, g.pickOne("asc", "desc")})
		}
	}
}

// recordDimensions are the dimensions of a record itself.
var recordDimensions = map[string][]string{
	"campaign_id": {"campaign_id", "campaign_name", "campaign_status", "objective"}, "creative_id": {"creative_id", "creative_name", "creative_type"},
	"audience_id": {"audience_id", "audience_name"}, "connection_id": {"connection_id", "platform"},
}

func (g *testWorkspace) addIncludes(q *testQuery) {
	flag := func(percent int) *bool {
		if g.withProbability(60) {
			return nil
		}
		b := g.withProbability(percent)
		return &b
	}
	if g.withProbability(50) {
		return
	}
	q.Include = &include{Totals: flag(80), Labels: flag(50), TotalRows: flag(50)}
	for _, id := range q.Dimensions {
		foreign := func(d string) bool { return !slices.Contains(recordDimensions[id], d) }
		if recordDimensions[id] != nil && !slices.ContainsFunc(q.Dimensions, foreign) {
			q.Include.EmptyRows = flag(90)
		}
	}
}
