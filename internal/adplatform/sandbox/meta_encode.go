package sandbox

import (
	"cmp"
	"slices"
	"strconv"

	"fanfare/internal/fact"
	"fanfare/internal/money"
)

var (
	metaDevices   = map[string]string{"desktop": "desktop", "mobile": "android_smartphone", "tablet": "ipad", "tv": "smart_tv", "other": "other", "unknown": "unknown"}
	metaPlatforms = map[string]string{"desktop": "desktop", "mobile": "mobile_app", "tv": "connected_tv", "other": "unknown", "unknown": "unknown"}
	metaScalars   = map[string]fact.Measure{
		"impressions": fact.Impressions, "clicks": fact.Clicks, "spend": fact.Spend, "reach": fact.Reach, "inline_post_engagement": fact.Engagements,
		"inline_link_clicks": fact.Clicks,
	}
	// metaRatios are the metrics that are computed from others: a factor, the
	// number above and the one below.
	metaRatios = map[string]struct {
		factor       float64
		above, below fact.Measure
	}{
		"cpc": {1, fact.Spend, fact.Clicks}, "cpm": {1000, fact.Spend, fact.Impressions}, "cpp": {1000, fact.Spend, fact.Reach}, "ctr": {100, fact.Clicks, fact.Impressions},
		"frequency": {1, fact.Impressions, fact.Reach}, "inline_link_click_ctr": {100, fact.Clicks, fact.Impressions},
		"cost_per_inline_link_click": {1, fact.Spend, fact.Clicks}, "cost_per_inline_post_engagement": {1, fact.Spend, fact.Engagements},
	}
	// metaReachFields are absent from breakdowns that begin more than 13 months
	// ago.
	metaReachFields = []string{"reach", "frequency", "cpp"}
	// metaOneValue are the values of breakdowns that the sandbox does not tell
	// apart; the others are unknown.
	metaOneValue = map[string]string{"publisher_platform": "facebook", "platform_position": "feed"}
	// metaOffsiteMissing are the breakdowns without actions outside of Meta.
	metaOffsiteMissing = []string{
		"region", "dma", "comscore_market", "hourly_stats_aggregated_by_advertiser_time_zone", "hourly_stats_aggregated_by_audience_time_zone",
	}
)

// metaAction is an action of a row: one that an ad leads to. Of the types of one
// event each contains the one before it, so that they must not be added.
type metaAction struct {
	field, kind string
	measure     fact.Measure
	// times and part are the factors of its number.
	times, part int64
}

// metaBasicActions are the actions of every account.
var metaBasicActions = []metaAction{
	{"actions", "link_click", fact.Clicks, 1, 1},
	{"actions", "post_engagement", fact.Engagements, 1, 1},
	{"video_play_actions", "video_view", fact.VideoViews, 1, 1},
	{"video_thruplay_watched_actions", "video_view", fact.VideoViews, 1, 1},
	{"video_15_sec_watched_actions", "video_view", fact.VideoViews, 1, 1},
	{"video_p100_watched_actions", "video_view", fact.VideoCompletions, 1, 1},
}

// metaEvents are the events that an account can count as results, by the value
// of the switch: the goal of its ad sets, their event, and the types of the
// actions, the narrowest first. Those of some events are in the field
// conversions.
var metaEvents = map[string]struct {
	goal, event, counts, values string
	types                       []string
}{
	"":             {"OFFSITE_CONVERSIONS", "PURCHASE", "actions", "action_values", []string{"offsite_conversion.fb_pixel_purchase", "purchase", "omni_purchase"}},
	"lead":         {"LEAD_GENERATION", "", "actions", "action_values", []string{"onsite_conversion.lead_grouped", "lead"}},
	"registration": {"OFFSITE_CONVERSIONS", "COMPLETE_REGISTRATION", "actions", "action_values", []string{"offsite_conversion.fb_pixel_complete_registration", "complete_registration", "omni_complete_registration"}},
	"install":      {"APP_INSTALLS", "", "actions", "action_values", []string{"app_install", "mobile_app_install", "omni_app_install"}},
	"message":      {"CONVERSATIONS", "", "actions", "action_values", []string{"onsite_conversion.messaging_conversation_started_7d"}},
	"subscribe":    {"OFFSITE_CONVERSIONS", "SUBSCRIBE", "conversions", "conversion_values", []string{"subscribe_website", "subscribe_total"}},
	"none":         {"LINK_CLICKS", "", "", "", nil},
}

