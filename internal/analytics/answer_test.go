package analytics

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"fanfare/internal/fact"
)

// smallFacts has few enough facts to compute every answer by hand.
func smallFacts(t testing.TB) *memoryFacts {
	t.Helper()
	m := newMemoryFacts()
	add := func(s *fact.Source, date, channel string, campaign, creative fact.Entity, v map[fact.Measure]int64) {
		m.rows = append(m.rows, fact.Row{Source: s, Date: day(t, date), Channel: channel, Campaign: campaign, Creative: creative, Values: measures(v)})
	}
	ours := fact.Entity{ExternalID: "c0", Record: campaigns[0]}
	theirs := fact.Entity{ExternalID: "c9", Name: "=Old \"one\", 1"}
	add(metaAds, "2026-10-01", "social", ours, fact.Entity{ExternalID: "a0", Record: creatives[0]}, map[fact.Measure]int64{fact.Impressions: 1000, fact.Clicks: 30, fact.Spend: 12_500_000, fact.Conversions: 1_500_000, fact.Reach: 800})
	add(metaAds, "2026-10-07", "social", ours, fact.Entity{ExternalID: "a1", Record: creatives[1]}, map[fact.Measure]int64{fact.Impressions: 500, fact.Clicks: 10, fact.Spend: 7_500_000, fact.Reach: 400})
	add(metaAds, "2026-10-06", "social", theirs, fact.Entity{}, map[fact.Measure]int64{fact.Impressions: 100, fact.Spend: 1_000_000})
	add(googleAds, "2026-10-07", "search", fact.Entity{}, fact.Entity{}, map[fact.Measure]int64{fact.Impressions: 50, fact.Clicks: 5, fact.Spend: 11_000_000, fact.Conversions: 2_000_000})
	add(ga4, "2026-10-07", "social", fact.Entity{}, fact.Entity{}, map[fact.Measure]int64{fact.Conversions: 9_000_000})
	add(metaAds, "2026-09-24", "social", ours, fact.Entity{}, map[fact.Measure]int64{fact.Impressions: 800, fact.Clicks: 0, fact.Spend: 10_000_000})
	for d := day(t, "2026-09-01"); d < day(t, "2026-10-07"); d++ {
		m.rates = append(m.rates, DayRate{"USD", d, 110_000_000})
	}
	return m
}

func october(q Query) *Query {
	q.Range = &Range{Start: new("2026-10-01"), End: new("2026-10-07")}
	return &q
}

