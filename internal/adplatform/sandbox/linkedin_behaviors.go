package sandbox

// Switches of LinkedIn.
const (
	linkedInNoAccess       = "empty_without_access"
	linkedInApproximate    = "approximate_demographics"
	linkedInLateMembers    = "late_demographics"
	linkedInThrottle       = "throttle"
	linkedInDailyCalls     = "daily_calls"
	linkedInVersion426     = "version_426"
	linkedInNoRefreshToken = "no_refresh_token"
	linkedInViewer         = "viewer_role"
	linkedInDraftGroup     = "draft_group"
	linkedInCanceled       = "account_canceled_with_spend"
	linkedInHeavyCreatives = "creative_500"
	linkedInArchived       = "archived_campaigns"
	linkedInShortPages     = "short_pages"
	linkedInScopesChanged  = "app_scopes_changed"
	linkedInPassing        = "passing_error"
	linkedInLongDecimals   = "long_decimals"
	linkedInTotalBudget    = "total_budget"
	linkedInNamelessAds    = "creative_unnamed"
)

var (
	linkedInThrottles = []string{"daily", "45m", "infra"}
	linkedInPasses    = []string{"TIMEOUT", "CONFLICT", "UNDER_MAINTENANCE"}
)

// linkedInTest is the package of the tests.
const linkedInTest = "internal/adplatform/linkedin "