// goalOf returns the optimization goal of the ad sets of a campaign, and their
// event.
func (c metaCall) goalOf(a *Account, campaign *Campaign) (goal, event string) {
	of := metaGoals[campaign.Kind]
	if of.event == "" {
		return of.goal, ""
	}
	e := metaEvents[c.Behavior(a, metaResultEvents)]
	return e.goal, e.event
}

// actionsOf returns the actions that an account reports, by field.
func (c metaCall) actionsOf(a *Account) map[string][]metaAction {
	fields := map[string][]metaAction{}
	add := func(list ...metaAction) {
		for _, action := range list {
			fields[action.field] = append(fields[action.field], action)
		}
	}
	add(metaBasicActions...)
	e := metaEvents[c.Behavior(a, metaResultEvents)]
	for i, kind := range e.types {
		part := int64(1)
		if i < len(e.types)-1 {
			part = 2
		}
		add(metaAction{e.counts, kind, fact.Conversions, 1, part}, metaAction{e.values, kind, fact.Revenue, 1, part})
	}
	if len(e.types) > 0 {
		add(metaAction{"actions", "add_to_cart", fact.Conversions, 3, 1}, metaAction{"actions", "omni_add_to_cart", fact.Conversions, 3, 1})
	}
	return fields
}

// metaEncoder writes the rows of a report in Meta's format.
type metaEncoder struct {
	account *Account
	report  *metaReport
	actions map[string][]metaAction
	// objective returns the objective of a campaign.
	objective func(campaign *Campaign) string
	// withoutReach and withoutOffsite say that the breakdowns have no reach, or
	// no actions outside of Meta.
	withoutReach, withoutOffsite bool
}

func (c metaCall) newEncoder(a *Account, r *metaReport) *metaEncoder {
	oldest := c.Today(a).Time().AddDate(0, -metaReachMonths, 0)
	return &metaEncoder{
		account: a, report: r, actions: c.actionsOf(a), objective: func(campaign *Campaign) string { return c.objectiveOf(a, campaign) },
		withoutReach:   len(r.breakdowns) > 0 && r.first.Time().Before(oldest),
		withoutOffsite: slices.ContainsFunc(r.breakdowns, func(name string) bool { return slices.Contains(metaOffsiteMissing, name) }),
	}
}

// encodeRow returns a row in Meta's format: every metric a string, without
// actions that did not happen.
func (e *metaEncoder) encodeRow(row Row, days metaSpan, fields []string) map[string]any {
	object := map[string]any{"date_start": days.First.String(), "date_stop": days.Last.String()}
	names := metaEntities(e.account, row)
	if row.Campaign != nil {
		names["objective"] = e.objective(row.Campaign)
	}
	if e.report.level == "campaign" {
		delete(names, "adset_id")
		delete(names, "adset_name")
	}
	for _, name := range fields {
		if e.withoutReach && slices.Contains(metaReachFields, name) {
			continue
		}
		if text, ok := names[name]; ok {
			object[name] = text
		}
		if m, ok := metaScalars[name]; ok {
			if n, known := row.Values.Get(m); known {
				object[name] = formatMetaMetric(e.account, m, n)
			}
		}
		if text := metaRatio(row, name); text != "" {
			object[name] = text
		}
		if list := slices.Concat(e.encodeActions(row, name), e.encodeRatios(row, name)); len(list) > 0 {
			object[name] = list
		}
	}
	for _, name := range e.report.breakdowns {
		object[name] = cmp.Or(e.report.partValue(name, row), breakdownValue(name, row))
	}
	return object
}

