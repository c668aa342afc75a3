package sandbox

import (
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/money"
)

// ga4Request is the body of a report. Numbers may be strings.
type ga4Request struct {
	// Property is set in batches only, and has to be that of the batch.
	Property            string           `json:"property"`
	Dimensions          []ga4Name        `json:"dimensions"`
	Metrics             []ga4MetricAsk   `json:"metrics"`
	DateRanges          []ga4DateRange   `json:"dateRanges"`
	DimensionFilter     *ga4Filter       `json:"dimensionFilter"`
	MetricFilter        *ga4Filter       `json:"metricFilter"`
	MetricAggregations  []ga4Aggregation `json:"metricAggregations"`
	OrderBys            []ga4Order       `json:"orderBys"`
	Limit               ga4Number        `json:"limit"`
	Offset              ga4Number        `json:"offset"`
	CurrencyCode        string           `json:"currencyCode"`
	ReturnPropertyQuota bool             `json:"returnPropertyQuota"`
	KeepEmptyRows       bool             `json:"keepEmptyRows"`
	// CompatibilityFilter belongs to a check of compatibility.
	CompatibilityFilter ga4Compatibility `json:"compatibilityFilter"`

	// levels are those of the dimensions in the request, sorted.
	levels []Level
	spans  []ga4Span
}

type ga4Name struct {
	Name string `json:"name"`
}

type ga4MetricAsk struct {
	Name      string `json:"name"`
	Invisible bool   `json:"invisible"`
}

type ga4DateRange struct {
	StartDate string `json:"startDate"`
	EndDate   string `json:"endDate"`
	Name      string `json:"name"`
}

// ga4Span is a date range.
type ga4Span struct {
	name        string
	first, last clock.Date
}

type ga4Order struct {
	Dimension struct {
		DimensionName string       `json:"dimensionName"`
		OrderType     ga4OrderType `json:"orderType"`
	} `json:"dimension"`
	Metric struct {
		MetricName string `json:"metricName"`
	} `json:"metric"`
	Desc bool `json:"desc"`
}

// ga4Number is a 64-bit number, which Google writes as a string and also reads
// as a number.
type ga4Number int

// UnmarshalJSON accepts a JSON number or a string.
func (n *ga4Number) UnmarshalJSON(b []byte) error {
	v, err := strconv.Atoi(strings.Trim(string(b), `"`))
	*n = ga4Number(v)
	return err
}

// Limits of a request.
const (
	ga4DefaultRows   = 10_000
	ga4MaxRows       = 250_000
	ga4MaxDimensions = 9
	ga4MaxMetrics    = 10
	ga4MaxRanges     = 4
	ga4MaxBatch      = 5
)

const ga4Schema = " For a list of valid dimensions and metrics, see https://developers.google.com/analytics/devguides/reporting/data/v1/api-schema ."

// runReport answers a report.
func (v ga4Viewer) runReport(a *Account, body []byte) (int, any) {
	var in ga4Request
	if err := json.Unmarshal(body, &in, json.RejectUnknownMembers(true)); err != nil {
		return ga4Invalid("Invalid JSON payload received: " + err.Error())
	}
	return v.answerReport(a, &in)
}

func (v ga4Viewer) answerReport(a *Account, in *ga4Request) (int, any) {
	if wrong := v.validate(a, in); wrong != "" {
		return ga4Invalid(wrong)
	}
	if v.Fault(FaultTooLarge) {
		return http.StatusGatewayTimeout, googleError(http.StatusGatewayTimeout, "The report took too long.")
	}
	report := ga4Report{ga4Viewer: v, account: a, in: in, metadata: map[string]any{}}
	report.read()
	return http.StatusOK, report.page()
}

// batchRunReports answers up to five reports.
func (v ga4Viewer) batchRunReports(a *Account, body []byte) (int, any) {
	var in struct {
		Requests []ga4Request `json:"requests"`
	}
	if err := json.Unmarshal(body, &in, json.RejectUnknownMembers(true)); err != nil {
		return ga4Invalid("Invalid JSON payload received: " + err.Error())
	}
	if len(in.Requests) == 0 || len(in.Requests) > ga4MaxBatch {
		return ga4Invalid("A batch request must have from 1 to 5 requests.")
	}
	reports := []any{}
	for i := range in.Requests {
		status, report := v.answerReport(a, &in.Requests[i])
		if status != http.StatusOK {
			return status, report
		}
		reports = append(reports, report)
	}
	return http.StatusOK, map[string]any{"kind": "analyticsData#batchRunReports", "reports": reports}
}

