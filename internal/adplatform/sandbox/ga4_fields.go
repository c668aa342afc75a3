package sandbox

import (
	"fmt"
	"strconv"
	"strings"

	"fanfare/internal/clock"
)

const (
	ga4NotSet = "(not set)"
	// ga4Other is the value of the row that small rows are put together in.
	ga4Other = "(other)"
)

// ga4View is a row as the dimensions of a report see it.
type ga4View struct {
	Row
	// other says that the row is one of those that are put together.
	other bool
	// unassigned says that the sessions are in no channel group of the campaign.
	unassigned bool
	// event is the name of the event, if the report is by event.
	event    string
	keyEvent bool
	// first is the first day of the date range, span its name.
	first clock.Date
	span  string
}

// ga4Dimension is a dimension, with the level that has it if not all do.
type ga4Dimension struct {
	level Level
	of    func(r *ga4View) string
	// kept says that the value is not lost in the row of the others.
	kept bool
	// thresholded says that reports with it leave small rows out.
	thresholded bool
}

// value returns the value of a dimension.
func (d ga4Dimension) value(r *ga4View) string {
	if r.other && !d.kept {
		return ga4Other
	}
	return d.of(r)
}

// ga4Dimensions are the dimensions by name.
var ga4Dimensions = func() map[string]ga4Dimension {
	all := map[string]ga4Dimension{
		"dateRange":      {level: ByCampaign, kept: true, of: func(r *ga4View) string { return r.span }},
		"eventName":      {level: ByCampaign, of: func(r *ga4View) string { return r.event }},
		"isKeyEvent":     {level: ByCampaign, of: func(r *ga4View) string { return strconv.FormatBool(r.keyEvent) }},
		"audienceName":   {level: ByAd, of: ga4AudienceName, thresholded: true},
		"countryId":      {level: ByCountry, of: func(r *ga4View) string { return r.Country }},
		"country":        {level: ByCountry, of: func(r *ga4View) string { return ga4Countries[r.Country] }},
		"userAgeBracket": {level: ByAgeAndGender, of: func(r *ga4View) string { return r.AgeRange }, thresholded: true},
		"userGender":     {level: ByAgeAndGender, of: func(r *ga4View) string { return r.Gender }, thresholded: true},
		"deviceCategory": {level: ByDevice, of: func(r *ga4View) string {
			if r.Device == "tv" {
				return "smart tv"
			}
			return r.Device
		}},
		"platform": {level: ByCampaign, of: func(*ga4View) string { return "web" }},
	}
	for name, of := range ga4DateParts {
		all[name] = ga4Dimension{level: ByCampaign, kept: true, of: of}
	}
	for _, prefix := range []string{"", "session", "firstUser"} {
		for name, d := range ga4SourceDimensions {
			all[ga4Prefixed(prefix, name)] = d
		}
		for name := range strings.FieldsSeq(ga4EmptySourceDimensions) {
			all[ga4Prefixed(prefix, name)] = ga4Dimension{level: ByCampaign, of: func(*ga4View) string { return ga4NotSet }}
		}
	}
	for name := range strings.FieldsSeq(ga4EmptyDimensions) {
		all[name] = ga4Dimension{level: ByCampaign, of: func(*ga4View) string { return ga4NotSet }, thresholded: name == "brandingInterest" || strings.HasPrefix(name, "audience")}
	}
	return all
}()

// ga4Prefixed returns the name of a dimension in a scope, which "session" and
// "firstUser" are the prefixes of.
func ga4Prefixed(prefix, name string) string {
	if prefix == "" {
		return strings.ToLower(name[:1]) + name[1:]
	}
	return prefix + name
}