// breakdownValue returns the value of a breakdown in a row.
func breakdownValue(name string, row Row) string {
	switch name {
	case "country":
		return row.Country
	case "age":
		return row.AgeRange
	case "gender":
		return row.Gender
	case "impression_device":
		return metaDevices[row.Device]
	case "device_platform":
		return metaPlatforms[row.Device]
	}
	if value, ok := metaOneValue[name]; ok {
		return value
	}
	return "unknown"
}

// metaRatio returns a metric that is computed from others, empty for a name that
// is none or a division by zero.
func metaRatio(row Row, name string) string {
	ratio, ok := metaRatios[name]
	if !ok {
		return ""
	}
	number := func(m fact.Measure) float64 {
		n, _ := row.Values.Get(m)
		if m.Scaled() {
			return float64(n) / million
		}
		return float64(n)
	}
	below := number(ratio.below)
	if below == 0 {
		return ""
	}
	return strconv.FormatFloat(ratio.factor*number(ratio.above)/below, 'f', 6, 64)
}

// metaEntities returns the ids and names in a row.
func metaEntities(a *Account, row Row) map[string]string {
	names := map[string]string{
		"account_id": a.ID, "account_name": a.Name, "account_currency": a.Set.Currency, "buying_type": "AUCTION", "attribution_setting": "7d_click_1d_view",
	}
	group := row.Group
	if row.Ad != nil {
		names["ad_id"], names["ad_name"] = row.Ad.ID, row.Ad.Name
		group = row.Ad.Group
	} else if row.Campaign != nil && group == nil {
		names["ad_id"], names["ad_name"] = row.Campaign.ID+"00", "Deleted ad"
	}
	if row.Campaign != nil {
		names["campaign_id"], names["campaign_name"] = row.Campaign.ID, row.Campaign.Name
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

// encodeActions returns the list of actions of a field.
func (e *metaEncoder) encodeActions(row Row, field string) (list []any) {
	for _, k := range e.actions[field] {
		n, _ := row.Values.Get(k.measure)
		step := int64(1)
		switch {
		case k.measure.Money():
			step = e.account.traits.moneyStep
		case k.measure.Scaled():
			step = e.account.traits.conversionStep
		}
		n = n / step * k.times / k.part * step
		if n == 0 || e.withoutOffsite && k.measure.Scaled() {
			continue
		}
		action := map[string]any{"action_type": k.kind, "value": formatMetaMetric(e.account, k.measure, n)}
		for _, window := range e.report.windows {
			// The value follows the ad set's own setting, 7d_click and 1d_view:
			// each window alone has less.
			if window == "7d_click" || window == "28d_click" {
				action[window] = formatMetaMetric(e.account, k.measure, n/step*3/4*step)
			}
		}
		list = append(list, action)
	}
	return list
}

// metaValueRatios are the fields that divide the value of an action by the spend,
// with the type of the action.
var metaValueRatios = map[string]string{"purchase_roas": "omni_purchase", "website_purchase_roas": "offsite_conversion.fb_pixel_purchase"}

// encodeRatios returns the list of a field that relates actions to the spend: the
// costs of each action, or the return on it.
func (e *metaEncoder) encodeRatios(row Row, field string) (list []any) {
	spend, _ := row.Values.Get(fact.Spend)
	kind, isReturn := metaValueRatios[field]
	of := "actions"
	switch {
	case spend == 0:
		return nil
	case isReturn:
		of = "action_values"
	case field == "cost_per_conversion":
		of = "conversions"
	case field != "cost_per_action_type":
		return nil
	}
	for _, item := range e.encodeActions(row, of) {
		action, _ := item.(map[string]any)
		text, _ := action["value"].(string)
		value, err := strconv.ParseFloat(text, 64)
		if err != nil || value == 0 || isReturn && action["action_type"] != kind {
			continue
		}
		ratio := float64(spend) / million / value
		if isReturn {
			ratio = 1 / ratio
		}
		list = append(list, map[string]any{"action_type": action["action_type"], "value": strconv.FormatFloat(ratio, 'f', 6, 64)})
	}
	return list
}
