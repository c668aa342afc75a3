package analytics

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"fanfare/internal/fact"
	"fanfare/internal/fault"
)

func leaf(path, field string, op Op, values ...string) Filter {
	f := Filter{Path: path, Field: field, Op: string(op)}
	for _, v := range values {
		f.Values = append(f.Values, Scalar{Text: v, Number: metrics[field] != nil})
	}
	return f
}

func many[T any](n int, v T) []T { return slices.Repeat([]T{v}, n) }

func TestResolveErrors(t *testing.T) {
	t.Parallel()
	spend := []string{"spend"}
	for _, test := range []struct {
		name  string
		query Query
		// want are fields and codes.
		want []string
	}{
		{"nothing", Query{}, []string{"metrics required"}},
		{"no metrics", Query{Metrics: []string{}}, []string{"metrics too_few_items"}},
		{"too many metrics", Query{Metrics: many(21, "spend")}, []string{"metrics too_many_items"}},
		{"metric twice", Query{Metrics: []string{"spend", "spend"}}, []string{"metrics[1] duplicate_item"}},
		{"unknown metric", Query{Metrics: []string{"spent"}}, []string{"metrics[0] invalid_value"}},
		{"dimension as metric", Query{Metrics: []string{"channel"}}, []string{"metrics[0] invalid_value"}},
		{"unknown dimension", Query{Metrics: spend, Dimensions: []string{"chanel"}}, []string{"dimensions[0] invalid_value"}},
		{"date as dimension", Query{Metrics: spend, Dimensions: []string{"date"}}, []string{"dimensions[0] invalid_value"}},
		{"too many dimensions", Query{Metrics: spend, Dimensions: many(6, "channel")}, []string{"dimensions too_many_items"}},
		{"all at once", Query{Metrics: []string{"spent"}, Granularity: new("hour"), Timezone: new("Mars"), Currency: new("eur"), Limit: new(int64(0))}, []string{"metrics[0] invalid_value", "timezone invalid_value", "currency invalid_value", "granularity invalid_value", "limit too_small"}},
		{"limit", Query{Metrics: spend, Limit: new(int64(10_001))}, []string{"limit too_large"}},
		{"huge limit", Query{Metrics: spend, Limit: new(int64(1 << 62))}, []string{"limit too_large"}},
		{"instant", Query{Metrics: spend, Range: &Range{Start: new("2026-10-01T00:00:00Z"), End: new("2026-10-02")}}, []string{"date_range.start_date invalid_format"}},
		{"one end", Query{Metrics: spend, Range: &Range{Start: new("2026-10-01")}}, []string{"date_range.end_date required"}},
		{"no end", Query{Metrics: spend, Range: &Range{}}, []string{"date_range.start_date required", "date_range.end_date required"}},
		{"backwards", Query{Metrics: spend, Range: &Range{Start: new("2026-10-02"), End: new("2026-10-01")}}, []string{"date_range.end_date invalid_value"}},
		{"38 months", Query{Metrics: spend, Range: &Range{Start: new("2023-01-15"), End: new("2026-02-15")}}, []string{"date_range too_large"}},
		{"too early", Query{Metrics: spend, Range: &Range{Start: new("1999-12-31"), End: new("2000-01-01")}}, []string{"date_range.start_date too_small"}},
		{"too late", Query{Metrics: spend, Range: &Range{Start: new("2099-12-31"), End: new("2100-01-01")}}, []string{"date_range.end_date too_large"}},
		{"preset and days", Query{Metrics: spend, Range: &Range{Start: new("2026-10-02"), Preset: new("today")}}, []string{"date_range incompatible_fields"}},
		{"unknown preset", Query{Metrics: spend, Range: &Range{Preset: new("last_30_day")}}, []string{"date_range.preset invalid_value"}},
		{"unknown comparison", Query{Metrics: spend, Compare: &Compare{To: "previous"}}, []string{"compare.to invalid_value"}},
		{"custom without range", Query{Metrics: spend, Compare: &Compare{To: "custom"}}, []string{"compare.date_range required"}},
		{"custom with weekdays", Query{Metrics: spend, Compare: &Compare{To: "custom", MatchWeekday: true, Range: &Range{Preset: new("today")}}}, []string{"compare.match_weekday incompatible_fields"}},
		{"range without custom", Query{Metrics: spend, Compare: &Compare{To: "previous_year", Range: &Range{Preset: new("today")}}}, []string{"compare.date_range incompatible_fields"}},
		{"custom too long", Query{Metrics: spend, Compare: &Compare{To: "custom", Range: &Range{Start: new("2020-01-01"), End: new("2026-01-01")}}}, []string{"compare.date_range too_large"}},
		{"order not selected", Query{Metrics: spend, OrderBy: []Order{{Field: "clicks"}}}, []string{"order_by[0].field invalid_value"}},
		{"order by date without any", Query{Metrics: spend, OrderBy: []Order{{Field: "date"}}}, []string{"order_by[0].field invalid_value"}},
		{"order by change without compare", Query{Metrics: spend, OrderBy: []Order{{Field: "change.spend"}}}, []string{"order_by[0].field invalid_value"}},
		{"order direction", Query{Metrics: spend, OrderBy: []Order{{Field: "spend", Order: "down"}}}, []string{"order_by[0].order invalid_value"}},
		{"order twice", Query{Metrics: spend, OrderBy: []Order{{Field: "spend"}, {Field: "spend"}}}, []string{"order_by[1].field duplicate_item"}},
		{"too much order", Query{Metrics: spend, OrderBy: many(4, Order{Field: "spend"})}, []string{"order_by too_many_items"}},
		{"creative by country", Query{Metrics: spend, Dimensions: []string{"channel", "creative_id", "country"}}, []string{"dimensions[2] incompatible_fields"}},
		{"device filter on age", Query{Metrics: spend, Dimensions: []string{"age_range"}, Filters: new(leaf("filters", "device", Equal, "mobile"))}, []string{"filters.field incompatible_fields"}},
		{"pacing without campaign", Query{Metrics: []string{"pacing"}}, []string{"metrics[0] incompatible_fields"}},
		{"pacing by day", Query{Metrics: []string{"pacing"}, Dimensions: []string{"campaign_id"}, Granularity: new("day")}, []string{"metrics[0] incompatible_fields"}},
		{"empty rows of nothing", Query{Metrics: spend, Dimensions: []string{"channel"}, Include: Include{EmptyRows: new(true)}}, []string{"include.empty_rows incompatible_fields"}},
		{"empty rows of two things", Query{Metrics: spend, Dimensions: []string{"campaign_id", "channel"}, Include: Include{EmptyRows: new(true)}}, []string{"include.empty_rows incompatible_fields"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			check(t, &test.query, test.want)
		})
	}
}

