package ingest_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fanfare/internal/fact"
	"fanfare/internal/fault"
	"fanfare/internal/ingest"
	"fanfare/internal/record"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func file(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// previewText is what a preview says, in words.
func previewText(i *ingest.Import) string {
	var b strings.Builder
	text := func(s *string) string {
		if s == nil {
			return "-"
		}
		return fmt.Sprintf("%q", *s)
	}
	d := i.Detected
	fmt.Fprintf(&b, "%s template %s, %s, delimiter %s, decimal %s, days %s, header %d, %s\n", i.Status, text(d.Template), text(d.Encoding), text(d.Delimiter), text(d.Decimal), text(d.DateFormat), d.HeaderRow, i.Currency)
	for _, c := range i.Columns {
		if c.Field != nil {
			fmt.Fprintf(&b, "%s = %s (%s)\n", c.Name, *c.Field, c.Confidence)
		}
	}
	p := i.Preview
	fmt.Fprintf(&b, "%d rows, %d valid, %d wrong, %d skipped\n", p.RowCount, p.ValidCount, p.ErrorCount, p.SkippedCount)
	for _, r := range p.Rows {
		fmt.Fprintf(&b, "%s\n", r)
	}
	for _, e := range p.Errors {
		fmt.Fprintf(&b, "line %d: %s %s: %s\n", e.Line, e.Field, e.Code, e.Message)
	}
	return b.String()
}

// TestExports reads the exports of platforms, to the last cell.
func TestExports(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"google_ads", "meta_ads", "linkedin_ads", "tiktok_ads", "mailchimp", "klaviyo", "german"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			i := newFakeDeps(t).uploaded(t, ingest.Upload{Name: name + ".csv", Bytes: file(t, name+".csv")})
			got := previewText(i)
			golden := filepath.Join("testdata", name+".golden")
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(string(file(t, name+".golden")), got); diff != "" {
				t.Errorf("got + want -:\n%s", diff)
			}
			if i.Source != name {
				t.Errorf("got source %q want %q", i.Source, name)
			}
			for _, c := range i.Columns {
				if c.Confidence == ingest.Guess {
					t.Errorf("column %s was guessed", c.Name)
				}
			}
		})
	}
}

func csvOf(lines ...string) []byte { return []byte(strings.Join(lines, "\n") + "\n") }

