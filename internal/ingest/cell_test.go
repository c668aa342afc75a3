package ingest

import (
	"testing"

	"pgregory.net/rapid"

	"fanfare/internal/clock"
	"fanfare/internal/fact"
)

func TestPlainNumber(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		cell    string
		decimal byte
		want    string
	}{
		{"0", '.', "0"},
		{"1234.5", '.', "1234.5"},
		{"1,234.50", '.', "1234.50"},
		{"1,234,567", '.', "1234567"},
		{"12,34,567.8", '.', "1234567.8"},
		{"1.234,50", ',', "1234.50"},
		{"1.234.567", ',', "1234567"},
		{"1 234,5", ',', "1234.5"},
		{"1\u202f234,5", ',', "1234.5"},
		{"1\u00a0234\u00a0567", '.', "1234567"},
		{"1'234.50", '.', "1234.50"},
		{"1’234", '.', "1234"},
		{"$12.50", '.', "12.50"},
		{"-$12.50", '.', "-12.50"},
		{"$-12.50", '.', "-12.50"},
		{"US$12.50", '.', "12.50"},
		{"12,50 €", ',', "12.50"},
		{"€ 12,50", ',', "12.50"},
		{"12.50 USD", '.', "12.50"},
		{"CHF 12.50", '.', "12.50"},
		{"120 kr", '.', "120"},
		{"99 zł", '.', "99"},
		{"(12.50)", '.', "-12.50"},
		{"−5", '.', "-5"},
		{"+5", '.', "5"},
		{".5", '.', "0.5"},
		{"-,5", ',', "-0.5"},

		{"", '.', ""},
		{"1,5", '.', ""},
		{"1.5", ',', ""},
		{"1,2345", '.', ""},
		{"1234,567", '.', ""},
		{"12,,345", '.', ""},
		{",123", '.', ""},
		{"1.2.3", '.', ""},
		{"5%", '.', ""},
		{"12k", '.', ""},
		{"1e5", '.', ""},
		{"--5", '.', ""},
		{"-5-", '.', ""},
		{"(-5)", '.', ""},
		{"5.", '.', ""},
		{"$$5", '.', ""},
		{"abc", '.', ""},
		{"$", '.', ""},
		{".", '.', ""},
		{",", '.', ""},
		{"2026-11-15", '.', ""},
		{"٣", '.', ""},
	} {
		got, ok := plainNumber(tt.cell, tt.decimal)
		if got != tt.want || ok != (tt.want != "") {
			t.Errorf("%q with %q: got %q, %v want %q", tt.cell, tt.decimal, got, ok, tt.want)
		}
	}
}

func TestMarks(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		cell         string
		counts       bool
		comma, point int
	}{
		{"1,5", false, 1, 0},
		{"1.5", false, 0, 1},
		{"1.234,56", false, 1, 0},
		{"1,234.56", false, 0, 1},
		{"1.234.567", false, 1, 0},
		{"1,234,567", false, 0, 1},
		{"1,234", false, 0, 0},
		{"1,234", true, 0, 1},
		{"1.234", true, 1, 0},
		{"0,123", false, 1, 0},
		{"1234,567", false, 1, 0},
		{"12,5 %", false, 1, 0},
		{"€ 3,20", false, 1, 0},
		{"01.11.2026", false, 0, 0},
		{"Sale 1,5", false, 0, 0},
		{"12", true, 0, 0},
	} {
		var m separatorCounts
		m.count(tt.cell, tt.counts)
		if m.comma != tt.comma || m.point != tt.point {
			t.Errorf("%q: got %+v want %d, %d", tt.cell, m, tt.comma, tt.point)
		}
	}
}