// ga4DateParts are the dimensions of time that a day has.
var ga4DateParts = map[string]func(r *ga4View) string{
	"date":          func(r *ga4View) string { return r.Date.Time().Format("20060102") },
	"year":          func(r *ga4View) string { return r.Date.Time().Format("2006") },
	"month":         func(r *ga4View) string { return r.Date.Time().Format("01") },
	"day":           func(r *ga4View) string { return r.Date.Time().Format("02") },
	"yearMonth":     func(r *ga4View) string { return r.Date.Time().Format("200601") },
	"week":          func(r *ga4View) string { return fmt.Sprintf("%02d", ga4Week(r.Date)) },
	"yearWeek":      func(r *ga4View) string { return r.Date.Time().Format("2006") + fmt.Sprintf("%02d", ga4Week(r.Date)) },
	"dayOfWeek":     func(r *ga4View) string { return strconv.Itoa((r.Date.Weekday() + 1) % 7) },
	"dayOfWeekName": func(r *ga4View) string { return r.Date.Time().Format("Monday") },
	"nthDay":        func(r *ga4View) string { return fmt.Sprintf("%04d", r.Date-r.first) },
	"isoYear":       func(r *ga4View) string { year, _ := r.Date.Time().ISOWeek(); return strconv.Itoa(year) },
	"isoWeek":       func(r *ga4View) string { _, week := r.Date.Time().ISOWeek(); return fmt.Sprintf("%02d", week) },
	"isoYearIsoWeek": func(r *ga4View) string {
		year, week := r.Date.Time().ISOWeek()
		return fmt.Sprintf("%d%02d", year, week)
	},
}

// ga4Week returns the week of the year. Weeks begin on Sunday, the first one on
// the first of January.
func ga4Week(day clock.Date) int {
	year, _, _ := day.Calendar()
	first := clock.MakeDate(year, 1, 1)
	return (int(day-first)+(first.Weekday()+1)%7)/7 + 1
}

// ga4SourceDimensions are the dimensions of traffic sources in all scopes.
//
// Choice: the scopes have the same values.
var ga4SourceDimensions = map[string]ga4Dimension{
	"CampaignName":        {level: ByCampaign, of: func(r *ga4View) string { return r.Campaign.Name }},
	"ManualCampaignName":  {level: ByCampaign, of: func(r *ga4View) string { return r.Campaign.Name }},
	"DefaultChannelGroup": {level: ByCampaign, of: ga4ChannelGroup},
	"PrimaryChannelGroup": {level: ByCampaign, of: ga4ChannelGroup},
	"Source":              {level: ByCampaign, of: func(r *ga4View) string { return ga4Source(r.Campaign) }},
	"Medium":              {level: ByCampaign, of: func(r *ga4View) string { return ga4Medium(r.Campaign) }},
	"SourceMedium":        {level: ByCampaign, of: func(r *ga4View) string { return ga4Source(r.Campaign) + " / " + ga4Medium(r.Campaign) }},
	"ManualAdContent": {level: ByAd, of: func(r *ga4View) string {
		if r.Ad == nil {
			return ga4NotSet
		}
		return r.Ad.Name
	}},
}

func ga4AudienceName(r *ga4View) string {
	if r.Group == nil || r.Group.Audience == nil {
		return ga4NotSet
	}
	return r.Group.Audience.Name
}

func ga4Source(c *Campaign) string {
	switch {
	case c.Kind == "leads":
		return "linkedin"
	case c.Channel == "social":
		return "facebook"
	}
	return "google"
}

func ga4Medium(c *Campaign) string {
	if c.Channel == "social" {
		return "paid_social"
	}
	return "cpc"
}

// ga4Countries are the names of the countries of accounts.
var ga4Countries = map[string]string{
	"US": "United States", "GB": "United Kingdom", "DE": "Germany", "FR": "France", "CA": "Canada",
	"NL": "Netherlands", "SE": "Sweden", "AU": "Australia", "ES": "Spain", "JP": "Japan",
}

// ga4Channels are GA4's names of campaign kinds and, for other kinds, of
// channels.
var ga4Channels = map[string]string{
	"shopping": "Paid Shopping", "performance_max": "Cross-network",
	"search": "Paid Search", "social": "Paid Social", "display": "Display", "video": "Paid Video",
}

