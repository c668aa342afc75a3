package metrics_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/ident"
	"fanfare/internal/metrics"
	"fanfare/internal/metrics/metricstest"
)

const workspace = ident.ID("wks_1")

var (
	monday  = clock.MakeDate(2026, 11, 16)
	shoes   = &fact.Source{Connection: "con_1", Platform: "meta_ads", Account: "shoes", Currency: "USD", Zone: "UTC"}
	jackets = &fact.Source{Connection: "con_1", Platform: "meta_ads", Account: "jackets", Currency: "USD", Zone: "UTC"}
	other   = &fact.Source{Connection: "con_2", Platform: "tiktok_ads", Account: "shoes", Currency: "USD", Zone: "UTC"}
)

func row(s *fact.Source, family fact.Family, day clock.Date, device string, clicks int64) fact.Row {
	r := fact.Row{Source: s, Family: family, Date: day, Channel: "social", Device: device}
	r.Values.Set(fact.Clicks, clicks)
	return r
}

func newConnections(t *testing.T) metrics.Connections {
	t.Helper()
	c := metrics.Connections{Engine: metricstest.NewNaive()}
	err := c.Write(t.Context(), &fact.Batch{Workspace: workspace, Rows: []fact.Row{
		row(shoes, fact.Base, monday, "", 3), row(shoes, fact.Base, monday+1, "", 4), row(shoes, fact.Device, monday, "mobile", 50),
		row(jackets, fact.Base, monday, "", 600), row(other, fact.Base, monday, "", 7000),
	}})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func clicks(t *testing.T, c metrics.Connections, s *fact.Source) map[clock.Date]int64 {
	t.Helper()
	totals, err := c.Totals(t.Context(), workspace, s, monday, monday+6)
	if err != nil {
		t.Fatal(err)
	}
	found := map[clock.Date]int64{}
	for day, v := range totals {
		n, known := v.Get(fact.Clicks)
		if _, spend := v.Get(fact.Spend); !known || spend {
			t.Errorf("%s: got %+v want clicks and no spend", day, v)
		}
		found[day] = n
	}
	return found
}

func want[T any](t *testing.T, what string, want, got T) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s differs (-want +got):\n%s", what, diff)
	}
}

// TestTotals wants the base family of one account alone.
func TestTotals(t *testing.T) {
	t.Parallel()
	c := newConnections(t)
	want(t, "shoes", map[clock.Date]int64{monday: 3, monday + 1: 4}, clicks(t, c, shoes))
	want(t, "jackets", map[clock.Date]int64{monday: 600}, clicks(t, c, jackets))
}

// TestErase wants all families and accounts of a connection gone, and nothing
// else.
func TestErase(t *testing.T) {
	t.Parallel()
	c := newConnections(t)
	for range 2 {
		if err := c.Erase(t.Context(), workspace, "con_1"); err != nil {
			t.Fatal(err)
		}
	}
	want(t, "shoes", map[clock.Date]int64{}, clicks(t, c, shoes))
	want(t, "jackets", map[clock.Date]int64{}, clicks(t, c, jackets))
	want(t, "another connection", map[clock.Date]int64{monday: 7000}, clicks(t, c, other))
	if err := c.Erase(t.Context(), workspace, "con_unknown"); err != nil {
		t.Fatal(err)
	}
}

// eventLog has one record, or none, and counts how often it is read.
type eventLog struct {
	news    fact.EventCount
	record  fact.Record
	none    bool
	changed int
}

func (l *eventLog) EventCount(context.Context, ident.ID, clock.Instant) (fact.EventCount, error) {
	return l.news, nil
}

func (l *eventLog) Changed(context.Context, ident.ID, clock.Instant) ([]fact.Record, error) {
	l.changed++
	if l.none {
		return nil, nil
	}
	return []fact.Record{l.record}, nil
}

// TestCatchUp wants records copied when there are events, and only then.
func TestCatchUp(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, time.November, 16, 12, 0, 0, 0, time.UTC)
	log := &eventLog{news: fact.EventCount{Events: 1, Last: "evt_1"}, record: fact.Record{ID: "cmp_1", Kind: fact.KindCampaign, Name: "Shoes"}}
	engine := metricstest.NewNaive()
	m := metrics.NewMirror(engine, log, func() time.Time { return now })
	catchUp := func(changed int) {
		t.Helper()
		if err := m.CatchUp(t.Context(), workspace); err != nil {
			t.Fatal(err)
		}
		want(t, "reads of records", changed, log.changed)
	}
	catchUp(1)
	state, err := engine.State(t.Context(), workspace)
	if err != nil {
		t.Fatal(err)
	}
	want(t, "copied through", clock.At(now), state.Mirrored)
	catchUp(1)
	log.news = fact.EventCount{Events: 2, Last: "evt_2"}
	catchUp(2)
	catchUp(2)
	// Events that are not about records need no write, which could have to wait,
	// unless they are many.
	log.none = true
	for i, written := range []bool{false, false, true} {
		log.news.Events += 400
		now = now.Add(time.Minute)
		catchUp(3 + i)
		catchUp(3 + i)
		if state, err = engine.State(t.Context(), workspace); err != nil || (state.Mirrored == clock.At(now)) != written {
			t.Errorf("after %d events: copied through %v at %v, %v", log.news.Events, state.Mirrored, now, err)
		}
	}
	log.none = false
	// Another process has copied since.
	if err := engine.Mirror(t.Context(), workspace, nil, clock.At(now.Add(time.Hour))); err != nil {
		t.Fatal(err)
	}
	catchUp(6)
}
