package tiktok

import (
	"cmp"
	"context"
	"slices"

	"fanfare/internal/connection"
	"fanfare/internal/fact"
)

// levelQuery is how a level is requested.
type levelQuery struct {
	// data is the data level without the type of service.
	report, data string
	// dimensions separate rows, besides the day.
	dimensions []string
	// attributes are other values of a row, which TikTok lists among the
	// metrics. Deleted campaigns and ads have their names there.
	attributes []string
	// status is the condition that leaves out deleted objects unless it is set.
	status string
}

const (
	basicReport    = "BASIC"
	audienceReport = "AUDIENCE"
	wholeAccount   = "ADVERTISER"
)

var levelQueries = map[connection.Level]levelQuery{
	connection.LevelAccount:     {basicReport, wholeAccount, []string{"advertiser_id"}, nil, ""},
	connection.LevelCampaign:    {basicReport, "CAMPAIGN", []string{"campaign_id"}, []string{"campaign_name"}, "campaign_status"},
	connection.LevelAd:          {basicReport, "AD", []string{"ad_id"}, []string{"campaign_id", "campaign_name", "adgroup_id", "ad_name"}, "ad_status"},
	connection.LevelGeo:         {audienceReport, "ADGROUP", []string{"adgroup_id", "country_code"}, []string{"campaign_id", "campaign_name"}, "adgroup_status"},
	connection.LevelDemographic: {audienceReport, "ADGROUP", []string{"adgroup_id", "age", "gender"}, []string{"campaign_id", "campaign_name"}, "adgroup_status"},
	connection.LevelDevice:      {audienceReport, "ADGROUP", []string{"adgroup_id", "platform"}, []string{"campaign_id", "campaign_name"}, "adgroup_status"},
}

// reportPart is a part of an account's ads that TikTok reports separately.
type reportPart struct {
	name    string
	service string
	// conditions select the ads.
	conditions []condition
}

// reportParts returns the parts of a report. A report of the whole account has
// all ways of buying.
func reportParts(data string) []reportPart {
	promoted := reportPart{"promoted posts", buyingAuction, []condition{in("campaign_system_origins", originPromote)}}
	if data == wholeAccount {
		return []reportPart{{"ads", buyingAuction, nil}, promoted}
	}
	return []reportPart{
		{"ads", buyingAuction, []condition{in("buying_type", buyingAuction, buyingReach)}},
		{"TopView ads", buyingAuction, []condition{in("buying_type", buyingTopView)}},
		promoted,
	}
}

// reservationPart is all of an account that only books ads in advance. The
// metrics that exist for it are not documented beyond the basic ones.
var reservationPart = reportPart{"reserved ads", "RESERVATION", nil}

// Report implements connection.Client. It passes on the rows at the end, because
// pages that contradict each other are read again.
func (c *Client) Report(ctx context.Context, cr connection.Credentials, q connection.Report, each func([]fact.Row) error) error {
	r := newReportReader(c, cr, q)
	if r.report == audienceReport && len(q.Conversions) > 0 {
		q.AddNote(r.note(connection.NoteNotIncluded, fact.Conversions, nil, "TikTok does not break down the chosen conversion events by country, age or device. The breakdown has no conversions."))
	}
	if err := r.readParts(ctx); err != nil {
		return err
	}
	if q.Level == connection.LevelCampaign {
		r.noteSKAN()
		if err := r.noteGMVMax(ctx); err != nil {
			return err
		}
	}
	for some := range slices.Chunk(r.rows, 1000) {
		if err := each(some); err != nil {
			return err
		}
	}
	return nil
}

// reportReader reads a report.
type reportReader struct {
	levelQuery
	client *Client
	access string
	q      connection.Report
	family fact.Family
	fields []metricField
	// names are those of campaigns, ads and audiences; groups are the audiences
	// of ad groups.
	names, groups map[string]string
	// seen are the keys of all rows so far.
	seen map[string]bool
	rows []fact.Row
	// skan is the number of conversions of skanMetric, if it is asked for.
	skan int64
	// rowIndex is the index in rows of each row that is added up, without its
	// values.
	rowIndex map[fact.Row]int
}

