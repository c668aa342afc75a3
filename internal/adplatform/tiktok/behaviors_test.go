package tiktok_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"fanfare/internal/adplatform/sandbox"
	"fanfare/internal/clock"
	"fanfare/internal/connection"
	"fanfare/internal/fact"
)

// turnOn turns a switch on, for all accounts.
func (w *testSandbox) turnOn(t *testing.T, name, value string) {
	t.Helper()
	w.turnOnFor(t, "", name, value)
}

func (w *testSandbox) turnOnFor(t *testing.T, account, name, value string) {
	t.Helper()
	if err := w.server.TurnOn(sandbox.BehaviorRule{Platform: sandbox.TikTokAds, Account: account, Switch: name, Value: value}); err != nil {
		t.Fatal(err)
	}
}

// readAll reads a report of the last days without help of the caller, and its
// notes.
func (w *testSandbox) readAll(t *testing.T, q connection.Report, days clock.Date) ([]fact.Row, []connection.Note, error) {
	t.Helper()
	today := w.server.Today(w.account)
	rows, notes := []fact.Row{}, []connection.Note{}
	q.Account, q.First, q.Last = w.account.ID, today-days+1, today
	q.Note = func(n connection.Note) { notes = append(notes, n) }
	err := w.client.Report(t.Context(), w.access, q, func(some []fact.Row) error {
		rows = append(rows, some...)
		return nil
	})
	return rows, notes, err
}

// sumOf adds up rows. Reach cannot be added.
func sumOf(rows []fact.Row) (sum fact.Values) {
	for i := range rows {
		for m := range fact.Measure(fact.NumMeasures) {
			if n, known := rows[i].Values.Get(m); known && m != fact.Reach {
				sum.Set(m, sum.V[m]+n)
			}
		}
	}
	return sum
}

// truth returns the true totals of the last days in a family.
func (w *testSandbox) truth(family fact.Family, days clock.Date) (sum fact.Values) {
	today := w.server.Today(w.account)
	for _, d := range w.server.Truth(w.account, today-days+1, today).Families[family.String()] {
		for m, n := range map[fact.Measure]*int64{
			fact.Impressions: d.Impressions, fact.Clicks: d.Clicks, fact.Spend: d.SpendMicros, fact.Conversions: d.ConversionsMicros, fact.Revenue: d.RevenueMicros,
			fact.Engagements: d.Engagements, fact.VideoViews: d.VideoViews, fact.VideoCompletions: d.VideoCompletions,
		} {
			if n != nil {
				sum.Set(m, sum.V[m]+*n)
			}
		}
	}
	return sum
}

// truthOfAds returns the totals of all ads, without what belongs to no ad.
func (w *testSandbox) truthOfAds(days clock.Date) fact.Values {
	today := w.server.Today(w.account)
	rows := []fact.Row{}
	for r := range w.server.Rows(w.account, sandbox.ByAd, today-days+1, today) {
		rows = append(rows, fact.Row{Values: r.Values})
	}
	return sumOf(rows)
}

var basicMeasures = []fact.Measure{fact.Impressions, fact.Clicks, fact.Spend}

// TestReportsAreComplete checks that no level loses anything, whatever TikTok
// leaves out by itself.
func TestReportsAreComplete(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, value string
		scale       int
		days        clock.Date
		// basic is set if only the basic metrics of campaigns and ads exist.
		basic bool
	}{
		{"deleted_hidden", "", 1, 20, false},
		{"reservation_spend", "rf", 1, 20, false},
		{"reservation_spend", "top_view", 1, 20, false},
		{"reservation_spend", "account", 1, 20, true},
		{"promote_hidden", "", 1, 20, false},
		{"three_legs", "", 1, 20, false},
		{"smart_plus", "", 1, 20, false},
		{"total_drift", "", 6, 30, false},
		{"cap_10000_ads", "5", 3, 5, false},
		{"cap_10000_ads", "3", 1, 5, false},
		{"too_large_40067", "2", 3, 1, false},
	} {
		t.Run(test.name+test.value, func(t *testing.T) {
			t.Parallel()
			w := newSandbox(t, test.scale)
			w.turnOn(t, test.name, test.value)
			entities, err := w.client.Entities(t.Context(), w.access, w.account.ID)
			if err != nil {
				t.Fatal(err)
			}
			for _, level := range w.client.About().Levels {
				family := connection.Families[level]
				if test.name == "total_drift" && family != fact.Base || test.basic && family != fact.Base {
					continue // reports by audience have no total to compare with
				}
				rows, _, err := w.readAll(t, connection.Report{Level: level, Entities: entities}, test.days)
				if err != nil {
					t.Fatalf("level %d: %v", level, err)
				}
				want := w.truth(family, test.days)
				if level == connection.LevelAd {
					want = w.truthOfAds(test.days)
				}
				w.compareSums(t, level, sumOf(rows), want, test.basic)
			}
		})
	}
}

