package sandbox

import (
	"strings"

	"fanfare/internal/fact"
)

// linkedInMetrics maps fields to measures.
var linkedInMetrics = map[string]fact.Measure{
	"impressions": fact.Impressions, "clicks": fact.Clicks, "costInLocalCurrency": fact.Spend, "externalWebsiteConversions": fact.Conversions,
	"conversionValueInLocalCurrency": fact.Revenue, "oneClickLeads": fact.Leads, "totalEngagements": fact.Engagements,
	"videoViews": fact.VideoViews, "videoCompletions": fact.VideoCompletions, "approximateMemberReach": fact.Reach,
}

// linkedInSameAs are fields that have the value of another one in accounts
// whose clicks all lead to the landing page and whose conversions all follow a
// click.
var linkedInSameAs = map[string]string{
	"landingPageClicks": "clicks", "externalWebsitePostClickConversions": "externalWebsiteConversions", "videoStarts": "videoViews",
}

// linkedInCounts are the documented counts of which the accounts have none, and
// linkedInAverages the documented averages of them, which are then absent.
var (
	linkedInCounts = linkedInNames(`
		actionClicks adUnitClicks cardClicks cardImpressions commentLikes comments companyPageClicks documentCompletions
		documentFirstQuartileCompletions documentMidpointCompletions documentThirdQuartileCompletions downloadClicks eventViews
		eventViewsOver15Seconds eventViewsOver2Minutes eventViewsOver30Seconds eventWatchTime externalWebsitePostViewConversions follows
		fullScreenPlays headlineClicks headlineImpressions jobApplications jobApplyClicks leadGenerationMailContactInfoShares
		leadGenerationMailInterestedClicks likes oneClickLeadFormOpens opens otherEngagements postClickJobApplications
		postClickJobApplyClicks postClickRegistrations postViewJobApplications postViewJobApplyClicks postViewRegistrations qualifiedLeads
		reactions registrations sends shares subscriptionClicks talentLeads textUrlClicks validWorkEmailLeads videoFirstQuartileCompletions
		videoMidpointCompletions videoThirdQuartileCompletions videoWatchTime viralCardClicks viralCardImpressions viralClicks
		viralCommentLikes viralComments viralCompanyPageClicks viralDocumentCompletions viralDocumentFirstQuartileCompletions
		viralDocumentMidpointCompletions viralDocumentThirdQuartileCompletions viralDownloadClicks viralExternalWebsiteConversions
		viralExternalWebsitePostClickConversions viralExternalWebsitePostViewConversions viralFollows viralFullScreenPlays
		viralImpressions viralJobApplications viralJobApplyClicks viralLandingPageClicks viralLikes viralOneClickLeadFormOpens
		viralOneClickLeads viralOtherEngagements viralPostClickJobApplications viralPostClickJobApplyClicks viralPostClickRegistrations
		viralPostViewJobApplications viralPostViewJobApplyClicks viralPostViewRegistrations viralReactions viralRegistrations viralShares
		viralSubscriptionClicks viralTotalEngagements viralVideoCompletions viralVideoFirstQuartileCompletions
		viralVideoMidpointCompletions viralVideoStarts viralVideoThirdQuartileCompletions viralVideoViews`)
	linkedInAverages = linkedInNames(`
		averageDwellTime averageEventWatchTime averageEventWatchTimeOver15Seconds averageEventWatchTimeOver2Minutes
		averageEventWatchTimeOver30Seconds averageVideoWatchTime costPerEventView costPerEventViewOver15Seconds
		costPerEventViewOver2Minutes costPerEventViewOver30Seconds costPerQualifiedLead revenueAttributionMetrics`)
)

func linkedInNames(text string) map[string]bool {
	names := map[string]bool{}
	for name := range strings.FieldsSeq(text) {
		names[name] = true
	}
	return names
}

// linkedInKnownField reports whether a report has a field.
func linkedInKnownField(name string) bool {
	switch name {
	case "pivotValues", "dateRange", "costInUsd", "audiencePenetration":
		return true
	}
	_, isMetric := linkedInMetrics[name]
	return isMetric || linkedInSameAs[name] != "" || linkedInCounts[name] || linkedInAverages[name]
}

// linkedInAbsent reports whether a field is absent with a pivot: reach and cards
// have no members, revenue neither, and devices have neither reach nor
// conversions.
func linkedInAbsent(field, pivot string) bool {
	switch field {
	case "approximateMemberReach":
		return linkedInIsMember(pivot) || pivot == linkedInDevicePivot
	case "conversionValueInLocalCurrency":
		return linkedInIsMember(pivot) || pivot == linkedInDevicePivot
	case "cardClicks", "cardImpressions", "viralCardClicks", "viralCardImpressions":
		return linkedInIsMember(pivot)
	case "externalWebsiteConversions", "externalWebsitePostClickConversions", "externalWebsitePostViewConversions":
		return pivot == linkedInDevicePivot
	}
	return false
}

