package money_test

import (
	"testing"

	"pgregory.net/rapid"

	"fanfare/internal/money"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text   string
		digits int
		shown  string
		reason string
	}{
		{"0", 2, "0.00", ""},
		{"-0", 2, "0.00", ""},
		{"1500", 2, "1500.00", ""},
		{"1500.5", 2, "1500.50", ""},
		{"1500.50", 2, "1500.50", ""},
		{"0.000001", 2, "0.000001", ""},
		{"1.230000", 2, "1.23", ""},
		{"1.234500", 2, "1.2345", ""},
		{"007", 0, "7", ""},
		{"1500", 0, "1500", ""},
		{"1500.00", 0, "1500", ""},
		{"1.5", 3, "1.500", ""},
		{"-12.34", 2, "-12.34", ""},
		{"-0.01", 2, "-0.01", ""},
		{"9223372036853.999999", 2, "9223372036853.999999", ""},
		{"-9223372036853.999999", 2, "-9223372036853.999999", ""},
		{"9223372036854", 2, "", money.TooLarge},
		{"9999999999999", 2, "", money.TooLarge},
		{"10000000000000", 2, "", money.BadFormat},
		{"", 2, "", money.BadFormat},
		{"-", 2, "", money.BadFormat},
		{"1.", 2, "", money.BadFormat},
		{".5", 2, "", money.BadFormat},
		{"1.2345678", 2, "", money.BadFormat},
		{"1e3", 2, "", money.BadFormat},
		{"+1", 2, "", money.BadFormat},
		{" 1", 2, "", money.BadFormat},
		{"1,000", 2, "", money.BadFormat},
		{"--1", 2, "", money.BadFormat},
		{"1.2.3", 2, "", money.BadFormat},
		{"0x10", 2, "", money.BadFormat},
		{"１", 2, "", money.BadFormat},
		{"1.-5", 2, "", money.BadFormat},
		{"NaN", 2, "", money.BadFormat},
	} {
		a, reason := money.Parse(tt.text, tt.digits)
		if reason != tt.reason || reason == "" && a.String() != tt.shown {
			t.Errorf("%q: got %s (%s) want %s (%s)", tt.text, a, reason, tt.shown, tt.reason)
		}
	}
}

func TestDecimals(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{"1": 0, "1.0": 0, "1.10": 1, "1.01": 2, "0.000001": 6, "-1.5": 1, "0": 0} {
		a, _ := money.Parse(text, 2)
		if got := a.Decimals(); got != want {
			t.Errorf("%s: got %d decimals want %d", text, got, want)
		}
	}
}

func TestCurrency(t *testing.T) {
	t.Parallel()
	for code, want := range map[money.Currency]int{
		"USD": 2, "EUR": 2, "GBP": 2, "CHF": 2, "JPY": 0, "KRW": 0, "KWD": 3, "BHD": 3, "TND": 3, "CLP": 0, "IDR": 2, "PKR": 2, "COP": 2, "RSD": 2, "IQD": 3, "VES": 2, "MRU": 2, "CLF": 4, "DEM": -1, "XAU": -1,
		"usd": -1, "Usd": -1, "US": -1, "USDD": -1, "": -1, "XXX": -1, "XTS": -1, "ZZZ": -1, "U D": -1, "€": -1, "\x00\x00\x00": -1,
	} {
		digits, ok := code.Digits()
		if ok != (want >= 0) || ok && digits != want {
			t.Errorf("%q: got %d, %v want %d", code, digits, ok, want)
		}
	}
}

// TestAmountsSurviveTheStore checks that every amount is read as it was
// written, to the micro, and keeps its number of decimals.
func TestAmountsSurviveTheStore(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		a := money.Amount{
			Micros: rapid.Int64Range(-money.MaxUnits*1_000_000, money.MaxUnits*1_000_000).Draw(rt, "micros"),
			Digits: int8(rapid.IntRange(0, 3).Draw(rt, "digits")),
		}
		text, err := a.MarshalText()
		if err != nil {
			rt.Fatal(err)
		}
		var b money.Amount
		if err := b.UnmarshalText(text); err != nil {
			rt.Fatalf("%s: %v", text, err)
		}
		if b.Micros != a.Micros || b.String() != a.String() {
			rt.Fatalf("got %s (%d) want %s (%d)", b, b.Micros, a, a.Micros)
		}
	})
	var a money.Amount
	if err := a.UnmarshalText([]byte("1e3")); err == nil {
		t.Errorf("got %s from 1e3, want an error", a)
	}
}

// FuzzParse wants accepted text to mean the same when it is shown and read
// again.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"0", "1500.00", "-0.000001", "9223372036853.999999", "1e3", ""} {
		f.Add(seed, 2)
	}
	f.Fuzz(func(t *testing.T, text string, digits int) {
		digits = max(0, min(6, digits))
		a, reason := money.Parse(text, digits)
		if reason != "" {
			return
		}
		b, reason := money.Parse(a.String(), digits)
		if reason != "" || a != b {
			t.Fatalf("%q: got %s (%s) want %s", text, b, reason, a)
		}
	})
}
