package analytics_test

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"fanfare/internal/fanfaretest"
)

// The following tests use neither referenceData nor its evaluation: they add
// the integers that they sent, and read answers as a caller would.

// sentRow is one row that was sent. A measure below 0 was not sent.
type sentRow struct {
	date                      time.Time
	campaign, channel, device string
	clicks, spend, leads      int
}

func (s *sentRow) measure(name string) int {
	return map[string]int{"clicks": s.clicks, "spend": s.spend, "leads": s.leads}[name]
}

func (s *sentRow) dimension(name string) string {
	return map[string]string{
		"campaign_name": s.campaign, "channel": s.channel, "device": s.device, "weekday": strings.ToLower(s.date.Weekday().String()),
	}[name]
}

// sumSent returns the sums of a measure by values, of the rows that have it;
// groups are all values that have a row.
func sumSent(sales []sentRow, measure string, dimensions []string, first, last time.Time) (sums map[string]int, groups map[string]bool) {
	sums, groups = map[string]int{}, map[string]bool{}
	for _, s := range sales {
		if s.date.Before(first) || s.date.After(last) || (s.device != "") != slices.Contains(dimensions, "device") {
			continue
		}
		var values []string
		for _, d := range dimensions {
			values = append(values, s.dimension(d))
		}
		key := strings.Join(values, "|")
		groups[key] = true
		if n := s.measure(measure); n >= 0 {
			sums[key] += n
		}
	}
	return sums, groups
}

func integerOf(n *json.Number) (int, bool) {
	if n == nil {
		return 0, false
	}
	v, err := strconv.Atoi(string(*n))
	if err != nil {
		panic(err)
	}
	return v, true
}

// TestCompareAddsUp sends random comparisons and adds their rows: by group, in
// total, in both periods.
func TestCompareAddsUp(t *testing.T) {
	t.Parallel()
	r, c := seededRand(t), startService(t).Tenant("enterprise")
	start := time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC)
	sent, rows := map[string]sentRow{}, []string{}
	for range 500 {
		day, campaign := r.IntN(120), r.IntN(10)
		if half := day / 60; campaign < 3 && half == 1 || campaign > 6 && half == 0 {
			continue // three campaigns stop, three begin
		}
		s := sentRow{start.AddDate(0, 0, day), fmt.Sprint("Campaign ", campaign), []string{"search", "social", "email"}[campaign%3], "", r.IntN(900), r.IntN(900), -1}
		if s.channel == "email" {
			s.spend, s.leads = -1, r.IntN(50)
		}
		if r.IntN(4) == 0 {
			s.device = []string{"mobile", "desktop"}[r.IntN(2)]
		}
		sent[s.date.Format(dateOnly)+s.campaign+s.device] = s
	}
	sales := slices.Collect(maps.Values(sent))
	for _, s := range sales {
		row := fmt.Sprintf(`{"date":%q,"campaign_name":%q,"channel":%q`, s.date.Format(dateOnly), s.campaign, s.channel)
		for name, n := range map[string]int{"clicks": s.clicks, "spend": s.spend, "leads": s.leads} {
			if n >= 0 {
				row += fmt.Sprintf(`,%q:%d`, name, n)
			}
		}
		if s.device != "" {
			row += fmt.Sprintf(`,"device":%q`, s.device)
		}
		rows = append(rows, row+"}")
	}
	c.Do("POST", "/v1/ingest/metrics?atomic=true", "["+strings.Join(rows, ",")+"]").Want(200)
	for range 60 {
		first := start.AddDate(0, 0, r.IntN(100))
		last := first.AddDate(0, 0, r.IntN(30))
		earlier := start.AddDate(0, 0, r.IntN(100)-20)
		until := earlier.AddDate(0, 0, r.IntN(30))
		dimensions := [][]string{{}, {"campaign_name"}, {"channel"}, {"weekday"}, {"device"}, {"campaign_name", "weekday"}, {"channel", "device"}}[r.IntN(7)]
		list, _ := json.Marshal(dimensions)
		body := fmt.Sprintf(`{"metrics":["clicks","spend","leads"],"dimensions":%s,"granularity":%q,"limit":10000,"date_range":{"start_date":%q,"end_date":%q},
			"compare":{"to":"custom","date_range":{"start_date":%q,"end_date":%q}}}`, list, []string{"none", "day", "week", "month"}[r.IntN(4)],
			first.Format(dateOnly), last.Format(dateOnly), earlier.Format(dateOnly), until.Format(dateOnly))
		answer := readReply(t, c.Do("POST", "/v1/analytics/query", body).Want(200).Body)
		for _, measure := range []string{"clicks", "spend", "leads"} {
			now, groups := sumSent(sales, measure, dimensions, first, last)
			before, groupsBefore := sumSent(sales, measure, dimensions, earlier, until)
			for name, side := range map[string]struct {
				of     func(queryReplyRow) metricValues
				total  *json.Number
				want   map[string]int
				groups map[string]bool
			}{
				"now":    {func(r queryReplyRow) metricValues { return r.Metrics }, answer.Meta.Totals.Metrics[measure], now, groups},
				"before": {func(r queryReplyRow) metricValues { return r.Previous }, answer.Meta.Totals.Previous[measure], before, groupsBefore},
			} {
				got, all := map[string]int{}, 0
				for _, row := range answer.Data {
					var values []string
					for _, d := range dimensions {
						values = append(values, *row.Dimensions[d])
					}
					key := strings.Join(values, "|")
					if !groups[key] && !groupsBefore[key] && len(dimensions) > 0 {
						t.Errorf("%s: got a row of %s, which was never sent", body, key)
					}
					n, known := integerOf(side.of(row)[measure])
					if _, wanted := side.want[key]; known && side.groups[key] && !wanted {
						t.Errorf("%s: %s of %s %s: got %d want null, because nobody has sent it", body, measure, key, name, n)
					}
					if known {
						got[key] += n
						all += n
					}
				}
				for key, n := range side.want {
					if got[key] != n {
						t.Errorf("%s: %s of %q %s: got %d want %d", body, measure, key, name, got[key], n)
					}
				}
				if n, known := integerOf(side.total); n != all || !known && len(side.want) > 0 {
					t.Errorf("%s: %s %s: rows add up to %d, the total is %s", body, measure, name, all, formatNumber(side.total))
				}
			}
		}
		checkWeekdays(t, body, answer.Data)
		checkPagesAndCSV(t, c, body, answer)
	}
	checkReportTotals(t, c)
}

