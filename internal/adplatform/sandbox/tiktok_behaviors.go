package sandbox

import (
	"maps"
	"slices"
)

// Sources of TikTok's behaviors.
const (
	tikTokReportPage  = "business-api.tiktok.com/portal/docs?id=1740302848100353 (Run a synchronous report)"
	tikTokReportFAQ   = "business-api.tiktok.com/portal/docs?id=1738864850353154 (Reporting FAQs)"
	tikTokListPage    = "business-api.tiktok.com/portal/docs?id=1739315828649986 (Get campaigns)"
	tikTokCodePage    = "business-api.tiktok.com/portal/docs?id=1737172488964097 (Return codes)"
	tikTokStatusPage  = "business-api.tiktok.com/portal/docs?id=1739320994354178 (Update the operation statuses of campaigns)"
	tikTokAccountPage = "business-api.tiktok.com/portal/docs?id=1738455508553729 (Get authorized ad accounts), and the page Get ad account details of /advertiser/info/"
	tikTokTokenPage   = "business-api.tiktok.com/portal/docs?id=1738373164380162 (Authentication)"
)

// Tests of TikTok's behaviors.
const (
	tikTokTests        = "internal/adplatform/tiktok "
	tikTokCompleteTest = tikTokTests + "TestReportsAreComplete"
	tikTokCodesTest    = tikTokTests + "TestCodes"
)

var (
	tikTokCodeValues        = slices.Sorted(maps.Keys(tikTokCodes))
	tikTokReservationValues = []string{"rf", "top_view", "account"}
)

// tikTokBehaviors are the simulated behaviors of TikTok Ads.
var tikTokBehaviors = slices.Concat(tikTokAccessBehaviors, tikTokReportBehaviors)

