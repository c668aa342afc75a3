package rates_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"fanfare/internal/clock"
	"fanfare/internal/money"
	"fanfare/internal/rates"
)

func TestDecimal(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"1": "1", "1.1634": "1.1634", "0.00000001": "0.00000001", "16758.35": "16758.35", "1.10": "1.1", "007.5": "7.5",
		"1.1634000000000": "1.1634", "10000000": "10000000", "180.0": "180",
		"": "", "0": "", "0.0": "", "-1": "", "+1": "", ".5": "", "1.": "", "1,5": "", "1e3": "", "1 2": "", "1.2.3": "", "NaN": "", "N/A": "",
		"0.000000001": "", "1.123456789": "", "10000000.00000001": "", "99999999999999999999": "", "１": "",
	} {
		d, ok := rates.ParseDecimal(text)
		if got := d.String(); ok != (want != "") || ok && got != want {
			t.Errorf("%q: got %s, %v want %q", text, got, ok, want)
		}
	}
	var d rates.Decimal
	if err := d.UnmarshalText([]byte("1e3")); err == nil {
		t.Errorf("got %s from 1e3, want an error", d)
	}
}

// TestDecimalRoundTrip checks that every rate is read back to the last digit.
func TestDecimalRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		d := rates.Decimal(rapid.Int64Range(1, rates.MaxUnits*100_000_000).Draw(rt, "rate"))
		text, err := d.MarshalText()
		if err != nil {
			rt.Fatal(err)
		}
		var got rates.Decimal
		if err := got.UnmarshalText(text); err != nil || got != d {
			rt.Fatalf("%s: got %d (%v) want %d", text, got, err, d)
		}
	})
}

func day(t testing.TB, text string) clock.Date {
	t.Helper()
	d, ok := clock.ParseDate(text)
	if !ok {
		t.Fatalf("%q is no day", text)
	}
	return d
}

// formatRates returns rates as text.
func formatRates(list []rates.Rate) (lines []string) {
	for _, r := range list {
		lines = append(lines, fmt.Sprintf("%s %s %s", r.Date, r.Currency, r.PerEuro))
	}
	return lines
}

// parseRates is the inverse of formatRates.
func parseRates(t testing.TB, lines ...string) (list []rates.Rate) {
	t.Helper()
	for _, line := range lines {
		fields := strings.Fields(line)
		value, ok := rates.ParseDecimal(fields[2])
		if !ok {
			t.Fatalf("%q is no rate", line)
		}
		list = append(list, rates.Rate{Date: day(t, fields[0]), Currency: money.Currency(fields[1]), PerEuro: value})
	}
	return list
}

// TestCarry checks the rates of days without publication; 2026-11-13 is a
// Friday.
func TestCarry(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name            string
		published, want []string
	}{
		{"nothing", nil, nil},
		{"a weekday alone", []string{"2026-11-12 USD 1.1"}, nil},
		{"a Friday alone", []string{"2026-11-13 USD 1.1"}, []string{"2026-11-14 USD 1.1", "2026-11-15 USD 1.1"}},
		{"a weekend", []string{"2026-11-13 USD 1.1", "2026-11-16 USD 1.2"}, []string{"2026-11-14 USD 1.1", "2026-11-15 USD 1.1"}},
		{"a Saturday that was published", []string{"2026-11-13 USD 1.1", "2026-11-14 USD 1.3"}, nil},
		{
			"Easter",
			[]string{"2026-04-02 USD 1.1", "2026-04-07 USD 1.2"},
			[]string{"2026-04-03 USD 1.1", "2026-04-04 USD 1.1", "2026-04-05 USD 1.1", "2026-04-06 USD 1.1"},
		},
		{
			"seven days",
			[]string{"2026-11-10 USD 1.1", "2026-11-18 USD 1.2"},
			[]string{
				"2026-11-11 USD 1.1", "2026-11-12 USD 1.1", "2026-11-13 USD 1.1", "2026-11-14 USD 1.1",
				"2026-11-15 USD 1.1", "2026-11-16 USD 1.1", "2026-11-17 USD 1.1",
			},
		},
		{"eight days", []string{"2026-11-10 USD 1.1", "2026-11-19 USD 1.2"}, nil},
		{"eight days after a Friday", []string{"2026-11-13 USD 1.1", "2026-11-22 USD 1.2"}, []string{"2026-11-14 USD 1.1", "2026-11-15 USD 1.1"}},
		{"another currency ends a gap", []string{"2026-11-10 JPY 180", "2026-11-12 USD 1.1"}, nil},
		{"neighbors", []string{"2026-11-10 USD 1.1", "2026-11-11 USD 1.2"}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, formatRates(rates.Carry(parseRates(t, tt.published...)))); diff != "" {
				t.Errorf("carried rates differ (-want +got):\n%s", diff)
			}
		})
	}
}

// TestCarryProperties checks that carried rates are between published days,
// equal the published day before, and never replace a published one.
func TestCarryProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		days := rapid.SliceOfNDistinct(rapid.Int32Range(20_000, 20_060), 1, 30, rapid.ID).Draw(rt, "days")
		slices.Sort(days)
		published := map[clock.Date]rates.Decimal{}
		var list []rates.Rate
		for i, d := range days {
			r := rates.Rate{Date: clock.Date(d), Currency: "USD", PerEuro: rates.Decimal(i + 1)}
			list, published[r.Date] = append(list, r), r.PerEuro
		}
		known := map[clock.Date]rates.Decimal{}
		for _, r := range rates.Carry(list) {
			if _, twice := known[r.Date]; twice || published[r.Date] != 0 {
				rt.Fatalf("%s has two rates", r.Date)
			}
			known[r.Date] = r.PerEuro
		}
		for d := clock.Date(19_990); d < 20_080; d++ {
			before, after := d, d
			for before > 19_980 && published[before] == 0 {
				before--
			}
			for after < 20_090 && published[after] == 0 {
				after++
			}
			gap := published[before] != 0 && published[after] != 0 && after-before-1 <= rates.MaxGap
			weekend := published[before] != 0 && before.Weekday() == 4 && d <= before+2
			want := rates.Decimal(0)
			if published[d] == 0 && (gap || weekend) {
				want = published[before]
			}
			if known[d] != want {
				rt.Fatalf("%s: got %d want %d", d, known[d], want)
			}
		}
	})
}
