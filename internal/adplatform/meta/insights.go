package meta

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"fanfare/internal/connection"
	"fanfare/internal/fact"
)

// levelQuery is how a level is requested.
type levelQuery struct {
	level      string
	breakdowns []string
	fields     []string
}

// levelQueries are the queries by level. Breakdowns are by ad set, to assign
// rows to audiences. Reach is requested only for levels whose rows are not
// added up.
//
// Choice: impression_device, because device_platform does not separate tablets
// from phones.
var levelQueries = map[connection.Level]levelQuery{
	connection.LevelAccount:     {"account", nil, []string{"reach"}},
	connection.LevelCampaign:    {"campaign", nil, []string{"campaign_id", "campaign_name", "reach"}},
	connection.LevelAd:          {"ad", nil, []string{"campaign_id", "campaign_name", "adset_id", "ad_id", "ad_name", "reach"}},
	connection.LevelGeo:         {"adset", []string{"country"}, []string{"campaign_id", "campaign_name", "adset_id"}},
	connection.LevelDemographic: {"adset", []string{"age", "gender"}, []string{"campaign_id", "campaign_name", "adset_id"}},
	connection.LevelDevice:      {"adset", []string{"impression_device"}, []string{"campaign_id", "campaign_name", "adset_id"}},
}

// metricFields are the fields of every report. Some events are in conversions
// instead of actions.
//
// Choice: a video view is 15 seconds or the whole video, because autoplay
// starts say little. Attribution windows are not requested: the value of an
// action follows the ad set's own setting then, as in Ads Manager.
var metricFields = []string{
	"impressions", "clicks", "spend", "actions", "action_values", "conversions", "conversion_values", "inline_post_engagement",
	"video_thruplay_watched_actions", "video_p100_watched_actions",
}

// reportSlice is a part of a report that is requested at once.
type reportSlice struct {
	q     connection.Report
	query levelQuery
	// only and except are the ids of campaigns that it has, or all but which.
	// Without both it has all campaigns.
	only, except []string
}

// reportFilter is a condition of a report.
type reportFilter struct {
	Field    string   `json:"field"`
	Operator string   `json:"operator"`
	Value    []string `json:"value"`
}

// filters returns the conditions of a slice. Without one about the status, Meta
// leaves out the rows of deleted objects, although their campaign and account
// contain them (developers.facebook.com/documentation/ads-commerce/
// marketing-api/best-practices/manage-your-ad-object-status).
func (s *reportSlice) filters() (list []reportFilter) {
	if statuses := objectStatuses[s.query.level]; statuses != nil {
		list = append(list, reportFilter{s.query.level + ".effective_status", "IN", statuses})
	}
	if s.only != nil {
		list = append(list, reportFilter{"campaign.id", "IN", s.only})
	}
	if s.except != nil {
		list = append(list, reportFilter{"campaign.id", "NOT_IN", s.except})
	}
	return list
}

// summaryFields are the totals that a report is compared with.
var summaryFields = []string{"impressions"}

// params returns the parameters of a slice.
func (s *reportSlice) params() map[string]any {
	params := map[string]any{
		"level": s.query.level, "time_increment": 1, "fields": strings.Join(slices.Concat(s.query.fields, metricFields), ","),
		"time_range": map[string]string{"since": s.q.First.String(), "until": s.q.Last.String()}, "summary": summaryFields,
	}
	if list := s.filters(); len(list) > 0 {
		params["filtering"] = list
	}
	if len(s.query.breakdowns) > 0 {
		params["breakdowns"] = s.query.breakdowns
	}
	return params
}

// split returns smaller slices with the same rows together, nil if there are
// none. Only slices of one day are split: the caller asks for fewer days else.
// Campaigns that are not listed, such as deleted ones, are in the last slice.
func (s *reportSlice) split() (parts []reportSlice) {
	if s.q.First < s.q.Last || s.q.Level == connection.LevelAccount || s.except != nil || len(s.only) == 1 {
		return nil
	}
	ids := s.only
	var last []reportSlice
	if ids == nil {
		for i := range s.q.Entities.Campaigns {
			ids = append(ids, s.q.Entities.Campaigns[i].External)
		}
		if ids == nil {
			return nil
		}
		others := *s
		others.except = ids
		last = []reportSlice{others}
	}
	for half := range slices.Chunk(ids, (len(ids)+1)/2) {
		part := *s
		part.only = half
		parts = append(parts, part)
	}
	return append(parts, last...)
}

