package ingest_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"fanfare/internal/fact"
	"fanfare/internal/fault"
	"fanfare/internal/ingest"
)

// TestRowProblems checks the problems of each row, as field:code. All are
// reported at once.
func TestRowProblems(t *testing.T) {
	t.Parallel()
	const right = `"date":"2026-11-14","clicks":1`
	for _, tt := range []struct{ name, row, want string }{
		{"the least", `{` + right + `}`, ""},
		{"nothing", `{}`, "date:required :required"},
		{"no measure", `{"date":"2026-11-14"}`, ":required"},
		{"null is not there", `{"date":"2026-11-14","clicks":null,"spend":null}`, ":required"},
		{"null date", `{"date":null,"clicks":1}`, "date:required"},
		{"not an object", `[1]`, ":invalid_type"},
		{"unknown", `{` + right + `,"click":1}`, "click:unknown_field"},
		{"of files only", `{` + right + `,"end_date":"2026-11-14"}`, "end_date:unknown_field"},
		{"case counts", `{` + right + `,"Spend":1}`, "Spend:unknown_field"},
		{"nested", `{` + right + `,"spend":{"a":[1]}}`, "spend:invalid_type"},
		{"flag", `{` + right + `,"spend":true}`, "spend:invalid_type"},

		{"date as time", `{"date":"2026-11-14T00:00:00Z","clicks":1}`, "date:invalid_format"},
		{"date as number", `{"date":20261114,"clicks":1}`, "date:invalid_type"},
		{"no such day", `{"date":"2026-02-29","clicks":1}`, "date:invalid_format"},
		{"leap day", `{"date":"2024-02-29","clicks":1}`, ""},
		{"first day", `{"date":"2000-01-01","clicks":1}`, ""},
		{"before", `{"date":"1999-12-31","clicks":1}`, "date:too_small"},
		{"last day", `{"date":"2026-11-17","clicks":1}`, ""},
		{"after", `{"date":"2026-11-18","clicks":1}`, "date:too_large"},

		{"count as text", `{"date":"2026-11-14","clicks":"12"}`, ""},
		{"half a count", `{"date":"2026-11-14","clicks":1.5}`, "clicks:invalid_type"},
		{"whole with point", `{"date":"2026-11-14","clicks":1.0}`, "clicks:invalid_type"},
		{"exponent", `{"date":"2026-11-14","clicks":1e3}`, "clicks:invalid_format"},
		{"negative count", `{"date":"2026-11-14","clicks":-1}`, "clicks:too_small"},
		{"largest count", `{"date":"2026-11-14","clicks":1000000000000000}`, ""},
		{"larger count", `{"date":"2026-11-14","clicks":1000000000000001}`, "clicks:too_large"},
		{"huge count", `{"date":"2026-11-14","clicks":99999999999999999999999999}`, "clicks:too_large"},
		{"no text", `{"date":"2026-11-14","clicks":""}`, "clicks:invalid_format"},
		{"words", `{"date":"2026-11-14","clicks":"many"}`, "clicks:invalid_format"},

		{"money", `{"date":"2026-11-14","spend":12.345678}`, ""},
		{"money as text", `{"date":"2026-11-14","spend":"12.345678"}`, ""},
		{"seven digits", `{"date":"2026-11-14","spend":12.3456789}`, "spend:invalid_format"},
		{"seven zeros", `{"date":"2026-11-14","spend":12.0000000}`, "spend:invalid_format"},
		{"correction", `{"date":"2026-11-14","spend":-5.5,"revenue":-1,"conversions":-0.5}`, ""},
		{"most", `{"date":"2026-11-14","spend":1000000000}`, ""},
		{"more", `{"date":"2026-11-14","spend":1000000000.000001}`, "spend:too_large"},
		{"least", `{"date":"2026-11-14","spend":-1000000000.1}`, "spend:too_small"},
		{"comma", `{"date":"2026-11-14","spend":"1,5"}`, "spend:invalid_format"},
		{"point first", `{"date":"2026-11-14","spend":".5"}`, "spend:invalid_format"},
		{"plus", `{"date":"2026-11-14","spend":"+5"}`, "spend:invalid_format"},
		{"two signs", `{"date":"2026-11-14","spend":"--5"}`, "spend:invalid_format"},
		{"a sign", `{"date":"2026-11-14","spend":"-"}`, "spend:invalid_format"},

		{"channel", `{` + right + `,"channel":"email"}`, ""},
		{"no channel", `{` + right + `,"channel":"mail"}`, "channel:invalid_value"},
		{"channel as number", `{` + right + `,"channel":1}`, "channel:invalid_type"},
		{"country", `{` + right + `,"country":"DE"}`, ""},
		{"small country", `{` + right + `,"country":"de"}`, "country:invalid_value"},
		{"no country", `{` + right + `,"country":"ZZ"}`, "country:invalid_value"},
		{"age and gender", `{` + right + `,"age_range":"65+","gender":"female"}`, ""},
		{"age", `{` + right + `,"age_range":"18-25"}`, "age_range:invalid_value"},
		{"device", `{` + right + `,"device":"tv"}`, ""},
		{"mix", `{` + right + `,"device":"tv","country":"DE"}`, "device:incompatible_fields"},
		{"mix of three", `{` + right + `,"device":"tv","country":"DE","gender":"male"}`, "gender:incompatible_fields device:incompatible_fields"},
		{"creative in geo", `{` + right + `,"country":"DE","creative_name":"A"}`, "creative_name:incompatible_fields"},
		{"audience in geo", `{` + right + `,"country":"DE","audience_name":"A"}`, ""},

		{"our records", fmt.Sprintf(`{%s,"campaign_id":%q,"creative_id":%q,"audience_id":%q}`, right, ourCampaign, ourCreative, ourAudience), ""},
		{"our variant", fmt.Sprintf(`{%s,"creative_id":%q}`, right, ourVariant), ""},
		{"another kind", fmt.Sprintf(`{%s,"campaign_id":%q}`, right, ourAudience), "campaign_id:not_found"},
		{"not there", `{` + right + `,"campaign_id":"cmp_01m7f7rg8reaarpph9r5d079kv","audience_id":"x"}`, "audience_id:not_found campaign_id:not_found"},
		{"not there and else", `{"date":"2026-11-14","clicks":-1,"campaign_id":"cmp_01m7f7rg8reaarpph9r5d079kv"}`, "clicks:too_small campaign_id:not_found"},
		{"ids as numbers", `{` + right + `,"account_id":12,"external_campaign_id":34,"external_creative_id":5,"external_audience_id":6}`, ""},
		{"name as number", `{` + right + `,"campaign_name":34}`, "campaign_name:invalid_type"},
		{"blank", `{` + right + `,"campaign_name":" \t"}`, "campaign_name:too_short"},
		{"empty", `{` + right + `,"external_campaign_id":""}`, "external_campaign_id:too_short"},
		{"longest name", `{` + right + `,"campaign_name":"` + strings.Repeat("ü", 500) + `"}`, ""},
		{"longer name", `{` + right + `,"campaign_name":"` + strings.Repeat("ü", 501) + `"}`, "campaign_name:too_long"},
		{"longer id", `{` + right + `,"external_campaign_id":"` + strings.Repeat("x", 201) + `"}`, "external_campaign_id:too_long"},
		{"nul", `{` + right + `,"campaign_name":"a\u0000b"}`, "campaign_name:invalid_value"},
		{"escapes", `{` + right + `,"campaign_name":"\u00fc\"\\"}`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for _, f := range []ingest.Feed{{Body: []byte("[" + tt.row + "]")}, {Body: []byte(tt.row), NDJSON: true}} {
				w := newFakeDeps(t)
				a := w.ingested(t, f)
				var got []string
				for _, r := range a.Rejected {
					for _, p := range r.Errors {
						got = append(got, p.Field+":"+p.Code)
						if !strings.HasSuffix(p.Message, ".") && !strings.HasSuffix(p.Message, "?") {
							t.Errorf("got message %q want a sentence", p.Message)
						}
					}
				}
				if s := strings.Join(got, " "); s != tt.want {
					t.Errorf("got %q want %q", s, tt.want)
				}
				accepted := 1
				if tt.want != "" {
					accepted = 0
				}
				if a.Accepted != accepted || a.RejectedCount != 1-accepted || len(w.rows) != accepted {
					t.Errorf("got %d accepted, %d rejected, %d written want %d accepted", a.Accepted, a.RejectedCount, len(w.rows), accepted)
				}
			}
		})
	}
}

