package analytics

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/money"
)

func TestReports(t *testing.T) {
	t.Parallel()
	two := []string{"spend", "ctr"}
	for _, test := range []struct {
		name   string
		params Params
		want   string
	}{
		{
			"overview",
			Params{Kind: KindOverview, Metrics: two, Platforms: []string{"meta_ads"}},
			`{"metrics":{"spend":21,"ctr":0.025},"previous":null,"change":null}`,
		},
		{
			"overview with series",
			Params{Kind: KindOverview, Metrics: []string{"clicks"}, Granularity: new("week"), Compare: new("previous_period"), Channels: []string{"social"}},
			`{"metrics":{"clicks":40},"previous":{"clicks":0},"change":{"clicks":null},"series":[` +
				`{"date":"2026-09-28","metrics":{"clicks":30},"previous_date":"2026-09-21","previous":{"clicks":0},"change":{"clicks":null},"partial":true},` +
				`{"date":"2026-10-05","metrics":{"clicks":10},"previous_date":"2026-09-28","previous":{"clicks":0},"change":{"clicks":null},"partial":true}]}`,
		},
		{
			"campaigns with those that are not ours",
			Params{Kind: KindCampaigns, Metrics: []string{"impressions"}, Sort: "impressions"},
			`[{"campaign":{"id":"` + string(campaigns[0]) + `","name":"Campaign 0","status":"active","external_id":null},"metrics":{"impressions":1500}},` +
				`{"campaign":{"id":null,"name":"=Old \"one\", 1","status":null,"external_id":"c9"},"metrics":{"impressions":100}},` +
				`{"campaign":{"id":null,"name":null,"status":null,"external_id":null},"metrics":{"impressions":50}}]`,
		},
		{
			"campaigns by status",
			Params{Kind: KindCampaigns, Metrics: []string{"impressions"}, Statuses: []string{"active"}},
			`[{"campaign":{"id":"` + string(campaigns[0]) + `","name":"Campaign 0","status":"active","external_id":null},"metrics":{"impressions":1500}}]`,
		},
		{
			"channels by a metric that is not shown",
			Params{Kind: KindChannels, Metrics: []string{"impressions"}, Sort: "clicks", Order: "asc"},
			`[{"channel":{"id":"search","name":"search"},"metrics":{"impressions":50}},{"channel":{"id":"social","name":"social"},"metrics":{"impressions":1600}}]`,
		},
		{
			"creative by name, from the end",
			Params{Kind: KindCreative, Metrics: []string{"clicks"}, Sort: "name", Platforms: []string{"meta_ads"}},
			`[{"creative":{"id":"` + string(creatives[1]) + `","name":"Creative 1","status":"archived","external_id":null},"metrics":{"clicks":10}},` +
				`{"creative":{"id":"` + string(creatives[0]) + `","name":"Creative 0","status":"ready","external_id":null},"metrics":{"clicks":30}},` +
				`{"creative":{"id":null,"name":null,"status":null,"external_id":null},"metrics":{"clicks":null}}]`,
		},
		{
			"creative by status",
			Params{Kind: KindCreative, Metrics: []string{"clicks"}, Statuses: []string{"ready"}},
			`[{"creative":{"id":"` + string(creatives[0]) + `","name":"Creative 0","status":"ready","external_id":null},"metrics":{"clicks":30}}]`,
		},
		{
			"audiences by month",
			Params{Kind: KindAudiences, Metrics: []string{"clicks"}, Granularity: new("month"), Platforms: []string{"google_ads"}},
			`[{"date":"2026-10-01","audience":{"id":null,"name":null,"status":null,"external_id":null},"metrics":{"clicks":5},"partial":true}]`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.params.StartDate, test.params.EndDate = new("2026-10-01"), new("2026-10-07")
			a, err := smallFacts(t).service().Report(t.Context(), wks, &test.params)
			if err != nil {
				t.Fatal(err)
			}
			if got := data(t, a.AppendJSON(nil)); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestReportDays(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		start, end *string
		want       string
	}{
		{nil, nil, "2026-10-16 2026-11-14"},
		{new("2026-11-01"), nil, "2026-11-01 2026-11-14"},
		{new("2026-11-15"), nil, "2026-11-15 2026-11-15"},
		{nil, new("2026-10-31"), "2026-10-02 2026-10-31"},
		{new("2026-10-01"), new("2026-10-02"), "2026-10-01 2026-10-02"},
	} {
		p := &Params{Kind: KindOverview, StartDate: test.start, EndDate: test.end}
		q, problems := p.query(wks, noon)
		r, more := Resolve(q, wks, noon)
		if problems != nil || more != nil {
			t.Fatalf("got %v, %v want no problems", problems, more)
		}
		if got := r.days.first.String() + " " + r.days.last.String(); got != test.want {
			t.Errorf("got %s want %s", got, test.want)
		}
		if !slices.Equal(q.Metrics, DefaultMetrics) {
			t.Errorf("got %v want the default metrics", q.Metrics)
		}
	}
}

// TestReportTooBroad checks that a valid report with too many days is
// query_too_broad.
func TestReportTooBroad(t *testing.T) {
	t.Parallel()
	_, err := smallFacts(t).service().Report(t.Context(), wks, &Params{Kind: KindCampaigns, StartDate: new("2020-10-02"), EndDate: new("2026-10-01")})
	var f *fault.Error
	if !errors.As(err, &f) || f.Code != fault.QueryTooBroad || f.Details[0].Field != "start_date" || f.Details[0].Meta["bound"] != "months" {
		t.Errorf("got %v want query_too_broad at start_date by months", err)
	}
}

func TestReportErrors(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		params Params
		want   []string
	}{
		{Params{Kind: KindCampaigns, Metrics: []string{"spent", "clicks"}, Sort: "nam", Order: "up"}, []string{"sort invalid_value", "order invalid_value", "metrics invalid_value"}},
		{Params{Kind: KindCampaigns, StartDate: new("2026-10-02"), EndDate: new("2026-10-01")}, []string{"start_date invalid_range"}},
		{Params{Kind: KindCampaigns, StartDate: new("2020-10-02"), EndDate: new("2026-10-01"), Order: "up"}, []string{"order invalid_value", "start_date out_of_range"}},
		{Params{Kind: KindCampaigns, StartDate: new("2026-10-02T00:00:00Z"), EndDate: new("2026-10-01")}, []string{"start_date invalid_format"}},
		{Params{Kind: KindOverview, Compare: new("custom")}, []string{"compare invalid_value"}},
		{Params{Kind: KindOverview, Compare: new("last_year")}, []string{"compare invalid_value"}},
		{Params{Kind: KindOverview, Granularity: new("hour"), Timezone: new("x"), Currency: new("x")}, []string{"timezone invalid_value", "currency invalid_value", "granularity invalid_value"}},
		{Params{Kind: KindChannels, Channels: []string{"sozial"}}, []string{"channel invalid_value"}},
		{Params{Kind: KindChannels, Statuses: []string{"active"}}, []string{"status unknown_parameter"}},
		{Params{Kind: KindChannels, Sort: "pacing"}, []string{"sort invalid_value"}},
	} {
		_, err := smallFacts(t).service().Report(t.Context(), wks, &test.params)
		var f *fault.Error
		if !errors.As(err, &f) || f.Code != fault.InvalidParameter {
			t.Errorf("got %v want invalid_parameter", err)
			continue
		}
		var got []string
		for _, d := range f.Details {
			got = append(got, d.Field+" "+d.Code)
			if d.In != "query" || !strings.HasPrefix(d.Message, d.Field+" ") {
				t.Errorf("got %+v want a sentence about the parameter", d)
			}
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("got %q want %q", got, test.want)
		}
	}
}

// TestReportsEqualQueries checks that every report has the metrics of the
// equivalent query, that its pages are complete, and that it adds up to the
// overview.
func TestReportsEqualQueries(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := randomFacts(t)
		m.rates = nil
		for i := range m.rows {
			m.rows[i].Source = []*fact.Source{metaAds, ga4}[i%2]
		}
		start, end := firstDay.String(), (firstDay + 30).String()
		kind := rapid.SampledFrom([]Kind{KindCampaigns, KindChannels, KindCreative, KindAudiences}).Draw(t, "kind")
		s := m.service()
		p := &Params{Kind: kind, StartDate: &start, EndDate: &end, Metrics: []string{"clicks"}, Limit: rapid.IntRange(1, 3).Draw(t, "limit")}
		var got []string
		var sum int64
		for {
			a, err := s.Report(context.Background(), wks, p)
			if err != nil {
				t.Fatal(err)
			}
			if b := a.AppendJSON(nil); !json.Valid(b) {
				t.Fatalf("got %s want JSON", b)
			}
			for _, r := range a.rows {
				got = append(got, fmt.Sprint(r.values[0].ID, r.values[0].External, r.now[0]))
				sum += r.now[0].N
			}
			if a.Next() == "" {
				break
			}
			p = &Params{Kind: kind, Limit: 2, Cursor: new(a.Next())}
		}
		query, err := s.run(context.Background(), wks, &Query{
			Metrics: []string{"clicks", "spend"}, Dimensions: []string{subjects[kind].dimension}, Range: &Range{Start: &start, End: &end}, OrderBy: []Order{{Field: "spend", Order: "desc"}},
		})
		if err != nil {
			t.Fatal(err)
		}
		var want []string
		for _, r := range query.rows {
			want = append(want, fmt.Sprint(r.values[0].ID, r.values[0].External, r.now[0]))
		}
		if !slices.Equal(got, want) {
			t.Fatalf("got %q want %q", got, want)
		}
		overview, err := s.Report(context.Background(), wks, &Params{Kind: KindOverview, StartDate: &start, EndDate: &end, Metrics: []string{"clicks"}})
		if err != nil {
			t.Fatal(err)
		}
		if overview.totals.now[0].N != sum {
			t.Fatalf("got %d in the overview want %d", overview.totals.now[0].N, sum)
		}
	})
}

