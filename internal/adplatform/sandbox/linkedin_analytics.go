package sandbox

import (
	"slices"
	"strconv"
	"strings"

	"fanfare/internal/clock"
	"fanfare/internal/fact"
)

// linkedInMaxFields is the largest number of fields in a call.
const linkedInMaxFields = 20

// linkedInMetrics maps fields to measures.
var linkedInMetrics = map[string]fact.Measure{
	"impressions": fact.Impressions, "clicks": fact.Clicks, "costInLocalCurrency": fact.Spend, "externalWebsiteConversions": fact.Conversions,
	"conversionValueInLocalCurrency": fact.Revenue, "oneClickLeads": fact.Leads, "totalEngagements": fact.Engagements,
	"videoViews": fact.VideoViews, "videoCompletions": fact.VideoCompletions, "approximateMemberReach": fact.Reach,
}

// linkedInLevels maps pivots to levels. Of several, the most detailed one
// counts.
var linkedInLevels = map[string]Level{
	"ACCOUNT": ByAccount, "CAMPAIGN": ByCampaign, "CREATIVE": ByAd, "MEMBER_COUNTRY_V2": ByCountry, "IMPRESSION_DEVICE_TYPE": ByDevice,
}

// linkedInGeos are the ids of the countries.
var linkedInGeos = map[string]string{
	"US": "103644278", "GB": "101165590", "DE": "101282230", "FR": "105015875", "CA": "101174742",
	"NL": "102890719", "SE": "105117694", "AU": "101452733", "ES": "105646813", "JP": "101355337",
}

var linkedInDevices = map[string]string{"mobile": "MOBILE_APP", "tablet": "MOBILE_WEB", "desktop": "DESKTOP_WEB"}

// linkedInQuery is a report request.
type linkedInQuery struct {
	level          Level
	pivots, fields []string
	// campaigns limits the rows, nil for all.
	campaigns   []string
	first, last clock.Date
}

func (c *linkedInCall) readAnalytics() (q linkedInQuery, refused *linkedInError) {
	if c.query["q"] == "analytics" {
		q.pivots = []string{restliWord(c.query["pivot"])}
	} else {
		q.pivots, _ = restliTexts(c.query["pivots"])
	}
	if len(q.pivots) < 1 || len(q.pivots) > 3 {
		return q, linkedInInvalid("There must be one to three pivots.")
	}
	for _, pivot := range q.pivots {
		level, known := linkedInLevels[pivot]
		if !known || len(q.pivots) > 1 && strings.HasPrefix(pivot, "MEMBER_") {
			return q, &linkedInError{400, 0, "FIELD_INVALID", "The pivot " + pivot + " is not supported."}
		}
		q.level = max(q.level, level)
	}
	if restliWord(c.query["timeGranularity"]) != "DAILY" {
		return q, linkedInInvalid("timeGranularity must be DAILY.")
	}
	if q.first, q.last, refused = readLinkedInDates(c.query["dateRange"]); refused != nil {
		return q, refused
	}
	if refused := c.readFacets(&q); refused != nil {
		return q, refused
	}
	text, given := c.query["fields"].(string)
	if q.fields = strings.Split(text, ","); !given {
		q.fields = []string{"impressions", "clicks"}
	}
	if len(q.fields) > linkedInMaxFields {
		return q, linkedInInvalid("At most " + strconv.Itoa(linkedInMaxFields) + " fields can be asked for.")
	}
	for _, name := range q.fields {
		if _, isMetric := linkedInMetrics[name]; !isMetric && name != "pivotValues" && name != "dateRange" {
			return q, linkedInInvalid("There is no field " + name + ".")
		}
	}
	return q, nil
}

