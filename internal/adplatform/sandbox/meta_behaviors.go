package sandbox

// Switches of Meta Ads.
const (
	metaAccountDenied      = "account_denied"
	metaAccountStatus      = "account_status"
	metaAsyncSkipped       = "async_skipped"
	metaAsyncSlow          = "async_slow"
	metaBreakdownEstimated = "breakdown_estimated"
	metaCursorLimit        = "cursor_limit"
	metaDeletedHidden      = "deleted_hidden"
	metaDeviceOptIn        = "impression_device_opt_in"
	metaEffectiveStatus    = "effective_status"
	metaErrorWith200       = "error_with_200"
	metaFieldPermission    = "field_permission"
	metaLargeLists         = "lists_too_large"
	metaListsOmitArchived  = "lists_omit_archived"
	metaPermissionPartial  = "permission_partial"
	metaPermissionUnused   = "permission_90d"
	metaReportError        = "report_error"
	metaRequireProof       = "require_app_secret"
	metaResultEvents       = "result_events"
	metaShortPages         = "short_and_empty_pages"
	metaSummaryDeleted     = "summary_deleted"
	metaSummaryParam       = "summary_param_400"
	metaSystemUser         = "system_user_token"
	metaTokenSubcodes      = "token_subcodes"
	metaTooLargeSwitch     = "too_large"
	metaUsageStrings       = "usage_headers_as_strings"
	metaVersionUpgraded    = "version_upgraded"
	metaInactiveAudience   = "audience_inactive"
	metaBudgetLevel        = "budget_level"
	metaLegacyObjectives   = "legacy_objectives"
	metaUnavailable200     = "service_unavailable_200"
	metaSuccessFalse       = "success_false"
)

