package sandbox

import (
	"cmp"
	"iter"
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
	"customer.manager":          func(*googleRow) any { return false },
	"customer.status":           func(*googleRow) any { return "ENABLED" },

	"customer_client.id":               func(l *googleRow) any { return l.a.ID },
	"customer_client.descriptive_name": func(l *googleRow) any { return l.a.Name },
	"customer_client.currency_code":    func(l *googleRow) any { return l.a.Set.Currency },
	"customer_client.time_zone":        func(l *googleRow) any { return l.a.Set.Timezone },
	"customer_client.manager":          func(*googleRow) any { return false },
	"customer_client.level":            func(*googleRow) any { return "0" },
	"customer_client.status":           func(*googleRow) any { return "ENABLED" },

	"campaign.id":                       func(l *googleRow) any { return l.Campaign.ID },
	"campaign.name":                     func(l *googleRow) any { return l.Campaign.Name },
	"campaign.status":                   func(l *googleRow) any { return l.campaignStatus(l.Campaign) },
	"campaign.advertising_channel_type": func(l *googleRow) any { return cmp.Or(googleTypes[l.Campaign.Kind], "UNKNOWN") },

	"ad_group.id":     func(l *googleRow) any { return l.Group.ID },
	"ad_group.name":   func(l *googleRow) any { return l.Group.Name },
	"ad_group.status": func(*googleRow) any { return "ENABLED" },

	"ad_group_ad.ad.id":         func(l *googleRow) any { return l.Ad.ID },
	"ad_group_ad.ad.name":       func(l *googleRow) any { return l.Ad.Name },
	"ad_group_ad.ad.final_urls": func(l *googleRow) any { return []string{l.Ad.Link} },
	"ad_group_ad.status":        func(*googleRow) any { return "ENABLED" },
	"ad_group_ad.ad.responsive_search_ad.headlines": func(l *googleRow) any {
		if l.Campaign.Kind != "search" {
			return nil
		}
		return []any{map[string]string{"text": l.Ad.Headline}}
	},

	"ad_group_criterion.criterion_id":        func(l *googleRow) any { return l.criterion() },
	"ad_group_criterion.type":                func(*googleRow) any { return "USER_LIST" },
	"ad_group_criterion.negative":            func(*googleRow) any { return false },
	"ad_group_criterion.status":              func(*googleRow) any { return "ENABLED" },
	"ad_group_criterion.user_list.user_list": func(l *googleRow) any { return l.subresourceName("userLists", l.Group.Audience.ID) },
	"ad_group_criterion.age_range.type":      func(l *googleRow) any { return cmp.Or(googleAges[l.AgeRange], "AGE_RANGE_UNDETERMINED") },
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

	"geographic_view.country_criterion_id": func(l *googleRow) any { return googleCountries[l.Country] },
	"geographic_view.location_type":        func(*googleRow) any { return "LOCATION_OF_PRESENCE" },

	"segments.date":   func(l *googleRow) any { return l.Date.String() },
	"segments.device": func(l *googleRow) any { return cmp.Or(googleDevices[l.Device], "OTHER") },
}

func (l *googleRow) campaignStatus(c *Campaign) string {
	if l.s.Runs(l.a, c) {
		return "ENABLED"
	}
	return "PAUSED"
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
		return l.subresourceName("customerClients", l.a.ID)
	case "campaign":
		return l.subresourceName("campaigns", l.Campaign.ID)
	case "ad_group":
		return l.subresourceName("adGroups", l.Group.ID)
	case "ad_group_ad":
		return l.subresourceName("adGroupAds", l.Group.ID+"~"+l.Ad.ID)
	case "ad_group_criterion":
		return l.subresourceName("adGroupCriteria", l.Group.ID+"~"+l.criterion())
	case "user_list":
		return l.subresourceName("userLists", l.audience.ID)
	case "geographic_view":
		return l.subresourceName("geographicViews", googleCountries[l.Country]+"~LOCATION_OF_PRESENCE")
	case "age_range_view":
		return l.subresourceName("ageRangeViews", l.Group.ID+"~"+l.criterion())
	case "gender_view":
		return l.subresourceName("genderViews", l.Group.ID+"~"+l.criterion())
	}
	return ""
}

func listCustomer(s *Call, a *Account) iter.Seq[googleRow] {
	return func(yield func(googleRow) bool) { yield(googleRow{s: s, a: a}) }
}

func listUserLists(s *Call, a *Account) iter.Seq[googleRow] {
	return func(yield func(googleRow) bool) {
		for _, audience := range a.Audiences {
			if !yield(googleRow{s: s, a: a, audience: audience}) {
				return
			}
		}
	}
}

func listCampaigns(s *Call, a *Account) iter.Seq[googleRow] {
	return func(yield func(googleRow) bool) {
		for _, c := range a.Campaigns {
			if !yield(googleRow{s: s, a: a, Row: Row{Campaign: c}}) {
				return
			}
		}
	}
}

func listGroups(s *Call, a *Account) iter.Seq[googleRow] {
	return func(yield func(googleRow) bool) {
		for line := range listCampaigns(s, a) {
			for _, line.Group = range line.Campaign.Groups {
				if !yield(line) {
					return
				}
			}
		}
	}
}

func listAds(s *Call, a *Account) iter.Seq[googleRow] {
	return func(yield func(googleRow) bool) {
		for line := range listGroups(s, a) {
			for _, line.Ad = range line.Group.Ads {
				if !yield(line) {
					return
				}
			}
		}
	}
}

func listCriteria(s *Call, a *Account) iter.Seq[googleRow] {
	return func(yield func(googleRow) bool) {
		for line := range listGroups(s, a) {
			if line.Group.Audience != nil && !yield(line) {
				return
			}
		}
	}
}
