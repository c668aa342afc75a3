package tiktok

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"fanfare/internal/adplatform/transport"
	"fanfare/internal/clock"
	"fanfare/internal/connection"
	"fanfare/internal/fact"
)

// levelQuery is how a level is requested.
type levelQuery struct {
	report, level string
	// dimensions separate rows, besides the day.
	dimensions []string
	// attributes are other values of a row, which TikTok lists among the
	// metrics.
	attributes []string
	metrics    []metricField
}

// metricField is a metric of TikTok and the measure of facts that it becomes.
type metricField struct {
	metric  string
	measure fact.Measure
}

var (
	// audienceMetrics are the metrics of every report, allMetrics those of
	// reports by campaign and ad. Reports by audience refuse the others.
	audienceMetrics = []metricField{{"impressions", fact.Impressions}, {"clicks", fact.Clicks}, {"spend", fact.Spend}, {"conversion", fact.Conversions}}
	allMetrics      = slices.Concat(audienceMetrics, []metricField{
		{"total_purchase_value", fact.Revenue},
		{"engagements", fact.Engagements},
		{"video_play_actions", fact.VideoViews},
		{"video_views_p100", fact.VideoCompletions},
		{"reach", fact.Reach},
	})
)

var levelQueries = map[connection.Level]levelQuery{
	connection.LevelAccount:     {"BASIC", "AUCTION_ADVERTISER", []string{"advertiser_id"}, nil, allMetrics},
	connection.LevelCampaign:    {"BASIC", "AUCTION_CAMPAIGN", []string{"campaign_id"}, nil, allMetrics},
	connection.LevelAd:          {"BASIC", "AUCTION_AD", []string{"ad_id"}, []string{"campaign_id", "adgroup_id"}, allMetrics},
	connection.LevelGeo:         {"AUDIENCE", "AUCTION_ADGROUP", []string{"adgroup_id", "country_code"}, []string{"campaign_id"}, audienceMetrics},
	connection.LevelDemographic: {"AUDIENCE", "AUCTION_ADGROUP", []string{"adgroup_id", "age", "gender"}, []string{"campaign_id"}, audienceMetrics},
	connection.LevelDevice:      {"AUDIENCE", "AUCTION_ADGROUP", []string{"adgroup_id", "platform"}, []string{"campaign_id"}, audienceMetrics},
}

var (
	ages = map[string]string{
		"AGE_13_17": "13-17", "AGE_18_24": "18-24", "AGE_25_34": "25-34", "AGE_35_44": "35-44", "AGE_45_54": "45-54",
	}
	genders = map[string]string{"FEMALE": "female", "MALE": "male"}
	devices = map[string]string{"ANDROID": "mobile", "IPHONE": "mobile", "IPAD": "tablet", "PC": "desktop", "OTHERS": "other"}
)

// Choice: TikTok's oldest age group is 55 and older, which is not an age range
// of facts. It becomes unknown.
const unknown = "unknown"

// missingValue is the value of a dimension or metric that TikTok does not know.
const missingValue = "-"

// reportItem is one row of a report.
type reportItem struct {
	Dimensions map[string]string `json:"dimensions"`
	Metrics    map[string]string `json:"metrics"`
}

// Report implements connection.Client. It passes on rows of a breakdown at the
// end, when all ad groups have been added up, and other rows page by page.
func (c *Client) Report(ctx context.Context, cr connection.Credentials, q connection.Report, each func([]fact.Row) error) error {
	r := newReportReader(q)
	total, err := readPages(ctx, c, cr.Access.Reveal(), r.reportCall(q), 1000, func(page []reportItem) error {
		for _, it := range page {
			if err := r.addItem(it); err != nil {
				return err
			}
		}
		if r.family != fact.Base {
			return nil
		}
		return r.flush(each)
	})
	if err != nil {
		return err
	}
	if len(r.seen) != total {
		return reportChanged("The report has more or fewer rows than TikTok says.")
	}
	return r.flush(each)
}

// reportReader converts the pages of a report to rows.
type reportReader struct {
	levelQuery
	family fact.Family
	// names are those of campaigns, ads and audiences; groups are the audiences
	// of ad groups.
	names, groups map[string]string
	// seen are the values of the rows so far, by TikTok's key.
	seen map[string]fact.Values
	rows []fact.Row
	// rowIndex is the index in rows of each key that is added up.
	rowIndex map[fact.Row]int
}

