package sandbox

import (
	"cmp"
	"math/big"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/money"
)

const (
	// metaMaxRows is the largest report that does not run in the background.
	metaMaxRows = 50_000
	// metaMaxMonths is how far back metrics are available.
	metaMaxMonths = 37
)

// metaReport is a report request.
type metaReport struct {
	level           string
	breakdowns      []string
	fields, summary []string
	windows         []string
	first, last     clock.Date
}

var (
	// metaBreakdowns are the supported breakdowns, with their level.
	metaBreakdowns = map[string]Level{"country": ByCountry, "age,gender": ByAgeAndGender, "impression_device": ByDevice}
	metaLevels     = map[string]Level{"account": ByAccount, "campaign": ByCampaign, "ad": ByAd}
	metaWindows    = []string{"1d_view", "1d_click", "7d_click", "28d_click", "1d_ev", "default"}
	metaDevices    = map[string]string{"desktop": "desktop", "mobile": "android_smartphone", "tablet": "ipad", "tv": "smart_tv", "other": "other", "unknown": "unknown"}
	metaScalars    = map[string]fact.Measure{
		"impressions": fact.Impressions, "clicks": fact.Clicks, "spend": fact.Spend, "reach": fact.Reach, "inline_post_engagement": fact.Engagements,
	}
	// metaActions are the actions of a row. Purchases have three overlapping
	// names, as they do at Meta.
	metaActions = []struct {
		field, kind string
		measure     fact.Measure
	}{
		{"actions", "link_click", fact.Clicks},
		{"actions", "post_engagement", fact.Engagements},
		{"actions", "offsite_conversion.fb_pixel_purchase", fact.Conversions},
		{"actions", "purchase", fact.Conversions},
		{"actions", "omni_purchase", fact.Conversions},
		{"action_values", "offsite_conversion.fb_pixel_purchase", fact.Revenue},
		{"action_values", "purchase", fact.Revenue},
		{"action_values", "omni_purchase", fact.Revenue},
		{"video_play_actions", "video_view", fact.VideoViews},
		{"video_thruplay_watched_actions", "video_view", fact.VideoViews},
		{"video_p100_watched_actions", "video_view", fact.VideoCompletions},
	}
	metaNames = []string{
		"account_id", "account_name", "account_currency", "campaign_id", "campaign_name", "objective", "adset_id", "adset_name", "ad_id", "ad_name",
		"date_start", "date_stop", "actions", "action_values", "video_play_actions", "video_thruplay_watched_actions", "video_p100_watched_actions",
	}
)

// parseMetaList parses a list: JSON, or words separated by commas.
func parseMetaList(text string) (list []string) {
	if strings.HasPrefix(text, "[") {
		if json.Unmarshal([]byte(text), &list) != nil {
			return []string{text}
		}
		return list
	}
	return metaFields(text)
}

// readReport parses the parameters of a report.
func (c metaCall) readReport(a *Account, params url.Values) (r metaReport, refused *metaError) {
	r.level = params.Get("level")
	if r.level == "" {
		r.level = "account"
	}
	r.breakdowns = parseMetaList(params.Get("breakdowns"))
	slices.Sort(r.breakdowns)
	r.fields, r.summary, r.windows = parseMetaList(params.Get("fields")), parseMetaList(params.Get("summary")), parseMetaList(params.Get("action_attribution_windows"))
	var span struct {
		Since clock.Date `json:"since"`
		Until clock.Date `json:"until"`
	}
	if err := json.Unmarshal([]byte(params.Get("time_range")), &span); err != nil || span.Since > span.Until {
		return r, metaInvalid("time_range must be {'since':'YYYY-MM-DD','until':'YYYY-MM-DD'}, the first not after the second")
	}
	r.first, r.last = span.Since, span.Until
	if _, ok := metaBreakdowns[strings.Join(r.breakdowns, ",")]; len(r.breakdowns) > 0 && (!ok || r.level == "ad") {
		return r, metaInvalid("breakdowns %v at level %s are not played; there are country, age with gender, and impression_device, for account, campaign and adset", r.breakdowns, r.level)
	}
	if _, ok := metaLevels[r.level]; !ok && r.level != "adset" {
		return r, metaInvalid("level must be one of {ad, adset, campaign, account}")
	}
	if params.Get("time_increment") != "1" {
		return r, metaInvalid("time_increment other than 1 is not played")
	}
	if oldest := c.Today(a).Time().AddDate(0, -metaMaxMonths, 0); r.first.Time().Before(oldest) {
		return r, &metaError{Code: 3018, Message: "(#3018) The start date of the time range cannot be beyond 37 months from the current date"}
	}
	for _, window := range r.windows {
		if !slices.Contains(metaWindows, window) {
			return r, metaInvalid("action_attribution_windows: %s is not available", window)
		}
	}
	for _, name := range slices.Concat(r.fields, r.summary) {
		if _, scalar := metaScalars[name]; !scalar && !slices.Contains(metaNames, name) {
			return r, metaInvalid("%s is not valid for fields param", name)
		}
	}
	return r, nil
}

