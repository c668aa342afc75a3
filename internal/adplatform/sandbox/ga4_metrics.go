package sandbox

import (
	"slices"
	"strings"

	"fanfare/internal/fact"
)

// ga4Sums are the additive amounts of a row, all in millionths.
type ga4Sums struct {
	cost, revenue, purchases, leads, sessions int64
	// keyEvents and keyLeads are what counts as a key event: leads do so from
	// the day on which they were marked.
	keyEvents, keyLeads int64
	// events is the number of all events.
	events int64
}

// newGA4Sums returns the amounts of a row.
//
// Choice: sessions follow from key events and cost; a property has no others.
func newGA4Sums(v *fact.Values, leadsCount bool) ga4Sums {
	n := ga4Sums{cost: v.V[fact.Spend], revenue: v.V[fact.Revenue]}
	n.leads = v.V[fact.Conversions] / 10 * ga4LeadTenths
	n.purchases = v.V[fact.Conversions] - n.leads
	n.keyEvents = n.purchases
	if leadsCount {
		n.keyLeads = n.leads
		n.keyEvents += n.leads
	}
	n.sessions = 25*v.V[fact.Conversions] + 2*n.cost
	n.events = 5*n.sessions + v.V[fact.Conversions]
	return n
}

func (n *ga4Sums) add(m ga4Sums) {
	n.cost += m.cost
	n.revenue += m.revenue
	n.purchases += m.purchases
	n.leads += m.leads
	n.sessions += m.sessions
	n.keyEvents += m.keyEvents
	n.keyLeads += m.keyLeads
	n.events += m.events
}

// scaled returns all amounts times a factor in millionths.
func (n ga4Sums) scaled(factor int64) ga4Sums {
	for _, p := range []*int64{&n.cost, &n.revenue, &n.purchases, &n.leads, &n.sessions, &n.keyEvents, &n.keyLeads, &n.events} {
		*p = applyFactor(*p, factor)
	}
	return n
}

// minus returns the difference.
func (n ga4Sums) minus(m ga4Sums) ga4Sums {
	return ga4Sums{
		n.cost - m.cost, n.revenue - m.revenue, n.purchases - m.purchases, n.leads - m.leads,
		n.sessions - m.sessions, n.keyEvents - m.keyEvents, n.keyLeads - m.keyLeads, n.events - m.events,
	}
}

// byEvent returns the amounts by event name. Revenue belongs to purchases, cost
// to no event.
func (n ga4Sums) byEvent() map[string]ga4Sums {
	return map[string]ga4Sums{
		ga4Purchase:     {revenue: n.revenue, purchases: n.purchases, sessions: n.purchases, keyEvents: n.keyEvents - n.keyLeads, events: n.purchases},
		ga4Lead:         {leads: n.leads, sessions: n.leads, keyEvents: n.keyLeads, keyLeads: n.keyLeads, events: n.leads},
		"session_start": {sessions: n.sessions, events: n.sessions},
		"page_view":     {sessions: n.sessions, events: 3 * n.sessions},
		"first_visit":   {sessions: n.sessions / 2, events: n.events - 4*n.sessions - n.purchases - n.leads},
	}
}

// ga4Metric is a metric. Restricted is the kind of data that roles can hide.
type ga4Metric struct {
	kind, restricted string
	of               func(n *ga4Sums) int64
}

const (
	ga4Integer  = "TYPE_INTEGER"
	ga4Float    = "TYPE_FLOAT"
	ga4Currency = "TYPE_CURRENCY"
	ga4Seconds  = "TYPE_SECONDS"

	ga4CostData    = "COST_DATA"
	ga4RevenueData = "REVENUE_DATA"
)

// ratio divides two amounts. The result is in millionths.
func ga4Ratio(part, whole int64) int64 {
	switch {
	case whole <= 0:
		return 0
	case part < 0:
		return -ga4Ratio(-part, whole)
	}
	return mulDiv(part, million, whole)
}

