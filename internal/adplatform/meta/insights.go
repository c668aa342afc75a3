package meta

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"fanfare/internal/adplatform/transport"
	"fanfare/internal/clock"
	"fanfare/internal/connection"
	"fanfare/internal/fact"
	"fanfare/internal/money"
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

// metricFields are the fields of every report.
//
// Choice: a video view is 15 seconds or the whole video, because autoplay
// starts say little.
var metricFields = []string{
	"impressions", "clicks", "spend", "actions", "action_values", "inline_post_engagement", "video_thruplay_watched_actions", "video_p100_watched_actions",
}

// attributionWindows are how long after a click or a view an action counts.
//
// Choice: Meta's default.
var attributionWindows = []string{"7d_click", "1d_view"}

// conversionActions are the actions that count as a conversion, the broadest
// first. They overlap, so only the first one that is present counts.
//
// Choice: purchases, because an account's own results differ between campaigns
// and cannot be added up.
var conversionActions = []string{"omni_purchase", "purchase", "offsite_conversion.fb_pixel_purchase"}

// reportParams returns the parameters of a report.
func reportParams(q connection.Report) map[string]any {
	query := levelQueries[q.Level]
	params := map[string]any{
		"level": query.level, "time_increment": 1, "fields": strings.Join(slices.Concat(query.fields, metricFields), ","),
		"time_range":                 map[string]string{"since": q.First.String(), "until": q.Last.String()},
		"action_attribution_windows": attributionWindows, "summary": []string{"impressions"},
	}
	if len(query.breakdowns) > 0 {
		params["breakdowns"] = query.breakdowns
	}
	return params
}

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

// Report implements connection.Client. A report that is too large for one
// answer runs in the background.
func (c *Client) Report(ctx context.Context, cred connection.Credentials, q connection.Report, each func([]fact.Row) error) error {
	r := newReportReader(q, each)
	path := accountPath(q.Account) + "/insights"
	params, err := encodeParams(reportParams(q))
	if err != nil {
		return err
	}
	err = readPages(ctx, c, cred, q.Account, path, params, r.addPage)
	if connection.ClassOf(err) == connection.TooLarge {
		if path, err = c.runBackgroundReport(ctx, cred, q, path); err == nil {
			// Rows that were already read are skipped as duplicates.
			err = readPages(ctx, c, cred, q.Account, path, url.Values{}, r.addPage)
		}
	}
	if err != nil {
		return err
	}
	return r.finishReport()
}

const (
	firstPoll = time.Second
	lastPoll  = 30 * time.Second
	// deadline limits the time of a background report.
	//
	// Choice: reports of a month take minutes; a longer one hangs.
	deadline = 15 * time.Minute
)

// runBackgroundReport starts a background report, waits for it and returns its
// path.
func (c *Client) runBackgroundReport(ctx context.Context, cred connection.Credentials, q connection.Report, path string) (string, error) {
	var run struct {
		ID string `json:"report_run_id"`
	}
	if err := c.call(ctx, cred, transport.Call{Method: http.MethodPost, Path: path, JSON: reportParams(q), Account: q.Account}, &run); err != nil {
		return "", err
	}
	if run.ID == "" {
		return "", malformedError("the report has no id")
	}
	at := "/" + url.PathEscape(run.ID)
	wait := firstPoll
	for waited := time.Duration(0); waited < deadline; waited += wait {
		var state struct {
			Status string `json:"async_status"`
		}
		err := c.call(ctx, cred, transport.Call{
			Method: http.MethodGet, Path: at, Query: url.Values{"fields": {"async_status,async_percent_completion"}}, Account: q.Account,
		}, &state)
		switch {
		case err != nil:
			return "", err
		case state.Status == "Job Completed":
			return at + "/insights", nil
		case state.Status == "Job Failed" || state.Status == "Job Skipped":
			// Meta gives no reason. Too much data is the usual one, and smaller
			// windows solve it.
			return "", &connection.Error{Class: connection.TooLarge, Code: "job_failed", Message: "Meta could not make the report: " + state.Status + "."}
		}
		if err := c.sleep(ctx, wait); err != nil {
			return "", &connection.Error{Class: connection.Transient, Code: "canceled", Message: "The call was broken off.", Cause: err}
		}
		wait = min(2*wait, lastPoll)
	}
	return "", &connection.Error{Class: connection.Transient, Code: "job_stuck", Message: "Meta does not get on with making the report."}
}

