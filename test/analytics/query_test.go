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

// queryCounts returns the number of workspaces and of queries for each.
func queryCounts() (worlds, each int) {
	if fullDrill {
		return 20, 500
	}
	return 1, 120
}

// TestDrillQuery sends random queries on random data and checks every value to
// the millionth. In between data is added, corrected and replaced, and records
// change.
func TestDrillQuery(t *testing.T) {
	t.Parallel()
	r := seededRand(t)
	worlds, each := queryCounts()
	broken := 0
	for range worlds {
		g := newTestWorkspace(t, r)
		for i := range each {
			if i%10 == 9 {
				g.changeSomething()
			}
			q := g.randomQuery()
			faults := g.checkQuery(q)
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

// sendQuery sends a query.
func (g *testWorkspace) sendQuery(q *testQuery, headers ...string) *fanfaretest.Response {
	g.t.Helper()
	body, err := json.Marshal(q)
	if err != nil {
		g.t.Fatal(err)
	}
	return g.Do("POST", "/v1/analytics/query", body, headers...)
}

// checkQuery sends a query and returns the problems of the answer.
func (g *testWorkspace) checkQuery(q *testQuery) []string {
	want := g.evaluate(q)
	if len(want.rows) > 10_000 {
		return nil
	}
	q.Limit = 10_000
	if g.withProbability(25) {
		// A repeated query may be answered from a cache.
		_, _ = g.sendQuery(q), g.sendQuery(q)
	}
	res := g.sendQuery(q)
	if res.Status != 200 {
		return []string{fmt.Sprintf("got status %d: %s", res.Status, res.Body)}
	}
	a := readReply(g.t, res.Body)
	faults := append(rowDifferences(q, a.Data, want.rows), metaDifferences(g.referenceData, q, a, want)...)
	if a.HasMore || a.NextCursor != nil {
		faults = append(faults, "got another page, want one")
	}
	if len(faults) == 0 && g.withProbability(15) {
		faults = g.checkCSV(q, a)
	}
	if len(faults) == 0 && g.withProbability(15) {
		faults = g.checkNDJSON(q, res.Body)
	}
	return faults
}

// checkCSV requests CSV and compares it with the rows.
func (g *testWorkspace) checkCSV(q *testQuery, a *queryReply) (faults []string) {
	res := g.sendQuery(q, "Accept: text/csv").Want(200)
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
		for prefix, f := range map[string]metricValues{"": r.Metrics, "previous.": r.Previous, "change.": r.Change} {
			for name, n := range f {
				check(prefix+name, strings.TrimPrefix(formatNumber(n), "null"))
			}
		}
	}
	return faults
}

// checkNDJSON requests NDJSON and compares it with the rows.
func (g *testWorkspace) checkNDJSON(q *testQuery, body []byte) (faults []string) {
	var a struct {
		Data []json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal(body, &a); err != nil {
		return []string{err.Error()}
	}
	res := g.sendQuery(q, "Accept: application/x-ndjson").Want(200)
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

// TestQueryWithoutFacts: without facts there is one row with zeros, and reach
// is null.
func TestQueryWithoutFacts(t *testing.T) {
	t.Parallel()
	c := startService(t).Tenant("enterprise")
	a := readReply(t, c.Do("POST", "/v1/analytics/query", `{"metrics":["clicks","spend","ctr","reach","spend_share"],"compare":{"to":"previous_period"}}`).Want(200).Body)
	if len(a.Data) != 1 {
		t.Fatalf("got %d rows want 1", len(a.Data))
	}
	for m, want := range map[string]string{"clicks": "0", "spend": "0", "ctr": "null", "reach": "null", "spend_share": "null"} {
		if now, before := formatNumber(a.Data[0].Metrics[m]), formatNumber(a.Data[0].Previous[m]); now != want || before != want {
			t.Errorf("%s: got %s and before %s want %s", m, now, before, want)
		}
	}
	by := readReply(t, c.Do("POST", "/v1/analytics/query", `{"metrics":["clicks"],"dimensions":["channel"],"granularity":"day"}`).Want(200).Body)
	if len(by.Data) != 0 || formatNumber(by.Meta.Totals.Metrics["clicks"]) != "0" {
		t.Errorf("by channel: got %d rows, %s in all want none", len(by.Data), formatNumber(by.Meta.Totals.Metrics["clicks"]))
	}
}

// TestLargestSums: sums are exact up to the limit, and refused beyond it
// instead of rounded.
func TestLargestSums(t *testing.T) {
	t.Parallel()
	c := startService(t).Tenant("enterprise")
	rows := make([]string, 9300)
	for i := range rows {
		rows[i] = fmt.Sprintf(`{"date":"2026-11-%02d","external_campaign_id":"%d","impressions":999999999999999,"spend":"-999999999.999999"}`, 1+i%2, i)
	}
	ingestAnswer(c.Do("POST", feedTarget+"?atomic=true", "["+strings.Join(rows, ",")+"]"))
	days := readReply(t, c.Do("POST", "/v1/analytics/query", `{"metrics":["impressions","spend"],"granularity":"day","include":{"totals":false},"date_range":{"start_date":"2026-11-01","end_date":"2026-11-01"}}`).Want(200).Body)
	if got, want := formatNumber(days.Data[0].Metrics["impressions"])+" "+formatNumber(days.Data[0].Metrics["spend"]), "4649999999999995350 -4649999999999.99535"; got != want {
		t.Errorf("got %s want %s", got, want)
	}
	for _, body := range []string{`{"metrics":["impressions"]}`, `{"metrics":["impressions"],"granularity":"day"}`, `{"metrics":["cpm"]}`} {
		e := c.Do("POST", "/v1/analytics/query", body).WantError(422, "query_too_broad")
		if e.Details[0].Meta["bound"] != "magnitude" {
			t.Errorf("%s: got %+v want the bound magnitude", body, e.Details)
		}
	}
}