func TestFilterErrors(t *testing.T) {
	t.Parallel()
	deep := leaf("filters", "channel", Equal, "social")
	for range 4 {
		deep = Filter{Path: "filters", Not: &deep}
	}
	for _, test := range []struct {
		name   string
		filter Filter
		want   []string
	}{
		{"empty", Filter{}, []string{"filters invalid_value"}},
		{"two kinds", Filter{Or: []Filter{leaf("filters.or[0]", "channel", Equal, "social")}, Field: "channel"}, []string{"filters invalid_value"}},
		{"empty or", Filter{Or: []Filter{}}, []string{"filters.or too_few_items"}},
		{"too deep", deep, []string{"filters too_large"}},
		{"unknown field", leaf("filters", "chanel", Equal, "social"), []string{"filters.field invalid_value"}},
		{"no field", Filter{Op: "eq", Values: []Scalar{{Text: "x"}}}, []string{"filters.field required"}},
		{"date", leaf("filters", "date", Equal, "2026-01-01"), []string{"filters.field invalid_value"}},
		{"no op", leaf("filters", "channel", "", "social"), []string{"filters.op required"}},
		{"unknown op", leaf("filters", "channel", "equals", "social"), []string{"filters.op invalid_value"}},
		{"metric with contains", leaf("filters", "spend", Contains, "1"), []string{"filters.op invalid_value"}},
		{"no value", leaf("filters", "channel", Equal), []string{"filters.values too_few_items"}},
		{"two values", leaf("filters", "channel", Equal, "social", "search"), []string{"filters.values too_many_items"}},
		{"value for null", leaf("filters", "channel", IsNull, "social"), []string{"filters.values too_many_items"}},
		{"between one", leaf("filters", "spend", Between, "1"), []string{"filters.values too_few_items"}},
		{"between backwards", leaf("filters", "spend", Between, "2", "1"), []string{"filters.values invalid_value"}},
		{"text between backwards", leaf("filters", "campaign_name", Between, "b", "a"), []string{"filters.values invalid_value"}},
		{"unknown channel", leaf("filters", "channel", In, "social", "sozial"), []string{"filters.values[1] invalid_value"}},
		{"number for text", Filter{Path: "filters", Field: "channel", Op: "eq", Values: []Scalar{{Text: "1", Number: true}}}, []string{"filters.values[0] invalid_type"}},
		{"text for number", Filter{Path: "filters", Field: "spend", Op: "gt", Values: []Scalar{{Text: "1"}}}, []string{"filters.values[0] invalid_type"}},
		{"exponent", leaf("filters", "spend", Greater, "1e3"), []string{"filters.values[0] invalid_format"}},
		{"too many digits", leaf("filters", "spend", Greater, "1.0000001"), []string{"filters.values[0] invalid_format"}},
		{"too large", leaf("filters", "spend", Greater, "9999999999999"), []string{"filters.values[0] too_large"}},
		{"empty text", leaf("filters", "campaign_name", Contains, ""), []string{"filters.values[0] too_short"}},
		{"long text", leaf("filters", "campaign_name", Contains, strings.Repeat("ä", 201)), []string{"filters.values[0] too_long"}},
		{"no id", leaf("filters", "campaign_id", Equal, "crv_1"), []string{"filters.values[0] invalid_format"}},
		{"no country", leaf("filters", "country", Equal, "de"), []string{"filters.values[0] invalid_format"}},
		{"metric under or", Filter{Or: []Filter{leaf("filters.or[0]", "spend", Greater, "1")}}, []string{"filters.or[0].field invalid_value"}},
		{"metric under not", Filter{Not: new(leaf("filters.not", "spend", Greater, "1"))}, []string{"filters.not.field invalid_value"}},
		{"metric under and under and", Filter{And: []Filter{{And: []Filter{leaf("filters.and[0].and[0]", "spend", Greater, "1")}}}}, []string{"filters.and[0].and[0].field invalid_value"}},
		{"too many leaves", Filter{And: many(101, leaf("filters", "channel", Equal, "social"))}, []string{"filters too_many_items"}},
		{"too many values", leaf("filters", "campaign_name", In, many(501, "x")...), []string{"filters too_many_items"}},
		{"too many values in all", Filter{And: many(2, leaf("filters", "campaign_name", In, many(251, "x")...))}, []string{"filters too_many_items"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			check(t, &Query{Metrics: []string{"clicks"}, Filters: &test.filter}, test.want)
		})
	}
}

