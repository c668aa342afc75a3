package meta

import (
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"fanfare/internal/clock"
	"fanfare/internal/connection"
	"fanfare/internal/fact"
	"fanfare/internal/money"
)

const day = "2026-10-20"

// readPagesOf reads pages of a level and returns the values by row.
func readPagesOf(level connection.Level, all ...page[insight]) (map[string]map[string]int64, error) {
	date, _ := clock.ParseDate(day)
	found := map[string]map[string]int64{}
	r := newReportReader(connection.Report{Level: level, First: date, Last: date, Entities: &connection.Entities{
		Audiences: []connection.Entity{{External: "90", Name: "Hikers"}},
		Groups:    map[string]string{"10": "90", "11": "90"}, Results: []string{"omni_purchase"},
	}}, func(rows []fact.Row) error {
		for _, row := range rows {
			known := map[string]int64{}
			for m := range fact.Measure(fact.NumMeasures) {
				if n, ok := row.Values.Get(m); ok {
					known[m.String()] = n
				}
			}
			found[row.Campaign.ExternalID+row.Audience.Name+row.Device+row.AgeRange+row.Gender+row.Country] = known
		}
		return nil
	})
	check := &totalCheck{rows: map[rowKey]bool{}}
	for i := range all {
		if err := r.addPage(&all[i], check); err != nil {
			return found, err
		}
	}
	r.missing = check.missing()
	return found, r.finishReport()
}

func newPage(total string, rows ...insight) page[insight] {
	p := page[insight]{Data: rows}
	p.Summary.Impressions = total
	return p
}

func TestInconsistentPages(t *testing.T) {
	t.Parallel()
	one := insight{Date: day, Campaign: "1", Impressions: "5"}
	two := insight{Date: day, Campaign: "2", Impressions: "6"}
	other := insight{Date: day, Campaign: "1", Impressions: "7"}
	for name, test := range map[string]struct {
		pages []page[insight]
		want  connection.Class
	}{
		"whole":               {[]page[insight]{newPage("11", one), newPage("11", two)}, ""},
		"no total":            {[]page[insight]{newPage("", one), newPage("", two)}, ""},
		"total once":          {[]page[insight]{newPage("11", one), newPage("", two)}, ""},
		"empty":               {[]page[insight]{newPage("")}, ""},
		"a page twice":        {[]page[insight]{newPage("11", one), newPage("11", one), newPage("11", two)}, ""},
		"a row changed":       {[]page[insight]{newPage("", one), newPage("", other)}, connection.PagesDisagree},
		"total changed":       {[]page[insight]{newPage("11", one), newPage("12", two)}, connection.PagesDisagree},
		"a page is missing":   {[]page[insight]{newPage("11", one)}, ""},
		"a day nobody wanted": {[]page[insight]{newPage("", insight{Date: "2026-10-19", Impressions: "1"})}, connection.Transient},
		"no day":              {[]page[insight]{newPage("", insight{Impressions: "1"})}, connection.Transient},
		"no number":           {[]page[insight]{newPage("", insight{Date: day, Impressions: "many"})}, connection.Transient},
	} {
		_, err := readPagesOf(connection.LevelCampaign, test.pages...)
		if got := connection.ClassOf(err); (err != nil) != (test.want != "") || err != nil && got != test.want {
			t.Errorf("%s: got %v want %q", name, err, test.want)
		}
	}
}

func TestRowsAreAdded(t *testing.T) {
	t.Parallel()
	row := func(group, device, impressions string) insight {
		return insight{Date: day, Campaign: "1", Group: group, Device: device, Impressions: impressions}
	}
	got, err := readPagesOf(connection.LevelDevice,
		newPage("127", row("10", "iphone", "1"), row("11", "android_smartphone", "2"), row("10", "ipad", "4")),
		newPage("127", row("12", "iphone", "8"), row("11", "ipod", "16"), row("10", "smart_tv", "32"), row("10", "fridge", "64")))
	if err != nil {
		t.Fatal(err)
	}
	sums := map[string]int64{}
	for about, values := range got {
		sums[about] = values["impressions"]
	}
	want := map[string]int64{"1Hikersmobile": 19, "1Hikerstablet": 4, "1mobile": 8, "1Hikerstv": 32, "1Hikersother": 64}
	if !maps.Equal(sums, want) {
		t.Errorf("got %v want %v", sums, want)
	}
}

func TestBreakdowns(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		level connection.Level
		row   insight
		want  string
	}{
		{connection.LevelGeo, insight{Country: "DE"}, "DE"},
		{connection.LevelGeo, insight{Country: "unknown"}, ""},
		{connection.LevelDemographic, insight{Age: "65+", Gender: "female"}, "65+female"},
		{connection.LevelDemographic, insight{Age: "Unknown", Gender: "unknown"}, "unknownunknown"},
		{connection.LevelDemographic, insight{Age: "65-74", Gender: ""}, "unknownunknown"},
		{connection.LevelDevice, insight{Device: ""}, "unknown"},
		{connection.LevelDevice, insight{Device: "desktop"}, "desktop"},
		{connection.LevelDevice, insight{Device: "android_tablet"}, "tablet"},
		{connection.LevelDevice, insight{Device: "other"}, "other"},
	} {
		test.row.Date = day
		got, err := readPagesOf(test.level, newPage("", test.row))
		if _, ok := got[test.want]; err != nil || !ok {
			t.Errorf("%+v: got %v, %v want %q", test.row, got, err, test.want)
		}
	}
}

func TestValues(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		row  insight
		want map[string]int64
	}{
		"only what is there": {
			insight{Impressions: "10", Spend: "1.5"},
			map[string]int64{"impressions": 10, "spend": 1_500_000, "conversions": 0, "revenue": 0, "video_views": 0, "video_completions": 0},
		},
		"purchases overlap": {
			insight{
				Clicks: "3", Reach: "2", Engagements: "4",
				Actions: []action{{"link_click", "3"}, {"offsite_conversion.fb_pixel_purchase", "1"}, {"purchase", "2"}, {"omni_purchase", "3"}},
				Amounts: []action{{"offsite_conversion.fb_pixel_purchase", "10.10"}, {"purchase", "59.97000000001"}},
				Views:   []action{{"video_view", "7"}}, Completions: []action{{"video_view", "5"}},
			},
			map[string]int64{
				"clicks": 3, "reach": 2, "engagements": 4, "conversions": 3_000_000, "revenue": 59_970_000, "video_views": 7, "video_completions": 5,
			},
		},
	} {
		test.row.Date = day
		got, err := readPagesOf(connection.LevelAccount, newPage("", test.row))
		if diff := cmp.Diff(test.want, got[""]); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got)\n%s", name, err, diff)
		}
	}
}

func TestParseMetric(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		micros := rapid.Int64Range(0, fact.MaxValue).Draw(t, "micros")
		text := money.Amount{Micros: micros, Digits: 2}.String()
		if got, ok := parseMetric(fact.Spend, text); !ok || got != micros {
			t.Fatalf("%s: got %d, %v want %d", text, got, ok, micros)
		}
	})
	for _, text := range []string{"", "x", "1e3", "1,5", ".5", "1.", "99999999999999"} {
		if got, ok := parseMetric(fact.Spend, text); ok {
			t.Errorf("%q: got %d want a refusal", text, got)
		}
	}
}
