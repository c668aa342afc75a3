package sandbox

import "slices"

// Sources of the behaviors of Google Ads.
const (
	googleSDK       = "PyPI google-ads 34.0.0, google/ads/googleads/v26/"
	googleDocs      = "developers.google.com/google-ads/api/"
	googleTestPath  = "internal/adplatform/google "
	googleReadTest  = googleTestPath + "TestReportMatchesSandbox"
	googleErrorTest = googleTestPath + "TestAPIErrors"
)

// googleBehaviors are the simulated behaviors of Google Ads.
var googleBehaviors = []Behavior{
	{
		ID: "G1", Platform: GoogleAds, Switch: googleConsentTesting,
		Summary: "A refresh token ends when access is revoked, after months without use, and after 7 days while the consent screen is in testing",
		Client:  "Reports `invalid_grant` as ended access, without another try, and knows the end that the token answer names",
		Source:  "developers.google.com/identity/protocols/oauth2", Test: googleTestPath + "TestConsentInTesting",
	},
	{
		ID: "G2", Platform: GoogleAds, Switch: googleAPIError, Values: googleErrorNames(),
		Summary: "Google Ads refuses people without a second factor or Advanced Protection",
		Client:  "Reports missing rights with the remedy; the access counts as not revoked",
		Source:  googleSDK + "errors/types/authentication_error.py; ads-developers.googleblog.com/2026/04/multi-factor-authentication-requirement", Test: googleErrorTest,
	},
	{
		ID: "G3", Platform: GoogleAds, Switch: googleAccessLevel, Values: []string{"TEST", "EXPLORER", "BASIC", "STANDARD"},
		Summary: "The access level belongs to the Cloud project. With test access, production accounts are refused",
		Client:  "Reports the refusal with the page on which to apply for access. Lists readable accounts if there are any",
		Source:  googleSDK + "errors/types/authorization_error.py; " + googleDocs + "docs/api-policy/access-levels", Test: googleTestPath + "TestProjectWithTestAccess",
	},
	{
		ID: "G4", Platform: GoogleAds, Switch: googleAPIError,
		Summary: "The Google account has no Google Ads account",
		Client:  "Asks for another Google account; the access counts as not revoked",
		Source:  googleSDK + "errors/types/authentication_error.py (NOT_ADS_USER)", Test: googleErrorTest,
	},
	{
		ID: "G5", Platform: GoogleAds, Switch: googleLinkMoved,
		Summary: "An account below a manager is reached only through a manager that is linked to it, and links move",
		Client:  "Sends `login-customer-id`. If the link is gone, it looks for another manager once an hour at most; then only this account fails",
		Source:  googleSDK + "errors/types/authorization_error.py", Test: googleTestPath + "TestMovedManagerLink",
	},
	{
		ID: "G6", Platform: GoogleAds, Switch: googleManagerTree,
		Summary: "Managers have managers below them. An account can be below two managers, and can be hidden",
		Client:  "Lists every account once, also hidden ones, and no manager, with one query per manager",
		Source:  googleSDK + "resources/types/customer_client.py, errors/types/customer_client_link_error.py (CLIENT_HAS_TOO_MANY_MANAGERS)", Test: googleTestPath + "TestManagerTree",
	},
	{
		ID: "G7", Platform: GoogleAds, Switch: googleManagerTree,
		Summary: "Accounts that are canceled, suspended or closed stay in the tree and refuse queries. Access without a manager can be denied",
		Client:  "Lists them with the problem; none of them fails the listing",
		Source:  googleDocs + "reference/rpc/v26/CustomerStatusEnum.CustomerStatus; " + googleSDK + "enums/types/customer_status.py", Test: googleTestPath + "TestManagerTree",
	},
	{
		ID: "G8", Platform: GoogleAds, Switch: googleSuspended,
		Summary: "A suspended account refuses changes with its own code. Whether it can be read is not documented; here it can",
		Client:  "Tries to read it once per listing and keeps reading it if that works; a change fails for good and names Google support",
		Source:  googleSDK + "errors/types/authorization_error.py (ACTION_NOT_PERMITTED_FOR_SUSPENDED_ACCOUNT)", Test: googleTestPath + "TestSuspendedAccount",
	},
	{
		ID: "G9", Platform: GoogleAds, Switch: googleManagerTree,
		Summary: "A manager account has no metrics and refuses queries for them",
		Client:  "Never lists managers; the refusal is not tried again",
		Source:  googleSDK + "errors/types/query_error.py (REQUESTED_METRICS_FOR_MANAGER)", Test: googleTestPath + "TestManagerTree",
	},
	{
		ID: "G10", Platform: GoogleAds, Switch: googleTokenExpired,
		Summary: "`search` has pages of 10,000 rows, refuses a page size, and its page tokens expire",
		Client:  "Reads with `searchStream` alone, which has no pages",
		Source:  googleSDK + "errors/types/request_error.py", Test: googleTestPath + "TestNoPages",
	},
	{
		ID: "G11", Platform: GoogleAds, Switch: googleStreamCut,
		Summary: "A stream can break off in the middle of its array, with status 200",
		Client:  "Tries again; returns no rows of an answer that does not end",
		Source:  "Airbyte docs/integrations/sources/google-ads.md, changelog 4.1.5, 4.2.5 and 4.2.6", Test: googleTestPath + "TestStreamCut",
	},
	{
		ID: "G12", Platform: GoogleAds, Switch: googleAccessLevel,
		Summary: "A Cloud project has 2,880 operations in 24 hours with Explorer access, 15,000 with Basic, and no limit with Standard. A query is one operation, and so is each change",
		Client:  "Sends no more calls for any account until five minutes after the time that Google names, which leaves operations for pauses. Changes of campaigns are always sent",
		Source:  googleDocs + "docs/api-policy/access-levels, " + googleDocs + "docs/best-practices/quotas, " + googleDocs + "docs/rate-sheet", Test: googleTestPath + "TestOperationQuota",
	},
	{
		ID: "G13", Platform: GoogleAds, Switch: googleQuotaScope, Values: []string{"ACCOUNT", "DEVELOPER"},
		Summary: "A quota belongs to an account or to the project. The error has the scope and the delay; there are no headers",
		Client:  "Waits for the delay: the account alone, or all accounts",
		Source:  googleSDK + "errors/types/errors.py (QuotaErrorDetails)", Test: googleTestPath + "TestQuotaScope",
	},
	{
		ID: "G14", Platform: GoogleAds, Switch: googleAPIError,
		Summary: "Some errors pass by themselves, some need fewer days, all others stay",
		Client:  "Tries six times, asks for fewer days, or reports the error, by its code",
		Source:  googleSDK + "errors/types/internal_error.py, database_error.py, quota_error.py", Test: googleErrorTest,
	},
	{
		ID: "G15", Platform: GoogleAds,
		Summary: "Metrics by day are kept for 37 months; older days are refused",
		Client:  "Leaves older days out with a note, and refuses a report that has only such days, so that an empty report cannot replace metrics",
		Source:  "ads-developers.googleblog.com/2026/05/new-data-retention-policy-for-google; " + googleSDK + "errors/types/date_range_error.py", Test: googleTestPath + "TestRetention",
	},
	{
		ID: "G16", Platform: GoogleAds,
		Summary: "Rows whose metrics are all zero are left out",
		Client:  "Takes entities from their own queries, not from reports",
		Source:  googleDocs + "docs/conversions/reporting", Test: googleReadTest,
	},
	{
		ID: "G17", Platform: GoogleAds, Switch: googleSegmentGaps,
		Summary: "A segment removes rows that do not have it: the sum by device, country or age can be below the campaign",
		Client:  "Reads the campaigns too; the difference is a row of an unknown device, country or age",
		Source:  "Airbyte docs/integrations/sources/google-ads.md; " + googleSDK + "errors/types/query_error.py", Test: googleTestPath + "TestSegmentGaps",
	},
	{
		ID: "G18", Platform: GoogleAds,
		Summary: "Performance Max campaigns have no ad groups and no ads, but asset groups",
		Client:  "Reads asset groups as the ads of these campaigns",
		Source:  googleDocs + "performance-max/reporting", Test: googleTestPath + "TestAssetGroups",
	},
	{
		ID: "G19", Platform: GoogleAds, Switch: googleRemovedObjects,
		Summary: "Removed campaigns keep their metrics, unless the query filters on the status",
		Client:  "Filters lists, never reports; names come from the rows of the report",
		Source:  googleDocs + "docs/reporting/uireports", Test: googleTestPath + "TestRemovedCampaign",
	},
	{
		ID: "G20", Platform: GoogleAds, Switch: googleSettingChanged,
		Summary: "`conversions` has the actions that the account includes, `all_conversions` all. The advertiser can change the choice at any time, also for past days",
		Client:  "Reads the account's choice, or the chosen actions by their names. If the account has none of them, conversions are unknown and a note says so",
		Source:  googleSDK + "common/types/metrics.py, resources/types/conversion_action.py (include_in_conversions_metric)", Test: googleTestPath + "TestConversionSetting",
	},
	{
		ID: "G21", Platform: GoogleAds, Switch: BehaviorMaturation, Number: true,
		Summary: "Conversions are dated by the click and arrive for up to 90 days",
		Client:  "Reads 30 days again at every sync, and 90 days once a week",
		Source:  googleSDK + "common/types/metrics.py; github.com/singer-io/tap-google-ads streams.py", Test: googleTestPath + "TestLongMaturation",
	},
	{
		ID: "G22", Platform: GoogleAds,
		Summary: "Conversions are fractions",
		Client:  "Keeps six decimals, computed from the digits",
		Source:  googleSDK + "common/types/metrics.py", Test: googleReadTest,
	},
	{
		ID: "G23", Platform: GoogleAds,
		Summary: "Conversions arrive late, and clicks and cost are corrected: values of recent days change",
		Client:  "Reads the days of the lookback again",
		Source:  googleDocs + "docs/conversions/reporting", Test: googleTestPath + "TestLongMaturation",
	},
	{
		ID: "G29", Platform: GoogleAds,
		Summary: "Days are those of the account's time zone, not of the manager and not of UTC",
		Client:  "Reads the zone at every listing, and asks for days of the account",
		Source:  "github.com/googleads/google-ads-python/issues/204, github.com/googleads/google-ads-dotnet/issues/354", Test: googleTestPath + "TestDaysOfAccount",
	},
	{
		ID: "G30", Platform: GoogleAds,
		Summary: "`geographic_view` has people in a country and people interested in it: two rows for one country",
		Client:  "Adds both rows",
		Source:  "Airbyte docs/integrations/sources/google-ads.md; " + googleSDK + "resources/types/geographic_view.py", Test: googleReadTest,
	},
	{
		ID: "G31", Platform: GoogleAds, Switch: googleViewExceeds,
		Summary: "Age and gender are separate views, and nothing promises that a view stays below its campaign",
		Client:  "Reads ages only. A view above its campaign is kept as reported, with a note that has the difference",
		Source:  googleSDK + "resources/types/age_range_view.py, gender_view.py; that a view exceeds its campaign is not documented", Test: googleTestPath + "TestViewExceedsCampaign",
	},
	{
		ID: "G32", Platform: GoogleAds,
		Summary: "Integers are texts, amounts are in millionths",
		Client:  "Reads both without floats",
		Source:  googleSDK + "common/types/metrics.py (cost_micros)", Test: googleReadTest,
	},
	{
		ID: "G33", Platform: GoogleAds,
		Summary: "`status` is the wish, `primary_status` the delivery, which follows later",
		Client:  "Confirms a change by `status`",
		Source:  googleSDK + "resources/types/campaign.py (primary_status)", Test: googleTestPath + "TestPrimaryStatusLags",
	},
	{
		ID: "G34", Platform: GoogleAds, Switch: googleAPIError,
		Summary: "Campaigns that are removed, have ended or belong to an experiment refuse changes",
		Client:  "Reports it for good, with the remedy. Never removes a campaign",
		Source:  googleSDK + "errors/types/campaign_error.py, context_error.py", Test: googleTestPath + "TestRefusedStatusChanges",
	},
	{
		ID: "G35", Platform: GoogleAds,
		Summary: "Changes are made together or not at all, unless the call allows partial failure; then errors are in an answer with status 200",
		Client:  "Does not allow partial failure, and reads the errors if an answer has some",
		Source:  googleSDK + "services/types/campaign_service.py (partial_failure)", Test: googleTestPath + "TestPartialFailure",
	},
	{
		ID: "G39", Platform: GoogleAds, Switch: googleNewType,
		Summary: "Campaign types come and go; one that is newer than the version is `UNKNOWN`",
		Client:  "Reads the campaign with the channel other",
		Source:  "ads-developers.googleblog.com/2026/06/changes-to-support-for-smart-campaigns", Test: googleTestPath + "TestUnknownCampaignType",
	},
	{
		ID: "G41", Platform: GoogleAds,
		Summary: "A version lives for about a year; then calls are refused",
		Client:  "Reports the end of the version, without another try",
		Source:  googleDocs + "docs/sunset-dates; " + googleSDK + "errors/types/request_error.py (UNSUPPORTED_VERSION)", Test: googleTestPath + "TestFaults",
	},
	{
		ID: "X1", Platform: GoogleAds, Switch: googleSharedAdID,
		Summary: "The id of an ad is unique in its ad group only; the pair of both ids is unique. With the switch, the first ads of two ad groups have the same id",
		Client:  "Lists an ad that is in several ad groups once, and adds up its rows.",
		Source:  googleDocs + "docs/concepts/api-structure (Object IDs); developers.google.com/google-ads/scripts/docs/concepts/ids",
		Test:    "internal/adplatform/google TestAdInTwoGroups",
	},
	{
		ID: "X2", Platform: GoogleAds, Switch: googleDoubleFormat, Values: []string{"exponent", "long"},
		Summary: "Conversions and their value are doubles: they can have an exponent (1.25E+01) or 17 digits (12.500000000000002)",
		Client:  "Reads numbers from their digits, with an exponent too, and rounds them to millionths.",
		Source:  "protobuf.dev/programming-guides/json (float, double); " + googleSDK + "common/types/metrics.py (conversions, conversions_value: DOUBLE)",
		Test:    "internal/adplatform/google TestDoubleFormats",
	},
	{
		ID: "X3", Platform: GoogleAds, Switch: googleTokenError, Values: slices.Concat(googlePassingTokenErrors, googleReauthErrors),
		Summary: "The token endpoint can fail for a while: the errors internal_failure, server_error and temporarily_unavailable pass, whatever their status",
		Client:  "Tries again later. The connection stays connected and keeps its refresh token.",
		Source:  "PyPI google-auth 2.62.2, google/oauth2/_client.py (_can_retry)",
		Test:    "internal/adplatform/google TestPassingTokenErrors",
	},
	{
		ID: "X4", Platform: GoogleAds, Switch: googleTokenError, Values: slices.Concat(googlePassingTokenErrors, googleReauthErrors),
		Summary: "A Google Workspace can require people to sign in again: invalid_grant with the subtype invalid_rapt or rapt_required. The grant itself is not revoked",
		Client:  "Asks for a new sign-in, and names the session policy. It does not try again by itself.",
		Source:  "PyPI google-auth 2.62.2, google/oauth2/reauth.py (refresh_grant)",
		Test:    "internal/adplatform/google TestSignInAgain",
	},
	{
		ID: "X5", Platform: GoogleAds, Switch: googleTotalBudget,
		Summary: "A campaign can have a budget for all its days: period is CUSTOM_PERIOD, the amount is in total_amount_micros, and amount_micros is absent",
		Client:  "Reads no budgets. The campaign is listed.",
		Source:  googleSDK + "enums/types/budget_period.py, resources/types/campaign_budget.py",
		Test:    "internal/adplatform/google TestTotalBudget",
	},
}
