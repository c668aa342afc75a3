package sandbox

import (
	"context"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
)

// ga4Answer is an answer of the Data API.
type ga4Answer struct {
	Rows, Totals, Minimums, Maximums []struct {
		DimensionValues []struct {
			Value string `json:"value"`
		} `json:"dimensionValues"`
		MetricValues []struct {
			Value string `json:"value"`
		} `json:"metricValues"`
	}
	DimensionHeaders []ga4Name `json:"dimensionHeaders"`
	Metadata         struct {
		CurrencyCode string `json:"currencyCode"`
	} `json:"metadata"`
	RowCount                 int         `json:"rowCount"`
	Reports                  []ga4Answer `json:"reports"`
	Dimensions               []any       `json:"dimensions"`
	Metrics                  []any       `json:"metrics"`
	DimensionCompatibilities []any       `json:"dimensionCompatibilities"`
}

// value returns a metric of a row as a number.
func (a ga4Answer) value(row, metric int) float64 {
	return ga4ParseValue(a.Rows[row].MetricValues[metric].Value)
}

// sum adds a metric up.
func (a ga4Answer) sum(metric int) (total float64) {
	for i := range a.Rows {
		total += a.value(i, metric)
	}
	return total
}

// ga4Caller calls the Data API of a property.
type ga4Caller struct {
	server *Server
	access AccountTokens
}

func newGA4Caller(t *testing.T) *ga4Caller {
	t.Helper()
	s, err := New(Options{Seed: 7, Currency: "EUR", Now: func() time.Time { return time.Date(2026, 10, 20, 12, 0, 0, 0, time.UTC) }})
	if err != nil {
		t.Fatal(err)
	}
	granted, err := s.Grant(s.Own())
	if err != nil {
		t.Fatal(err)
	}
	return &ga4Caller{s, granted[GA4]}
}

// call calls an operation of the property. The method is GET without a body.
func (c *ga4Caller) call(t *testing.T, operation, body string) (int, ga4Answer) {
	t.Helper()
	method := http.MethodPost
	if body == "" {
		method = http.MethodGet
	}
	if !strings.HasPrefix(operation, "properties/") {
		operation = "properties/" + c.access.AccountID + operation
	}
	req, err := http.NewRequestWithContext(context.Background(), method, "https://analyticsdata.googleapis.com/v1beta/"+operation, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+c.access.AccessToken)
	resp, err := c.server.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	var answer ga4Answer
	b, err := io.ReadAll(resp.Body)
	if err != nil || json.Unmarshal(b, &answer, json.MatchCaseInsensitiveNames(true)) != nil {
		t.Fatalf("%s: got %s, %v", body, b, err)
	}
	return resp.StatusCode, answer
}

// report runs a report of one week by dimensions, given as words.
func (c *ga4Caller) report(t *testing.T, dimensions, metrics, more string) ga4Answer {
	t.Helper()
	list := func(names string) string {
		var all []string
		for name := range strings.FieldsSeq(names) {
			all = append(all, `{"name":`+strconv.Quote(name)+`}`)
		}
		return "[" + strings.Join(all, ",") + "]"
	}
	if !strings.Contains(more, "dateRanges") {
		more += `,"dateRanges":[{"startDate":"11daysAgo","endDate":"5daysAgo"}]`
	}
	status, answer := c.call(t, ":runReport", `{"dimensions":`+list(dimensions)+`,"metrics":`+list(metrics)+more+`}`)
	if status != http.StatusOK {
		t.Fatalf("%s, %s, %s: got status %d", dimensions, metrics, more, status)
	}
	return answer
}

