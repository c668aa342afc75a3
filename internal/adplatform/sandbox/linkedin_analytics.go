package sandbox

import (
	"slices"
	"strconv"
	"strings"

	"fanfare/internal/clock"
)

// linkedInMaxFields is the largest number of fields in a call.
const linkedInMaxFields = 20

// linkedInQuery is a report request.
type linkedInQuery struct {
	level          Level
	pivots, fields []string
	// accounts are those whose rows the member may read.
	accounts []*Account
	// campaigns, creatives and groups limit the rows, nil for all.
	campaigns, creatives, groups []string
	// objective and campaignType limit the campaigns, empty for all.
	objective, campaignType string
	granularity             string
	first, last             clock.Date
	// sortBy is a field, empty for the order of days.
	sortBy     string
	descending bool
}

// member reports whether the report is about members.
func (q *linkedInQuery) member() bool { return linkedInIsMember(q.pivots[0]) }

func (c *linkedInCall) readAnalytics() (q linkedInQuery, refused *linkedInError) {
	if refused := c.readPivots(&q); refused != nil {
		return q, refused
	}
	q.granularity = restliWord(c.query["timeGranularity"])
	if !slices.Contains([]string{"DAILY", "MONTHLY", "YEARLY", "ALL"}, q.granularity) {
		return q, linkedInInvalid("timeGranularity must be ALL, DAILY, MONTHLY or YEARLY.")
	}
	if q.first, q.last, refused = readLinkedInDates(c.query["dateRange"], c.Today(c.account)); refused != nil {
		return q, refused
	}
	if refused := c.readFacets(&q); refused != nil {
		return q, refused
	}
	if refused := c.readSort(&q); refused != nil {
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
		if !linkedInKnownField(name) {
			return q, linkedInInvalid("There is no field " + name + ".")
		}
	}
	return q, nil
}

// readPivots reads what separates the rows. The most detailed pivot counts.
func (c *linkedInCall) readPivots(q *linkedInQuery) *linkedInError {
	if c.query["q"] == "analytics" {
		q.pivots = []string{restliWord(c.query["pivot"])}
	} else {
		q.pivots, _ = restliTexts(c.query["pivots"])
	}
	if len(q.pivots) < 1 || len(q.pivots) > 3 {
		return linkedInInvalid("There must be one to three pivots.")
	}
	for _, pivot := range q.pivots {
		level, known := linkedInLevels[pivot]
		if !known && !linkedInOtherPivots[pivot] || c.query["q"] == "statistics" && linkedInIsMember(pivot) {
			return &linkedInError{Status: 400, Code: "FIELD_INVALID", Message: "The pivot " + pivot + " is not supported."}
		}
		q.level = max(q.level, level)
	}
	return nil
}

// readFacets reads which rows are wanted. Of accounts and campaigns that the
// member may not read there are none, as if they had no activity.
func (c *linkedInCall) readFacets(q *linkedInQuery) *linkedInError {
	q.objective, q.campaignType = restliWord(c.query["objectiveType"]), restliWord(c.query["campaignType"])
	given := false
	for name, facet := range map[string]struct {
		urn  string
		into *[]string
	}{
		"campaigns": {linkedInCampaignURN, &q.campaigns}, "creatives": {linkedInCreativeURN, &q.creatives}, "campaignGroups": {linkedInGroupURN, &q.groups},
	} {
		ids, there, refused := readLinkedInURNs(c.query[name], facet.urn)
		if refused != nil {
			return refused
		}
		given = given || there
		*facet.into = ids
	}
	accounts, there, refused := readLinkedInURNs(c.query["accounts"], linkedInAccountURN)
	if refused != nil {
		return refused
	}
	if !given && !there {
		return linkedInInvalid("accounts, campaigns, creatives or campaignGroups must be a list.")
	}
	open, err := c.Accounts(c.token)
	if err != nil {
		return linkedInDenied()
	}
	for _, a := range open {
		if (!there || slices.Contains(accounts, a.ID)) && !c.Behaves(a, linkedInNoAccess) {
			q.accounts = append(q.accounts, a)
		}
	}
	// Rows of a level above that of the wanted objects do not name them.
	if q.campaigns != nil || q.objective != "" {
		q.level = max(q.level, ByCampaign)
	}
	if q.creatives != nil && q.level < ByAd {
		q.level = ByAd
	}
	return nil
}

// readLinkedInURNs returns the ids of a list of URNs.
func readLinkedInURNs(value any, urn string) (ids []string, given bool, refused *linkedInError) {
	if value == nil {
		return nil, false, nil
	}
	urns, ok := restliTexts(value)
	if !ok || len(urns) == 0 {
		return nil, false, linkedInInvalid("A facet must be a list of URNs.")
	}
	for _, text := range urns {
		id, is := strings.CutPrefix(text, urn)
		if !is {
			return nil, false, linkedInInvalid(text + " must begin with " + urn + ".")
		}
		ids = append(ids, id)
	}
	return ids, true, nil
}

func (c *linkedInCall) readSort(q *linkedInQuery) *linkedInError {
	value, given := c.query["sortBy"]
	if !given {
		return nil
	}
	sorting, _ := value.(map[string]any)
	field, known := linkedInSortFields[restliWord(sorting["field"])]
	order := restliWord(sorting["order"])
	if !known || order != "ASCENDING" && order != "DESCENDING" {
		return linkedInInvalid("sortBy must have a field and an order.")
	}
	q.sortBy, q.descending = field, order == "DESCENDING"
	return nil
}

// readLinkedInDates reads the first and the last day, which is today if there is
// none.
func readLinkedInDates(value any, today clock.Date) (first, last clock.Date, refused *linkedInError) {
	refused = linkedInInvalid("dateRange must have a start and may have an end, each with year, month and day.")
	days := [2]clock.Date{0, today}
	whole, _ := value.(map[string]any)
	for i, name := range []string{"start", "end"} {
		parts, given := whole[name].(map[string]any)
		if !given && name == "end" && whole[name] == nil {
			continue
		}
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