// linkedInBehaviors are the simulated behaviors of LinkedIn Ads.
var linkedInBehaviors = []Behavior{
	{
		ID: "L1", Platform: LinkedInAds, Switch: linkedInNoRefreshToken, Test: linkedInTest + "TestConsentEnds",
		Summary: "An access token lasts 60 days. A refresh token lasts 365 days from the consent, however often it is used, and only approved apps get one.",
		Client:  "Keeps the end of the consent that LinkedIn names with every refresh. Without a refresh token it asks for a new consent every 60 days.",
		Source:  "learn.microsoft.com/en-us/linkedin/shared/authentication/programmatic-refresh-tokens",
	},
	{
		ID: "L2", Platform: LinkedInAds, Test: linkedInTest + "TestGrant",
		Summary: "Members take access back in their privacy settings: 401, code 65601.",
		Client:  "Class auth, asks for a new consent.",
		Source:  "learn.microsoft.com/en-us/linkedin/shared/authentication/authorization-code-flow",
	},
	{
		ID: "L3", Platform: LinkedInAds, Switch: linkedInScopesChanged, Test: linkedInTest + "TestScopesChanged",
		Summary: "Scopes are granted all or none. If the app changes its scopes, calls get 403 until the member consents again.",
		Client:  "Class permission; the message asks for a new consent.",
		Source:  "learn.microsoft.com/en-us/linkedin/shared/authentication/authorization-code-flow",
	},
	{
		ID: "L4", Platform: LinkedInAds, Switch: linkedInViewer, Test: linkedInTest + "TestRefusedChanges",
		Summary: "A member with the role VIEWER cannot write, even with the scope rw_ads: 403 NO_PERMISSION_TO_UPDATE.",
		Client:  "Class permission; the message names the role that is needed.",
		Source:  "learn.microsoft.com/en-us/linkedin/marketing/integrations/ads/account-structure/account-access-controls",
	},
	{
		ID: "L6", Platform: LinkedInAds, Switch: linkedInCanceled, Test: linkedInTest + "TestAccountList",
		Summary: "Closed accounts stay readable with their numbers, but a search for active accounts leaves them out.",
		Client:  "Lists accounts of all states except DRAFT; closed ones are not enabled, and their numbers can be read.",
		Source:  "learn.microsoft.com/en-us/linkedin/marketing/integrations/ads/account-structure/create-and-manage-accounts",
	},
	{
		ID: "L7", Platform: LinkedInAds, Switch: linkedInNoAccess, Test: linkedInTest + "TestEmptyReport",
		Summary: "A report without access is an empty list with status 200, like a report without activity.",
		Client:  "Reads the account after an empty report. It fails with class permission if the account cannot be read or the scope is missing.",
		Source:  "learn.microsoft.com/en-us/linkedin/marketing/integrations/ads-reporting/ads-reporting",
	},
	{
		ID: "L8", Platform: LinkedInAds, Switch: linkedInVersion426, Test: linkedInTest + "TestVersionLives",
		Summary: "The version header is required. A version that has ended gets 426, a call without one 400.",
		Client:  "Sends both headers. Class sunset; the message asks for an update.",
		Source:  "learn.microsoft.com/en-us/linkedin/marketing/versioning",
	},
	{
		ID: "L9", Platform: LinkedInAds, Test: linkedInTest + "TestVersionLives",
		Summary: "A version ends on the 15th of its month in the next year, or on the Monday after it.",
		Client:  "Names a last day that is no later.",
		Source:  "learn.microsoft.com/en-us/linkedin/marketing/integrations/migrations",
	},
	{
		ID: "L10", Platform: LinkedInAds, Switch: linkedInShortPages, Test: linkedInTest + "TestLists",
		Summary: "A page can have fewer elements than asked for and not be the last. The total of a numbered list also counts elements that are not shown.",
		Client:  "Follows the token to its end. Reads a numbered list again if its length is not the total, and takes it if nothing changed.",
		Source:  "learn.microsoft.com/en-us/linkedin/shared/api-guide/concepts/pagination",
	},
	{
		ID: "L11", Platform: LinkedInAds, Switch: linkedInHeavyCreatives, Test: linkedInTest + "TestLists",
		Summary: "The list of creatives fails with 500 on large pages.",
		Client:  "Asks for 100 creatives per page.",
		Source:  "github.com/PostHog/posthog/pull/57887, Airbyte source-linkedin-ads changelog 0.2.1",
	},
	{
		ID: "L12", Platform: LinkedInAds, Test: linkedInTest + "TestCutReport",
		Summary: "A report has no pages and is cut at 15,000 elements without an error.",
		Client:  "Splits a report with as many elements by days, and a day by campaigns.",
		Source:  "github.com/airbytehq/airbyte/pull/31396, github.com/OWOX/owox-data-marts/pull/1569",
	},
	{
		ID: "L13", Platform: LinkedInAds, Test: linkedInTest + "TestCallSizeLimits",
		Summary: "A report has at most 20 fields. Without fields it has impressions and clicks only, without day and object.",
		Client:  "Always sends its fields, with pivotValues and dateRange.",
		Source:  "learn.microsoft.com/en-us/linkedin/marketing/integrations/ads-reporting/ads-reporting, PyPI tap-linkedin-ads 2.8.0 streams.py",
	},
	{
		ID: "L15", Platform: LinkedInAds, Test: linkedInTest + "TestCutReport",
		Summary: "A query of more than about 4 KB gets 414.",
		Client:  "Asks by account, or by at most 50 campaigns.",
		Source:  "learn.microsoft.com/en-us/linkedin/shared/api-guide/concepts/query-tunneling, PyPI linkedin-api-client 0.3.0 clients/restli/utils/query_tunneling.py",
	},
	{
		ID: "L16", Platform: LinkedInAds, Test: linkedInTest + "TestReportMatchesSandbox",
		Summary: "Parentheses, commas and colons of Rest.li must not be escaped, those in URNs must be.",
		Client:  "Writes queries itself.",
		Source:  "PyPI linkedin-api-client 0.3.0 clients/restli/utils/encoder.py",
	},
	{
		ID: "L17", Platform: LinkedInAds, Switch: linkedInDailyCalls, Number: true, Test: linkedInTest + "TestDailyQuota",
		Summary: "Calls of a day are limited by resource, for the app and for the member. The limits are not published, no header tells them, and they end at midnight UTC.",
		Client:  "Waits until midnight UTC. Pausing a campaign does not wait.",
		Source:  "learn.microsoft.com/en-us/linkedin/shared/api-guide/concepts/rate-limits",
	},
	{
		ID: "L18", Platform: LinkedInAds, Switch: linkedInThrottle, Values: linkedInThrottles, Test: linkedInTest + "TestThrottles",
		Summary: "45 million metric values in 5 minutes: 429, only the message differs.",
		Client:  "Waits 330 seconds.",
		Source:  "PyPI tap-linkedin-ads 2.8.0 client.py, Airbyte source-linkedin-ads AGENTS.md",
	},
	{
		ID: "L19", Platform: LinkedInAds, Switch: linkedInThrottle, Values: linkedInThrottles, Test: linkedInTest + "TestThrottles",
		Summary: "429 to protect LinkedIn's servers.",
		Client:  "Tries again with growing waits.",
		Source:  "learn.microsoft.com/en-us/linkedin/shared/api-guide/concepts/rate-limits",
	},
	{
		ID: "L20", Platform: LinkedInAds, Switch: linkedInPassing, Values: linkedInPasses, Test: linkedInTest + "TestPassingErrors",
		Summary: "500, 504 and the codes TIMEOUT (408), CONFLICT (409) and UNDER_MAINTENANCE pass.",
		Client:  "Class transient.",
		Source:  "learn.microsoft.com/en-us/linkedin/marketing/error-responses",
	},
	{
		ID: "L21", Platform: LinkedInAds, Test: linkedInTest + "TestErrorTable",
		Summary: "Errors have two forms. Only accounts, campaign groups and campaigns have a list of input errors.",
		Client:  "Reads both, and shows the input errors.",
		Source:  "learn.microsoft.com/en-us/linkedin/marketing/error-responses",
	},
	{
		ID: "L23", Platform: LinkedInAds, Switch: linkedInLateMembers, Test: linkedInTest + "TestCountries",
		Summary: "Metrics of members come 12 to 24 hours later.",
		Client:  "Notes what is missing with its amount; later syncs read the day again.",
		Source:  "learn.microsoft.com/en-us/linkedin/marketing/integrations/ads-reporting/ads-reporting",
	},
	{
		ID: "L24", Platform: LinkedInAds, Switch: linkedInApproximate, Test: linkedInTest + "TestCountries",
		Summary: "Metrics of members are approximated, and values of fewer than 3 are left out. They do not add up to the account.",
		Client:  "Notes what is missing with its amount instead of failing.",
		Source:  "learn.microsoft.com/en-us/linkedin/marketing/integrations/ads-reporting/ads-reporting",
	},
	{
		ID: "L25", Platform: LinkedInAds, Test: linkedInTest + "TestCountries",
		Summary: "Pivots of members work only alone.",
		Client:  "Asks for the countries of an account in one call; their rows have no campaign.",
		Source:  "Airbyte source-linkedin-ads AGENTS.md",
	},
	{
		ID: "L26", Platform: LinkedInAds, Test: linkedInTest + "TestUnavailableMetrics",
		Summary: "Reports by member have neither reach, revenue nor cards.",
		Client:  "Does not ask for them; they are unknown, not 0.",
		Source:  "learn.microsoft.com/en-us/linkedin/marketing/integrations/ads-reporting/ads-reporting-schema",
	},
	{
		ID: "L27", Platform: LinkedInAds, Test: linkedInTest + "TestUnavailableMetrics",
		Summary: "Reach is only there if the dates are at most 92 days, and cannot be added up.",
		Client:  "Asks for at most 92 days at once, and not for the reach of breakdowns.",
		Source:  "learn.microsoft.com/en-us/linkedin/marketing/integrations/ads-reporting/ads-reporting-schema",
	},
	{
		ID: "L28", Platform: LinkedInAds, Test: linkedInTest + "TestConversionChoice",
		Summary: "Conversions are the sum of all conversion rules of the account, each with its own window; leads are not among them. The pivot CONVERSION separates the rules, not with members or devices.",
		Client:  "Takes all rules, and leads as a measure of their own. Where rules are chosen, it reads their conversions beside the report. Reads 90 days again once a week.",
		Source:  "learn.microsoft.com/en-us/linkedin/marketing/integrations/ads-reporting/ads-reporting, pivot CONVERSION; github.com/airbytehq/airbyte/issues/14803",
	},
	{
		ID: "L29", Platform: LinkedInAds, Test: linkedInTest + "TestAccounts",
		Summary: "Days are in UTC for every account.",
		Client:  "The time zone of accounts is UTC.",
		Source:  "learn.microsoft.com/en-us/linkedin/marketing/integrations/ads-reporting/ads-reporting",
	},
	{
		ID: "L30", Platform: LinkedInAds, Test: linkedInTest + "TestAmounts",
		Summary: "Amounts are decimal texts, in the account's currency and in dollars.",
		Client:  "Reads the account's currency only, exact to the millionth.",
		Source:  "learn.microsoft.com/en-us/linkedin/marketing/integrations/ads-reporting/ads-reporting-schema",
	},
	{
		ID: "L32", Platform: LinkedInAds, Switch: linkedInArchived, Test: linkedInTest + "TestLists",
		Summary: "Lists without a list of states leave archived campaigns and creatives out. Campaigns can have the states REMOVED and PENDING_DELETION.",
		Client:  "Names all states, so that old spend keeps its name. Does not offer removed campaigns for linking.",
		Source:  "Airbyte source-linkedin-ads manifest.yaml",
	},
	{
		ID: "L34", Platform: LinkedInAds, Switch: linkedInDraftGroup, Test: linkedInTest + "TestRefusedChanges",
		Summary: "A campaign of a draft group, and a canceled one, cannot be started or paused.",
		Client:  "Class validation; the code is the reason, the message names the remedy.",
		Source:  "learn.microsoft.com/en-us/linkedin/marketing/error-responses",
	},
	{
		ID: "L35", Platform: LinkedInAds, Test: linkedInTest + "TestStatus",
		Summary: "A change of status is a POST with the method PARTIAL_UPDATE; the answer is empty.",
		Client:  "Expects no content. The service reads the status back.",
		Source:  "PyPI linkedin-api-client 0.3.0 clients/restli/client.py",
	},
	{
		ID: "L41", Platform: LinkedInAds, Test: linkedInTest + "TestUnavailableMetrics",
		Summary: "Reports by device have neither reach nor conversions.",
		Client:  "Does not ask for them; they are unknown, not 0.",
		Source:  "learn.microsoft.com/en-us/linkedin/marketing/integrations/ads-reporting/ads-reporting, pivot IMPRESSION_DEVICE_TYPE",
	},
	{
		ID: "X15", Platform: LinkedInAds, Switch: linkedInLongDecimals,
		Summary: "Amounts are BigDecimals and can have more than 18 decimals, such as 107.5300000000000335346.",
		Client:  "Rounds amounts to millionths.",
		Source:  "learn.microsoft.com/en-us/linkedin/marketing/integrations/ads-reporting/ads-reporting-schema (costInLocalCurrency: BigDecimal); the number is from an answer in a public repository",
		Test:    "internal/adplatform/linkedin TestLongDecimals",
	},
	{
		ID: "X16", Platform: LinkedInAds, Switch: linkedInTotalBudget,
		Summary: "A campaign has a daily budget, a total one or both: dailyBudget can be absent.",
		Client:  "Reads no budgets. The campaign is listed.",
		Source:  "learn.microsoft.com/en-us/linkedin/marketing/integrations/ads/account-structure/create-and-manage-campaigns; linkedin.com/help/lms/answer/1393",
		Test:    "internal/adplatform/linkedin TestTotalBudget",
	},
	{
		ID: "X17", Platform: LinkedInAds, Switch: linkedInNamelessAds,
		Summary: "Creatives have names since version 202410; the name is optional, and absent if nobody has set it.",
		Client:  "Names the ad by its id.",
		Source:  "learn.microsoft.com/en-us/linkedin/marketing/integrations/recent-changes (October 2024, Creative Naming Support)",
		Test:    "internal/adplatform/linkedin TestUnnamedCreatives",
	},
}
