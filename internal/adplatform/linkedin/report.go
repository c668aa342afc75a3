package linkedin

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"fanfare/internal/adplatform/transport"
	"fanfare/internal/clock"
	"fanfare/internal/connection"
	"fanfare/internal/fact"
)

// levelQuery is how a level is asked for.
type levelQuery struct {
	// pivots are what rows are told apart by, besides the day.
	pivots []string
	// campaignsPerCall is how many campaigns fit into one call, 0 for asking by
	// account.
	campaignsPerCall int
	metrics          []metricField
}

// metricField is a field and what it is for us.
type metricField struct {
	field   string
	measure fact.Measure
}

const (
	// maxURNs is how many URNs fit into a query, which is cut at 4 KB.
	maxURNs = 50
	// maxRows is how many rows an answer has; there are no further pages.
	maxRows = 15_000
)

var (
	// additiveMetrics are the figures of every report. Reach cannot be added up, and
	// breakdowns are.
	additiveMetrics = []metricField{
		{"impressions", fact.Impressions},
		{"clicks", fact.Clicks},
		{"costInLocalCurrency", fact.Spend},
		{"externalWebsiteConversions", fact.Conversions},
		{"conversionValueInLocalCurrency", fact.Revenue},
		{"oneClickLeads", fact.Leads},
		{"totalEngagements", fact.Engagements},
		{"videoViews", fact.VideoViews},
		{"videoCompletions", fact.VideoCompletions},
	}
	allMetrics = append(slices.Clip(additiveMetrics), metricField{"approximateMemberReach", fact.Reach})
)

// levelQueries are the levels. Members are told apart only in calls with one pivot,
// which then must be for one campaign each.
var levelQueries = map[connection.Level]levelQuery{
	connection.LevelAccount:  {[]string{"ACCOUNT"}, 0, allMetrics},
	connection.LevelCampaign: {[]string{"CAMPAIGN"}, maxURNs, allMetrics},
	connection.LevelAd:       {[]string{"CAMPAIGN", "CREATIVE"}, maxURNs, allMetrics},
	connection.LevelGeo:      {[]string{"MEMBER_COUNTRY_V2"}, 1, additiveMetrics},
	connection.LevelDevice:   {[]string{"CAMPAIGN", "IMPRESSION_DEVICE_TYPE"}, maxURNs, additiveMetrics},
}

var devices = map[string]string{"DESKTOP_WEB": "desktop", "MOBILE_WEB": "mobile", "MOBILE_APP": "mobile"}

// reportElement is one row of a report.
type reportElement struct {
	PivotValues []string `json:"pivotValues"`
	DateRange   struct {
		Start struct {
			Year  int        `json:"year"`
			Month time.Month `json:"month"`
			Day   int        `json:"day"`
		} `json:"start"`
	} `json:"dateRange"`
	// Fields are the figures: numbers, and amounts as text.
	Fields map[string]jsontext.Value `json:",embed"`
}

// Report implements connection.Client. Rows come call by call: LinkedIn has no
// pages here.
func (c *Client) Report(ctx context.Context, cr connection.Credentials, q connection.Report, each func([]fact.Row) error) error {
	how, ok := levelQueries[q.Level]
	if !ok {
		return &connection.Error{Class: connection.Refused, Code: "level_unknown", Message: "LinkedIn has no such report."}
	}
	if q.Entities == nil {
		found, err := c.Entities(ctx, cr, q.Account)
		if err != nil {
			return err
		}
		q.Entities = found
	}
	r := newReportReader(how, q)
	if how.campaignsPerCall == 0 {
		return c.readCall(ctx, cr, r, nil, each)
	}
	for some := range slices.Chunk(q.Entities.Campaigns, how.campaignsPerCall) {
		ids := []string{}
		for _, campaign := range some {
			ids = append(ids, campaign.External)
		}
		if err := c.readCall(ctx, cr, r, ids, each); err != nil {
			return err
		}
	}
	return nil
}

// readCall reads what one call gives.
func (c *Client) readCall(ctx context.Context, cr connection.Credentials, r *reportReader, campaigns []string, each func([]fact.Row) error) error {
	var got listPage[reportElement]
	_, err := c.api.Do(ctx, transport.Call{
		Method: http.MethodGet, Path: "/rest/adAnalytics", RawQuery: r.query(campaigns), Header: apiHeader(cr, "finder"), Account: r.q.Account,
	}, &got)
	if err != nil {
		return err
	}
	if len(got.Elements) >= maxRows {
		return &connection.Error{Class: connection.TooLarge, Code: "too_many_rows", Message: "LinkedIn's report may be cut off: it has as many rows as one can have."}
	}
	rows, err := r.rows(got.Elements, campaigns)
	if err != nil || len(rows) == 0 {
		return err
	}
	return each(rows)
}

// reportReader is a report on its way.
type reportReader struct {
	levelQuery
	q      connection.Report
	family fact.Family
	names  map[string]string
}

