package analytics_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"
)

// reply is the answer to a query.
type reply struct {
	Data       []replyRow `json:"data"`
	HasMore    bool       `json:"has_more"`
	NextCursor *string    `json:"next_cursor"`
	Meta       struct {
		StartDate string `json:"start_date"`
		EndDate   string `json:"end_date"`
		Timezone  string `json:"timezone"`
		Currency  string `json:"currency"`
		Totals    *struct {
			Metrics  figures `json:"metrics"`
			Previous figures `json:"previous"`
			Change   figures `json:"change"`
		} `json:"totals"`
		Columns []struct {
			Name string `json:"name"`
		} `json:"columns"`
		Query    map[string]any `json:"query"`
		Warnings []struct {
			Code     string `json:"code"`
			Metric   string `json:"metric"`
			Currency string `json:"currency"`
		} `json:"warnings"`
		RowCount  int  `json:"row_count"`
		TotalRows *int `json:"total_rows"`
	} `json:"meta"`
}

type replyRow struct {
	Dimensions  map[string]*string `json:"dimensions"`
	Labels      map[string]*string `json:"labels"`
	ExternalIDs map[string]string  `json:"external_ids"`
	Metrics     figures            `json:"metrics"`
	// PreviousDate is raw, to tell null from what is not there.
	PreviousDate json.RawMessage `json:"previous_date"`
	Previous     figures         `json:"previous"`
	Change       figures         `json:"change"`
	Partial      bool            `json:"partial"`
}

// figures are numbers as they are written.
type figures map[string]*json.Number

func readReply(t testing.TB, body []byte) *reply {
	t.Helper()
	var a reply
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	if err := d.Decode(&a); err != nil {
		t.Fatalf("read %s: %v", body, err)
	}
	return &a
}

// same compares a number as it is written with what it has to be: exact, and
// with at most six digits after the point.
func same(got *json.Number, want *big.Rat) bool {
	if got == nil || want == nil {
		return (got == nil) == (want == nil)
	}
	_, fraction, _ := strings.Cut(string(*got), ".")
	n, ok := new(big.Rat).SetString(string(*got))
	return ok && len(fraction) <= 6 && n.Cmp(want) == 0
}

func shown(n *big.Rat) string {
	if n == nil {
		return "null"
	}
	return n.FloatString(6)
}

func written(n *json.Number) string {
	if n == nil {
		return "null"
	}
	return string(*n)
}

// wrongFigures says how numbers differ from those of an outcome.
func wrongFigures(names []string, now, previous, change figures, want *outcome, compared bool) (list []string) {
	check := func(where string, got figures, want func(string) *big.Rat) {
		for _, m := range names {
			n, there := got[m]
			if !there || !same(n, want(m)) {
				list = append(list, fmt.Sprintf("%s%s: got %s want %s", where, m, written(n), shown(want(m))))
			}
		}
		if len(got) != len(names) {
			list = append(list, fmt.Sprintf("%sfigures: got %d want %d", where, len(got), len(names)))
		}
	}
	check("", now, func(m string) *big.Rat { return want.now[m] })
	switch {
	case want.paired:
		check("previous.", previous, func(m string) *big.Rat { return want.before[m] })
		check("change.", change, func(m string) *big.Rat { return changeOf(want, m) })
	case previous != nil || change != nil:
		list = append(list, fmt.Sprintf("previous: got %v want null (compared: %v)", previous, compared))
	}
	return list
}

func changeOf(o *outcome, m string) *big.Rat { return change(o.now[m], o.before[m]) }

// wrongRows says how rows differ from those that they have to be.
func wrongRows(q *question, rows []replyRow, want []*outcome) (list []string) {
	if len(rows) != len(want) {
		list = append(list, fmt.Sprintf("rows: got %d want %d", len(rows), len(want)))
	}
	for i := range min(len(rows), len(want)) {
		for _, fault := range wrongRow(q, &rows[i], want[i]) {
			list = append(list, fmt.Sprintf("row %d: %s", i, fault))
		}
	}
	return list
}

