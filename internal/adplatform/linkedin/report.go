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

// levelQuery is how a level is requested.
type levelQuery struct {
	// pivots separate rows, besides the day.
	pivots []string
	// campaignsPerCall is how many campaigns one call requests, 0 for a call
	// per account.
	campaignsPerCall int
	metrics          []metricField
}

// metricField is a field of LinkedIn and the measure of facts that it becomes.
type metricField struct {
	field   string
	measure fact.Measure
}

const (
	// maxURNs is how many URNs fit into a query of 4 KB.
	maxURNs = 50
	// maxRows is the largest number of rows in an answer; there are no further
	// pages.
	maxRows = 15_000
)

var (
	// additiveMetrics are the metrics of every report. Breakdowns are added up,
	// and reach cannot be.
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

// levelQueries are the queries by level. Member pivots allow no other pivot, so
// they need one call per campaign.
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
	// Fields are the metrics: numbers, and amounts as text.
	Fields map[string]jsontext.Value `json:",embed"`
}

// Report implements connection.Client. It passes rows on after each call,
// because reports have no pages.
func (c *Client) Report(ctx context.Context, cr connection.Credentials, q connection.Report, each func([]fact.Row) error) error {
	query, ok := levelQueries[q.Level]
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
	r := newReportReader(query, q)
	if query.campaignsPerCall == 0 {
		return c.readCall(ctx, cr, r, nil, each)
	}
	for some := range slices.Chunk(q.Entities.Campaigns, query.campaignsPerCall) {
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

// readCall reads the rows of one call.
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

// reportReader converts the answers of a report to rows.
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

// query returns the query of a report, with the punctuation of Rest.li.
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

// rows converts the rows of one answer, drops duplicates and adds rows with the
// same key.
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

// factRow converts a row. The answer for one campaign does not name it.
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

// parseMetric parses a metric in the unit of its measure. It rounds amounts,
// which have more digits than facts store.
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

// malformedError returns a transient error, as for every unexpected answer.
func malformedError(name string) error {
	return &connection.Error{Class: connection.Transient, Code: "malformed", Message: "LinkedIn's report has a " + name + " that is not what it should be."}
}
