package sandbox

import (
	"cmp"
	"strconv"
	"strings"
)

// Google's values for those of the sandbox.
var (
	googleTypes = map[string]string{
		"search": "SEARCH", "shopping": "SHOPPING", "display": "DISPLAY", "performance_max": "PERFORMANCE_MAX", "video": "VIDEO",
	}
	googleAges = map[string]string{
		"18-24": "AGE_RANGE_18_24", "25-34": "AGE_RANGE_25_34", "35-44": "AGE_RANGE_35_44",
		"45-54": "AGE_RANGE_45_54", "55-64": "AGE_RANGE_55_64", "65+": "AGE_RANGE_65_UP",
	}
	googleDevices = map[string]string{"desktop": "DESKTOP", "mobile": "MOBILE", "tablet": "TABLET", "tv": "CONNECTED_TV"}
	// googleCriteria are the ids of criteria, equal in all accounts.
	googleCriteria = map[string]string{
		"18-24": "503001", "25-34": "503002", "35-44": "503003", "45-54": "503004", "55-64": "503005", "65+": "503006", "unknown": "503999",
	}
	googleGenders = map[string]string{"male": "10", "female": "11"}
	// googleCountries are the ids of countries.
	googleCountries = map[string]string{
		"AT": "2040", "AU": "2036", "BE": "2056", "BR": "2076", "CA": "2124", "CH": "2756", "DE": "2276", "DK": "2208", "ES": "2724",
		"FI": "2246", "FR": "2250", "GB": "2826", "IE": "2372", "IN": "2356", "IT": "2380", "JP": "2392", "MX": "2484", "NL": "2528",
		"NO": "2578", "NZ": "2554", "PL": "2616", "PT": "2620", "SE": "2752", "US": "2840",
	}
)