func TestPacing(t *testing.T) {
	t.Parallel()
	today := clock.DateIn(noon, noon.Location())
	flight := func(start, end int, daily bool, units int64, running bool) Flight {
		f := Flight{Start: new(today + clock.Date(start)), Daily: daily, Micros: units * 1_000_000, Currency: "EUR", Running: running}
		if end != 0 {
			f.End = new(today + clock.Date(end))
		}
		return f
	}
	for _, test := range []struct {
		name   string
		flight *Flight
		want   string
	}{
		{"half of a lifetime budget after half the days", new(flight(-10, 9, false, 100, true)), "1.2"},
		{"a daily budget", new(flight(-4, 0, true, 30, true)), "0.5"},
		{"today does not count", new(flight(-1, 8, false, 600, true)), "1"},
		{"first day", new(flight(0, 9, false, 100, true)), "null"},
		{"paused", new(flight(-10, 9, false, 100, false)), "null"},
		{"not begun", new(flight(1, 9, false, 100, true)), "null"},
		{"over", new(flight(-9, -1, false, 100, true)), "null"},
		{"no end, so no curve", new(flight(-9, 0, false, 100, true)), "null"},
		{"no budget", nil, "null"},
		{"nothing planned", new(flight(-10, 9, false, 0, true)), "null"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			m := newMemoryFacts()
			add := func(days int, micros int64) {
				r := fact.Row{Source: metaAds, Date: today + clock.Date(days), Channel: "social", Campaign: fact.Entity{Record: campaigns[0]}}
				r.Values.Set(fact.Spend, micros)
				m.rows = append(m.rows, r)
			}
			add(-3, 60_000_000)
			add(0, 500_000_000)
			if test.flight != nil {
				m.flights[campaigns[0]] = *test.flight
			}
			got := runQuery(t, m, &Query{Metrics: []string{"pacing"}, Dimensions: []string{"campaign_id"}, Compare: &Compare{To: "previous_year"}})
			if n := written(got.Data[0].Metrics["pacing"]); n != test.want || got.Meta.Totals.Metrics["pacing"] != nil || got.Data[0].Previous["pacing"] != nil {
				t.Errorf("got %s want %s, and none for totals or another time", n, test.want)
			}
		})
	}
}

