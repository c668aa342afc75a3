package sandbox

import (
	"math/big"
	"slices"
	"strconv"
	"strings"

	"fanfare/internal/fact"
	"fanfare/internal/money"
)

// tikTokMetrics maps metrics to measures.
var tikTokMetrics = map[string]fact.Measure{
	"impressions": fact.Impressions, "gross_impressions": fact.Impressions, "clicks": fact.Clicks, "spend": fact.Spend, "billed_cost": fact.Spend, "cash_spend": fact.Spend,
	"conversion": fact.Conversions, "real_time_conversion": fact.Conversions, "result": fact.Conversions, "real_time_result": fact.Conversions,
	"engagements": fact.Engagements, "video_play_actions": fact.VideoViews, "video_watched_2s": fact.VideoViews, "video_views_p25": fact.VideoViews, "video_views_p50": fact.VideoViews,
	"video_watched_6s": fact.VideoCompletions, "video_views_p75": fact.VideoCompletions, "video_views_p100": fact.VideoCompletions, "reach": fact.Reach,
}

// tikTokLeg is where TikTok attributes a purchase to.
type tikTokLeg uint8

const (
	websiteLeg tikTokLeg = iota
	appLeg
	shopLeg
)

// tikTokLegMetrics are the metrics of purchases, by leg: their number, or their
// value. The value of the website's has the name of a rate.
var tikTokLegMetrics = map[string]struct {
	leg     tikTokLeg
	measure fact.Measure
}{
	"complete_payment": {websiteLeg, fact.Conversions}, "total_complete_payment_rate": {websiteLeg, fact.Revenue},
	"total_purchase": {appLeg, fact.Conversions}, "purchase": {appLeg, fact.Conversions}, "total_purchase_value": {appLeg, fact.Revenue},
	"onsite_shopping": {shopLeg, fact.Conversions}, "total_onsite_shopping_value": {shopLeg, fact.Revenue},
}

// tikTokRatio is a metric that divides one metric by another.
type tikTokRatio struct {
	part, whole string
	factor      int64
}

var tikTokRatios = map[string]tikTokRatio{
	"ctr": {"clicks", "impressions", 100}, "cpc": {"spend", "clicks", 1}, "cpm": {"spend", "impressions", 1000},
	"conversion_rate": {"conversion", "clicks", 100}, "conversion_rate_v2": {"conversion", "impressions", 100},
	"real_time_conversion_rate": {"real_time_conversion", "clicks", 100}, "real_time_conversion_rate_v2": {"real_time_conversion", "impressions", 100},
	"real_time_cost_per_conversion": {"spend", "real_time_conversion", 1}, "real_time_cost_per_result": {"spend", "real_time_result", 1}, "real_time_result_rate": {"real_time_result", "clicks", 100},
	"frequency": {"impressions", "reach", 1}, "cost_per_1000_reached": {"spend", "reach", 1000}, "engagement_rate": {"engagements", "impressions", 100},
	"complete_payment_roas": {"total_complete_payment_rate", "spend", 1}, "total_active_pay_roas": {"total_purchase_value", "spend", 1}, "onsite_shopping_roas": {"total_onsite_shopping_value", "spend", 1},
	"value_per_complete_payment": {"total_complete_payment_rate", "complete_payment", 1}, "value_per_onsite_shopping": {"total_onsite_shopping_value", "onsite_shopping", 1},
	"real_time_app_install_cost": {"spend", "real_time_app_install", 1}, "skan_cost_per_conversion": {"spend", "skan_conversion", 1},
}