func data(t testing.TB, b []byte) string {
	t.Helper()
	var s struct {
		Data json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal(b, &s); err != nil {
		t.Fatalf("got %s: %v", b, err)
	}
	return string(s.Data)
}

func TestResultRows(t *testing.T) {
	t.Parallel()
	cmp0 := string(campaigns[0])
	for _, test := range []struct {
		name  string
		query *Query
		want  string
	}{
		{
			"one row without facts: zeros and nulls",
			&Query{Metrics: []string{"impressions", "spend", "reach", "ctr", "spend_share"}, Range: &Range{Preset: new("today")}},
			`[{"dimensions":{},"labels":{},"metrics":{"impressions":0,"spend":0,"reach":null,"ctr":null,"spend_share":null}}]`,
		},
		{
			"what nobody reported is not zero",
			october(Query{Metrics: []string{"impressions", "sends"}}),
			`[{"dimensions":{},"labels":{},"metrics":{"impressions":1650,"sends":null}}]`,
		},
		{
			"ids, labels and what is not ours",
			october(Query{Metrics: []string{"spend", "impressions", "cpm"}, Dimensions: []string{"campaign_id"}, Filters: new(leaf("", "platform", Equal, "meta_ads"))}),
			`[{"dimensions":{"campaign_id":"` + cmp0 + `"},"labels":{"campaign_id":"Campaign 0"},"metrics":{"spend":20,"impressions":1500,"cpm":13.333333}},` +
				`{"dimensions":{"campaign_id":null},"labels":{"campaign_id":"=Old \"one\", 1"},"external_ids":{"campaign_id":"c9"},"metrics":{"spend":1,"impressions":100,"cpm":10}}]`,
		},
		{
			"every bucket, cut ones marked, partners by index",
			october(Query{Metrics: []string{"clicks", "spend"}, Granularity: new("week"), Compare: &Compare{To: "previous_period"}, Filters: new(leaf("", "platform", Equal, "meta_ads"))}),
			`[{"dimensions":{"date":"2026-09-28"},"labels":{},"metrics":{"clicks":30,"spend":12.5},"previous_date":"2026-09-21","previous":{"clicks":0,"spend":10},"change":{"clicks":null,"spend":0.25},"partial":true},` +
				`{"dimensions":{"date":"2026-10-05"},"labels":{},"metrics":{"clicks":10,"spend":8.5},"previous_date":"2026-09-28","previous":{"clicks":0,"spend":0},"change":{"clicks":null,"spend":null},"partial":true}]`,
		},
		{
			"a bucket without partner has null",
			&Query{
				Metrics: []string{"clicks"}, Granularity: new("month"), Range: &Range{Start: new("2026-09-30"), End: new("2026-10-01")},
				Compare: &Compare{To: "previous_period"}, Include: Include{Labels: new(false)},
			},
			`[{"dimensions":{"date":"2026-09-01"},"metrics":{"clicks":0},"previous_date":"2026-09-01","previous":{"clicks":0},"change":{"clicks":null},"partial":true},` +
				`{"dimensions":{"date":"2026-10-01"},"metrics":{"clicks":30},"previous_date":null,"previous":null,"change":null,"partial":true}]`,
		},
		{
			"every bucket for each combination; unknown last; ties by value",
			&Query{
				Metrics: []string{"clicks"}, Dimensions: []string{"channel"}, Granularity: new("day"), Range: &Range{Start: new("2026-10-06"), End: new("2026-10-07")},
				OrderBy: []Order{{Field: "clicks", Order: "asc"}}, Include: Include{Labels: new(false)},
			},
			`[{"dimensions":{"date":"2026-10-06","channel":"search"},"metrics":{"clicks":0}},{"dimensions":{"date":"2026-10-07","channel":"search"},"metrics":{"clicks":5}},` +
				`{"dimensions":{"date":"2026-10-07","channel":"social"},"metrics":{"clicks":10}},{"dimensions":{"date":"2026-10-06","channel":"social"},"metrics":{"clicks":null}}]`,
		},
		{
			"measurement only when it is asked for",
			october(Query{Metrics: []string{"conversions"}, Filters: new(leaf("", "platform", Equal, "ga4"))}),
			`[{"dimensions":{},"labels":{},"metrics":{"conversions":9}}]`,
		},
		{
			"a missing rate makes amounts unknown",
			october(Query{Metrics: []string{"spend", "clicks"}, Dimensions: []string{"channel"}, Include: Include{Labels: new(false)}}),
			`[{"dimensions":{"channel":"social"},"metrics":{"spend":21,"clicks":40}},{"dimensions":{"channel":"search"},"metrics":{"spend":null,"clicks":5}}]`,
		},
		{
			"shares are of everything",
			october(Query{Metrics: []string{"conversion_share"}, Dimensions: []string{"channel"}, Include: Include{Labels: new(false)}}),
			`[{"dimensions":{"channel":"search"},"metrics":{"conversion_share":0.571429}},{"dimensions":{"channel":"social"},"metrics":{"conversion_share":0.428571}}]`,
		},
		{
			"order by change",
			october(Query{
				Metrics: []string{"impressions"}, Dimensions: []string{"channel"}, Compare: &Compare{To: "previous_period"}, Include: Include{Labels: new(false)},
				OrderBy: []Order{{Field: "change.impressions", Order: "asc"}},
			}),
			`[{"dimensions":{"channel":"social"},"metrics":{"impressions":1600},"previous":{"impressions":800},"change":{"impressions":1}},` +
				`{"dimensions":{"channel":"search"},"metrics":{"impressions":50},"previous":{"impressions":0},"change":{"impressions":null}}]`,
		},
		{
			"days of the week as they come",
			october(Query{Metrics: []string{"impressions"}, Dimensions: []string{"weekday"}, OrderBy: []Order{{Field: "weekday"}}, Include: Include{Labels: new(false)}}),
			`[{"dimensions":{"weekday":"tuesday"},"metrics":{"impressions":100}},{"dimensions":{"weekday":"wednesday"},"metrics":{"impressions":550}},{"dimensions":{"weekday":"thursday"},"metrics":{"impressions":1000}}]`,
		},
		{
			"records without facts",
			october(Query{
				Metrics: []string{"clicks"}, Dimensions: []string{"campaign_id", "campaign_status"}, Include: Include{EmptyRows: new(true)},
				Filters: new(leaf("", "campaign_status", Equal, "active")),
			}),
			`[{"dimensions":{"campaign_id":"` + cmp0 + `","campaign_status":"active"},"labels":{"campaign_id":"Campaign 0"},"metrics":{"clicks":40}},` +
				`{"dimensions":{"campaign_id":"` + string(campaigns[2]) + `","campaign_status":"active"},"labels":{"campaign_id":"Campaign 2"},"metrics":{"clicks":0}}]`,
		},
		{
			"connections have their names",
			october(Query{Metrics: []string{"clicks"}, Dimensions: []string{"connection_id"}}),
			`[{"dimensions":{"connection_id":"` + string(conns[0]) + `"},"labels":{"connection_id":"Connection 0"},"metrics":{"clicks":40}},` +
				`{"dimensions":{"connection_id":"` + string(conns[1]) + `"},"labels":{"connection_id":"Connection 1"},"metrics":{"clicks":5}}]`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			a, err := smallFacts(t).service().run(t.Context(), wks, test.query)
			if err != nil {
				t.Fatal(err)
			}
			if got := data(t, a.AppendJSON(nil)); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
			var lines []string
			for _, line := range strings.SplitAfter(string(a.AppendNDJSON(nil)), "\n") {
				lines = append(lines, strings.TrimSuffix(line, "\n"))
			}
			if got := "[" + strings.Join(lines[:len(lines)-1], ",") + "]"; got != test.want {
				t.Errorf("got lines %s want %s", got, test.want)
			}
		})
	}
}

