// Package analytics defines the catalog of metrics and dimensions, the query,
// and how sums of facts become an answer. It uses no SQL; store.go declares the
// interfaces that it needs.
package analytics

import (
	"fanfare/internal/fact"
)

// Format is the display format of a metric.
type Format string

// The formats.
const (
	FormatCount    Format = "count"
	FormatDecimal  Format = "decimal"
	FormatCurrency Format = "currency"
	FormatRatio    Format = "ratio"
	FormatNumber   Format = "number"
)

// Additivity says whether values of several rows can be added up.
type Additivity string

// The kinds of additivity.
const (
	Additive    Additivity = "additive"
	NonAdditive Additivity = "non_additive"
	// Derived metrics are calculated from the sums of other metrics.
	Derived Additivity = "derived"
)

// Metric is one entry of the catalog.
type Metric struct {
	Name        string     `json:"name"`
	Label       string     `json:"label"`
	Description string     `json:"description"`
	Format      Format     `json:"format"`
	Additivity  Additivity `json:"additivity"`
	Formula     string     `json:"formula"`

	// needs are the measures that the metric is calculated from.
	needs []fact.Measure
	// A derived metric is factor × (over − less) / under. Only return on
	// investment uses less.
	over, under, less *fact.Measure
	factor            int64
	special           special
}

// special marks metrics that are not a plain quotient of sums.
type special uint8

const (
	// ofTotal divides a measure by its total over the whole result.
	ofTotal special = iota + 1
	// againstPlan divides spend by planned spend.
	againstPlan
)

func measure(v fact.Measure, label, description string, format Format) Metric {
	a := Additive
	if v == fact.Reach {
		a = NonAdditive
	}
	return Metric{Name: v.String(), Label: label, Description: description, Format: format, Additivity: a, needs: []fact.Measure{v}}
}

func quotient(name, label, description, formula string, format Format, over, under fact.Measure) Metric {
	return Metric{
		Name: name, Label: label, Description: description, Formula: formula, Format: format, Additivity: Derived,
		needs: []fact.Measure{over, under}, over: new(over), under: new(under), factor: 1,
	}
}