// tikTokAccessBehaviors are about access, codes and changes.
var tikTokAccessBehaviors = []Behavior{
	{
		ID: "T1", Platform: TikTokAds, Summary: "A token does not expire; a code of the consent works once (40110).",
		Client: "Never refreshes. 40102, 40104 and 40105 ask for a new consent, 40110 for a new start.", Source: tikTokTokenPage, Test: tikTokTests + "TestGrant",
	},
	{
		ID: "T2", Platform: TikTokAds, Switch: "narrow_grant", Summary: "The person can grant less than the app asks for: scope has fewer numbers, changes answer 40001.",
		Client: "Keeps the granted scopes; a refused change names who can give the right.", Source: tikTokTokenPage, Test: tikTokTests + "TestNarrowGrant",
	},
	{
		ID: "T3", Platform: TikTokAds, Switch: BehaviorAccounts, Number: true, Summary: "A token opens the accounts that the list of authorized accounts has at the time.",
		Client: "Reads the list on each call; every account is reached by its id.", Source: tikTokAccountPage, Test: tikTokTests + "TestManyAccounts",
	},
	{
		ID: "T4", Platform: TikTokAds, Switch: BehaviorAccounts, Number: true, Summary: "Details of accounts take up to 100 ids (40011). One account without access fails the answer for all.",
		Client: "Asks for 100 at a time, then for halves; an account without access is listed with its problem.", Source: tikTokAccountPage, Test: tikTokTests + "TestManyAccounts",
	},
	{
		ID: "T5", Platform: TikTokAds, Summary: "Errors have status 200 and a code in the body.",
		Client: "Classifies by the code and keeps request_id.", Source: tikTokCodePage, Test: tikTokCodesTest,
	},
	{
		ID: "T6", Platform: TikTokAds, Switch: "partial_20001", Values: []string{"applied", "failed"}, Summary: "Code 20001: done for some of the objects, with lists of successes and errors.",
		Client: "Reads the result of the campaign. An incomplete answer to a read is no answer.", Source: tikTokCodePage, Test: tikTokTests + "TestPartlySuccessful",
	},
	{
		ID: "T7", Platform: TikTokAds, Switch: "return_code", Values: tikTokCodeValues, Summary: "Codes of access mean different things: account, app, allowlist, country.",
		Client: "Only 40102, 40104 and 40105 end the connection. All others name who can help.", Source: tikTokCodePage, Test: tikTokCodesTest,
	},
	{
		ID: "T8", Platform: TikTokAds, Switch: "return_code", Values: tikTokCodeValues, Summary: "40300, 40301: the account was deleted.",
		Client: "The account is gone; the other accounts are listed.", Source: tikTokCodePage, Test: tikTokTests + "TestManyAccounts",
	},
	{
		ID: "T9", Platform: TikTokAds, Switch: "advertiser_throttle_40133", Summary: "Limits without headers: 40100 and 40016 for the app, 40133 for one account, 40132 for a value.",
		Client: "Waits as the message says: a second, five minutes, or until midnight UTC. 40133 holds only the account.", Source: tikTokCodePage, Test: tikTokTests + "TestAccountThrottled",
	},
	{
		ID: "T12", Platform: TikTokAds, Switch: "maintenance_60001", Summary: "Passing errors in all ranges: 40200, 40201, 40202, 40700, 5xxxx, and 60001 for maintenance.",
		Client: "Tries again; after maintenance not before five minutes.", Source: tikTokCodePage + "; github.com/singer-io/tap-tiktok-ads client.py", Test: tikTokCodesTest,
	},
	{
		ID: "T13", Platform: TikTokAds, Switch: "return_code", Values: tikTokCodeValues, Summary: "40002 is for wrong parameters and for objects out of reach; 40007 says that an object does not exist.",
		Client: "40007 is gone, 40002 a refusal with TikTok's message, which costs only the call.", Source: tikTokCodePage, Test: tikTokCodesTest,
	},
	{
		ID: "T33", Platform: TikTokAds, Switch: "smart_plus", Summary: "Smart+ campaigns have an endpoint of their own for their status; the usual one refuses them.",
		Client: "Uses it when the usual one refuses.", Source: "business-api.tiktok.com/portal/docs?id=1843312888885314 (Update the operation statuses of Upgraded Smart+ Campaigns)", Test: tikTokTests + "TestSmartPlus",
	},
	{
		ID: "T34", Platform: TikTokAds, Switch: "deleted_hidden", Summary: "A status changes for 1 to 20 campaigns; that of a deleted campaign cannot change.",
		Client: "Changes one campaign per call. A deleted one is gone.", Source: tikTokStatusPage, Test: tikTokTests + "TestDeletedCampaignStatus",
	},
}

