package sandbox

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"fanfare/internal/clock"
	"fanfare/internal/fact"
)

// The largest numbers of days in a report: by day, and without days.
const (
	tikTokMaxDays      = 30
	tikTokMaxTotalDays = 365
	tikTokMaxHourDays  = 1
)

// tikTokConflict is TikTok's message for parameters that do not go together.
const tikTokConflict = "Conflict occurs. The input params including metrics and dimensions have no relation."

// tikTokLevels are the data levels without the type of service, with the
// dimension of each and the level of its rows.
var tikTokLevels = map[string]struct {
	dimension string
	rows      Level
}{
	"ADVERTISER": {"advertiser_id", ByAccount}, "CAMPAIGN": {"campaign_id", ByCampaign}, "ADGROUP": {"adgroup_id", ByAd}, "AD": {"ad_id", ByAd},
}

// tikTokBreakdowns maps dimensions of audiences to the level of their rows. All
// other dimensions have one value.
var tikTokBreakdowns = map[string]Level{"country_code": ByCountry, "age": ByAgeAndGender, "gender": ByAgeAndGender, "platform": ByDevice}

// tikTokSingles are dimensions in which all is one value.
var tikTokSingles = map[string]string{"placement": "TikTok", "language": "en", "ac": "WIFI", "interest_category": "", "contextual_tag": "", "province_id": "", "dma_id": ""}

var (
	tikTokGenders = map[string]string{"female": "FEMALE", "male": "MALE"}
	tikTokDevices = map[string]string{"mobile": "ANDROID", "tablet": "IPAD", "desktop": "PC"}
)

// tikTokQuery is a report request. data is the data level without the service.
type tikTokQuery struct {
	report, service, data string
	level                 Level
	dimensions, metrics   []string
	first, last           clock.Date
	filter                tikTokReportFilter
}

func (c *tikTokCall) readReport() (q tikTokQuery, refused *tikTokError) {
	q.report, q.service = c.query.Get("report_type"), cmp.Or(c.query.Get("service_type"), tikTokAuction)
	service, data, _ := strings.Cut(c.query.Get("data_level"), "_")
	level, known := tikTokLevels[data]
	if !known || service != q.service || q.service == "RESERVATION" && q.report != "BASIC" {
		return q, tikTokRefusal(tikTokConflict)
	}
	q.data, q.level = data, level.rows
	if refused := c.readDimensions(&q, level.dimension); refused != nil {
		return q, refused
	}
	var err error
	if q.metrics, err = parseTikTokList(c.query.Get("metrics")); err != nil {
		return q, tikTokRefusal("metrics must be a list.")
	}
	if q.metrics == nil {
		q.metrics = []string{"spend", "impressions"}
	}
	if refused := checkTikTokMetrics(q.metrics, q.report, c.Behavior(c.account, "metric_removed")); refused != nil {
		return q, refused
	}
	if q.filter, refused = c.readReportFilter(); refused != nil {
		return q, refused
	}
	return q, c.readDays(&q)
}

// readDimensions reads the dimensions: at most the one of the data level, and
// those of one breakdown.
func (c *tikTokCall) readDimensions(q *tikTokQuery, own string) *tikTokError {
	var err error
	if q.dimensions, err = parseTikTokList(c.query.Get("dimensions")); err != nil || len(q.dimensions) == 0 {
		return tikTokRefusal("dimensions must be a list.")
	}
	broken := false
	for _, name := range q.dimensions {
		level, breakdown := tikTokBreakdowns[name]
		_, single := tikTokSingles[name]
		switch {
		case name == "stat_time_day" || name == own:
		case name == tikTokHour && q.report == "BASIC":
		case breakdown && q.report == "BASIC" && name != "country_code", single && q.report != "AUDIENCE":
			return tikTokRefusal(tikTokConflict)
		case breakdown && (q.data == "AD" || broken && level != q.level):
			return tikTokRefusal(tikTokConflict)
		case breakdown:
			q.level, broken = level, true
		case single:
		default:
			return tikTokRefusal("dimensions: " + name + " is not supported in this report.")
		}
	}
	return nil
}

// readDays reads the days. A lifetime has no days.
func (c *tikTokCall) readDays(q *tikTokQuery) *tikTokError {
	byDay := slices.Contains(q.dimensions, "stat_time_day")
	if c.isTrue("query_lifetime") {
		if byDay || q.report != "BASIC" {
			return tikTokRefusal("Breakdown by time or audience is not supported when querying for lifetime metrics.")
		}
		q.first, q.last = c.account.First, c.Today(c.account)
		return nil
	}
	most := clock.Date(tikTokMaxTotalDays)
	switch {
	case slices.Contains(q.dimensions, tikTokHour):
		most = tikTokMaxHourDays
	case byDay:
		most = tikTokMaxDays
	}
	first, ok := clock.ParseDate(c.query.Get("start_date"))
	last, also := clock.ParseDate(c.query.Get("end_date"))
	if !ok || !also || last < first || last-first >= most {
		return tikTokRefusal("start_date and end_date must be days, with at most " + strconv.Itoa(int(most)) + " from one to the other.")
	}
	q.first, q.last = first, last
	return nil
}

