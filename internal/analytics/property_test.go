package analytics

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/ident"
)

var firstDay = clock.MakeDate(2026, 9, 1)

// randomFacts draws facts: three platforms, two currencies, campaigns that are
// linked and not, values that are known and not, and rates with holes.
func randomFacts(t *rapid.T) *memoryFacts {
	m := newMemoryFacts()
	day := rapid.IntRange(0, 75)
	entity := func(kind string) fact.Entity {
		ids := map[string][]string{"campaign": texts(campaigns), "creative": texts(creatives), "audience": texts(audiences)}[kind]
		switch n := rapid.IntRange(0, len(ids)+1).Draw(t, kind); n {
		case len(ids):
			return fact.Entity{ExternalID: kind + "-x", Name: "Unlinked " + kind}
		case len(ids) + 1:
			return fact.Entity{}
		default:
			return fact.Entity{ExternalID: fmt.Sprint(kind, "-", n), Record: ident.ID(ids[n])}
		}
	}
	for range rapid.IntRange(0, 40).Draw(t, "rows") {
		r := fact.Row{
			Source: rapid.SampledFrom([]*fact.Source{metaAds, googleAds, ga4}).Draw(t, "source"), Family: fact.Base,
			Date: firstDay + clock.Date(day.Draw(t, "day")), Channel: rapid.SampledFrom([]string{"social", "search"}).Draw(t, "channel"),
			Campaign: entity("campaign"), Creative: entity("creative"), Audience: entity("audience"),
		}
		if rapid.IntRange(0, 4).Draw(t, "by device") == 0 {
			r.Family, r.Creative, r.Device = fact.Device, fact.Entity{}, "mobile"
		}
		for v := range fact.Measure(fact.NumMeasures) {
			if rapid.IntRange(0, 3).Draw(t, "known") > 0 {
				r.Values.Set(v, rapid.Int64Range(-3, 5_000_000).Draw(t, v.String()))
			}
		}
		m.rows = append(m.rows, r)
	}
	holes := rapid.SliceOfN(rapid.IntRange(-400, 80), 0, 5).Draw(t, "days without a rate")
	perEuro := rapid.Int64Range(90_000_000, 130_000_000).Draw(t, "per euro")
	for i := -400; i < 80; i++ {
		if !slices.Contains(holes, i) {
			m.rates = append(m.rates, DayRate{"USD", firstDay + clock.Date(i), perEuro + int64(i)*7919})
		}
	}
	return m
}

// drawQuery draws a query that is accepted.
func drawQuery(t *rapid.T) *Query {
	first := firstDay + clock.Date(rapid.IntRange(-5, 40).Draw(t, "first"))
	last := first + clock.Date(rapid.IntRange(0, 40).Draw(t, "length"))
	plain := slices.DeleteFunc(slices.Clone(metricNames), func(n string) bool { return n == "pacing" })
	q := &Query{
		Metrics:     rapid.SliceOfNDistinct(rapid.SampledFrom(plain), 1, 8, rapid.ID[string]).Draw(t, "metrics"),
		Dimensions:  rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"channel", "campaign_id", "creative_id", "audience_name", "platform", "tag", "weekday", "connection_id", "objective"}), 0, 3, rapid.ID[string]).Draw(t, "dimensions"),
		Range:       &Range{Start: new(first.String()), End: new(last.String())},
		Granularity: new(string(rapid.SampledFrom(Granularities).Draw(t, "granularity"))),
		Currency:    new(rapid.SampledFrom([]string{"EUR", "USD"}).Draw(t, "currency")),
	}
	filters := []*Filter{
		nil, nil, new(leaf("", "platform", In, "ga4", "meta_ads")), new(leaf("", "channel", NotEqual, "social")),
		{Or: []Filter{leaf("", "tag", Equal, "brand"), leaf("", "campaign_id", IsNull)}},
		{And: []Filter{leaf("", "campaign_name", Contains, "campaign"), {Not: new(leaf("", "creative_type", Equal, "image"))}}},
	}
	q.Filters = rapid.SampledFrom(filters).Draw(t, "filters")
	return q
}

func texts[S ~string](list []S) []string {
	var out []string
	for _, s := range list {
		out = append(out, string(s))
	}
	return out
}