// TestStored looks at what becomes of a row, whole.
func TestStored(t *testing.T) {
	t.Parallel()
	w := newFakeDeps(t)
	w.ingested(t, ingest.Feed{Source: "Shop", Body: fmt.Appendf(nil, `[
		{"date":"2026-11-14","account_id":"eu","channel":"search","campaign_id":%q,"external_campaign_id":"77","campaign_name":"Brand","creative_name":"Text A",
		 "impressions":10,"clicks":0,"spend":"0.000001","conversions":-1.5,"reach":9},
		{"date":"2026-11-14","gender":"male","campaign_name":"Brand","clicks":3}]`, ourCampaign)})
	if len(w.rows) != 2 {
		t.Fatalf("got %d rows want 2", len(w.rows))
	}
	for _, r := range w.rows {
		want := fact.Row{
			Source: &fact.Source{Connection: "con_api_shop", Platform: "api", Account: "eu", Currency: "EUR", Zone: "Europe/Berlin"},
			Date:   *day("2026-11-14"), Channel: "search",
			Campaign: fact.Entity{ExternalID: "77", Name: "Brand", Record: ourCampaign}, Creative: fact.Entity{ExternalID: "Text A", Name: "Text A"},
		}
		if r.Family == fact.Demographic {
			want = fact.Row{
				Source: &fact.Source{Connection: "con_api_shop", Platform: "api", Account: "default", Currency: "EUR", Zone: "Europe/Berlin"}, Family: fact.Demographic,
				Date: *day("2026-11-14"), Channel: "other", Campaign: fact.Entity{ExternalID: "Brand", Name: "Brand"}, Gender: "male",
			}
			want.Values.Set(fact.Clicks, 3)
		} else {
			for m, v := range map[fact.Measure]int64{fact.Impressions: 10, fact.Clicks: 0, fact.Spend: 1, fact.Conversions: -1_500_000, fact.Reach: 9} {
				want.Values.Set(m, v)
			}
		}
		if *r.Source != *want.Source {
			t.Errorf("got %+v want %+v", *r.Source, *want.Source)
		}
		r.Source, want.Source = nil, nil
		if r != want {
			t.Errorf("got %+v want %+v", r, want)
		}
	}
}