// Metrics is the catalog in display order. The planner, the schema, the
// documentation and the console all use it.
var Metrics = []Metric{
	measure(fact.Impressions, "Impressions", "How often ads were shown.", FormatCount),
	measure(fact.Clicks, "Clicks", "Clicks on ads, as the platform counts them.", FormatCount),
	measure(fact.Spend, "Spend", "What the platforms charged.", FormatCurrency),
	measure(fact.Conversions, "Conversions", "Wanted actions that the platform credits to ads; platforms may credit a part of one.", FormatDecimal),
	measure(fact.Revenue, "Revenue", "The value of the conversions.", FormatCurrency),
	measure(fact.Leads, "Leads", "Contacts that were won.", FormatCount),
	measure(fact.Engagements, "Engagements", "Likes, shares, comments and other reactions.", FormatCount),
	measure(fact.VideoViews, "Video views", "Views of videos, as the platform counts them.", FormatCount),
	measure(fact.VideoCompletions, "Video completions", "Videos that were watched to the end.", FormatCount),
	measure(fact.Sends, "Sends", "Messages that were sent.", FormatCount),
	measure(fact.Deliveries, "Deliveries", "Messages that arrived.", FormatCount),
	measure(fact.Opens, "Opens", "Messages that were opened.", FormatCount),
	measure(fact.Bounces, "Bounces", "Messages that could not be delivered.", FormatCount),
	measure(fact.Unsubscribes, "Unsubscribes", "Recipients who want no more messages.", FormatCount),
	measure(fact.Complaints, "Complaints", "Recipients who called a message spam.", FormatCount),
	measure(fact.Reach, "Reach", "Different people who saw an ad: the platform's value for exactly this slice.", FormatCount),
	quotient("ctr", "Click-through rate", "Clicks per impression.", "clicks / impressions", FormatRatio, fact.Clicks, fact.Impressions),
	quotient("cpc", "Cost per click", "Spend per click.", "spend / clicks", FormatCurrency, fact.Spend, fact.Clicks),
	{
		Name: "cpm", Label: "Cost per mille", Description: "Spend per thousand impressions.", Formula: "1000 * spend / impressions", Format: FormatCurrency, Additivity: Derived,
		needs: []fact.Measure{fact.Spend, fact.Impressions}, over: new(fact.Spend), under: new(fact.Impressions), factor: 1000,
	},
	quotient("cpa", "Cost per acquisition", "Spend per conversion.", "spend / conversions", FormatCurrency, fact.Spend, fact.Conversions),
	quotient("cpl", "Cost per lead", "Spend per lead.", "spend / leads", FormatCurrency, fact.Spend, fact.Leads),
	quotient("cvr", "Conversion rate", "Conversions per click.", "conversions / clicks", FormatRatio, fact.Conversions, fact.Clicks),
	quotient("roas", "Return on ad spend", "Revenue per unit of spend.", "revenue / spend", FormatNumber, fact.Revenue, fact.Spend),
	{
		Name: "roi", Label: "Return on investment", Description: "Profit per unit of spend.", Formula: "(revenue - spend) / spend", Format: FormatNumber, Additivity: Derived,
		needs: []fact.Measure{fact.Revenue, fact.Spend}, over: new(fact.Revenue), less: new(fact.Spend), under: new(fact.Spend), factor: 1,
	},
	quotient("aov", "Average order value", "Revenue per conversion.", "revenue / conversions", FormatCurrency, fact.Revenue, fact.Conversions),
	quotient("engagement_rate", "Engagement rate", "Engagements per impression.", "engagements / impressions", FormatRatio, fact.Engagements, fact.Impressions),
	quotient("cpe", "Cost per engagement", "Spend per engagement.", "spend / engagements", FormatCurrency, fact.Spend, fact.Engagements),
	quotient("cpv", "Cost per view", "Spend per video view.", "spend / video_views", FormatCurrency, fact.Spend, fact.VideoViews),
	quotient("video_completion_rate", "Video completion rate", "Completions per video view.", "video_completions / video_views", FormatRatio, fact.VideoCompletions, fact.VideoViews),
	quotient("frequency", "Frequency", "Impressions per person reached.", "impressions / reach", FormatNumber, fact.Impressions, fact.Reach),
	quotient("delivery_rate", "Delivery rate", "Deliveries per message sent.", "deliveries / sends", FormatRatio, fact.Deliveries, fact.Sends),
	quotient("bounce_rate", "Bounce rate", "Bounces per message sent.", "bounces / sends", FormatRatio, fact.Bounces, fact.Sends),
	quotient("open_rate", "Open rate", "Opens per message delivered.", "opens / deliveries", FormatRatio, fact.Opens, fact.Deliveries),
	quotient("unsubscribe_rate", "Unsubscribe rate", "Unsubscribes per message delivered.", "unsubscribes / deliveries", FormatRatio, fact.Unsubscribes, fact.Deliveries),
	quotient("complaint_rate", "Complaint rate", "Complaints per message delivered.", "complaints / deliveries", FormatRatio, fact.Complaints, fact.Deliveries),
	{
		Name: "spend_share", Label: "Share of spend", Description: "The row's part of the result's spend.", Formula: "spend / total spend of the result", Format: FormatRatio, Additivity: Derived,
		needs: []fact.Measure{fact.Spend}, over: new(fact.Spend), special: ofTotal,
	},
	{
		Name: "conversion_share", Label: "Share of conversions", Description: "The row's part of the result's conversions.", Formula: "conversions / total conversions of the result", Format: FormatRatio, Additivity: Derived,
		needs: []fact.Measure{fact.Conversions}, over: new(fact.Conversions), special: ofTotal,
	},
	{
		Name: "pacing", Label: "Pacing", Description: "Spend to date against an even plan; 1 is on plan. Only by campaign, and null on a flight's first day, while paused and outside the flight.",
		Formula: "spend to date / planned spend to date", Format: FormatNumber, Additivity: Derived, needs: []fact.Measure{fact.Spend}, special: againstPlan,
	},
}