// validate completes a request. It returns an error message if it is wrong.
func (v ga4Viewer) validate(a *Account, in *ga4Request) string {
	switch {
	case len(in.Metrics) == 0 || len(in.Metrics) > ga4MaxMetrics:
		return "Requests must have from 1 to 10 metrics."
	case len(in.Dimensions) > ga4MaxDimensions:
		return "Requests are limited to 9 dimensions."
	case len(in.DateRanges) == 0 || len(in.DateRanges) > ga4MaxRanges:
		return "Requests must have from 1 to 4 date ranges."
	case in.Limit < 0 || in.Offset < 0:
		return "The limit and the offset must be positive."
	case in.Limit > ga4MaxRows:
		return "The limit must be at most 250000."
	case in.Property != "" && in.Property != "properties/"+a.ID:
		return "The property of the request is not that of the batch."
	}
	if _, ok := money.Currency(in.CurrencyCode).Digits(); in.CurrencyCode != "" && !ok {
		return "The currency code " + in.CurrencyCode + " is invalid."
	}
	for _, check := range []func() string{in.checkFields, in.checkOrder, func() string { return v.checkRestricted(a, in) }, func() string { return v.readSpans(a, in) }} {
		if wrong := check(); wrong != "" {
			return wrong
		}
	}
	if in.Limit == 0 {
		in.Limit = ga4DefaultRows
	}
	return ""
}

// checkFields checks the names of dimensions and metrics and sets the levels.
func (in *ga4Request) checkFields() (wrong string) {
	levels := map[Level]bool{}
	useDimension := func(name string) {
		d, ok := ga4Dimensions[name]
		if !ok && wrong == "" {
			wrong = "Field " + name + " is not a valid dimension." + ga4Schema
		}
		if ok && d.level != ByCampaign {
			levels[d.level] = true
		}
	}
	useMetric := func(name string) {
		if _, ok := ga4Metrics[name]; !ok && wrong == "" {
			wrong = "Field " + name + " is not a valid metric." + ga4Schema
		}
	}
	for _, d := range in.Dimensions {
		useDimension(d.Name)
	}
	in.DimensionFilter.fields(useDimension)
	for _, m := range in.Metrics {
		useMetric(m.Name)
	}
	in.MetricFilter.fields(useMetric)
	in.levels = slices.Sorted(maps.Keys(levels))
	if wrong != "" {
		return wrong
	}
	if wrong = in.DimensionFilter.problem(); wrong == "" {
		wrong = in.MetricFilter.problem()
	}
	return wrong
}

// checkOrder checks that the report is sorted by fields that it has.
func (in *ga4Request) checkOrder() string {
	for _, o := range in.OrderBys {
		d, m := o.Dimension.DimensionName, o.Metric.MetricName
		switch {
		case d != "" && !in.hasDimension(d):
			return "Field " + d + " in orderBys is not in the dimensions of the request."
		case m != "" && in.metricIndex(m) < 0:
			return "Field " + m + " in orderBys is not in the metrics of the request."
		case (d == "") == (m == ""):
			return "Each of the orderBys must have a dimension or a metric."
		}
	}
	return ""
}

// checkRestricted refuses filters on metrics that the role hides.
func (v ga4Viewer) checkRestricted(a *Account, in *ga4Request) (wrong string) {
	in.MetricFilter.fields(func(name string) {
		if v.restricts(a, name) {
			wrong = "The metric " + name + " is restricted and cannot be used in a filter."
		}
	})
	return wrong
}

// restricts reports whether the role of the token hides a metric.
func (v ga4Viewer) restricts(a *Account, metric string) bool {
	kind := v.Behavior(a, "restricted_metric")
	return kind != "" && ga4Metrics[metric].restricted == kind
}

func (in *ga4Request) hasDimension(name string) bool {
	return slices.ContainsFunc(in.Dimensions, func(d ga4Name) bool { return d.Name == name })
}

func (in *ga4Request) metricIndex(name string) int {
	return slices.IndexFunc(in.Metrics, func(m ga4MetricAsk) bool { return m.Name == name })
}

// readSpans reads the date ranges. Several of them add the dimension dateRange.
func (v ga4Viewer) readSpans(a *Account, in *ga4Request) string {
	today := v.today(a)
	for i, r := range in.DateRanges {
		span := ga4Span{name: r.Name}
		if span.name == "" {
			span.name = "date_range_" + strconv.Itoa(i)
		}
		var okFirst, okLast bool
		span.first, okFirst = parseGA4Date(r.StartDate, today)
		span.last, okLast = parseGA4Date(r.EndDate, today)
		if !okFirst || !okLast || span.last < span.first {
			return "The date range is invalid: write YYYY-MM-DD, NdaysAgo, yesterday or today."
		}
		in.spans = append(in.spans, span)
	}
	if len(in.spans) > 1 && !in.hasDimension("dateRange") {
		in.Dimensions = append(in.Dimensions, ga4Name{"dateRange"})
	}
	return ""
}

