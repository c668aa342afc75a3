package analytics_test

import (
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"
)

// lawful is how many questions each law is held against.
func lawful() int {
	if full {
		return 1000
	}
	return 15
}

// plain is a question without what would choose or hide rows.
func (g *world) plain() *question {
	q := g.someQuestion()
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

// answer asks a question for all its rows, page by page.
func (g *world) answer(q *question) *reply {
	g.t.Helper()
	a := readReply(g.t, g.ask(q).Want(200).Body)
	for next := a; next.NextCursor != nil; {
		more := *q
		more.Cursor = *next.NextCursor
		next = readReply(g.t, g.ask(&more).Want(200).Body)
		a.Data = append(a.Data, next.Data...)
	}
	return a
}

func (g *world) broken(q *question, format string, args ...any) {
	g.t.Helper()
	body, _ := json.Marshal(q)
	g.t.Errorf("%s: %s", body, fmt.Sprintf(format, args...))
}

// combination is what tells the rows of one bucket apart.
func (r *replyRow) combination(dimensions []string) string {
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

// TestDrillBuckets wants buckets to add up: whatever the granularity, the rows
// of a combination sum to its row without one.
func TestDrillBuckets(t *testing.T) {
	t.Parallel()
	g := newWorld(t, seeded(t))
	for range lawful() {
		q := g.plain()
		q.Granularity = "none"
		q.Metrics = slices.DeleteFunc(slices.Clone(measures), func(m string) bool { return m == "reach" })
		whole := g.answer(q)
		q.Granularity = g.one("day", "week", "month", "quarter", "year")
		if days, _ := q.days(g.book); q.Granularity == "day" && days.days() > 100 {
			q.Granularity = "week"
		}
		parts := g.answer(q)
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
				sums[key][m].Add(sums[key][m], number(string(*n)))
			}
		}
		if len(sums) != len(whole.Data) {
			g.broken(q, "combinations: got %d want %d", len(sums), len(whole.Data))
			continue
		}
		for _, r := range whole.Data {
			key := r.combination(q.Dimensions)
			for m, n := range r.Metrics {
				// A bucket may not know what the whole does not need to know,
				// but where all buckets know, so does the whole.
				got := sums[key][m]
				if unknown[key][m] && n == nil {
					continue
				}
				if got == nil || n == nil || number(string(*n)).Cmp(got) != 0 {
					g.broken(q, "%s of %s: got %s by bucket want %s", m, key, shown(got), written(n))
				}
			}
		}
	}
}

// TestDrillRatios wants derived metrics to be quotients of the sums beside
// them.
func TestDrillRatios(t *testing.T) {
	t.Parallel()
	g := newWorld(t, seeded(t))
	for range lawful() {
		q := g.plain()
		name := g.one("ctr", "cpc", "cpm", "cpa", "cpl", "cvr", "roas", "roi", "aov", "engagement_rate", "cpe", "cpv", "video_completion_rate",
			"frequency", "delivery_rate", "bounce_rate", "open_rate", "unsubscribe_rate", "complaint_rate")
		d := derived[name]
		q.Metrics = []string{name, d.over, d.under}
		a := g.answer(q)
		rows := make([]figures, 0, len(a.Data)+1)
		for _, r := range a.Data {
			rows = append(rows, r.Metrics)
		}
		for _, f := range append(rows, a.Meta.Totals.Metrics) {
			s := sums{of: map[string]*big.Rat{}}
			for _, m := range []string{d.over, d.under} {
				if f[m] != nil {
					s.of[m] = number(string(*f[m]))
				}
			}
			if want := s.metric(name, sums{}, nil); !same(f[name], want) {
				g.broken(q, "%s: got %s want %s", name, written(f[name]), shown(want))
			}
		}
	}
}

// TestDrillCompare wants what is compared with to be what a plain query for
// those days answers.
func TestDrillCompare(t *testing.T) {
	t.Parallel()
	g := newWorld(t, seeded(t))
	for range lawful() {
		q := g.plain()
		g.addCompare(q)
		a := g.answer(q)
		shifted := *q
		shifted.Compare = nil
		days := a.Meta.Query["compare"].(map[string]any)["date_range"].(map[string]any)
		shifted.DateRange = &period{StartDate: days["start_date"].(string), EndDate: days["end_date"].(string)}
		if s := (span{parseDay(shifted.DateRange.StartDate), parseDay(shifted.DateRange.EndDate)}); s.first < date(2000, 1, 1) || s.last >= s.first.months(37) {
			continue
		}
		b := g.answer(&shifted)
		for _, m := range q.Metrics {
			if written(a.Meta.Totals.Previous[m]) != written(b.Meta.Totals.Metrics[m]) {
				g.broken(q, "total of %s: got %s want %s", m, written(a.Meta.Totals.Previous[m]), written(b.Meta.Totals.Metrics[m]))
			}
		}
		g.pairs(q, a, b)
	}
}

// pairs compares buckets by their index.
func (g *world) pairs(q *question, a, b *reply) {
	g.t.Helper()
	earlier := map[string][]figures{}
	for _, r := range b.Data {
		key := r.combination(q.Dimensions)
		earlier[key] = append(earlier[key], r.Metrics)
	}
	at := map[string]int{}
	for _, r := range a.Data {
		key := r.combination(q.Dimensions)
		i := at[key]
		at[key]++
		list, there := earlier[key]
		if there && (i >= len(list)) != (r.Previous == nil) {
			g.broken(q, "bucket %d of %s: got %v want one of %d", i, key, r.Previous, len(list))
			continue
		}
		for m, n := range r.Previous {
			// Where there was nothing, measures are zero and quotients unknown.
			want := "0"
			switch {
			case there:
				want = written(list[i][m])
			case shares[m] != "":
				continue
			case !slices.Contains(measures, m):
				want = "null"
			}
			if written(n) != want {
				g.broken(q, "previous %s of %s in bucket %d: got %s want %s", m, key, i, written(n), want)
			}
		}
	}
}