// checkWeekdays checks that days have the weekday of their row.
func checkWeekdays(t *testing.T, body string, rows []queryReplyRow) {
	t.Helper()
	for _, r := range rows {
		var previous *string
		if r.PreviousDate != nil {
			_ = json.Unmarshal(r.PreviousDate, &previous)
		}
		for _, d := range []*string{r.Dimensions["date"], previous} {
			if d == nil || r.Dimensions["weekday"] == nil || !strings.Contains(body, `"granularity":"day"`) {
				continue
			}
			day, err := time.Parse(dateOnly, *d)
			if err != nil || strings.ToLower(day.Weekday().String()) != *r.Dimensions["weekday"] {
				t.Errorf("%s: got %s for %s", body, *r.Dimensions["weekday"], *d)
			}
		}
	}
}

// checkPagesAndCSV checks that pages and CSV have the same rows.
func checkPagesAndCSV(t *testing.T, c *fanfaretest.Tenant, body string, answer *queryReply) {
	t.Helper()
	rows := []queryReplyRow{}
	short := strings.Replace(body, `"limit":10000`, `"limit":9`, 1)
	for next := short; next != ""; {
		page := readReply(t, c.Do("POST", "/v1/analytics/query", next).Want(200).Body)
		rows, next = append(rows, page.Data...), ""
		if page.NextCursor != nil {
			next = strings.Replace(short, `{"metrics"`, `{"cursor":"`+*page.NextCursor+`","metrics"`, 1)
		}
	}
	one, _ := json.Marshal(answer.Data)
	if many, _ := json.Marshal(rows); string(many) != string(one) {
		t.Errorf("%s: got %s in pages want %s", body, many, one)
	}
	table, err := csv.NewReader(strings.NewReader(string(c.Do("POST", "/v1/analytics/query", body, "Accept: text/csv").Want(200).Body))).ReadAll()
	if err != nil || len(table) != len(answer.Data)+1 {
		t.Fatalf("%s: got a table of %d lines, %v want %d", body, len(table), err, len(answer.Data)+1)
	}
	at, sum := slices.Index(table[0], "previous.clicks"), 0
	for _, line := range table[1:] {
		n, _ := strconv.Atoi("0" + line[at])
		sum += n
	}
	if n, _ := integerOf(answer.Meta.Totals.Previous["clicks"]); n != sum {
		t.Errorf("%s: previous.clicks of the table add up to %d, the total is %d", body, sum, n)
	}
}

// checkReportTotals checks that the rows of a report add up to the overview, in
// both periods.
func checkReportTotals(t *testing.T, c *fanfaretest.Tenant) {
	t.Helper()
	const params = "?start_date=2026-08-31&end_date=2026-09-29&compare=previous_period&metrics=clicks,spend&limit=3"
	overview := overviewOf(t, c, strings.TrimSuffix(params, "&limit=3"))
	for _, report := range []string{"campaigns", "channels", "creative", "audiences"} {
		now, before, cursor := 0, 0, ""
		for {
			page := readReply(t, c.Do("GET", "/v1/analytics/"+report+params+cursor, nil).Want(200).Body)
			for _, r := range page.Data {
				n, _ := integerOf(r.Metrics["clicks"])
				b, _ := integerOf(r.Previous["clicks"])
				now, before = now+n, before+b
			}
			if page.NextCursor == nil {
				break
			}
			cursor = "&cursor=" + url.QueryEscape(*page.NextCursor)
		}
		wantNow, _ := integerOf(overview.Metrics["clicks"])
		wantBefore, _ := integerOf(overview.Previous["clicks"])
		if now != wantNow || before != wantBefore || wantBefore == 0 {
			t.Errorf("%s: rows add up to %d and %d before, the overview says %d and %d", report, now, before, wantNow, wantBefore)
		}
	}
}

