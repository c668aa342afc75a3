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

// levelQuery is how a level is requested: by one call per account.
type levelQuery struct {
	// pivots separate rows, besides the day.
	pivots  []string
	metrics []metricField
}

// metricField is a field of LinkedIn and the measure of facts that it becomes.
type metricField struct {
	field   string
	measure fact.Measure
}

const (
	// maxURNs is how many URNs fit into a query of 4 KB.
	maxURNs = 50
	// maxRows is the largest number of rows in an answer. Rows beyond it are
	// missing, there are no further pages, and nothing says so.
	maxRows = 15_000
	// maxReachDays is the longest date range with reach.
	maxReachDays = 92
)

var (
	// basicMetrics are the metrics of every report. Breakdowns are added up, and
	// reach cannot be.
	basicMetrics = []metricField{
		{"impressions", fact.Impressions},
		{"clicks", fact.Clicks},
		{"costInLocalCurrency", fact.Spend},
		{"oneClickLeads", fact.Leads},
		{"totalEngagements", fact.Engagements},
		{"videoViews", fact.VideoViews},
		{"videoCompletions", fact.VideoCompletions},
	}
	// All metrics fit into one call of 20 fields, so that a row never mixes two
	// states of the report.
	allMetrics = append(slices.Concat(basicMetrics, conversionMetrics), metricField{"approximateMemberReach", fact.Reach})
)

// levelQueries are the queries by level.
//
// Choice: pivots of members allow no other pivot, so countries by campaign need
// one call per campaign, which LinkedIn's daily quota does not allow. Rows of
// LevelGeo have no campaign. LinkedIn reports no revenue by member, and neither
// reach nor conversions by device.
var levelQueries = map[connection.Level]levelQuery{
	connection.LevelAccount:  {[]string{"ACCOUNT"}, allMetrics},
	connection.LevelCampaign: {[]string{"CAMPAIGN"}, allMetrics},
	connection.LevelAd:       {[]string{"CAMPAIGN", "CREATIVE"}, allMetrics},
	connection.LevelGeo:      {[]string{"MEMBER_COUNTRY_V2"}, append(slices.Clip(basicMetrics), conversionMetrics[0])},
	connection.LevelDevice:   {[]string{"CAMPAIGN", "IMPRESSION_DEVICE_TYPE"}, basicMetrics},
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
	r.chooseConversions(q.Conversions)
	for first := q.First; first <= q.Last; first += maxReachDays {
		if err := c.readDays(ctx, cr, r, reportPart{first, min(q.Last, first+maxReachDays-1), nil}, each); err != nil {
			return err
		}
	}
	if r.count == 0 {
		if err := c.checkReadable(ctx, cr, q.Account); err != nil {
			return err
		}
	}
	if q.Level == connection.LevelGeo {
		return c.noteWithheld(ctx, cr, r)
	}
	return nil
}

// reportPart is what one call requests: days of the account, or of some of its
// campaigns.
type reportPart struct {
	first, last clock.Date
	campaigns   []string
}

// readDays reads the rows of a part. It splits a part whose answer is cut: by
// days, and a day by campaigns.
func (c *Client) readDays(ctx context.Context, cr connection.Credentials, r *reportReader, p reportPart, each func([]fact.Row) error) error {
	elements, err := c.readElements(ctx, cr, r, p)
	if err != nil {
		return err
	}
	cut := len(elements) >= maxRows
	var byRule []reportElement
	if r.rules != nil && !cut {
		if byRule, err = c.readElements(ctx, cr, r.rules.reportReader, p); err != nil {
			return err
		}
		cut = len(byRule) >= maxRows
	}
	if cut {
		return c.readParts(ctx, cr, r, r.split(p, elements), each)
	}
	rows, err := r.rows(elements)
	if err == nil && r.rules != nil {
		rows, err = r.rules.addTo(rows, byRule)
	}
	if err != nil || len(rows) == 0 {
		return err
	}
	r.count += len(rows)
	return each(rows)
}

// readElements sends one call.
func (c *Client) readElements(ctx context.Context, cr connection.Credentials, r *reportReader, p reportPart) ([]reportElement, error) {
	var got listPage[reportElement]
	_, err := c.api.Do(ctx, transport.Call{
		Method: http.MethodGet, Path: "/rest/adAnalytics", RawQuery: r.query(p), Header: apiHeader(cr, "finder"), Account: r.q.Account,
	}, &got)
	return got.Elements, err
}

// readParts reads the parts of one that is cut.
func (c *Client) readParts(ctx context.Context, cr connection.Credentials, r *reportReader, parts []reportPart, each func([]fact.Row) error) error {
	if len(parts) == 0 {
		return &connection.Error{Class: connection.TooLarge, Code: "too_many_rows", Message: "LinkedIn cuts the report of a single day of one campaign, because it has too many rows."}
	}
	for _, part := range parts {
		if err := c.readDays(ctx, cr, r, part, each); err != nil {
			return err
		}
	}
	return nil
}

