package sandbox

import (
	"slices"
	"strconv"
	"strings"

	"fanfare/internal/clock"
	"fanfare/internal/fact"
)

const (
	// linkedInMaxElements is the largest number of rows in an answer. The rows
	// beyond it are left out, and nothing says so.
	linkedInMaxElements = 15_000
	// linkedInReachDays is the longest date range with reach.
	linkedInReachDays = 92
	// linkedInFewest is the smallest count of members that is reported.
	linkedInFewest = 3
)

// linkedInEntry is one row of a report.
type linkedInEntry struct {
	account     *Account
	pivots      []string
	first, last clock.Date
	values      fact.Values
}

func (c *linkedInCall) analytics() (any, *linkedInError) {
	q, refused := c.readAnalytics()
	if refused != nil {
		return nil, refused
	}
	entries, at := []*linkedInEntry{}, map[string]*linkedInEntry{}
	for _, a := range q.accounts {
		for row := range c.Rows(q.limited(a), q.level, q.first, q.last) {
			if !q.wanted(a, &row) {
				continue
			}
			for _, e := range q.entriesOf(a, &row) {
				key := e.first.String() + strings.Join(e.pivots, "|")
				if known := at[key]; known != nil {
					known.values = addLinkedInValues(known.values, e.values)
					continue
				}
				at[key] = e
				entries = append(entries, e)
			}
		}
	}
	if q.member() {
		entries = c.withheld(entries)
	}
	sortLinkedIn(&q, entries)
	elements := []any{}
	for _, e := range entries[:min(len(entries), linkedInMaxElements)] {
		element := encodeLinkedInRow(&q, e)
		if c.Behaves(e.account, linkedInLongDecimals) {
			lengthenDecimals(element)
		}
		elements = append(elements, element)
	}
	return map[string]any{"elements": elements, "paging": map[string]any{"start": 0, "count": 10, "links": []any{}}}, nil
}

// addLinkedInValues adds what can be added.
func addLinkedInValues(a, b fact.Values) (sum fact.Values) {
	for m := range fact.Measure(fact.NumMeasures) {
		x, known := a.Get(m)
		y, also := b.Get(m)
		if known && also && m != fact.Reach {
			sum.Set(m, x+y)
		}
	}
	return sum
}

// limited returns the account with the wanted campaigns only, because rows of
// the others would be generated for nothing.
func (q *linkedInQuery) limited(a *Account) *Account {
	if q.campaigns == nil {
		return a
	}
	some := *a
	some.Campaigns = slices.DeleteFunc(slices.Clone(a.Campaigns), func(x *Campaign) bool { return !slices.Contains(q.campaigns, x.ID) })
	return &some
}

// wanted reports whether a row belongs to the wanted objects.
func (q *linkedInQuery) wanted(a *Account, row *Row) bool {
	switch {
	case q.creatives != nil && (row.Ad == nil || !slices.Contains(q.creatives, row.Ad.ID)),
		q.groups != nil && !slices.Contains(q.groups, a.ID),
		q.campaignType != "" && q.campaignType != linkedInCampaignType,
		q.objective != "" && (row.Campaign == nil || linkedInObjectives[row.Campaign.Kind] != q.objective):
		return false
	}
	return !slices.ContainsFunc(q.pivots, func(pivot string) bool { return linkedInOtherPivots[pivot] })
}

// entriesOf returns the entries of a row: one, or one per value of a pivot that
// splits it.
func (q *linkedInQuery) entriesOf(a *Account, row *Row) []*linkedInEntry {
	if members := linkedInMembers[q.pivots[0]]; members != nil {
		return q.splitEntry(a, row, linkedInMemberWeights, func(_ string, i int) string { return members[i] })
	}
	if slices.Contains(q.pivots, linkedInConversionPivot) {
		only := *row
		only.Values = fact.Values{}
		for _, m := range []fact.Measure{fact.Conversions, fact.Revenue} {
			only.Values.Set(m, row.Values.V[m])
		}
		if isZero(&only.Values) {
			return nil
		}
		return q.splitEntry(a, &only, linkedInRuleWeights, func(pivot string, i int) string {
			if pivot == linkedInConversionPivot {
				return linkedInRuleURN + a.ID + strconv.Itoa(i+1)
			}
			return linkedInPivotValue(a, row, pivot)
		})
	}
	return q.splitEntry(a, row, nil, func(pivot string, _ int) string { return linkedInPivotValue(a, row, pivot) })
}

// splitEntry returns the entries of a row whose metrics are split by weights, or
// one entry without weights. value returns the value of a pivot of an entry.
func (q *linkedInQuery) splitEntry(a *Account, row *Row, weights []int64, value func(pivot string, i int) string) []*linkedInEntry {
	first, last := q.bucket(row.Date)
	entries := make([]*linkedInEntry, max(1, len(weights)))
	for i := range entries {
		entries[i] = &linkedInEntry{account: a, first: first, last: last}
		for _, pivot := range q.pivots {
			entries[i].pivots = append(entries[i].pivots, value(pivot, i))
		}
	}
	if weights == nil {
		entries[0].values = row.Values
		return entries
	}
	parts := make([]int64, len(weights))
	for m := range fact.Measure(fact.NumMeasures) {
		n, known := row.Values.Get(m)
		if !known || m == fact.Reach {
			continue
		}
		step := int64(1)
		if m == fact.Conversions {
			step = a.traits.conversionStep
		}
		divide(n/step, weights, parts)
		for i := range entries {
			entries[i].values.Set(m, parts[i]*step)
		}
	}
	return entries
}