// overviewOf returns the metrics of both periods.
func overviewOf(t *testing.T, c *fanfaretest.Tenant, params string) queryReplyRow {
	t.Helper()
	var a struct{ Data queryReplyRow }
	if err := json.Unmarshal(c.Do("GET", "/v1/analytics/overview"+params, nil).Want(200).Body, &a); err != nil {
		t.Fatal(err)
	}
	return a.Data
}

// TestCompareShowsStoppedCampaigns: a campaign with spend only in the earlier
// period is a row in a query, a report and a table.
func TestCompareShowsStoppedCampaigns(t *testing.T) {
	t.Parallel()
	c := startService(t).Tenant("enterprise")
	c.Do("POST", "/v1/ingest/metrics", `[{"date":"2026-10-05","campaign_name":"Stopped","spend":100},{"date":"2026-10-12","campaign_name":"Running","spend":50}]`).Want(200)
	const days = `"date_range":{"start_date":"2026-10-12","end_date":"2026-10-18"},"compare":{"to":"previous_period"}`
	const query = `{"metrics":["spend"],"dimensions":["campaign_name"],` + days + `}`
	show := func(r queryReplyRow) string {
		return formatNumber(r.Metrics["spend"]) + " " + formatNumber(r.Previous["spend"]) + " " + formatNumber(r.Change["spend"])
	}
	for name, answer := range map[string]*queryReply{
		"query":  readReply(t, c.Do("POST", "/v1/analytics/query", query).Want(200).Body),
		"report": readReply(t, c.Do("GET", "/v1/analytics/campaigns?start_date=2026-10-12&end_date=2026-10-18&compare=previous_period&metrics=spend", nil).Want(200).Body),
	} {
		if len(answer.Data) != 2 || show(answer.Data[0]) != "50 0 null" || show(answer.Data[1]) != "0 100 -1" {
			t.Errorf("%s: got %v want Running with 50, then Stopped with 100 before", name, answer.Data)
		}
		if totals := answer.Meta.Totals; formatNumber(totals.Metrics["spend"])+" "+formatNumber(totals.Previous["spend"]) != "50 100" {
			t.Errorf("%s: got totals %v want 50 and 100 before", name, totals)
		}
	}
	const want = "campaign_name,spend,previous.spend,change.spend\r\nRunning,50,0,\r\nStopped,0,100,-1\r\n"
	if got := c.Do("POST", "/v1/analytics/query", query, "Accept: text/csv").Want(200).Body; string(got) != want {
		t.Errorf("table: got %q want %q", got, want)
	}
}

// TestUnreportedMetricsAreNull: rows that were only sent by device are not zero
// in other reports.
func TestUnreportedMetricsAreNull(t *testing.T) {
	t.Parallel()
	c := startService(t).Tenant("enterprise")
	c.Do("POST", "/v1/ingest/metrics", `[{"date":"2026-11-01","channel":"search","device":"mobile","spend":100},{"date":"2026-11-02","channel":"social","device":"desktop","spend":50}]`).Want(200)
	const days = `"date_range":{"start_date":"2026-11-01","end_date":"2026-11-03"}`
	for body, want := range map[string]string{
		`{"metrics":["spend"],"dimensions":["channel"],` + days + `}`:                                                "null missing_report",
		`{"metrics":["spend"],` + days + `}`:                                                                         "null missing_report null",
		`{"metrics":["spend"],"granularity":"day",` + days + `}`:                                                     "null missing_report null null null",
		`{"metrics":["spend"],"dimensions":["country"],` + days + `}`:                                                "null missing_report",
		`{"metrics":["spend"],"dimensions":["device"],` + days + `}`:                                                 "150  100 50",
		`{"metrics":["spend"],"filters":{"field":"device","op":"eq","values":["tv"]},` + days + `}`:                  "0  0",
		`{"metrics":["spend","leads"],"dimensions":["device"],"order_by":[{"field":"device"}],` + days + `}`:         "150  50 100",
		`{"metrics":["leads"],"dimensions":["device"],"granularity":"day",` + days + `}`:                             "null  null null null null null null",
		`{"metrics":["spend"],"date_range":{"start_date":"2026-10-01","end_date":"2026-10-03"},"granularity":"day"}`: "0  0 0 0",
	} {
		a := readReply(t, c.Do("POST", "/v1/analytics/query", body).Want(200).Body)
		metric := map[bool]string{true: "leads", false: "spend"}[strings.HasPrefix(body, `{"metrics":["leads"`)]
		got := formatNumber(a.Meta.Totals.Metrics[metric]) + " "
		for _, w := range a.Meta.Warnings {
			got += w.Code
		}
		for _, r := range a.Data {
			got += " " + formatNumber(r.Metrics[metric])
		}
		if got != want {
			t.Errorf("%s: got %q want %q", body, got, want)
		}
	}
	overview := overviewOf(t, c, "?start_date=2026-11-01&end_date=2026-11-03&metrics=spend")
	if n, there := overview.Metrics["spend"]; n != nil || !there {
		t.Errorf("overview: got %s want null", formatNumber(n))
	}
}