func (c *tikTokCall) report() (any, *tikTokError) {
	if kind := c.query.Get("report_type"); kind == "PLAYABLE_MATERIAL" || kind == "CATALOG" {
		// The account has neither playable ads nor a catalog.
		return c.page(0, 1000, nil)
	}
	q, refused := c.readReport()
	if refused != nil {
		return nil, refused
	}
	ofReservation := c.Behavior(c.account, "reservation_spend") == "account"
	if q.service == "RESERVATION" && !ofReservation {
		return nil, tikTokRefusal(tikTokConflict)
	}
	part := c.reportAccount(&q)
	if q.service == tikTokAuction && ofReservation {
		part.Campaigns = nil
	}
	if c.Fault(FaultTooLarge) || c.tooLarge(&q, part) {
		return nil, &tikTokError{code: tikTokTooLarge, message: "The amount of data is too large, please narrow the time range."}
	}
	rows := c.reportRows(&q, part)
	if field := c.query.Get("order_field"); field != "" {
		if refused := c.sortRows(rows, &q, field); refused != nil {
			return nil, refused
		}
	}
	answer, refused := c.page(len(rows), 1000, func(i int) map[string]any {
		return map[string]any{"dimensions": c.cellTexts(&rows[i], q.dimensions), "metrics": c.cellTexts(&rows[i], q.metrics)}
	})
	if whole, ok := answer.(map[string]any); ok && c.isTrue("enable_total_metrics") && q.report == "BASIC" {
		whole["total_metrics"] = c.cellTexts(c.totalRow(rows), q.metrics)
	}
	return answer, refused
}

// tooLarge reports whether a report covers more days of campaigns than the
// switch allows.
func (c *tikTokCall) tooLarge(q *tikTokQuery, part *Account) bool {
	most, err := strconv.Atoi(c.Behavior(c.account, "too_large_40067"))
	return err == nil && q.data != "ADVERTISER" && len(part.Campaigns)*int(q.last-q.first+1) > most
}

// reportAccount returns the account with only the campaigns that a report is
// about.
func (c *tikTokCall) reportAccount(q *tikTokQuery) *Account {
	part := *c.account
	part.Campaigns = nil
	for _, x := range c.account.Campaigns {
		kind := c.kindOf(x)
		// A report of the whole account has all ways of buying and no status.
		buying, hidden := tikTokAuction, kind.deleted
		switch q.data {
		case "ADVERTISER":
			buying, hidden = "", false
		case "CAMPAIGN":
			hidden = hidden && !q.filter.showsDeleted("campaign_status")
		case "ADGROUP":
			hidden = hidden && !q.filter.showsDeleted("adgroup_status")
		case "AD":
			hidden = false // decided for each ad
		}
		if q.service == "RESERVATION" || q.report == "TT_SHOP" {
			buying = ""
		}
		if !hidden && kind.gmvMax == (q.report == "TT_SHOP") && q.filter.has("campaign_ids", x.ID, "") &&
			q.filter.has("buying_type", kind.buying, buying) && q.filter.has("campaign_system_origins", kind.origin, tikTokPlatform) {
			part.Campaigns = append(part.Campaigns, x)
		}
	}
	return &part
}

// reportRows returns the rows of a report, added up by its dimensions.
func (c *tikTokCall) reportRows(q *tikTokQuery, part *Account) []Row {
	level := q.level
	shown := c.recentAds(q, part)
	if shown != nil && level == ByCampaign {
		level = ByAd
	}
	rows, at := []Row{}, map[string]int{}
	for row := range c.Rows(part, level, q.first, q.last) {
		if !c.rowShown(q, &row, shown) {
			continue
		}
		if level != q.level {
			row.Group, row.Ad = nil, nil
		}
		for _, row := range q.splitHours(part, row) {
			key := ""
			// Rows without an ad have no ad group, in every campaign.
			if row.Campaign != nil && slices.Contains(q.dimensions, "adgroup_id") {
				key = row.Campaign.ID
			}
			for _, name := range q.dimensions {
				key += "|" + c.cellText(&row, name)
			}
			if i, known := at[key]; known {
				rows[i].Values = addValues(rows[i].Values, row.Values)
				continue
			}
			at[key] = len(rows)
			rows = append(rows, row)
		}
	}
	return rows
}

// tikTokHour is the dimension of hours.
const tikTokHour = "stat_time_hour"

// splitHours splits a row by hours, if the report is by hours.
func (q *tikTokQuery) splitHours(a *Account, row Row) []Row {
	if !slices.Contains(q.dimensions, tikTokHour) {
		return []Row{row}
	}
	return splitByShares(a, row, hourShares)
}

