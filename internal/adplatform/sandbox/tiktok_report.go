package sandbox

import (
	"slices"
	"strconv"
	"strings"

	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/money"
)

// tikTokMaxDays is the largest number of days in a report.
const tikTokMaxDays = 30

// tikTokMetrics maps metrics to measures.
var tikTokMetrics = map[string]fact.Measure{
	"impressions": fact.Impressions, "clicks": fact.Clicks, "spend": fact.Spend, "conversion": fact.Conversions, "total_purchase_value": fact.Revenue,
	"engagements": fact.Engagements, "video_play_actions": fact.VideoViews, "video_views_p100": fact.VideoCompletions, "reach": fact.Reach,
}

// tikTokAudienceMetrics are the metrics of reports by audience.
var tikTokAudienceMetrics = []string{"impressions", "clicks", "spend", "conversion"}

// tikTokAttributes are metrics that are attributes of the row.
var tikTokAttributes = []string{"campaign_id", "campaign_name", "adgroup_id", "adgroup_name", "ad_name"}

// tikTokReports maps type, data level and dimensions besides the day to the
// level of a report.
var tikTokReports = map[string]Level{
	"BASIC AUCTION_ADVERTISER advertiser_id":           ByAccount,
	"BASIC AUCTION_CAMPAIGN campaign_id":               ByCampaign,
	"BASIC AUCTION_ADGROUP adgroup_id":                 ByAd,
	"BASIC AUCTION_AD ad_id":                           ByAd,
	"AUDIENCE AUCTION_ADGROUP adgroup_id,country_code": ByCountry,
	"AUDIENCE AUCTION_ADGROUP adgroup_id,age,gender":   ByAgeAndGender,
	"AUDIENCE AUCTION_ADGROUP adgroup_id,platform":     ByDevice,
}

var (
	tikTokGenders = map[string]string{"female": "FEMALE", "male": "MALE"}
	tikTokDevices = map[string]string{"mobile": "ANDROID", "tablet": "IPAD", "desktop": "PC"}
)

// tikTokQuery is a report request.
type tikTokQuery struct {
	level               Level
	dimensions, metrics []string
	first, last         clock.Date
}

func (c *tikTokCall) readReport() (q tikTokQuery, refused *tikTokError) {
	var err error
	if q.dimensions, err = parseTikTokList(c.query.Get("dimensions")); err != nil || !slices.Contains(q.dimensions, "stat_time_day") {
		return q, tikTokRefusal("dimensions must be a list with stat_time_day.")
	}
	others := slices.Sorted(slices.Values(slices.DeleteFunc(slices.Clone(q.dimensions), func(name string) bool { return name == "stat_time_day" })))
	kind := c.query.Get("report_type")
	level, known := tikTokReports[kind+" "+c.query.Get("data_level")+" "+strings.Join(others, ",")]
	if !known {
		return q, tikTokRefusal("There is no report of this report_type, data_level and dimensions.")
	}
	q.level = level
	if q.metrics, err = parseTikTokList(c.query.Get("metrics")); err != nil || len(q.metrics) == 0 {
		return q, tikTokRefusal("metrics must be a list.")
	}
	for _, name := range q.metrics {
		_, number := tikTokMetrics[name]
		if number && kind == "AUDIENCE" {
			number = slices.Contains(tikTokAudienceMetrics, name)
		}
		if !number && !slices.Contains(tikTokAttributes, name) {
			return q, tikTokRefusal("metrics: " + name + " is not supported in this report.")
		}
	}
	first, ok := clock.ParseDate(c.query.Get("start_date"))
	last, also := clock.ParseDate(c.query.Get("end_date"))
	if !ok || !also || last < first || last-first >= tikTokMaxDays {
		return q, tikTokRefusal("start_date and end_date must be days, with at most " + strconv.Itoa(tikTokMaxDays) + " from one to the other.")
	}
	q.first, q.last = first, last
	return q, nil
}

func (c *tikTokCall) report() (any, *tikTokError) {
	q, refused := c.readReport()
	if refused != nil {
		return nil, refused
	}
	if c.Fault(FaultTooLarge) {
		return nil, &tikTokError{tikTokTooLarge, "The amount of data is too large, please narrow the time range."}
	}
	rows, at := []Row{}, map[string]int{}
	for row := range c.Rows(c.account, q.level, q.first, q.last) {
		key := ""
		if row.Campaign != nil {
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
	return c.page(len(rows), 1000, func(i int) map[string]any {
		return map[string]any{"dimensions": c.cellTexts(&rows[i], q.dimensions), "metrics": c.cellTexts(&rows[i], q.metrics)}
	})
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
	case "advertiser_id":
		text = c.account.ID
	case "country_code":
		text = row.Country
	case "age":
		text = tikTokAge(row.AgeRange)
	case "gender":
		if text = tikTokGenders[row.Gender]; text == "" {
			text = "NONE"
		}
	case "platform":
		if text = tikTokDevices[row.Device]; text == "" {
			text = "OTHERS"
		}
	default:
		text = rowText(row, name)
	}
	if text == "" {
		return "-"
	}
	return text
}

// rowText returns an attribute or a metric of a row.
func rowText(row *Row, name string) string {
	switch {
	case row.Campaign != nil && name == "campaign_id":
		return row.Campaign.ID
	case row.Campaign != nil && name == "campaign_name":
		return row.Campaign.Name
	case row.Group != nil && name == "adgroup_id":
		return row.Group.ID
	case row.Group != nil && name == "adgroup_name":
		return row.Group.Name
	case row.Ad != nil && name == "ad_id":
		return row.Ad.ID
	case row.Ad != nil && name == "ad_name":
		return row.Ad.Name
	}
	m, number := tikTokMetrics[name]
	n, known := row.Values.Get(m)
	switch {
	case !number || !known:
		return ""
	case m.Money():
		return money.Amount{Micros: n, Digits: 2}.String()
	case m.Scaled():
		return strconv.FormatInt(n/million, 10)
	}
	return strconv.FormatInt(n, 10)
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