func TestCSV(t *testing.T) {
	t.Parallel()
	a, err := smallFacts(t).service().run(t.Context(), wks, october(Query{
		Metrics: []string{"spend", "clicks"}, Dimensions: []string{"campaign_id", "channel"}, Granularity: new("month"), Compare: &Compare{To: "previous_period"},
	}))
	if err != nil {
		t.Fatal(err)
	}
	want := "date,campaign_id,campaign_id.label,campaign_id.external_id,channel,spend,clicks,previous.date,previous.spend,previous.clicks,change.spend,change.clicks,partial\r\n" +
		"2026-10-01," + string(campaigns[0]) + ",Campaign 0,,social,20,40,2026-09-01,10,0,1,,true\r\n" +
		"2026-10-01,,,,search,,5,2026-09-01,0,0,,,true\r\n" +
		"2026-10-01,,\"'=Old \"\"one\"\", 1\",c9,social,1,,2026-09-01,0,0,,,true\r\n"
	if got := string(a.AppendCSV(nil)); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	for text, want := range map[string]string{"=1": "'=1", "+1": "'+1", "-1": "'-1", "@x": "'@x", "a=1": "a=1", "a\nb": "\"a\nb\"", "\t1": "'\t1"} {
		if got := string(appendCell(nil, text)); got != want {
			t.Errorf("%q: got %q want %q", text, got, want)
		}
	}
}

