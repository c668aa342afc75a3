package analytics_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"fanfare/internal/fanfaretest"
)

// ingested is the answer to sent rows.
type ingested struct {
	ConnectionID *string  `json:"connection_id"`
	Mode         string   `json:"mode"`
	Families     []string `json:"families"`
	Accepted     int      `json:"accepted"`
	Rejected     []struct {
		Index  int `json:"index"`
		Errors []struct {
			Field string         `json:"field"`
			Code  string         `json:"code"`
			Meta  map[string]any `json:"meta"`
		} `json:"errors"`
	} `json:"rejected"`
	RejectedCount int `json:"rejected_count"`
}

func ingestAnswer(res *fanfaretest.Response) (in ingested) {
	res.Want(200).Data(&in)
	return in
}

// totals returns the sums of a month in the order of names.
func totals(c *fanfaretest.Client, names ...string) string {
	body, _ := json.Marshal(map[string]any{"metrics": names, "date_range": map[string]any{"start_date": "2026-10-20", "end_date": "2026-11-17"}})
	a := readReply(c.Service.T, c.Do("POST", "/v1/analytics/query", body).Want(200).Body)
	var list []string
	for _, name := range names {
		list = append(list, formatNumber(a.Data[0].Metrics[name]))
	}
	return strings.Join(list, " ")
}

func wantTotals(t *testing.T, c *fanfaretest.Client, want string, names ...string) {
	t.Helper()
	if got := totals(c, names...); got != want {
		t.Errorf("%v: got %s want %s", names, got, want)
	}
}

const feedTarget = "/v1/ingest/metrics"

// TestInvalidRows: rows are checked separately, and invalid ones are reported
// by position, field and rule.
func TestInvalidRows(t *testing.T) {
	t.Parallel()
	w := startService(t)
	for _, test := range []struct {
		name, row, field, code, meant string
	}{
		{"no day", `{"clicks":1}`, "date", "required", ""},
		{"no measure", `{"date":"2026-11-01"}`, "", "required", ""},
		{"no object", `7`, "", "invalid_type", ""},
		{"an instant", `{"date":"2026-11-01T00:00:00Z","clicks":1}`, "date", "invalid_format", ""},
		{"no such day", `{"date":"2026-02-30","clicks":1}`, "date", "invalid_format", ""},
		{"the future", `{"date":"2026-12-24","clicks":1}`, "date", "too_large", ""},
		{"long ago", `{"date":"1999-12-31","clicks":1}`, "date", "too_small", ""},
		{"another word", `{"date":"2026-11-01","clicks":1,"chanel":"email"}`, "chanel", "unknown_field", "channel"},
		{"no channel", `{"date":"2026-11-01","clicks":1,"channel":"e-mail"}`, "channel", "invalid_value", "email"},
		{"a part of a click", `{"date":"2026-11-01","clicks":1.5}`, "clicks", "invalid_type", ""},
		{"fewer than none", `{"date":"2026-11-01","clicks":-1}`, "clicks", "too_small", ""},
		{"too many digits", `{"date":"2026-11-01","spend":"0.0000001"}`, "spend", "invalid_format", ""},
		{"too much", `{"date":"2026-11-01","spend":"1000000001"}`, "spend", "too_large", ""},
		{"no number", `{"date":"2026-11-01","spend":"12 EUR"}`, "spend", "invalid_format", ""},
		{"two breakdowns", `{"date":"2026-11-01","clicks":1,"country":"DE","device":"tv"}`, "device", "incompatible_fields", ""},
		{"a breakdown by creative", `{"date":"2026-11-01","clicks":1,"country":"DE","external_creative_id":"7"}`, "external_creative_id", "incompatible_fields", ""},
		{"no country", `{"date":"2026-11-01","clicks":1,"country":"XX"}`, "country", "invalid_value", ""},
		{"no campaign", `{"date":"2026-11-01","clicks":1,"campaign_id":"cmp_01h455vb4pex5vsknk084sn02q"}`, "campaign_id", "not_found", ""},
		{"an audience for a campaign", `{"date":"2026-11-01","clicks":1,"campaign_id":"aud_01h455vb4pex5vsknk084sn02q"}`, "campaign_id", "not_found", ""},
		{"the same once more", `{"date":"2026-11-03","clicks":1}`, "", "duplicate_item", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c := w.Tenant("enterprise")
			rows := `[{"date":"2026-11-03","clicks":10},` + test.row + `,{"date":"2026-11-04","clicks":5}]`
			in := ingestAnswer(c.Do("POST", feedTarget, rows))
			if in.Accepted != 2 || in.RejectedCount != 1 || len(in.Rejected) != 1 || in.Rejected[0].Index != 1 {
				t.Fatalf("got %+v want row 1 rejected", in)
			}
			e := in.Rejected[0].Errors[0]
			if meant, _ := e.Meta["did_you_mean"].(string); e.Field != test.field || e.Code != test.code || test.meant != "" && meant != test.meant {
				t.Errorf("got %+v want %s at %q, meaning %q", e, test.code, test.field, test.meant)
			}
			wantTotals(t, c.Client, "15", "clicks")
			// The same call in all-or-nothing mode changes nothing.
			other := w.Tenant("enterprise")
			refusal := other.Do("POST", feedTarget+"?atomic=true", rows).WantError(422, "validation_failed")
			if !slices.ContainsFunc(refusal.Details, func(d fanfaretest.Detail) bool { return strings.HasPrefix(d.Field, "rows[1]") && d.Code == test.code }) {
				t.Errorf("atomic: got %+v want %s at rows[1]", refusal.Details, test.code)
			}
			wantTotals(t, other.Client, "0", "clicks")
		})
	}
}

