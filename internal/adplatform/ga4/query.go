package ga4

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"time"

	"fanfare/internal/adplatform/googleauth"
	"fanfare/internal/adplatform/transport"
	"fanfare/internal/connection"
	"fanfare/internal/fact"
)

type name struct {
	Name string `json:"name"`
}

type request struct {
	Dimensions          []name    `json:"dimensions"`
	Metrics             []name    `json:"metrics"`
	DateRanges          []days    `json:"dateRanges"`
	OrderBys            []orderBy `json:"orderBys"`
	Limit               int       `json:"limit,string"`
	Offset              int       `json:"offset,string,omitzero"`
	ReturnPropertyQuota bool      `json:"returnPropertyQuota"`
}

type days struct {
	StartDate string `json:"startDate"`
	EndDate   string `json:"endDate"`
}

type orderBy struct {
	Dimension struct {
		DimensionName string `json:"dimensionName"`
	} `json:"dimension"`
}

type answer struct {
	DimensionHeaders []name `json:"dimensionHeaders"`
	MetricHeaders    []name `json:"metricHeaders"`
	Rows             []struct {
		Dimensions []value `json:"dimensionValues"`
		Metrics    []value `json:"metricValues"`
	} `json:"rows"`
	RowCount int      `json:"rowCount"`
	Metadata metadata `json:"metadata"`
	Quota    quota    `json:"propertyQuota"`
}

type value struct {
	Value string `json:"value"`
}

type quota struct {
	Day          remaining `json:"tokensPerDay"`
	Hour         remaining `json:"tokensPerHour"`
	ProjectHour  remaining `json:"tokensPerProjectPerHour"`
	ServerErrors remaining `json:"serverErrorsPerProjectPerHour"`
	Thresholded  remaining `json:"potentiallyThresholdedRequestsPerHour"`
}

type remaining struct {
	Remaining *int64 `json:"remaining"`
}

// A tenth of the quota of a standard property is a reserve, of server errors
// two tenths. Choice: the API does not report the larger quotas of a paid
// property, so such a property is held at less than a tenth of its quota.
const (
	reserveDay          = 20_000
	reserveHour         = 4_000
	reserveProjectHour  = 1_400
	reserveThresholded  = 12
	reserveServerErrors = 2
)

// holdUntil returns until when background calls are held, zero for not at all.
// The last tenth of a quota is reserved for calls that a person waits for. Any
// exhausted quota blocks all requests of the property, so all of them are held.
func (q *quota) holdUntil(now time.Time) time.Time {
	below := func(r remaining, low int64) bool { return r.Remaining != nil && *r.Remaining < low }
	switch {
	case below(q.Day, reserveDay):
		return nextDay(now)
	case below(q.Hour, reserveHour), below(q.ProjectHour, reserveProjectHour),
		below(q.Thresholded, reserveThresholded), below(q.ServerErrors, reserveServerErrors):
		return nextHour(now)
	}
	return time.Time{}
}

// query is a report.
type query struct {
	property            string
	dimensions, metrics []string
	between             days
	// check is called with the metadata of each page before its rows, if set.
	check func(*metadata) error
}

// request returns the request of the first page. Rows are sorted by all
// dimensions, so that pages are stable.
func (q *query) request(rows int) request {
	in := request{DateRanges: []days{q.between}, Limit: rows, ReturnPropertyQuota: true}
	for _, d := range q.dimensions {
		in.Dimensions = append(in.Dimensions, name{d})
		order := orderBy{}
		order.Dimension.DimensionName = d
		in.OrderBys = append(in.OrderBys, order)
	}
	for _, m := range q.metrics {
		in.Metrics = append(in.Metrics, name{m})
	}
	return in
}

// reportRow has the values of a row by dimension.
type reportRow map[string]string

// runReport reads a report page by page, and returns what Google says about it.
// It returns an error if pages disagree on the number of rows, the currency or
// the time zone, or if rows are missing.
func (c *Client) runReport(ctx context.Context, creds connection.Credentials, q query, each func(reportRow, []int64) error) (*metadata, error) {
	if !isDigits(q.property) {
		return nil, &connection.Error{Class: connection.Gone, Code: "unknown_account", Message: "A property of Google Analytics has a number, without the G- of its tag."}
	}
	in := q.request(c.page)
	seen := googleauth.SeenRows[string]{}
	var info *metadata
	total := -1
	for {
		var page answer
		_, err := c.data.Do(ctx, transport.Call{
			Method: http.MethodPost, Path: "/" + version + "/properties/" + q.property + ":runReport",
			Header: googleauth.Bearer(creds), JSON: in, Account: q.property,
		}, &page)
		if err != nil {
			return nil, err
		}
		if total >= 0 && page.RowCount != total {
			return nil, googleauth.ReportChanged("changed_total", "The number of rows changed while the report was read.")
		}
		total = page.RowCount
		if until := page.Quota.holdUntil(c.now()); !until.IsZero() {
			c.data.Hold(ctx, q.property, until)
		}
		if info, err = info.merge(&page.Metadata); err != nil {
			return nil, err
		}
		if q.check != nil {
			if err := q.check(info); err != nil {
				return nil, err
			}
		}
		if err := page.readRows(&q, seen, each); err != nil {
			return nil, err
		}
		in.Offset += c.page
		if in.Offset >= total {
			break
		}
	}
	if len(seen) != total {
		return nil, googleauth.ReportChanged("missing_rows", "The report has other than the "+strconv.Itoa(total)+" rows that it said it has.")
	}
	return info, nil
}

// columns returns the positions of the requested names, because values have no
// names but only positions. Without headers they are in the order of the request.
func columns(headers []name, requested []string) ([]int, bool) {
	positions := make([]int, len(requested))
	for i, want := range requested {
		positions[i] = i
		if len(headers) > 0 {
			positions[i] = slices.Index(headers, name{want})
		}
		if positions[i] < 0 {
			return nil, false
		}
	}
	return positions, true
}

// readRows parses the rows of a page and passes on those that are no duplicates.
func (page *answer) readRows(q *query, seen googleauth.SeenRows[string], each func(reportRow, []int64) error) error {
	dimensionAt, okDimensions := columns(page.DimensionHeaders, q.dimensions)
	metricAt, okMetrics := columns(page.MetricHeaders, q.metrics)
	for i := range page.Rows {
		row := &page.Rows[i]
		if !okDimensions || !okMetrics || len(row.Dimensions) != len(q.dimensions) || len(row.Metrics) != len(q.metrics) {
			return googleauth.MalformedAnswer("A row of the report has not the columns that were asked for.")
		}
		l, key := reportRow{}, ""
		for j, d := range q.dimensions {
			l[d] = row.Dimensions[dimensionAt[j]].Value
			key += l[d] + "\x00"
		}
		numbers := make([]int64, len(q.metrics))
		var v fact.Values
		for j := range q.metrics {
			n, ok := googleauth.Millionths(row.Metrics[metricAt[j]].Value)
			if !ok {
				return googleauth.MalformedAnswer("A figure in the report is no number.")
			}
			numbers[j] = n
			v.Set(fact.Measure(j), n)
		}
		fresh, err := seen.Add(key, v)
		if err != nil {
			return err
		}
		if fresh {
			if err := each(l, numbers); err != nil {
				return err
			}
		}
	}
	return nil
}
