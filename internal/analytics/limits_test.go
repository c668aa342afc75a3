package analytics

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"fanfare/internal/fact"
	"fanfare/internal/fault"
)

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
		if _, err := m.service().run(t.Context(), wks, query); bound(err) != want {
			t.Errorf("got %v want query_too_broad with bound %s", err, want)
		}
	}
	m = newMemoryFacts()
	for i := range 91 {
		m.rows = append(m.rows, fact.Row{Source: metaAds, Date: day(t, "2026-10-01"), Channel: "social", Campaign: fact.Entity{ExternalID: fmt.Sprint(i)}})
	}
	long := &Query{Metrics: []string{"spend"}, Dimensions: []string{"campaign_id"}, Granularity: new("day"), Range: &Range{Preset: new("lifetime")}}
	if _, err := m.service().run(t.Context(), wks, long); bound(err) != "rows" {
		t.Errorf("got %v want query_too_broad with bound rows", err)
	}
	m.rows = []fact.Row{{Source: metaAds, Date: day(t, "2026-10-01"), Channel: "social"}, {Source: metaAds, Date: day(t, "2026-10-01"), Channel: "search"}}
	for i := range m.rows {
		m.rows[i].Values.Set(fact.Clicks, 5e18)
	}
	if _, err := m.service().run(t.Context(), wks, october(Query{Metrics: []string{"clicks"}, Dimensions: []string{"channel"}})); bound(err) != "magnitude" {
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
		if _, err := m.service().run(t.Context(), wks, october(Query{Metrics: []string{"spend"}})); bound(err) != "seconds" {
			t.Errorf("got %v want query_too_broad with bound seconds", err)
		}
		// A wait for other workspaces does not count.
		start := time.Now()
		m.begin = func(wait time.Duration) error {
			time.Sleep(wait)
			return nil
		}
		if _, err := m.service().run(t.Context(), wks, october(Query{Metrics: []string{"spend"}})); bound(err) != "seconds" || time.Since(start) != maxWait+queryTimeout {
			t.Errorf("got %v after %v want query_too_broad with bound seconds after 15s", err, time.Since(start))
		}
		busy := fault.New(fault.Unavailable, "busy")
		m.begin = func(time.Duration) error { return busy }
		if _, err := m.service().run(t.Context(), wks, october(Query{Metrics: []string{"spend"}})); !errors.Is(err, busy) {
			t.Errorf("got %v want %v", err, busy)
		}
		if _, err := m.service().Ranking(t.Context(), wks, "spend", nil, nil); !errors.Is(err, busy) {
			t.Errorf("ranking: got %v want %v", err, busy)
		}
		m.begin = nil
		hurried, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		if _, err := m.service().run(hurried, wks, october(Query{Metrics: []string{"spend"}})); !errors.Is(err, context.DeadlineExceeded) || bound(err) == "seconds" {
			t.Errorf("got %v want what the caller's context says", err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		if _, err := m.service().run(ctx, wks, october(Query{Metrics: []string{"spend"}})); !errors.Is(err, context.Canceled) || bound(err) == "seconds" {
			t.Errorf("got %v want what the caller's context says", err)
		}
	})
}