func (w *testSandbox) compareSums(t *testing.T, level connection.Level, got, want fact.Values, basic bool) {
	t.Helper()
	for m := range fact.Measure(fact.NumMeasures) {
		n, known := want.Get(m)
		if !known || basic && !slices.Contains(basicMeasures, m) {
			continue
		}
		if x, there := got.Get(m); !there || x != n || n == 0 {
			t.Errorf("level %d: got %d (%v) %s want %d", level, x, there, m, n)
		}
	}
}

// TestHiddenCampaigns checks that campaigns that TikTok does not list by itself
// are listed, and are not called gone.
func TestHiddenCampaigns(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, value string }{{"reservation_spend", "top_view"}, {"promote_hidden", ""}, {"deleted_hidden", ""}} {
		w := newSandbox(t, 1)
		w.turnOn(t, test.name, test.value)
		got, err := w.client.Entities(t.Context(), w.access, w.account.ID)
		if err != nil || len(got.Campaigns) != len(w.account.Campaigns) {
			t.Fatalf("%s: got %d campaigns (%v) want %d", test.name, len(got.Campaigns), err, len(w.account.Campaigns))
		}
		ads := 0
		for _, c := range w.account.Campaigns {
			for _, g := range c.Groups {
				ads += len(g.Ads)
			}
			observed, err := w.client.Status(t.Context(), w.access, w.account.ID, c.ID)
			if deleted := test.name == "deleted_hidden" && c == w.account.Campaigns[1]; deleted != (connection.ClassOf(err) == connection.Gone && err != nil) || !deleted && !observed.Runs {
				t.Errorf("%s: got %+v, %v for %s", test.name, observed, err, c.Name)
			}
		}
		if len(got.Ads) != ads {
			t.Errorf("%s: got %d ads want %d", test.name, len(got.Ads), ads)
		}
		for _, x := range got.Campaigns {
			if x.Runs == (x.Status == "DELETE") || x.Deleted != (x.Status == "DELETE") {
				t.Errorf("%s: got %+v", test.name, x)
			}
		}
	}
}

// TestNamesFromReport checks that rows have names although no list has them.
func TestNamesFromReport(t *testing.T) {
	t.Parallel()
	w := newSandbox(t, 1)
	w.turnOn(t, "deleted_hidden", "")
	names := map[string]string{}
	for _, c := range w.account.Campaigns {
		names[c.ID] = c.Name
		for _, g := range c.Groups {
			for _, ad := range g.Ads {
				names[ad.ID] = ad.Name
			}
		}
	}
	for _, level := range []connection.Level{connection.LevelCampaign, connection.LevelAd, connection.LevelGeo} {
		rows, _, err := w.readAll(t, connection.Report{Level: level}, 3)
		if err != nil || len(rows) == 0 {
			t.Fatalf("got %d rows (%v)", len(rows), err)
		}
		for _, r := range rows {
			if r.Campaign.Name != names[r.Campaign.ExternalID] || r.Campaign.Name == "" || r.Creative.Name != names[r.Creative.ExternalID] {
				t.Errorf("level %d: got %+v and %+v", level, r.Campaign, r.Creative)
			}
		}
	}
}

// TestChosenConversions checks that chosen events add up their metrics of apps,
// website and shop, and that breakdowns say that they do not have them.
func TestChosenConversions(t *testing.T) {
	t.Parallel()
	w := newSandbox(t, 1)
	w.turnOn(t, "three_legs", "")
	want := w.truth(fact.Base, 20).V[fact.Conversions]
	parts := int64(0)
	for _, events := range [][]string{{"purchase"}, nil, {"complete_payment"}, {"total_purchase"}, {"onsite_shopping"}, {"purchase", "complete_payment"}} {
		rows, notes, err := w.readAll(t, connection.Report{Level: connection.LevelCampaign, Conversions: events}, 20)
		if err != nil || len(notes) > 0 {
			t.Fatalf("%v: got %v, %v", events, notes, err)
		}
		got := sumOf(rows).V[fact.Conversions]
		if part := len(events) == 1 && events[0] != "purchase"; part {
			parts += got
			if got == 0 || got == want {
				t.Errorf("%v: got %d, want a part of %d", events, got, want)
			}
		} else if got != want {
			t.Errorf("%v: got %d want %d", events, got, want)
		}
	}
	if parts != want {
		t.Errorf("got %d in parts want %d", parts, want)
	}
	rows, notes, err := w.readAll(t, connection.Report{Level: connection.LevelGeo, Conversions: []string{"purchase"}}, 3)
	if err != nil || len(rows) == 0 || len(notes) != 1 || notes[0].Code != connection.NoteNotIncluded || notes[0].Measure != fact.Conversions {
		t.Fatalf("got %d rows, %+v, %v, want a note about conversions", len(rows), notes, err)
	}
	if _, known := rows[0].Values.Get(fact.Conversions); known {
		t.Error("got conversions, want them unknown")
	}
}