func wrongRow(q *question, got *replyRow, want *outcome) (list []string) {
	bad := func(what string, got, want any) {
		list = append(list, fmt.Sprintf("%s: got %v want %v", what, got, want))
	}
	text := func(s *string) string {
		if s == nil {
			return "null"
		}
		return fmt.Sprintf("%q", *s)
	}
	nullable := func(s string, null bool) string {
		if null {
			return "null"
		}
		return fmt.Sprintf("%q", s)
	}
	size := len(q.Dimensions)
	if q.dated() {
		size++
		if d := text(got.Dimensions["date"]); d != nullable(want.date.String(), !want.current) {
			bad("date", d, nullable(want.date.String(), !want.current))
		}
	}
	previous := ""
	if q.dated() && q.Compare != nil {
		previous = nullable(want.dateBefore.String(), !want.paired)
	}
	if string(got.PreviousDate) != previous {
		bad("previous_date", string(got.PreviousDate), previous)
	}
	if len(got.Dimensions) != size {
		bad("dimensions", len(got.Dimensions), size)
	}
	labels := q.Include == nil || is(q.Include.Labels, true)
	for i, d := range q.Dimensions {
		v := want.values[i]
		if g := text(got.Dimensions[d]); g != nullable(v.text, v.null) {
			bad(d, g, nullable(v.text, v.null))
		}
		if got.ExternalIDs[d] != v.external {
			bad("external id of "+d, got.ExternalIDs[d], v.external)
		}
		label, there := got.Labels[d]
		if wanted := labels && strings.HasSuffix(d, "_id") && d != "account_id"; there != wanted {
			bad("label of "+d, there, wanted)
		} else if wanted && text(label) != nullable(v.label, v.label == "") {
			bad("label of "+d, text(label), nullable(v.label, v.label == ""))
		}
	}
	if got.Partial != want.partial {
		bad("partial", got.Partial, want.partial)
	}
	return append(list, wrongFigures(q.Metrics, got.Metrics, got.Previous, got.Change, want, q.Compare != nil)...)
}

// wrongMeta says what is wrong beside the rows.
func wrongMeta(b *book, q *question, a *reply, want *result) (list []string) {
	bad := func(what string, got, want any) {
		list = append(list, fmt.Sprintf("%s: got %v want %v", what, got, want))
	}
	days, _ := q.days(b)
	if a.Meta.StartDate != days.first.String() || a.Meta.EndDate != days.last.String() {
		bad("days", a.Meta.StartDate+" to "+a.Meta.EndDate, days)
	}
	if a.Meta.RowCount != len(a.Data) {
		bad("row_count", a.Meta.RowCount, len(a.Data))
	}
	if q.Include != nil && is(q.Include.TotalRows, false) {
		if a.Meta.TotalRows == nil || *a.Meta.TotalRows != len(want.rows) {
			bad("total_rows", a.Meta.TotalRows, len(want.rows))
		}
	} else if a.Meta.TotalRows != nil {
		bad("total_rows", *a.Meta.TotalRows, nil)
	}
	byTag := slices.Contains(q.Dimensions, "tag")
	switch wanted := q.Include == nil || is(q.Include.Totals, true); {
	case (a.Meta.Totals != nil) != wanted:
		bad("totals", a.Meta.Totals != nil, wanted)
	case wanted:
		t := a.Meta.Totals
		for _, fault := range wrongFigures(q.Metrics, t.Metrics, t.Previous, t.Change, &want.totals, q.Compare != nil) {
			list = append(list, "totals: "+fault)
		}
	}
	warned := map[string]bool{}
	for _, w := range a.Meta.Warnings {
		warned[w.Code] = true
	}
	needed := needs(q.Metrics)
	if mixed := want.mixed && needed["reach"]; mixed != warned["non_additive"] && len(q.onMetrics()) == 0 {
		bad("warning non_additive", warned["non_additive"], mixed)
	}
	if noRate := want.noRate && (needed["spend"] || needed["revenue"]) || want.unpaced; noRate != warned["missing_rate"] && len(q.onMetrics()) == 0 {
		bad("warning missing_rate", warned["missing_rate"], noRate)
	}
	if len(want.zones) > 1 && !warned["mixed_timezones"] {
		bad("warning mixed_timezones", false, want.zones)
	}
	if lacking := b.lacking(q); lacking != warned["missing_report"] {
		bad("warning missing_report", warned["missing_report"], lacking)
	}
	if byTag != warned["overlapping"] {
		bad("warning overlapping", warned["overlapping"], byTag)
	}
	return list
}