func TestHints(t *testing.T) {
	t.Parallel()
	a := newFakeDeps(t).ingested(t, ingest.Feed{Body: []byte(`[{"date":"2026-11-14","impresions":1,"channel":"emial","clicks":1}]`)})
	got := map[string]any{}
	for _, p := range a.Rejected[0].Errors {
		got[p.Field] = p.Meta["did_you_mean"]
	}
	if got["impresions"] != "impressions" || got["channel"] != "email" {
		t.Errorf("got %v want impressions and email", got)
	}
}

// TestDuplicates wants the later of two rows with one key to be refused, and
// rows that differ in any part of the key to be two.
func TestDuplicates(t *testing.T) {
	t.Parallel()
	rows := []string{
		`"clicks":1`, `"clicks":1,"channel":"email"`, `"clicks":1,"account_id":"b"`, `"clicks":1,"campaign_name":"a"`, `"clicks":1,"creative_name":"a"`, `"clicks":1,"audience_name":"a"`,
		`"clicks":1,"country":"DE"`, `"clicks":1,"country":"FR"`, `"clicks":1,"gender":"male"`, `"clicks":1,"age_range":"65+"`, `"clicks":1,"gender":"male","age_range":"65+"`, `"clicks":1,"device":"tv"`,
	}
	for i, r := range rows {
		rows[i] = `{"date":"2026-11-14",` + r + `}`
	}
	// The same keys, written differently.
	again := []string{
		`{"date":"2026-11-14","clicks":7,"account_id":" b "}`,
		`{"date":"2026-11-14","spend":2}`, `{"date":"2026-11-14","clicks":7,"channel":"other","account_id":"default"}`,
		`{"date":"2026-11-14","clicks":7,"external_campaign_id":"a","campaign_name":"other name"}`,
	}
	a := newFakeDeps(t).ingested(t, ingest.Feed{Body: []byte("[" + strings.Join(slices.Concat(rows, again), ",") + "]")})
	if a.Accepted != len(rows) || len(a.Rejected) != len(again) {
		t.Fatalf("got %d accepted, %+v rejected want %d and %d", a.Accepted, a.Rejected, len(rows), len(again))
	}
	for i, first := range []float64{2, 0, 0, 3} {
		r := a.Rejected[i]
		if p := r.Errors[0]; r.Index != len(rows)+i || p.Code != "duplicate_item" || p.Meta["first_index"] != first {
			t.Errorf("got %+v want duplicate_item of %v at %d", r, first, len(rows)+i)
		}
	}
}