func TestDateFormats(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		cells  []string
		format string
		first  string
	}{
		{[]string{"2026-11-05"}, "YYYY-MM-DD", "2026-11-05"},
		{[]string{"2026-11-05 00:00:00"}, "YYYY-MM-DD", "2026-11-05"},
		{[]string{"2026-11-05T09:00:00Z"}, "YYYY-MM-DD", "2026-11-05"},
		{[]string{"2026/11/05"}, "YYYY/MM/DD", "2026-11-05"},
		{[]string{"20261105"}, "YYYYMMDD", "2026-11-05"},
		{[]string{"05.11.2026", "06.11.2026"}, "DD.MM.YYYY", "2026-11-05"},
		{[]string{"5.11.26"}, "DD.MM.YYYY", "2026-11-05"},
		{[]string{"05/11/2026", "13/11/2026"}, "DD/MM/YYYY", "2026-11-05"},
		{[]string{"05-11-2026", "13-11-2026"}, "DD-MM-YYYY", "2026-11-05"},
		{[]string{"11/05/2026", "11/13/2026"}, "MM/DD/YYYY", "2026-11-05"},
		{[]string{"11/5/26 9:00 AM", "11/13/26 9:00 AM"}, "MM/DD/YYYY", "2026-11-05"},
		{[]string{"Nov 5, 2026"}, "MMM D, YYYY", "2026-11-05"},
		{[]string{"5 November 2026"}, "MMM D, YYYY", "2026-11-05"},
		{[]string{"Thu, Nov 5, 2026"}, "MMM D, YYYY", "2026-11-05"},
		{[]string{"Nov 05, 2026 09:00 am"}, "MMM D, YYYY", "2026-11-05"},
		{[]string{"2026 Nov 5"}, "MMM D, YYYY", "2026-11-05"},
		{[]string{"05/11/2026", "06/11/2026"}, "", ""},
		{[]string{"13/11/2026", "11/13/2026"}, "", ""},
		{[]string{"Brand", "", "12"}, "", ""},
	} {
		var d dateFormats
		for _, c := range tt.cells {
			d.observe(c)
		}
		if got := d.format(); got != tt.format {
			t.Errorf("%q: got %q want %q", tt.cells, got, tt.format)
			continue
		}
		if tt.format == "" {
			continue
		}
		if got, ok := parseDay(tt.cells[0], tt.format); !ok || got.String() != tt.first {
			t.Errorf("%q: got %s, %v want %s", tt.cells[0], got, ok, tt.first)
		}
	}
	for _, tt := range []struct{ cell, format string }{
		{"2026-02-29", formatISO},
		{"2026-13-01", formatISO},
		{"31/04/2026", formatDMY},
		{"13/13/2026", formatMDY},
		{"2026-11-05x", formatISO},
		{"0000-01-01", formatISO},
		{"99999999999999", formatISO},
		{"", formatISO},
		{"Foo 5, 2026", formatWords},
		{"Nov 5", formatWords},
		{"1-2-3-4", formatDMY},
		{"05/11/2026", formatWords},
	} {
		if got, ok := parseDay(tt.cell, tt.format); ok {
			t.Errorf("%q as %s: got %s want nothing", tt.cell, tt.format, got)
		}
	}
}

// TestMeasureRoundTrip checks that every value is read back equal.
func TestMeasureRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		m := fact.Measure(rapid.IntRange(0, fact.NumMeasures-1).Draw(rt, "measure"))
		least := int64(0)
		if m.Scaled() {
			least = -fact.MaxValue
		}
		v := rapid.Int64Range(least, fact.MaxValue).Draw(rt, "value")
		text := appendMeasure(nil, v, m)
		if got, code := parseMeasure(text, m, rapid.Bool().Draw(rt, "round")); code != "" || got != v {
			rt.Fatalf("%s: got %d (%s) want %d", text, got, code, v)
		}
	})
}

func TestRounding(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{
		"1.0000004": 1_000_000, "1.0000005": 1_000_001, "-1.0000005": -1_000_001, "0.30000000000000004": 300_000, "1.23456749999": 1_234_567, "999999999.9999999": 1_000_000_000_000_000,
	} {
		if got, code := parseMeasure([]byte(text), fact.Spend, true); code != "" || got != want {
			t.Errorf("%s: got %d (%s) want %d", text, got, code, want)
		}
	}
	for text, want := range map[string]string{"12.000": "", "12.5": notWhole, "1000000000000000.0": "", "1000000000000001": tooLarge} {
		if _, code := parseMeasure([]byte(text), fact.Clicks, true); code != want {
			t.Errorf("%s: got %q want %q", text, code, want)
		}
	}
	if _, code := parseMeasure([]byte("1000000000.0000005"), fact.Spend, true); code != tooLarge {
		t.Errorf("got %q want %q", code, tooLarge)
	}
}

// FuzzCells checks that no cell panics, and that parsed values are in range.
func FuzzCells(f *testing.F) {
	for _, seed := range []string{"1.234,56 €", "(5)", "Nov 5, 2026", "2026-11-05T00:00", "--", "US$ 1'000", "99999999999999999999", "\xff", "é.5", "Š5"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, cell string) {
		var m separatorCounts
		var d dateFormats
		m.count(cell, true)
		d.observe(cell)
		for _, decimal := range []byte{'.', ','} {
			if plain, ok := plainNumber(clean(cell), decimal); ok {
				if _, code := parseMeasure([]byte(plain), fact.Spend, true); code != "" && code != tooLarge && code != tooSmall {
					t.Errorf("%q became %q, which is %s", cell, plain, code)
				}
			}
		}
		for _, format := range DateFormats {
			if day, ok := parseDay(cell, format); ok {
				if again, ok := clock.ParseDate(day.String()); !ok || again != day {
					t.Errorf("%q became %s, which is no day", cell, day)
				}
			}
		}
		for f := range numFields {
			_ = value(f, cell)
		}
	})
}
