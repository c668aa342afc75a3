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

// someQuestion is any valid query.
func (g *world) someQuestion() *question {
	q := &question{Granularity: g.one("", "", "none", "day", "week", "month", "quarter", "year")}
	dated := q.dated()
	for range 1 + g.r.IntN(g.r.IntN(8)+1) {
		if m := g.one(metrics...); !slices.Contains(q.Metrics, m) && m != "pacing" {
			q.Metrics = append(q.Metrics, m)
		}
	}
	if q.Metrics == nil {
		q.Metrics = []string{"spend"}
	}
	for range g.r.IntN(4) {
		g.addDimension(q)
	}
	if !dated && !slices.Contains(q.Dimensions, "campaign_id") && len(q.Dimensions) < 3 && g.chance(20) {
		q.Dimensions = append(q.Dimensions, "campaign_id")
	}
	if slices.Contains(q.Dimensions, "campaign_id") && !dated && g.chance(60) {
		q.Metrics = append(q.Metrics, "pacing")
	}
	q.DateRange = g.someRange(q.Granularity)
	if g.chance(30) {
		q.Timezone = g.one("UTC", "Pacific/Kiritimati", "America/Los_Angeles")
	}
	if g.chance(50) {
		q.Currency = g.one("USD", "EUR", "SEK", "JPY", "GBP")
	}
	if g.chance(60) {
		g.addFilters(q)
	}
	if g.chance(40) {
		g.addCompare(q)
	}
	g.addOrder(q)
	g.addIncludes(q)
	return q
}

func (g *world) addDimension(q *question) {
	d := g.one(dimensions...)
	fits := !slices.ContainsFunc(q.Dimensions, func(other string) bool {
		return d == other || families[d] != "" && families[other] != "" && families[d] != families[other]
	})
	if fits && len(q.Dimensions) < 5 {
		q.Dimensions = append(q.Dimensions, d)
	}
}

// someRange is a period; where rows are by day it is not too long.
func (g *world) someRange(granularity string) *period {
	switch {
	case g.chance(15):
		return nil
	case g.chance(50):
		p := &period{Preset: g.one(presets...)}
		if s := presetSpan(p.Preset, g.today); granularity == "day" && s.days() > 100 {
			p.Preset = "last_28_days"
		}
		return p
	}
	longest := 1000
	if granularity == "day" {
		longest = 80
	}
	first := g.someDay()
	return &period{StartDate: first.String(), EndDate: (first + day(g.r.IntN(1+g.r.IntN(longest)))).String()}
}

func (g *world) addCompare(q *question) {
	c := &versus{To: g.one("previous_period", "previous_year", "custom")}
	if c.To == "custom" {
		first := g.someDay()
		c.DateRange = &period{StartDate: first.String(), EndDate: (first + day(g.r.IntN(60))).String()}
		if g.chance(20) {
			c.DateRange = &period{Preset: "last_7_days"}
		}
	} else {
		c.MatchWeekday = g.chance(30)
	}
	q.Compare = c
}

func (g *world) addFilters(q *question) {
	n := g.someNode(g.r.IntN(3))
	var onMetrics []node
	for range g.r.IntN(3) {
		if g.chance(40) {
			onMetrics = append(onMetrics, g.metricLeaf())
		}
	}
	switch {
	case onMetrics != nil && g.chance(20):
		n = onMetrics[0]
	case onMetrics != nil || g.chance(30):
		n = node{And: append(onMetrics, n)}
	}
	q.filter, q.Filters = &n, n
	if n.And != nil && g.chance(40) {
		// A bare array means the same.
		q.Filters = n.And
	}
	if !q.answerable() {
		q.filter, q.Filters = nil, nil
	}
}

// answerable reports whether one report knows all dimensions.
func (q *question) answerable() bool {
	var special []string
	for _, d := range append(slices.Clone(q.Dimensions), q.filter.fields()...) {
		if f := families[d]; f != "" && !slices.Contains(special, f) {
			special = append(special, f)
		}
	}
	return len(special) < 2
}