// TestGA4Filters checks that filters select the rows that a caller selects
// itself from the report without a filter.
func TestGA4Filters(t *testing.T) {
	t.Parallel()
	c := newGA4Caller(t)
	all := c.report(t, "sessionSource sessionMedium sessionCampaignName", "sessions keyEvents", "")
	for filter, fits := range map[string]func(source, campaign string, sessions float64) bool{
		`"dimensionFilter":{"filter":{"fieldName":"sessionSource","stringFilter":{"value":"GOOGLE"}}}`: func(s, _ string, _ float64) bool { return s == "google" },
		`"dimensionFilter":{"filter":{"fieldName":"sessionSource","stringFilter":{"value":"GOOGLE","caseSensitive":true}}}`: func(string, string, float64) bool {
			return false
		},
		`"dimensionFilter":{"filter":{"fieldName":"sessionSource","inListFilter":{"values":["google","linkedin"]}}}`:     func(s, _ string, _ float64) bool { return s != "facebook" },
		`"dimensionFilter":{"notExpression":{"filter":{"fieldName":"sessionSource","stringFilter":{"value":"google"}}}}`: func(s, _ string, _ float64) bool { return s != "google" },
		`"dimensionFilter":{"filter":{"fieldName":"sessionCampaignName","stringFilter":{"matchType":4,"value":"a"}}}`:    func(_, n string, _ float64) bool { return strings.Contains(strings.ToLower(n), "a") },
		`"dimensionFilter":{"filter":{"fieldName":"sessionCampaignName","stringFilter":{"matchType":"FULL_REGEXP","value":"brand.*"}}}`: func(_, n string, _ float64) bool {
			return strings.HasPrefix(n, "Brand")
		},
		`"dimensionFilter":{"orGroup":{"expressions":[{"filter":{"fieldName":"sessionSource","stringFilter":{"matchType":"BEGINS_WITH","value":"goo"}}},{"filter":{"fieldName":"sessionSource","stringFilter":{"matchType":"ENDS_WITH","value":"book"}}}]}}`: func(s, _ string, _ float64) bool {
			return s != "linkedin"
		},
		`"dimensionFilter":{"andGroup":{"expressions":[{"filter":{"fieldName":"source","stringFilter":{"value":"google"}}},{"filter":{"fieldName":"medium","emptyFilter":{}}}]}}`: func(string, string, float64) bool {
			return false
		},
		`"metricFilter":{"filter":{"fieldName":"sessions","numericFilter":{"operation":"GREATER_THAN","value":{"int64Value":"5000"}}}}`: func(_, _ string, n float64) bool { return n > 5000 },
		`"metricFilter":{"filter":{"fieldName":"sessions","betweenFilter":{"fromValue":{"int64Value":"0"},"toValue":{"doubleValue":5000.5}}}}`: func(_, _ string, n float64) bool {
			return n <= 5000
		},
	} {
		want := 0
		for i := range all.Rows {
			if fits(all.Rows[i].DimensionValues[0].Value, all.Rows[i].DimensionValues[2].Value, all.value(i, 0)) {
				want++
			}
		}
		if got := c.report(t, "sessionSource sessionMedium sessionCampaignName", "sessions keyEvents", ","+filter); len(got.Rows) != want {
			t.Errorf("%s: got %d rows, want %d of %d", filter, len(got.Rows), want, len(all.Rows))
		}
	}
}

// TestGA4Totals checks aggregations, and that reports by any dimensions have the
// same total.
func TestGA4Totals(t *testing.T) {
	t.Parallel()
	c := newGA4Caller(t)
	whole := c.report(t, "", "keyEvents totalRevenue sessions", "").sum(0)
	for _, dimensions := range []string{
		"date", "yearMonth week dayOfWeekName", "sessionSourceMedium", "country deviceCategory", "userAgeBracket countryId", "sessionManualAdContent deviceCategory",
		"eventName", "browser", "firstUserCampaignName audienceName",
	} {
		got := c.report(t, dimensions, "keyEvents sessions", `,"metricAggregations":["TOTAL",5,"MAXIMUM"],"limit":3,"orderBys":[{"metric":{"metricName":"keyEvents"},"desc":true}]`)
		all := c.report(t, dimensions, "keyEvents sessions", `,"orderBys":[{"metric":{"metricName":"keyEvents"},"desc":true}]`)
		total := ga4ParseValue(got.Totals[0].MetricValues[0].Value)
		if difference := total - whole; difference > 0.001 || difference < -0.001 || len(got.Rows) > 3 || got.RowCount != len(all.Rows) {
			t.Errorf("%s: got a total of %v and %d of %d rows, want %v", dimensions, total, len(got.Rows), got.RowCount, whole)
		}
		if name := got.Totals[0].DimensionValues[0].Value; name != "RESERVED_TOTAL" {
			t.Errorf("%s: got %s, want RESERVED_TOTAL", dimensions, name)
		}
		last := len(all.Rows) - 1
		if got.Maximums[0].MetricValues[0].Value != all.Rows[0].MetricValues[0].Value || got.Minimums[0].MetricValues[0].Value != all.Rows[last].MetricValues[0].Value {
			t.Errorf("%s: got %+v and %+v, want the values of the first and the last row", dimensions, got.Minimums, got.Maximums)
		}
	}
}

