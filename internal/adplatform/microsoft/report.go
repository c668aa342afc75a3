package microsoft

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"fanfare/internal/clock"
	"fanfare/internal/connection"
	"fanfare/internal/fact"
)

// reportQuery is a report of Microsoft with its attributes, without those that
// all reports have, and its metrics.
type reportQuery struct {
	kind       string
	attributes []string
	metrics    []metric
}

// levelQuery is what is read for a level.
//
// Choice: rows by age or by device are read for ad groups, which have audiences,
// and for campaigns, which have all metrics: also those of asset groups, and of
// people whose age is not known. What the campaign has beyond its parts is a row
// of its own.
type levelQuery struct {
	parts []reportQuery
	// whole is the report whose metrics the parts are from, if there is one.
	whole *reportQuery
	// reduce turns a row of a part into the row of the whole that has it too.
	reduce func(*fact.Row)
}

var (
	campaignAttributes = []string{"CampaignId", "CampaignName", "CampaignType"}
	deviceAttributes   = []string{"CampaignId", "CampaignName", "CampaignType", "DeviceType"}
)

// Choice: every attribute can split rows, so there are none but those of the
// key and of names.
var levelQueries = map[connection.Level]levelQuery{
	connection.LevelAccount:  {parts: []reportQuery{{"AccountPerformanceReportRequest", nil, allMetrics}}},
	connection.LevelCampaign: {parts: []reportQuery{{"CampaignPerformanceReportRequest", campaignAttributes, allMetrics}}},
	connection.LevelAd: {parts: []reportQuery{
		{"AdPerformanceReportRequest", slices.Concat(campaignAttributes, []string{groupColumn, "AdId", "TitlePart1"}), allMetrics},
		{"AssetGroupPerformanceReportRequest", slices.Concat(campaignAttributes, []string{"AssetGroupId", "AssetGroupName"}), assetMetrics},
	}},
	connection.LevelGeo: {parts: []reportQuery{{"UserLocationPerformanceReportRequest", slices.Concat(campaignAttributes, []string{groupColumn, "Country"}), basicMetrics}}},
	connection.LevelDevice: {
		parts:  []reportQuery{{"AdGroupPerformanceReportRequest", slices.Concat(deviceAttributes, []string{groupColumn}), allMetrics}},
		whole:  &reportQuery{"CampaignPerformanceReportRequest", deviceAttributes, allMetrics},
		reduce: func(r *fact.Row) { r.Audience = fact.Entity{} },
	},
	connection.LevelDemographic: {
		parts:  []reportQuery{{"AgeGenderAudienceReportRequest", slices.Concat(campaignAttributes, []string{groupColumn, "AgeGroup", "Gender"}), basicMetrics}},
		whole:  &reportQuery{"CampaignPerformanceReportRequest", campaignAttributes, basicMetrics},
		reduce: func(r *fact.Row) { r.Audience, r.AgeRange, r.Gender = fact.Entity{}, fact.Unknown, fact.Unknown },
	},
}

// groupColumn is the attribute that is needed for audiences alone.
const groupColumn = "AdGroupId"

const (
	// retentionMonths is for how long Microsoft keeps metrics by day
	// (learn.microsoft.com/advertising/guides/report-data-retention-time-periods).
	// Fourteen days for locations are about metrics by hour.
	retentionMonths = 36
	// historyDays is less than the shortest 36 months of all time zones.
	historyDays = 1090

	retentionMessage = "Microsoft Advertising keeps daily metrics for 36 months. Older days cannot be read any more."
)

// Report implements connection.Client.
func (c *Client) Report(ctx context.Context, creds connection.Credentials, q connection.Report, each func([]fact.Row) error) error {
	if err := clampToRetention(&q, c.now()); err != nil {
		return err
	}
	o, _, err := c.ownerOf(ctx, creds, q.Account, false)
	if err != nil {
		return err
	}
	r := newReader(c, creds, &q, o.zone)
	if err := r.read(ctx); err != nil {
		return err
	}
	for some := range slices.Chunk(r.result(), 1000) {
		if err := each(some); err != nil {
			return err
		}
	}
	return nil
}

