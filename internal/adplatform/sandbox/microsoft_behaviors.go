package sandbox

import (
	"maps"
	"slices"
	"strconv"
)

// Switches of Microsoft Advertising.
const (
	microsoftRotates       = "refresh_rotates"
	microsoftConsentError  = "consent_error"
	microsoftErrorCode     = "error_code"
	microsoftLinked        = "linked_account_roles"
	microsoftAccountStates = "account_states"
	microsoftNewZone       = "unknown_zone"
	microsoftNewType       = "unknown_type"
	microsoftDeleted       = "deleted_in_report"
	microsoftPending       = "report_pending"
	microsoftURLExpired    = "url_expired"
	microsoftConcurrency   = "concurrent_207"
	microsoftRate          = "rate_117"
	microsoftUncompressed  = "uncompressed"
	microsoftNulls         = "null_characters"
	microsoftThousands     = "format_1_thousands"
	microsoftMissing       = "missing_values"
	microsoftSummary       = "no_timeperiod_summary"
	microsoftZoneHeader    = "zone_header"
	microsoftIncomplete    = "incomplete_header"
	microsoftUnqualified   = "conversions_unqualified"
	microsoftBudgetPaused  = "budget_paused"
	microsoftPartial       = "partial_errors_200"
)

// microsoftCodes are the values of the switch error_code.
func microsoftCodes() (codes []string) {
	for _, code := range slices.Sorted(maps.Keys(microsoftErrors)) {
		codes = append(codes, strconv.Itoa(code))
	}
	return codes
}

// Sources of the behaviors of Microsoft Advertising.
const (
	microsoftSDK       = "PyPI msads 13.0.30.1, "
	microsoftModels    = microsoftSDK + "openapi_client/models/"
	microsoftDocs      = "github.com/MicrosoftDocs/Advertising-docs 38df9bbd, Advertising/bingads-13/"
	microsoftCodesPage = microsoftDocs + "guides/operation-error-codes.md"
	microsoftReports   = microsoftDocs + "guides/reports.md"
	microsoftService   = microsoftDocs + "guides/services-protocol.md"
	microsoftTestPath  = "internal/adplatform/microsoft "
	microsoftReadTest  = microsoftTestPath + "TestReportMatchesSandbox"
	microsoftCodesTest = microsoftTestPath + "TestErrorCodes"
)

// microsoftBehaviors are the simulated behaviors of Microsoft Advertising.
var microsoftBehaviors = slices.Concat(microsoftAccessBehaviors, microsoftObjectBehaviors, microsoftReportBehaviors)