// maxIDs is the largest number of ids in a URL. Requests of background reports
// have them in the body.
const maxIDs = 100

// encodeParams encodes parameters as a query; values that are not strings
// become JSON.
func encodeParams(params map[string]any) (url.Values, error) {
	values := url.Values{}
	for name, value := range params {
		text, ok := value.(string)
		if !ok {
			b, err := jsonText(value)
			if err != nil {
				return nil, fmt.Errorf("write %s: %w", name, err)
			}
			text = b
		}
		values.Set(name, text)
	}
	return values, nil
}

// Report implements connection.Client.
func (c *Client) Report(ctx context.Context, cred connection.Credentials, q connection.Report, each func([]fact.Row) error) error {
	r := newReportReader(q, each)
	query := levelQueries[q.Level]
	err := c.readReport(ctx, cred, r, reportSlice{q: r.q, query: query})
	if q.Level == connection.LevelDevice && (deviceRefused(err) || err == nil && len(r.seen) == 0) {
		// Some accounts have to opt in to impression_device since August 2026:
		// Meta refuses it or returns no rows.
		query.breakdowns, r.missing = []string{"device_platform"}, 0
		err = c.readReport(ctx, cred, r, reportSlice{q: r.q, query: query})
		if err == nil && len(r.seen) > 0 {
			r.q.AddNote(connection.Note{
				Code: connection.NoteOther, First: q.First, Last: q.Last,
				Message: "Meta counts tablets as mobile devices in this ad account. To tell them apart, opt in to the breakdown by impression device in Ads Manager.",
			})
		}
	}
	if err != nil {
		return err
	}
	return r.finishReport()
}

// deviceRefused reports whether Meta refuses the breakdown impression_device.
func deviceRefused(err error) bool {
	e, ok := errors.AsType[*connection.Error](err)
	return ok && (e.Class == connection.Refused || e.Class == connection.Forbidden) && strings.Contains(e.Message, "impression_device")
}

// readReport reads a slice. If Meta finds it too large even in the background,
// it reads a single day by campaigns.
func (c *Client) readReport(ctx context.Context, cred connection.Credentials, r *reportReader, s reportSlice) error {
	err := c.readSlice(ctx, cred, r, &s)
	if connection.ClassOf(err) != connection.TooLarge {
		return err
	}
	parts := s.split()
	if parts == nil {
		return err
	}
	for _, part := range parts {
		if err := c.readReport(ctx, cred, r, part); err != nil {
			return err
		}
	}
	return nil
}

// readSlice reads a slice at once or, if that is too large for one answer, in
// the background.
func (c *Client) readSlice(ctx context.Context, cred connection.Credentials, r *reportReader, s *reportSlice) error {
	path := accountPath(s.q.Account) + "/insights"
	params, err := encodeParams(s.params())
	if err != nil {
		return err
	}
	if len(s.only)+len(s.except) <= maxIDs {
		err = c.readChecked(ctx, cred, r, listQuery{account: s.q.Account, path: path, params: params})
		if connection.ClassOf(err) != connection.TooLarge {
			return err
		}
	}
	if path, err = c.runBackgroundReport(ctx, cred, s, path); err != nil {
		return err
	}
	l := listQuery{s.q.Account, path, url.Values{"summary": params["summary"]}, true}
	err = c.readChecked(ctx, cred, r, l)
	if summaryRefused(err) {
		// The rows are good. Only the total to compare them with is missing.
		l.params = url.Values{}
		err = c.readChecked(ctx, cred, r, l)
	}
	return err
}

// summaryRefused reports whether Meta refuses the summary of a background
// report, which it does for a while although the report has one.
func summaryRefused(err error) bool {
	e, ok := errors.AsType[*connection.Error](err)
	return ok && e.Class == connection.Refused && strings.Contains(e.Message, "in summary param")
}

// readChecked reads all pages of a list of rows and compares them with the
// total. If rows are missing although there were several pages, one of them may
// have been skipped, so it reads them once more. Rows that were already read are
// skipped as duplicates.
func (c *Client) readChecked(ctx context.Context, cred connection.Credentials, r *reportReader, l listQuery) error {
	for attempt := 1; ; attempt++ {
		again := l
		again.params = maps.Clone(l.params)
		check := &totalCheck{rows: map[rowKey]bool{}}
		if err := readPages(ctx, c, cred, again, func(p *page[insight]) error { return r.addPage(p, check) }); err != nil {
			return err
		}
		if attempt == maxReads || !check.suspicious(r.q.Level) {
			r.missing += check.missing()
			return nil
		}
	}
}