func (n *ga4Sums) users() int64       { return n.sessions / 10 * 8 }
func (n *ga4Sums) newUsers() int64    { return n.sessions / 2 }
func (n *ga4Sums) engaged() int64     { return n.sessions / 10 * 6 }
func (n *ga4Sums) views() int64       { return 3 * n.sessions }
func (n *ga4Sums) engagement() int64  { return 45 * n.sessions }
func (n *ga4Sums) adClicks() int64    { return n.cost / 4 * 5 }
func (n *ga4Sums) impressions() int64 { return 50 * n.adClicks() }

// ga4Metrics are the metrics by name.
var ga4Metrics = func() map[string]ga4Metric {
	all := map[string]ga4Metric{
		"keyEvents":                 {ga4Float, "", func(n *ga4Sums) int64 { return n.keyEvents }},
		"keyEvents:" + ga4Purchase:  {ga4Float, "", func(n *ga4Sums) int64 { return n.keyEvents - n.keyLeads }},
		"keyEvents:" + ga4Lead:      {ga4Float, "", func(n *ga4Sums) int64 { return n.keyLeads }},
		"totalRevenue":              {ga4Currency, ga4RevenueData, func(n *ga4Sums) int64 { return n.revenue }},
		"purchaseRevenue":           {ga4Currency, ga4RevenueData, func(n *ga4Sums) int64 { return n.revenue }},
		"grossPurchaseRevenue":      {ga4Currency, ga4RevenueData, func(n *ga4Sums) int64 { return n.revenue }},
		"averagePurchaseRevenue":    {ga4Currency, ga4RevenueData, func(n *ga4Sums) int64 { return ga4Ratio(n.revenue, n.purchases) }},
		"averageRevenuePerUser":     {ga4Currency, ga4RevenueData, func(n *ga4Sums) int64 { return ga4Ratio(n.revenue, n.users()) }},
		"transactions":              {ga4Integer, "", func(n *ga4Sums) int64 { return n.purchases }},
		"ecommercePurchases":        {ga4Integer, "", func(n *ga4Sums) int64 { return n.purchases }},
		"sessions":                  {ga4Integer, "", func(n *ga4Sums) int64 { return n.sessions }},
		"engagedSessions":           {ga4Integer, "", (*ga4Sums).engaged},
		"totalUsers":                {ga4Integer, "", (*ga4Sums).users},
		"activeUsers":               {ga4Integer, "", (*ga4Sums).users},
		"newUsers":                  {ga4Integer, "", (*ga4Sums).newUsers},
		"eventCount":                {ga4Integer, "", func(n *ga4Sums) int64 { return n.events }},
		"screenPageViews":           {ga4Integer, "", (*ga4Sums).views},
		"userEngagementDuration":    {ga4Seconds, "", (*ga4Sums).engagement},
		"engagementRate":            {ga4Float, "", func(n *ga4Sums) int64 { return ga4Ratio(n.engaged(), n.sessions) }},
		"bounceRate":                {ga4Float, "", func(n *ga4Sums) int64 { return ga4Ratio(n.sessions-n.engaged(), n.sessions) }},
		"averageSessionDuration":    {ga4Seconds, "", func(n *ga4Sums) int64 { return ga4Ratio(n.engagement(), n.sessions) }},
		"sessionsPerUser":           {ga4Float, "", func(n *ga4Sums) int64 { return ga4Ratio(n.sessions, n.users()) }},
		"eventsPerSession":          {ga4Float, "", func(n *ga4Sums) int64 { return ga4Ratio(n.events, n.sessions) }},
		"eventCountPerUser":         {ga4Float, "", func(n *ga4Sums) int64 { return ga4Ratio(n.events, n.users()) }},
		"screenPageViewsPerSession": {ga4Float, "", func(n *ga4Sums) int64 { return ga4Ratio(n.views(), n.sessions) }},
		"screenPageViewsPerUser":    {ga4Float, "", func(n *ga4Sums) int64 { return ga4Ratio(n.views(), n.users()) }},
		"sessionKeyEventRate":       {ga4Float, "", func(n *ga4Sums) int64 { return ga4Ratio(n.keyEvents, n.sessions) }},
		"userKeyEventRate":          {ga4Float, "", func(n *ga4Sums) int64 { return ga4Ratio(n.keyEvents, n.users()) }},

		"advertiserAdCost":            {ga4Currency, ga4CostData, func(n *ga4Sums) int64 { return n.cost }},
		"advertiserAdClicks":          {ga4Integer, "", (*ga4Sums).adClicks},
		"advertiserAdImpressions":     {ga4Integer, "", (*ga4Sums).impressions},
		"advertiserAdCostPerClick":    {ga4Currency, ga4CostData, func(n *ga4Sums) int64 { return ga4Ratio(n.cost, n.adClicks()) }},
		"advertiserAdCostPerKeyEvent": {ga4Currency, ga4CostData, func(n *ga4Sums) int64 { return ga4Ratio(n.cost, n.keyEvents) }},
		"returnOnAdSpend":             {ga4Float, ga4CostData, func(n *ga4Sums) int64 { return ga4Ratio(n.revenue, n.cost) }},
	}
	for name := range strings.FieldsSeq(ga4EmptyMetrics) {
		m := ga4Metric{ga4Integer, "", func(*ga4Sums) int64 { return 0 }}
		switch {
		case slices.ContainsFunc([]string{"Revenue", "Amount"}, func(word string) bool { return strings.Contains(name, word) }):
			m.kind, m.restricted = ga4Currency, ga4RevenueData
		case strings.Contains(name, "Per") || strings.HasSuffix(name, "Rate") || strings.Contains(name, "organicGoogleSearchAverage"):
			m.kind = ga4Float
		}
		all[name] = m
	}
	for old, name := range ga4DeprecatedMetrics {
		all[old] = all[name]
	}
	return all
}()