// tikTokReportBehaviors are about lists and reports.
var tikTokReportBehaviors = []Behavior{
	{
		ID: "T14", Platform: TikTokAds, Switch: "total_drift", Summary: "Pages are not a snapshot: the total number changes from page to page.",
		Client: "Drops rows that come twice and reads up to three times. If the spend adds up to TikTok's total, the rows are complete.", Source: tikTokReportPage, Test: tikTokCompleteTest,
	},
	{
		ID: "T15", Platform: TikTokAds, Switch: "cap_10000_ads", Number: true, Summary: "A report has only the latest 20,000 ads (10,000 in the SDK), with the header X-Tt-Ads-Throttle. The value of the switch replaces the number.",
		Client: "Reads by campaigns, then by ad groups.", Source: tikTokReportPage + "; " + tikTokReportFAQ + "; tiktok-business-api-sdk 1.0.1 api/reporting_api.py", Test: tikTokCompleteTest,
	},
	{
		ID: "T16", Platform: TikTokAds, Switch: "too_large_40067", Number: true, Summary: "Large accounts get 40067 for fewer days than 30. The value of the switch is the number of campaigns times days that fit.",
		Client: "Asks for fewer days; for a single day by campaigns.", Source: "github.com/airbytehq/airbyte source-tiktok-marketing 5.1.0", Test: tikTokCompleteTest,
	},
	{
		ID: "T17", Platform: TikTokAds, Summary: "query_lifetime ignores the days of a report.",
		Client: "Never sends it.", Source: tikTokReportPage, Test: tikTokTests + "TestReportMatchesSandbox",
	},
	{
		ID: "T19", Platform: TikTokAds, Switch: BehaviorMaturation, Number: true, Summary: "Advertisers set the attribution window: up to 28 days after a click. Until then conversions change.",
		Client: "Recent days are read again for 7 days, and 30 days once a week.", Source: "ads.tiktok.com/help/article/attribution-manager", Test: tikTokTests + "TestAttributionWindow",
	},
	{
		ID: "T20", Platform: TikTokAds, Switch: "reservation_spend", Values: tikTokReservationValues, Summary: "Reports have auction ads unless buying_type asks for others. A reservation account gets empty reports of auctions; its reports have RESERVATION levels.",
		Client: "Asks for auction and reach ads, TopView ads, and reservations if all of that is empty.", Source: tikTokReportPage + "; " + tikTokReportFAQ, Test: tikTokCompleteTest,
	},
	{
		ID: "T21", Platform: TikTokAds, Switch: "reservation_spend", Values: tikTokReservationValues, Summary: "Lists leave out TopView campaigns unless buying_types asks for them alone.",
		Client: "Asks for them, also before it calls a campaign gone.", Source: tikTokListPage, Test: tikTokTests + "TestHiddenCampaigns",
	},
	{
		ID: "T22", Platform: TikTokAds, Switch: "deleted_hidden", Summary: "Lists and reports leave out deleted campaigns, ad groups and ads. Only the report of the account has them.",
		Client: "Asks for all statuses, always.", Source: tikTokReportPage + "; " + tikTokListPage, Test: tikTokCompleteTest,
	},
	{
		ID: "T23", Platform: TikTokAds, Switch: "gmv_max_separate", Summary: "GMV Max campaigns are in no list and report of campaigns.",
		Client: "Notes what they spent, or how many there are.", Source: "business-api.tiktok.com/portal/docs?id=1803073629472770 (GMV max ads reports), 1824721673497601 (Run a GMV Max Campaign report)", Test: tikTokTests + "TestGMVMax",
	},
	{
		ID: "T24", Platform: TikTokAds, Switch: "three_legs", Summary: "TikTok counts each event in apps, on the website and in TikTok Shop separately. An unused one is 0.",
		Client: "Adds them up: conversion is TikTok's own sum of results, chosen events add their metrics.", Source: "business-api.tiktok.com/portal/docs?id=1759239462689793 (Supported metrics for a dimension); github.com/airbytehq/airbyte issue 85815", Test: tikTokTests + "TestChosenConversions",
	},
	{
		ID: "T25", Platform: TikTokAds, Summary: "The value of purchases on a website is total_complete_payment_rate; total_purchase_value is that of apps.",
		Client: "Revenue is the sum of the metrics of apps, website and shop.", Source: "github.com/PostHog/posthog pull 42830, which quotes business-api.tiktok.com/portal/docs?id=1751625293044737", Test: tikTokTests + "TestReportMatchesSandbox",
	},
	{
		ID: "T26", Platform: TikTokAds, Switch: "skan_separate", Summary: "Conversions that Apple's SKAdNetwork reports are in metrics of their own (skan_conversion).",
		Client: "Notes how many they are, because the same conversion can be in both. They can be chosen by name.", Source: "business-api.tiktok.com/portal/docs?id=1759239462689793 (Supported metrics for a dimension), Core metrics (SKAN)", Test: tikTokTests + "TestSKAN",
	},
	{
		ID: "T27", Platform: TikTokAds, Summary: `A value that TikTok does not have is "-".`,
		Client: "It is unknown, not 0.", Source: "github.com/airbytehq/airbyte source-tiktok-marketing AGENTS.md", Test: tikTokTests + "TestMissingMetricsAreUnknown",
	},
	{
		ID: "T28", Platform: TikTokAds, Summary: "Reports by audience refuse most metrics (40002).",
		Client: "Asks for the ones that exist, and notes that chosen events have no breakdown.", Source: "business-api.tiktok.com/portal/docs?id=1762404685488130 (Supported metrics for a dimension in audience reports)", Test: tikTokTests + "TestChosenConversions",
	},
	{
		ID: "T29", Platform: TikTokAds, Summary: "Days are those of the account's time zone.",
		Client: "Takes the zone from the account and asks for each account alone.", Source: tikTokReportPage, Test: tikTokTests + "TestReportMatchesSandbox",
	},
	{
		ID: "T30", Platform: TikTokAds, Summary: "Ids are texts of 19 digits, more than a float can hold.",
		Client: "Keeps them as texts.", Source: tikTokReportPage, Test: tikTokTests + "TestReportMatchesSandbox",
	},
	{
		ID: "T31", Platform: TikTokAds, Switch: "deleted_hidden", Summary: "Names can be asked for as metrics; deleted objects have them there.",
		Client: "Uses them if the lists do not have the object.", Source: tikTokReportPage, Test: tikTokTests + "TestNamesFromReport",
	},
	{
		ID: "T32", Platform: TikTokAds, Switch: "smart_plus", Summary: "Ads of Smart+ have no modify_time.",
		Client: "Does not read it.", Source: "github.com/airbytehq/airbyte source-tiktok-marketing AGENTS.md", Test: tikTokTests + "TestSmartPlus",
	},
	{
		ID: "T38", Platform: TikTokAds, Switch: "metric_removed", Values: []string{"total_onsite_shopping_value"}, Summary: "Version 1.3 changes every month: a metric can become invalid (40002). Codes 40006, 40051 and 41001 say that the version has ended.",
		Client: "Reads the others and notes what is missing.", Source: "github.com/PostHog/posthog pull 42830 (message of TikTok); " + tikTokCodePage, Test: tikTokTests + "TestMetricRemoved",
	},
	{
		ID: "T39", Platform: TikTokAds, Switch: "promote_hidden", Summary: "Lists and reports leave out posts that were promoted in TikTok's app unless campaign_system_origins asks for them.",
		Client: "Asks for them separately.", Source: "business-api.tiktok.com/portal/docs?id=1785880454546433 (Promote campaign)", Test: tikTokCompleteTest,
	},
	{
		ID: "X12", Platform: TikTokAds, Switch: tikTokFixedOffset, Summary: "Accounts have no daylight saving time: timezone of one in New York is Etc/GMT+5, which is 5 hours behind UTC all year. display_timezone is America/New_York.",
		Client: "Uses display_timezone, otherwise timezone as the time zone database has it.", Source: "ads.tiktok.com/help/article/time-zone; github.com/airbytehq/airbyte source-tiktok-marketing integration_tests/expected_records.jsonl (advertisers)", Test: "internal/adplatform/tiktok TestFixedOffsetZone",
	},
	{
		ID: "X13", Platform: TikTokAds, Switch: tikTokSecondaryStatus, Values: tikTokSecondaryStatuses, Summary: "A campaign that is switched on can have a secondary status that stops it, also one of the account (ADVERTISER_ACCOUNT_PUNISH).",
		Client: "Shows the secondary status of a campaign that is switched on. The state is that of operation_status.", Source: "github.com/tiktok/tiktok-business-api-sdk 0.1.8, yml_files/smart_plus_campaign_get.yml (secondary_status); github.com/airbytehq/airbyte source-tiktok-marketing integration_tests/expected_records.jsonl", Test: "internal/adplatform/tiktok TestSecondaryStatus",
	},
	{
		ID: "X14", Platform: TikTokAds, Switch: tikTokSharedAudience, Summary: "The list of audiences has those that other accounts share, with their ids: the same audience is in the lists of several accounts, and is_creator says in which one it is owned.",
		Client: "Stores it once. It stays with the account that has it while that account is synced.", Source: "github.com/tiktok/tiktok-business-api-sdk 0.1.8, yml_files/dmp_custom_audience_list.yml", Test: "internal/connection TestSharedAudience",
	},
}
