package ingest_test

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/ident"
	"fanfare/internal/ingest"
	"fanfare/internal/record"
)

// style is a way to write a table.
type style struct {
	delimiter rune
	decimal   string
	thousands string
	layout    string
	format    string
	before    string
	after     string
}

func drawStyle(t *rapid.T) style {
	s := style{delimiter: rapid.SampledFrom([]rune{',', ';', '\t', '|'}).Draw(t, "delimiter"), decimal: rapid.SampledFrom([]string{".", ","}).Draw(t, "decimal")}
	s.thousands = rapid.SampledFrom([]string{"", map[string]string{".": ",", ",": "."}[s.decimal], " ", "'", "\u202f"}).Draw(t, "thousands")
	days := rapid.SampledFrom([][2]string{
		{"2006-01-02", "YYYY-MM-DD"},
		{"2006/01/02", "YYYY/MM/DD"},
		{"02.01.2006", "DD.MM.YYYY"},
		{"2.1.06", "DD.MM.YYYY"},
		{"02/01/2006", "DD/MM/YYYY"},
		{"01/02/2006", "MM/DD/YYYY"},
		{"Jan 2, 2006", "MMM D, YYYY"},
		{"20060102", "YYYYMMDD"},
		{"2006-01-02 15:04:05", "YYYY-MM-DD"},
	}).Draw(t, "days")
	s.layout, s.format = days[0], days[1]
	s.before = rapid.SampledFrom([]string{"", "€", "$ ", "US$"}).Draw(t, "before")
	if s.before == "" {
		s.after = rapid.SampledFrom([]string{"", " €", " EUR", " kr"}).Draw(t, "after")
	}
	return s
}

// number writes a value in a style.
func (s *style) number(v int64, m fact.Measure) string {
	sign, whole, fraction := "", v, ""
	if v < 0 {
		sign, whole = "-", -v
	}
	if m.Scaled() {
		fraction = s.decimal + fmt.Sprintf("%06d", whole%1_000_000)
		whole /= 1_000_000
	}
	digits := fmt.Sprint(whole)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + s.thousands + digits[i:]
	}
	if m.Money() {
		return sign + s.before + digits + fraction + s.after
	}
	return sign + digits + fraction
}

func drawRow(t *rapid.T) fact.Row {
	// The digit keeps words such as null out, which mean that there is nothing.
	word := rapid.StringMatching(`[A-Za-zäöü€"',;| ]{0,8}[a-zß][0-9]`)
	entity := func(name string) fact.Entity {
		return fact.Entity{ExternalID: rapid.StringMatching(`x[0-9]{1,9}`).Draw(t, name), Name: strings.TrimSpace(word.Draw(t, name+" name"))}
	}
	r := fact.Row{
		Source: &fact.Source{Account: rapid.SampledFrom([]string{"default", "eu", "us"}).Draw(t, "account")}, Date: *day("2026-01-01") + 1, Channel: rapid.SampledFrom(fact.Channels).Draw(t, "channel"),
		Campaign: entity("campaign"), Audience: entity("audience"), Creative: entity("creative"),
	}
	r.Date += clock.Date(rapid.IntRange(0, 300).Draw(t, "day"))
	// A record of ours comes with the row.
	r.Campaign.Record = rapid.SampledFrom([]ident.ID{"", ourCampaign}).Draw(t, "ours")
	for m := range fact.Measure(fact.NumMeasures) {
		least := int64(0)
		if m.Scaled() {
			least = -fact.MaxValue
		}
		if rapid.Bool().Draw(t, "known") || m == fact.Spend {
			r.Values.Set(m, rapid.Int64Range(least, fact.MaxValue).Draw(t, m.String()))
		}
	}
	return r
}

// TestTableRoundTrip writes rows in any style that people use, reads the file
// and wants the same rows, to the micro.
func TestTableRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		s := drawStyle(rt)
		rows := rapid.SliceOfN(rapid.Custom(drawRow), 1, 20).Draw(rt, "rows")
		want := map[string]fact.Row{}
		var b bytes.Buffer
		w := csv.NewWriter(&b)
		w.Comma = s.delimiter
		_ = w.Write(slices.Concat([]string{"date", "account_id", "channel", "campaign_id", "external_campaign_id", "campaign_name", "external_audience_id", "audience_name", "external_creative_id", "creative_name"}, fact.Measures))
		for _, r := range rows {
			r.Source = &fact.Source{Connection: "con_csv_s", Platform: "csv", Account: r.Source.Account, Currency: "EUR", Zone: "Europe/Berlin"}
			if _, twice := want[key(&r)]; twice {
				continue
			}
			want[key(&r)] = r
			cells := []string{r.Date.Time().Format(s.layout), r.Source.Account, r.Channel, string(r.Campaign.Record), r.Campaign.ExternalID, r.Campaign.Name, r.Audience.ExternalID, r.Audience.Name, r.Creative.ExternalID, r.Creative.Name}
			for m := range fact.Measure(fact.NumMeasures) {
				v, known := r.Values.Get(m)
				if !known {
					cells = append(cells, rapid.SampledFrom([]string{"", "--", "-", "n/a"}).Draw(rt, "nothing"))
					continue
				}
				cells = append(cells, s.number(v, m))
			}
			_ = w.Write(cells)
		}
		w.Flush()
		deps := newFakeDeps(t)
		i := deps.uploaded(t, ingest.Upload{Source: "s", Bytes: b.Bytes()})
		// Days that could be read in two ways are asked for.
		if i.Status == ingest.StatusNeedsMapping && i.Error.Field == "date_format" {
			if _, err := deps.update(t, i.ID, `{"date_format":"`+s.format+`"}`); err != nil {
				rt.Fatal(err)
			}
		} else if *i.Detected.DateFormat != s.format {
			rt.Fatalf("got days %s want %s in %s", *i.Detected.DateFormat, s.format, b.Bytes())
		}
		if _, err := deps.Commit(t.Context(), cause, i.ID, record.Match{}, ingest.Options{}); err != nil {
			d, _ := deps.Get(t.Context(), workspace, i.ID)
			rt.Fatalf("%v\n%s\n%s", err, b.Bytes(), previewText(decoded(t, d)))
		}
		if got := slices.Sorted(maps.Keys(deps.rows)); !slices.Equal(got, slices.Sorted(maps.Keys(want))) {
			rt.Fatalf("got %v want %v", got, slices.Sorted(maps.Keys(want)))
		}
		for k, got := range deps.rows {
			expected := want[k]
			if got.Values != expected.Values || got.Campaign != expected.Campaign || got.Creative != expected.Creative || got.Audience != expected.Audience || *got.Source != *expected.Source {
				rt.Fatalf("%s: got %+v want %+v", k, got, expected)
			}
		}
	})
}

