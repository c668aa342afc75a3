package analytics

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"fanfare/internal/clock"
)

func TestPresets(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ now, zone, preset, first, last string }{
		{"2026-11-15T12:00:00Z", "UTC", "today", "2026-11-15", "2026-11-15"},
		{"2026-11-15T12:00:00Z", "UTC", "yesterday", "2026-11-14", "2026-11-14"},
		{"2026-11-15T12:00:00Z", "UTC", "last_7_days", "2026-11-08", "2026-11-14"},
		{"2026-11-15T12:00:00Z", "UTC", "last_14_days", "2026-11-01", "2026-11-14"},
		{"2026-11-15T12:00:00Z", "UTC", "last_28_days", "2026-10-18", "2026-11-14"},
		{"2026-11-15T12:00:00Z", "UTC", "last_30_days", "2026-10-16", "2026-11-14"},
		{"2026-11-15T12:00:00Z", "UTC", "last_90_days", "2026-08-17", "2026-11-14"},
		{"2026-11-15T12:00:00Z", "UTC", "this_week", "2026-11-09", "2026-11-15"},
		{"2026-11-16T00:00:00Z", "UTC", "this_week", "2026-11-16", "2026-11-16"},
		{"2026-11-15T12:00:00Z", "UTC", "this_month", "2026-11-01", "2026-11-15"},
		{"2026-11-15T12:00:00Z", "UTC", "this_quarter", "2026-10-01", "2026-11-15"},
		{"2026-11-15T12:00:00Z", "UTC", "this_year", "2026-01-01", "2026-11-15"},
		{"2026-11-15T12:00:00Z", "UTC", "last_week", "2026-11-02", "2026-11-08"},
		{"2026-11-15T12:00:00Z", "UTC", "last_month", "2026-10-01", "2026-10-31"},
		{"2026-11-15T12:00:00Z", "UTC", "last_quarter", "2026-07-01", "2026-09-30"},
		{"2026-11-15T12:00:00Z", "UTC", "last_year", "2025-01-01", "2025-12-31"},
		{"2026-11-15T12:00:00Z", "UTC", "lifetime", "2023-10-16", "2026-11-15"},
		// Year's end: the ISO week begins in the old year.
		{"2027-01-01T12:00:00Z", "UTC", "this_week", "2026-12-28", "2027-01-01"},
		{"2027-01-01T12:00:00Z", "UTC", "last_month", "2026-12-01", "2026-12-31"},
		{"2027-01-01T12:00:00Z", "UTC", "last_quarter", "2026-10-01", "2026-12-31"},
		{"2027-01-01T12:00:00Z", "UTC", "last_year", "2026-01-01", "2026-12-31"},
		{"2027-01-01T12:00:00Z", "UTC", "last_7_days", "2026-12-25", "2026-12-31"},
		// Leap years.
		{"2028-02-29T12:00:00Z", "UTC", "this_month", "2028-02-01", "2028-02-29"},
		{"2028-03-01T12:00:00Z", "UTC", "yesterday", "2028-02-29", "2028-02-29"},
		{"2028-03-31T12:00:00Z", "UTC", "last_month", "2028-02-01", "2028-02-29"},
		{"2026-03-31T12:00:00Z", "UTC", "lifetime", "2023-03-01", "2026-03-31"},
		{"2024-11-30T12:00:00Z", "UTC", "lifetime", "2021-11-01", "2024-11-30"},
		// The zone decides which day it is.
		{"2026-11-15T23:30:00Z", "Europe/Berlin", "today", "2026-11-16", "2026-11-16"},
		{"2026-11-15T04:30:00Z", "America/New_York", "today", "2026-11-14", "2026-11-14"},
		{"2026-12-31T10:30:00Z", "Pacific/Auckland", "this_year", "2026-01-01", "2026-12-31"},
		{"2026-12-31T11:30:00Z", "Pacific/Auckland", "this_year", "2027-01-01", "2027-01-01"},
		// Around changes of the clock days stay days.
		{"2026-10-25T00:30:00Z", "Europe/Berlin", "today", "2026-10-25", "2026-10-25"},
		{"2026-10-25T22:59:00Z", "Europe/Berlin", "today", "2026-10-25", "2026-10-25"},
		{"2026-10-25T23:00:00Z", "Europe/Berlin", "last_7_days", "2026-10-19", "2026-10-25"},
		{"2026-03-29T22:30:00Z", "Europe/Berlin", "yesterday", "2026-03-29", "2026-03-29"},
	} {
		t.Run(test.preset+" at "+test.now+" in "+test.zone, func(t *testing.T) {
			t.Parallel()
			now, err := time.Parse(time.RFC3339, test.now)
			if err != nil {
				t.Fatal(err)
			}
			r, problems := Resolve(&Query{Metrics: []string{"spend"}, Timezone: &test.zone, Range: &Range{Preset: &test.preset}}, wks, now)
			if problems != nil {
				t.Fatalf("got %v want no problems", problems)
			}
			if got := r.days.first.String() + " " + r.days.last.String(); got != test.first+" "+test.last {
				t.Errorf("got %s want %s %s", got, test.first, test.last)
			}
		})
	}
}