func check(t *testing.T, q *Query, want []string) {
	t.Helper()
	r, problems := Resolve(q, wks, noon)
	var got []string
	for _, p := range problems {
		got = append(got, p.Field+" "+p.Code)
		if p.In != "body" || !strings.HasPrefix(p.Message, p.Field+" ") || !strings.HasSuffix(strings.TrimSuffix(p.Message, "?"), ".") && !strings.HasSuffix(p.Message, "?") {
			t.Errorf("got %+v want a sentence about the field in the body", p)
		}
	}
	if !slices.Equal(got, want) || r != nil {
		t.Errorf("got %q (%v) want %q and no result", got, r, want)
	}
}

func TestHints(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		query Query
		want  fault.Meta
	}{
		{Query{Metrics: []string{"impresions"}}, fault.Meta{"did_you_mean": "impressions", "allowed": metricNames, "value": "impresions"}},
		{Query{Metrics: []string{"spend"}, Granularity: new("weekly")}, fault.Meta{"did_you_mean": "week", "allowed": []string{"none", "day", "week", "month", "quarter", "year"}, "value": "weekly"}},
		{Query{Metrics: []string{"spend"}, Dimensions: []string{"channel", "creative_id", "country"}}, fault.Meta{
			"fields": []string{"creative_id", "country"}, "works": [][]string{{"channel", "creative_id"}, {"channel", "country"}},
		}},
		{Query{Metrics: []string{"spend"}, Filters: new(leaf("filters", "channel", Equal, "socail"))}, fault.Meta{"did_you_mean": "social", "allowed": fact.Channels, "value": "socail"}},
	} {
		_, problems := Resolve(&test.query, wks, noon)
		if len(problems) != 1 || !reflect.DeepEqual(problems[0].Meta, test.want) {
			t.Errorf("got %v want one with %v", problems, test.want)
		}
	}
}

func TestFamilies(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		dimensions []string
		filter     *Filter
		want       fact.Family
	}{
		{nil, nil, fact.Base},
		{[]string{"channel", "campaign_id", "weekday"}, nil, fact.Base},
		{[]string{"creative_id"}, nil, fact.Base},
		{[]string{"country", "audience_id"}, nil, fact.Geo},
		{[]string{"age_range", "gender"}, nil, fact.Demographic},
		{[]string{"campaign_id"}, new(leaf("filters", "device", Equal, "mobile")), fact.Device},
		{nil, &Filter{Not: new(leaf("filters.not", "country", Equal, "DE"))}, fact.Geo},
	} {
		r, problems := Resolve(&Query{Metrics: []string{"spend"}, Dimensions: test.dimensions, Filters: test.filter}, wks, noon)
		if problems != nil || r.family != test.want {
			t.Errorf("%v: got %v, %v want %v", test.dimensions, r, problems, test.want)
		}
	}
}