// clampToRetention leaves out days that Microsoft no longer has, and adds a note
// about them. It refuses a report that has only such days: an empty one would say
// that nothing happened.
func clampToRetention(q *connection.Report, now time.Time) error {
	// A day more than documented is left out, because zones differ.
	oldest := clock.DateIn(now.UTC().AddDate(0, -retentionMonths, 1), time.UTC)
	if q.First >= oldest {
		return nil
	}
	if q.Last < oldest {
		return &connection.Error{Class: connection.Refused, Code: "beyond_retention", Message: retentionMessage}
	}
	q.AddNote(connection.Note{
		Code: connection.NoteNotIncluded, First: q.First, Last: oldest - 1, Message: fmt.Sprintf("%s The report begins on %s.", retentionMessage, oldest),
	})
	q.First = oldest
	return nil
}

// reader reads the reports of a level and adds their rows up.
type reader struct {
	levelQuery
	client *Client
	creds  connection.Credentials
	q      *connection.Report
	zone   string
	// names are those of campaigns and ads, audiences those of ad groups.
	names     map[string]string
	audiences map[string]fact.Entity
	rows      []fact.Row
	index     map[fact.Row]int
	// otherAges is the spend of age groups that facts do not have.
	otherAges int64
	// missing are the measures without a value in some rows. wholeOnly says that
	// conversions had no fractions.
	missing   map[fact.Measure]bool
	wholeOnly bool
}

func newReader(c *Client, creds connection.Credentials, q *connection.Report, zone string) *reader {
	r := &reader{
		levelQuery: levelQueries[q.Level], client: c, creds: creds, q: q, zone: zone,
		names: map[string]string{}, audiences: map[string]fact.Entity{}, index: map[fact.Row]int{}, missing: map[fact.Measure]bool{},
	}
	if q.Entities == nil {
		return r
	}
	for _, list := range [][]connection.Entity{q.Entities.Campaigns, q.Entities.Ads, q.Entities.Audiences} {
		for _, e := range list {
			r.names[e.External] = e.Name
		}
	}
	for group, audience := range q.Entities.Groups {
		r.audiences[group] = fact.Entity{ExternalID: audience, Name: r.names[audience]}
	}
	return r
}

// read reads all reports of the level. The whole is read last: metrics of today
// grow, so that it has at least as much as its parts.
func (r *reader) read(ctx context.Context) error {
	if len(r.q.Conversions) > 0 && r.q.Level == connection.LevelCampaign {
		r.note(connection.NoteNotIncluded, fact.Conversions, nil, "The chosen conversion events are not read from Microsoft Advertising. The report has no conversions and no revenue.")
	}
	for _, part := range r.parts {
		if r.whole != nil && len(r.audiences) == 0 && r.q.Level == connection.LevelDevice {
			continue // the whole has the same rows
		}
		if err := r.readQuery(ctx, &part, r.addPart); err != nil {
			return err
		}
	}
	if r.whole != nil {
		if err := r.readQuery(ctx, r.whole, r.addWhole); err != nil {
			return err
		}
	}
	if r.otherAges > 0 {
		r.note(connection.NoteOther, fact.Spend, &r.otherAges, "Microsoft Advertising has the age groups 35-49 and 50-64, which no other platform has. They count with an unknown age.")
	}
	if e := r.q.Entities; e != nil && e.Cut && r.q.Level != connection.LevelAccount && r.q.Level != connection.LevelCampaign && r.q.Level != connection.LevelGeo {
		r.note(connection.NoteNotIncluded, 0, nil, "The account has more ad groups than are listed. Ads and audiences of the others are not listed, and their numbers have no audience.")
	}
	r.noteMissing()
	return nil
}

// noteMissing adds notes about values that rows do not have. The reports of the
// account and of ads have the same days as that of the campaigns.
func (r *reader) noteMissing() {
	if r.q.Level == connection.LevelAccount || r.q.Level == connection.LevelAd {
		return
	}
	for _, m := range []fact.Measure{fact.Impressions, fact.Clicks, fact.Spend, fact.Conversions, fact.Revenue} {
		if r.missing[m] {
			r.note(connection.NoteNotIncluded, m, nil, "Microsoft Advertising has no value of "+m.String()+" in some rows. They are not in the sum.")
		}
	}
	if r.wholeOnly {
		r.note(connection.NoteNotIncluded, fact.Conversions, nil, "Microsoft Advertising has whole conversions only. Fractions of conversions are not in the sum.")
	}
}

// addPart adds a row of a part. What it has is not in the rest of the whole.
func (r *reader) addPart(row fact.Row) {
	r.add(row, 1)
	if r.whole != nil {
		r.reduce(&row)
		r.add(row, -1)
	}
}