// insights answers with a page of a report.
func (c metaCall) insights(a *Account, params url.Values, background bool) {
	report, refused := c.readReport(a, params)
	if refused != nil {
		c.writeError(refused)
		return
	}
	if !background && (report.rowCount(c.Call, a) > metaMaxRows || c.Fault(FaultTooLarge)) {
		c.writeError(metaTooLarge)
		return
	}
	from, limit, refused := c.pagePosition(report)
	if refused != nil {
		c.writeError(refused)
		return
	}
	rows, next, more := report.page(c.Call, a, from, limit)
	data := []any{}
	for _, row := range rows {
		data = append(data, report.encodeRow(a, row, row.Date, row.Date, report.fields))
	}
	answer := map[string]any{"data": data}
	if more {
		switch {
		case c.Fault(FaultDuplicatePage):
			next = from
		case c.Fault(FaultSkipPage):
			_, next, _ = report.page(c.Call, a, next, limit)
		}
	}
	answer["paging"] = c.paging(from.cursor(), next.cursor(), more)
	if len(report.summary) > 0 {
		total := report.totalRow(c.Call, a)
		if n, ok := total.Values.Get(fact.Impressions); ok && c.Fault(FaultDriftingTotal) {
			total.Values.Set(fact.Impressions, n+1)
		}
		answer["summary"] = report.encodeRow(a, total, report.first, report.last, report.summary)
	}
	c.writeAnswer(answer)
}

// metaPosition is the start of a page: a day and the index of its row.
type metaPosition struct {
	day clock.Date
	row int
}

func (p metaPosition) cursor() string { return metaCursor(p.day.String() + " " + strconv.Itoa(p.row)) }

// pagePosition returns the start of the requested page and its length.
func (c metaCall) pagePosition(report metaReport) (from metaPosition, limit int, refused *metaError) {
	limit, refused = c.limit()
	text, err := readMetaCursor(c.params.Get("after"))
	if err != nil || refused != nil {
		return from, limit, cmp.Or(refused, metaBadCursor)
	}
	if text == "" {
		return metaPosition{report.first, 0}, limit, nil
	}
	day, row, _ := strings.Cut(text, " ")
	from.row, err = strconv.Atoi(row)
	var ok bool
	if from.day, ok = clock.ParseDate(day); !ok || err != nil || from.row < 0 {
		return from, limit, metaBadCursor
	}
	return from, limit, nil
}

// page returns the rows from a position, and the next position.
func (r metaReport) page(s *Call, a *Account, from metaPosition, limit int) (rows []Row, next metaPosition, more bool) {
	for at := from; at.day <= r.last; at = (metaPosition{at.day + 1, 0}) {
		day := r.dayRows(s, a, at.day)
		for ; at.row < len(day); at.row++ {
			if len(rows) == limit {
				return rows, at, true
			}
			rows = append(rows, day[at.row])
		}
	}
	return rows, metaPosition{r.last + 1, 0}, false
}

// rowCount estimates the number of rows of the report.
func (r metaReport) rowCount(s *Call, a *Account) int {
	return len(r.dayRows(s, a, min(r.last, s.Today(a)))) * int(r.last-r.first+1)
}

// totalRow returns the totals of the report. All levels but ads have the same
// ones.
func (r metaReport) totalRow(s *Call, a *Account) (total Row) {
	level := ByAccount
	if r.level == "ad" {
		level = ByAd
	}
	for row := range s.Rows(a, level, r.first, r.last) {
		addMetaValues(&total.Values, row.Values)
	}
	return total
}

// dayRows returns the rows of a day.
func (r metaReport) dayRows(s *Call, a *Account, day clock.Date) []Row {
	level, plain := metaLevels[r.level]
	if len(r.breakdowns) == 0 && plain {
		return slices.Collect(s.Rows(a, level, day, day))
	}
	// Ad sets have no level of their own: they are the sums of a breakdown by
	// ad set.
	level = ByDevice
	if len(r.breakdowns) > 0 {
		level = metaBreakdowns[strings.Join(r.breakdowns, ",")]
	}
	var rows []Row
	at := map[Row]int{}
	for row := range s.Rows(a, level, day, day) {
		values := row.Values
		row.Values = fact.Values{}
		if len(r.breakdowns) == 0 {
			row.Device = ""
		}
		if r.level != "adset" {
			row.Group = nil
		}
		if r.level == "account" {
			row.Campaign = nil
		}
		i, there := at[row]
		if !there {
			i = len(rows)
			at[row] = i
			rows = append(rows, row)
		}
		addMetaValues(&rows[i].Values, values)
	}
	return rows
}

// addMetaValues adds values. It drops reach, because the same people can be in
// both rows.
func addMetaValues(to *fact.Values, values fact.Values) {
	for m := range fact.Measure(fact.NumMeasures) {
		if n, ok := values.Get(m); ok && m != fact.Reach {
			sum, _ := to.Get(m)
			to.Set(m, sum+n)
		}
	}
}