var microsoftAccessBehaviors = []Behavior{
	{
		ID: "S1", Platform: MicrosoftAds,
		Summary: "Access is granted by OAuth with one scope for reading and changing; an access token lives for an hour",
		Client:  "Uses the code flow with PKCE and reads the lifetime from the answer",
		Source:  microsoftSDK + "bingads/authorization.py", Test: microsoftTestPath + "TestGrant",
	},
	{
		ID: "S2", Platform: MicrosoftAds, Switch: microsoftRotates,
		Summary: "Every refresh is answered with a new refresh token, which lives for 90 days. With the switch, the old one ends at once",
		Client:  "Returns the new refresh token, which is stored before it is used",
		Source:  microsoftDocs + "guides/authentication-oauth-get-tokens.md; Airbyte docs/integrations/sources/bing-ads.md, changelog 3.0.1", Test: microsoftTestPath + "TestRefreshRotates",
	},
	{
		ID: "S4", Platform: MicrosoftAds, Switch: microsoftErrorCode, Values: microsoftCodes(),
		Summary: "A person signed in with the wrong kind of account: codes 120 and 122 to 125",
		Client:  "Asks for a new consent and says with which account",
		Source:  microsoftCodesPage, Test: microsoftCodesTest,
	},
	{
		ID: "S5", Platform: MicrosoftAds, Switch: microsoftConsentError, Values: slices.Sorted(maps.Keys(microsoftConsentErrors)),
		Summary: "The token endpoint has its own errors: a wrong redirect address, an organization that has not allowed the app, an unknown app, an ended grant",
		Client:  "Reports each with its remedy. Only an ended grant asks for a new consent",
		Source:  microsoftDocs + "guides/handle-service-errors-exceptions.md", Test: microsoftTestPath + "TestConsentErrors",
	},
	{
		ID: "S6", Platform: MicrosoftAds, Switch: microsoftErrorCode,
		Summary: "Every call has a developer token. Code 105 is a wrong token, a wrong developer token or an inactive account, 109 an expired token, 116 a missing header",
		Client:  "Refreshes for 109. For 105 about an account it asks for the user: if that works, only the account is at fault",
		Source:  microsoftCodesPage, Test: microsoftTestPath + "TestInactiveAccount",
	},
	{
		ID: "S7", Platform: MicrosoftAds,
		Summary: "Calls about an account name the customer that owns it, which is not always the user's. Otherwise they are refused with code 106",
		Client:  "Asks for the owner of each account, and again if a call is refused",
		Source:  microsoftSDK + "bingads/service_client.py; Airbyte source-bing-ads manifest.yaml", Test: microsoftTestPath + "TestManyAccounts",
	},
	{
		ID: "S8", Platform: MicrosoftAds, Switch: microsoftLinked,
		Summary: "A user has a role for each customer; a viewer cannot change campaigns",
		Client:  "Reads the accounts of viewers. A change fails for good and names the role that is needed",
		Source:  microsoftDocs + "guides/account-hierarchy-permissions.md, customer-management-service/customerrole.md", Test: microsoftTestPath + "TestManyAccounts",
	},
	{
		ID: "S9", Platform: MicrosoftAds, Switch: microsoftLinked,
		Summary: "The list of accounts takes one predicate and has pages; a linked account is in it twice",
		Client:  "Asks by the user's id, reads up to a short page, and lists each account once",
		Source:  microsoftDocs + "customer-management-service/searchaccounts.md", Test: microsoftTestPath + "TestManyAccounts",
	},
	{
		ID: "S10", Platform: MicrosoftAds, Switch: microsoftAccountStates,
		Summary: "Accounts are active, paused, pending, drafts, suspended or deleted (Inactive)",
		Client:  "Lists deleted accounts with the problem and keeps reading all others, because they keep their metrics",
		Source:  microsoftDocs + "customer-management-service/accountlifecyclestatus.md; " + microsoftModels + "customer/account_life_cycle_status.py", Test: microsoftTestPath + "TestAccountStates",
	},
	{
		ID: "S19", Platform: MicrosoftAds, Switch: microsoftRate, Number: true,
		Summary: "The calls of a customer in 60 seconds are limited; the limit is not published, and only the code 117 tells",
		Client:  "Waits for a minute after code 117, whatever the status is",
		Source:  microsoftService + "; learn.microsoft.com/answers/questions/6044408", Test: microsoftTestPath + "TestCallRate",
	},
	{
		ID: "S36", Platform: MicrosoftAds,
		Summary: "Amounts are decimals in the account's currency",
		Client:  "Reads them from their digits, and the currency from the account",
		Source:  microsoftDocs + "guides/currencies.md", Test: microsoftReadTest,
	},
	{
		ID: "S42", Platform: MicrosoftAds, Switch: microsoftErrorCode,
		Summary: "Errors have one of two formats with a tracking id; code 0 can pass by itself",
		Client:  "Reads both formats, tries again for code 0, and passes the tracking id on",
		Source:  microsoftModels + "reporting/api_fault_detail.py, ad_api_fault_detail.py; learn.microsoft.com/answers/questions/5602412", Test: microsoftCodesTest,
	},
}

