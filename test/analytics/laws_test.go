package analytics_test

import (
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"
)

// queriesPerLaw is the number of random queries per law.
func queriesPerLaw() int {
	if fullDrill {
		return 1000
	}
	return 15
}

// plainQuery returns a query without filters and limits.
func (g *testWorkspace) plainQuery() *testQuery {
	q := g.randomQuery()
	q.OrderBy, q.Include, q.Compare, q.Limit = nil, nil, nil, 10_000
	q.Metrics = slices.DeleteFunc(q.Metrics, func(m string) bool { return m == "pacing" || m == "reach" || m == "frequency" })
	if len(q.Metrics) == 0 {
		q.Metrics = []string{"clicks"}
	}
	if len(q.onMetrics()) > 0 {
		q.filter, q.Filters = nil, nil
	}
	return q
}

// allPages returns all rows of a query, page by page.
func (g *testWorkspace) allPages(q *testQuery) *queryReply {
	g.t.Helper()
	a := readReply(g.t, g.sendQuery(q).Want(200).Body)
	for next := a; next.NextCursor != nil; {
		more := *q
		more.Cursor = *next.NextCursor
		next = readReply(g.t, g.sendQuery(&more).Want(200).Body)
		a.Data = append(a.Data, next.Data...)
	}
	return a
}

func (g *testWorkspace) lawBroken(q *testQuery, format string, args ...any) {
	g.t.Helper()
	body, _ := json.Marshal(q)
	g.t.Errorf("%s: %s", body, fmt.Sprintf(format, args...))
}

// combination identifies the rows of one bucket.
func (r *queryReplyRow) combination(dimensions []string) string {
	var key strings.Builder
	for _, d := range dimensions {
		if v := r.Dimensions[d]; v != nil {
			fmt.Fprintf(&key, "%q", *v)
			continue
		}
		fmt.Fprintf(&key, "null %q ", r.ExternalIDs[d])
		if l := r.Labels[d]; l != nil {
			fmt.Fprintf(&key, "%q", *l)
		}
	}
	return key.String()
}

// TestDrillBuckets checks that the buckets of a combination add up to its row
// without buckets.
func TestDrillBuckets(t *testing.T) {
	t.Parallel()
	g := newTestWorkspace(t, seededRand(t))
	for range queriesPerLaw() {
		q := g.plainQuery()
		q.Granularity = "none"
		q.Metrics = slices.DeleteFunc(slices.Clone(measures), func(m string) bool { return m == "reach" })
		whole := g.allPages(q)
		q.Granularity = g.pickOne("day", "week", "month", "quarter", "year")
		if days, _ := q.days(g.referenceData); q.Granularity == "day" && days.days() > 100 {
			q.Granularity = "week"
		}
		parts := g.allPages(q)
		sums := map[string]map[string]*big.Rat{}
		unknown := map[string]map[string]bool{}
		for _, r := range parts.Data {
			key := r.combination(q.Dimensions)
			if sums[key] == nil {
				sums[key], unknown[key] = map[string]*big.Rat{}, map[string]bool{}
			}
			for m, n := range r.Metrics {
				if n == nil {
					unknown[key][m] = true
					continue
				}
				if sums[key][m] == nil {
					sums[key][m] = new(big.Rat)
				}
				sums[key][m].Add(sums[key][m], parseNumber(string(*n)))
			}
		}
		if len(sums) != len(whole.Data) {
			g.lawBroken(q, "combinations: got %d want %d", len(sums), len(whole.Data))
			continue
		}
		for _, r := range whole.Data {
			key := r.combination(q.Dimensions)
			for m, n := range r.Metrics {
				// A bucket may be unknown where the whole is known, but not the
				// other way round.
				got := sums[key][m]
				if unknown[key][m] && n == nil {
					continue
				}
				if got == nil || n == nil || parseNumber(string(*n)).Cmp(got) != 0 {
					g.lawBroken(q, "%s of %s: got %s by bucket want %s", m, key, formatRat(got), formatNumber(n))
				}
			}
		}
	}
}

// TestDrillRatios checks that derived metrics are ratios of the sums beside
// them.
func TestDrillRatios(t *testing.T) {
	t.Parallel()
	g := newTestWorkspace(t, seededRand(t))
	for range queriesPerLaw() {
		q := g.plainQuery()
		name := g.pickOne("ctr", "cpc", "cpm", "cpa", "cpl", "cvr", "roas", "roi", "aov", "engagement_rate", "cpe", "cpv", "video_completion_rate",
			"frequency", "delivery_rate", "bounce_rate", "open_rate", "unsubscribe_rate", "complaint_rate")
		d := derived[name]
		q.Metrics = []string{name, d.over, d.under}
		a := g.allPages(q)
		rows := make([]metricValues, 0, len(a.Data)+1)
		for _, r := range a.Data {
			rows = append(rows, r.Metrics)
		}
		for _, f := range append(rows, a.Meta.Totals.Metrics) {
			s := sums{of: map[string]*big.Rat{}}
			for _, m := range []string{d.over, d.under} {
				if f[m] != nil {
					s.of[m] = parseNumber(string(*f[m]))
				}
			}
			if want := s.metric(name, sums{}, nil); !equalNumber(f[name], want) {
				g.lawBroken(q, "%s: got %s want %s", name, formatNumber(f[name]), formatRat(want))
			}
		}
	}
}

