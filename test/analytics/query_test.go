package analytics_test

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"fanfare/internal/fanfaretest"
)

// questions is how many are asked of one world.
func questions() (worlds, each int) {
	if full {
		return 20, 500
	}
	return 1, 120
}

// TestDrillQuery asks random questions about random numbers and checks every
// value of every answer, to the millionth. In between numbers come in, are
// corrected and replaced, and records change.
func TestDrillQuery(t *testing.T) {
	t.Parallel()
	r := seeded(t)
	worlds, each := questions()
	broken := 0
	for range worlds {
		g := newWorld(t, r)
		for i := range each {
			if i%10 == 9 {
				g.stir()
			}
			q := g.someQuestion()
			faults := g.judge(q)
			if len(faults) == 0 {
				continue
			}
			body, _ := json.Marshal(q)
			t.Errorf("%s:\n  %s", body, strings.Join(faults[:min(len(faults), 12)], "\n  "))
			if broken++; broken == 10 {
				t.FailNow()
			}
		}
	}
}

// ask puts a question.
func (g *world) ask(q *question, headers ...string) *fanfaretest.Response {
	g.t.Helper()
	body, err := json.Marshal(q)
	if err != nil {
		g.t.Fatal(err)
	}
	return g.Do("POST", "/v1/analytics/query", body, headers...)
}

// judge asks a question and says what is wrong with the answer.
func (g *world) judge(q *question) []string {
	want := g.evaluate(q)
	if len(want.rows) > 10_000 {
		return nil
	}
	q.Limit = 10_000
	if g.chance(25) {
		// What was asked before may be answered in another way.
		_, _ = g.ask(q), g.ask(q)
	}
	res := g.ask(q)
	if res.Status != 200 {
		return []string{fmt.Sprintf("got status %d: %s", res.Status, res.Body)}
	}
	a := readReply(g.t, res.Body)
	faults := append(wrongRows(q, a.Data, want.rows), wrongMeta(g.book, q, a, want)...)
	if a.HasMore || a.NextCursor != nil {
		faults = append(faults, "got another page, want one")
	}
	if len(faults) == 0 && g.chance(15) {
		faults = g.asTable(q, a)
	}
	if len(faults) == 0 && g.chance(15) {
		faults = g.asLines(q, res.Body)
	}
	return faults
}

// asTable asks for CSV and compares it with the rows.
func (g *world) asTable(q *question, a *reply) (faults []string) {
	res := g.ask(q, "Accept: text/csv").Want(200)
	lines, err := csv.NewReader(strings.NewReader(string(res.Body))).ReadAll()
	if err != nil || len(lines) != len(a.Data)+1 {
		return []string{fmt.Sprintf("table: got %d lines, %v, want %d", len(lines), err, len(a.Data)+1)}
	}
	for i, r := range a.Data {
		cell := func(name string) string { return lines[i+1][slices.Index(lines[0], name)] }
		check := func(name, want string) {
			if got := cell(name); got != want && got != "'"+want {
				faults = append(faults, fmt.Sprintf("table: %s in line %d: got %q want %q", name, i+1, got, want))
			}
		}
		for name, v := range r.Dimensions {
			if v == nil {
				check(name, "")
			} else {
				check(name, *v)
			}
		}
		if r.PreviousDate != nil {
			check("previous.date", strings.Trim(strings.TrimPrefix(string(r.PreviousDate), "null"), `"`))
		}
		for prefix, f := range map[string]figures{"": r.Metrics, "previous.": r.Previous, "change.": r.Change} {
			for name, n := range f {
				check(prefix+name, strings.TrimPrefix(written(n), "null"))
			}
		}
	}
	return faults
}

// asLines asks for NDJSON and wants the same rows.
func (g *world) asLines(q *question, body []byte) (faults []string) {
	var a struct {
		Data []json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal(body, &a); err != nil {
		return []string{err.Error()}
	}
	res := g.ask(q, "Accept: application/x-ndjson").Want(200)
	lines := strings.Split(strings.TrimSuffix(string(res.Body), "\n"), "\n")
	if len(a.Data) == 0 {
		lines = lines[1:]
	}
	if len(lines) != len(a.Data) {
		return []string{fmt.Sprintf("lines: got %d want %d", len(lines), len(a.Data))}
	}
	for i := range lines {
		if lines[i] != string(a.Data[i]) {
			faults = append(faults, fmt.Sprintf("line %d: got %s want %s", i, lines[i], a.Data[i]))
		}
	}
	return faults
}

// TestNothing: without a fact there is one row, nothing has happened, and
// nobody was reached.
func TestNothing(t *testing.T) {
	t.Parallel()
	c := boot(t).Tenant("enterprise")
	a := readReply(t, c.Do("POST", "/v1/analytics/query", `{"metrics":["clicks","spend","ctr","reach","spend_share"],"compare":{"to":"previous_period"}}`).Want(200).Body)
	if len(a.Data) != 1 {
		t.Fatalf("got %d rows want 1", len(a.Data))
	}
	for m, want := range map[string]string{"clicks": "0", "spend": "0", "ctr": "null", "reach": "null", "spend_share": "null"} {
		if now, before := written(a.Data[0].Metrics[m]), written(a.Data[0].Previous[m]); now != want || before != want {
			t.Errorf("%s: got %s and before %s want %s", m, now, before, want)
		}
	}
	by := readReply(t, c.Do("POST", "/v1/analytics/query", `{"metrics":["clicks"],"dimensions":["channel"],"granularity":"day"}`).Want(200).Body)
	if len(by.Data) != 0 || written(by.Meta.Totals.Metrics["clicks"]) != "0" {
		t.Errorf("by channel: got %d rows, %s in all want none", len(by.Data), written(by.Meta.Totals.Metrics["clicks"]))
	}
}

// TestLargest: sums are exact as far as they can be told at all, and beyond
// that refused instead of rounded.
func TestLargest(t *testing.T) {
	t.Parallel()
	c := boot(t).Tenant("enterprise")
	rows := make([]string, 9300)
	for i := range rows {
		rows[i] = fmt.Sprintf(`{"date":"2026-11-%02d","external_campaign_id":"%d","impressions":999999999999999,"spend":"-999999999.999999"}`, 1+i%2, i)
	}
	sent(c.Do("POST", feedTarget+"?atomic=true", "["+strings.Join(rows, ",")+"]"))
	days := readReply(t, c.Do("POST", "/v1/analytics/query", `{"metrics":["impressions","spend"],"granularity":"day","include":{"totals":false},"date_range":{"start_date":"2026-11-01","end_date":"2026-11-01"}}`).Want(200).Body)
	if got, want := written(days.Data[0].Metrics["impressions"])+" "+written(days.Data[0].Metrics["spend"]), "4649999999999995350 -4649999999999.99535"; got != want {
		t.Errorf("got %s want %s", got, want)
	}
	for _, body := range []string{`{"metrics":["impressions"]}`, `{"metrics":["impressions"],"granularity":"day"}`, `{"metrics":["cpm"]}`} {
		e := c.Do("POST", "/v1/analytics/query", body).WantError(422, "query_too_broad")
		if e.Details[0].Meta["bound"] != "magnitude" {
			t.Errorf("%s: got %+v want the bound magnitude", body, e.Details)
		}
	}
}