// tikTokZeros are metrics of events that the account does not have: TikTok
// answers zero.
var tikTokZeros = strings.Fields(`
	likes comments shares follows profile_visits clicks_on_music_disc duet_clicks stitch_clicks sound_usage_clicks anchor_clicks clicks_on_hashtag_challenge
	engaged_view engaged_view_15s average_video_play average_video_play_per_user video_watched_continuous_2s
	live_views live_unique_views live_effective_views live_product_clicks interactive_add_on_impressions
	real_time_app_install app_install registration total_registration checkout total_checkout total_checkout_value view_content total_view_content total_view_content_value
	app_event_add_to_cart total_app_event_add_to_cart total_app_event_add_to_cart_value add_payment_info total_add_payment_info add_to_wishlist total_add_to_wishlist
	launch_app total_launch_app complete_tutorial total_complete_tutorial sales_lead total_sales_lead total_sales_lead_value search total_search start_trial total_start_trial
	subscribe total_subscribe total_subscribe_value in_app_ad_click total_in_app_ad_click in_app_ad_impr total_in_app_ad_impr
	total_landing_page_view total_pageview button_click total_button_click_value online_consult total_online_consult_value user_registration total_user_registration_value
	page_content_view_events total_page_view_content_events_value product_details_page_browse total_product_details_page_browse_value web_event_add_to_cart total_web_event_add_to_cart_value
	on_web_order total_on_web_order_value initiate_checkout total_initiate_checkout_value add_billing total_add_billing_value page_event_search form total_form_value
	download_start total_download_start_value on_web_add_to_wishlist on_web_subscribe custom_page_events custom_page_events_value
	onsite_form total_onsite_form_value onsite_download_start ix_page_view_count ix_button_click_count ix_product_click_count onsite_add_to_wishlist onsite_add_billing
	onsite_initiate_checkout_count total_onsite_initiate_checkout_count_value onsite_on_web_detail total_onsite_on_web_detail_value onsite_on_web_cart total_onsite_on_web_cart_value
	vta_conversion vta_app_install vta_purchase vta_complete_payment cta_conversion cta_app_install cta_purchase engaged_view_through_conversions
	offline_shopping_events offline_shopping_events_value skan_conversion skan_app_install skan_registration skan_purchase skan_total_purchase skan_total_purchase_value skan_app_install_withheld
`)

// tikTokAudienceMetrics are the metrics of reports by audience.
var tikTokAudienceMetrics = strings.Fields(`
	spend impressions gross_impressions clicks conversion real_time_conversion result real_time_result cpc cpm ctr cost_per_conversion conversion_rate conversion_rate_v2
	real_time_cost_per_conversion real_time_conversion_rate real_time_conversion_rate_v2 cost_per_result result_rate real_time_cost_per_result real_time_result_rate
	video_play_actions video_watched_2s video_watched_6s average_video_play video_views_p25 video_views_p50 video_views_p75 video_views_p100
	likes comments shares follows profile_visits profile_visits_rate clicks_on_music_disc total_landing_page_view cost_per_landing_page_view landing_page_view_rate
`)

// tikTokAttributes are metrics that are attributes of the row.
var tikTokAttributes = strings.Fields(`
	advertiser_id advertiser_name currency timezone campaign_id campaign_name campaign_budget objective_type campaign_automation_type
	adgroup_id adgroup_name ad_id ad_name ad_text
`)

// tikTokShopMetrics are the metrics of the report of GMV Max ads.
var tikTokShopMetrics = []string{"spend", "billed_cost"}

// tikTokCounts reports whether a metric is one that is counted, not divided.
func tikTokCounts(name string) bool {
	_, measure := tikTokMetrics[name]
	_, leg := tikTokLegMetrics[name]
	return measure || leg || slices.Contains(tikTokZeros, name)
}

// tikTokRatioOf returns the ratio with a name. Most are made of the name of the
// counted metric.
func tikTokRatioOf(name string) (tikTokRatio, bool) {
	if ratio, known := tikTokRatios[name]; known {
		return ratio, true
	}
	if of, cost := strings.CutPrefix(name, "cost_per_"); cost {
		for _, count := range []string{of, "total_" + of} {
			if tikTokCounts(count) {
				return tikTokRatio{"spend", count, 1}, true
			}
		}
	}
	if of, value := strings.CutPrefix(name, "value_per_"); value && tikTokCounts(of) {
		for _, total := range []string{of + "_value", "total_" + of + "_value"} {
			if tikTokCounts(total) {
				return tikTokRatio{total, of, 1}, true
			}
		}
	}
	if of, rate := strings.CutSuffix(name, "_rate"); rate {
		for _, count := range []string{of, "total_" + of} {
			if tikTokCounts(count) {
				return tikTokRatio{count, "clicks", 100}, true
			}
		}
	}
	return tikTokRatio{}, false
}

