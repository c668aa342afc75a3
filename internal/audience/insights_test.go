package audience_test

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"testing"
	"time"

	"fanfare/internal/analytics"
	"fanfare/internal/audience"
	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/store/storetest"
)

// fakeFacts has the facts of each audience.
type fakeFacts struct {
	known map[ident.ID]*analytics.AudienceFacts
	asked []string
	err   error
}

// AudienceInsights implements audience.Facts.
func (r *fakeFacts) AudienceInsights(_ context.Context, workspace, id ident.ID, baseline string, first, last clock.Date) (*analytics.AudienceFacts, error) {
	r.asked = append(r.asked, fmt.Sprint(workspace, " ", baseline, " ", first, " ", last))
	if r.known[id] == nil {
		return &analytics.AudienceFacts{Warnings: []analytics.Warning{{Code: analytics.NoFacts, Message: "No platform has reported metrics for this audience in the period."}}}, r.err
	}
	return r.known[id], r.err
}

// withFakeFacts returns a service with fake facts.
func withFakeFacts(c *fixture) *fakeFacts {
	r := &fakeFacts{known: map[ident.ID]*analytics.AudienceFacts{}}
	c.Audiences = audience.New(c.DB.Audiences(), r, c.Clock.Now, rand.Reader)
	return r
}

// insights asks for insights without parameters.
func insights(c *fixture, id string) *storetest.Answer {
	return insightsOf(c, id, audience.InsightsRequest{Timezone: "UTC"})
}

func insightsOf(c *fixture, id string, r audience.InsightsRequest) *storetest.Answer {
	return c.Encoded(c.Audiences.Insights(c.T.Context(), c.Workspace, ident.ID(id), r))
}

// at parses an instant.
func at(t testing.TB, text string) *clock.Instant {
	t.Helper()
	i, ok := clock.Parse(text)
	if !ok {
		t.Fatalf("%q is no instant", text)
	}
	return &i
}

// TestInsightsRules checks the period, the baseline, and that all problems are
// reported at once. It is noon of 2026-11-15 in UTC.
func TestInsightsRules(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	withFakeFacts(c)
	id, foreign, gone := list(c), list(c.another()), "aud_01h455vb4pex5vsknk084sn02q"
	for name, tt := range map[string]struct {
		zone, from, until string
		want              string
	}{
		"default":              {want: "2026-10-16 2026-11-14"},
		"yesterday elsewhere":  {zone: "Pacific/Kiritimati", want: "2026-10-17 2026-11-15"},
		"an end":               {until: "2026-11-03T00:00:00Z", want: "2026-10-04 2026-11-02"},
		"an end within a day":  {until: "2026-11-03T08:00:00Z", want: "2026-10-05 2026-11-03"},
		"a start":              {from: "2026-11-14T23:59:59Z", want: "2026-11-14 2026-11-14"},
		"both":                 {from: "2026-11-01T00:00:00Z", until: "2026-11-03T00:00:00Z", want: "2026-11-01 2026-11-02"},
		"an empty period":      {from: "2026-11-01T00:00:00Z", until: "2026-11-01T00:00:00Z", want: "2026-11-01 2026-11-01"},
		"days of another zone": {zone: "Asia/Tokyo", from: "2026-11-01T15:00:00Z", until: "2026-11-02T15:00:00Z", want: "2026-11-02 2026-11-02"},
	} {
		r := audience.InsightsRequest{Timezone: cmp.Or(tt.zone, "UTC")}
		if tt.from != "" {
			r.From = at(t, tt.from)
		}
		if tt.until != "" {
			r.Until = at(t, tt.until)
		}
		period := insightsOf(c, id, r).OK().Record()["period"].(map[string]any)
		want(t, name, tt.want, fmt.Sprint(period["start_date"], " ", period["end_date"]))
	}
	late := at(t, "2026-11-15T00:00:00Z")
	unread := []fault.Detail{{Field: "end_date", In: "query", Code: "invalid_format", Message: "end_date is wrong."}}
	for name, tt := range map[string]struct {
		r    audience.InsightsRequest
		want []string
	}{
		"a start after the default end":  {audience.InsightsRequest{Timezone: "UTC", From: late}, []string{"start_date invalid_range"}},
		"a baseline that does not exist": {audience.InsightsRequest{Timezone: "UTC", Baseline: &gone}, []string{"baseline invalid_value"}},
		"one of another workspace":       {audience.InsightsRequest{Timezone: "UTC", Baseline: &foreign}, []string{"baseline invalid_value"}},
		"an empty one":                   {audience.InsightsRequest{Timezone: "UTC", Baseline: new("")}, []string{"baseline invalid_value"}},
		"both":                           {audience.InsightsRequest{Timezone: "UTC", From: late, Baseline: &gone}, []string{"start_date invalid_range", "baseline invalid_value"}},
		"beside what could not be read":  {audience.InsightsRequest{Timezone: "Mars/Olympus", From: late, Baseline: &gone, Problems: unread}, []string{"end_date invalid_format", "baseline invalid_value"}},
	} {
		var got []string
		for _, d := range insightsOf(c, id, tt.r).Fault(fault.InvalidParameter).Details {
			got = append(got, d.Field+" "+d.Code)
		}
		want(t, name, tt.want, got)
		insightsOf(c, gone, tt.r).Fault(fault.NotFound)
	}
}