// TestFileFormats reads files that are hard to read.
func TestFileFormats(t *testing.T) {
	t.Parallel()
	utf16be := func(s string) []byte {
		b := []byte{0xfe, 0xff}
		for _, r := range s {
			b = append(b, byte(r>>8), byte(r))
		}
		return b
	}
	for _, tt := range []struct {
		name string
		file []byte
		want string
	}{
		{"plain", csvOf("date,clicks", "2026-11-01,1"), `ready template -, "utf-8", delimiter ",", decimal ".", days "YYYY-MM-DD", header 1, EUR
date = date (exact)
clicks = clicks (exact)
1 rows, 1 valid, 0 wrong, 0 skipped
{"date":"2026-11-01","account_id":"default","channel":"other","clicks":1}
`},
		{"UTF-16 big endian", utf16be("date\tclicks\r\n2026-11-01\t1\r\n"), `ready template -, "utf-16be", delimiter "\t", decimal ".", days "YYYY-MM-DD", header 1, EUR
date = date (exact)
clicks = clicks (exact)
1 rows, 1 valid, 0 wrong, 0 skipped
{"date":"2026-11-01","account_id":"default","channel":"other","clicks":1}
`},
		{"Windows-1252", []byte("date;campaign_name;spend\n2026-11-01;Gr\xfc\xdfe \x80;1,5\n"), `ready template -, "windows-1252", delimiter ";", decimal ",", days "YYYY-MM-DD", header 1, EUR
date = date (exact)
campaign_name = campaign_name (exact)
spend = spend (exact)
1 rows, 1 valid, 0 wrong, 0 skipped
{"date":"2026-11-01","account_id":"default","channel":"other","external_campaign_id":"Grüße €","campaign_name":"Grüße €","spend":1.5}
`},
		{"old line ends and a pipe", []byte("date|clicks\r2026-11-01|1,234\r2026-11-02|5\r"), `ready template -, "utf-8", delimiter "|", decimal ".", days "YYYY-MM-DD", header 1, EUR
date = date (exact)
clicks = clicks (exact)
2 rows, 2 valid, 0 wrong, 0 skipped
{"date":"2026-11-01","account_id":"default","channel":"other","clicks":1234}
{"date":"2026-11-02","account_id":"default","channel":"other","clicks":5}
`},
		{"quotes and short lines", csvOf(`date,campaign_name,clicks,spend`, `2026-11-01,"a ""b"", c`+"\n"+`d",1`, ``, `2026-11-02,5" pipe,1,2`), `ready template -, "utf-8", delimiter ",", decimal ".", days "YYYY-MM-DD", header 1, EUR
date = date (exact)
campaign_name = campaign_name (exact)
clicks = clicks (exact)
spend = spend (exact)
2 rows, 2 valid, 0 wrong, 0 skipped
{"date":"2026-11-01","account_id":"default","channel":"other","external_campaign_id":"a \"b\", c\nd","campaign_name":"a \"b\", c\nd","clicks":1}
{"date":"2026-11-02","account_id":"default","channel":"other","external_campaign_id":"5\" pipe","campaign_name":"5\" pipe","clicks":1,"spend":2}
`},
		{"all that can be wrong", csvOf("date,clicks,spend,country,extra", "2026-11-01,1.5,x,DE", "soon,1,1,Atlantis", "2026-11-01,1,1,uk", "2026-11-01,2,2,GB", "2030-01-01,1,,DE", ",1,1,DE", "2026-11-03,1,1,"), `ready template -, "utf-8", delimiter ",", decimal ".", days "YYYY-MM-DD", header 1, EUR
date = date (exact)
clicks = clicks (exact)
spend = spend (exact)
country = country (exact)
7 rows, 2 valid, 5 wrong, 0 skipped
{"date":"2026-11-01","account_id":"default","channel":"other","country":"GB","clicks":1,"spend":1}
{"date":"2026-11-03","account_id":"default","channel":"other","clicks":1,"spend":1}
line 2: clicks invalid_type: clicks must be a whole number.
line 2: spend invalid_format: spend is no number with the decimal mark ".": "x".
line 3: date invalid_format: date must be a day such as YYYY-MM-DD.
line 3: country invalid_value: country must be an ISO 3166 code in upper case, such as DE.
line 5:  duplicate_item: The row has the same day, account, channel, campaign, creative, audience and breakdown as the one at line 4. Add them up, or leave one out.
line 6: date too_large: date must not be after 2026-11-17.
line 7: date required: date is required.
`},
		{"words of exports", csvOf("Day,Gender,Age,Impr.", "2026-11-01,Women,18 - 24,1", "2026-11-01,m,65 or more,2", "2026-11-01,Undetermined,,3"), `ready template -, "utf-8", delimiter ",", decimal ".", days "YYYY-MM-DD", header 1, EUR
Day = date (synonym)
Gender = gender (synonym)
Age = age_range (synonym)
Impr. = impressions (synonym)
3 rows, 3 valid, 0 wrong, 0 skipped
{"date":"2026-11-01","account_id":"default","channel":"other","age_range":"18-24","gender":"female","impressions":1}
{"date":"2026-11-01","account_id":"default","channel":"other","age_range":"65+","gender":"male","impressions":2}
{"date":"2026-11-01","account_id":"default","channel":"other","gender":"unknown","impressions":3}
`},
		{"slips, and two columns of one name", csvOf("Datum,Impresions,Clicks,Clicks,CTR,Cost / conv.", "2026-11-01,1,2,3,4%,5"), `ready template -, "utf-8", delimiter ",", decimal ".", days "YYYY-MM-DD", header 1, EUR
Datum = date (synonym)
Impresions = impressions (guess)
Clicks = clicks (synonym)
1 rows, 1 valid, 0 wrong, 0 skipped
{"date":"2026-11-01","account_id":"default","channel":"other","impressions":1,"clicks":2}
`},
		{"several days in a row", csvOf("Reporting starts,Reporting ends,Amount spent (GBP)", "2026-11-01,2026-11-01,1", "2026-11-01,2026-11-02,1", ",,2"), `ready template "meta_ads", "utf-8", delimiter ",", decimal ".", days "YYYY-MM-DD", header 1, GBP
Reporting starts = date (synonym)
Reporting ends = end_date (synonym)
Amount spent (GBP) = spend (synonym)
2 rows, 1 valid, 1 wrong, 1 skipped
{"date":"2026-11-01","account_id":"default","channel":"social","spend":1}
line 3: end_date invalid_value: end_date is not the day of the row. Export the report by day: a fact is about one day.
`},
		{"two currencies", csvOf("day,cost,currency", "2026-11-01,1,EUR", "2026-11-02,1,USD"), `ready template -, "utf-8", delimiter ",", decimal ".", days "YYYY-MM-DD", header 1, EUR
day = date (synonym)
cost = spend (synonym)
currency = currency (exact)
2 rows, 1 valid, 1 wrong, 0 skipped
{"date":"2026-11-01","account_id":"default","channel":"other","spend":1}
line 3: currency currency_mismatch: currency is not EUR, the currency of the import. Import each currency by itself.
`},
		{"days in two ways", csvOf("day,clicks", "01/02/2026,1", "03/04/2026,1"), `needs_mapping template -, "utf-8", delimiter ",", decimal ".", days -, header 1, EUR
day = date (synonym)
clicks = clicks (exact)
0 rows, 0 valid, 0 wrong, 0 skipped
`},
		{"nothing known", csvOf("a;b;c", "1;2;3"), `needs_mapping template -, "utf-8", delimiter ";", decimal ",", days -, header 1, EUR
0 rows, 0 valid, 0 wrong, 0 skipped
`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			i := newFakeDeps(t).uploaded(t, ingest.Upload{Name: `C:\files\` + tt.name + ".csv", Bytes: tt.file})
			if diff := cmp.Diff(tt.want, previewText(i)); diff != "" {
				t.Errorf("got + want -:\n%s", diff)
			}
			if i.Source != tt.name || i.File.Name != tt.name+".csv" {
				t.Errorf("got source %q of file %q want %q", i.Source, i.File.Name, tt.name)
			}
			if (i.Error != nil) != (i.Status == ingest.StatusNeedsMapping) {
				t.Errorf("got error %+v in status %s", i.Error, i.Status)
			}
		})
	}
}

// TestRecordIDColumns checks that columns of ids are detected by their values.
func TestRecordIDColumns(t *testing.T) {
	t.Parallel()
	w := newFakeDeps(t)
	i := w.uploaded(t, ingest.Upload{Bytes: csvOf("date,campaign_id,creative_id,Audience ID,clicks", fmt.Sprintf("2026-11-01,%s,%s,77,1", ourCampaign, ourVariant))})
	want := map[string]string{"date": "date", "campaign_id": "campaign_id", "creative_id": "creative_id", "Audience ID": "external_audience_id", "clicks": "clicks"}
	if diff := cmp.Diff(want, i.Mapping); diff != "" || i.Preview.ValidCount != 1 {
		t.Errorf("got + want -:\n%s%+v", diff, i.Preview)
	}
}

func TestUnreadable(t *testing.T) {
	t.Parallel()
	wide := strings.Repeat("a,", ingest.MaxColumns+1)
	for name, u := range map[string]ingest.Upload{
		"empty":               {},
		"blank":               {Bytes: []byte(" \n\n ")},
		"only a mark":         {Bytes: []byte("\ufeff")},
		"a picture":           {Bytes: []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR")},
		"no Parquet":          {Bytes: []byte("date,clicks\n"), ContentType: "application/vnd.apache.parquet"},
		"too many columns":    {Bytes: []byte("date,clicks," + wide + "\n2026-11-01,1\n")},
		"too many cells":      {Bytes: []byte("date,clicks\n" + strings.Repeat("1,", ingest.MaxColumns+1) + "1\n")},
		"a quote left open":   {Bytes: csvOf("date,clicks", `2026-11-01,"1`, strings.Repeat("2026-11-01,1\n", 1000))},
		"too many rows":       {Bytes: []byte("date,clicks\n" + strings.Repeat("2026-11-01,1\n", ingest.MaxFileRows+1))},
		"currency":            {Bytes: csvOf("date,clicks"), Currency: "eur"},
		"zone":                {Bytes: csvOf("date,clicks"), Zone: "Berlin"},
		"mode":                {Bytes: csvOf("date,clicks"), Mode: "append"},
		"too long a source":   {Bytes: csvOf("date,clicks"), Source: strings.Repeat("x", 201)},
		"no room for Parquet": {Bytes: []byte("PAR1....PAR1")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newFakeDeps(t)
			w.parquet = func([]byte, func([]string, [][]string) error) error {
				return fmt.Errorf("duck: %w", fact.ErrUnreadableFile)
			}
			u.Defaults = home
			_, err := w.Upload(t.Context(), cause, u)
			if !fault.Is(err, fault.ValidationFailed) || len(details(err)) == 0 {
				t.Errorf("got %v want validation_failed", err)
			}
			if len(w.imports) > 0 || len(w.files) > 0 {
				t.Errorf("got %d records and %d files want none", len(w.imports), len(w.files))
			}
		})
	}
}

func TestParquet(t *testing.T) {
	t.Parallel()
	w := newFakeDeps(t)
	w.parquet = func(_ []byte, each func([]string, [][]string) error) error {
		for _, rows := range [][][]string{{{"2026-11-01", "0.30000000000000004", "12"}}, {{"2026-11-02", "", "1"}, {"2026-11-03", "-1.5", ""}}} {
			if err := each([]string{"day", "cost", "impressions"}, rows); err != nil {
				return err
			}
		}
		return nil
	}
	i := w.uploaded(t, ingest.Upload{Name: "x.parquet", Bytes: []byte("PAR1....PAR1"), Commit: true})
	if i.Status != ingest.StatusCommitted || i.File.Format != ingest.FormatParquet || *i.RowsWritten != 3 || string(i.Preview.Totals["spend"]) != "-1.2" || i.Detected.Delimiter != nil {
		t.Errorf("got %+v want 3 rows of Parquet", i)
	}
}

// TestGuessNeedsConfirmation checks that an import with a guessed column is not
// committed without confirmation.
func TestGuessNeedsConfirmation(t *testing.T) {
	t.Parallel()
	i := newFakeDeps(t).uploaded(t, ingest.Upload{Bytes: csvOf("date,impresions", "2026-11-01,1"), Commit: true})
	if i.Status != ingest.StatusReady || i.Columns[1].Confidence != ingest.Guess {
		t.Errorf("got %s want it to wait", previewText(i))
	}
}

// TestUnknownValue checks the family of rows without a value. In a file with
// one breakdown they belong to its family. In a file with several breakdowns,
// the values of the row decide.
func TestUnknownValue(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{
		"date,country,clicks\n2026-11-01,DE,1\n2026-11-01,,2\n":              "geo+geo",
		"date,country,device,clicks\n2026-11-01,DE,,1\n2026-11-01,,,2\n":     "base+geo",
		"date,age,gender,clicks\n2026-11-01,18-24,,1\n2026-11-01,,male,2\n":  "demographic+demographic",
		"date,creative_name,clicks\n2026-11-01,A,1\n2026-11-01,,2\n":         "base+base",
		"date,country,device,clicks\n2026-11-01,,tv,1\n2026-11-01,DE,tv,1\n": "device",
	} {
		w := newFakeDeps(t)
		i := w.uploaded(t, ingest.Upload{Bytes: []byte(file)})
		if _, err := w.Commit(t.Context(), cause, i.ID, record.Match{}, ingest.Options{SkipErrors: true}); err != nil {
			t.Fatal(err)
		}
		var families []string
		for _, r := range w.rows {
			families = append(families, r.Family.String())
		}
		slices.Sort(families)
		if got := strings.Join(families, "+"); got != want {
			t.Errorf("%q: got %s want %s", file, got, want)
		}
	}
}

// TestTemplate wants the table that is given out to be read without a doubt.
func TestTemplate(t *testing.T) {
	t.Parallel()
	w := newFakeDeps(t)
	i := w.uploaded(t, ingest.Upload{Name: "template.csv", Bytes: ingest.Template(), Commit: true})
	if i.Status != ingest.StatusCommitted || len(w.rows) != 1 || len(i.Mapping) != len(ingest.Fields) {
		t.Errorf("got %s want all fields and one row", previewText(i))
	}
}