func TestMeasurementPlatformIsExcluded(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		filter *Filter
		asked  bool
	}{
		{nil, false},
		{new(leaf("", "platform", Equal, "ga4")), true},
		{new(leaf("", "platform", In, "meta_ads", "ga4")), true},
		{new(leaf("", "platform", NotEqual, "ga4")), false},
		{new(leaf("", "platform", NotIn, "meta_ads")), false},
		{&Filter{Not: new(leaf("", "platform", Equal, "ga4"))}, false},
		{&Filter{Or: []Filter{leaf("", "channel", Equal, "social"), leaf("", "platform", Equal, "ga4")}}, true},
		{new(leaf("", "spend", Greater, "1")), false},
		{&Filter{And: []Filter{}}, false},
	} {
		r, problems := Resolve(&Query{Metrics: []string{"spend"}, Filters: test.filter}, wks, noon)
		if problems != nil {
			t.Fatal(problems)
		}
		if yes, _ := r.where.canMatch(func(d string) ([]string, bool) { return []string{"ga4"}, d == "platform" }); yes != test.asked {
			t.Errorf("%+v: got ga4 %v want %v", test.filter, yes, test.asked)
		}
	}
}

func TestConditionsOnMetrics(t *testing.T) {
	t.Parallel()
	one := Number{N: 1, Known: true}
	for _, test := range []struct {
		op                    Op
		values                []string
		below, equal, nothing bool
	}{
		{Equal, []string{"1"}, false, true, false},
		{NotEqual, []string{"1"}, true, false, true},
		{In, []string{"7", "1"}, false, true, false},
		{NotIn, []string{"7", "1"}, true, false, true},
		{Greater, []string{"1"}, false, false, false},
		{AtLeast, []string{"1"}, false, true, false},
		{Less, []string{"1.0"}, true, false, false},
		{AtMost, []string{"1"}, true, true, false},
		{Between, []string{"1", "2"}, false, true, false},
		{Between, []string{"0", "0.999999"}, true, false, false},
		{IsNull, nil, false, false, true},
		{IsNotNull, nil, true, true, false},
	} {
		r, problems := Resolve(&Query{Metrics: []string{"clicks"}, Filters: new(leaf("", "clicks", test.op, test.values...))}, wks, noon)
		if problems != nil {
			t.Fatal(problems)
		}
		h := &r.having[0]
		got := []bool{h.matches(Number{N: 500_000, Digits: 6, Known: true}), h.matches(one), h.matches(Number{})}
		if want := []bool{test.below, test.equal, test.nothing}; !slices.Equal(got, want) {
			t.Errorf("%s %v of 0.5, 1 and null: got %v want %v", test.op, test.values, got, want)
		}
	}
}

// TestConditionCanMatch checks canMatch: with all dimensions known, only the
// actual result is possible; with none known, every result that some value
// leads to.
func TestConditionCanMatch(t *testing.T) {
	t.Parallel()
	leaves := rapid.Custom(func(t *rapid.T) Condition {
		op := rapid.SampledFrom(DimensionOps).Draw(t, "op")
		least, _ := op.operands()
		values := rapid.SliceOfN(rapid.SampledFrom([]string{"social", "search", "brand", "S", "meta_ads"}), least, max(least, 1)).Draw(t, "values")
		slices.Sort(values)
		return Condition{Dimension: rapid.SampledFrom([]string{"channel", "tag", "platform", "campaign_status"}).Draw(t, "dimension"), Op: op, Values: values}
	})
	var trees func(depth int) *rapid.Generator[Condition]
	trees = func(depth int) *rapid.Generator[Condition] {
		return rapid.Custom(func(t *rapid.T) Condition {
			if depth == 0 {
				return leaves.Draw(t, "leaf")
			}
			list := rapid.SliceOfN(trees(depth-1), 1, 3).Draw(t, "children")
			switch rapid.IntRange(0, 2).Draw(t, "kind") {
			case 0:
				return Condition{And: list}
			case 1:
				return Condition{Or: list}
			default:
				return Condition{Not: &list[0]}
			}
		})
	}
	rapid.Check(t, func(t *rapid.T) {
		m := newMemoryFacts()
		c := trees(rapid.IntRange(0, 2).Draw(t, "depth")).Draw(t, "condition")
		r := &fact.Row{Source: metaAds, Channel: rapid.SampledFrom([]string{"social", "search", ""}).Draw(t, "channel"), Campaign: fact.Entity{Record: rapid.SampledFrom(campaigns).Draw(t, "campaign")}}
		of := func(d string) ([]string, bool) {
			var list []string
			for _, v := range m.values(r, d) {
				list = append(list, v.ID)
			}
			return list, true
		}
		want := m.satisfies(r, &c, nil)
		if yes, no := c.canMatch(of); yes != want || no == want {
			t.Fatalf("%+v: got %v, %v want %v", c, yes, no, want)
		}
		partly := func(d string) ([]string, bool) {
			list, _ := of(d)
			return list, d == "platform"
		}
		if yes, no := c.canMatch(partly); want && !yes || !want && !no {
			t.Fatalf("%+v: got %v, %v although it is %v", c, yes, no, want)
		}
	})
}

