package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fanfare/internal/rates"
)

// TestRatesCommands stores rates on a data folder without a server and on one
// with a running server.
func TestRatesCommands(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"alone", "beside a server"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			if mode != "alone" {
				p.serve()
			}
			p.rates(p.workspace())
			if mode != "alone" {
				p.server.Stop()
			}
		})
	}
}

// file writes a file and returns its path.
func (p *testInstall) file(name, text string) string {
	p.Helper()
	path := filepath.Join(p.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		p.Fatal(err)
	}
	return path
}

// rates runs the rates commands.
func (p *testInstall) rates(w madeWorkspace) {
	p.Helper()
	daily := p.file("daily.csv", "Date, USD, JPY, \n13 November 2026, 1.1634, 180.02, \n")
	text := p.run(0, "rates", "import", daily).Out
	wants(p.T, text, "2 rates in 2 currencies for 1 days, 2026-11-13 to 2026-11-13: 2 were new or changed.", "4 more were carried")
	history := p.file("history.csv", "Date,USD,JPY,CYP,\n2026-11-16,1.17,181,N/A,\n2026-11-13,1.1634,180.02,N/A,\n2026-11-12,1.16,N/A,0.58,\n")
	var out ratesImported
	p.read(&out, "rates", "import", history, "--json")
	if out.Days != 3 || out.Currencies != 2 || out.Rates != 5 || out.Written != 3 || out.Carried != 0 || out.Skipped["CYP"] != 1 {
		p.Errorf("got %+v", out)
	}
	wants(p.T, p.run(0, "rates", "import", history).Errors, "warning: rates of CYP were skipped", "rates.import: 100 %")
	p.read(&out, "rates", "import", p.file("own.csv", "Date,USD\n2026-11-14,1.5\n"), "--workspace", w.WorkspaceID, "--json")
	if out.Written != 1 || out.Carried != 0 {
		p.Errorf("got %+v", out)
	}

	shown := func(args ...string) string {
		p.Helper()
		var list []rates.ListedRate
		p.read(&list, append([]string{"rates", "list", "--json"}, args...)...)
		var lines []string
		for _, l := range list {
			lines = append(lines, fmt.Sprint(l.Date, " ", l.Currency, " ", l.PerEuro, " ", l.Source, " ", l.Carried))
		}
		return strings.Join(lines, "\n")
	}
	for want, args := range map[string][]string{
		"2026-11-16 JPY 181 server false\n2026-11-16 USD 1.17 server false":                                        {"--limit", "2"},
		"2026-11-15 USD 1.1634 server true\n2026-11-14 USD 1.1634 server true\n2026-11-13 USD 1.1634 server false": {"--currency", "usd", "--start", "2026-11-13", "--end", "2026-11-15"},
		"2026-11-14 JPY 180.02 server true\n2026-11-14 USD 1.5 workspace false":                                    {"--workspace", w.WorkspaceID, "--start", "2026-11-14", "--end", "2026-11-14"},
	} {
		if got := shown(args...); got != want {
			p.Errorf("%v: got\n%s\nwant\n%s", args, got, want)
		}
	}
	wants(p.T, p.run(0, "rates", "list", "--currency", "USD").Out, "PER EURO", "2026-11-15", "carried", "published", "server")
	for _, tt := range []struct {
		code int
		says string
		args []string
	}{
		{2, "FILE|-", []string{"import"}},
		{5, "nowhere.csv", []string{"import", "nowhere.csv"}},
		{1, "no file of rates", []string{"import", p.file("page.html", "<html>")}},
		{1, "line 2", []string{"import", p.file("bad.csv", "Date,USD\nyesterday,1\n")}},
		{5, "no workspace wks_x", []string{"import", daily, "--workspace", "wks_x"}},
		{5, "no workspace wks_x", []string{"list", "--workspace", "wks_x"}},
		{2, "--start", []string{"list", "--start", "yesterday"}},
		{2, "--limit", []string{"list", "--limit", "0"}},
		{2, "did you mean import?", []string{"imprt"}},
	} {
		wants(p.T, p.run(tt.code, append([]string{"rates"}, tt.args...)...).Errors, tt.says)
	}
}

// TestManyRates imports more rates than one batch.
func TestManyRates(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	codes := strings.Fields("USD JPY GBP CHF SEK NOK DKK PLN CZK HUF")
	var b strings.Builder
	b.WriteString("Date," + strings.Join(codes, ",") + ",\n")
	days, carried := 0, 0
	for day := time.Date(2026, time.November, 13, 0, 0, 0, 0, time.UTC); days < 1100; day = day.AddDate(0, 0, -1) {
		if day.Weekday() == time.Saturday || day.Weekday() == time.Sunday {
			carried++
			continue
		}
		days++
		b.WriteString(day.Format(time.DateOnly))
		for i := range codes {
			fmt.Fprintf(&b, ",%d.%04d", i+1, days)
		}
		b.WriteString(",\n")
	}
	var out ratesImported
	p.read(&out, "rates", "import", p.file("history.csv", b.String()), "--json")
	// The last day is a Friday, and the following weekend is carried too.
	if want := int64(10 * (carried + 2)); out.Days != days || out.Rates != 11_000 || out.Written != 11_000 || out.Carried != want {
		t.Errorf("got %+v want %d days and %d carried", out, days, want)
	}
}
