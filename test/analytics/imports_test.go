package analytics_test

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	_ "github.com/duckdb/duckdb-go/v2" // makes the Parquet file

	"fanfare/internal/fanfaretest"
)

// imported is an import in an answer.
type imported struct {
	ID          string            `json:"id"`
	Status      string            `json:"status"`
	Source      string            `json:"source"`
	Currency    string            `json:"currency"`
	Duplicate   *string           `json:"duplicate_of"`
	Mapping     map[string]string `json:"mapping"`
	RowsWritten *int              `json:"rows_written"`
	Detected    struct {
		Delimiter  *string `json:"delimiter"`
		Decimal    *string `json:"decimal"`
		DateFormat *string `json:"date_format"`
		Template   *string `json:"template"`
	} `json:"detected"`
	Preview struct {
		Valid   int                `json:"valid_count"`
		Wrong   int                `json:"error_count"`
		Skipped int                `json:"skipped_count"`
		Totals  map[string]float64 `json:"totals"`
		Start   *string            `json:"start_date"`
		Errors  []struct {
			Line  int    `json:"line"`
			Field string `json:"field"`
			Code  string `json:"code"`
		} `json:"errors"`
	} `json:"preview"`
	Error *struct {
		Field string `json:"field"`
		Code  string `json:"code"`
	} `json:"error"`
}

func upload(c *fanfaretest.Client, params string, file []byte) imported {
	var i imported
	c.Do("POST", "/v1/imports?"+params, file, "Content-Type: text/csv").Want(201).Data(&i)
	return i
}

func importAction(c *fanfaretest.Client, i imported, action string) imported {
	c.Do("POST", "/v1/imports/"+i.ID+"/"+action, nil).Want(200).Data(&i)
	return i
}

// allAnswers returns all answers that depend on the data.
func allAnswers(t testing.TB, c *fanfaretest.Client) string {
	t.Helper()
	var b strings.Builder
	for _, dims := range []string{`"channel"`, `"campaign_id","creative_id"`, `"country"`, `"account_id","weekday"`} {
		body := `{"metrics":["impressions","clicks","spend","conversions","revenue","reach","roas"],"dimensions":[` + dims + `],"granularity":"week","date_range":{"preset":"last_90_days"},"limit":10000}`
		b.Write(c.Do("POST", "/v1/analytics/query", body, "Accept: application/x-ndjson").Want(200).Body)
	}
	return b.String()
}

// TestImportLifecycle uploads, previews, commits and undoes a typical file.
func TestImportLifecycle(t *testing.T) {
	t.Parallel()
	w := startService(t)
	c := w.Tenant("enterprise")
	ingestAnswer(c.Do("POST", feedTarget+"?source=before", `[{"date":"2026-11-01","channel":"email","clicks":1,"spend":"0.5"}]`))
	empty := allAnswers(t, c.Client)
	file := []byte("Bericht November\n\nTag;Kanal;Kampagne;Kosten;Klicks;Unklar\n01.11.2026;email;Winter;1.234,56;10;x\n13.11.2026;sms;Winter;0,44;5;y\nSumme;;;1.235,00;15;\n")
	i := upload(c.Client, "filename=november.csv&currency=EUR", file)
	if *i.Detected.Delimiter != ";" || *i.Detected.Decimal != "," || i.Detected.DateFormat == nil || *i.Detected.DateFormat != "DD.MM.YYYY" || i.Source != "november" {
		t.Errorf("got %+v want a German file", i)
	}
	if allAnswers(t, c.Client) != empty {
		t.Error("got other numbers before the commit")
	}
	if i.Mapping["Kanal"] != "channel" || i.Mapping["Kosten"] != "spend" {
		mapping := `{"mapping":{"Tag":"date","Kanal":"channel","Kampagne":"campaign_name","Kosten":"spend","Klicks":"clicks","Unklar":null}}`
		c.Do("PATCH", "/v1/imports/"+i.ID, mapping).Want(200).Data(&i)
	}
	if i.Status != "ready" || i.Preview.Valid != 2 || i.Preview.Wrong != 0 || i.Preview.Totals["spend"] != 1235 || *i.Preview.Start != "2026-11-01" {
		t.Fatalf("got %+v want two rows with 1235 in all", i)
	}
	i = importAction(c.Client, i, "commit")
	if i.Status != "committed" || i.RowsWritten == nil || *i.RowsWritten != 2 {
		t.Errorf("got %+v want 2 rows written", i)
	}
	wantTotals(t, c.Client, "16", "clicks")
	c.Do("PATCH", "/v1/imports/"+i.ID, `{"mode":"replace"}`).WantError(409, "invalid_state")
	after := allAnswers(t, c.Client)

	again := upload(c.Client, "filename=november.csv&currency=EUR", file)
	if again.Duplicate == nil || *again.Duplicate != i.ID {
		t.Errorf("the same file: got duplicate_of %v want %s", again.Duplicate, i.ID)
	}
	c.Do("PATCH", "/v1/imports/"+again.ID, `{"mapping":{"Tag":"date","Kanal":"channel","Kampagne":"campaign_name","Kosten":"spend","Klicks":"clicks"}}`).Want(200)
	again = importAction(c.Client, again, "commit")
	if allAnswers(t, c.Client) != after {
		t.Error("the same file twice: got other numbers")
	}
	importAction(c.Client, again, "undo")
	if allAnswers(t, c.Client) != after {
		t.Error("the second undone: got other numbers than after the first")
	}
	undone := importAction(c.Client, i, "undo")
	if undone.Status != "undone" || allAnswers(t, c.Client) != empty {
		t.Errorf("undone: got %s and other numbers than before", undone.Status)
	}
	c.Do("POST", "/v1/imports/"+i.ID+"/undo", nil).WantError(409, "invalid_state")
}