func newReportReader(how levelQuery, q connection.Report) *reportReader {
	r := &reportReader{how, q, connection.Families[q.Level], map[string]string{}}
	for _, list := range [][]connection.Entity{q.Entities.Campaigns, q.Entities.Ads, q.Entities.Audiences} {
		for _, e := range list {
			r.names[e.External] = e.Name
		}
	}
	return r
}

// query asks for the report; its punctuation is Rest.li's.
func (r *reportReader) query(campaigns []string) string {
	day := func(d clock.Date) string {
		year, month, day := d.Calendar()
		return fmt.Sprintf("(year:%d,month:%d,day:%d)", year, month, day)
	}
	by := "q=analytics&pivot=(value:" + r.pivots[0] + ")"
	if len(r.pivots) > 1 {
		by = "q=statistics&pivots=List(" + strings.Join(r.pivots, ",") + ")"
	}
	of := "accounts=" + urnList(accountURN, r.q.Account)
	if campaigns != nil {
		of = "campaigns=" + urnList(campaignURN, campaigns...)
	}
	fields := []string{"pivotValues", "dateRange"}
	for _, f := range r.metrics {
		fields = append(fields, f.field)
	}
	return by + "&timeGranularity=(value:DAILY)&dateRange=(start:" + day(r.q.First) + ",end:" + day(r.q.Last) + ")&" + of + "&fields=" + strings.Join(fields, ",")
}

// rows reads the rows of one answer, each once, and adds up those that are
// the same to us.
func (r *reportReader) rows(elements []reportElement, campaigns []string) ([]fact.Row, error) {
	rows := make([]fact.Row, 0, len(elements))
	seen, at := map[string]fact.Values{}, map[fact.Row]int{}
	for _, e := range elements {
		row, err := r.factRow(e, campaigns)
		if err != nil {
			return nil, err
		}
		key := row.Date.String() + strings.Join(e.PivotValues, "|")
		if before, again := seen[key]; again {
			if before != row.Values {
				return nil, reportChanged("A row came twice, with different figures.")
			}
			continue
		}
		seen[key] = row.Values
		same := row
		same.Values = fact.Values{}
		where, known := at[same]
		if !known {
			at[same] = len(rows)
			rows = append(rows, row)
			continue
		}
		for _, f := range r.metrics {
			if n, ok := row.Values.Get(f.measure); ok {
				rows[where].Values.Set(f.measure, rows[where].Values.V[f.measure]+n)
			}
		}
	}
	return rows, nil
}

// factRow reads a row. A call for one campaign does not name it again.
func (r *reportReader) factRow(e reportElement, campaigns []string) (fact.Row, error) {
	start := e.DateRange.Start
	row := fact.Row{Family: r.family, Channel: channel, Date: clock.MakeDate(start.Year, start.Month, start.Day)}
	if start.Year == 0 || len(e.PivotValues) != len(r.pivots) {
		return row, malformedError("dateRange or pivotValues")
	}
	campaign := ""
	if r.campaignsPerCall == 1 {
		campaign = campaigns[0]
	}
	for i, value := range e.PivotValues {
		switch r.pivots[i] {
		case "CAMPAIGN":
			campaign = strings.TrimPrefix(value, campaignURN)
		case "CREATIVE":
			row.Creative = r.entity(strings.TrimPrefix(value, creativeURN))
		case "MEMBER_COUNTRY_V2":
			row.Country = countryCodes[strings.TrimPrefix(value, geoURN)]
		case "IMPRESSION_DEVICE_TYPE":
			row.Device = cmp.Or(devices[value], "unknown")
		}
	}
	row.Campaign = r.entity(campaign)
	if r.q.Level > connection.LevelCampaign {
		row.Audience = r.entity(r.q.Entities.Groups[campaign])
	}
	for _, f := range r.metrics {
		raw, ok := e.Fields[f.field]
		if !ok || raw.Kind() == 'n' {
			continue
		}
		n, ok := parseMetric(strings.Trim(string(raw), `"`), f.measure)
		if !ok {
			return row, malformedError(f.field)
		}
		row.Values.Set(f.measure, n)
	}
	return row, nil
}

func (r *reportReader) entity(id string) fact.Entity {
	return fact.Entity{ExternalID: id, Name: r.names[id]}
}

// parseMetric reads a figure in its measure's unit. Amounts come with more digits
// than count, and are rounded.
func parseMetric(text string, m fact.Measure) (int64, bool) {
	if whole, fraction, _ := strings.Cut(text, "."); len(fraction) > fact.MaxDigits {
		kept, ok := parseMetric(whole+"."+fraction[:fact.MaxDigits], m)
		if fraction[fact.MaxDigits] < '5' || !m.Scaled() {
			return kept, ok
		}
		if strings.HasPrefix(text, "-") {
			return kept - 1, ok
		}
		return kept + 1, ok
	}
	return transport.ParseMetric(text, m)
}

// malformedError is transient like every answer that is not what it should be.
func malformedError(name string) error {
	return &connection.Error{Class: connection.Transient, Code: "malformed", Message: "LinkedIn's report has a " + name + " that is not what it should be."}
}