// metaBehaviors are the simulated behaviors of Meta Ads.
var metaBehaviors = []Behavior{
	{
		ID: "M1", Platform: MetaAds, Switch: metaSystemUser,
		Summary: "Tokens of persons last an hour or two and are exchanged for 60 days. Those of system users do not expire and cannot be exchanged.",
		Client:  "Exchanges a token only if it expires.",
		Source:  "developers.facebook.com/docs/facebook-login/facebook-login-for-business",
		Test:    "internal/adplatform/meta TestSystemUser",
	},
	{
		ID: "M2", Platform: MetaAds, Switch: metaTokenSubcodes, Values: []string{"458", "459", "460", "463", "464", "467", "492"},
		Summary: "The subcode of error 190 says why a token has ended.",
		Client:  "Asks for a new consent. For 459 and 464 it sends the person to facebook.com first.",
		Source:  "developers.facebook.com/docs/graph-api/guides/error-handling",
		Test:    "internal/adplatform/meta TestTokenReasons",
	},
	{
		ID: "M3", Platform: MetaAds, Switch: metaPermissionUnused,
		Summary: "A permission that was not used for 90 days must be granted again (error 10).",
		Client:  "Reports a missing permission with its remedy, not the end of the token.",
		Source:  "developers.facebook.com/docs/graph-api/guides/error-handling",
		Test:    "internal/adplatform/meta TestUnusedPermission",
	},
	{
		ID: "M4", Platform: MetaAds, Switch: metaPermissionPartial,
		Summary: "Persons grant permissions one by one: ads_management can be missing.",
		Client:  "Stores the granted permissions, reads on, and reports the missing one for writes.",
		Source:  "developers.facebook.com/docs/facebook-login/guides/permissions",
		Test:    "internal/adplatform/meta TestPartialPermission",
	},
	{
		ID: "M5", Platform: MetaAds, Switch: metaRequireProof,
		Summary: "Apps can require appsecret_proof.",
		Client:  "Sends it with every call, and no token or secret in a URL.",
		Source:  "developers.facebook.com/docs/graph-api/guides/secure-requests; facebook-business 26.0.3, session.py",
		Test:    "internal/adplatform/meta TestAppSecretProof",
	},
	{
		ID: "M6", Platform: MetaAds, Switch: metaErrorWith200,
		Summary: "An error can come with status 200.",
		Client:  "Looks for the error first. One without data beside it counts as with any other status.",
		Source:  "github.com/api-evangelist/facebook-business-manager, errors",
		Test:    "internal/adplatform/meta TestErrorWithStatus200",
	},
	{
		ID: "M7", Platform: MetaAds, Switch: metaAccountStatus, Values: []string{"2", "3", "7", "8", "9", "100", "101"},
		Summary: "Accounts can be disabled, unsettled, in review or pending closure, and still have metrics.",
		Client:  "Lists and reads them, except closed ones.",
		Source:  "facebook-business 26.0.3, adobjects/adaccount.py, account_status and disable_reason",
		Test:    "internal/adplatform/meta TestAccountStates",
	},
	{
		ID: "M8", Platform: MetaAds, Switch: metaAccountDenied,
		Summary: "The list of accounts contains some that the person may not read: user_tasks is empty, and calls fail with error 200. Without fields, accounts have only id and account_id.",
		Client:  "Asks for fields by name, and returns such accounts with their problem.",
		Source:  "facebook-business 26.0.3, adobjects/adaccount.py, user_tasks",
		Test:    "internal/adplatform/meta TestManyAccounts",
	},
	{
		ID: "M9", Platform: MetaAds, Switch: metaFieldPermission,
		Summary: "One field without rights fails the whole list.",
		Client:  "Asks once more without the optional fields.",
		Source:  "github.com/airbytehq/airbyte, source-facebook-marketing 0.2.55 and 1.1.16",
		Test:    "internal/adplatform/meta TestFieldPermission",
	},
	{
		ID: "M10", Platform: MetaAds, Switch: metaShortPages,
		Summary: "Pages can be short or empty before the end of a list.",
		Client:  "Ends a list only if the next page is absent.",
		Source:  "developers.facebook.com/docs/graph-api/results",
		Test:    "internal/adplatform/meta TestShortPages",
	},
	{
		ID: "M11", Platform: MetaAds, Switch: metaCursorLimit,
		Summary: "Cursors are refused beyond a depth.",
		Client:  "Makes the report in the background.",
		Source:  "github.com/api-evangelist/facebook-business-manager, errors",
		Test:    "internal/adplatform/meta TestCursorLimit",
	},
	{
		ID: "M13", Platform: MetaAds, Switch: metaTooLargeSwitch, Values: []string{"1504018", "1504038", "1487534", "500", "unknown"},
		Summary: "Reports with too much data fail with 100/1504018, 2/1504038, 100/1487534, or status 500 with a text. 1487534 is for background reports too.",
		Client:  "Makes the report in the background, then asks for fewer days, and for one day by campaigns.",
		Source:  "developers.facebook.com/documentation/ads-commerce/marketing-api/insights/error-codes (21 May 2026) and insights/best-practices",
		Test:    "internal/adplatform/meta TestTooMuchData",
	},
	{
		ID: "M13a", Platform: MetaAds, Switch: metaLargeLists,
		Summary: "Lists with large pages fail with status 500.",
		Client:  "Halves the length of the pages.",
		Source:  "github.com/airbytehq/airbyte, source-facebook-marketing, streams/common.py",
		Test:    "internal/adplatform/meta TestLargeLists",
	},
	{
		ID: "M14", Platform: MetaAds, Switch: metaAsyncSlow,
		Summary: "Background reports can take up to an hour.",
		Client:  "Waits for 65 minutes, asking every 30 seconds.",
		Source:  "developers.facebook.com/documentation/ads-commerce/marketing-api/insights/best-practices (5 May 2026)",
		Test:    "internal/adplatform/meta TestSlowReports",
	},
	{
		ID: "M14a", Platform: MetaAds, Switch: metaAsyncSkipped,
		Summary: "Background reports can fail or be skipped.",
		Client:  "Starts the report once more, then asks for fewer days.",
		Source:  "developers.facebook.com/documentation/ads-commerce/marketing-api/insights/best-practices (5 May 2026); github.com/airbytehq/airbyte, source-facebook-marketing, streams/async_job.py",
		Test:    "internal/adplatform/meta TestSkippedReports",
	},
	{
		ID: "M15", Platform: MetaAds, Switch: metaSummaryParam,
		Summary: "A complete background report can refuse its summary.",
		Client:  "Reads the rows without the summary.",
		Source:  "pypi.org/project/tap-facebook 1.26.0, tap_facebook/__init__.py",
		Test:    "internal/adplatform/meta TestSummaryOfBackgroundReport",
	},
	{
		ID: "M18", Platform: MetaAds, Switch: metaUsageStrings,
		Summary: "Usage headers have percentages, sometimes as texts.",
		Client:  "Reads both, slows down from 75 percent and stops reading at 95.",
		Source:  "developers.facebook.com/docs/marketing-api/overview/rate-limiting; github.com/airbytehq/airbyte, source-facebook-marketing 5.2.8",
		Test:    "internal/adplatform/meta TestUsageTexts",
	},
	{
		ID: "M23", Platform: MetaAds, Switch: metaReportError, Values: []string{"1504041", "1504042", "1504043", "1504022", "341", "368"},
		Summary: "The subcode counts more than the code: 2/1504041 and 2/1504042 stay, 2/1504043 and 368 pass, 4 and 341 are rate limits (M19).",
		Client:  "Has a table of codes and subcodes.",
		Source:  "developers.facebook.com/documentation/ads-commerce/marketing-api/insights/error-codes (21 May 2026)",
		Test:    "internal/adplatform/meta TestReportErrors",
	},
	{
		ID: "M24", Platform: MetaAds, Switch: metaDeletedHidden,
		Summary: "Rows of deleted objects, also of ads in deleted ad sets, are missing below the account unless a filter names their status. Deleted objects cannot be listed.",
		Client:  "Filters every report by all statuses. Names of deleted objects come from the reports.",
		Source:  "developers.facebook.com/documentation/ads-commerce/marketing-api/best-practices/manage-your-ad-object-status (10 Nov 2025)",
		Test:    "internal/adplatform/meta TestDeletedObjects",
	},
	{
		ID: "M24a", Platform: MetaAds, Switch: metaSummaryDeleted, Values: []string{"with", "without"},
		Summary: "It is not documented whether the summary of a report contains deleted objects.",
		Client:  "A total that differs is a note with the amount.",
		Source:  "developers.facebook.com/documentation/ads-commerce/marketing-api/best-practices/manage-your-ad-object-status (10 Nov 2025)",
		Test:    "internal/adplatform/meta TestDeletedObjects",
	},
	{
		ID: "M25", Platform: MetaAds, Switch: metaListsOmitArchived,
		Summary: "Lists omit archived objects unless effective_status names them. Archived campaigns cannot start again (M26).",
		Client:  "Names all statuses but DELETED, which Meta refuses in lists.",
		Source:  "developers.facebook.com/documentation/ads-commerce/marketing-api/best-practices/manage-your-ad-object-status (10 Nov 2025)",
		Test:    "internal/adplatform/meta TestArchivedObjects",
	},
	{
		ID: "M28", Platform: MetaAds,
		Summary: "Metrics are available for 37 months.",
		Client:  "Asks for 1,123 days, which is less in every month.",
		Source:  "developers.facebook.com/docs/graph-api/reference/adaccount/insights",
		Test:    "internal/adplatform/meta TestHistory",
	},
	{
		ID: "M30", Platform: MetaAds,
		Summary: "The value of an action follows the setting of its ad set. Attribution windows have keys of their own and overlap.",
		Client:  "Requests no windows and reads the value, as Ads Manager shows it.",
		Source:  "developers.facebook.com/ads/blog, 16 Oct 2025; facebook-business 26.0.3, adobjects/adsactionstats.py",
		Test:    "internal/adplatform/meta TestConversionEvents",
	},
	{
		ID: "M31", Platform: MetaAds, Switch: metaResultEvents, Values: []string{"lead", "registration", "install", "message", "subscribe", "none"},
		Summary: "Conversions are types of actions that overlap. Which of them an account reports depends on what its ad sets optimize for.",
		Client:  "Counts the events that the ad sets optimize for, or the chosen ones, each once. Absent ones are zero if they are measured, else unknown.",
		Source:  "facebook-business 26.0.3, adobjects/adset.py, adpromotedobject.py and adsactionstats.py",
		Test:    "internal/adplatform/meta TestConversionEvents",
	},
	{
		ID: "M33", Platform: MetaAds,
		Summary: "Reach is absent from breakdowns that begin more than 13 months ago.",
		Client:  "Absent reach is unknown.",
		Source:  "developers.facebook.com/documentation/ads-commerce/marketing-api/insights/best-practices (5 May 2026)",
		Test:    "internal/adplatform/meta TestReachOfOldBreakdowns",
	},
	{
		ID: "M35", Platform: MetaAds, Switch: metaBreakdownEstimated,
		Summary: "Breakdowns are estimated and do not add up to the total.",
		Client:  "Keeps the rows, with a note about the difference.",
		Source:  "developers.facebook.com/documentation/ads-commerce/marketing-api/insights/breakdowns (8 May 2026)",
		Test:    "internal/adplatform/meta TestEstimatedBreakdowns",
	},
	{
		ID: "M36", Platform: MetaAds, Switch: metaDeviceOptIn, Values: []string{"refused", "empty"},
		Summary: "Since 6 August 2026 some accounts must opt in to impression_device.",
		Client:  "Asks for device_platform instead, with a note that tablets count as mobile.",
		Source:  "github.com/airbytehq/airbyte, source-facebook-marketing 6.0.0",
		Test:    "internal/adplatform/meta TestImpressionDevice",
	},
	{
		ID: "M39", Platform: MetaAds, Switch: metaEffectiveStatus, Values: []string{"IN_PROCESS", "WITH_ISSUES"},
		Summary: "The status of a campaign is the request, effective_status the result.",
		Client:  "Counts a campaign with issues as running. One in process confirms neither that it runs nor that it has stopped.",
		Source:  "facebook-business 26.0.3, adobjects/campaign.py, EffectiveStatus",
		Test:    "internal/adplatform/meta TestEffectiveStatus",
	},
	{
		ID: "X6", Platform: MetaAds, Switch: metaVersionUpgraded,
		Summary: "A call to a version that has ended is answered by the next version if the endpoint did not change. Only the header X-Ad-Api-Version-Warning says so.",
		Client:  "Reads the answer, and warns once in the log.",
		Source:  "developers.facebook.com/blog/post/2024/04/16/upcoming-change-in-marketing-api-version-deprecation; developers.facebook.com/docs/marketing-api/overview/versioning",
		Test:    "internal/adplatform/meta TestUpgradedVersion",
	},
	{
		ID: "X7", Platform: MetaAds, Switch: metaInactiveAudience,
		Summary: "The bounds of the size of an inactive lookalike audience are -1.",
		Client:  "Takes a negative size as unknown.",
		Source:  "developers.facebook.com/documentation/ads-commerce/marketing-api/reference/custom-audience (approximate_count_lower_bound, approximate_count_upper_bound)",
		Test:    "internal/adplatform/meta TestInactiveAudience",
	},
	{
		ID: "X8", Platform: MetaAds, Switch: metaBudgetLevel, Values: []string{"adset", "lifetime"},
		Summary: "A campaign has daily_budget only with an Advantage campaign budget. Otherwise its ad sets have budgets, or it has lifetime_budget.",
		Client:  "Reads no budgets. The campaigns are listed.",
		Source:  "developers.facebook.com/documentation/ads-commerce/marketing-api/bidding/guides/advantage-campaign-budget; facebook-business 26.0.3, adobjects/campaign.py and adset.py",
		Test:    "internal/adplatform/meta TestBudgetsAndObjectives",
	},
	{
		ID: "X9", Platform: MetaAds, Switch: metaLegacyObjectives,
		Summary: "Campaigns that are older than the OUTCOME objectives keep those of their time, such as CONVERSIONS and LINK_CLICKS.",
		Client:  "Reads no objectives. What counts as a conversion comes from the ad sets.",
		Source:  "facebook-business 26.0.3, adobjects/campaign.py, Objective",
		Test:    "internal/adplatform/meta TestBudgetsAndObjectives",
	},
	{
		ID: "X10", Platform: MetaAds, Switch: metaUnavailable200,
		Summary: "If a service is not available, the answer can have status 200 and the text Service Unavailable instead of JSON.",
		Client:  "Tries again. The text is neither an empty list nor the answer to a change.",
		Source:  "facebook-business 26.0.3, api.py, FacebookResponse.is_success",
		Test:    "internal/adplatform/meta TestUnavailableWithStatus200",
	},
	{
		ID: "X11", Platform: MetaAds, Switch: metaSuccessFalse,
		Summary: "A change that was not made can be answered with status 200, without an error, and with success false.",
		Client:  "Takes the change as not made and tries it again.",
		Source:  "facebook-business 26.0.3, api.py, FacebookResponse.is_success",
		Test:    "internal/adplatform/meta TestChangeWithoutSuccess",
	},
}
