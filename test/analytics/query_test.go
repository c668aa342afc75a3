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
	return 2, 120
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