// TestUpsertAndReplace: a row replaces the row with the same key; a window is
// replaced as a whole, in the reports of its rows.
func TestUpsertAndReplace(t *testing.T) {
	t.Parallel()
	c := startService(t).Tenant("enterprise")
	const days = "&mode=replace&start_date=2026-11-01&end_date=2026-11-03"
	feed := func(params, rows string) ingested {
		return ingestAnswer(c.Do("POST", feedTarget+"?source=shop"+params, rows))
	}
	feed("", `[{"date":"2026-11-01","channel":"email","clicks":1,"spend":1},{"date":"2026-11-02","channel":"sms","clicks":2},{"date":"2026-11-04","clicks":4}]`)
	feed("", `[{"date":"2026-11-01","channel":"email","clicks":10}]`)
	// A row is replaced with all its measures: absent ones are unknown.
	wantTotals(t, c.Client, "16 null", "clicks", "spend")
	feed("", `[{"date":"2026-11-01","country":"DE","clicks":1},{"date":"2026-11-02","account_id":"b","clicks":100}]`)
	if in := feed(days, `[{"date":"2026-11-03","clicks":7}]`); in.Mode != "replace" || !slices.Equal(in.Families, []string{"base"}) {
		t.Errorf("got %+v want base replaced", in)
	}
	wantTotals(t, c.Client, "111", "clicks")
	byCountry := readReply(t, c.Do("POST", "/v1/analytics/query", `{"metrics":["clicks"],"dimensions":["country"]}`).Want(200).Body)
	if len(byCountry.Data) != 1 || formatNumber(byCountry.Data[0].Metrics["clicks"]) != "1" {
		t.Errorf("by country: got %+v want the row that was there", byCountry.Data)
	}
	ingestAnswer(c.Do("POST", feedTarget+"?source=other", `[{"date":"2026-11-02","clicks":1000}]`))
	feed(days+"&families=base,geo", `[]`)
	wantTotals(t, c.Client, "1104", "clicks")
	// Rows outside of the window are refused, and a call with only invalid rows
	// deletes nothing.
	c.Do("POST", feedTarget+"?source=other"+days, `[{"date":"2026-11-09","clicks":1}]`).WantError(422, "validation_failed")
	wantTotals(t, c.Client, "1104", "clicks")
	for _, bad := range []string{"&mode=replace", "&mode=replace&start_date=2026-11-02&end_date=2026-11-01", "&start_date=2026-11-01", "&families=base", "&mode=append", "&families=country&mode=replace&start_date=2026-11-01&end_date=2026-11-01"} {
		c.Do("POST", feedTarget+"?source=shop"+bad, `[]`).WantError(400, "invalid_parameter")
	}
}

// TestReplay: a call with a key has an effect once, whatever happened since.
func TestReplay(t *testing.T) {
	t.Parallel()
	c := startService(t).Tenant("enterprise")
	const key, row = "Idempotency-Key: rows-of-tuesday", `[{"date":"2026-11-01","clicks":1}]`
	first := c.Do("POST", feedTarget, row, key).Want(200)
	ingestAnswer(c.Do("POST", feedTarget, `[{"date":"2026-11-01","clicks":2}]`))
	again := c.Do("POST", feedTarget, row, key).Want(200)
	if string(again.Body) != string(first.Body) || again.Header.Get("Idempotency-Replayed") != "true" {
		t.Errorf("got %s, replayed %q want %s", again.Body, again.Header.Get("Idempotency-Replayed"), first.Body)
	}
	wantTotals(t, c.Client, "2", "clicks")
	c.Do("POST", feedTarget, `[{"date":"2026-11-01","clicks":9}]`, key).WantError(422, "idempotency_key_reused")
	c.Do("POST", feedTarget+"?source=other", row, key).WantError(422, "idempotency_key_reused")
	wantTotals(t, c.Client, "2", "clicks")
}