// checkTikTokMetrics rejects metrics that a type of report does not have, and the
// one that was removed.
func checkTikTokMetrics(names []string, report, removed string) *tikTokError {
	invalid := []string{}
	for _, name := range names {
		_, ratio := tikTokRatioOf(name)
		known := tikTokCounts(name) || ratio
		switch report {
		case "AUDIENCE":
			known = slices.Contains(tikTokAudienceMetrics, name)
		case "TT_SHOP":
			known = slices.Contains(tikTokShopMetrics, name)
		}
		if !known && !slices.Contains(tikTokAttributes, name) || name == removed {
			invalid = append(invalid, "'"+name+"'")
		}
	}
	if len(invalid) == 0 {
		return nil
	}
	return tikTokRefusal("Please correct the information in invalid metric fields and try again. Invalid metric fields: [" + strings.Join(invalid, ", ") + "].")
}

// metric returns a counted metric of a row in millionths.
func (c *tikTokCall) metric(row *Row, name string) (millionths int64, known bool) {
	if leg, of := tikTokLegMetrics[name]; of {
		n, known := row.Values.Get(leg.measure)
		return c.legShare(n, leg.leg, leg.measure), known
	}
	m, of := tikTokMetrics[name]
	switch {
	case name == "skan_conversion":
		n, known := row.Values.Get(fact.Conversions)
		return c.skanShare(n), known
	case !of:
		return 0, true
	}
	n, known := row.Values.Get(m)
	if m == fact.Conversions {
		n -= c.skanShare(n)
	}
	if !m.Scaled() {
		n *= million
	}
	return n, known
}

// skanShare returns the part of conversions that only Apple's SKAdNetwork
// reports, none without the switch.
func (c *tikTokCall) skanShare(n int64) int64 {
	if !c.Behaves(c.account, "skan_separate") {
		return 0
	}
	step := c.account.traits.conversionStep
	return n / 4 / step * step
}

// legShare returns the part of an amount that a leg has. Without the switch all
// purchases are of the website, and the other legs are zero.
func (c *tikTokCall) legShare(n int64, leg tikTokLeg, m fact.Measure) int64 {
	shares, step := [3]int64{}, c.account.traits.conversionStep
	if m.Money() {
		step = c.account.traits.moneyStep
	}
	if c.Behaves(c.account, "three_legs") {
		shares[appLeg], shares[shopLeg] = n/5/step*step, n*3/10/step*step
	}
	shares[websiteLeg] = n - shares[appLeg] - shares[shopLeg]
	return shares[leg]
}

// metricText returns a metric of a row as text, empty if it is not known.
func (c *tikTokCall) metricText(row *Row, name string) string {
	if tikTokCounts(name) {
		n, known := c.metric(row, name)
		m := tikTokMetrics[name]
		switch {
		case !known:
			return ""
		case m.Money() || tikTokLegMetrics[name].measure == fact.Revenue || strings.HasSuffix(name, "_value"):
			return money.Amount{Micros: n, Digits: 2}.String()
		}
		return strconv.FormatInt(n/million, 10)
	}
	ratio, _ := tikTokRatioOf(name)
	part, known := c.metric(row, ratio.part)
	whole, also := c.metric(row, ratio.whole)
	switch {
	case !known || !also:
		return ""
	case whole == 0:
		return "0.00"
	}
	return new(big.Rat).SetFrac(new(big.Int).Mul(big.NewInt(part), big.NewInt(ratio.factor)), big.NewInt(whole)).FloatString(2)
}

// attributeText returns an attribute of a row, empty if rows of its level do not
// have it.
func (c *tikTokCall) attributeText(row *Row, name string) string {
	switch name {
	case "advertiser_id":
		return c.account.ID
	case "advertiser_name":
		return c.account.Name
	case "currency":
		return c.account.Set.Currency
	case "timezone":
		return c.zoneName(c.account)
	}
	if x := row.Campaign; x != nil {
		switch name {
		case "campaign_id":
			return x.ID
		case "campaign_name":
			return x.Name
		case "campaign_budget":
			return money.Amount{Micros: x.DailyBudget, Digits: 2}.String()
		case "objective_type":
			return tikTokObjectives[x.Kind]
		case "campaign_automation_type":
			if c.kindOf(x).smart {
				return "UPGRADED_SMART_PLUS_CREATIVE"
			}
			return "MANUAL"
		}
	}
	switch {
	case row.Group != nil && name == "adgroup_id":
		return row.Group.ID
	case row.Group != nil && name == "adgroup_name":
		return row.Group.Name
	case row.Ad != nil && name == "ad_id":
		return row.Ad.ID
	case row.Ad != nil && name == "ad_name":
		return row.Ad.Name
	case row.Ad != nil && name == "ad_text":
		return row.Ad.Text
	}
	return ""
}