// newReportReader returns a reader. Without entities its rows have only ids and
// no audiences.
func newReportReader(q connection.Report) *reportReader {
	r := &reportReader{levelQuery: levelQueries[q.Level], family: connection.Families[q.Level], names: map[string]string{}, seen: map[string]fact.Values{}, rowIndex: map[fact.Row]int{}}
	if q.Entities == nil {
		return r
	}
	r.groups = q.Entities.Groups
	for _, list := range [][]connection.Entity{q.Entities.Campaigns, q.Entities.Ads, q.Entities.Audiences} {
		for _, e := range list {
			r.names[e.External] = e.Name
		}
	}
	return r
}

// reportCall returns the call of the report.
func (r *reportReader) reportCall(q connection.Report) transport.Call {
	metrics := slices.Clone(r.attributes)
	for _, f := range r.metrics {
		metrics = append(metrics, f.metric)
	}
	return transport.Call{Method: http.MethodGet, Path: "/report/integrated/get/", Account: q.Account, Query: url.Values{
		"advertiser_id": {q.Account}, "service_type": {"AUCTION"}, "report_type": {r.report}, "data_level": {r.level},
		"dimensions": {jsonList(append(slices.Clone(r.dimensions), "stat_time_day"))}, "metrics": {jsonList(metrics)},
		"start_date": {q.First.String()}, "end_date": {q.Last.String()},
	}}
}

// addItem adds a row unless it is a duplicate.
func (r *reportReader) addItem(it reportItem) error {
	row, err := r.factRow(it)
	if err != nil {
		return err
	}
	parts := []string{it.Dimensions["stat_time_day"], row.Campaign.ExternalID}
	for _, name := range r.dimensions {
		parts = append(parts, it.Dimensions[name])
	}
	key := strings.Join(parts, "|")
	if before, again := r.seen[key]; again {
		if before != row.Values {
			return reportChanged("A row came twice, with different figures.")
		}
		return nil
	}
	r.seen[key] = row.Values
	if r.family == fact.Base {
		r.rows = append(r.rows, row)
		return nil
	}
	same := row
	same.Values = fact.Values{}
	at, known := r.rowIndex[same]
	if !known {
		r.rowIndex[same] = len(r.rows)
		r.rows = append(r.rows, row)
		return nil
	}
	for _, f := range r.metrics {
		if n, ok := row.Values.Get(f.measure); ok {
			r.rows[at].Values.Set(f.measure, r.rows[at].Values.V[f.measure]+n)
		}
	}
	return nil
}

// factRow converts a row. Fields without a dimension are empty.
func (r *reportReader) factRow(it reportItem) (fact.Row, error) {
	row := fact.Row{Family: r.family, Channel: channel}
	day, ok := clock.ParseDate(strings.TrimSuffix(it.Dimensions["stat_time_day"], " 00:00:00"))
	if !ok {
		return row, malformedError("stat_time_day")
	}
	row.Date = day
	about := func(name string) string {
		if text := cmp.Or(it.Dimensions[name], it.Metrics[name]); text != missingValue {
			return text
		}
		return ""
	}
	row.Campaign = r.entity(about("campaign_id"))
	row.Creative = r.entity(about("ad_id"))
	row.Audience = r.entity(r.groups[about("adgroup_id")])
	switch r.family {
	case fact.Base:
	case fact.Geo:
		if code := it.Dimensions["country_code"]; fact.IsCountry(code) {
			row.Country = code
		}
	case fact.Demographic:
		row.AgeRange = cmp.Or(ages[it.Dimensions["age"]], unknown)
		row.Gender = cmp.Or(genders[it.Dimensions["gender"]], unknown)
	case fact.Device:
		row.Device = cmp.Or(devices[it.Dimensions["platform"]], unknown)
	}
	for _, f := range r.metrics {
		text := it.Metrics[f.metric]
		if text == "" || text == missingValue {
			continue
		}
		n, ok := transport.ParseMetric(text, f.measure)
		if !ok {
			return row, malformedError(f.metric)
		}
		row.Values.Set(f.measure, n)
	}
	return row, nil
}

func (r *reportReader) entity(id string) fact.Entity {
	return fact.Entity{ExternalID: id, Name: r.names[id]}
}

// flush passes on the rows so far.
func (r *reportReader) flush(each func([]fact.Row) error) error {
	if len(r.rows) == 0 {
		return nil
	}
	rows := r.rows
	r.rows = nil
	return each(rows)
}

// malformedError returns a transient error, as for every unexpected answer.
func malformedError(name string) error {
	return &connection.Error{Class: connection.Transient, Code: "malformed", Message: "TikTok's report has a " + name + " that is not what it should be."}
}