// TestDrillUndo: undoing any sequence of imports restores the previous numbers
// exactly.
func TestDrillUndo(t *testing.T) {
	t.Parallel()
	g := newTestWorkspace(t, seededRand(t))
	rounds := 2
	if fullDrill {
		rounds = 60
	}
	f := &g.feeds[3]
	for range rounds {
		before := allAnswers(t, g.Client)
		var list []imported
		states := []string{before}
		for range 1 + g.r.IntN(3) {
			params := "filename=rows.csv&source=" + f.name + "&currency=JPY&timezone=Asia/Tokyo&commit=true&mode=" + g.pickOne("upsert", "replace")
			list = append(list, upload(g.Client, params, csvOf(g.randomRows(f, 40, func() day { return g.today - day(g.r.IntN(20)) }))))
			states = append(states, allAnswers(t, g.Client))
		}
		for i, last := range slices.Backward(list) {
			if last.Status != "committed" {
				t.Fatalf("got %+v want it committed", last)
			}
			importAction(g.Client, last, "undo")
			if got := allAnswers(t, g.Client); got != states[i] {
				t.Fatalf("undo of import %d of %d: got other numbers than before it:\n%s", i+1, len(list), difference(got, states[i]))
			}
		}
	}
}

// difference returns where two texts differ.
func difference(got, want string) string {
	at := 0
	for at < min(len(got), len(want)) && got[at] == want[at] {
		at++
	}
	around := func(s string) string { return s[max(0, at-300):min(len(s), at+300)] }
	return "got …" + around(got) + "…\nwant …" + around(want) + "…"
}

// TestImportsInAnyOrder: an import that a newer one replaced can be undone, and
// undoing the newer one restores what it replaced.
func TestImportsInAnyOrder(t *testing.T) {
	t.Parallel()
	c := startService(t).Tenant("enterprise")
	file := func(clicks string) imported {
		return upload(c.Client, "source=x&commit=true&filename=f.csv", []byte("date,clicks\n2026-11-01,"+clicks+"\n"))
	}
	a, b := file("1"), file("10")
	third := file("100")
	importAction(c.Client, b, "undo")
	wantTotals(t, c.Client, "100", "clicks")
	importAction(c.Client, third, "undo")
	wantTotals(t, c.Client, "1", "clicks")
	importAction(c.Client, a, "undo")
	wantTotals(t, c.Client, "0", "clicks")
}