// TestManyRefused wants the first of all refused rows to be listed, whatever
// is wrong with them, and the rest to be counted.
func TestManyRefused(t *testing.T) {
	t.Parallel()
	var rows []string
	for i := range 3000 {
		switch {
		case i%2 == 0:
			rows = append(rows, fmt.Sprintf(`{"date":"2026-11-14","campaign_name":"%d","clicks":1}`, i))
		case i < 1000:
			rows = append(rows, fmt.Sprintf(`{"date":"2026-11-14","external_campaign_id":"%d","campaign_id":"cmp_01m7f7rg8reaarpph9r5d079kv","clicks":1}`, i))
		default:
			rows = append(rows, `{"date":"2026-11-14","clicks":-1}`)
		}
	}
	a := newFakeDeps(t).ingested(t, ingest.Feed{Body: []byte(strings.Join(rows, "\n")), NDJSON: true})
	if a.Accepted != 1500 || a.RejectedCount != 1500 || len(a.Rejected) != ingest.MaxRejected {
		t.Fatalf("got %d accepted, %d rejected, %d listed want 1500, 1500, %d", a.Accepted, a.RejectedCount, len(a.Rejected), ingest.MaxRejected)
	}
	for i, r := range a.Rejected {
		want := "not_found"
		if 2*i+1 >= 1000 {
			want = "too_small"
		}
		if r.Index != 2*i+1 || len(r.Errors) != 1 || r.Errors[0].Code != want {
			t.Fatalf("got %+v want %s at %d", r, want, 2*i+1)
		}
	}
}

func TestMalformed(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, body, want string }{
		{"nothing", "", "empty_body"},
		{"spaces", " \n", "empty_body"},
		{"object", `{"date":"2026-11-14"}`, "not_an_array"},
		{"number", `1`, "not_an_array"},
		{"cut", `[{"date":"2026-11-14","clicks":1}`, "syntax"},
		{"comma", `[{"date":"2026-11-14","clicks":1},]`, "syntax"},
		{"lines", `{"date":"2026-11-14"}` + "\n" + `{"date":"2026-11-14"}`, "not_an_array"},
		{"behind", `[]1`, "trailing_data"},
		{"twice", `[{"date":"2026-11-14","date":"2026-11-14"}]`, "duplicate_key"},
		{"twice below", `[{"date":"2026-11-14","spend":{"a":1,"a":2}}]`, "duplicate_key"},
		{"no UTF-8", "[{\"date\":\"\xff\"}]", "invalid_utf8"},
		{"surrogate", `[{"campaign_name":"\ud800"}]`, "invalid_utf8"},
		{"mark", "\ufeff[]", "syntax"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newFakeDeps(t)
			_, err := w.Ingest(t.Context(), cause, ingest.Feed{Body: []byte(tt.body), Defaults: home})
			if d := details(err); !fault.Is(err, fault.MalformedJSON) || d[0].Code != tt.want {
				t.Errorf("got %v %+v want malformed_json, %s", err, d, tt.want)
			}
			if len(w.steps) > 0 {
				t.Errorf("got steps %v want none", w.steps)
			}
		})
	}
}