// TestLines: rows may be NDJSON.
func TestLines(t *testing.T) {
	t.Parallel()
	c := startService(t).Tenant("enterprise")
	const ndjson = "Content-Type: application/x-ndjson"
	in := ingestAnswer(c.Do("POST", feedTarget, "{\"date\":\"2026-11-01\",\"clicks\":1}\r\n\n{\"date\":\"2026-11-02\",\"clicks\":true}\n{\"date\":\"2026-11-03\",\"clicks\":\"3\"}", ndjson))
	if in.Accepted != 2 || in.RejectedCount != 1 || in.Rejected[0].Errors[0].Field != "clicks" {
		t.Errorf("got %+v want one of three rejected", in)
	}
	wantTotals(t, c.Client, "4", "clicks")
	// A line that is not JSON affects no other line.
	broken := ingestAnswer(c.Do("POST", feedTarget, "{\"date\":\"2026-11-01\",\"clicks\":9}\n{\"date\":\n{\"date\":\"2026-11-04\",\"clicks\":2}", ndjson))
	if broken.Accepted != 2 || len(broken.Rejected) != 1 || broken.Rejected[0].Index != 1 {
		t.Errorf("got %+v want row 1 rejected", broken)
	}
	wantTotals(t, c.Client, "14", "clicks")
	c.Do("POST", feedTarget, `{"date":"2026-11-01","clicks":1}`).WantError(400, "malformed_json")
	c.Do("POST", feedTarget, `[]`, "Content-Type: text/plain").WantError(415, "unsupported_media_type")
}

// TestManyRows: 50,000 rows per call are allowed, one more is not.
func TestManyRows(t *testing.T) {
	t.Parallel()
	c := startService(t).Tenant("enterprise")
	rows := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `,{"date":"2026-11-01","external_campaign_id":"%d","clicks":1,"spend":0.000001}`, i)
		}
		return "[" + b.String()[1:] + "]"
	}
	refusal := c.Do("POST", feedTarget, rows(50_001))
	if refusal.Status != 422 || !strings.Contains(string(refusal.Body), "50000") && !strings.Contains(string(refusal.Body), "50,000") {
		t.Errorf("got %d %.300s want a refusal that names the bound", refusal.Status, refusal.Body)
	}
	wantTotals(t, c.Client, "0", "clicks")
	if in := ingestAnswer(c.Do("POST", feedTarget, rows(50_000))); in.Accepted != 50_000 {
		t.Errorf("got %d want 50000", in.Accepted)
	}
	wantTotals(t, c.Client, "50000 0.05", "clicks", "spend")
	many := readReply(t, c.Do("POST", "/v1/analytics/query", `{"metrics":["clicks"],"dimensions":["campaign_id"],"include":{"total_rows":true}}`).Want(200).Body)
	if len(many.Data) != 1000 || !many.HasMore || many.Meta.TotalRows == nil || *many.Meta.TotalRows != 50_000 {
		t.Errorf("got %d rows, more %v, of %v want 1000 of 50000", len(many.Data), many.HasMore, many.Meta.TotalRows)
	}
	e := c.Do("POST", "/v1/analytics/query", `{"metrics":["clicks"],"dimensions":["campaign_id"],"granularity":"day"}`).WantError(422, "query_too_broad")
	if e.Details[0].Meta["bound"] != "rows" {
		t.Errorf("got %+v want the bound rows", e.Details)
	}
}

// TestAccounts: the currency and the time zone of an account are those of its
// first rows.
func TestAccounts(t *testing.T) {
	t.Parallel()
	c := startService(t).Tenant("enterprise")
	const row = `[{"date":"2026-11-01","account_id":"a","spend":10}]`
	first := ingestAnswer(c.Do("POST", feedTarget+"?source=shop&currency=SEK&timezone=Europe/Stockholm", row))
	for params, field := range map[string]string{"&currency=NOK": "currency", "&timezone=UTC": "timezone"} {
		if e := c.Do("POST", feedTarget+"?source=shop"+params, row).WantError(400, "invalid_parameter"); e.Details[0].Field != field {
			t.Errorf("got %+v want the %s refused", e.Details, field)
		}
	}
	// A later call need not repeat it, and the id names the source as well.
	if in := ingestAnswer(c.Do("POST", feedTarget+"?source="+*first.ConnectionID, `[{"date":"2026-11-02","account_id":"a","spend":5}]`)); *in.ConnectionID != *first.ConnectionID {
		t.Errorf("got connection %s want %s", *in.ConnectionID, *first.ConnectionID)
	}
	ingestAnswer(c.Do("POST", feedTarget+"?source=shop&currency=NOK", `[{"date":"2026-11-02","account_id":"b","spend":5}]`))
	con := c.Do("GET", "/v1/connections/"+*first.ConnectionID, nil).Want(200).Record()
	got := fmt.Sprint(con["name"], con["platform"], con["status"])
	for _, a := range con["accounts"].([]any) {
		a := a.(map[string]any)
		got += fmt.Sprint(" ", a["external_id"], a["currency"], a["timezone"])
	}
	if want := "shop api connected a SEK Europe/Stockholm b NOK UTC"; strings.ReplaceAll(got, " ", "") != strings.ReplaceAll(want, " ", "") {
		t.Errorf("got %s want %s", got, want)
	}
	c.Do("POST", feedTarget+"?source=con_01h455vb4pex5vsknk084sn02q", row).WantError(400, "invalid_parameter")
}