func TestSpend(t *testing.T) {
	t.Parallel()
	m := smallFacts(t)
	dollars := fact.Row{Source: googleAds, Date: day(t, "2026-10-06"), Campaign: fact.Entity{ExternalID: "g", Record: campaigns[1]}, Values: measures(map[fact.Measure]int64{fact.Spend: 11_000_000})}
	unknown := fact.Row{Source: metaAds, Date: day(t, "2026-10-06"), Campaign: fact.Entity{ExternalID: "n", Record: campaigns[2]}, Values: measures(map[fact.Measure]int64{fact.Clicks: 1})}
	m.rows = append(m.rows, dollars, unknown)
	s := m.service()
	for _, test := range []struct {
		ids      []ident.ID
		currency money.Currency
		today    string
		want     string
	}{
		{nil, "EUR", "2026-10-07", fmt.Sprint(map[ident.ID]fact.CampaignSpend{
			campaigns[0]: {Total: 30_000_000, Today: 7_500_000, Currency: "EUR", Known: true},
			campaigns[1]: {Total: 10_000_000, Currency: "EUR", Known: true},
		})},
		{campaigns[1:], "USD", "2026-10-06", fmt.Sprint(map[ident.ID]fact.CampaignSpend{campaigns[1]: {Total: 11_000_000, Today: 11_000_000, Currency: "USD", Known: true}})},
		{campaigns[:1], "JPY", "2026-10-07", fmt.Sprint(map[ident.ID]fact.CampaignSpend{campaigns[0]: {Currency: "JPY"}})},
		{[]ident.ID{}, "EUR", "2026-10-07", "map[]"},
		{campaigns[:1], "", "2026-10-07", fmt.Sprint(map[ident.ID]fact.CampaignSpend{campaigns[0]: {Total: 30_000_000, Today: 7_500_000, Currency: wks.Currency, Known: true}})},
	} {
		m.now = day(t, test.today).Time().Add(12 * time.Hour)
		got, err := s.Spend(t.Context(), wks.ID, test.ids, test.currency, "")
		for id, spend := range got {
			if spend.AsOf != clock.At(m.now) {
				t.Errorf("got as of %v want %v", spend.AsOf, m.now)
			}
			spend.AsOf = 0
			got[id] = spend
		}
		if err != nil || fmt.Sprint(got) != test.want {
			t.Errorf("%s: got %v, %v want %s", test.currency, got, err, test.want)
		}
	}
}

