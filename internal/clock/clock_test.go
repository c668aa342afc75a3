package clock_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"fanfare/internal/clock"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"2026-11-15T01:48:44Z":           "2026-11-15T01:48:44.000Z",
		"2026-11-15T01:48:44.1Z":         "2026-11-15T01:48:44.100Z",
		"2026-11-15T01:48:44.123999999Z": "2026-11-15T01:48:44.123Z",
		"2026-11-15T01:48:44+23:59":      "2026-11-14T01:49:44.000Z",
		"2026-11-15T01:48:44-08:00":      "2026-11-15T09:48:44.000Z",
		"2024-02-29T00:00:00Z":           "2024-02-29T00:00:00.000Z",
		"1969-12-31T23:59:59.999Z":       "1969-12-31T23:59:59.999Z",
		"0001-01-01T00:00:00Z":           "0001-01-01T00:00:00.000Z",
		"9999-12-31T23:59:59.999Z":       "9999-12-31T23:59:59.999Z",
	} {
		i, ok := clock.Parse(text)
		if !ok || i.String() != want {
			t.Errorf("%s: got %s (%v) want %s", text, i, ok, want)
		}
	}
	for _, text := range []string{
		"", "2026-11-15", "2026-11-15T01:48:44", "2026-11-15T01:48Z", "2026-11-15 01:48:44Z", "2026-11-15t01:48:44z", "2026-11-15T01:48:44z", "2026-11-15T1:48:44.5Z",
		"2026-11-15T01:48:44,5Z", "2026-11-15T01:48:44.Z", "2026-11-15T01:48:44+0100", "2026-11-15T01:48:44+01", "2026-11-15T01:48:44+24:00", "2026-11-15T01:48:44+01:60",
		"2026-11-15T24:00:00Z", "2026-11-15T01:60:00Z", "2026-11-15T01:48:60Z", "2026-13-15T01:48:44Z", "2026-02-29T00:00:00Z", "2026-11-15T01:48:44ZZ", " 2026-11-15T01:48:44Z",
		"2026-11-15T01:48:44Z ", "20261115T014844Z", "2026-W46-7T01:48:44Z", "2026-319T01:48:44Z", "12026-11-15T01:48:44Z", "-026-11-15T01:48:44Z", "2026-11-15T01:48:44+1:000",
		"0001-01-01T00:00:00+00:01", "9999-12-31T23:59:59-00:01", "0000-12-31T00:00:00Z", "２026-11-15T01:48:44Z",
	} {
		if i, ok := clock.Parse(text); ok {
			t.Errorf("%q: got %s, want it refused", text, i)
		}
	}
}

// TestInstantsAreMilliseconds wants the stored number and the shown text to be
// the same moment (T2).
func TestInstantsAreMilliseconds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		nanos := rapid.Int64Range(-1<<60, 1<<60).Draw(rt, "nanoseconds")
		i := clock.At(time.Unix(0, nanos))
		if int64(i)%1000 != 0 {
			rt.Fatalf("got %d microseconds, want whole milliseconds", i)
		}
		text, err := i.MarshalText()
		if err != nil || len(text) != 24 || text[23] != 'Z' {
			rt.Fatalf("got %s (%v)", text, err)
		}
		var again clock.Instant
		if err := again.UnmarshalText(text); err != nil || again != i {
			rt.Fatalf("got %d (%v) from %s want %d", again, err, text, i)
		}
		if parsed, ok := clock.Parse(string(text)); !ok || parsed != i {
			rt.Fatalf("got %d (%v) from %s want %d", parsed, ok, text, i)
		}
		if got := i.Add(time.Hour).Time().Sub(i.Time()); got != time.Hour {
			rt.Fatalf("got %v want an hour", got)
		}
	})
	var i clock.Instant
	if err := i.UnmarshalText([]byte("yesterday")); err == nil {
		t.Error("got no error for text that is no instant")
	}
}

