package sandbox

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"fanfare/internal/clock"
	"fanfare/internal/fact"
)

// ga4Request is the body of a report. Numbers may be strings.
type ga4Request struct {
	Dimensions          []ga4Name      `json:"dimensions"`
	Metrics             []ga4Name      `json:"metrics"`
	DateRanges          []ga4DateRange `json:"dateRanges"`
	OrderBys            []ga4Order     `json:"orderBys"`
	Limit               ga4Number      `json:"limit"`
	Offset              ga4Number      `json:"offset"`
	ReturnPropertyQuota bool           `json:"returnPropertyQuota"`
	KeepEmptyRows       bool           `json:"keepEmptyRows"`
}

type ga4Name struct {
	Name string `json:"name"`
}

type ga4DateRange struct {
	StartDate string `json:"startDate"`
	EndDate   string `json:"endDate"`
}

type ga4Order struct {
	Dimension struct {
		DimensionName string `json:"dimensionName"`
		OrderType     string `json:"orderType"`
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

const (
	ga4DefaultRows = 10_000
	ga4MaxRows     = 250_000
	ga4NotSet      = "(not set)"
)

// ga4Dimensions are the dimensions, with the level that has them if not all do.
var ga4Dimensions = map[string]struct {
	level Level
	of    func(r *Row) string
}{
	"date":                       {ByCampaign, func(r *Row) string { return strings.ReplaceAll(r.Date.String(), "-", "") }},
	"sessionCampaignName":        {ByCampaign, func(r *Row) string { return r.Campaign.Name }},
	"sessionDefaultChannelGroup": {ByCampaign, func(r *Row) string { return ga4Channel(r.Campaign) }},
	"sessionManualAdContent": {ByAd, func(r *Row) string {
		if r.Ad == nil {
			return ga4NotSet
		}
		return r.Ad.Name
	}},
	"audienceName": {ByAd, func(r *Row) string {
		if r.Group == nil || r.Group.Audience == nil {
			return ga4NotSet
		}
		return r.Group.Audience.Name
	}},
	"countryId":      {ByCountry, func(r *Row) string { return r.Country }},
	"userAgeBracket": {ByAgeAndGender, func(r *Row) string { return r.AgeRange }},
	"userGender":     {ByAgeAndGender, func(r *Row) string { return r.Gender }},
	"deviceCategory": {ByDevice, func(r *Row) string {
		if r.Device == "tv" {
			return "smart tv"
		}
		return r.Device
	}},
}

// ga4Channels are GA4's names of campaign kinds and, for other kinds, of
// channels.
var ga4Channels = map[string]string{
	"shopping": "Paid Shopping", "performance_max": "Cross-network",
	"search": "Paid Search", "social": "Paid Social", "display": "Display", "video": "Paid Video",
}

func ga4Channel(c *Campaign) string {
	for _, word := range []string{c.Kind, c.Channel} {
		if group, ok := ga4Channels[word]; ok {
			return group
		}
	}
	return "Unassigned"
}

var ga4Metrics = map[string]struct {
	measure fact.Measure
	kind    string
}{
	"keyEvents":        {fact.Conversions, "TYPE_FLOAT"},
	"totalRevenue":     {fact.Revenue, "TYPE_CURRENCY"},
	"advertiserAdCost": {fact.Spend, "TYPE_CURRENCY"},
}

// ga4Row is a row of an answer.
type ga4Row struct {
	dimensions []string
	values     fact.Values
}

// runGA4Report answers a report.
func runGA4Report(s *Call, a *Account, body []byte) (int, any) {
	var in ga4Request
	if err := json.Unmarshal(body, &in, json.RejectUnknownMembers(true)); err != nil {
		return ga4Invalid("Invalid JSON payload received: " + err.Error())
	}
	level, first, last, wrong := in.validate(s.Today(a))
	if wrong != "" {
		return ga4Invalid(wrong)
	}
	if s.Fault(FaultTooLarge) {
		return http.StatusGatewayTimeout, googleError(http.StatusGatewayTimeout, "The report took too long.")
	}
	lines := in.sumRows(s, a, level, max(first, a.First), last)
	in.sortRows(lines)
	return http.StatusOK, in.page(s, a, lines)
}

// validate returns the level and the days of a request, or an error message.
func (in *ga4Request) validate(today clock.Date) (level Level, first, last clock.Date, wrong string) {
	level = ByCampaign
	for _, d := range in.Dimensions {
		known, ok := ga4Dimensions[d.Name]
		switch {
		case !ok:
			return 0, 0, 0, "Field " + d.Name + " is not a valid dimension."
		case known.level == ByCampaign || known.level == level:
		case level != ByCampaign:
			return 0, 0, 0, "Please remove " + d.Name + " to make the request compatible."
		default:
			level = known.level
		}
	}
	for _, m := range in.Metrics {
		if _, ok := ga4Metrics[m.Name]; !ok {
			return 0, 0, 0, "Field " + m.Name + " is not a valid metric."
		}
	}
	if len(in.Metrics) == 0 || len(in.DateRanges) != 1 || len(in.Dimensions) > 9 || in.Limit < 0 || in.Limit > ga4MaxRows || in.Offset < 0 {
		return 0, 0, 0, "A report needs metrics and one date range, and has at most 9 dimensions and 250000 rows at once."
	}
	first, okFirst := parseGA4Date(in.DateRanges[0].StartDate, today)
	last, okLast := parseGA4Date(in.DateRanges[0].EndDate, today)
	if !okFirst || !okLast || last < first {
		return 0, 0, 0, "The date range is none: write YYYY-MM-DD, NdaysAgo, yesterday or today."
	}
	if in.Limit == 0 {
		in.Limit = ga4DefaultRows
	}
	return level, first, last, ""
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

// sumRows adds rows by their dimensions.
func (in *ga4Request) sumRows(s *Call, a *Account, level Level, first, last clock.Date) []ga4Row {
	lines := []ga4Row{}
	at := map[string]int{}
	add := func(r Row, sign int64) {
		dimensions := make([]string, len(in.Dimensions))
		for i, d := range in.Dimensions {
			dimensions[i] = ga4Dimensions[d.Name].of(&r)
		}
		key := strings.Join(dimensions, "\x00")
		i, there := at[key]
		if !there {
			i = len(lines)
			at[key] = i
			lines = append(lines, ga4Row{dimensions: dimensions})
		}
		for _, m := range in.Metrics {
			measure := ga4Metrics[m.Name].measure
			lines[i].values.Set(measure, lines[i].values.V[measure]+sign*r.Values.V[measure])
		}
	}
	for r := range s.Rows(a, level, first, last) {
		add(r, 1)
		if level == ByAd {
			r.Group, r.Ad = nil, nil
			add(r, -1)
		}
	}
	if level == ByAd {
		// Rows of a campaign without an ad have no ad name.
		for r := range s.Rows(a, ByCampaign, first, last) {
			add(r, 1)
		}
	}
	if in.KeepEmptyRows {
		return lines
	}
	return slices.DeleteFunc(lines, func(l ga4Row) bool { return l.values.V == [fact.NumMeasures]int64{} })
}

// sortRows sorts the rows as requested.
func (in *ga4Request) sortRows(lines []ga4Row) {
	slices.SortStableFunc(lines, func(x, y ga4Row) int {
		for _, o := range in.OrderBys {
			c := 0
			if i := slices.Index(in.Dimensions, ga4Name{o.Dimension.DimensionName}); i >= 0 {
				c = strings.Compare(x.dimensions[i], y.dimensions[i])
			} else if m, ok := ga4Metrics[o.Metric.MetricName]; ok {
				c = int(min(max(x.values.V[m.measure]-y.values.V[m.measure], -1), 1))
			}
			if o.Desc {
				c = -c
			}
			if c != 0 {
				return c
			}
		}
		return 0
	})
}

// page returns one page.
func (in *ga4Request) page(s *Call, a *Account, lines []ga4Row) any {
	total, limit := len(lines), int(in.Limit)
	from := int(in.Offset)
	switch {
	case from > 0 && s.Fault(FaultDuplicatePage):
		from = max(from-limit, 0)
	case total > limit && s.Fault(FaultSkipPage):
		from += limit
	}
	from = min(from, total)
	answer := map[string]any{
		"kind": "analyticsData#runReport", "rowCount": total,
		"metadata": map[string]string{"currencyCode": a.Set.Currency, "timeZone": a.Set.Timezone},
	}
	if in.Offset > 0 && s.Fault(FaultDriftingTotal) {
		answer["rowCount"] = total + 1
	}
	type header = map[string]string
	dimensions, metrics, rows := []header{}, []header{}, []any{}
	for _, d := range in.Dimensions {
		dimensions = append(dimensions, header{"name": d.Name})
	}
	for _, m := range in.Metrics {
		metrics = append(metrics, header{"name": m.Name, "type": ga4Metrics[m.Name].kind})
	}
	for _, line := range lines[from:min(from+limit, total)] {
		rows = append(rows, in.encodeRow(line))
	}
	answer["dimensionHeaders"], answer["metricHeaders"], answer["rows"] = dimensions, metrics, rows
	if in.ReturnPropertyQuota {
		quota := func(remaining int) any { return map[string]int{"consumed": 1, "remaining": remaining} }
		answer["propertyQuota"] = map[string]any{
			"tokensPerDay": quota(199_999), "tokensPerHour": quota(39_999), "tokensPerProjectPerHour": quota(13_999), "concurrentRequests": quota(10),
		}
	}
	return answer
}

func (in *ga4Request) encodeRow(line ga4Row) any {
	dimensions, metrics := []any{}, []any{}
	for _, d := range line.dimensions {
		dimensions = append(dimensions, map[string]string{"value": d})
	}
	for _, m := range in.Metrics {
		metrics = append(metrics, map[string]string{"value": fact.Millionths(line.values.V[ga4Metrics[m.Name].measure]).String()})
	}
	return map[string]any{"dimensionValues": dimensions, "metricValues": metrics}
}