// newReportReader returns a reader. Without entities its rows have the names of
// the report and no audiences.
func newReportReader(c *Client, cr connection.Credentials, q connection.Report) *reportReader {
	level := levelQueries[q.Level]
	r := &reportReader{
		levelQuery: level, client: c, access: cr.Access.Reveal(), q: q, family: connection.Families[q.Level], fields: reportMetrics(level.report == audienceReport, q.Conversions),
		names: map[string]string{}, seen: map[string]bool{}, rowIndex: map[fact.Row]int{},
	}
	if q.Level == connection.LevelCampaign && len(q.Conversions) == 0 {
		r.attributes = append(slices.Clone(r.attributes), skanMetric)
	}
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

func (r *reportReader) note(code connection.NoteCode, m fact.Measure, amount *int64, message string) connection.Note {
	return connection.Note{Code: code, First: r.q.First, Last: r.q.Last, Measure: m, Amount: amount, Message: message}
}

// readParts reads all parts of a report. TikTok can refuse the special ones to
// accounts without such ads, which must not cost the others.
func (r *reportReader) readParts(ctx context.Context) error {
	for i, part := range reportParts(r.data) {
		err := r.readPart(ctx, part)
		switch {
		case err != nil && i > 0 && isRefusal(err):
			// One note is enough for all levels.
			if r.q.Level == connection.LevelCampaign {
				r.q.AddNote(r.note(connection.NoteNotIncluded, fact.Spend, nil, "TikTok refused the report of "+part.name+". If the account has such ads, their metrics are missing. TikTok's answer: "+err.Error()))
			}
		case err != nil:
			return err
		}
	}
	if len(r.rows) > 0 || r.report != basicReport {
		return nil
	}
	// TikTok answers with an empty list if the account is one for reservations
	// only, and refuses the report of reservations to all other accounts.
	r.fields, r.attributes = basicMetrics, levelQueries[r.q.Level].attributes
	if err := r.readPart(ctx, reservationPart); err != nil && !isRefusal(err) {
		return err
	}
	return nil
}

// maxReportAds is the number of ads above which TikTok leaves out the oldest
// ones. Its page names 20,000, its SDK 10,000.
const maxReportAds = 10_000

// readPart reads one part, in pieces if it has too many ads.
func (r *reportReader) readPart(ctx context.Context, part reportPart) error {
	if r.q.Entities != nil && len(r.q.Entities.Ads) > maxReportAds && r.data != wholeAccount {
		return r.readByCampaigns(ctx, part)
	}
	read, err := r.readScope(ctx, part, nil)
	switch {
	case err == nil:
		r.add(read)
		return nil
	case r.mustSplit(err) && r.data != wholeAccount:
		return r.readByCampaigns(ctx, part)
	}
	return err
}

// mustSplit reports whether fewer objects have to be asked for. For a report of
// several days the caller asks for fewer days first.
func (r *reportReader) mustSplit(err error) bool {
	return connection.ClassOf(err) == connection.TooLarge && (isTruncated(err) || r.q.First == r.q.Last)
}

// add adds rows to the report. Parts of an account's total are added up, as are
// the ad groups of a breakdown. Any other row that was in an earlier part is the
// same one.
func (r *reportReader) add(read *readRows) {
	r.skan += read.skan
	for i := range read.rows {
		row, key := read.rows[i], read.keys[i]
		if r.data != wholeAccount {
			if r.seen[key] {
				continue
			}
			r.seen[key] = true
		}
		if r.family == fact.Base && r.data != wholeAccount {
			r.rows = append(r.rows, row)
			continue
		}
		r.addUp(row)
	}
}

// addUp adds a row to the one that differs only in its values.
func (r *reportReader) addUp(row fact.Row) {
	same := row
	same.Values = fact.Values{}
	at, known := r.rowIndex[same]
	if !known {
		r.rowIndex[same] = len(r.rows)
		r.rows = append(r.rows, row)
		return
	}
	r.rows[at].Values = addValues(r.rows[at].Values, row.Values)
}

// addValues adds values. It drops reach, because the same people can be in both.
func addValues(a, b fact.Values) (sum fact.Values) {
	for m := range fact.Measure(fact.NumMeasures) {
		x, known := a.Get(m)
		y, also := b.Get(m)
		if (known || also) && m != fact.Reach {
			sum.Set(m, x+y)
		}
	}
	return sum
}

// entity returns a campaign, ad or audience. name is the one in the report,
// which counts if the lists do not have the object.
func (r *reportReader) entity(id, name string) fact.Entity {
	return fact.Entity{ExternalID: id, Name: cmp.Or(r.names[id], name)}
}