// ga4AdMetrics are the metrics of linked ad accounts, which GA4 keeps for 36
// months only.
var ga4AdMetrics = []string{
	"advertiserAdCost", "advertiserAdClicks", "advertiserAdImpressions", "advertiserAdCostPerClick", "advertiserAdCostPerKeyEvent", "returnOnAdSpend",
}

// ga4DeprecatedMetrics are the former names of metrics, which are still taken.
var ga4DeprecatedMetrics = map[string]string{
	"conversions": "keyEvents", "conversions:" + ga4Purchase: "keyEvents:" + ga4Purchase, "conversions:" + ga4Lead: "keyEvents:" + ga4Lead,
	"sessionConversionRate": "sessionKeyEventRate", "userConversionRate": "userKeyEventRate", "advertiserAdCostPerConversion": "advertiserAdCostPerKeyEvent",
}

// ga4EmptyMetrics are the metrics that the properties have no values of.
const ga4EmptyMetrics = `
active1DayUsers active28DayUsers active7DayUsers adUnitExposure addToCarts averagePurchaseRevenuePerPayingUser
averagePurchaseRevenuePerUser cartToViewRate checkouts cohortActiveUsers cohortTotalUsers crashAffectedUsers
crashFreeUsersRate dauPerMau dauPerWau firstTimePurchaserRate firstTimePurchasers firstTimePurchasersPerNewUser
grossItemRevenue itemDiscountAmount itemListClickEvents itemListClickThroughRate itemListViewEvents
itemPromotionClickThroughRate itemRefundAmount itemRevenue itemViewEvents itemsAddedToCart itemsCheckedOut
itemsClickedInList itemsClickedInPromotion itemsPurchased itemsViewed itemsViewedInList itemsViewedInPromotion
organicGoogleSearchAveragePosition organicGoogleSearchClickThroughRate organicGoogleSearchClicks
organicGoogleSearchImpressions promotionClicks promotionViews publisherAdClicks publisherAdImpressions
purchaseToViewRate purchaserRate refundAmount scrolledUsers shippingAmount taxAmount totalAdRevenue totalPurchasers
transactionsPerPurchaser wauPerMau
`
