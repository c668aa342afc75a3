package analytics

import (
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"fanfare/internal/clock"
	"fanfare/internal/fact"
)

// stoppedCampaign is a world in which one campaign has stopped and another
// runs.
func stoppedCampaign(t testing.TB) *memoryFacts {
	t.Helper()
	m := newMemoryFacts()
	add := func(date, name string, v map[fact.Measure]int64) {
		m.rows = append(m.rows, fact.Row{Source: metaAds, Date: day(t, date), Channel: "social", Campaign: fact.Entity{ExternalID: name, Name: name}, Values: measures(v)})
	}
	add("2026-10-05", "Stopped", map[fact.Measure]int64{fact.Spend: 100_000_000, fact.Leads: 4})
	add("2026-10-12", "Running", map[fact.Measure]int64{fact.Spend: 50_000_000})
	return m
}

func TestCompareListsBothPeriods(t *testing.T) {
	t.Parallel()
	week := &Range{Start: new("2026-10-12"), End: new("2026-10-18")}
	quiet := Include{Labels: new(false), Totals: new(false)}
	for _, test := range []struct {
		name  string
		query *Query
		want  []string
	}{
		{
			"what has stopped is listed; what nobody reports now is unknown",
			&Query{Metrics: []string{"spend", "leads"}, Dimensions: []string{"campaign_name"}, Range: week, Compare: &Compare{To: "previous_period"}, Include: quiet},
			[]string{
				`{"dimensions":{"campaign_name":"Running"},"metrics":{"spend":50,"leads":null},"previous":{"spend":0,"leads":0},"change":{"spend":null,"leads":null}}`,
				`{"dimensions":{"campaign_name":"Stopped"},"metrics":{"spend":0,"leads":null},"previous":{"spend":100,"leads":4},"change":{"spend":-1,"leads":null}}`,
			},
		},
		{
			"conditions on metrics are about the asked period",
			&Query{
				Metrics: []string{"spend"}, Dimensions: []string{"campaign_name"}, Range: week, Compare: &Compare{To: "previous_period"},
				Filters: new(leaf("", "spend", AtMost, "0")), Include: quiet,
			},
			[]string{`{"dimensions":{"campaign_name":"Stopped"},"metrics":{"spend":0},"previous":{"spend":100},"change":{"spend":-1}}`},
		},
		{
			"a bucket that only the other period has comes last",
			&Query{
				Metrics: []string{"spend"}, Granularity: new("day"), Range: &Range{Start: new("2026-10-12"), End: new("2026-10-12")}, Include: quiet,
				Compare: &Compare{To: "custom", Range: &Range{Start: new("2026-10-04"), End: new("2026-10-05")}},
			},
			[]string{
				`{"dimensions":{"date":"2026-10-12"},"metrics":{"spend":50},"previous_date":"2026-10-04","previous":{"spend":0},"change":{"spend":null}}`,
				`{"dimensions":{"date":null},"metrics":{"spend":null},"previous_date":"2026-10-05","previous":{"spend":100},"change":{"spend":null}}`,
			},
		},
		{
			"a weekday stands on its own days in both periods",
			&Query{
				Metrics: []string{"spend"}, Dimensions: []string{"weekday"}, Granularity: new("day"), Range: &Range{Start: new("2026-10-12"), End: new("2026-10-13")}, Include: quiet,
				Compare: &Compare{To: "custom", Range: &Range{Start: new("2026-10-04"), End: new("2026-10-05")}},
			},
			[]string{
				`{"dimensions":{"date":"2026-10-12","weekday":"monday"},"metrics":{"spend":50},"previous_date":null,"previous":null,"change":null}`,
				`{"dimensions":{"date":null,"weekday":"monday"},"metrics":{"spend":null},"previous_date":"2026-10-05","previous":{"spend":100},"change":{"spend":null}}`,
			},
		},
		{
			"a weekday that a period does not have is unknown there",
			&Query{
				Metrics: []string{"spend"}, Dimensions: []string{"weekday"}, Range: &Range{Start: new("2026-10-13"), End: new("2026-10-14")}, Include: quiet,
				Compare: &Compare{To: "custom", Range: &Range{Start: new("2026-10-12"), End: new("2026-10-12")}},
			},
			[]string{`{"dimensions":{"weekday":"monday"},"metrics":{"spend":null},"previous":{"spend":50},"change":{"spend":null}}`},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			m := stoppedCampaign(t)
			s := m.service()
			a, err := s.run(t.Context(), wks, test.query)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Split(strings.TrimSpace(string(a.AppendNDJSON(nil))), "\n"); !slices.Equal(got, test.want) {
				t.Errorf("got  %s\nwant %s", strings.Join(got, "\n     "), strings.Join(test.want, "\n     "))
			}
			test.query.Limit = new(int64(1))
			for i := range test.want {
				a, err := s.run(t.Context(), wks, test.query)
				if err != nil {
					t.Fatal(err)
				}
				if got := string(a.AppendNDJSON(nil)); got != test.want[i]+"\n" {
					t.Errorf("page %d: got %s want %s", i, got, test.want[i])
				}
				test.query.Cursor = new(a.Next())
			}
		})
	}
}

