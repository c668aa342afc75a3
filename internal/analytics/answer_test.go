package analytics

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
)

// smallFacts is a world that one can work out by hand.
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

func TestRows(t *testing.T) {
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
			a, err := smallFacts(t).service().Query(t.Context(), wks, test.query)
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
	a, err := smallFacts(t).service().Query(t.Context(), wks, october(Query{
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
	a, err := m.service().Query(t.Context(), wks, october(Query{Metrics: []string{"reach", "spend", "conversions"}, Dimensions: []string{"tag"}}))
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

func TestDryRun(t *testing.T) {
	t.Parallel()
	m := smallFacts(t)
	for _, test := range []struct {
		query *Query
		want  int64
	}{
		{october(Query{Metrics: []string{"spend"}, DryRun: true}), 1},
		{october(Query{Metrics: []string{"spend"}, DryRun: true, Granularity: new("day")}), 7},
		{october(Query{Metrics: []string{"spend"}, DryRun: true, Dimensions: []string{"platform"}}), 2},
		{october(Query{Metrics: []string{"spend"}, DryRun: true, Dimensions: []string{"campaign_id"}}), 5},
		// What is compared with may add rows.
		{october(Query{Metrics: []string{"spend"}, DryRun: true, Dimensions: []string{"campaign_id"}, Compare: &Compare{To: "previous_period"}}), 8},
		{october(Query{Metrics: []string{"spend"}, DryRun: true, Granularity: new("day"), Compare: &Compare{To: "custom", Range: &Range{Start: new("2026-09-01"), End: new("2026-09-10")}}}), 10},
	} {
		got := runQuery(t, m, test.query)
		if len(got.Data) != 0 || got.Meta.Estimated == nil || *got.Meta.Estimated != test.want || got.Meta.Totals != nil {
			t.Errorf("%v: got %d rows, estimate %v want none and %d", test.query.Dimensions, len(got.Data), got.Meta.Estimated, test.want)
		}
	}
	if m.plans != 0 {
		t.Errorf("got %d plans want none", m.plans)
	}
}

// bound is the bound that a fault names.
func bound(err error) any {
	var f *fault.Error
	if !errors.As(err, &f) || f.Code != fault.QueryTooBroad {
		return err
	}
	return f.Details[0].Meta["bound"]
}

func TestQueryTooBroad(t *testing.T) {
	t.Parallel()
	m := smallFacts(t)
	query := october(Query{Metrics: []string{"spend"}})
	for failure, want := range map[error]string{ErrTooMany: "rows", ErrTooLarge: "magnitude"} {
		m.before = func(context.Context, *Plan) error { return fmt.Errorf("engine: %w", failure) }
		if _, err := m.service().Query(t.Context(), wks, query); bound(err) != want {
			t.Errorf("got %v want query_too_broad with bound %s", err, want)
		}
	}
	m = newMemoryFacts()
	for i := range 91 {
		m.rows = append(m.rows, fact.Row{Source: metaAds, Date: day(t, "2026-10-01"), Channel: "social", Campaign: fact.Entity{ExternalID: fmt.Sprint(i)}})
	}
	long := &Query{Metrics: []string{"spend"}, Dimensions: []string{"campaign_id"}, Granularity: new("day"), Range: &Range{Preset: new("lifetime")}}
	if _, err := m.service().Query(t.Context(), wks, long); bound(err) != "rows" {
		t.Errorf("got %v want query_too_broad with bound rows", err)
	}
	m.rows = []fact.Row{{Source: metaAds, Date: day(t, "2026-10-01"), Channel: "social"}, {Source: metaAds, Date: day(t, "2026-10-01"), Channel: "search"}}
	for i := range m.rows {
		m.rows[i].Values.Set(fact.Clicks, 5e18)
	}
	if _, err := m.service().Query(t.Context(), wks, october(Query{Metrics: []string{"clicks"}, Dimensions: []string{"channel"}})); bound(err) != "magnitude" {
		t.Errorf("got %v want query_too_broad with bound magnitude", err)
	}
}

func TestQueryTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := smallFacts(t)
		m.before = func(ctx context.Context, _ *Plan) error {
			<-ctx.Done()
			return ctx.Err()
		}
		if _, err := m.service().Query(t.Context(), wks, october(Query{Metrics: []string{"spend"}})); bound(err) != "seconds" {
			t.Errorf("got %v want query_too_broad with bound seconds", err)
		}
		// A wait for other workspaces does not count.
		start := time.Now()
		m.begin = func(wait time.Duration) error {
			time.Sleep(wait)
			return nil
		}
		if _, err := m.service().Query(t.Context(), wks, october(Query{Metrics: []string{"spend"}})); bound(err) != "seconds" || time.Since(start) != maxWait+queryTimeout {
			t.Errorf("got %v after %v want query_too_broad with bound seconds after 15s", err, time.Since(start))
		}
		busy := fault.New(fault.Unavailable, "busy")
		m.begin = func(time.Duration) error { return busy }
		if _, err := m.service().Query(t.Context(), wks, october(Query{Metrics: []string{"spend"}})); !errors.Is(err, busy) {
			t.Errorf("got %v want %v", err, busy)
		}
		if _, err := m.service().Ranking(t.Context(), wks, "spend", nil, nil); !errors.Is(err, busy) {
			t.Errorf("ranking: got %v want %v", err, busy)
		}
		m.begin = nil
		hurried, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		if _, err := m.service().Query(hurried, wks, october(Query{Metrics: []string{"spend"}})); !errors.Is(err, context.DeadlineExceeded) || bound(err) == "seconds" {
			t.Errorf("got %v want what the caller's context says", err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		if _, err := m.service().Query(ctx, wks, october(Query{Metrics: []string{"spend"}})); !errors.Is(err, context.Canceled) || bound(err) == "seconds" {
			t.Errorf("got %v want what the caller's context says", err)
		}
	})
}

// TestFactsChangeBetweenPlans checks that all parts of an answer see the same
// facts.
func TestFactsChangeBetweenPlans(t *testing.T) {
	t.Parallel()
	m := smallFacts(t)
	written := make(chan struct{})
	var once sync.Once
	m.after = func(p *Plan) {
		if p.Granularity == Day {
			once.Do(func() {
				m.generation++
				m.rows = append(slices.Clone(m.rows), m.rows[0])
				close(written)
			})
		}
	}
	m.before = func(_ context.Context, p *Plan) error {
		if p.Granularity == Whole {
			<-written
		}
		return nil
	}
	got := runQuery(t, m, october(Query{Metrics: []string{"impressions", "reach"}, Granularity: new("day")}))
	var sum int64
	for _, r := range got.Data {
		n, err := r.Metrics["impressions"].Int64()
		if err != nil {
			t.Fatal(err)
		}
		sum += n
	}
	if total, err := got.Meta.Totals.Metrics["impressions"].Int64(); err != nil || total != 2650 || sum != total {
		t.Errorf("got %d in rows and %d in totals, %v want 2650 in both", sum, total, err)
	}
}

func cursorCode(err error) string {
	var f *fault.Error
	if !errors.As(err, &f) || f.Code != fault.InvalidCursor || len(f.Details) != 1 || f.Details[0].Field != "cursor" {
		return fmt.Sprint(err)
	}
	return f.Details[0].Code
}

func TestCursors(t *testing.T) {
	t.Parallel()
	m := smallFacts(t)
	s := m.service()
	query := october(Query{Metrics: []string{"clicks"}, Granularity: new("day"), Limit: new(int64(3))})
	first, err := s.Query(t.Context(), wks, query)
	if err != nil || first.Next() == "" {
		t.Fatalf("got %v, %q want a cursor", err, first.Next())
	}
	cursor := new(first.Next())
	bare, err := s.Query(t.Context(), wks, &Query{Cursor: cursor, Limit: new(int64(4))})
	if err != nil || bare.Next() != "" || len(bare.rows) != 4 {
		t.Fatalf("got %v, %d rows want the other 4", err, len(bare.rows))
	}
	again := *query
	again.Limit, again.Cursor = new(int64(2)), cursor
	if same, err := s.Query(t.Context(), wks, &again); err != nil || len(same.rows) != 2 {
		t.Errorf("the same query with another limit: got %v", err)
	}
	other := *query
	other.Metrics, other.Cursor = []string{"spend"}, cursor
	if _, err := s.Query(t.Context(), wks, &other); cursorCode(err) != "cursor_query_mismatch" {
		t.Errorf("another query: got %v", err)
	}
	foreign := Workspace{ID: ident.Make(ident.Workspace, noon, 99), Timezone: "UTC", Currency: "EUR"}
	if _, err := s.Query(t.Context(), foreign, &Query{Cursor: cursor}); cursorCode(err) != "cursor_malformed" {
		t.Errorf("another workspace: got %v", err)
	}
	if _, err := s.Report(t.Context(), wks, &Params{Kind: KindCampaigns, Cursor: cursor}); cursorCode(err) != "cursor_malformed" {
		t.Errorf("another operation: got %v", err)
	}
	for _, broken := range []string{"", "x", *cursor + "00", s.Seal(wks.ID, []byte("\nres_1\n-1\nx"))} {
		if _, err := s.Query(t.Context(), wks, &Query{Cursor: &broken}); cursorCode(err) == "" || !fault.Is(err, fault.InvalidCursor) && broken != *cursor+"00" {
			t.Errorf("%q: got %v want invalid_cursor", broken, err)
		}
	}
	if _, err := s.Query(t.Context(), wks, &Query{Cursor: cursor, Limit: new(int64(0))}); !fault.Is(err, fault.ValidationFailed) {
		t.Errorf("limit 0: got %v want validation_failed", err)
	}
	m.now = m.now.Add(resultTTL)
	if _, err := s.Query(t.Context(), wks, &Query{Cursor: cursor}); cursorCode(err) != "cursor_expired" {
		t.Errorf("expired: got %v", err)
	}
	if k := m.stored[first.storedID(t, s)]; k.ExpiresAt != clock.At(noon.Add(15*time.Minute)) || len(k.Rows) != 7 {
		t.Errorf("got %+v want 7 rows for 15 minutes", k)
	}
}

// storedID is the id of the result behind an answer's cursor.
func (a *Answer) storedID(t *testing.T, s *Service) ident.ID {
	t.Helper()
	plain, _ := s.Open(wks.ID, a.next)
	mark, ok := parseCursorState(plain)
	if !ok {
		t.Fatalf("got %q want a bookmark", plain)
	}
	return mark.id
}

// TestCatchUpForRecords wants the mirror of records to be updated for queries
// that use records, and only for them: the update waits for writes of others.
func TestCatchUpForRecords(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		caughtUp := 0
		s := smallFacts(t).service()
		s.Catchup = func(context.Context, ident.ID) error { caughtUp++; return nil }
		campaigns := &Filter{Field: "campaign_status", Op: string(Equal), Values: []Scalar{{Text: "active"}}}
		for _, tt := range []struct {
			query Query
			want  int
		}{
			{Query{Metrics: []string{"spend"}}, 0},
			{Query{Metrics: []string{"spend"}, Dimensions: []string{"channel", "connection_id"}}, 0},
			{Query{Metrics: []string{"spend"}, Dimensions: []string{"creative_id"}}, 1},
			{Query{Metrics: []string{"spend"}, Dimensions: []string{"tag"}}, 1},
			{Query{Metrics: []string{"spend"}, Filters: &Filter{Not: campaigns}}, 1},
		} {
			caughtUp = 0
			if _, err := s.Query(t.Context(), wks, october(tt.query)); err != nil || caughtUp != tt.want {
				t.Errorf("%+v: got %d updates, %v want %d", tt.query, caughtUp, err, tt.want)
			}
		}
		s.Catchup = func(ctx context.Context, _ ident.ID) error {
			<-ctx.Done()
			return ctx.Err()
		}
		if _, err := s.Query(t.Context(), wks, october(Query{Metrics: []string{"spend"}, Dimensions: []string{"campaign_id"}})); !fault.Is(err, fault.Unavailable) {
			t.Errorf("behind a write that does not end: got %v want unavailable", err)
		}
	})
}