// TestInsights reads the insights of a customer list.
func TestInsights(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	withFakeFacts(c)
	id, other := list(c), list(c)
	change(c, id, hashes(0, 200), nil).OK()
	change(c, other, hashes(150, 250), nil).OK()
	campaign := newCampaign(c, "For them", id).OK().ID()
	got := insights(c, id).Record()
	want(t, "overlap", []any{map[string]any{"audience_id": other, "name": "List", "shared": 50.0, "share_of_this": 0.25, "jaccard": 0.2}}, got["overlap"])
	want(t, "campaigns", []any{map[string]any{"campaign_id": campaign, "name": "For them", "spend": nil, "conversions": nil}}, got["campaigns"])
	want(t, "size", 200.0, got["size"].(map[string]any)["estimate"])
	want(t, "as_of", "2026-11-15T12:00:00.000Z", got["as_of"])
	want(t, "baseline", "workspace", got["baseline"])
	want(t, "period", map[string]any{"start_date": "2026-10-16", "end_date": "2026-11-14"}, got["period"])
	want(t, "warnings", []any{"no_facts"}, []any{got["warnings"].([]any)[0].(map[string]any)["code"]})
}

// TestInsightsMetrics checks that insights return the exact numbers of the
// facts.
func TestInsightsMetrics(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	r := withFakeFacts(c)
	id := list(c)
	part := []analytics.Part{{Value: "x", Impressions: 10, Share: fact.Millionths(333_333), Index: fact.Whole(120)}, {Value: "y", Share: fact.Millionths(0)}}
	ratio, half := fact.Millionths(25_000), fact.Millionths(500_000)
	r.known[ident.ID(id)] = &analytics.AudienceFacts{
		Trend:       []analytics.TrendDay{{Date: clock.MakeDate(2026, 11, 1), Impressions: fact.Whole(10), Conversions: half, Spend: fact.Millionths(1_230_000)}},
		Composition: analytics.Composition{AgeRange: part, Gender: part, Country: part, Device: part},
		ByChannel:   []analytics.ChannelMetrics{{Channel: "social", Metrics: map[string]fact.Number{"ctr": ratio, "cpa": {}}, Index: fact.Millionths(99_500_000)}},
		Performance: analytics.Performance{
			Metrics: map[string]fact.Number{"spend": fact.Millionths(1_230_000), "clicks": fact.Whole(4)}, VersusWorkspace: map[string]fact.Number{"ctr": fact.Millionths(1_100_000)},
		},
		BestTimes:    []analytics.WeekdayIndex{{Weekday: "monday", Index: fact.Whole(130)}, {Weekday: "sunday"}},
		TopCreatives: []analytics.CreativeMetrics{{CreativeID: "crv_1", Name: "Tea", CTR: ratio, Conversions: half}},
		Warnings:     []analytics.Warning{{Code: "missing_rate", Message: "No rate."}},
	}
	got := insightsOf(c, id, audience.InsightsRequest{Timezone: "UTC", From: at(t, "2026-11-01T00:00:00Z"), Until: at(t, "2026-11-03T00:00:00Z"), Baseline: &id}).OK().Record()
	parts := []any{
		map[string]any{"value": "x", "impressions": 10.0, "share": 0.333333, "index": 120.0},
		map[string]any{"value": "y", "impressions": 0.0, "share": 0.0, "index": nil},
	}
	for member, wanted := range map[string]any{
		"trend":         []any{map[string]any{"date": "2026-11-01", "impressions": 10.0, "clicks": nil, "conversions": 0.5, "spend": 1.23}},
		"composition":   map[string]any{"age_range": parts, "gender": parts, "country": parts, "device": parts},
		"by_channel":    []any{map[string]any{"channel": "social", "metrics": map[string]any{"ctr": 0.025, "cpa": nil}, "index": 99.5}},
		"performance":   map[string]any{"metrics": map[string]any{"spend": 1.23, "clicks": 4.0}, "versus_workspace": map[string]any{"ctr": 1.1}},
		"best_times":    []any{map[string]any{"weekday": "monday", "index": 130.0}, map[string]any{"weekday": "sunday", "index": nil}},
		"top_creatives": []any{map[string]any{"creative_id": "crv_1", "name": "Tea", "ctr": 0.025, "cvr": nil, "conversions": 0.5}},
		"campaigns":     []any{},
		"warnings":      []any{map[string]any{"code": "missing_rate", "message": "No rate."}},
	} {
		want(t, member, wanted, got[member])
	}
	want(t, "what was asked", []string{fmt.Sprint(c.Workspace, " ", id, " 2026-11-01 2026-11-02")}, r.asked)
	r.err = errors.New("out of reach")
	if res := insights(c, id); !errors.Is(res.Err, r.err) {
		t.Errorf("got %v want %v", res.Err, r.err)
	}
}