func TestInsights(t *testing.T) {
	t.Parallel()
	m := newMemoryFacts()
	add := func(audience ident.ID, family fact.Family, date, value string, impressions, clicks int64) {
		r := fact.Row{
			Source: metaAds, Family: family, Date: day(t, date), Channel: "social", Campaign: fact.Entity{Record: campaigns[0]}, Audience: fact.Entity{Record: audience},
			Values: measures(map[fact.Measure]int64{fact.Impressions: impressions, fact.Clicks: clicks, fact.Spend: clicks * 1_000_000, fact.Conversions: clicks * 100_000}),
		}
		switch family {
		case fact.Base:
			r.Channel, r.Creative = value, fact.Entity{Record: creatives[0]}
		case fact.Device:
			r.Device = value
		case fact.Geo, fact.Demographic:
		}
		m.rows = append(m.rows, r)
	}
	add(audiences[0], fact.Base, "2026-10-05", "social", 300, 30)
	add(audiences[0], fact.Base, "2026-10-06", "search", 100, 2)
	add(audiences[1], fact.Base, "2026-10-06", "search", 400, 8)
	add(audiences[0], fact.Device, "2026-10-05", "mobile", 300, 30)
	add(audiences[0], fact.Device, "2026-10-05", "desktop", 100, 2)
	add(audiences[1], fact.Device, "2026-10-05", "desktop", 400, 2)
	// Metrics without a known device are not a part and are in no share.
	add(audiences[0], fact.Device, "2026-10-05", "unknown", 50, 1)
	add(audiences[1], fact.Device, "2026-10-05", "unknown", 10_000, 1)
	add(audiences[1], fact.Device, "2026-10-06", "", 10_000, 1)
	s := m.service()
	got, err := s.AudienceInsights(t.Context(), wks.ID, audiences[0], BaselineWorkspace, day(t, "2026-10-05"), day(t, "2026-10-07"))
	if err != nil {
		t.Fatal(err)
	}
	metrics := got.Performance.Metrics
	for name, pair := range map[string][2]string{
		"trend":       {fmt.Sprint(got.Trend), "[{2026-10-05 300 30 3 30} {2026-10-06 100 2 0.2 2} {2026-10-07 0 0 0 0}]"},
		"device":      {fmt.Sprint(got.Composition.Device), "[{mobile 300 0.75 200} {desktop 100 0.25 40}]"},
		"age":         {fmt.Sprint(got.Composition.AgeRange), "[]"},
		"performance": {fmt.Sprint(metrics["ctr"], metrics["spend"], got.Performance.VersusWorkspace["ctr"], got.Performance.VersusWorkspace["clicks"]), "0.08 32 1.6 0.8"},
		"by channel":  {fmt.Sprint(got.ByChannel[0].Channel, got.ByChannel[0].Index, got.ByChannel[0].Metrics["clicks"], got.ByChannel[1].Index), "social200 30 40"},
		"best times":  {fmt.Sprint(got.BestTimes), "[{monday 125} {tuesday 25}]"},
		"creatives":   {fmt.Sprint(got.TopCreatives), fmt.Sprintf("[{%s Creative 0 0.08 0.1 3.2}]", creatives[0])},
		"campaigns":   {fmt.Sprint(got.Campaigns), fmt.Sprintf("[{%s Campaign 0 32 3.2}]", campaigns[0])},
		"warnings":    {fmt.Sprint(len(got.Warnings), got.Warnings[0].Code, got.Warnings[0].Dimension), "3no_breakdownage_range"},
		"as JSON":     {fmt.Sprint(json.Valid(must(json.Marshal(got)))), "true"},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s: got %s want %s", name, pair[0], pair[1])
		}
	}
	other, err := s.AudienceInsights(t.Context(), wks.ID, audiences[0], string(audiences[1]), day(t, "2026-10-05"), day(t, "2026-10-07"))
	if err != nil || fmt.Sprint(other.Composition.Device) != "[{mobile 300 0.75 null} {desktop 100 0.25 25}]" {
		t.Errorf("another baseline: got %v, %v", other, err)
	}
	none, err := s.AudienceInsights(t.Context(), wks.ID, audiences[0], BaselineWorkspace, day(t, "2026-01-05"), day(t, "2026-01-07"))
	if err != nil || len(none.Warnings) != 1 || none.Warnings[0].Code != "no_facts" || len(none.Trend) != 0 {
		t.Errorf("no facts: got %+v, %v want one warning", none, err)
	}
	add(audiences[0], fact.Device, "2026-02-05", "mobile", 300, 30)
	parts, err := s.AudienceInsights(t.Context(), wks.ID, audiences[0], BaselineWorkspace, day(t, "2026-02-05"), day(t, "2026-02-07"))
	if err != nil {
		t.Fatal(err)
	}
	found := fmt.Sprint(parts.Composition.Device, len(parts.Trend))
	for _, w := range parts.Warnings {
		found += " " + w.Code + w.Dimension
	}
	if want := "[{mobile 300 1 100}] 0 no_breakdownage_range no_breakdowngender no_breakdowncountry no_totals"; found != want {
		t.Errorf("facts by device only: got %s want %s", found, want)
	}
	_, err = s.AudienceInsights(t.Context(), wks.ID, audiences[0], BaselineWorkspace, day(t, "1999-02-05"), day(t, "2026-02-07"))
	if f, ok := errors.AsType[*fault.Error](err); !ok || f.Code != fault.InvalidParameter || f.Details[0].Field != "start_date" || f.Details[0].In != "query" {
		t.Errorf("too early: got %v want start_date to be refused as a parameter", err)
	}
}