func TestMeta(t *testing.T) {
	t.Parallel()
	m := smallFacts(t)
	m.connections[0].DataThrough = new(day(t, "2026-10-08"))
	m.connections[1].StaleAfter, m.connections[1].Sandbox = time.Hour, true
	a, err := m.service().run(t.Context(), wks, october(Query{Metrics: []string{"reach", "spend", "conversions"}, Dimensions: []string{"tag"}}))
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Meta map[string]json.RawMessage `json:"meta"`
	}
	if err := json.Unmarshal(a.AppendJSON(nil), &got); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"start_date": `"2026-10-01"`, "end_date": `"2026-10-07"`, "timezone": `"UTC"`, "currency": `"EUR"`, "as_of": `"2026-11-15T12:00:00.000Z"`,
		"totals":    `{"metrics":{"reach":null,"spend":null,"conversions":3.5},"previous":null,"change":null}`,
		"columns":   `[{"name":"tag","kind":"dimension","type":"string","format":null,"unit":null,"additivity":null},{"name":"reach","kind":"metric","type":"integer","format":"count","unit":null,"additivity":"non_additive"},{"name":"spend","kind":"metric","type":"number","format":"currency","unit":"EUR","additivity":"additive"},{"name":"conversions","kind":"metric","type":"number","format":"decimal","unit":null,"additivity":"additive"}]`,
		"freshness": `{"data_through":"2026-10-07","final_through":"2026-09-09","stale_connections":["` + string(conns[1]) + `"]}`,
		"row_count": "1", "total_rows": "null", "estimated_rows": "null", "elapsed_ms": "0", "cache": `"miss"`,
	} {
		if string(got.Meta[name]) != want {
			t.Errorf("%s: got  %s\nwant %s", name, got.Meta[name], want)
		}
	}
	var warnings []Warning
	if err := json.Unmarshal(got.Meta["warnings"], &warnings); err != nil {
		t.Fatal(err)
	}
	var codes []string
	for _, w := range warnings {
		codes = append(codes, w.Code)
		if w.Code == "missing_rate" && (w.Currency != "USD" || w.DayCount != 1 || w.Days[0] != day(t, "2026-10-07")) {
			t.Errorf("got %+v want USD on 2026-10-07", w)
		}
	}
	want := []string{"non_additive", "missing_rate", "mixed_timezones", "overlapping", "overlapping_conversions", "stale_connections", "sandbox_data"}
	if !slices.Equal(codes, want) {
		t.Errorf("got %q want %q", codes, want)
	}
}

func TestNoWarnings(t *testing.T) {
	t.Parallel()
	m := smallFacts(t)
	m.rows = append(m.rows, fact.Row{Source: &fact.Source{Connection: conns[1], Platform: "tiktok_ads", Zone: metaAds.Zone, Currency: "EUR"}, Date: day(t, "2026-10-02"), Values: measures(map[fact.Measure]int64{fact.Conversions: 0})})
	got := runQuery(t, m, october(Query{Metrics: []string{"impressions", "conversions"}, Filters: new(leaf("", "platform", In, "meta_ads", "tiktok_ads"))}))
	if len(got.Meta.Warnings) != 0 {
		t.Errorf("got %+v want none", got.Meta.Warnings)
	}
}

// TestTotalsOfOverlappingRows checks that totals count facts of several rows
// once, and do not add up reach.
func TestTotalsOfOverlappingRows(t *testing.T) {
	t.Parallel()
	m := smallFacts(t)
	for i := range m.rows {
		m.rows[i].Campaign.Record = campaigns[2]
	}
	for _, test := range []struct {
		query *Query
		want  string
	}{
		{october(Query{Metrics: []string{"impressions"}, Dimensions: []string{"tag"}}), "map[impressions:1650]"},
		{october(Query{Metrics: []string{"reach"}, Dimensions: []string{"creative_id"}, Filters: new(leaf("", "reach", Greater, "0"))}), "map[reach:null]"},
		{october(Query{Metrics: []string{"reach"}, Dimensions: []string{"creative_id"}, Filters: new(leaf("", "reach", Greater, "400"))}), "map[reach:800]"},
	} {
		if got := fmt.Sprint(metricTexts(runQuery(t, m, test.query).Meta.Totals.Metrics)); got != test.want {
			t.Errorf("%v: got %s want %s", test.query.Dimensions, got, test.want)
		}
	}
}