// readFacets reads the campaigns or the account of the rows.
func (c *linkedInCall) readFacets(q *linkedInQuery) *linkedInError {
	if accounts, ok := restliTexts(c.query["accounts"]); ok {
		if !slices.Equal(accounts, []string{linkedInAccountURN + c.account.ID}) {
			return &linkedInError{403, 100, "ACCESS_DENIED", "Not enough permissions to access this account."}
		}
		return nil
	}
	campaigns, ok := restliTexts(c.query["campaigns"])
	if !ok || len(campaigns) == 0 || q.level == ByAccount {
		return linkedInInvalid("accounts or campaigns must be a list.")
	}
	for _, urn := range campaigns {
		id, is := strings.CutPrefix(urn, linkedInCampaignURN)
		if !is {
			return linkedInInvalid(urn + " is no campaign.")
		}
		q.campaigns = append(q.campaigns, id)
	}
	return nil
}

func readLinkedInDates(value any) (first, last clock.Date, refused *linkedInError) {
	refused = linkedInInvalid("dateRange must have a start and an end, each with year, month and day.")
	days := [2]clock.Date{}
	for i, name := range []string{"start", "end"} {
		whole, _ := value.(map[string]any)
		parts, _ := whole[name].(map[string]any)
		text := []string{}
		for _, part := range []string{"year", "month", "day"} {
			number, _ := parts[part].(string)
			if len(number) == 1 {
				number = "0" + number
			}
			text = append(text, number)
		}
		day, ok := clock.ParseDate(strings.Join(text, "-"))
		if !ok {
			return 0, 0, refused
		}
		days[i] = day
	}
	if days[1] < days[0] {
		return 0, 0, refused
	}
	return days[0], days[1], nil
}

func (c *linkedInCall) analytics() (any, *linkedInError) {
	q, refused := c.readAnalytics()
	if refused != nil {
		return nil, refused
	}
	type entry struct {
		pivots []string
		row    Row
	}
	entries, at := []*entry{}, map[string]*entry{}
	for row := range c.Rows(c.account, q.level, q.first, q.last) {
		if q.campaigns != nil && !slices.Contains(q.campaigns, row.Campaign.ID) {
			continue
		}
		pivots := []string{}
		for _, pivot := range q.pivots {
			pivots = append(pivots, c.pivotValue(&row, pivot))
		}
		key := row.Date.String() + strings.Join(pivots, "|")
		if known := at[key]; known != nil {
			known.row.Values = addValues(known.row.Values, row.Values)
			continue
		}
		at[key] = &entry{pivots, row}
		entries = append(entries, at[key])
	}
	elements := []any{}
	for _, e := range entries {
		elements = append(elements, encodeLinkedInRow(q, &e.row, e.pivots))
	}
	return map[string]any{"elements": elements, "paging": map[string]any{"start": 0, "count": 10, "links": []any{}}}, nil
}

// pivotValue returns the value of a pivot of a row.
func (c *linkedInCall) pivotValue(row *Row, pivot string) string {
	switch pivot {
	case "CAMPAIGN":
		return linkedInCampaignURN + row.Campaign.ID
	case "CREATIVE":
		return linkedInCreativeURN + row.Ad.ID
	case "MEMBER_COUNTRY_V2":
		return "urn:li:geo:" + linkedInGeos[row.Country]
	case "IMPRESSION_DEVICE_TYPE":
		return linkedInDevices[row.Device]
	}
	return linkedInAccountURN + c.account.ID
}

// encodeLinkedInRow returns a row in LinkedIn's format: amounts as strings,
// other metrics as numbers, unknown ones omitted.
func encodeLinkedInRow(q linkedInQuery, row *Row, pivots []string) map[string]any {
	element := map[string]any{}
	for _, name := range q.fields {
		m, isMetric := linkedInMetrics[name]
		n, known := row.Values.Get(m)
		switch {
		case name == "pivotValues":
			element[name] = pivots
		case name == "dateRange":
			year, month, day := row.Date.Calendar()
			date := map[string]any{"year": year, "month": int(month), "day": day}
			element[name] = map[string]any{"start": date, "end": date}
		case !isMetric || !known:
		case m.Money():
			element[name] = fact.Millionths(n).String()
		case m.Scaled():
			element[name] = n / million
		default:
			element[name] = n
		}
	}
	return element
}