// split returns the parts of a part that is too large, none if it cannot be
// split.
func (r *reportReader) split(p reportPart, elements []reportElement) []reportPart {
	if p.first < p.last {
		middle := p.first + (p.last-p.first)/2
		return []reportPart{{p.first, middle, p.campaigns}, {middle + 1, p.last, p.campaigns}}
	}
	size := maxURNs
	if p.campaigns != nil {
		size = len(p.campaigns) / 2
	}
	if r.pivots[0] != "CAMPAIGN" || size == 0 {
		return nil
	}
	ids := p.campaigns
	if ids == nil {
		for _, x := range r.q.Entities.Campaigns {
			ids = append(ids, x.External)
		}
		for _, e := range elements {
			if len(e.PivotValues) > 0 {
				ids = append(ids, strings.TrimPrefix(e.PivotValues[0], campaignURN))
			}
		}
		slices.Sort(ids)
		ids = slices.Compact(ids)
	}
	parts := []reportPart{}
	for some := range slices.Chunk(ids, size) {
		parts = append(parts, reportPart{p.first, p.last, some})
	}
	return parts
}

// noteWithheld notes what the account has and its countries do not have:
// LinkedIn approximates the metrics of members, leaves out small ones, and
// reports the latest up to a day later.
func (c *Client) noteWithheld(ctx context.Context, cr connection.Credentials, r *reportReader) error {
	if r.q.Note == nil {
		return nil
	}
	q := r.q
	q.Level = connection.LevelAccount
	totals := fact.Values{}
	whole := newReportReader(levelQuery{[]string{"ACCOUNT"}, basicMetrics}, q)
	err := c.readDays(ctx, cr, whole, reportPart{q.First, q.Last, nil}, func(rows []fact.Row) error {
		for i := range rows {
			addValues(&totals, &rows[i].Values)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, m := range []fact.Measure{fact.Impressions, fact.Spend} {
		missing := totals.V[m] - r.sums.V[m]
		if missing == 0 {
			continue
		}
		code := connection.NoteWithheld
		if missing < 0 {
			code = connection.NoteTotalDiffers
		}
		q.AddNote(connection.Note{
			Code: code, First: q.First, Last: q.Last, Measure: m, Amount: &missing,
			Message: "LinkedIn approximates the metrics of countries to protect members, leaves out small ones, and reports the latest up to a day later.",
		})
	}
	return nil
}

// addValues adds known values to a sum.
func addValues(sum, v *fact.Values) {
	for m := range fact.Measure(fact.NumMeasures) {
		if n, known := v.Get(m); known {
			sum.Set(m, sum.V[m]+n)
		}
	}
}

// reportReader converts the answers of a report to rows.
type reportReader struct {
	levelQuery
	q      connection.Report
	family fact.Family
	names  map[string]string
	// rules reads the conversions of some rules, nil for those of all.
	rules *ruleReader
	// count and sums are of the rows so far.
	count int
	sums  fact.Values
}

func newReportReader(how levelQuery, q connection.Report) *reportReader {
	r := &reportReader{levelQuery: how, q: q, family: connection.Families[q.Level], names: map[string]string{}}
	for _, list := range [][]connection.Entity{q.Entities.Campaigns, q.Entities.Ads, q.Entities.Audiences} {
		for _, e := range list {
			r.names[e.External] = e.Name
		}
	}
	return r
}

// query returns the query of a report, with the punctuation of Rest.li.
func (r *reportReader) query(p reportPart) string {
	day := func(d clock.Date) string {
		year, month, day := d.Calendar()
		return fmt.Sprintf("(year:%d,month:%d,day:%d)", year, month, day)
	}
	by := "q=analytics&pivot=(value:" + r.pivots[0] + ")"
	if len(r.pivots) > 1 {
		by = "q=statistics&pivots=List(" + strings.Join(r.pivots, ",") + ")"
	}
	of := "accounts=" + urnList(accountURN, r.q.Account)
	if p.campaigns != nil {
		of = "campaigns=" + urnList(campaignURN, p.campaigns...)
	}
	fields := []string{"pivotValues", "dateRange"}
	for _, f := range r.metrics {
		fields = append(fields, f.field)
	}
	return by + "&timeGranularity=(value:DAILY)&dateRange=(start:" + day(p.first) + ",end:" + day(p.last) + ")&" + of + "&fields=" + strings.Join(fields, ",")
}

// rows converts the rows of one answer, drops duplicates and adds rows with the
// same key.
func (r *reportReader) rows(elements []reportElement) ([]fact.Row, error) {
	rows := make([]fact.Row, 0, len(elements))
	seen, at := map[string]fact.Values{}, map[fact.Row]int{}
	for _, e := range elements {
		row, err := r.factRow(e)
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
		addValues(&r.sums, &row.Values)
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

// factRow converts a row. Metrics that LinkedIn leaves out stay unknown.
func (r *reportReader) factRow(e reportElement) (fact.Row, error) {
	start := e.DateRange.Start
	row := fact.Row{Family: r.family, Channel: channel, Date: clock.MakeDate(start.Year, start.Month, start.Day)}
	if start.Year == 0 || len(e.PivotValues) != len(r.pivots) {
		return row, malformedError("dateRange or pivotValues")
	}
	campaign := ""
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
