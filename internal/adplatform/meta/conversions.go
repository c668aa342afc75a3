package meta

import (
	"slices"
	"strings"

	"fanfare/internal/connection"
)

// eventFamilies are the types of actions that Meta reports for one event, the
// broadest first. They overlap, so only the first one that is present counts:
// omni_purchase contains purchase, which contains the purchases of the pixel.
//
// Source: the types of actions in developers.facebook.com/docs/marketing-api/
// reference/ads-action-stats.
var eventFamilies = [][]string{
	{"omni_purchase", "purchase", "onsite_web_purchase", "offsite_conversion.fb_pixel_purchase", "app_custom_event.fb_mobile_purchase", "onsite_conversion.purchase"},
	{"lead", "onsite_conversion.lead_grouped", "offsite_conversion.fb_pixel_lead", "leadgen_grouped"},
	{"omni_complete_registration", "complete_registration", "offsite_conversion.fb_pixel_complete_registration", "app_custom_event.fb_mobile_complete_registration"},
	{"omni_add_to_cart", "add_to_cart", "offsite_conversion.fb_pixel_add_to_cart", "app_custom_event.fb_mobile_add_to_cart"},
	{"omni_initiated_checkout", "initiate_checkout", "offsite_conversion.fb_pixel_initiate_checkout", "app_custom_event.fb_mobile_initiated_checkout"},
	{"omni_view_content", "view_content", "offsite_conversion.fb_pixel_view_content", "app_custom_event.fb_mobile_content_view"},
	{"omni_search", "search", "offsite_conversion.fb_pixel_search", "app_custom_event.fb_mobile_search"},
	{"add_payment_info", "offsite_conversion.fb_pixel_add_payment_info", "app_custom_event.fb_mobile_add_payment_info"},
	{"add_to_wishlist", "offsite_conversion.fb_pixel_add_to_wishlist", "app_custom_event.fb_mobile_add_to_wishlist"},
	{"omni_app_install", "mobile_app_install", "app_install"},
	{"onsite_conversion.messaging_conversation_started_7d", "onsite_conversion.total_messaging_connection"},
	{"subscribe_total", "subscribe_website", "subscribe_mobile_app", "subscribe_offline"},
	{"contact_total", "contact_website", "contact_mobile_app", "contact_offline"},
	{"schedule_total", "schedule_website", "schedule_mobile_app", "schedule_offline"},
	{"start_trial_total", "start_trial_website", "start_trial_mobile_app", "start_trial_offline"},
	{"submit_application_total", "submit_application_website", "submit_application_mobile_app", "submit_application_offline"},
	{"find_location_total", "find_location_website", "find_location_mobile_app", "find_location_offline"},
	{"customize_product_total", "customize_product_website", "customize_product_mobile_app", "customize_product_offline"},
	{"donate_total", "donate_website", "donate_on_facebook", "donate_mobile_app", "donate_offline"},
	{"offsite_conversion.fb_pixel_custom"},
}

// promotedEvents are the broadest types of the events that ad sets optimize
// for, by promoted_object.custom_event_type (facebook-business 26.0.3,
// adobjects/adpromotedobject.py). OTHER is an event that the advertiser has
// named.
var promotedEvents = map[string]string{
	"PURCHASE": "omni_purchase", "LEAD": "lead", "COMPLETE_REGISTRATION": "omni_complete_registration", "ADD_TO_CART": "omni_add_to_cart",
	"INITIATED_CHECKOUT": "omni_initiated_checkout", "CONTENT_VIEW": "omni_view_content", "SEARCH": "omni_search", "ADD_PAYMENT_INFO": "add_payment_info",
	"ADD_TO_WISHLIST": "add_to_wishlist", "SUBSCRIBE": "subscribe_total", "CONTACT": "contact_total", "SCHEDULE": "schedule_total", "START_TRIAL": "start_trial_total",
	"SUBMIT_APPLICATION": "submit_application_total", "FIND_LOCATION": "find_location_total", "CUSTOMIZE_PRODUCT": "customize_product_total", "DONATE": "donate_total",
	"MESSAGING_CONVERSATION_STARTED_7D": "onsite_conversion.messaging_conversation_started_7d", "OTHER": "offsite_conversion.fb_pixel_custom",
}