// encodeRow returns a row in Meta's format: every metric a string, without
// actions that did not happen.
func (r metaReport) encodeRow(a *Account, row Row, first, last clock.Date, fields []string) map[string]any {
	object := map[string]any{"date_start": first.String(), "date_stop": last.String()}
	names := metaEntities(a, row)
	for _, name := range fields {
		if text, ok := names[name]; ok {
			object[name] = text
		}
		if m, ok := metaScalars[name]; ok {
			if n, known := row.Values.Get(m); known {
				object[name] = formatMetaMetric(a, m, n)
			}
		}
		if list := r.actions(a, row, name); len(list) > 0 {
			object[name] = list
		}
	}
	switch strings.Join(r.breakdowns, ",") {
	case "country":
		object["country"] = row.Country
	case "age,gender":
		object["age"], object["gender"] = row.AgeRange, row.Gender
	case "impression_device":
		object["impression_device"] = metaDevices[row.Device]
	}
	return object
}

// metaEntities returns the ids and names in a row.
func metaEntities(a *Account, row Row) map[string]string {
	names := map[string]string{"account_id": a.ID, "account_name": a.Name, "account_currency": a.Set.Currency}
	group := row.Group
	if row.Ad != nil {
		names["ad_id"], names["ad_name"] = row.Ad.ID, row.Ad.Name
		group = row.Ad.Group
	}
	if row.Campaign != nil {
		names["campaign_id"], names["campaign_name"], names["objective"] = row.Campaign.ID, row.Campaign.Name, metaObjectives[row.Campaign.Kind]
		// Rows without an ad belong to a deleted ad set: it is not listed any
		// more, but its metrics remain.
		names["adset_id"], names["adset_name"] = row.Campaign.ID+"0", "Deleted ad set"
	}
	if group != nil {
		names["adset_id"], names["adset_name"] = group.ID, group.Name
	}
	return names
}

func formatMetaMetric(a *Account, m fact.Measure, n int64) string {
	switch {
	case m.Money():
		digits, _ := money.Currency(a.Set.Currency).Digits()
		return money.Amount{Micros: n, Digits: int8(digits)}.String()
	case m.Scaled():
		return fact.Millionths(n).String()
	}
	return strconv.FormatInt(n, 10)
}

// actions returns the list of actions of a field.
func (r metaReport) actions(a *Account, row Row, field string) (list []any) {
	for _, k := range metaActions {
		n, _ := row.Values.Get(k.measure)
		if k.field != field || n == 0 {
			continue
		}
		action := map[string]any{"action_type": k.kind, "value": formatMetaMetric(a, k.measure, n)}
		if slices.Contains(r.windows, "7d_click") {
			action["7d_click"] = action["value"]
		}
		list = append(list, action)
	}
	return list
}

// startReport starts a background report. Its id contains its parameters, so
// that the sandbox stores nothing.
func (c metaCall) startReport(a *Account) {
	if c.Fault(FaultTooLarge) {
		c.writeError(metaTooLarge)
		return
	}
	if _, refused := c.readReport(a, c.params); refused != nil {
		c.writeError(refused)
		return
	}
	c.writeAnswer(map[string]any{"report_run_id": encodeReportID(c.params)})
}

// metaReportParams are the parameters of a report, without those of its pages.
var metaReportParams = []string{"level", "breakdowns", "fields", "summary", "action_attribution_windows", "time_range", "time_increment"}

// encodeReportID encodes parameters as a number, because ids are numbers.
func encodeReportID(params url.Values) string {
	text := []byte{1}
	for _, name := range metaReportParams {
		text = append(append(text, params.Get(name)...), '\n')
	}
	return new(big.Int).SetBytes(text).String()
}

func decodeReportID(id string) (url.Values, bool) {
	n, ok := new(big.Int).SetString(id, 10)
	if !ok {
		return nil, false
	}
	values := strings.Split(string(n.Bytes()), "\n")
	if len(values) != len(metaReportParams)+1 {
		return nil, false
	}
	params := url.Values{}
	for i, name := range metaReportParams {
		params.Set(name, strings.TrimPrefix(values[i], "\x01"))
	}
	return params, true
}

// serveReport returns the progress of a background report, and its rows when it
// is complete.
func (c metaCall) serveReport(a *Account, id, edge string, report url.Values) {
	switch edge {
	case "":
		state, percent := "Job Completed", 100
		switch {
		case c.Fault(FaultAsyncFailed):
			state, percent = "Job Failed", 30
		case c.Fault(FaultAsyncStuck):
			state, percent = "Job Running", 50
		}
		c.writeAnswer(map[string]any{"id": id, "account_id": a.ID, "async_status": state, "async_percent_completion": percent})
	case "insights":
		c.insights(a, report, true)
	default:
		c.writeError(metaUnknown)
	}
}