// googleFields are all fields that can be selected except metrics.
var googleFields = map[string]func(l *googleRow) any{
	"customer.id":               func(l *googleRow) any { return l.a.ID },
	"customer.descriptive_name": func(l *googleRow) any { return l.a.Name },
	"customer.currency_code":    func(l *googleRow) any { return l.a.Set.Currency },
	"customer.time_zone":        func(l *googleRow) any { return l.a.Set.Timezone },
	"customer.manager":          func(l *googleRow) any { return l.customer.manager },
	"customer.test_account":     func(*googleRow) any { return false },
	"customer.status":           func(l *googleRow) any { return l.customer.status },

	"customer_client.id":               func(l *googleRow) any { return l.client.account.ID },
	"customer_client.client_customer":  func(l *googleRow) any { return "customers/" + l.client.account.ID },
	"customer_client.descriptive_name": func(l *googleRow) any { return l.client.account.Name },
	"customer_client.currency_code":    func(l *googleRow) any { return l.client.account.Set.Currency },
	"customer_client.time_zone":        func(l *googleRow) any { return l.client.account.Set.Timezone },
	"customer_client.manager":          func(l *googleRow) any { return l.client.manager },
	"customer_client.hidden":           func(l *googleRow) any { return l.client.hidden },
	"customer_client.test_account":     func(*googleRow) any { return false },
	"customer_client.level":            func(l *googleRow) any { return strconv.FormatInt(l.client.level, 10) },
	"customer_client.status":           func(l *googleRow) any { return l.client.status },

	"campaign.id":                       func(l *googleRow) any { return l.Campaign.ID },
	"campaign.name":                     func(l *googleRow) any { return l.Campaign.Name },
	"campaign.status":                   func(l *googleRow) any { return l.campaignStatus(l.Campaign) },
	"campaign.primary_status":           func(l *googleRow) any { return l.primaryStatus(l.Campaign) },
	"campaign.serving_status":           func(*googleRow) any { return "SERVING" },
	"campaign.advertising_channel_type": func(l *googleRow) any { return l.channelType(l.Campaign) },
	"campaign.campaign_budget":          func(l *googleRow) any { return l.subresourceName("campaignBudgets", l.Campaign.ID) },

	"campaign_budget.id":                  func(l *googleRow) any { return l.Campaign.ID },
	"campaign_budget.name":                func(l *googleRow) any { return l.Campaign.Name },
	"campaign_budget.amount_micros":       func(l *googleRow) any { return l.budgetMicros(false) },
	"campaign_budget.total_amount_micros": func(l *googleRow) any { return l.budgetMicros(true) },
	"campaign_budget.status":              func(*googleRow) any { return "ENABLED" },
	"campaign_budget.period":              func(l *googleRow) any { return l.budgetPeriod() },
	"campaign_budget.delivery_method":     func(*googleRow) any { return "STANDARD" },
	"campaign_budget.type":                func(*googleRow) any { return "STANDARD" },
	"campaign_budget.explicitly_shared":   func(*googleRow) any { return false },
	"campaign_budget.reference_count":     func(*googleRow) any { return "1" },

	"asset_group.id":         func(l *googleRow) any { return assetGroupID(l.Campaign) },
	"asset_group.name":       func(l *googleRow) any { return assetGroupName(l.Campaign) },
	"asset_group.campaign":   func(l *googleRow) any { return l.resourceName("campaign") },
	"asset_group.status":     func(*googleRow) any { return "ENABLED" },
	"asset_group.final_urls": func(l *googleRow) any { return []string{l.Campaign.URL} },

	"conversion_action.id":                                 func(l *googleRow) any { return l.action.id },
	"conversion_action.name":                               func(l *googleRow) any { return l.action.name },
	"conversion_action.category":                           func(l *googleRow) any { return l.action.category },
	"conversion_action.status":                             func(*googleRow) any { return "ENABLED" },
	"conversion_action.type":                               func(*googleRow) any { return "WEBPAGE" },
	"conversion_action.primary_for_goal":                   func(l *googleRow) any { return l.action.counted },
	"conversion_action.include_in_conversions_metric":      func(l *googleRow) any { return l.action.counted },
	"conversion_action.click_through_lookback_window_days": func(*googleRow) any { return "30" },
	"conversion_action.view_through_lookback_window_days":  func(*googleRow) any { return "1" },

	"ad_group.id":     func(l *googleRow) any { return l.Group.ID },
	"ad_group.name":   func(l *googleRow) any { return l.Group.Name },
	"ad_group.status": func(*googleRow) any { return "ENABLED" },

	"ad_group_ad.ad.id":         func(l *googleRow) any { return l.adID() },
	"ad_group_ad.ad.name":       func(l *googleRow) any { return l.Ad.Name },
	"ad_group_ad.ad.final_urls": func(l *googleRow) any { return []string{l.Ad.Link} },
	"ad_group_ad.status":        func(*googleRow) any { return "ENABLED" },
	"ad_group_ad.ad.responsive_search_ad.headlines": func(l *googleRow) any {
		if l.Campaign.Kind != "search" {
			return nil
		}
		return []any{map[string]string{"text": l.Ad.Headline}}
	},

	"ad_group_criterion.criterion_id": func(l *googleRow) any { return l.criterion() },
	"ad_group_criterion.type":         func(*googleRow) any { return "USER_LIST" },
	"ad_group_criterion.negative":     func(*googleRow) any { return false },
	"ad_group_criterion.status":       func(*googleRow) any { return "ENABLED" },
	"ad_group_criterion.user_list.user_list": func(l *googleRow) any {
		if l.Group.Audience == nil {
			return nil
		}
		return l.subresourceName("userLists", l.Group.Audience.ID)
	},
	"ad_group_criterion.age_range.type": func(l *googleRow) any { return cmp.Or(googleAges[l.AgeRange], "AGE_RANGE_UNDETERMINED") },
	"ad_group_criterion.gender.type": func(l *googleRow) any {
		if l.Gender == "unknown" {
			return "UNDETERMINED"
		}
		return strings.ToUpper(l.Gender)
	},

	"user_list.id":                func(l *googleRow) any { return l.audience.ID },
	"user_list.name":              func(l *googleRow) any { return l.audience.Name },
	"user_list.membership_status": func(*googleRow) any { return "OPEN" },
	"user_list.size_for_display":  func(l *googleRow) any { return strconv.FormatInt(l.audience.Size, 10) },
	"user_list.size_for_search":   func(l *googleRow) any { return strconv.FormatInt(l.audience.Size, 10) },

	"geographic_view.country_criterion_id":    func(l *googleRow) any { return googleCountries[l.Country] },
	"user_location_view.country_criterion_id": func(l *googleRow) any { return googleCountries[l.Country] },
	"user_location_view.targeting_location":   func(*googleRow) any { return true },
	"geographic_view.location_type":           func(l *googleRow) any { return l.locationType() },

	"segments.device":                     func(l *googleRow) any { return cmp.Or(googleDevices[l.Device], "OTHER") },
	"segments.ad_network_type":            func(l *googleRow) any { return cmp.Or(googleNetworks[l.Campaign.Kind], "SEARCH") },
	"segments.slot":                       func(l *googleRow) any { return cmp.Or(googleSlots[l.Campaign.Kind], "CONTENT") },
	"segments.conversion_action":          func(l *googleRow) any { return l.subresourceName("conversionActions", l.action.id) },
	"segments.conversion_action_name":     func(l *googleRow) any { return l.action.name },
	"segments.conversion_action_category": func(l *googleRow) any { return l.action.category },
}

// googleNetworks are the networks of kinds of campaigns.
var googleNetworks = map[string]string{"search": "SEARCH", "shopping": "SEARCH", "display": "CONTENT", "performance_max": "MIXED", "video": "YOUTUBE"}