func ga4ChannelGroup(r *ga4View) string {
	for _, word := range []string{r.Campaign.Kind, r.Campaign.Channel} {
		if group, ok := ga4Channels[word]; ok && !r.unassigned {
			return group
		}
	}
	return "Unassigned"
}

// ga4EmptySourceDimensions are the dimensions of traffic sources, in all scopes,
// that the properties have no values of.
const ga4EmptySourceDimensions = `
CampaignId SourcePlatform ManualCampaignId ManualCreativeFormat ManualMarketingTactic ManualMedium ManualSource
ManualSourceMedium ManualSourcePlatform ManualTerm GoogleAdsAccountName GoogleAdsAdGroupId GoogleAdsAdGroupName
GoogleAdsAdNetworkType GoogleAdsCampaignId GoogleAdsCampaignName GoogleAdsCampaignType GoogleAdsCreativeId
GoogleAdsCustomerId GoogleAdsKeyword GoogleAdsQuery Cm360AccountId Cm360AccountName Cm360AdvertiserId
Cm360AdvertiserName Cm360CampaignId Cm360CampaignName Cm360CreativeFormat Cm360CreativeId Cm360CreativeName
Cm360CreativeType Cm360CreativeTypeId Cm360CreativeVersion Cm360Medium Cm360PlacementCostStructure
Cm360PlacementId Cm360PlacementName Cm360RenderingId Cm360SiteId Cm360SiteName Cm360Source Cm360SourceMedium
Dv360AdvertiserId Dv360AdvertiserName Dv360CampaignId Dv360CampaignName Dv360CreativeFormat Dv360CreativeId
Dv360CreativeName Dv360ExchangeId Dv360ExchangeName Dv360InsertionOrderId Dv360InsertionOrderName Dv360LineItemId
Dv360LineItemName Dv360Medium Dv360PartnerId Dv360PartnerName Dv360Source Dv360SourceMedium Sa360AdGroupId
Sa360AdGroupName Sa360CampaignId Sa360CampaignName Sa360CreativeFormat Sa360EngineAccountId Sa360EngineAccountName
Sa360EngineAccountType Sa360KeywordText Sa360ManagerAccountId Sa360ManagerAccountName Sa360Medium Sa360Query
Sa360Source Sa360SourceMedium
`

// ga4EmptyDimensions are the other dimensions that the properties have no values
// of.
const ga4EmptyDimensions = `
achievementId adFormat adSourceName adUnitName appVersion audienceId audienceResourceName brandingInterest browser
character city cityId cohort cohortNthDay cohortNthMonth cohortNthWeek contentGroup contentId contentType continent
continentId currencyCode dateHour dateHourMinute deviceModel fileExtension fileName firstSessionDate fullPageUrl
groupId hostName hour itemAffiliation itemBrand itemCategory itemCategory2 itemCategory3 itemCategory4 itemCategory5
itemId itemListId itemListName itemListPosition itemLocationID itemName itemPromotionCreativeName
itemPromotionCreativeSlot itemPromotionId itemPromotionName itemVariant landingPage landingPagePlusQueryString
language languageCode level linkClasses linkDomain linkId linkText linkUrl method metro minute mobileDeviceBranding
mobileDeviceMarketingName mobileDeviceModel newVsReturning nthHour nthMinute nthMonth nthWeek nthYear
operatingSystem operatingSystemVersion operatingSystemWithVersion orderCoupon outbound pageLocation pagePath
pagePathPlusQueryString pageReferrer pageTitle percentScrolled platformDeviceCategory region screenResolution
searchTerm shippingTier signedInWithUserId streamId streamName subContinent subContinentId testDataFilterId
testDataFilterName transactionId unifiedPagePathScreen unifiedPageScreen unifiedScreenClass unifiedScreenName
videoProvider videoTitle videoUrl virtualCurrencyName visible
`