func (g *world) someNode(depth int) node {
	if depth == 0 || g.chance(35) {
		return g.leaf()
	}
	switch g.r.IntN(3) {
	case 0:
		n := g.someNode(depth - 1)
		return node{Not: &n}
	case 1:
		return node{And: []node{g.someNode(depth - 1), g.someNode(depth - 1)}}
	default:
		return node{Or: []node{g.someNode(depth - 1), g.someNode(depth - 1)}}
	}
}

func (g *world) leaf() node {
	d := g.one(dimensions...)
	if families[d] != "" && g.chance(70) {
		d = "channel"
	}
	op := g.one("eq", "ne", "in", "not_in", "contains", "not_contains", "starts_with", "gt", "gte", "lt", "lte", "between", "is_null", "is_not_null")
	n := node{Field: d, Op: op}
	text := func() string {
		v := g.someValue(d)
		if op == "contains" || op == "not_contains" || op == "starts_with" {
			runes := []rune(v)
			from := 0
			if op != "starts_with" {
				from = g.r.IntN(len(runes))
			}
			v = string(runes[from : from+1+g.r.IntN(len(runes)-from)])
			if g.chance(50) {
				v = strings.ToUpper(v)
			}
		}
		return v
	}
	switch op {
	case "is_null", "is_not_null":
	case "between":
		a, b := g.someValue(d), g.someValue(d)
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

// someValue is one that rows may have.
func (g *world) someValue(dimension string) string {
	f := g.feeds[g.r.IntN(len(g.feeds))]
	switch dimension {
	case "campaign_id":
		return g.one(g.campaigns...)
	case "creative_id":
		return g.one(g.creatives...)
	case "audience_id":
		return g.one(g.audiences...)
	case "connection_id":
		return f.id
	case "campaign_status":
		return g.one("draft", "active", "paused", "completed", "archived")
	case "objective":
		return g.one(objectives...)
	case "tag":
		return g.one("bf", "brand", "q4", "BF", "none")
	case "channel":
		return g.one(channels...)
	case "platform":
		return g.one("api", "csv")
	case "account_id":
		return g.one("default", "second", "kampanj", "tokyo")
	case "creative_type":
		return g.one("text", "email", "video")
	case "country":
		return g.one(countries...)
	case "age_range":
		return g.one(ages...)
	case "gender":
		return g.one(genders...)
	case "device":
		return g.one(devices...)
	case "weekday":
		return g.one(weekdays...)
	default:
		return g.one(names...)
	}
}

func (g *world) metricLeaf() node {
	m := g.one(append([]string{"spend", "impressions"}, metrics...)...)
	if m == "pacing" {
		m = "clicks"
	}
	n := node{Field: m, Op: g.one("eq", "ne", "in", "not_in", "gt", "gte", "lt", "lte", "between", "is_null", "is_not_null")}
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

func (g *world) addOrder(q *question) {
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
		f := g.one(fields...)
		if !slices.ContainsFunc(q.OrderBy, func(s sorting) bool { return s.Field == f }) {
			q.OrderBy = append(q.OrderBy, sorting{f, g.one("asc", "desc")})
		}
	}
}

// about are the dimensions that a record itself has.
var about = map[string][]string{
	"campaign_id": {"campaign_id", "campaign_name", "campaign_status", "objective"}, "creative_id": {"creative_id", "creative_name", "creative_type"},
	"audience_id": {"audience_id", "audience_name"}, "connection_id": {"connection_id", "platform"},
}

func (g *world) addIncludes(q *question) {
	flag := func(percent int) *bool {
		if g.chance(60) {
			return nil
		}
		b := g.chance(percent)
		return &b
	}
	if g.chance(50) {
		return
	}
	q.Include = &include{Totals: flag(80), Labels: flag(50), TotalRows: flag(50)}
	for _, id := range q.Dimensions {
		foreign := func(d string) bool { return !slices.Contains(about[id], d) }
		if about[id] != nil && !slices.ContainsFunc(q.Dimensions, foreign) {
			q.Include.EmptyRows = flag(90)
		}
	}
}