// goalEvents are the events of ad sets that optimize for one without naming it,
// by optimization_goal (adobjects/adset.py). Goals such as REACH or LINK_CLICKS
// have none: what they optimize for is not a conversion.
var goalEvents = map[string]string{
	"LEAD_GENERATION": "lead", "QUALITY_LEAD": "lead", "APP_INSTALLS": "omni_app_install", "APP_INSTALLS_AND_OFFSITE_CONVERSIONS": "omni_app_install",
	"CONVERSATIONS": "onsite_conversion.messaging_conversation_started_7d", "MESSAGING_PURCHASE_CONVERSION": "omni_purchase", "VALUE": "omni_purchase",
}

// promotion is what an ad set optimizes for.
type promotion struct {
	Goal   string `json:"optimization_goal"`
	Object struct {
		Event      string `json:"custom_event_type"`
		Conversion string `json:"custom_conversion_id"`
	} `json:"promoted_object"`
}

// event returns the type of the action that an ad set optimizes for, empty for
// none.
func (p *promotion) event() string {
	if p.Object.Conversion != "" {
		return customPrefix + p.Object.Conversion
	}
	if event, ok := promotedEvents[p.Object.Event]; ok && !strings.HasPrefix(p.Goal, "LINK_") && p.Goal != "REACH" && p.Goal != "IMPRESSIONS" {
		return event
	}
	return goalEvents[p.Goal]
}

// funnelSteps are events on the way to another one. They count as results only
// in accounts whose ad sets optimize for nothing beyond them.
var funnelSteps = []string{"omni_add_to_cart", "omni_initiated_checkout", "omni_view_content", "omni_search", "add_payment_info", "add_to_wishlist"}

// resultEvents returns the events that the ad sets of an account optimize for.
//
// Choice: custom conversions count only where there are no others, because they
// are rules about other events and would count these twice.
func resultEvents(all []promotion) []string {
	ranks := make([][]string, 3)
	for i := range all {
		event, rank := all[i].event(), 0
		switch {
		case event == "":
			continue
		case slices.Contains(funnelSteps, event):
			rank = 2
		case strings.HasPrefix(event, customPrefix):
			rank = 1
		}
		ranks[rank] = append(ranks[rank], event)
	}
	for _, events := range ranks {
		if len(events) > 0 {
			slices.Sort(events)
			return slices.Compact(events)
		}
	}
	return nil
}

// customPrefix begins the types of custom conversions.
const customPrefix = "offsite_conversion.custom."

// conversionEvents are the types of actions that count as conversions: one of
// each group, the first that is present.
type conversionEvents struct {
	groups [][]string
	// measured says that the account optimizes for one of them. Meta omits
	// actions that did not happen, so an absent one is zero if it is measured
	// and unknown otherwise.
	measured bool
}

// conversionEventsOf returns the events of a report: the chosen ones, else those
// that the account's ad sets optimize for, else purchases.
//
// Choice: all levels of an account count the same events, because the results
// of each campaign alone could not be added up.
func conversionEventsOf(q connection.Report) (e conversionEvents) {
	results := q.Entities.Results
	chosen := q.Conversions
	if len(chosen) == 0 {
		for _, result := range results {
			e.groups = append(e.groups, familyOf(result))
		}
		e.measured = len(results) > 0
		if !e.measured {
			e.groups = eventFamilies[:1]
		}
		return e
	}
	at := map[string]int{}
	for _, name := range chosen {
		family := familyOf(name)
		i, there := at[family[0]]
		if !there {
			i = len(e.groups)
			at[family[0]] = i
			e.groups = append(e.groups, nil)
		}
		e.groups[i] = append(e.groups[i], name)
		e.measured = e.measured || slices.ContainsFunc(results, func(result string) bool { return slices.Contains(family, result) })
	}
	for _, group := range e.groups {
		family := familyOf(group[0])
		slices.SortFunc(group, func(x, y string) int { return slices.Index(family, x) - slices.Index(family, y) })
	}
	return e
}

// familyOf returns the types of the event that a type is of, or the type alone.
func familyOf(kind string) []string {
	for _, family := range eventFamilies {
		if slices.Contains(family, kind) {
			return family
		}
	}
	return []string{kind}
}

// values returns the numbers of the events in lists of actions, one per group
// that is present.
func (e *conversionEvents) values(lists ...[]action) (found []string) {
	all := slices.Concat(lists...)
	for _, group := range e.groups {
		for _, kind := range group {
			if i := slices.IndexFunc(all, func(a action) bool { return a.Type == kind }); i >= 0 {
				found = append(found, all[i].Value)
				break
			}
		}
	}
	if len(found) == 0 && e.measured {
		return []string{"0"}
	}
	return found
}