// parseGA4Date parses a date in GA4's formats.
func parseGA4Date(text string, today clock.Date) (clock.Date, bool) {
	switch ago, relative := strings.CutSuffix(text, "daysAgo"); {
	case text == "today":
		return today, true
	case text == "yesterday":
		return today - 1, true
	case relative:
		n, err := strconv.Atoi(ago)
		return today - clock.Date(n), err == nil && n >= 0
	}
	return clock.ParseDate(text)
}

// page returns one page of a report.
func (r *ga4Report) page() any {
	in, total, limit := r.in, len(r.lines), int(r.in.Limit)
	from := int(in.Offset)
	switch {
	case from > 0 && r.Fault(FaultDuplicatePage):
		from = max(from-limit, 0)
	case total > limit && r.Fault(FaultSkipPage):
		from += limit
	}
	from = min(from, total)
	answer := map[string]any{"kind": "analyticsData#runReport", "rowCount": total, "metadata": r.metadata}
	if in.Offset > 0 && r.Fault(FaultDriftingTotal) {
		answer["rowCount"] = total + 1
	}
	type header = map[string]string
	dimensions, metrics, rows := []header{}, []header{}, []any{}
	for _, d := range in.Dimensions {
		dimensions = append(dimensions, header{"name": d.Name})
	}
	for _, m := range in.Metrics {
		if !m.Invisible {
			metrics = append(metrics, header{"name": m.Name, "type": ga4Metrics[m.Name].kind})
		}
	}
	for i := range r.lines[from:min(from+limit, total)] {
		rows = append(rows, r.encode(r.lines[from+i].dimensions, r.lines[from+i].values))
	}
	answer["dimensionHeaders"], answer["metricHeaders"], answer["rows"] = dimensions, metrics, rows
	for name, member := range map[ga4Aggregation]string{"TOTAL": "totals", "MINIMUM": "minimums", "MAXIMUM": "maximums"} {
		if slices.Contains(in.MetricAggregations, name) {
			answer[member] = r.aggregate(string(name))
		}
	}
	if in.ReturnPropertyQuota {
		answer["propertyQuota"] = r.quotaState(r.account)
	}
	return answer
}

// encode returns a row of an answer.
func (r *ga4Report) encode(dimensions, values []string) any {
	list := []any{}
	for _, d := range dimensions {
		list = append(list, map[string]string{"value": d})
	}
	numbers := []any{}
	for i, m := range r.in.Metrics {
		if !m.Invisible {
			numbers = append(numbers, map[string]string{"value": values[i]})
		}
	}
	return map[string]any{"dimensionValues": list, "metricValues": numbers}
}

// aggregate returns the total, minimum or maximum of all rows, not only of those
// on the page.
func (r *ga4Report) aggregate(name string) []any {
	if len(r.lines) == 0 {
		return []any{}
	}
	dimensions := slices.Repeat([]string{"RESERVED_" + name}, len(r.in.Dimensions))
	var sum ga4Sums
	for _, line := range r.lines {
		sum.add(line.sums)
	}
	values := r.render(&sum)
	for i := range values {
		// Whole numbers are rounded in each row, and the total is that of the rows.
		if name == "TOTAL" && ga4Metrics[r.in.Metrics[i].Name].kind == ga4Integer {
			values[i] = r.addUp(i)
		}
		for j, line := range r.lines {
			x, y := ga4ParseValue(line.values[i]), ga4ParseValue(values[i])
			if name != "TOTAL" && (j == 0 || name == "MINIMUM" && x < y || name == "MAXIMUM" && x > y) {
				values[i] = line.values[i]
			}
		}
	}
	return []any{r.encode(dimensions, values)}
}

// addUp returns the sum of a metric of all rows, which are whole numbers.
func (r *ga4Report) addUp(metric int) string {
	sum := int64(0)
	for _, line := range r.lines {
		n, _ := strconv.ParseInt(line.values[metric], 10, 64)
		sum += n
	}
	return strconv.FormatInt(sum, 10)
}

func ga4ParseValue(text string) float64 {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0
	}
	return n
}

// render returns the values of the metrics of the report as texts.
func (r *ga4Report) render(n *ga4Sums) []string {
	values := make([]string, len(r.in.Metrics))
	for i, ask := range r.in.Metrics {
		values[i] = r.renderMetric(ask.Name, n)
	}
	return values
}

func (r *ga4Report) renderMetric(name string, n *ga4Sums) string {
	m := ga4Metrics[name]
	if r.hidden != "" && m.restricted == r.hidden {
		return "0"
	}
	value := m.of(n)
	switch m.kind {
	case ga4Currency:
		value = ga4Convert(value, r.account.Set.Currency, r.code)
	case ga4Integer:
		return strconv.FormatInt((value+million/2)/million, 10)
	}
	return fact.Millionths(value).String()
}