// TestGA4Operations checks batches, date ranges, currencies and the lists of
// fields.
func TestGA4Operations(t *testing.T) {
	t.Parallel()
	c := newGA4Caller(t)
	const one = `{"metrics":[{"name":"sessions"}],"dateRanges":[{"startDate":"3daysAgo","endDate":"yesterday"}]}`
	for requests, want := range map[int]int{0: 400, 1: 200, 5: 200, 6: 400} {
		status, got := c.call(t, ":batchRunReports", `{"requests":[`+strings.Join(slices.Repeat([]string{one}, requests), ",")+`]}`)
		if status != want || want == 200 && len(got.Reports) != requests {
			t.Errorf("%d requests: got %d with %d reports, want %d", requests, status, len(got.Reports), want)
		}
	}
	ranges := c.report(t, "", "keyEvents", `,"dateRanges":[{"startDate":"9daysAgo","endDate":"5daysAgo","name":"now"},{"startDate":"9daysAgo","endDate":"5daysAgo"}]`)
	if len(ranges.Rows) != 2 || len(ranges.DimensionHeaders) != 1 || ranges.DimensionHeaders[0].Name != "dateRange" ||
		ranges.Rows[1].DimensionValues[0].Value != "date_range_1" || ranges.value(0, 0) != ranges.value(1, 0) {
		t.Errorf("got %+v, want a row for each date range", ranges)
	}
	euros, dollars := c.report(t, "", "totalRevenue sessions", ""), c.report(t, "", "totalRevenue sessions", `,"currencyCode":"USD"`)
	if dollars.Metadata.CurrencyCode != "USD" || dollars.sum(0) <= euros.sum(0) || dollars.sum(1) != euros.sum(1) {
		t.Errorf("got %v %s, want more than %v euros", dollars.sum(0), dollars.Metadata.CurrencyCode, euros.sum(0))
	}
	for _, operation := range []string{"/metadata", "properties/0/metadata"} {
		if status, got := c.call(t, operation, ""); status != http.StatusOK || len(got.Dimensions) < 300 || len(got.Metrics) < 80 {
			t.Errorf("%s: got %d with %d dimensions and %d metrics", operation, status, len(got.Dimensions), len(got.Metrics))
		}
	}
	if status, got := c.call(t, ":checkCompatibility", `{"dimensions":[{"name":"city"}],"compatibilityFilter":"COMPATIBLE"}`); status != http.StatusOK || len(got.DimensionCompatibilities) < 300 {
		t.Errorf("got %d with %d dimensions, want all", status, len(got.DimensionCompatibilities))
	}
	for _, body := range []string{
		`{"metrics":[{"name":"sessions"}],"dateRanges":[{"startDate":"today","endDate":"today"}],"orderBys":[{"metric":{"metricName":"keyEvents"}}]}`,
		`{"metrics":[{"name":"sessions"}],"dateRanges":[{"startDate":"today","endDate":"today"}],"currencyCode":"XXQ"}`,
		`{"metrics":[{"name":"sessions"}],"dateRanges":[{"startDate":"today","endDate":"today"}],"metricAggregations":["SUM"]}`,
		`{"metrics":[{"name":"sessions"}],"dateRanges":[{"startDate":"today","endDate":"today"}],"dimensionFilter":{"filter":{"fieldName":"sessions","stringFilter":{"value":"1"}}}}`,
		`{"metrics":[{"name":"sessions"}],"dateRanges":[{"startDate":"today","endDate":"today"}],"dimensionFilter":{"filter":{"fieldName":"city","inListFilter":{"values":[]}}}}`,
		`{"metrics":[{"name":"sessions"}],"dateRanges":[{"startDate":"today","endDate":"today"}],"dimensionFilter":{}}`,
		`{"metrics":[{"name":"keyEvents:sign_up"}],"dateRanges":[{"startDate":"today","endDate":"today"}]}`,
	} {
		if status, _ := c.call(t, ":runReport", body); status != http.StatusBadRequest {
			t.Errorf("%s: got %d, want 400", body, status)
		}
	}
}