func (r *reader) addWhole(row fact.Row) {
	r.reduce(&row)
	r.add(row, 1)
}

// readQuery reads one report.
func (r *reader) readQuery(ctx context.Context, query *reportQuery, add func(fact.Row)) error {
	columns := []string{"TimePeriod", "AccountId"}
	for _, name := range query.attributes {
		if name != groupColumn || len(r.audiences) > 0 {
			columns = append(columns, name)
		}
	}
	chosen := len(r.q.Conversions) > 0
	for _, m := range query.metrics {
		if !chosen || !m.credited() {
			columns = append(columns, m.column)
		}
	}
	file, err := r.client.runReport(ctx, r.creds, r.q.Account, newRequest(r.q, query.kind, columns, r.zone))
	if err != nil || file == nil {
		return err
	}
	for _, line := range file.rows {
		row, err := r.parse(file, line, query)
		if err != nil {
			return err
		}
		add(row)
	}
	if r.q.Level == connection.LevelCampaign {
		r.noteHeader(file)
	}
	return nil
}

// add adds the values of a row, times sign, to those of the row with the same
// key.
func (r *reader) add(row fact.Row, sign int64) {
	key := row
	key.Values, key.Campaign.Name, key.Creative.Name = fact.Values{}, "", ""
	at, known := r.index[key]
	if !known {
		at = len(r.rows)
		r.index[key] = at
		empty := row
		empty.Values = fact.Values{}
		r.rows = append(r.rows, empty)
	}
	for m := range fact.Measure(fact.NumMeasures) {
		if n, known := row.Values.Get(m); known {
			r.rows[at].Values.Set(m, r.rows[at].Values.V[m]+sign*n)
		}
	}
}

// result returns the rows. Parts can have more than their whole, if Microsoft
// corrects metrics meanwhile: then there is nothing beyond them, and a note has
// the difference.
func (r *reader) result() (rows []fact.Row) {
	excess := int64(0)
	for _, row := range r.rows {
		for m := range fact.Measure(fact.NumMeasures) {
			if row.Values.V[m] >= 0 {
				continue
			}
			if m == fact.Spend {
				excess -= row.Values.V[m]
			}
			row.Values.Set(m, 0)
		}
		if r.whole == nil || row.Values.V != [fact.NumMeasures]int64{} {
			rows = append(rows, row)
		}
	}
	if excess > 0 {
		r.note(connection.NoteTotalDiffers, fact.Spend, &excess, "The breakdown has more spend than its campaigns. It is kept as Microsoft reports it.")
	}
	return rows
}

func (r *reader) note(code connection.NoteCode, m fact.Measure, amount *int64, message string) {
	r.q.AddNote(connection.Note{Code: code, First: r.q.First, Last: r.q.Last, Measure: m, Amount: amount, Message: message})
}

// noteHeader adds notes about what the header of a file says.
//
// Choice: days in another zone are a total that differs, because each day has
// metrics of two.
func (r *reader) noteHeader(f *reportFile) {
	zone, err := clock.Zone(timeZones[r.zone])
	if err == nil && f.zone != "" && !hasOffset(f.zone, zone) {
		r.note(connection.NoteTotalDiffers, fact.Spend, nil, "Microsoft reports the days in the zone "+f.zone+", which is not the account's. Metrics can be on the day before or after.")
	}
	if err != nil {
		return
	}
	yesterday := clock.DateIn(r.client.now(), zone) - 1
	if last := min(r.q.Last, yesterday); f.incomplete && f.complete != 0 && f.complete < yesterday && f.complete <= last {
		r.q.AddNote(connection.Note{
			Code: connection.NoteNotIncluded, First: max(f.complete, r.q.First), Last: last,
			Message: fmt.Sprintf("Microsoft has counted metrics up to %s only. Later days are not complete yet.", f.complete),
		})
	}
}

// hasOffset reports whether the name of a zone, such as "(GMT-08:00) Pacific Time",
// begins with the offset of a zone in winter or in summer.
func hasOffset(name string, zone *time.Location) bool {
	for _, month := range []time.Month{time.January, time.July} {
		if strings.HasPrefix(name, "(GMT"+time.Date(2026, month, 1, 0, 0, 0, 0, zone).Format("-07:00")+")") {
			return true
		}
	}
	return strings.HasPrefix(name, "(GMT)") && hasOffset("(GMT+00:00)", zone)
}