func must(b []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return b
}

func TestVariants(t *testing.T) {
	t.Parallel()
	m := smallFacts(t)
	m.now = day(t, "2026-10-20").Time()
	got, err := m.service().Variants(t.Context(), wks.ID, creatives[0])
	want := fact.VariantMetrics{
		Impressions: fact.Whole(1000), Clicks: fact.Whole(30), CTR: fact.Millionths(30_000), Conversions: fact.Millionths(1_500_000),
		CVR: fact.Millionths(50_000), Spend: fact.Millionths(12_500_000), CPA: fact.Millionths(8_333_333),
	}
	if err != nil || len(got) != 1 || got[creatives[0]] != want {
		t.Errorf("got %v, %v want %v for the first", got, err, want)
	}
}

func TestSchema(t *testing.T) {
	t.Parallel()
	var s struct {
		Metrics    []struct{ Name, Formula, Additivity, Format string } `json:"metrics"`
		Dimensions []struct {
			Name         string   `json:"name"`
			Allowed      []string `json:"allowed"`
			Incompatible []string `json:"incompatible_with"`
		} `json:"dimensions"`
		Families []SchemaFamily `json:"families"`
	}
	if err := json.Unmarshal(SchemaJSON, &s); err != nil {
		t.Fatal(err)
	}
	if len(s.Metrics) != len(Metrics) || len(s.Dimensions) != len(Dimensions) || len(s.Families) != 4 {
		t.Errorf("got %d metrics, %d dimensions, %d families", len(s.Metrics), len(s.Dimensions), len(s.Families))
	}
	// What the schema calls incompatible is exactly what a query refuses.
	for _, d := range s.Dimensions {
		if d.Allowed == nil || d.Incompatible == nil {
			t.Errorf("%s: got null want lists", d.Name)
		}
		for _, other := range dimensionNames {
			_, problems := Resolve(&Query{Metrics: []string{"spend"}, Dimensions: slices.Compact([]string{d.Name, other})}, wks, noon)
			if got, want := len(problems) > 0, slices.Contains(d.Incompatible, other); got != want {
				t.Errorf("%s with %s: got refused %v want %v", d.Name, other, got, want)
			}
		}
	}
}
