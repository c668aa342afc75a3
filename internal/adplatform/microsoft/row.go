package microsoft

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"fanfare/internal/clock"
	"fanfare/internal/connection"
	"fanfare/internal/fact"
)

// qualifiedConversions is the column of conversions with fractions.
const qualifiedConversions = "ConversionsQualified"

// metric is a column with the measure that it becomes. Decimal ones are read in
// millionths.
type metric struct {
	column  string
	measure fact.Measure
	decimal bool
}

// credited reports whether a metric is about conversions.
func (m metric) credited() bool { return m.measure == fact.Conversions || m.measure == fact.Revenue }

// The metrics of reports. The last column with a value counts, so that qualified
// conversions, which are fractions, replace whole ones where there are some. Both
// have the goals that the advertiser includes in conversions. Asset groups have
// no qualified conversions, and only some reports have videos (PyPI msads
// 13.0.30.1, openapi_client/models/reporting/*_report_column.py).
var (
	assetMetrics = []metric{
		{"Impressions", fact.Impressions, false},
		{"Clicks", fact.Clicks, false},
		{"Spend", fact.Spend, true},
		{"Conversions", fact.Conversions, true},
		{"Revenue", fact.Revenue, true},
	}
	basicMetrics = append(slices.Clip(assetMetrics), metric{qualifiedConversions, fact.Conversions, true})
	allMetrics   = append(slices.Clip(basicMetrics), metric{"VideoViews", fact.VideoViews, false}, metric{"CompletedVideoViews", fact.VideoCompletions, false})
)

var (
	ageRanges = map[string]string{"13-17": "13-17", "18-24": "18-24", "25-34": "25-34", "65+": "65+"}
	// otherAgeRanges are groups that facts do not have.
	otherAgeRanges = map[string]bool{"35-49": true, "50-64": true}
	genders        = map[string]string{"Male": "male", "Female": "female"}
	devices        = map[string]string{"Computer": "desktop", "Smartphone": "mobile", "Tablet": "tablet"}
)

// parse returns a line of a report as a row of facts.
func (r *reader) parse(f *reportFile, line []string, query *reportQuery) (fact.Row, error) {
	get := func(name string) string {
		if at, ok := f.columns[name]; ok && line[at] != "--" {
			return line[at]
		}
		return ""
	}
	day, ok := clock.ParseDate(get("TimePeriod"))
	if !ok || day < r.q.First || day > r.q.Last || get("AccountId") != r.q.Account {
		return fact.Row{}, &connection.Error{Class: connection.Transient, Code: "contradictory", Message: "A row of the report is of no day or account that was asked for."}
	}
	row := fact.Row{Date: day, Family: connection.Families[r.q.Level]}
	if r.q.Level != connection.LevelAccount {
		row.Campaign, row.Channel = r.entity(get("CampaignId"), get("CampaignName")), channelOf(get("CampaignType"))
	}
	switch id, group := get("AdId"), get("AssetGroupId"); {
	case id != "":
		row.Creative = r.entity(id, get("TitlePart1"))
	case group != "":
		row.Creative = r.entity(assetGroupPrefix+group, get("AssetGroupName"))
	}
	row.Audience = r.audiences[get(groupColumn)]
	var err error
	if row.Values, err = values(query.metrics, get); err != nil {
		return row, err
	}
	r.findMissing(f, &row, query, get)
	switch r.q.Level {
	case connection.LevelGeo:
		row.Country = countryOf(get("Country"))
	case connection.LevelDevice:
		row.Device = cmp.Or(devices[get("DeviceType")], fact.Unknown)
	case connection.LevelDemographic:
		row.AgeRange, row.Gender = cmp.Or(ageRanges[get("AgeGroup")], fact.Unknown), cmp.Or(genders[get("Gender")], fact.Unknown)
		if otherAgeRanges[get("AgeGroup")] {
			r.otherAges += row.Values.V[fact.Spend]
		}
	default:
	}
	return row, nil
}

// findMissing remembers which of the requested values a row does not have.
func (r *reader) findMissing(f *reportFile, row *fact.Row, query *reportQuery, get func(string) string) {
	for _, m := range query.metrics {
		_, requested := f.columns[m.column]
		_, known := row.Values.Get(m.measure)
		r.missing[m.measure] = r.missing[m.measure] || requested && !known
		r.wholeOnly = r.wholeOnly || requested && known && m.column == qualifiedConversions && get(m.column) == ""
	}
}

// entity returns a campaign or an ad. name is the one in the report, which counts
// if the lists do not have the object: they have no deleted ones.
func (r *reader) entity(id, name string) fact.Entity {
	return fact.Entity{ExternalID: id, Name: cmp.Or(r.names[id], name)}
}

// values returns the metrics of a row. Empty ones are unknown.
func values(metrics []metric, get func(string) string) (v fact.Values, err error) {
	for _, m := range metrics {
		text := get(m.column)
		if text == "" {
			continue
		}
		n, ok := parseNumber(text, m.decimal)
		if !ok {
			return v, malformedNumber(m.column)
		}
		v.Set(m.measure, n)
	}
	return v, nil
}

func malformedNumber(column string) error {
	return &connection.Error{Class: connection.Transient, Code: "contradictory", Message: "A value of " + column + " in the report is no number."}
}

// parseNumber reads a number from its digits: a whole one, or a decimal in
// millionths, whose further digits are left out. It accepts no separators of
// thousands.
func parseNumber(text string, decimal bool) (int64, bool) {
	whole, rest, point := strings.Cut(text, ".")
	negative := strings.HasPrefix(whole, "-")
	digits := strings.TrimPrefix(whole, "-")
	if !isDigits(digits) || point && (!decimal || !isDigits(rest)) {
		return 0, false
	}
	if decimal {
		const places = 6
		digits += (rest + strings.Repeat("0", places))[:places]
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if negative {
		n = -n
	}
	return n, err == nil
}
