package analytics_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// reports are the paths of the reports, the record kind of their rows, and its
// statuses.
var reports = []struct {
	name, member, dimension string
	statuses                []string
}{
	{name: "overview"},
	{"campaigns", "campaign", "campaign_id", []string{"draft", "active", "paused", "completed", "archived"}},
	{"channels", "channel", "channel", nil},
	{"creative", "creative", "creative_id", []string{"generating", "ready", "failed", "archived"}},
	{"audiences", "audience", "audience_id", []string{"processing", "ready", "too_small", "failed", "archived"}},
}

// reportRow is a row of a report.
type reportRow struct {
	Campaign, Creative, Audience, Channel *reportSubject
	Date                                  *string
	PreviousDate                          json.RawMessage `json:"previous_date"`
	Metrics                               metricValues
	Previous                              metricValues
	Change                                metricValues
	Partial                               bool
}

type reportSubject struct {
	ID         *string `json:"id"`
	Name       *string `json:"name"`
	Status     *string `json:"status"`
	ExternalID *string `json:"external_id"`
}

// TestDrillReports checks that each report equals its query, and every value of
// it.
func TestDrillReports(t *testing.T) {
	t.Parallel()
	g := newTestWorkspace(t, seededRand(t))
	for i := range 4 * queriesPerLaw() {
		if i%10 == 9 {
			g.changeSomething()
		}
		rep := reports[i%len(reports)]
		q, params := g.randomReport(rep.dimension, rep.statuses)
		target := "/v1/analytics/" + rep.name + "?" + params.Encode()
		var faults []string
		if rep.dimension == "" {
			faults = g.checkOverview(q, target)
		} else {
			faults = g.checkReport(q, target, rep.member)
		}
		if len(faults) > 0 {
			t.Errorf("GET %s:\n  %s", target, strings.Join(faults[:min(len(faults), 12)], "\n  "))
		}
	}
}

// randomReport returns the parameters of a report and the equivalent query.
func (g *testWorkspace) randomReport(dimension string, statuses []string) (*testQuery, url.Values) {
	p := url.Values{}
	q := &testQuery{Metrics: []string{"impressions", "clicks", "spend", "conversions", "revenue", "ctr", "cpc", "cpm", "cvr", "cpa", "roas"}}
	if g.withProbability(60) {
		q.Metrics = nil
		for range 1 + g.r.IntN(6) {
			if m := g.pickOne(metrics...); !slices.Contains(q.Metrics, m) && m != "pacing" {
				q.Metrics = append(q.Metrics, m)
			}
		}
		if q.Metrics == nil {
			q.Metrics = []string{"leads"}
		}
		p.Set("metrics", strings.Join(q.Metrics, ","))
	}
	if g.withProbability(60) {
		first := g.randomDay()
		q.DateRange = &period{StartDate: first.String(), EndDate: (first + day(g.r.IntN(70))).String()}
		p.Set("start_date", q.DateRange.StartDate)
		p.Set("end_date", q.DateRange.EndDate)
	}
	set := func(percent int, name string, to *string, list ...string) {
		if g.withProbability(percent) {
			*to = g.pickOne(list...)
			p.Set(name, *to)
		}
	}
	set(40, "granularity", &q.Granularity, granularities...)
	set(30, "currency", &q.Currency, "USD", "EUR", "SEK", "JPY", "GBP")
	set(30, "timezone", &q.Timezone, "UTC", "Pacific/Kiritimati")
	if yesterday := q.today(g.referenceData) - 1; q.DateRange != nil && g.withProbability(40) {
		// Without a first day it is 30 days, without a last one until
		// yesterday.
		switch last := parseDay(q.DateRange.EndDate); {
		case g.withProbability(50):
			p.Del("start_date")
			q.DateRange.StartDate = (last - 29).String()
		case parseDay(q.DateRange.StartDate) <= yesterday:
			p.Del("end_date")
			q.DateRange.EndDate = yesterday.String()
		}
	}
	if g.withProbability(40) {
		q.Compare = &comparison{To: g.pickOne("previous_period", "previous_year")}
		p.Set("compare", q.Compare.To)
	}
	var all []condition
	filter := func(name, field string, values ...string) {
		if g.withProbability(30) {
			n := condition{Field: field, Op: "in"}
			for _, v := range values[:1+g.r.IntN(len(values))] {
				n.Values = append(n.Values, v)
				p.Set(name, strings.TrimPrefix(p.Get(name)+","+v, ","))
			}
			all = append(all, n)
		}
	}
	filter("channel", "channel", channels...)
	filter("platform", "platform", "csv", "api")
	if dimension != "" {
		q.Dimensions = []string{dimension}
		q.sort = &sortOrder{"spend", "desc"}
		set(40, "sort", &q.sort.Field, append([]string{"name"}, metrics[:len(metrics)-1]...)...)
		set(40, "order", &q.sort.Order, "asc", "desc")
		p.Set("limit", strconv.Itoa(1+g.r.IntN(100)))
	}
	switch dimension {
	case "campaign_id":
		filter("status", "campaign_status", "paused", "active", "draft")
	case "creative_id", "audience_id":
		if g.withProbability(30) {
			q.statuses = []string{g.pickOne(statuses...)}
			p.Set("status", q.statuses[0])
		}
	}
	if all != nil {
		q.filter, q.Filters = &condition{And: all}, condition{And: all}
	}
	return q, p
}