// TestFilledRowsHaveWeekday checks that only days with the row's weekday are
// filled in.
func TestFilledRowsHaveWeekday(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ granularity, first, last, want string }{
		{"day", "2026-10-05", "2026-10-19", "2026-10-05 2026-10-12 2026-10-19"},
		{"week", "2026-10-06", "2026-10-18", "2026-10-12"},
		{"week", "2026-10-05", "2026-10-11", "2026-10-05"},
		{"month", "2026-09-29", "2026-10-12", "2026-10-01"},
	} {
		got := runQuery(t, stoppedCampaign(t), &Query{
			Metrics: []string{"spend"}, Dimensions: []string{"weekday"}, Granularity: &test.granularity, Range: &Range{Start: &test.first, End: &test.last},
		})
		var dates []string
		for _, r := range got.Data {
			dates = append(dates, *r.Dimensions["date"])
		}
		if strings.Join(dates, " ") != test.want {
			t.Errorf("%s from %s to %s: got %q want %s", test.granularity, test.first, test.last, dates, test.want)
		}
	}
}

// TestUnreported checks that a metric without facts is 0 only if it could have
// been reported.
func TestUnreported(t *testing.T) {
	t.Parallel()
	m := newMemoryFacts()
	add := func(s *fact.Source, date string, r fact.Row, v map[fact.Measure]int64) {
		r.Source, r.Date, r.Values = s, day(t, date), measures(v)
		m.rows = append(m.rows, r)
	}
	mobile := fact.Row{Family: fact.Device, Device: "mobile", Channel: "social"}
	add(metaAds, "2026-10-01", mobile, map[fact.Measure]int64{fact.Spend: 5_000_000})
	add(metaAds, "2026-09-01", fact.Row{Channel: "search"}, map[fact.Measure]int64{fact.Spend: 7_000_000})
	add(metaAds, "2026-08-01", fact.Row{Channel: "search"}, map[fact.Measure]int64{fact.Clicks: 3})
	add(metaAds, "2026-08-01", fact.Row{Channel: "email"}, map[fact.Measure]int64{fact.Spend: 1})
	tablets := new(leaf("", "device", Equal, "tablet"))
	for _, test := range []struct {
		name, first, last string
		query             Query
		want, warned      string
	}{
		{"sent by device alone", "2026-10-01", "2026-10-02", Query{}, "null 1 null", "missing_report"},
		{"sent by device alone, by channel", "2026-10-01", "2026-10-02", Query{Dimensions: []string{"channel"}}, "null 0", "missing_report"},
		{"asked by device", "2026-10-01", "2026-10-02", Query{Dimensions: []string{"device"}}, "5 1 5", ""},
		{"another device", "2026-10-01", "2026-10-02", Query{Filters: tablets}, "0 1 0", ""},
		{"not sent by device", "2026-09-01", "2026-09-02", Query{Filters: tablets}, "null 1 null", "missing_report"},
		{"not sent by device, by device", "2026-09-01", "2026-09-02", Query{Dimensions: []string{"device"}}, "null 0", "missing_report"},
		{"nothing at all", "2026-11-01", "2026-11-02", Query{}, "0 1 0", ""},
		{"another channel", "2026-09-01", "2026-09-02", Query{Filters: new(leaf("", "channel", Equal, "video"))}, "0 1 0", ""},
		{"a day without facts", "2026-09-01", "2026-09-02", Query{Granularity: new("day")}, "7 2 7 0", ""},
		{"a day without facts of what never reports it", "2026-08-01", "2026-08-02", Query{Granularity: new("day"), Filters: new(leaf("", "channel", Equal, "search"))}, "null 2 null null", ""},
		{"one channel reports it, the other does not", "2026-08-01", "2026-08-02", Query{Granularity: new("day"), Dimensions: []string{"channel"}}, "0.000001 4 0.000001 null 0 null", ""},
	} {
		test.query.Metrics, test.query.Range = []string{"spend"}, &Range{Start: &test.first, End: &test.last}
		answer := runQuery(t, m, &test.query)
		got := fmt.Sprint(written(answer.Meta.Totals.Metrics["spend"]), " ", len(answer.Data))
		for _, r := range answer.Data {
			got += " " + written(r.Metrics["spend"])
		}
		warned := ""
		for _, w := range answer.Meta.Warnings {
			warned += w.Code
		}
		if got != test.want || warned != test.warned {
			t.Errorf("%s: got %s and warning %q want %s and %q", test.name, got, warned, test.want, test.warned)
		}
	}
}