// TestDrillCompare checks that a comparison equals two plain queries: every row
// of both is in it once, with the same numbers, and rows and totals agree.
func TestDrillCompare(t *testing.T) {
	t.Parallel()
	g := newTestWorkspace(t, seededRand(t))
	for range queriesPerLaw() {
		q := g.plainQuery()
		g.addCompare(q)
		a := g.allPages(q)
		now, before := *q, *q
		now.Compare, before.Compare = nil, nil
		days := a.Meta.Query["compare"].(map[string]any)["date_range"].(map[string]any)
		before.DateRange = &period{StartDate: days["start_date"].(string), EndDate: days["end_date"].(string)}
		if s := (span{parseDay(before.DateRange.StartDate), parseDay(before.DateRange.EndDate)}); s.first < date(2000, 1, 1) || s.last >= s.first.months(37) {
			continue
		}
		n, b := g.allPages(&now), g.allPages(&before)
		for _, m := range q.Metrics {
			if got, want := formatNumber(a.Meta.Totals.Metrics[m]), formatNumber(n.Meta.Totals.Metrics[m]); got != want {
				g.lawBroken(q, "total of %s: got %s want %s", m, got, want)
			}
			if got, want := formatNumber(a.Meta.Totals.Previous[m]), formatNumber(b.Meta.Totals.Metrics[m]); got != want {
				g.lawBroken(q, "previous total of %s: got %s want %s", m, got, want)
			}
		}
		g.checkUnion(q, a, n, b)
		if !slices.Contains(q.Dimensions, "tag") {
			g.checkTotals(q, a)
		}
	}
}

// checkUnion checks that a comparison has the rows of both answers, and besides
// them only zero or unknown values.
func (g *testWorkspace) checkUnion(q *testQuery, a, now, before *queryReply) {
	g.t.Helper()
	left := [2]map[string]metricValues{{}, {}}
	for i, plain := range []*queryReply{now, before} {
		for _, r := range plain.Data {
			left[i][r.combination(q.Dimensions)+dateOrEmpty(r.Dimensions["date"])] = r.Metrics
		}
	}
	for _, r := range a.Data {
		var previous *string
		if r.PreviousDate != nil {
			_ = json.Unmarshal(r.PreviousDate, &previous)
		}
		for i, side := range []struct {
			date    *string
			figures metricValues
		}{{r.Dimensions["date"], r.Metrics}, {previous, r.Previous}} {
			key := r.combination(q.Dimensions) + dateOrEmpty(side.date)
			want, there := left[i][key]
			delete(left[i], key)
			for m, n := range side.figures {
				switch {
				case there && formatNumber(n) != formatNumber(want[m]):
					g.lawBroken(q, "%s of %s: got %s want %s", m, key, formatNumber(n), formatNumber(want[m]))
				case !there && n != nil && *n != "0":
					g.lawBroken(q, "%s of %s: got %s want 0 or null", m, key, formatNumber(n))
				}
			}
		}
	}
	if len(left[0]) > 0 || len(left[1]) > 0 {
		g.lawBroken(q, "got no rows for %v", left)
	}
}

func dateOrEmpty(d *string) string {
	if d == nil {
		return ""
	}
	return " on " + *d
}

// checkTotals checks that the rows of both periods add up to the totals.
// Unknown values do not count.
func (g *testWorkspace) checkTotals(q *testQuery, a *queryReply) {
	g.t.Helper()
	for _, m := range q.Metrics {
		if !slices.Contains(measures, m) || m == "reach" {
			continue
		}
		for name, side := range map[string]struct {
			total *json.Number
			of    func(queryReplyRow) metricValues
		}{
			"": {a.Meta.Totals.Metrics[m], func(r queryReplyRow) metricValues { return r.Metrics }}, "previous": {a.Meta.Totals.Previous[m], func(r queryReplyRow) metricValues { return r.Previous }},
		} {
			sum := new(big.Rat)
			for _, r := range a.Data {
				if n := side.of(r)[m]; n != nil {
					sum.Add(sum, parseNumber(string(*n)))
				}
			}
			if side.total != nil && parseNumber(string(*side.total)).Cmp(sum) != 0 {
				g.lawBroken(q, "%s %s: rows add up to %s, the total is %s", name, m, formatRat(sum), formatNumber(side.total))
			}
		}
	}
}