// decodedRow is an answer as a caller reads it.
type decodedRow struct {
	Data []struct {
		Dimensions map[string]*string `json:"dimensions"`
		External   map[string]string  `json:"external_ids"`
		Labels     map[string]*string `json:"labels"`
		shownFigures
		PreviousDate *string `json:"previous_date"`
		Partial      bool    `json:"partial"`
	} `json:"data"`
	HasMore bool    `json:"has_more"`
	Next    *string `json:"next_cursor"`
	Meta    struct {
		Totals    *shownFigures `json:"totals"`
		Warnings  []Warning     `json:"warnings"`
		RowCount  int           `json:"row_count"`
		TotalRows *int          `json:"total_rows"`
		Estimated *int64        `json:"estimated_rows"`
		Cache     string        `json:"cache"`
		Freshness freshness     `json:"freshness"`
	} `json:"meta"`
}

type shownFigures struct {
	Metrics  map[string]*json.Number `json:"metrics"`
	Previous map[string]*json.Number `json:"previous"`
	Change   map[string]*json.Number `json:"change"`
}

func runQuery(t rapid.TB, m *memoryFacts, q *Query) decodedRow {
	t.Helper()
	a, err := m.service().run(context.Background(), wks, q)
	if err != nil {
		t.Fatalf("query: %v", err)
	}
	var s decodedRow
	if err := json.Unmarshal(a.AppendJSON(nil), &s); err != nil {
		t.Fatalf("got %s: %v", a.AppendJSON(nil), err)
	}
	if s.Meta.RowCount != len(s.Data) || s.HasMore != (s.Next != nil) {
		t.Fatalf("got row_count %d, has_more %v for %d rows", s.Meta.RowCount, s.HasMore, len(s.Data))
	}
	return s
}

func rational(t rapid.TB, n *json.Number) *big.Rat {
	t.Helper()
	r, ok := new(big.Rat).SetString(n.String())
	if !ok {
		t.Fatalf("got %s want a number", n)
	}
	return r
}

// TestBucketsAddUp checks that additive metrics of all buckets add up to the
// query without buckets.
func TestBucketsAddUp(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m, q := randomFacts(t), drawQuery(t)
		q.Dimensions = nil
		q.Metrics = []string{"impressions", "spend", "conversions", "revenue", "sends"}
		series := runQuery(t, m, q)
		q.Granularity = nil
		one := runQuery(t, m, q)
		if len(one.Data) != 1 {
			t.Fatalf("got %d rows want 1", len(one.Data))
		}
		for _, name := range q.Metrics {
			sum, known := new(big.Rat), true
			for _, r := range series.Data {
				if n := r.Metrics[name]; n != nil {
					sum.Add(sum, rational(t, n))
				} else {
					known = false
				}
			}
			switch whole := one.Data[0].Metrics[name]; {
			case whole != nil && rational(t, whole).Cmp(sum) != 0:
				t.Fatalf("%s: got %s want %s", name, whole, sum.FloatString(6))
			case whole == nil && known && len(series.Data) > 0:
				t.Fatalf("%s: got null want %s", name, sum.FloatString(6))
			}
		}
	})
}