// TestCompareEqualsTwoQueries checks that a comparison has every row of two
// queries of both periods once, and otherwise only zeros and nulls.
func TestCompareEqualsTwoQueries(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m, q := randomFacts(t), drawQuery(t)
		q.Compare = &Compare{To: rapid.SampledFrom(Comparisons[:2]).Draw(t, "to"), MatchWeekday: rapid.Bool().Draw(t, "weekday")}
		r, problems := Resolve(q, wks, noon)
		if problems != nil {
			t.Fatal(problems)
		}
		compared, alone := runQuery(t, m, q), *q
		alone.Compare = nil
		now := runQuery(t, m, &alone)
		alone.Range = &Range{Start: new(r.compare.days.first.String()), End: new(r.compare.days.last.String())}
		before := runQuery(t, m, &alone)
		for name, pair := range map[string][2]map[string]*json.Number{
			"now": {compared.Meta.Totals.Metrics, now.Meta.Totals.Metrics}, "before": {compared.Meta.Totals.Previous, before.Meta.Totals.Metrics},
		} {
			if fmt.Sprint(metricTexts(pair[0])) != fmt.Sprint(metricTexts(pair[1])) {
				t.Fatalf("totals of %s: got %v want %v", name, metricTexts(pair[0]), metricTexts(pair[1]))
			}
		}
		left := []map[string]string{now.texts(), before.texts()}
		here, there := r.granularity.buckets(r.days), r.granularity.buckets(r.compare.days)
		for _, row := range compared.Data {
			dates := []*string{row.Dimensions["date"], row.PreviousDate}
			for i, values := range []map[string]*json.Number{row.Metrics, row.Previous} {
				if r.granularity != Whole && dates[i] == nil {
					if i == 0 && known(values) || i == 1 && values != nil {
						t.Fatalf("got %v want nothing without a bucket", metricTexts(values))
					}
					continue
				}
				if values == nil {
					continue
				}
				key := keyOf(row.Dimensions, row.External, row.Labels, dates[i])
				want, has := left[i][key]
				if has && fmt.Sprint(metricTexts(values)) != want {
					t.Fatalf("%s: got %v want %s", key, metricTexts(values), want)
				}
				if !has && !empty(values) {
					t.Fatalf("%s: got %v want zeros and nulls", key, metricTexts(values))
				}
				delete(left[i], key)
			}
			if r.granularity != Whole && dates[0] != nil && dates[1] != nil && indexOf(here, *dates[0]) != indexOf(there, *dates[1]) {
				t.Fatalf("got %s beside %s", *dates[1], *dates[0])
			}
			for _, d := range dates {
				if w := row.Dimensions["weekday"]; d != nil && w != nil && r.granularity == Day && Weekdays[day(t, *d).Weekday()] != *w {
					t.Fatalf("got %s on %s", *w, *d)
				}
			}
			for name, n := range row.Change {
				want := "null"
				if a, b := row.Metrics[name], row.Previous[name]; a != nil && b != nil && rational(t, b).Sign() != 0 {
					diff := new(big.Rat).Sub(rational(t, a), rational(t, b))
					want = decimal(diff.Quo(diff, new(big.Rat).Abs(rational(t, b))))
				}
				if written(n) != want {
					t.Fatalf("change of %s: got %s want %s", name, written(n), want)
				}
			}
		}
		if len(left[0]) > 0 || len(left[1]) > 0 {
			t.Fatalf("got no rows for %v", left)
		}
	})
}

// texts returns the metrics of every row by the text that distinguishes rows.
func (s *decodedRow) texts() map[string]string {
	list := map[string]string{}
	for _, r := range s.Data {
		list[keyOf(r.Dimensions, r.External, r.Labels, r.Dimensions["date"])] = fmt.Sprint(metricTexts(r.Metrics))
	}
	return list
}

// known reports whether any of the metrics is.
func known(values map[string]*json.Number) bool {
	for _, n := range values {
		if n != nil {
			return true
		}
	}
	return false
}

// empty reports whether all metrics are zero or unknown.
func empty(values map[string]*json.Number) bool {
	for _, n := range values {
		if n != nil && n.String() != "0" {
			return false
		}
	}
	return true
}

func indexOf(buckets []clock.Date, date string) int {
	return slices.IndexFunc(buckets, func(d clock.Date) bool { return d.String() == date })
}