// TestGMVMax checks that a report says what GMV Max campaigns spent.
func TestGMVMax(t *testing.T) {
	t.Parallel()
	w := newSandbox(t, 1)
	if _, notes, err := w.readAll(t, connection.Report{Level: connection.LevelCampaign}, 20); err != nil || len(notes) != 0 {
		t.Errorf("got %+v, %v, want no notes without such campaigns", notes, err)
	}
	w.turnOn(t, "gmv_max_separate", "")
	rows, notes, err := w.readAll(t, connection.Report{Level: connection.LevelCampaign}, 20)
	if err != nil || len(notes) != 1 || notes[0].Code != connection.NoteExcluded || notes[0].Amount == nil || !strings.Contains(notes[0].Message, "GMV Max") {
		t.Fatalf("got %+v, %v, want a note with an amount", notes, err)
	}
	if got, want := sumOf(rows).V[fact.Spend]+*notes[0].Amount, w.truth(fact.Base, 20).V[fact.Spend]; got != want || *notes[0].Amount == 0 {
		t.Errorf("got %d with %d in the note, want %d", got, *notes[0].Amount, want)
	}
}

// TestSKAN checks that a report says how many conversions it leaves out.
func TestSKAN(t *testing.T) {
	t.Parallel()
	w := newSandbox(t, 1)
	w.turnOn(t, "skan_separate", "")
	rows, notes, err := w.readAll(t, connection.Report{Level: connection.LevelCampaign}, 20)
	if err != nil || len(notes) != 1 || notes[0].Code != connection.NoteExcluded || notes[0].Measure != fact.Conversions || notes[0].Amount == nil {
		t.Fatalf("got %+v, %v, want a note about conversions", notes, err)
	}
	if got, want := sumOf(rows).V[fact.Conversions]+*notes[0].Amount, w.truth(fact.Base, 20).V[fact.Conversions]; got != want || *notes[0].Amount == 0 {
		t.Errorf("got %d with %d in the note, want %d", got, *notes[0].Amount, want)
	}
	rows, notes, err = w.readAll(t, connection.Report{Level: connection.LevelCampaign, Conversions: []string{"conversion", "skan_conversion"}}, 20)
	if got, want := sumOf(rows).V[fact.Conversions], w.truth(fact.Base, 20).V[fact.Conversions]; err != nil || len(notes) != 0 || got != want {
		t.Errorf("chosen: got %d, %+v, %v, want %d", got, notes, err, want)
	}
}

// TestMetricRemoved checks that a metric that TikTok no longer has costs only
// what it counts.
func TestMetricRemoved(t *testing.T) {
	t.Parallel()
	w := newSandbox(t, 1)
	w.turnOn(t, "metric_removed", "total_onsite_shopping_value")
	rows, notes, err := w.readAll(t, connection.Report{Level: connection.LevelCampaign}, 10)
	if err != nil || len(notes) != 1 || notes[0].Measure != fact.Revenue || notes[0].Code != connection.NoteNotIncluded {
		t.Fatalf("got %+v, %v, want a note about revenue", notes, err)
	}
	w.compareSums(t, connection.LevelCampaign, sumOf(rows), w.truth(fact.Base, 10), false)
}

// TestRefusedParts checks that a refusal of special ads costs no others, and is
// told once.
func TestRefusedParts(t *testing.T) {
	t.Parallel()
	c := clientOf(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.RawQuery, "TOP_VIEW") || strings.Contains(r.URL.RawQuery, "TT_SHOP") || strings.Contains(r.URL.Path, "gmv_max") {
			fmt.Fprint(w, `{"code":40002,"message":"Not for this account."}`)
			return
		}
		fmt.Fprint(w, `{"code":0,"data":{"list":[{"dimensions":{"campaign_id":"1","ad_id":"2","stat_time_day":"2026-10-01 00:00:00"},"metrics":{"spend":"1.00"}}],"page_info":{"total_number":1,"total_page":1}}}`)
	})
	notes := []connection.Note{}
	for _, level := range []connection.Level{connection.LevelAd, connection.LevelCampaign} {
		rows := 0
		err := c.Report(t.Context(), connection.Credentials{}, connection.Report{Level: level, Note: func(n connection.Note) { notes = append(notes, n) }}, func(some []fact.Row) error {
			rows += len(some)
			return nil
		})
		if err != nil || rows != 1 {
			t.Errorf("got %d rows, %v, want the others", rows, err)
		}
	}
	if len(notes) != 1 || !strings.Contains(notes[0].Message, "TopView") {
		t.Errorf("got %+v, want one note", notes)
	}
}

// TestAttributionWindow checks that days are read again for as long as their
// conversions can change.
func TestAttributionWindow(t *testing.T) {
	t.Parallel()
	w := newSandbox(t, 1)
	deep := clock.Date(w.client.About().DeepDays)
	if deep <= 28 || deep > clock.Date(w.client.About().WindowDays) {
		t.Errorf("got %d days, want those of the longest window in one request", deep)
	}
	final := w.truth(fact.Base, deep)
	w.turnOn(t, sandbox.BehaviorMaturation, "28")
	rows, _, err := w.readAll(t, connection.Report{Level: connection.LevelAccount}, deep)
	if err != nil {
		t.Fatal(err)
	}
	w.compareSums(t, connection.LevelAccount, sumOf(rows), w.truth(fact.Base, deep), false)
	if sumOf(rows).V[fact.Conversions] >= final.V[fact.Conversions] {
		t.Error("conversions do not change")
	}
}
