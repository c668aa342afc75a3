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

// queryReply is the answer to a query.
type queryReply struct {
	Data       []queryReplyRow `json:"data"`
	HasMore    bool            `json:"has_more"`
	NextCursor *string         `json:"next_cursor"`
	Meta       struct {
		StartDate string `json:"start_date"`
		EndDate   string `json:"end_date"`
		Timezone  string `json:"timezone"`
		Currency  string `json:"currency"`
		Totals    *struct {
			Metrics  metricValues `json:"metrics"`
			Previous metricValues `json:"previous"`
			Change   metricValues `json:"change"`
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

type queryReplyRow struct {
	Dimensions  map[string]*string `json:"dimensions"`
	Labels      map[string]*string `json:"labels"`
	ExternalIDs map[string]string  `json:"external_ids"`
	Metrics     metricValues       `json:"metrics"`
	// PreviousDate is raw, to distinguish null from absent.
	PreviousDate json.RawMessage `json:"previous_date"`
	Previous     metricValues    `json:"previous"`
	Change       metricValues    `json:"change"`
	Partial      bool            `json:"partial"`
}

// metricValues are numbers as they are written.
type metricValues map[string]*json.Number

func readReply(t testing.TB, body []byte) *queryReply {
	t.Helper()
	var a queryReply
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	if err := d.Decode(&a); err != nil {
		t.Fatalf("read %s: %v", body, err)
	}
	return &a
}

// equalNumber compares a number as it is written with the exact value, to six
// digits after the point.
func equalNumber(got *json.Number, want *big.Rat) bool {
	if got == nil || want == nil {
		return (got == nil) == (want == nil)
	}
	_, fraction, _ := strings.Cut(string(*got), ".")
	n, ok := new(big.Rat).SetString(string(*got))
	return ok && len(fraction) <= 6 && n.Cmp(want) == 0
}

func formatRat(n *big.Rat) string {
	if n == nil {
		return "null"
	}
	return n.FloatString(6)
}

func formatNumber(n *json.Number) string {
	if n == nil {
		return "null"
	}
	return string(*n)
}

// metricDifferences returns how numbers differ from the expected row.
func metricDifferences(names []string, now, previous, change metricValues, want *expectedRow, compared bool) (list []string) {
	check := func(where string, got metricValues, want func(string) *big.Rat) {
		for _, m := range names {
			n, there := got[m]
			if !there || !equalNumber(n, want(m)) {
				list = append(list, fmt.Sprintf("%s%s: got %s want %s", where, m, formatNumber(n), formatRat(want(m))))
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

func changeOf(o *expectedRow, m string) *big.Rat { return relativeChange(o.now[m], o.before[m]) }

// rowDifferences returns how rows differ from the expected ones.
func rowDifferences(q *testQuery, rows []queryReplyRow, want []*expectedRow) (list []string) {
	if len(rows) != len(want) {
		list = append(list, fmt.Sprintf("rows: got %d want %d", len(rows), len(want)))
	}
	for i := range min(len(rows), len(want)) {
		for _, fault := range singleRowDifferences(q, &rows[i], want[i]) {
			list = append(list, fmt.Sprintf("row %d: %s", i, fault))
		}
	}
	return list
}

func singleRowDifferences(q *testQuery, got *queryReplyRow, want *expectedRow) (list []string) {
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
	labels := q.Include == nil || boolOr(q.Include.Labels, true)
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
	return append(list, metricDifferences(q.Metrics, got.Metrics, got.Previous, got.Change, want, q.Compare != nil)...)
}

// metaDifferences returns the problems outside the rows.
func metaDifferences(b *referenceData, q *testQuery, a *queryReply, want *expectedResult) (list []string) {
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
	if q.Include != nil && boolOr(q.Include.TotalRows, false) {
		if a.Meta.TotalRows == nil || *a.Meta.TotalRows != len(want.rows) {
			bad("total_rows", a.Meta.TotalRows, len(want.rows))
		}
	} else if a.Meta.TotalRows != nil {
		bad("total_rows", *a.Meta.TotalRows, nil)
	}
	byTag := slices.Contains(q.Dimensions, "tag")
	switch wanted := q.Include == nil || boolOr(q.Include.Totals, true); {
	case (a.Meta.Totals != nil) != wanted:
		bad("totals", a.Meta.Totals != nil, wanted)
	case wanted:
		t := a.Meta.Totals
		for _, fault := range metricDifferences(q.Metrics, t.Metrics, t.Previous, t.Change, &want.totals, q.Compare != nil) {
			list = append(list, "totals: "+fault)
		}
	}
	warned := map[string]bool{}
	for _, w := range a.Meta.Warnings {
		warned[w.Code] = true
	}
	needed := neededMeasures(q.Metrics)
	if mixed := want.mixed && needed["reach"]; mixed != warned["non_additive"] && len(q.onMetrics()) == 0 {
		bad("warning non_additive", warned["non_additive"], mixed)
	}
	if noRate := want.noRate && (needed["spend"] || needed["revenue"]) || want.noPacing; noRate != warned["missing_rate"] && len(q.onMetrics()) == 0 {
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