func TestEcho(t *testing.T) {
	t.Parallel()
	q := &Query{
		Metrics: []string{"spend"}, Dimensions: []string{"channel"}, Compare: &Compare{To: "previous_period"}, Currency: new("USD"),
		Filters: &Filter{And: []Filter{leaf("", "tag", In, "Sale"), leaf("", "cpa", Less, "10.50")}},
	}
	r, problems := Resolve(q, wks, noon)
	if problems != nil {
		t.Fatal(problems)
	}
	got := r.appendEcho(nil)
	want := `{"metrics":["spend"],"dimensions":["channel"],"date_range":{"preset":"last_30_days","start_date":"2026-10-16","end_date":"2026-11-14"},` +
		`"granularity":"none","timezone":"UTC","currency":"USD","family":"base",` +
		`"filters":{"and":[{"field":"tag","op":"in","values":["Sale"]},{"field":"cpa","op":"lt","values":[10.5]}]},` +
		`"compare":{"to":"previous_period","date_range":{"preset":null,"start_date":"2026-09-16","end_date":"2026-10-15"},"match_weekday":false},` +
		`"order_by":[{"field":"spend","order":"desc"}],"include":{"totals":true,"empty_rows":false,"labels":true,"total_rows":false},"limit":1000}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if r.where.And[0].And[0].Values[0] != "sale" {
		t.Errorf("got %v want tags as they are stored", r.where)
	}
}

// FuzzResolve builds queries from bytes. An accepted query can be planned and
// echoed; a rejected one has problems.
func FuzzResolve(f *testing.F) {
	for _, seed := range []string{
		`{"Metrics":["spend","ctr"],"Dimensions":["channel"],"Granularity":"week","Compare":{"To":"previous_year"}}`,
		`{"Metrics":["pacing"],"Dimensions":["campaign_id"],"Range":{"Preset":"this_month"}}`,
		`{"Metrics":["reach"],"Range":{"Start":"2026-01-01","End":"2026-12-31"},"OrderBy":[{"Field":"change.reach"}],"Filters":{"and":[{"field":"spend","op":"gt","values":[{"Text":"1","Number":true}]}]}}`,
		`{"Metrics":["spend"],"Filters":{"not":{"or":[{"field":"country","op":"between","values":[{"Text":"DE"},{"Text":"FR"}]}]}}}`,
		`{"Metrics":["spend"],"Range":{"Start":"2000-01-01","End":"2000-01-01"},"Compare":{"To":"previous_period","MatchWeekday":true}}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		q := &Query{}
		if json.Unmarshal([]byte(body), q) != nil {
			t.Skip()
		}
		r, problems := Resolve(q, wks, noon)
		if (r == nil) == (len(problems) == 0) {
			t.Fatalf("got %v and %v want one of them", r, problems)
		}
		for _, p := range problems {
			if p.Field == "" || p.Code == "" || p.Message == "" {
				t.Fatalf("got %+v want a field, a code and a message", p)
			}
		}
		if r == nil {
			return
		}
		e := &evaluation{r: r, workspace: wks.ID}
		for _, question := range e.plans() {
			if p := question.plan; p.First > p.Last || p.MaxGroups == 0 || len(p.Measures) == 0 {
				t.Fatalf("got %+v want a plan that can be run", p)
			}
		}
		if text := r.appendEcho(nil); !json.Valid(text) {
			t.Fatalf("got %s want JSON", text)
		}
	})
}