// googleSlots are the positions of ads of kinds of campaigns, unless they are in
// content.
//
// Choice: all ads of a search are at the top.
var googleSlots = map[string]string{"search": "SEARCH_TOP", "shopping": "SEARCH_TOP", "performance_max": "MIXED"}

// Switches of campaigns.
const (
	googleRemovedObjects = "removed_objects"
	googleNewType        = "unknown_enum_value"
)

// googleIsRemoved reports whether a campaign is removed. Its ad groups and ads
// keep their own status.
func googleIsRemoved(s *Call, a *Account, c *Campaign) bool {
	return s.Behaves(a, googleRemovedObjects) && c == a.Campaigns[1]
}

func (l *googleRow) campaignStatus(c *Campaign) string {
	switch {
	case googleIsRemoved(l.s, l.a, c):
		return "REMOVED"
	case l.s.Runs(l.a, c):
		return "ENABLED"
	}
	return "PAUSED"
}

// primaryStatus returns the delivery of a campaign, which follows a change of its
// status on the next day.
func (l *googleRow) primaryStatus(c *Campaign) string {
	switch {
	case googleIsRemoved(l.s, l.a, c):
		return "REMOVED"
	case l.s.server.state.runChangesOf(l.a).ranOn(c, l.s.Today(l.a)):
		return "ELIGIBLE"
	}
	return "PAUSED"
}

// channelType returns the type of a campaign. With the switch, one campaign has a
// type that is newer than the version of the API.
func (l *googleRow) channelType(c *Campaign) string {
	if l.s.Behaves(l.a, googleNewType) && c == l.a.Campaigns[0] {
		return "UNKNOWN"
	}
	return cmp.Or(googleTypes[c.Kind], "UNKNOWN")
}

// locationType says whether people were in a country or were interested in it,
// which one view mixes.
func (l *googleRow) locationType() string {
	if l.Group != nil && (int(l.Date)+len(l.Group.Ads))%4 == 0 {
		return "AREA_OF_INTEREST"
	}
	return "LOCATION_OF_PRESENCE"
}

// assetGroupID returns the id of the asset group of a Performance Max campaign.
func assetGroupID(c *Campaign) string { return "6" + c.ID[1:] }

func assetGroupName(c *Campaign) string { return c.Name + ": Assets" }

// fieldValue returns the value of a field that is no metric, nil if accounts of
// the sandbox have none.
func (l *googleRow) fieldValue(field string) any {
	if value, ok := googleDates[field]; ok {
		return value(l)
	}
	if value, ok := googleFields[field]; ok {
		return value(l)
	}
	return nil
}

// isGoogleField reports whether Google has a field that is no metric.
func isGoogleField(field string) bool {
	if googleFields[field] != nil || googleSegments[field] {
		return true
	}
	resource, rest, _ := strings.Cut(field, ".")
	name, _, _ := strings.Cut(rest, ".")
	return googleAttributes()[resource][resource+"."+name]
}

// criterion returns the id of the criterion of an ad group's row.
func (l *googleRow) criterion() string {
	switch {
	case l.AgeRange != "":
		return googleCriteria[l.AgeRange]
	case l.Gender != "":
		return cmp.Or(googleGenders[l.Gender], "20")
	case l.Group.Audience != nil:
		return l.Group.Audience.ID
	}
	return ""
}

func (l *googleRow) subresourceName(kind, id string) string {
	return "customers/" + l.a.ID + "/" + kind + "/" + id
}

// resourceName returns Google's resource name, empty for a resource without
// one.
func (l *googleRow) resourceName(resource string) string {
	switch resource {
	case "customer":
		return "customers/" + l.a.ID
	case "customer_client":
		return l.subresourceName("customerClients", l.client.account.ID)
	case "campaign_budget":
		return l.subresourceName("campaignBudgets", l.Campaign.ID)
	case "asset_group":
		return l.subresourceName("assetGroups", assetGroupID(l.Campaign))
	case "conversion_action":
		return l.subresourceName("conversionActions", l.action.id)
	case "campaign":
		return l.subresourceName("campaigns", l.Campaign.ID)
	case "ad_group":
		return l.subresourceName("adGroups", l.Group.ID)
	case "ad_group_ad":
		return l.subresourceName("adGroupAds", l.Group.ID+"~"+l.adID())
	case "ad_group_criterion":
		return l.subresourceName("adGroupCriteria", l.Group.ID+"~"+l.criterion())
	case "user_list":
		return l.subresourceName("userLists", l.audience.ID)
	case "geographic_view":
		return l.subresourceName("geographicViews", googleCountries[l.Country]+"~"+l.locationType())
	case "user_location_view":
		return l.subresourceName("userLocationViews", googleCountries[l.Country]+"~true")
	case "age_range_view":
		return l.subresourceName("ageRangeViews", l.Group.ID+"~"+l.criterion())
	case "gender_view":
		return l.subresourceName("genderViews", l.Group.ID+"~"+l.criterion())
	}
	return ""
}