// TestDayBounds checks the first instant of a day and of the next one, also
// where clocks skip midnight or pass it twice (L9).
func TestDayBounds(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ zone, day, start, end string }{
		{"UTC", "2026-11-15", "2026-11-15T00:00:00Z", "2026-11-16T00:00:00Z"},
		{"Europe/Berlin", "2026-03-29", "2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z"},
		{"Europe/Berlin", "2026-10-25", "2026-10-24T22:00:00Z", "2026-10-25T23:00:00Z"},
		{"America/New_York", "2026-11-15", "2026-11-15T05:00:00Z", "2026-11-16T05:00:00Z"},
		{"Asia/Kolkata", "2026-11-15", "2026-11-14T18:30:00Z", "2026-11-15T18:30:00Z"},
		{"Asia/Beirut", "2022-03-27", "2022-03-26T22:00:00Z", "2022-03-27T21:00:00Z"},
		{"Asia/Beirut", "2022-10-30", "2022-10-29T22:00:00Z", "2022-10-30T22:00:00Z"},
		{"America/Havana", "2022-03-13", "2022-03-13T05:00:00Z", "2022-03-14T04:00:00Z"},
		{"America/Havana", "2022-03-12", "2022-03-12T05:00:00Z", "2022-03-13T05:00:00Z"},
		{"America/Havana", "2022-11-06", "2022-11-06T04:00:00Z", "2022-11-07T05:00:00Z"},
		{"America/Santiago", "2024-09-08", "2024-09-08T04:00:00Z", "2024-09-09T03:00:00Z"},
		{"Asia/Amman", "2021-10-29", "2021-10-28T21:00:00Z", "2021-10-29T22:00:00Z"},
		{"UTC", "0001-01-01", "0001-01-01T00:00:00Z", "0001-01-02T00:00:00Z"},
		{"UTC", "9999-12-31", "9999-12-31T00:00:00Z", "10000-01-01T00:00:00Z"},
		{"UTC", "2024-02-29", "2024-02-29T00:00:00Z", "2024-03-01T00:00:00Z"},
	} {
		zone, err := clock.Zone(tt.zone)
		if err != nil {
			t.Fatal(err)
		}
		start, end, ok := clock.ParseDay(tt.day, zone)
		if got, want := start.UTC().Format(time.RFC3339), tt.start; !ok || got != want {
			t.Errorf("%s in %s: got start %s (%v) want %s", tt.day, tt.zone, got, ok, want)
		}
		if got, want := end.UTC().Format(time.RFC3339), tt.end; got != want {
			t.Errorf("%s in %s: got end %s want %s", tt.day, tt.zone, got, want)
		}
	}
	for _, text := range []string{"", "2026-11-31", "2026-02-29", "2026-1-05", "20261115", "2026-W46-7", "2026-319 ", "0000-01-01", "2026-11-15T", "2026/11/15", "２026-11-1"} {
		if _, _, ok := clock.ParseDay(text, time.UTC); ok {
			t.Errorf("%q: want it refused", text)
		}
	}
}

// TestDaysFollowEachOther wants no gap and no overlap between days anywhere.
func TestDaysFollowEachOther(t *testing.T) {
	t.Parallel()
	zones := []string{"UTC", "Asia/Beirut", "America/Havana", "Asia/Amman", "America/Santiago", "Europe/Lisbon", "Australia/Lord_Howe", "Pacific/Apia", "Africa/Cairo"}
	rapid.Check(t, func(rt *rapid.T) {
		zone, err := clock.Zone(rapid.SampledFrom(zones).Draw(rt, "zone"))
		if err != nil {
			rt.Fatal(err)
		}
		day := time.Date(1990, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, rapid.IntRange(0, 20_000).Draw(rt, "day"))
		start, end, ok := clock.ParseDay(day.Format(time.DateOnly), zone)
		next, _, also := clock.ParseDay(day.AddDate(0, 0, 1).Format(time.DateOnly), zone)
		if !ok || !also || !end.Equal(next) {
			rt.Fatalf("%s in %s: got end %v, but the next day starts at %v", day.Format(time.DateOnly), zone, end, next)
		}
		for name, at := range map[string]time.Time{"start": start, "last moment": end.Add(-1)} {
			if got := at.In(zone).Format(time.DateOnly); got != day.Format(time.DateOnly) && start.Before(end) {
				rt.Fatalf("%s in %s: got %s on %s", day.Format(time.DateOnly), zone, name, got)
			}
		}
		if before := start.Add(-1).In(zone).Format(time.DateOnly); before >= day.Format(time.DateOnly) {
			rt.Fatalf("%s in %s: the day began before %v", day.Format(time.DateOnly), zone, start)
		}
	})
}

// TestDaysAreWritten compares the format of days with that of the standard
// library.
func TestDaysAreWritten(t *testing.T) {
	t.Parallel()
	for d := clock.Date(-1_000_000); d < 4_000_000; d += 97 {
		if got, want := d.String(), d.Time().Format(time.DateOnly); got != want {
			t.Fatalf("day %d: got %s want %s", int32(d), got, want)
		}
	}
}

func TestZone(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"UTC", "Europe/Berlin", "America/Argentina/Buenos_Aires", "Asia/Kathmandu"} {
		if _, err := clock.Zone(name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range []string{"", "Local", "Mars/Olympus", "../etc/passwd", "/etc/passwd", "+01:00", "CET-1CEST", "Europe/Berlin\x00", "localtime", "posixrules", "posix/Europe/Berlin", "right/UTC", "zone.tab"} {
		if z, err := clock.Zone(name); err == nil {
			t.Errorf("%q: got %s, want it refused", name, z)
		}
	}
}

// FuzzParse checks that every accepted text is printed as the same instant.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"2026-11-15T01:48:44Z", "2026-11-15T01:48:44.5+01:00", "2026-11-15", "2026-11-15T24:00:00Z"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		i, ok := clock.Parse(text)
		if !ok {
			return
		}
		want, err := time.Parse(time.RFC3339Nano, text)
		if err != nil || !i.Time().Equal(want.Truncate(time.Millisecond)) {
			t.Fatalf("%q: got %s want %s (%v)", text, i, want, err)
		}
		if again, ok := clock.Parse(i.String()); !ok || again != i {
			t.Fatalf("%q: got %s (%v) from %s", text, again, ok, i)
		}
	})
}