// TestInsightsWarnings checks the warnings about missing data.
func TestInsightsWarnings(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	r := withFakeFacts(c)
	id := list(c)
	for name, tt := range map[string]struct {
		found *analytics.AudienceFacts
		want  []any
	}{
		"no facts": {nil, []any{map[string]any{"code": "no_facts", "message": "No platform has reported metrics for this audience in the period."}}},
		"some": {
			&analytics.AudienceFacts{Warnings: []analytics.Warning{{Code: "no_breakdown", Message: "m", Dimension: "device"}, {Code: "non_additive", Message: "n"}}},
			[]any{map[string]any{"code": "no_breakdown", "message": "m"}, map[string]any{"code": "non_additive", "message": "n"}},
		},
		"all": {&analytics.AudienceFacts{}, []any{}},
	} {
		r.known[ident.ID(id)] = tt.found
		want(t, name, any(tt.want), insights(c, id).OK().Record()["warnings"])
	}
}

// TestInsightsListCampaigns checks that campaigns with metrics come first, each
// once, up to the maximum.
func TestInsightsListCampaigns(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	r := withFakeFacts(c)
	id := list(c)
	var meant []string
	for i := range 3 {
		c.Clock.Advance(time.Millisecond)
		meant = append(meant, newCampaign(c, fmt.Sprint("Meant ", i), id).OK().ID())
	}
	names := func() (list []string) {
		for _, entry := range insights(c, id).OK().Record()["campaigns"].([]any) {
			e := entry.(map[string]any)
			list = append(list, fmt.Sprint(e["name"], " ", e["spend"], " ", e["conversions"]))
		}
		return list
	}
	want(t, "without facts", []string{"Meant 2 <nil> <nil>", "Meant 1 <nil> <nil>", "Meant 0 <nil> <nil>"}, names())
	told := []analytics.CampaignMetrics{
		{CampaignID: "cmp_1", Name: "Another", Spend: fact.Millionths(7_500_000), Conversions: fact.Millionths(2_000_000)},
		{CampaignID: ident.ID(meant[1]), Name: "Meant 1", Spend: fact.Millionths(5_000_000)},
	}
	r.known[ident.ID(id)] = &analytics.AudienceFacts{Campaigns: told}
	want(t, "with facts", []string{"Another 7.5 2", "Meant 1 5 <nil>", "Meant 2 <nil> <nil>", "Meant 0 <nil> <nil>"}, names())
	for i := range 17 {
		told = append(told, analytics.CampaignMetrics{CampaignID: ident.ID(fmt.Sprint("cmp_x", i)), Name: fmt.Sprint("Other ", i), Spend: fact.Whole(1)})
	}
	r.known[ident.ID(id)].Campaigns = told
	got := names()
	want(t, "the last of many", []any{20, "Meant 2 <nil> <nil>"}, []any{len(got), got[len(got)-1]})
}