// rowShown reports whether conditions on groups and ads, and the largest number
// of ads, allow a row.
func (c *tikTokCall) rowShown(q *tikTokQuery, row *Row, shown map[*Ad]bool) bool {
	if row.Group == nil {
		return shown == nil && q.filter["adgroup_ids"] == nil && q.filter["ad_ids"] == nil
	}
	if !q.filter.has("adgroup_ids", row.Group.ID, "") {
		return false
	}
	if row.Ad == nil {
		return shown == nil || slices.ContainsFunc(row.Group.Ads, func(ad *Ad) bool { return shown[ad] })
	}
	hidden := q.data == "AD" && c.adDeleted(row.Ad) && !q.filter.showsDeleted("ad_status")
	return !hidden && q.filter.has("ad_ids", row.Ad.ID, "") && (shown == nil || shown[row.Ad])
}

// recentAds returns the ads of a report if there are more than TikTok reports
// at once: only the latest. It returns nil if there are not.
func (c *tikTokCall) recentAds(q *tikTokQuery, part *Account) map[*Ad]bool {
	most, err := strconv.Atoi(c.Behavior(c.account, "cap_10000_ads"))
	if err != nil || q.data == "ADVERTISER" {
		return nil
	}
	ads := []*Ad{}
	for _, x := range part.Campaigns {
		for _, g := range x.Groups {
			if q.filter.has("adgroup_ids", g.ID, "") {
				ads = append(ads, g.Ads...)
			}
		}
	}
	if len(ads) <= most {
		return nil
	}
	c.w.Header().Set("X-Tt-Ads-Throttle", "Number of ad ids is equal or more than 20k, only return the top 20k id's results, sorting by create time desc order.")
	return maps.Collect(func(yield func(*Ad, bool) bool) {
		for _, ad := range ads[len(ads)-most:] {
			if !yield(ad, true) {
				return
			}
		}
	})
}

// sortRows sorts rows by a metric, the largest first unless the call says ASC.
func (c *tikTokCall) sortRows(rows []Row, q *tikTokQuery, field string) *tikTokError {
	if slices.Contains(tikTokAttributes, field) {
		return tikTokRefusal("order_field: " + field + " does not support sorting.")
	}
	if refused := checkTikTokMetrics([]string{field}, q.report, ""); refused != nil {
		return refused
	}
	slices.SortStableFunc(rows, func(a, b Row) int {
		// Unknown numbers sort as zero.
		x, _ := strconv.ParseFloat(c.metricText(&a, field), 64)
		y, _ := strconv.ParseFloat(c.metricText(&b, field), 64)
		if c.query.Get("order_type") == "ASC" {
			return cmp.Compare(x, y)
		}
		return cmp.Compare(y, x)
	})
	return nil
}

// totalRow returns the sum of all rows.
func (c *tikTokCall) totalRow(rows []Row) *Row {
	whole := &Row{}
	for i := range rows {
		if i == 0 {
			whole.Values = rows[0].Values
			continue
		}
		whole.Values = addValues(whole.Values, rows[i].Values)
	}
	return whole
}

// cellTexts returns dimensions or metrics of a row, by name.
func (c *tikTokCall) cellTexts(row *Row, names []string) map[string]string {
	texts := map[string]string{}
	for _, name := range names {
		texts[name] = c.cellText(row, name)
	}
	return texts
}

// addValues adds two rows that the platform does not separate. It drops reach,
// because the same people can be in both.
func addValues(a, b fact.Values) (sum fact.Values) {
	for m := range fact.Measure(fact.NumMeasures) {
		x, known := a.Get(m)
		y, also := b.Get(m)
		if known && also && m != fact.Reach {
			sum.Set(m, x+y)
		}
	}
	return sum
}

// cellText returns a dimension or metric of a row as text.
func (c *tikTokCall) cellText(row *Row, name string) string {
	var text string
	switch name {
	case "stat_time_day":
		text = row.Date.String() + " 00:00:00"
	case tikTokHour:
		text = row.Date.String() + " " + row.Part
	case "country_code":
		text = row.Country
	case "age":
		text = tikTokAge(row.AgeRange)
	case "gender":
		text = cmp.Or(tikTokGenders[row.Gender], "NONE")
	case "platform":
		text = cmp.Or(tikTokDevices[row.Device], "OTHERS")
	default:
		single, one := tikTokSingles[name]
		switch {
		case one:
			text = single
		case slices.Contains(tikTokAttributes, name):
			text = c.attributeText(row, name)
		default:
			text = c.metricText(row, name)
		}
	}
	return cmp.Or(text, "-")
}

// tikTokAge returns an age group; all from 55 on are one.
func tikTokAge(ages string) string {
	switch ages {
	case "":
		return ""
	case "unknown":
		return "NONE"
	case "55-64", "65+":
		return "AGE_55_100"
	}
	return "AGE_" + strings.ReplaceAll(ages, "-", "_")
}