func (g *testWorkspace) checkOverview(q *testQuery, target string) (faults []string) {
	res := g.Do("GET", target, nil).Want(200)
	var a struct {
		Data struct {
			Metrics, Previous, Change metricValues
			Series                    []struct {
				Date                      *string
				PreviousDate              json.RawMessage `json:"previous_date"`
				Metrics, Previous, Change metricValues
				Partial                   bool
			}
		}
	}
	if err := json.Unmarshal(res.Body, &a); err != nil {
		return []string{err.Error()}
	}
	want := g.evaluate(q)
	faults = metricDifferences(q.Metrics, a.Data.Metrics, a.Data.Previous, a.Data.Change, &want.totals, q.Compare != nil)
	if q.Granularity == "" || q.Granularity == "none" {
		want.rows = nil
	}
	if len(a.Data.Series) != len(want.rows) {
		return append(faults, fmt.Sprintf("series: got %d want %d", len(a.Data.Series), len(want.rows)))
	}
	for i, s := range a.Data.Series {
		row := queryReplyRow{Dimensions: map[string]*string{"date": s.Date}, PreviousDate: s.PreviousDate, Metrics: s.Metrics, Previous: s.Previous, Change: s.Change, Partial: s.Partial}
		faults = append(faults, singleRowDifferences(q, &row, want.rows[i])...)
	}
	return append(faults, g.compareWithQuery(q, res.Body)...)
}

// compareWithQuery compares everything but the rows of a report with the query.
func (g *testWorkspace) compareWithQuery(q *testQuery, body []byte) (faults []string) {
	if q.statuses != nil {
		return nil
	}
	type told struct {
		Meta struct {
			Totals, Warnings, Freshness json.RawMessage
			StartDate                   string `json:"start_date"`
			EndDate                     string `json:"end_date"`
			Timezone                    string
			Currency                    string
		}
	}
	var a, b told
	query := g.sendQuery(q).Want(200).Body
	if err := json.Unmarshal(body, &a); err != nil {
		return []string{err.Error()}
	}
	if err := json.Unmarshal(query, &b); err != nil {
		return []string{err.Error()}
	}
	same := [][2]json.RawMessage{{a.Meta.Totals, b.Meta.Totals}, {a.Meta.Freshness, b.Meta.Freshness}}
	if q.sort == nil || slices.Contains(append(q.Metrics, "name"), q.sort.Field) {
		// A sort metric can cause a warning too.
		same = append(same, [2]json.RawMessage{a.Meta.Warnings, b.Meta.Warnings})
	}
	for _, m := range same {
		if !bytes.Equal(m[0], m[1]) {
			faults = append(faults, fmt.Sprintf("meta: got %s want %s", m[0], m[1]))
		}
	}
	a.Meta.Totals, a.Meta.Warnings, a.Meta.Freshness, b.Meta.Totals, b.Meta.Warnings, b.Meta.Freshness = nil, nil, nil, nil, nil, nil
	if fmt.Sprint(a) != fmt.Sprint(b) {
		faults = append(faults, fmt.Sprintf("meta: got %v want %v", a, b))
	}
	return faults
}

func (g *testWorkspace) checkReport(q *testQuery, target, member string) (faults []string) {
	var rows []queryReplyRow
	var first []byte
	for cursor := ""; ; {
		res := g.Do("GET", target+cursor, nil).Want(200)
		var page struct {
			Data       []reportRow
			NextCursor *string `json:"next_cursor"`
		}
		if err := json.Unmarshal(res.Body, &page); err != nil {
			return []string{err.Error()}
		}
		if first == nil {
			first = res.Body
		}
		for i := range page.Data {
			r := &page.Data[i]
			s := map[string]*reportSubject{"campaign": r.Campaign, "creative": r.Creative, "audience": r.Audience, "channel": r.Channel}[member]
			if s == nil {
				return []string{"a row has no " + member}
			}
			faults = append(faults, g.wrongStatus(s, member)...)
			rows = append(rows, r.asQueryRow(q, s))
		}
		if page.NextCursor == nil {
			break
		}
		cursor = "&cursor=" + url.QueryEscape(*page.NextCursor)
	}
	want := g.evaluate(q)
	faults = append(faults, rowDifferences(q, rows, want.rows)...)
	return append(faults, g.compareWithQuery(q, first)...)
}

func (g *testWorkspace) wrongStatus(s *reportSubject, member string) []string {
	want := "null"
	if s.ID != nil && member != "channel" {
		want = g.records[*s.ID].status
	}
	got := "null"
	if s.Status != nil {
		got = *s.Status
	}
	if got != want {
		return []string{fmt.Sprintf("status: got %s want %s", got, want)}
	}
	return nil
}

// asQueryRow returns the row in the format of a query.
func (r *reportRow) asQueryRow(q *testQuery, s *reportSubject) queryReplyRow {
	d := q.Dimensions[0]
	row := queryReplyRow{Dimensions: map[string]*string{d: s.ID}, PreviousDate: r.PreviousDate, Metrics: r.Metrics, Previous: r.Previous, Change: r.Change, Partial: r.Partial}
	if q.dated() {
		row.Dimensions["date"] = r.Date
	}
	if d != "channel" {
		row.Labels = map[string]*string{d: s.Name}
	}
	if s.ExternalID != nil {
		row.ExternalIDs = map[string]string{d: *s.ExternalID}
	}
	return row
}