// TestImportErrors: invalid rows are reported by line, and skipped only if the
// caller requests it.
func TestImportErrors(t *testing.T) {
	t.Parallel()
	w := startService(t)
	c := w.Tenant("enterprise")
	i := upload(c.Client, "filename=f.csv", []byte("date,channel,clicks\n2026-11-01,email,1\n2026-11-02,pigeon,2\n2026-11-03,email,many\n"))
	if i.Preview.Valid != 1 || i.Preview.Wrong != 2 || len(i.Preview.Errors) != 2 || i.Preview.Errors[0].Line != 3 || i.Preview.Errors[0].Field != "channel" || i.Preview.Errors[1].Field != "clicks" {
		t.Errorf("got %+v want lines 3 and 4 wrong", i.Preview)
	}
	c.Do("POST", "/v1/imports/"+i.ID+"/commit", nil).WantError(409, "invalid_state")
	c.Do("POST", "/v1/imports/"+i.ID+"/commit", `{"skip_errors":true}`).Want(200)
	wantTotals(t, c.Client, "1", "clicks")

	unclear := upload(c.Client, "filename=g.csv&commit=true", []byte("date,clicks\n01/02/2026,1\n03/04/2026,2\n"))
	if unclear.Status != "needs_mapping" || unclear.Error == nil || unclear.Detected.DateFormat != nil {
		t.Errorf("got %+v want a question about the days", unclear)
	}
	c.Do("POST", "/v1/imports/"+unclear.ID+"/commit", nil).WantError(409, "invalid_state")
	c.Do("PATCH", "/v1/imports/"+unclear.ID, `{"date_format":"DD/MM/YYYY"}`).Want(200).Data(&unclear)
	if unclear.Status != "ready" || *unclear.Preview.Start != "2026-02-01" {
		t.Errorf("got %+v want 1 February", unclear)
	}
	c.Do("PATCH", "/v1/imports/"+unclear.ID, `{"mapping":{"clicks":"clickz"}}`).WantError(422, "validation_failed")
	c.Do("PATCH", "/v1/imports/"+unclear.ID, `{"mapping":{"nowhere":"clicks"}}`).WantError(422, "validation_failed")
	for name, bad := range map[string]string{"nothing but text": "hello", "zeros": "\x00\x00\x00", "a header alone": "date,clicks\n"} {
		if res := c.Do("POST", "/v1/imports?filename=x.csv&commit=true", bad, "Content-Type: text/csv"); res.Status == 201 && strings.Contains(string(res.Body), `"committed"`) || res.Status >= 500 {
			t.Errorf("%s: got %d %s want no commit", name, res.Status, res.Body)
		}
	}
	// Thirty days later it cannot be undone any more.
	w.Clock.Advance(31 * 24 * time.Hour)
	c.Do("POST", "/v1/imports/"+i.ID+"/undo", nil).WantError(409, "invalid_state")
}

// TestParquet: a Parquet file gives the same numbers as a CSV file.
func TestParquet(t *testing.T) {
	t.Parallel()
	c := startService(t).Tenant("enterprise")
	name := filepath.Join(t.TempDir(), "rows.parquet")
	makeParquet(t, name, `SELECT DATE '2026-11-01' AS date, 'email' AS channel, 12::BIGINT AS clicks, 1.25::DECIMAL(10,2) AS spend, 0.1::DOUBLE AS conversions
		UNION ALL SELECT DATE '2026-11-02', 'sms', NULL, 2.5, 0.2`)
	file, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var i imported
	c.Do("POST", "/v1/imports?filename=rows.parquet&commit=true", file, "Content-Type: application/vnd.apache.parquet").Want(201).Data(&i)
	if i.Status != "committed" {
		t.Fatalf("got %+v want it committed", i)
	}
	wantTotals(t, c.Client, "12 3.75 0.3", "clicks", "spend", "conversions")
	importAction(c.Client, i, "undo")
	wantTotals(t, c.Client, "0 0 0", "clicks", "spend", "conversions")
	c.Do("POST", "/v1/imports?filename=rows.parquet", file[:len(file)-9], "Content-Type: application/vnd.apache.parquet").WantError(422, "validation_failed")
}

func makeParquet(t *testing.T, name, query string) {
	t.Helper()
	db, err := sql.Open("duckdb", "")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if _, err := db.ExecContext(context.Background(), "COPY ("+query+") TO '"+name+"' (FORMAT parquet)"); err != nil {
		t.Fatal(err)
	}
}

// TestTemplate: the template can be imported unchanged.
func TestTemplate(t *testing.T) {
	t.Parallel()
	c := startService(t).Tenant("enterprise")
	file := c.Do("GET", "/v1/imports/template", nil, "Accept: text/csv").Want(200).Body
	i := upload(c.Client, "filename=template.csv", file)
	if i.Error != nil && i.Error.Field == "date" || !slices.Contains([]string{"ready", "needs_mapping"}, i.Status) || i.Preview.Valid+i.Preview.Wrong != 1 {
		t.Errorf("got %+v want one row", i)
	}
}
