package campaign_test

import (
	"errors"
	"testing"
	"time"

	"fanfare/internal/campaign"
	"fanfare/internal/clock"
	"fanfare/internal/fault"
)

// TestSpecRules reads bodies without a store: limits, choices, defaults and
// rules across fields.
func TestSpecRules(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		body string
		// want are fields and codes, in order.
		want [][2]string
	}{
		{`{"name":"One"}`, nil},
		{`{}`, [][2]string{{"name", "required"}}},
		{
			`{"name":"","channels":["nonsense"],"budget":{"type":"weekly","currency":"???"}}`,
			[][2]string{{"name", "too_short"}, {"channels[0]", "invalid_value"}, {"budget.type", "invalid_value"}, {"budget.currency", "invalid_value"}, {"budget.amount", "required"}},
		},
		{`{"name":"One","budget":{"type":"daily","amount":"5","daily_cap":"6"}}`, [][2]string{{"budget.daily_cap", "too_large"}}},
		{`{"name":"One","budget":{"type":"daily","amount":"5.001"}}`, [][2]string{{"budget.amount", "invalid_format"}}},
		{`{"name":"One","schedule":{"start_at":"2027-01-02T00:00:00Z","end_at":"2027-01-01T00:00:00Z"}}`, [][2]string{{"schedule.end_at", "invalid_value"}}},
		{`{"name":"One","schedule":{"timezone":"Mars/Olympus"}}`, [][2]string{{"schedule.timezone", "invalid_value"}}},
		{`{"name":"One","audience_ids":["aud_1"],"excluded_audience_ids":["aud_1"]}`, [][2]string{{"excluded_audience_ids[0]", "duplicate_item"}}},
		{`{"name":"One","status":"active"}`, [][2]string{{"status", "read_only"}}},
	} {
		_, err := campaign.ReadSpec([]byte(tt.body))
		var got [][2]string
		if f, ok := errors.AsType[*fault.Error](err); ok {
			for _, d := range f.Details {
				got = append(got, [2]string{d.Field, d.Code})
			}
		}
		want(t, tt.body, tt.want, got)
	}
	spec, err := campaign.ReadSpec([]byte(`{"name":"One","budget":{"type":"daily","amount":5},"experiment":{"split":"even","winner_metric":"ctr"},"tags":["A"]}`))
	if err != nil {
		t.Fatal(err)
	}
	want(t, "defaults", []any{"UTC", "USD", "even", int64(100), "a", campaign.DefaultAttribution},
		[]any{spec.Schedule.Timezone, string(spec.Budget.Currency), spec.Budget.Pacing, spec.Experiment.MinConversions, spec.Tags[0], spec.Attribution})
}

// TestFlight checks that the days of a flight are in the campaign's time zone
// and not before the launch.
func TestFlight(t *testing.T) {
	t.Parallel()
	at := func(day, hour int) *clock.Instant {
		i := clock.At(time.Date(2026, time.November, day, hour, 0, 0, 0, time.UTC))
		return &i
	}
	on := func(day int) *clock.Date {
		d := clock.MakeDate(2026, 11, day)
		return &d
	}
	for name, tt := range map[string]struct {
		start, end, launched *clock.Instant
		first, last          *clock.Date
	}{
		"open":             {},
		"planned":          {start: at(1, 20), end: at(5, 12), first: on(2), last: on(5)},
		"launched later":   {start: at(1, 12), launched: at(3, 12), first: on(3)},
		"launched before":  {start: at(4, 12), launched: at(3, 12), first: on(4)},
		"launched, no day": {launched: at(3, 12), first: on(3)},
	} {
		c := &campaign.Campaign{LaunchedAt: tt.launched, Spec: campaign.Spec{Schedule: campaign.Schedule{StartAt: tt.start, EndAt: tt.end, Timezone: "Asia/Tokyo"}}}
		first, last, err := c.Flight()
		if err != nil {
			t.Fatal(err)
		}
		want(t, name, []*clock.Date{tt.first, tt.last}, []*clock.Date{first, last})
	}
	c := &campaign.Campaign{Spec: campaign.Spec{Schedule: campaign.Schedule{Timezone: "Mars/Olympus"}}}
	if _, _, err := c.Flight(); err == nil {
		t.Error("got no error for an unknown zone")
	}
}