// bucket returns the days of the element that a day belongs to.
func (q *linkedInQuery) bucket(day clock.Date) (first, last clock.Date) {
	year, month, _ := day.Calendar()
	switch q.granularity {
	case "MONTHLY":
		return max(q.first, clock.MakeDate(year, month, 1)), min(q.last, clock.MakeDate(year, month+1, 1)-1)
	case "YEARLY":
		return max(q.first, clock.MakeDate(year, 1, 1)), min(q.last, clock.MakeDate(year+1, 1, 1)-1)
	case "ALL":
		return q.first, q.last
	}
	return day, day
}

// linkedInPivotValue returns the value of a pivot of a row.
func linkedInPivotValue(a *Account, row *Row, pivot string) string {
	switch pivot {
	case "CAMPAIGN":
		return linkedInCampaignURN + row.Campaign.ID
	case "CREATIVE":
		return linkedInCreativeURN + row.Ad.ID
	case linkedInCountryPivot:
		return "urn:li:geo:" + linkedInGeos[row.Country]
	case linkedInDevicePivot:
		return linkedInDevices[row.Device]
	case "COMPANY":
		return "urn:li:organization:" + a.ID
	case "CAMPAIGN_GROUP":
		return linkedInGroupURN + a.ID
	case "SERVING_LOCATION":
		return "ON_SITE"
	case "PLACEMENT_NAME":
		return "LINKEDIN_FEED"
	}
	return linkedInAccountURN + a.ID
}

// withheld leaves out what LinkedIn does not report about members: counts below
// linkedInFewest, and today, whose numbers come up to a day later.
func (c *linkedInCall) withheld(entries []*linkedInEntry) (kept []*linkedInEntry) {
	for _, e := range entries {
		if c.Behaves(e.account, linkedInLateMembers) && e.last >= c.Today(e.account) {
			continue
		}
		if c.Behaves(e.account, linkedInApproximate) {
			if e.values.V[fact.Impressions] < linkedInFewest {
				continue
			}
			var some fact.Values
			for m := range fact.Measure(fact.NumMeasures) {
				n, known := e.values.Get(m)
				if !known || !m.Scaled() && n < linkedInFewest {
					continue
				}
				if m == fact.Impressions {
					// Choice: LinkedIn does not publish how it approximates. The
					// sandbox rounds down to a multiple of the smallest count.
					n -= n % linkedInFewest
				}
				some.Set(m, n)
			}
			e.values = some
		}
		kept = append(kept, e)
	}
	return kept
}

func sortLinkedIn(q *linkedInQuery, entries []*linkedInEntry) {
	if q.sortBy == "" {
		return
	}
	m, isMetric := linkedInMetrics[q.sortBy]
	if !isMetric {
		return // the accounts have none of it
	}
	slices.SortStableFunc(entries, func(a, b *linkedInEntry) int {
		difference := int(a.values.V[m] - b.values.V[m])
		if q.descending {
			return -difference
		}
		return difference
	})
}

// encodeLinkedInRow returns a row in LinkedIn's format: amounts as strings,
// other metrics as numbers, unknown ones omitted.
func encodeLinkedInRow(q *linkedInQuery, e *linkedInEntry) map[string]any {
	element := map[string]any{}
	for _, name := range q.fields {
		switch {
		case slices.ContainsFunc(q.pivots, func(pivot string) bool { return linkedInAbsent(name, pivot) }):
		case name == "pivotValues":
			element[name] = e.pivots
		case name == "dateRange":
			element[name] = map[string]any{"start": linkedInDate(e.first), "end": linkedInDate(e.last)}
		case linkedInCounts[name]:
			element[name] = 0
		case name == "costInUsd":
			// Choice: one rate for all currencies, because rates are not
			// simulated.
			element[name] = fact.Millionths(e.values.V[fact.Spend]).String()
		case name == "audiencePenetration":
			if size := e.audienceSize(); size > 0 && q.last-q.first < linkedInReachDays && e.values.V[fact.Reach] > 0 {
				element[name] = float64(e.values.V[fact.Reach]) / float64(size)
			}
		default:
			if value, known := q.metric(name, e); known {
				element[name] = value
			}
		}
	}
	return element
}

// lengthenDecimals gives amounts as many decimals as sums of binary fractions
// have. Rounded to millionths, they are the same.
func lengthenDecimals(element map[string]any) {
	for _, name := range []string{"costInLocalCurrency", "costInUsd", "conversionValueInLocalCurrency"} {
		text, known := element[name].(string)
		whole, decimals, _ := strings.Cut(text, ".")
		if known && text != "0" {
			element[name] = whole + "." + (decimals + "000000")[:6] + "000000000335346"
		}
	}
}

func linkedInDate(d clock.Date) map[string]any {
	year, month, day := d.Calendar()
	return map[string]any{"year": year, "month": int(month), "day": day}
}

// metric returns a field of an entry that is a measure.
func (q *linkedInQuery) metric(name string, e *linkedInEntry) (value any, known bool) {
	if same := linkedInSameAs[name]; same != "" {
		name = same
	}
	m, isMetric := linkedInMetrics[name]
	n, known := e.values.Get(m)
	switch {
	case !isMetric || !known || m == fact.Reach && q.last-q.first >= linkedInReachDays:
		return nil, false
	case m.Money():
		return fact.Millionths(n).String(), true
	case m.Scaled():
		return n / million, true
	}
	return n, true
}

// audienceSize returns the size of the account's audiences.
func (e *linkedInEntry) audienceSize() (size int64) {
	for _, x := range e.account.Audiences {
		size += x.Size
	}
	return size
}