// insight is a row in Meta's format.
type insight struct {
	Date         string `json:"date_start"`
	Campaign     string `json:"campaign_id"`
	CampaignName string `json:"campaign_name"`
	Group        string `json:"adset_id"`
	Ad           string `json:"ad_id"`
	AdName       string `json:"ad_name"`
	Country      string `json:"country"`
	Age          string `json:"age"`
	Gender       string `json:"gender"`
	Device       string `json:"impression_device"`

	Impressions string   `json:"impressions"`
	Clicks      string   `json:"clicks"`
	Spend       string   `json:"spend"`
	Reach       string   `json:"reach"`
	Engagements string   `json:"inline_post_engagement"`
	Actions     []action `json:"actions"`
	Amounts     []action `json:"action_values"`
	Views       []action `json:"video_thruplay_watched_actions"`
	Completions []action `json:"video_p100_watched_actions"`
}

type action struct {
	Type  string `json:"action_type"`
	Value string `json:"value"`
}

// rowKey identifies a row, in Meta's values.
type rowKey struct{ date, campaign, group, ad, country, age, gender, device string }

func (i *insight) rowKey() rowKey {
	return rowKey{i.Date, i.Campaign, i.Group, i.Ad, i.Country, i.Age, i.Gender, i.Device}
}

// values parses the metrics. Absent ones are unknown, but absent actions are
// zero: Meta omits actions that did not happen.
func (i *insight) values() (v fact.Values, err error) {
	first := func(list []action, kinds ...string) string {
		for _, kind := range kinds {
			if at := slices.IndexFunc(list, func(a action) bool { return a.Type == kind }); at >= 0 {
				return list[at].Value
			}
		}
		return "0"
	}
	for _, f := range []struct {
		m    fact.Measure
		text string
	}{
		{fact.Impressions, i.Impressions},
		{fact.Clicks, i.Clicks},
		{fact.Spend, i.Spend},
		{fact.Reach, i.Reach},
		{fact.Engagements, i.Engagements},
		{fact.Conversions, first(i.Actions, conversionActions...)},
		{fact.Revenue, first(i.Amounts, conversionActions...)},
		{fact.VideoViews, first(i.Views, "video_view")},
		{fact.VideoCompletions, first(i.Completions, "video_view")},
	} {
		if f.text == "" {
			continue
		}
		n, ok := parseMetric(f.m, f.text)
		if !ok {
			return v, malformedError(fmt.Sprintf("%s is no number", f.m))
		}
		v.Set(f.m, n)
	}
	return v, nil
}

// parseMetric parses a decimal without floats. It cuts digits after the sixth,
// which amounts of actions sometimes have.
func parseMetric(m fact.Measure, text string) (int64, bool) {
	if !m.Scaled() {
		n, err := strconv.ParseInt(text, 10, 64)
		return n, err == nil
	}
	if whole, fraction, dotted := strings.Cut(text, "."); dotted && len(fraction) > fact.MaxDigits {
		text = whole + "." + fraction[:fact.MaxDigits]
	}
	a, reason := money.Parse(text, 0)
	return a.Micros, reason == ""
}

// factRow converts a row to a fact.
func (i *insight) factRow(q connection.Report, audiences map[string]string) (fact.Row, error) {
	date, ok := clock.ParseDate(i.Date)
	if !ok || date < q.First || date > q.Last {
		return fact.Row{}, malformedError("a row has no day, or one that was not asked for")
	}
	values, err := i.values()
	row := fact.Row{Family: connection.Families[q.Level], Date: date, Channel: channel, Values: values}
	if q.Level == connection.LevelAccount {
		return row, err
	}
	row.Campaign = fact.Entity{ExternalID: i.Campaign, Name: i.CampaignName}
	row.Creative = fact.Entity{ExternalID: i.Ad, Name: i.AdName}
	if audience := q.Entities.Groups[i.Group]; audience != "" {
		row.Audience = fact.Entity{ExternalID: audience, Name: audiences[audience]}
	}
	switch q.Level {
	case connection.LevelAccount, connection.LevelCampaign, connection.LevelAd: // no breakdown
	case connection.LevelGeo:
		if fact.IsCountry(i.Country) {
			row.Country = i.Country
		}
	case connection.LevelDemographic:
		row.AgeRange, row.Gender = knownOrUnknown(fact.AgeRanges, i.Age), knownOrUnknown(fact.Genders, i.Gender)
	case connection.LevelDevice:
		row.Device = deviceOf(i.Device)
	}
	return row, err
}