// TestDerivedAreRatiosOfSums computes every derived metric from the returned
// sums with exact fractions.
func TestDerivedAreRatiosOfSums(t *testing.T) {
	t.Parallel()
	formulas := map[string]func(v func(string) *big.Rat) (over, under *big.Rat){
		"cpm": func(v func(string) *big.Rat) (*big.Rat, *big.Rat) {
			return times(1000, v("spend")), v("impressions")
		},
		"roi": func(v func(string) *big.Rat) (*big.Rat, *big.Rat) {
			if v("revenue") == nil || v("spend") == nil {
				return nil, nil
			}
			return new(big.Rat).Sub(v("revenue"), v("spend")), v("spend")
		},
	}
	for name, parts := range map[string][2]string{
		"ctr": {"clicks", "impressions"}, "cpc": {"spend", "clicks"}, "cpa": {"spend", "conversions"}, "cpl": {"spend", "leads"}, "cvr": {"conversions", "clicks"},
		"roas": {"revenue", "spend"}, "aov": {"revenue", "conversions"}, "engagement_rate": {"engagements", "impressions"}, "cpe": {"spend", "engagements"},
		"cpv": {"spend", "video_views"}, "video_completion_rate": {"video_completions", "video_views"}, "frequency": {"impressions", "reach"},
		"delivery_rate": {"deliveries", "sends"}, "bounce_rate": {"bounces", "sends"}, "open_rate": {"opens", "deliveries"},
		"unsubscribe_rate": {"unsubscribes", "deliveries"}, "complaint_rate": {"complaints", "deliveries"},
	} {
		formulas[name] = func(v func(string) *big.Rat) (*big.Rat, *big.Rat) { return v(parts[0]), v(parts[1]) }
	}
	names := slices.Sorted(maps.Keys(formulas))
	rapid.Check(t, func(t *rapid.T) {
		m, q := randomFacts(t), drawQuery(t)
		some := rapid.SliceOfNDistinct(rapid.SampledFrom(names), 1, 4, rapid.ID[string]).Draw(t, "derived")
		q.Metrics = slices.Concat(fact.Measures, some)
		answer := runQuery(t, m, q)
		for _, r := range answer.Data {
			for _, name := range some {
				over, under := formulas[name](func(measure string) *big.Rat {
					if n := r.Metrics[measure]; n != nil {
						return rational(t, n)
					}
					return nil
				})
				want := "null"
				if over != nil && under != nil && under.Sign() != 0 {
					want = decimal(new(big.Rat).Quo(over, under))
				}
				if got := written(r.Metrics[name]); got != want {
					t.Fatalf("%s: got %s want %s", name, got, want)
				}
			}
		}
	})
}

func times(n int64, r *big.Rat) *big.Rat {
	if r == nil {
		return nil
	}
	return new(big.Rat).Mul(big.NewRat(n, 1), r)
}

// decimal writes a fraction to six digits, half away from zero.
func decimal(r *big.Rat) string {
	millionths := rounded(new(big.Rat).Mul(r, big.NewRat(1_000_000, 1)))
	return Number{N: millionths.Int64(), Digits: 6, Known: true}.String()
}

func written(n *json.Number) string {
	if n == nil {
		return "null"
	}
	return n.String()
}

func metricTexts(values map[string]*json.Number) map[string]string {
	out := map[string]string{}
	for name, n := range values {
		out[name] = written(n)
	}
	return out
}

// keyOf returns the text that distinguishes the rows of one period.
func keyOf(values map[string]*string, external map[string]string, labels map[string]*string, date *string) string {
	key := ""
	if date != nil {
		key = *date
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if name == "date" {
			continue
		}
		key += " " + name + "="
		switch {
		case values[name] != nil:
			key += *values[name]
		case labels[name] != nil:
			key += external[name] + *labels[name]
		}
	}
	return key
}

// TestTotals checks that totals equal the query without dimensions and buckets,
// and the sum of rows that do not overlap.
func TestTotals(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m, q := randomFacts(t), drawQuery(t)
		got := runQuery(t, m, q)
		alone := *q
		alone.Dimensions, alone.Granularity = nil, nil
		want := runQuery(t, m, &alone)
		if slices.Contains(q.Dimensions, "tag") && q.Filters != nil {
			// A condition on a tag is about the row's tag there.
			return
		}
		if fmt.Sprint(metricTexts(got.Meta.Totals.Metrics)) != fmt.Sprint(metricTexts(want.Data[0].Metrics)) {
			t.Fatalf("got %v want %v", metricTexts(got.Meta.Totals.Metrics), metricTexts(want.Data[0].Metrics))
		}
	})
}