var microsoftObjectBehaviors = []Behavior{
	{
		ID: "S11", Platform: MicrosoftAds,
		Summary: "The list of campaigns has Search campaigns only, unless the call names other types",
		Client:  "Names all types of the SDK",
		Source:  microsoftDocs + "campaign-management-service/getcampaignsbyaccountid.md", Test: microsoftTestPath + "TestEntities",
	},
	{
		ID: "S12", Platform: MicrosoftAds, Switch: microsoftDeleted,
		Summary: "Lists never have deleted campaigns, reports do",
		Client:  "Takes names from the report for campaigns that the list does not have, and filters no report",
		Source:  microsoftDocs + "campaign-management-service/campaignstatus.md, reporting-service/campaignstatusreportfilter.md", Test: microsoftTestPath + "TestDeletedCampaign",
	},
	{
		ID: "S13", Platform: MicrosoftAds,
		Summary: "A call by ids succeeds with an unknown id: its position is null",
		Client:  "Reports the campaign as gone",
		Source:  microsoftService, Test: microsoftTestPath + "TestStatus",
	},
	{
		ID: "S37", Platform: MicrosoftAds, Switch: microsoftPartial, Values: []string{"1100", "1120", "6133"},
		Summary: "A change that fails is answered with status 200 and the error inside",
		Client:  "Returns the error inside, with its remedy",
		Source:  microsoftDocs + "campaign-management-service/updatecampaigns.md", Test: microsoftTestPath + "TestPartialErrors",
	},
	{
		ID: "S37b", Platform: MicrosoftAds, Switch: microsoftBudgetPaused,
		Summary: "Microsoft sets BudgetPaused if the budget is used up, and undoes it",
		Client:  "Counts BudgetPaused as running, and BudgetAndManualPaused as stopped",
		Source:  microsoftDocs + "campaign-management-service/campaignstatus.md", Test: microsoftTestPath + "TestBudgetPaused",
	},
	{
		ID: "S39", Platform: MicrosoftAds, Switch: microsoftPartial,
		Summary: "Campaigns of experiments refuse changes with code 6133",
		Client:  "Reports it for good, with the remedy",
		Source:  microsoftDocs + "campaign-management-service/campaign.md; " + microsoftCodesPage, Test: microsoftTestPath + "TestPartialErrors",
	},
	{
		ID: "S41", Platform: MicrosoftAds,
		Summary: "Ids are texts. Members that a change does not have stay as they are",
		Client:  "Sends the id and the status alone",
		Source:  microsoftModels + "campaign/campaign.py", Test: microsoftTestPath + "TestStatus",
	},
	{
		ID: "S43", Platform: MicrosoftAds, Switch: microsoftNewType,
		Summary: "New campaign types appear without a new version",
		Client:  "Reads the campaign with the channel other",
		Source:  microsoftSDK + "HISTORY.rst", Test: microsoftTestPath + "TestUnknownCampaignType",
	},
	{
		ID: "S43b", Platform: MicrosoftAds, Switch: microsoftNewZone,
		Summary: "New values of other enumerations, such as time zones, appear too",
		Client:  "Lists an account whose time zone it does not know with the problem",
		Source:  microsoftModels + "customer/time_zone_type.py", Test: microsoftTestPath + "TestUnknownZone",
	},
}

