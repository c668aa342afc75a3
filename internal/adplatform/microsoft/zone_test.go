package microsoft

import (
	"testing"
	"time"

	"fanfare/internal/fact"
)

// TestTimeZones checks that the zones exist, and their offsets against
// Microsoft's table (learn.microsoft.com/advertising/guides/time-zones), which
// has those of winter, for zones that are easily confused.
func TestTimeZones(t *testing.T) {
	t.Parallel()
	if len(timeZones) != 75 {
		t.Errorf("got %d zones want 75", len(timeZones))
	}
	for name, iana := range timeZones {
		if _, err := time.LoadLocation(iana); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, want := range map[string]string{
		"CasablancaMonrovia": "+00:00", "CaracasLaPaz": "-04:00", "ChihuahuaLaPazMazatlan": "-07:00", "InternationalDateLineWest": "-12:00", "MidAtlantic": "-02:00",
		"Rangoon": "+06:30", "Kathmandu": "+05:45", "AthensBuckarestIstanbul": "+02:00", "MidwayIslandAndSamoa": "-11:00", "SolomonIslandNewCaledonia": "+11:00",
		"AmsterdamBerlinBernRomeStockholmVienna": "+01:00", "PacificTimeUSCanadaTijuana": "-08:00", "AbuDhabiMuscat": "+04:00", "Nukualofa": "+13:00",
	} {
		zone, err := time.LoadLocation(timeZones[name])
		if err != nil {
			t.Fatal(err)
		}
		if got := time.Date(2026, 1, 1, 0, 0, 0, 0, zone).Format("-07:00"); got != want {
			t.Errorf("%s: got %s want %s", name, got, want)
		}
	}
	for from := range reportZones {
		if timeZones[from] == "" {
			t.Errorf("%s is no time zone of accounts", from)
		}
	}
}

func TestCountries(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"United States": "US", "Germany": "DE", "Hong Kong SAR": "HK", "Türkiye": "TR", "Turkey": "TR", "South Korea": "KR", "Atlantis": "", "": ""} {
		if got := countryOf(name); got != want || want != "" && !fact.IsCountry(got) {
			t.Errorf("%q: got %q want %q", name, got, want)
		}
	}
}

func TestParseNumber(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text    string
		decimal bool
		want    int64
		ok      bool
	}{
		{"12", false, 12, true},
		{"12", true, 12_000_000, true},
		{"0.5", true, 500_000, true},
		{"-3.25", true, -3_250_000, true},
		{"1.23456789", true, 1_234_567, true},
		{"1,000.00", true, 0, false},
		{"1,000", false, 0, false},
		{"", false, 0, false},
		{".5", true, 0, false},
		{"1.", true, 0, false},
		{"1e3", true, 0, false},
		{"12.5", false, 0, false},
		{"99999999999999999999", false, 0, false},
	} {
		n, ok := parseNumber(tt.text, tt.decimal)
		if ok != tt.ok || ok && n != tt.want {
			t.Errorf("%q: got %d, %v want %d, %v", tt.text, n, ok, tt.want, tt.ok)
		}
	}
}

// TestTotalLines checks that a sum and a footer are no rows.
func TestTotalLines(t *testing.T) {
	t.Parallel()
	const text = "\ufeff\"Report Name: x\"\r\n\"Rows: 1\"\r\n\r\n\"TimePeriod\",\"Clicks\"\r\n\"2026-10-01\",\"5\"\r\n\"Total\",\"5\"\r\n\r\n\"©2026 Microsoft Corporation. All rights reserved. \"\r\n"
	f, err := parseFile([]byte(text), []string{"TimePeriod", "Clicks"})
	if err != nil || len(f.rows) != 1 || f.rows[0][1] != "5" {
		t.Errorf("got %+v, %v want one row", f, err)
	}
	if _, err := parseFile([]byte(text), []string{"TimePeriod", "Spend"}); err == nil {
		t.Error("got no error for a column that is missing")
	}
}