// TestPages checks that all pages together are the whole result, even if facts
// change in between.
func TestPages(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m, q := randomFacts(t), drawQuery(t)
		if rapid.Bool().Draw(t, "compares") {
			q.Compare = &Compare{To: "previous_period"}
		}
		q.Include.TotalRows = new(true)
		whole := runQuery(t, m, q)
		unpaged, err := m.service().run(context.Background(), wks, q)
		if err != nil {
			t.Fatal(err)
		}
		wholeCSV := unpaged.AppendCSV(nil)
		q.Limit = new(int64(rapid.IntRange(1, 7).Draw(t, "limit")))
		var rows, lines []string
		s := m.service()
		for {
			a, err := s.run(context.Background(), wks, q)
			if err != nil {
				t.Fatal(err)
			}
			var page decodedRow
			if err := json.Unmarshal(a.AppendJSON(nil), &page); err != nil {
				t.Fatal(err)
			}
			if *page.Meta.TotalRows != len(whole.Data) || (page.Meta.Cache == "hit") != (q.Cursor != nil) {
				t.Fatalf("got total_rows %d, cache %s want %d", *page.Meta.TotalRows, page.Meta.Cache, len(whole.Data))
			}
			for _, r := range page.Data {
				rows = append(rows, fmt.Sprint(metricTexts(r.Metrics), keyOf(r.Dimensions, r.External, r.Labels, r.PreviousDate)))
			}
			lines = append(lines, string(a.AppendCSV(nil)))
			if page.Next == nil {
				break
			}
			q.Cursor = page.Next
			m.rows = nil
		}
		var want []string
		for _, r := range whole.Data {
			want = append(want, fmt.Sprint(metricTexts(r.Metrics), keyOf(r.Dimensions, r.External, r.Labels, r.PreviousDate)))
		}
		if !slices.Equal(rows, want) {
			t.Fatalf("got %q want %q", rows, want)
		}
		var table []string
		header := ""
		for _, l := range lines {
			list := strings.SplitAfter(l, "\r\n")
			header, table = list[0], append(table, list[1:]...)
		}
		if got := header + strings.Join(table, ""); got != string(wholeCSV) {
			t.Fatalf("got %q want %q", got, wholeCSV)
		}
	})
}

// TestMetricFilters checks that a condition on metrics keeps exactly the rows
// that satisfy it, and that totals include only these.
func TestMetricFilters(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m, q := randomFacts(t), drawQuery(t)
		q.Metrics, q.Filters = []string{"clicks", "spend", "spend_share"}, nil
		q.Dimensions = slices.DeleteFunc(q.Dimensions, func(d string) bool { return d == "tag" })
		all := runQuery(t, m, q)
		bound := rapid.SampledFrom([]string{"0", "1", "2500000", "0.5"}).Draw(t, "bound")
		name := rapid.SampledFrom([]string{"clicks", "spend", "spend_share"}).Draw(t, "metric")
		q.Filters = new(leaf("", name, AtLeast, bound))
		some := runQuery(t, m, q)
		limit, _ := new(big.Rat).SetString(bound)
		var want []string
		clicks := new(big.Rat)
		for _, r := range all.Data {
			if n := r.Metrics[name]; n != nil && rational(t, n).Cmp(limit) >= 0 {
				want = append(want, fmt.Sprint(metricTexts(r.Metrics)))
				if c := r.Metrics["clicks"]; c != nil {
					clicks.Add(clicks, rational(t, c))
				}
			}
		}
		var got []string
		for _, r := range some.Data {
			got = append(got, fmt.Sprint(metricTexts(r.Metrics)))
		}
		if !slices.Equal(got, want) {
			t.Fatalf("got %q want %q", got, want)
		}
		if n := some.Meta.Totals.Metrics["clicks"]; n != nil && rational(t, n).Cmp(clicks) != 0 {
			t.Fatalf("got totals %s want %s", n, clicks)
		}
	})
}

// TestAnswerOrderIsStable checks that the order of groups does not change the
// answer.
func TestAnswerOrderIsStable(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m, q := randomFacts(t), drawQuery(t)
		if rapid.Bool().Draw(t, "compares") {
			q.Compare = &Compare{To: "previous_period"}
		}
		q.Include.EmptyRows = new(len(q.Dimensions) == 1 && q.Dimensions[0] == "campaign_id")
		var first string
		for range 4 {
			a, err := m.service().run(context.Background(), wks, q)
			if err != nil {
				t.Fatal(err)
			}
			text := string(a.AppendJSON(nil))
			if first == "" {
				first = text
			}
			if text != first {
				t.Fatalf("got %s want %s", text, first)
			}
		}
	})
}