const (
	linkedInCountryPivot    = "MEMBER_COUNTRY_V2"
	linkedInDevicePivot     = "IMPRESSION_DEVICE_TYPE"
	linkedInConversionPivot = "CONVERSION"
)

func linkedInIsMember(pivot string) bool { return strings.HasPrefix(pivot, "MEMBER_") }

// linkedInLevels maps pivots to the level of their rows.
var linkedInLevels = map[string]Level{
	"COMPANY": ByAccount, "ACCOUNT": ByAccount, "CAMPAIGN_GROUP": ByAccount, "SERVING_LOCATION": ByAccount, "PLACEMENT_NAME": ByAccount,
	"CAMPAIGN": ByCampaign, linkedInConversionPivot: ByCampaign, "CREATIVE": ByAd, linkedInCountryPivot: ByCountry, linkedInDevicePivot: ByDevice,
	"MEMBER_COMPANY_SIZE": ByCampaign, "MEMBER_INDUSTRY": ByCampaign, "MEMBER_SENIORITY": ByCampaign, "MEMBER_JOB_TITLE": ByCampaign,
	"MEMBER_JOB_FUNCTION": ByCampaign, "MEMBER_REGION_V2": ByCampaign, "MEMBER_COUNTY": ByCampaign, "MEMBER_COMPANY": ByCampaign,
}

// linkedInOtherPivots are the pivots of kinds of ads that the accounts do not
// have: their reports are empty.
var linkedInOtherPivots = map[string]bool{
	"SHARE": true, "CONVERSATION_NODE": true, "CONVERSATION_NODE_OPTION_INDEX": true, "CARD_INDEX": true, "EVENT_STAGE": true,
	"MEMBER_DESIGNATED_MARKET_AREA": true,
}

// linkedInMembers are the values of the pivots of members.
var linkedInMembers = map[string][]string{
	"MEMBER_COMPANY_SIZE": {"SIZE_51_TO_200", "SIZE_201_TO_500", "SIZE_11_TO_50", "SIZE_1001_TO_5000"},
	"MEMBER_INDUSTRY":     {"urn:li:industry:4", "urn:li:industry:96", "urn:li:industry:25", "urn:li:industry:43"},
	"MEMBER_SENIORITY":    {"urn:li:seniority:4", "urn:li:seniority:5", "urn:li:seniority:6", "urn:li:seniority:3"},
	"MEMBER_JOB_TITLE":    {"urn:li:title:95", "urn:li:title:9", "urn:li:title:24", "urn:li:title:1"},
	"MEMBER_JOB_FUNCTION": {"urn:li:function:12", "urn:li:function:15", "urn:li:function:4", "urn:li:function:25"},
	"MEMBER_REGION_V2":    {"urn:li:geo:90009712", "urn:li:geo:90009496", "urn:li:geo:90000070", "urn:li:geo:90000084"},
	"MEMBER_COUNTY":       {"urn:li:geo:102380872", "urn:li:geo:100025096", "urn:li:geo:106383538", "urn:li:geo:104116203"},
	"MEMBER_COMPANY":      {"urn:li:organization:1035", "urn:li:organization:1441", "urn:li:organization:1586", "urn:li:organization:1337"},
}

// linkedInMemberWeights split metrics by member, linkedInRuleWeights by the two
// conversion rules of an account.
var (
	linkedInMemberWeights = []int64{41, 28, 19, 12}
	linkedInRuleWeights   = []int64{60, 40}
)

// linkedInGeos are the ids of the countries.
var linkedInGeos = map[string]string{
	"US": "103644278", "GB": "101165590", "DE": "101282230", "FR": "105015875", "CA": "101174742",
	"NL": "102890719", "SE": "105117694", "AU": "101452733", "ES": "105646813", "JP": "101355337",
}

var linkedInDevices = map[string]string{"mobile": "MOBILE_APP", "tablet": "MOBILE_WEB", "desktop": "DESKTOP_WEB"}

// linkedInSortFields are the fields that sort a report.
var linkedInSortFields = map[string]string{
	"COST_IN_LOCAL_CURRENCY": "costInLocalCurrency", "IMPRESSIONS": "impressions", "CLICKS": "clicks", "ONE_CLICK_LEADS": "oneClickLeads",
	"OPENS": "opens", "SENDS": "sends", "EXTERNAL_WEBSITE_CONVERSIONS": "externalWebsiteConversions",
}