var microsoftReportBehaviors = []Behavior{
	{
		ID: "S14", Platform: MicrosoftAds, Switch: microsoftPending, Number: true,
		Summary: "A report is submitted, polled and downloaded. It can fail, and takes minutes",
		Client:  "Polls at growing intervals for an hour; submits a report that failed once more",
		Source:  microsoftDocs + "guides/request-download-report.md", Test: microsoftTestPath + "TestSlowReport",
	},
	{
		ID: "S15", Platform: MicrosoftAds,
		Summary: "A report without rows is successful and has no URL",
		Client:  "Returns no rows and no error",
		Source:  microsoftDocs + "reporting-service/reportrequeststatus.md", Test: microsoftTestPath + "TestEmptyReport",
	},
	{
		ID: "S16", Platform: MicrosoftAds, Switch: microsoftURLExpired,
		Summary: "The download URL ends after 5 minutes; then storage answers 403",
		Client:  "Polls again for a new URL. The token is never sent to it",
		Source:  microsoftDocs + "guides/request-download-report.md; Airbyte docs/integrations/sources/bing-ads.md, changelog 2.23.15", Test: microsoftTestPath + "TestExpiredURL",
	},
	{
		ID: "S17", Platform: MicrosoftAds,
		Summary: "Equal requests make two reports",
		Client:  "Polls the report that it has after an error of a poll, and does not submit another",
		Source:  microsoftReports, Test: microsoftTestPath + "TestNoDuplicateReports",
	},
	{
		ID: "S18", Platform: MicrosoftAds, Switch: microsoftConcurrency,
		Summary: "The unfinished reports of a customer are limited; the limit is not published: code 207",
		Client:  "Has two at a time for a customer, and waits after code 207",
		Source:  microsoftService + "; " + microsoftCodesPage, Test: microsoftTestPath + "TestConcurrentReports",
	},
	{
		ID: "S20", Platform: MicrosoftAds, Switch: microsoftUncompressed,
		Summary: "The file is a ZIP with a CSV that begins with a byte order mark. With the switch it is not compressed",
		Client:  "Recognizes the format by its first bytes, and checks the number of rows in the header",
		Source:  microsoftReports + "; github.com/singer-io/tap-bing-ads, changelog 2.0.17", Test: microsoftTestPath + "TestFileFormats",
	},
	{
		ID: "S20b", Platform: MicrosoftAds, Switch: microsoftNulls,
		Summary: "Files have null characters",
		Client:  "Removes them",
		Source:  "Airbyte source-bing-ads components.py", Test: microsoftTestPath + "TestFileFormats",
	},
	{
		ID: "S21", Platform: MicrosoftAds, Switch: microsoftThousands,
		Summary: "Numbers of format 1.0, the default, have separators of thousands. With the switch, those of 2.0 have them too",
		Client:  "Asks for format 2.0 and rejects a report with a comma in a number",
		Source:  microsoftReports, Test: microsoftTestPath + "TestThousands",
	},
	{
		ID: "S22", Platform: MicrosoftAds, Switch: microsoftMissing,
		Summary: "Missing values are empty or `--`",
		Client:  "Leaves them unknown; they are not zero",
		Source:  "Airbyte source-bing-ads manifest.yaml; " + microsoftSDK + "bingads/v13/internal/reporting/row_report_iterator.py", Test: microsoftTestPath + "TestMissingValues",
	},
	{
		ID: "S23", Platform: MicrosoftAds, Switch: microsoftSummary,
		Summary: "Without the column `TimePeriod`, a report is a summary of all days. With the switch it always is",
		Client:  "Asks for the column, and rejects a row without a day of the window",
		Source:  microsoftDocs + "reporting-service/campaignperformancereportrequest.md", Test: microsoftTestPath + "TestSummary",
	},
	{
		ID: "S24", Platform: MicrosoftAds,
		Summary: "Every attribute column can split a row",
		Client:  "Asks for few of them, and adds rows with the same key",
		Source:  microsoftReports + "; Airbyte docs/integrations/sources/bing-ads.md, changelog 3.0.0", Test: microsoftReadTest,
	},
	{
		ID: "S25", Platform: MicrosoftAds, Switch: microsoftZoneHeader,
		Summary: "Sources disagree on the zone of days: UTC, the account's or Pacific time. The header names one; here days are the account's",
		Client:  "Asks for the account's zone, and adds a note if the header names another one",
		Source:  microsoftReports + "; github.com/MicrosoftDocs/Advertising/issues/13, github.com/BingAds/BingAds-Python-SDK/issues/272", Test: microsoftTestPath + "TestZoneHeader",
	},
	{
		ID: "S26", Platform: MicrosoftAds,
		Summary: "Predefined times such as Yesterday depend on a time zone, which is Pacific by default",
		Client:  "Names days, and one account per report",
		Source:  microsoftReports, Test: microsoftTestPath + "TestNoDuplicateReports",
	},
	{
		ID: "S28", Platform: MicrosoftAds, Switch: microsoftIncomplete,
		Summary: "Only the header says that days are not counted completely; asking for complete days alone fails",
		Client:  "Reads all days, and adds a note if more than the last day is incomplete",
		Source:  microsoftReports + ", reporting-service/reportrequest.md", Test: microsoftTestPath + "TestIncompleteData",
	},
	{
		ID: "S29", Platform: MicrosoftAds, Switch: BehaviorMaturation, Number: true,
		Summary: "Clicks arrive for hours and are corrected for a week; conversions are dated by the click and arrive for up to 90 days",
		Client:  "Reads 30 days again at every sync, and 90 days once a week",
		Source:  microsoftReports, Test: microsoftTestPath + "TestLongMaturation",
	},
	{
		ID: "S30", Platform: MicrosoftAds,
		Summary: "Daily metrics are kept for 36 months",
		Client:  "Leaves older days out with a note, and refuses a report that has only such days",
		Source:  microsoftDocs + "guides/report-data-retention-time-periods.md", Test: microsoftTestPath + "TestRetention",
	},
	{
		ID: "S31", Platform: MicrosoftAds, Switch: microsoftUnqualified,
		Summary: "`Conversions` are those of the goals that the advertiser includes, `ConversionsQualified` the same as fractions; with the switch these are empty",
		Client:  "Reads qualified conversions, else the whole ones",
		Source:  microsoftDocs + "guides/report-attributes-performance-statistics.md; " + microsoftModels + "reporting/campaign_performance_report_column.py", Test: microsoftTestPath + "TestUnqualifiedConversions",
	},
	{
		ID: "S33", Platform: MicrosoftAds,
		Summary: "Rows have clicks or conversions without impressions",
		Client:  "Keeps every row",
		Source:  microsoftReports, Test: microsoftReadTest,
	},
	{
		ID: "S35", Platform: MicrosoftAds,
		Summary: "Ages and genders are reported if they are known, in groups of their own: 35-49 and 50-64",
		Client:  "Reads the campaigns too: the difference is of unknown age and gender. Groups that facts do not have are of unknown age, with a note",
		Source:  microsoftDocs + "guides/report-attributes-performance-statistics.md", Test: microsoftReadTest,
	},
}