func TestCompareRanges(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name               string
		now                string
		preset, first, end string
		to                 string
		weekday            bool
		want               string
	}{
		{"fixed shifts by its length", "2026-11-15", "", "2026-10-01", "2026-10-31", "previous_period", false, "2026-08-31 2026-09-30"},
		{"one day", "2026-11-15", "", "2026-03-01", "2026-03-01", "previous_period", false, "2026-02-28 2026-02-28"},
		{"one day in a leap year", "2026-11-15", "", "2028-03-01", "2028-03-01", "previous_period", false, "2028-02-29 2028-02-29"},
		{"last 30 days", "2026-11-15", "last_30_days", "", "", "previous_period", false, "2026-09-16 2026-10-15"},
		{"yesterday", "2026-11-15", "yesterday", "", "", "previous_period", false, "2026-11-13 2026-11-13"},
		{"today", "2026-11-15", "today", "", "", "previous_period", false, "2026-11-14 2026-11-14"},
		{"this week keeps its elapsed days", "2026-11-18", "this_week", "", "", "previous_period", false, "2026-11-09 2026-11-11"},
		{"this month", "2026-11-15", "this_month", "", "", "previous_period", false, "2026-10-01 2026-10-15"},
		{"this month on the 31st keeps 31 days", "2026-03-31", "this_month", "", "", "previous_period", false, "2026-02-01 2026-03-03"},
		{"this month in January", "2027-01-10", "this_month", "", "", "previous_period", false, "2026-12-01 2026-12-10"},
		{"this quarter", "2026-11-15", "this_quarter", "", "", "previous_period", false, "2026-07-01 2026-08-15"},
		{"this year", "2028-03-01", "this_year", "", "", "previous_period", false, "2027-01-01 2027-03-02"},
		{"last week", "2026-11-15", "last_week", "", "", "previous_period", false, "2026-10-26 2026-11-01"},
		{"last month is the whole one before", "2026-04-15", "last_month", "", "", "previous_period", false, "2026-02-01 2026-02-28"},
		{"last quarter", "2026-04-15", "last_quarter", "", "", "previous_period", false, "2025-10-01 2025-12-31"},
		{"last year", "2026-04-15", "last_year", "", "", "previous_period", false, "2024-01-01 2024-12-31"},
		{"same dates a year before", "2026-11-15", "", "2026-10-01", "2026-10-31", "previous_year", false, "2025-10-01 2025-10-31"},
		{"29 February becomes 28", "2026-11-15", "", "2028-02-29", "2028-02-29", "previous_year", false, "2027-02-28 2027-02-28"},
		{"a year before a leap year's March", "2026-11-15", "", "2028-02-01", "2028-03-01", "previous_year", false, "2027-02-01 2027-03-01"},
		{"28 February stays 28", "2026-11-15", "", "2029-02-28", "2029-02-28", "previous_year", false, "2028-02-28 2028-02-28"},
		{"weekdays: length rounded up to weeks", "2026-11-15", "", "2026-10-01", "2026-10-30", "previous_period", true, "2026-08-27 2026-09-25"},
		{"weekdays: whole weeks stay", "2026-11-15", "last_28_days", "", "", "previous_period", true, "2026-09-20 2026-10-17"},
		{"weekdays: today", "2026-11-15", "today", "", "", "previous_period", true, "2026-11-08 2026-11-08"},
		{"weekdays: this month", "2026-11-15", "this_month", "", "", "previous_period", true, "2026-09-27 2026-10-11"},
		{"weekdays: a year is 52 weeks", "2026-11-15", "", "2026-11-02", "2026-11-08", "previous_year", true, "2025-11-03 2025-11-09"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			q := &Query{Metrics: []string{"spend"}, Range: &Range{Start: &test.first, End: &test.end}, Compare: &Compare{To: test.to, MatchWeekday: test.weekday}}
			if test.preset != "" {
				q.Range = &Range{Preset: &test.preset}
			}
			r, problems := Resolve(q, wks, day(t, test.now).Time())
			if problems != nil {
				t.Fatalf("got %v want no problems", problems)
			}
			if got := r.compare.days.first.String() + " " + r.compare.days.last.String(); got != test.want {
				t.Errorf("got %s want %s", got, test.want)
			}
		})
	}
}

func TestMatchWeekdayKeepsWeekdays(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		today := clock.Date(rapid.IntRange(20000, 22000).Draw(t, "today"))
		p := &presets[rapid.IntRange(0, len(presets)-1).Draw(t, "preset")]
		s := p.span(today)
		for _, other := range []span{previous(s, p, true), yearBefore(s, true)} {
			if other.first.Weekday() != s.first.Weekday() || other.days() != s.days() || other.first >= s.first {
				t.Fatalf("got %v for %v want the same weekdays and length, earlier", other, s)
			}
		}
		if s.last >= addMonths(s.first, MaxMonths) {
			t.Fatalf("got %v want at most %d months", s, MaxMonths)
		}
	})
}

func TestBuckets(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		g := rapid.SampledFrom(Granularities[1:]).Draw(t, "granularity")
		first := clock.Date(rapid.IntRange(18000, 22000).Draw(t, "first"))
		s := span{first, first + clock.Date(rapid.IntRange(0, 1100).Draw(t, "days"))}
		list := g.buckets(s)
		at := 0
		for d := s.first; d <= s.last; d++ {
			for at+1 < len(list) && list[at+1] <= d {
				at++
			}
			if g.start(d) != list[at] {
				t.Fatalf("%s is in bucket %s, got %s in the list", d, g.start(d), list[at])
			}
		}
		if at != len(list)-1 {
			t.Fatalf("got %d buckets want %d", len(list), at+1)
		}
		for i, start := range list {
			cut := start < s.first || g.next(start) > s.last+1
			if got := g.partial(start, s); got != cut || cut && i > 0 && i < len(list)-1 {
				t.Fatalf("bucket %s of %v: got partial %v want %v", start, s, got, cut)
			}
		}
	})
}