// metrics has the catalog by name.
var metrics = func() map[string]*Metric {
	byName := map[string]*Metric{}
	for i := range Metrics {
		byName[Metrics[i].Name] = &Metrics[i]
	}
	return byName
}()

// Dimension is an attribute to group and filter rows by.
type Dimension struct {
	Name        string `json:"name"`
	Label       string `json:"label"`
	Description string `json:"description"`
	// Identifies means that values are ids, with names as labels.
	Identifies bool     `json:"identifies"`
	Allowed    []string `json:"allowed,omitzero"`

	// families are the report families that have the dimension.
	families []fact.Family
}

var (
	everyFamily = []fact.Family{fact.Base, fact.Geo, fact.Demographic, fact.Device}
	baseOnly    = []fact.Family{fact.Base}
)

// Weekdays are the values of the dimension weekday, starting on Monday.
var Weekdays = []string{"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"}

// Dimensions is the catalog of dimensions.
var Dimensions = []Dimension{
	{Name: "campaign_id", Label: "Campaign", Description: "Our campaign; null where a platform's campaign is linked to none, with its own name as the label.", Identifies: true, families: everyFamily},
	{Name: "campaign_name", Label: "Campaign name", Description: "Our name of the campaign, else the platform's.", families: everyFamily},
	{Name: "campaign_status", Label: "Campaign status", Description: "The status of our campaign.", families: everyFamily},
	{Name: "objective", Label: "Objective", Description: "The objective of our campaign.", families: everyFamily},
	{Name: "tag", Label: "Tag", Description: "A tag of our campaign. A campaign with two tags is in two rows.", families: everyFamily},
	{Name: "channel", Label: "Channel", Description: "The kind of advertising.", Allowed: fact.Channels, families: everyFamily},
	{Name: "platform", Label: "Platform", Description: "Where the numbers come from.", families: everyFamily},
	{Name: "connection_id", Label: "Connection", Description: "The connection that brought the numbers.", Identifies: true, families: everyFamily},
	{Name: "account_id", Label: "Account", Description: "The platform's own id of the account.", families: everyFamily},
	{Name: "creative_id", Label: "Creative", Description: "Our creative; null where a platform's ad is linked to none, with its own name as the label.", Identifies: true, families: baseOnly},
	{Name: "creative_name", Label: "Creative name", Description: "Our name of the creative, else the platform's.", families: baseOnly},
	{Name: "creative_type", Label: "Creative type", Description: "The type of our creative.", families: baseOnly},
	{Name: "audience_id", Label: "Audience", Description: "Our audience; null where a platform's audience is linked to none, with its own name as the label.", Identifies: true, families: everyFamily},
	{Name: "audience_name", Label: "Audience name", Description: "Our name of the audience, else the platform's.", families: everyFamily},
	{Name: "country", Label: "Country", Description: "ISO 3166 code of the country.", families: []fact.Family{fact.Geo}},
	{Name: "age_range", Label: "Age", Description: "The range of ages.", Allowed: fact.AgeRanges, families: []fact.Family{fact.Demographic}},
	{Name: "gender", Label: "Gender", Description: "The gender, as the platform tells it.", Allowed: fact.Genders, families: []fact.Family{fact.Demographic}},
	{Name: "device", Label: "Device", Description: "The kind of device.", Allowed: fact.Devices, families: []fact.Family{fact.Device}},
	{Name: "weekday", Label: "Day of the week", Description: "The day of the week.", Allowed: Weekdays, families: everyFamily},
}

// variantDimension is for internal queries only.
var variantDimension = Dimension{Name: DimensionVariant, families: baseOnly}

// dimensions has the dimensions by name.
var dimensions = func() map[string]*Dimension {
	byName := map[string]*Dimension{}
	for i := range Dimensions {
		byName[Dimensions[i].Name] = &Dimensions[i]
	}
	return byName
}()
