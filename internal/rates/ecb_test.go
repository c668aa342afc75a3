package rates_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"fanfare/internal/rates"
)

const (
	daily = "Date, USD, JPY, HUF, \n13 November 2026, 1.1634, 180.02, 384.55, \n"

	history = "Date,USD,JPY,CYP,HRK,\n2026-11-13,1.1634,180.02,N/A,N/A,\n2026-11-12,1.16,179.5,N/A,N/A,\n1999-01-04,1.1789,133.73,0.58231,N/A,\n"

	portal = "KEY,FREQ,CURRENCY,CURRENCY_DENOM,EXR_TYPE,EXR_SUFFIX,TIME_PERIOD,OBS_VALUE,OBS_STATUS,TITLE\n" +
		`EXR.D.USD.EUR.SP00.A,D,USD,EUR,SP00,A,2026-11-13,1.1634,A,"US dollar/Euro"` + "\n" +
		`EXR.D.USD.EUR.SP00.A,D,USD,EUR,SP00,A,2026-11-15,,H,"US dollar/Euro"` + "\n" +
		`EXR.D.EEK.EUR.SP00.A,D,EEK,EUR,SP00,A,2009-11-13,15.6466,A,"Estonian kroon/Euro"` + "\n"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, text string
		want       []string
		skipped    map[string]int
	}{
		{"daily", daily, []string{"2026-11-13 HUF 384.55", "2026-11-13 JPY 180.02", "2026-11-13 USD 1.1634"}, nil},
		{"daily with carriage returns and a mark", "\ufeff" + strings.ReplaceAll(daily, "\n", "\r\n"), []string{"2026-11-13 HUF 384.55", "2026-11-13 JPY 180.02", "2026-11-13 USD 1.1634"}, nil},
		{"a day of one digit", "Date, USD, \n2 November 2026, 1.2, \n", []string{"2026-11-02 USD 1.2"}, nil},
		{
			"history", history,
			[]string{"1999-01-04 JPY 133.73", "1999-01-04 USD 1.1789", "2026-11-12 JPY 179.5", "2026-11-12 USD 1.16", "2026-11-13 JPY 180.02", "2026-11-13 USD 1.1634"},
			map[string]int{"CYP": 1},
		},
		{"portal", portal, []string{"2026-11-13 USD 1.1634"}, map[string]int{"EEK": 1}},
		{"the same twice", "Date,USD\n2026-11-13,1.1634\n2026-11-13,1.16340\n", []string{"2026-11-13 USD 1.1634"}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b, err := rates.Parse(strings.NewReader(tt.text))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, formatRates(b.Rates)); diff != "" {
				t.Errorf("rates differ (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.skipped, b.Skipped, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("skipped differ (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseErrors(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, text, says string }{
		{"empty", "", "no file of rates"},
		{"another file", "name,amount\nx,1\n", "no file of rates"},
		{"a page", "<html><body>busy</body></html>", "no file of rates"},
		{"no rate", "Date,USD\n2026-11-13,N/A\n", "no rate"},
		{"only what is not known", "Date,CYP\n2026-11-13,0.5\n", "no rate"},
		{"a bad day", "Date,USD\n2026-11-12,1\n13/11/2026,1\n", `line 3: "13/11/2026" is no day`},
		{"a day that is none", "Date,USD\n2026-02-30,1\n", "line 2"},
		{"a bad rate", "Date,USD\n2026-11-13,1.1x\n", `the rate "1.1x" of USD`},
		{"no rate at all", "Date,USD\n2026-11-13,0\n", `the rate "0" of USD`},
		{"too many digits", "Date,USD\n2026-11-13,1.123456789\n", "8 digits"},
		{"a short line", "Date,USD,JPY\n2026-11-13,1.1\n", "2 columns"},
		{"two rates", "Date,USD\n2026-11-13,1.1\n2026-11-13,1.2\n", "another rate on 2026-11-13"},
		{"bad quotes", "Date,USD\n\"2026-11-13,1\n", "quote"},
		{"monthly", strings.ReplaceAll(portal, ",D,USD", ",M,USD"), "daily rates"},
		{"against another", strings.ReplaceAll(portal, "USD,EUR", "USD,GBP"), `against "GBP"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b, err := rates.Parse(strings.NewReader(tt.text))
			if err == nil || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("got %v and %v want an error with %q", formatRates(b.Rates), err, tt.says)
			}
		})
	}
}

// FuzzParse checks that every file is parsed or rejected, and that parsed rates
// can be stored: known currencies, valid rates, one per day, sorted.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{daily, history, portal, "", "Date", "Date,\n,\n", "Date,USD\n\n\"\"\"", "FREQ,CURRENCY,CURRENCY_DENOM,TIME_PERIOD,OBS_VALUE\nD"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		b, err := rates.Parse(strings.NewReader(text))
		if err != nil {
			return
		}
		for i, r := range b.Rates {
			_, known := r.Currency.Digits()
			if back, ok := rates.ParseDecimal(r.PerEuro.String()); !known || r.Currency == rates.Base || !ok || back != r.PerEuro {
				t.Fatalf("%q gives %v", text, formatRates(b.Rates[i:i+1]))
			}
			if i > 0 && (b.Rates[i-1].Date > r.Date || b.Rates[i-1].Date == r.Date && b.Rates[i-1].Currency >= r.Currency) {
				t.Fatalf("%q gives %v, which is not in order", text, formatRates(b.Rates))
			}
		}
	})
}