// FuzzFiles wants every file to be read or refused, never more, and what is
// read to be committed whole and undone whole.
func FuzzFiles(f *testing.F) {
	for _, name := range []string{"google_ads", "meta_ads", "linkedin_ads", "tiktok_ads", "mailchimp", "klaviyo", "german"} {
		f.Add(file(f, name+".csv"))
	}
	for _, seed := range []string{"", "date", "date,clicks\n2026-11-01,1", "\xff\xfe", "\xfe\xffa", "\"", "date\n\"", ";;;\n;;;", "Total\n", "date,date\n1,1", "PAR1....PAR1", "\xef\xbb\xbfdate;spend\n1.1.26;1.000,00 €\nGesamt;5"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		w := newFakeDeps(t)
		w.parquet = func([]byte, func([]string, [][]string) error) error { return fact.ErrUnreadableFile }
		d, err := w.Upload(t.Context(), cause, ingest.Upload{Bytes: b, Defaults: home})
		if err != nil {
			if len(details(err)) == 0 {
				t.Fatalf("got %v want a fault that says what to do", err)
			}
			return
		}
		i := decoded(t, d)
		p := i.Preview
		if p.ValidCount+p.ErrorCount != p.RowCount || len(p.Rows) > 50 || len(p.Errors) > 100 || (p.ErrorCount > 0) != (len(p.Errors) > 0) {
			t.Fatalf("got %+v", p)
		}
		if i.Status != ingest.StatusReady || p.ValidCount == 0 {
			return
		}
		if d, err = w.Commit(t.Context(), cause, i.ID, record.Match{}, ingest.Options{SkipErrors: true}); err != nil {
			if len(details(err)) == 0 {
				t.Fatal(err)
			}
			return
		}
		if n := *decoded(t, d).RowsWritten; n != int64(p.ValidCount) || len(w.rows) != p.ValidCount {
			t.Fatalf("got %d rows written, %d stored want %d", n, len(w.rows), p.ValidCount)
		}
		if _, err := w.Undo(t.Context(), cause, i.ID, record.Match{}); err != nil || len(w.rows) != 0 {
			t.Fatalf("got %v and %d rows want none", err, len(w.rows))
		}
	})
}

// FuzzRows wants every body to be read or refused, and nothing to be lost.
func FuzzRows(f *testing.F) {
	for _, seed := range []string{oneRow, `[]`, `[{}]`, `[{"date":"2026-11-14","spend":"-0.000001","country":"DE"}]`, "{}\n{\n[1]\n", `[{"clicks":{"a":[[[]]]}}]`} {
		f.Add([]byte(seed), true)
		f.Add([]byte(seed), false)
	}
	f.Fuzz(func(t *testing.T, body []byte, lines bool) {
		w := newFakeDeps(t)
		_, err := w.Ingest(t.Context(), cause, ingest.Feed{Body: body, NDJSON: lines, Defaults: home})
		if err != nil {
			if len(details(err)) == 0 {
				t.Fatalf("got %v want a fault that says what to do", err)
			}
			return
		}
		if a := w.ingested(t, ingest.Feed{Body: body, NDJSON: lines}); a.Accepted != len(w.rows) || (a.RejectedCount > 0) != (len(a.Rejected) > 0) {
			t.Fatalf("got %d accepted, %d stored, %d of %d listed", a.Accepted, len(w.rows), len(a.Rejected), a.RejectedCount)
		}
	})
}

func BenchmarkUpload50000(b *testing.B) {
	var file bytes.Buffer
	file.WriteString("Day,Campaign,Campaign ID,Campaign type,Currency code,Cost,Impr.,Clicks,CTR,Conversions,Conv. value\n")
	for i := range 50_000 {
		fmt.Fprintf(&file, "2026-%02d-%02d,Campaign %d,%d,Search,EUR,\"1,234.%02d\",\"10,%03d\",%d,5.00%%,12.50,\"2,000.00\"\n", 1+i/28%10, 1+i%28, i/280, i/280, i%100, i%1000, i)
	}
	b.SetBytes(int64(file.Len()))
	for b.Loop() {
		if i := newFakeDeps(b).uploaded(b, ingest.Upload{Bytes: file.Bytes()}); i.Preview.ValidCount != 50_000 {
			b.Fatalf("got %d rows", i.Preview.ValidCount)
		}
	}
}