// TestLines wants a bad line to be the error of its row alone, and blank ones
// to be nothing.
func TestLines(t *testing.T) {
	t.Parallel()
	const right = `{"date":"2026-11-14","campaign_name":"%d","clicks":1}`
	body := fmt.Sprintf(right, 0) + "\r\n\n  \n{\"date\":\n" + fmt.Sprintf(right, 2) + "\n" + `{"clicks":1,"clicks":2}` + "\n" + "{\"date\":\"\xff\"}" + "\n" + `{"date":"2026-11-14","clicks":1} {}` + "\n" + `7` + "\n" + fmt.Sprintf(right, 7)
	a := newFakeDeps(t).ingested(t, ingest.Feed{Body: []byte(body), NDJSON: true})
	got := ""
	for _, r := range a.Rejected {
		got += fmt.Sprintf("%d %s ", r.Index, r.Errors[0].Code)
	}
	if want := "1 syntax 3 duplicate_key 4 invalid_utf8 5 trailing_data 6 invalid_type "; got != want || a.Accepted != 3 {
		t.Errorf("got %q and %d accepted want %q and 3", got, a.Accepted, want)
	}
}

// TestManyMembers wants rows with very many members to be refused without
// reading them all: by how much is allocated for them.
func TestManyMembers(t *testing.T) {
	var members strings.Builder
	for i := range 500_000 {
		fmt.Fprintf(&members, `"k%06d":1,`, i)
	}
	object := `{` + members.String() + `"date":"2026-11-14","clicks":1}`
	for _, tt := range []struct{ name, body, want string }{
		{"a row", `[` + object + `]`, "rows[0] too_many_items"},
		{"below a row", `[{"date":"2026-11-14","clicks":1},{"spend":` + object + `}]`, "rows[1].spend too_many_items"},
		{"below what is unknown", `[{"x":` + object + `}]`, "rows[0].x too_many_items"},
		{"a row that is none", `[[` + object + `]]`, "rows[0] invalid_type"},
		{"no array", object, " not_an_array"},
	} {
		w := newFakeDeps(t)
		ingest := func() (string, error) {
			_, err := w.Ingest(t.Context(), cause, ingest.Feed{Body: []byte(tt.body), Defaults: home})
			d := details(err)
			if len(d) != 1 {
				return fmt.Sprint(d), err
			}
			return d[0].Field + " " + d[0].Code, err
		}
		if got, err := ingest(); got != tt.want {
			t.Errorf("%s: got %s, %v want %s", tt.name, got, err, tt.want)
		}
		// The count includes what other goroutines of the process allocate.
		if n := testing.AllocsPerRun(1, func() { _, _ = ingest() }); n > 50_000 {
			t.Errorf("%s: got %.0f allocations want a tenth of the members at most", tt.name, n)
		}
	}
	a := newFakeDeps(t).ingested(t, ingest.Feed{Body: []byte(object + "\n" + `{"date":"2026-11-14","clicks":1}`), NDJSON: true})
	if a.Accepted != 1 || a.RejectedCount != 1 || a.Rejected[0].Errors[0].Code != "too_many_items" {
		t.Errorf("got %+v want one row refused and one accepted", a)
	}
}
