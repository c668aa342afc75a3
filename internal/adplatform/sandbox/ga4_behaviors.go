package sandbox

// ga4Quotas are the quotas that can be exhausted or low.
var ga4Quotas = []string{"tokens", "tokens_day", "tokens_project", "concurrent", "threshold", "errors", "low_tokens", "low_threshold", "low_errors"}

// Sources of the behaviors of GA4.
const (
	ga4DataTypes  = "PyPI google-analytics-data 0.23.3, data_v1beta/types/data.py"
	ga4DataAPI    = "PyPI google-analytics-data 0.23.3, data_v1beta/types/analytics_data_api.py"
	ga4AdminTypes = "PyPI google-analytics-admin 0.30.2, admin_v1beta/types/resources.py"
	ga4AdminAPI   = "PyPI google-analytics-admin 0.30.2, admin_v1beta/types/analytics_admin.py"
	ga4QuotaPage  = "developers.google.com/analytics/devguides/reporting/data/v1/quotas"
	ga4Freshness  = "support.google.com/analytics/answer/11198161"
	ga4Tests      = "internal/adplatform/ga4 "
)

// ga4Behaviors are the simulated behaviors of GA4.
var ga4Behaviors = []Behavior{
	{
		ID: "A2", Platform: GA4, Switch: "api_disabled", Values: []string{"Admin", "Data"},
		Summary: "Each of the two APIs must be enabled in the Google Cloud project: 403 with the reason SERVICE_DISABLED",
		Client:  "Error of class permission that names both APIs",
		Source:  "google/api/error_reason.proto of github.com/googleapis/googleapis", Test: ga4Tests + "TestRefusals",
	},
	{
		ID: "A3", Platform: GA4,
		Summary: "Lists of accounts, properties and key events have at most 200 entries per page and may return fewer while there are more",
		Client:  "Follows nextPageToken until there is none",
		Source:  ga4AdminAPI, Test: ga4Tests + "TestListing",
	},
	{
		ID: "A4", Platform: GA4, Switch: "one_property_403",
		Summary: "A property in the list of summaries can refuse to be read",
		Client:  "Returns it with its problem; the others are listed. Reads settings by account, not by property",
		Source:  ga4AdminTypes + "; list_properties in services/analytics_admin_service/client.py", Test: ga4Tests + "TestListing",
	},
	{
		ID: "A4b", Platform: GA4, Switch: "trashed_property",
		Summary: "A property in the trash has deleteTime and expireTime and is left out of lists by default",
		Client:  "Asks for it with showDeleted and returns it with its problem and the time of deletion",
		Source:  ga4AdminTypes, Test: ga4Tests + "TestListing",
	},
	{
		ID: "A5", Platform: GA4, Switch: "rollup_property",
		Summary: "A roll-up property repeats the data of its source properties",
		Client:  "Returns it with a problem and not enabled if an ordinary property of its account is listed",
		Source:  ga4AdminTypes + " (PropertyType)", Test: ga4Tests + "TestRepeatedData",
	},
	{
		ID: "A5b", Platform: GA4, Switch: "subproperty",
		Summary: "A subproperty repeats a part of the data of its parent property",
		Client:  "Returns it with a problem and not enabled if its parent is listed",
		Source:  ga4AdminTypes + " (PropertyType)", Test: ga4Tests + "TestRepeatedData",
	},
	{
		ID: "A6", Platform: GA4, Switch: "quota", Values: ga4Quotas,
		Summary: "Tokens per property: 200,000 per day, 40,000 per hour, 14,000 per project and hour; the answer has what is left on request",
		Client:  "Holds background calls of the property while less than a tenth is left",
		Source:  ga4DataTypes + " (PropertyQuota); " + ga4QuotaPage, Test: ga4Tests + "TestLowQuota",
	},
	{
		ID: "A7", Platform: GA4, Switch: "quota", Values: ga4Quotas,
		Summary: "10 concurrent requests per property, then 429",
		Client:  "Sends at most 8 at once per property; waits a short time after a refusal",
		Source:  ga4DataTypes + " (PropertyQuota)", Test: ga4Tests + "TestConcurrentRequests",
	},
	{
		ID: "A8", Platform: GA4, Switch: "quota", Values: ga4Quotas,
		Summary: "120 requests per hour with age, gender, interest or audience, then 429 for all requests of the property",
		Client:  "Waits until the next hour instead of trying again at once",
		Source:  ga4DataTypes + " (PropertyQuota)", Test: ga4Tests + "TestExhaustedQuota",
	},
	{
		ID: "A9", Platform: GA4, Switch: "quota", Values: ga4Quotas,
		Summary: "10 server errors per project, property and hour, then 429 for all requests of the property",
		Client:  "Sends nothing more for the property until the next hour after 7 of them",
		Source:  ga4DataTypes + " (PropertyQuota)", Test: ga4Tests + "TestServerErrors",
	},
	{
		ID: "A10", Platform: GA4, Switch: "quota", Values: ga4Quotas,
		Summary: "Any exhausted quota blocks all requests of the property; hourly quotas return within an hour, daily ones at midnight PST",
		Client:  "Parks the property until then, not the other properties of the connection",
		Source:  ga4DataTypes + " (PropertyQuota); " + ga4QuotaPage, Test: ga4Tests + "TestExhaustedQuota",
	},
	{
		ID: "A11", Platform: GA4, Switch: "forbidden_page",
		Summary: "A 403 without the status PERMISSION_DENIED is not about rights",
		Client:  "Transient; with the status it is of class permission",
		Source:  "CHANGELOG 2.9.31 of Airbyte's source-google-analytics-data-api", Test: ga4Tests + "TestRefusals",
	},
	{
		ID: "A11b", Platform: GA4, Switch: "scope_missing",
		Summary: "A person can grant access without the scope of Google Analytics: 403 with the reason ACCESS_TOKEN_SCOPE_INSUFFICIENT",
		Client:  "Error of class permission that says to connect again",
		Source:  "google/api/error_reason.proto of github.com/googleapis/googleapis", Test: ga4Tests + "TestRefusals",
	},
	{
		ID: "A12", Platform: GA4,
		Summary: "A page has 10,000 rows by default and at most 250,000; rowCount is the number of all rows",
		Client:  "Reads pages until rowCount is reached, sorted by all dimensions; another number of rows is an error",
		Source:  ga4DataAPI + " (RunReportRequest)", Test: ga4Tests + "TestReportMatchesSandbox",
	},
	{
		ID: "A13", Platform: GA4,
		Summary: "Rows in which all metrics are 0 are left out",
		Client:  "A row that a request leaves out has 0 in the metrics of that request",
		Source:  ga4DataAPI + " (keep_empty_rows)", Test: ga4Tests + "TestChosenKeyEvents",
	},
	{
		ID: "A14", Platform: GA4, Switch: "thresholded",
		Summary: "Reports by age, gender, interest or audience leave out rows with few users: metadata.subjectToThresholding",
		Client:  "Note with the amount that is missing of the property's total",
		Source:  ga4DataTypes + " (ResponseMetaData)", Test: ga4Tests + "TestThresholding",
	},
	{
		ID: "A15", Platform: GA4, Switch: "other_row",
		Summary: `Small rows of reports with many values are put together as "(other)": metadata.dataLossFromOtherRow`,
		Client:  "Keeps the row, so that totals are right, and adds a note with its amount",
		Source:  ga4DataTypes + " (ResponseMetaData)", Test: ga4Tests + "TestOtherRow",
	},
	{
		ID: "A16", Platform: GA4, Switch: "sampled", Number: true,
		Summary: "Large requests are estimated from a part of the events: metadata.samplingMetadatas. The switch is the percentage of 30 days",
		Client:  "Asks for at most 7 days at once; if these are sampled too, a note with the percentage",
		Source:  ga4DataTypes + " (SamplingMetadata)", Test: ga4Tests + "TestSampling",
	},
	{
		ID: "A17", Platform: GA4,
		Summary: "Users are estimates that do not add up over days",
		Client:  "Does not ask for them",
		Source:  "developers.google.com/analytics/devguides/reporting/data/v1/reporting-data-expectations", Test: ga4Tests + "TestReportColumns",
	},
	{
		ID: "A18", Platform: GA4, Switch: "empty_reason",
		Summary: "A report can be empty for a reason: metadata.emptyReason",
		Client:  "Note with the reason",
		Source:  ga4DataTypes + " (ResponseMetaData)", Test: ga4Tests + "TestEmptyReason",
	},
	{
		ID: "A19", Platform: GA4, Switch: "restricted_metric", Values: []string{ga4CostData, ga4RevenueData},
		Summary: "A role can hide cost or revenue: the metric is 0 and in metadata.schemaRestrictionResponse",
		Client:  "Revenue is unknown, not 0, with a note that says who can change it",
		Source:  ga4DataTypes + " (SchemaRestrictionResponse)", Test: ga4Tests + "TestRestrictedMetric",
	},
	{
		ID: "A20", Platform: GA4, Switch: "truncated_retention",
		Summary: "Data before the retention date of the property is cut off: metadata.dataTruncationReasons",
		Client:  "Note with the days that are cut off",
		Source:  ga4DataTypes + " (DataTruncationReason)", Test: ga4Tests + "TestTruncation",
	},
	{
		ID: "A21", Platform: GA4,
		Summary: "Cost, clicks and impressions of ads older than 36 months are 0",
		Client:  "Does not ask for them; key events and revenue are complete",
		Source:  ga4DataTypes + " (DATA_TRUNCATION_TYPE_GOOGLE_ADS)", Test: ga4Tests + "TestAdDataOlderThan36Months",
	},
	{
		ID: "A22", Platform: GA4, Switch: BehaviorMaturation, Number: true,
		Summary: "Numbers change for 24 to 48 hours, of large properties longer; events count up to 72 hours late",
		Client:  "Reads the last 4 days again, and once a week the last 30",
		Source:  ga4Freshness, Test: ga4Tests + "TestLateData",
	},
	{
		ID: "A24", Platform: GA4, Switch: "key_event_added",
		Summary: "An event counts as a key event only from the day on which it was marked",
		Client:  "Note with the event and the day",
		Source:  ga4AdminTypes + " (KeyEvent)", Test: ga4Tests + "TestKeyEventAdded",
	},
	{
		ID: "A24b", Platform: GA4,
		Summary: "keyEvents counts all key events, keyEvents:name one of them",
		Client:  "Asks for the chosen events, or for all without a choice",
		Source:  "getMetadata of a property lists both, " + ga4DataTypes + " (MetricMetadata); the names are those of public clients", Test: ga4Tests + "TestChosenKeyEvents",
	},
	{
		ID: "A26", Platform: GA4, Switch: "timezone_changed",
		Summary: "The time zone of a property can change; days of the past stay as they were",
		Client:  "Reads the zone with every listing, and compares that of every report with it: the account is switched off; pages of a report with different zones are an error",
		Source:  ga4AdminTypes + " (Property)", Test: ga4Tests + "TestPropertyChanges",
	},
	{
		ID: "A27", Platform: GA4, Switch: "currency_changed",
		Summary: "Amounts are in the property's current currency, also those of the past",
		Client:  "Reads the currency with every listing, and compares that of every report with it: the account is switched off; pages of a report with different currencies are an error",
		Source:  ga4DataTypes + " (ResponseMetaData)", Test: ga4Tests + "TestPropertyChanges",
	},
	{
		ID: "A28", Platform: GA4,
		Summary: "A request has at most 9 dimensions, 10 metrics and 4 date ranges",
		Client:  "Reads many key events in several requests and adds them up by row",
		Source:  ga4DataTypes + " (Dimension, Metric, DateRange)", Test: ga4Tests + "TestChosenKeyEvents",
	},
	{
		ID: "A30", Platform: GA4,
		Summary: "Values have no names but positions, and are strings",
		Client:  "Finds the position of each field in the headers",
		Source:  ga4DataAPI + " (RunReportResponse)", Test: ga4Tests + "TestColumnsByHeader",
	},
	{
		ID: "A33", Platform: GA4,
		Summary: "Metrics differ by property; an unknown one is refused with 400",
		Client:  "Leaves out chosen events that are no key events of the property, with a note; conversions are unknown if none is left",
		Source:  ga4DataTypes + " (MetricMetadata)", Test: ga4Tests + "TestChosenKeyEvents",
	},
	{
		ID: "A34", Platform: GA4, Switch: "other_row",
		Summary: "Values in parentheses, such as (not set) and (other), are no names",
		Client:  "Lists no campaigns and ads from them",
		Source:  ga4DataTypes + " (Filter.EmptyFilter, ResponseMetaData)", Test: ga4Tests + "TestOtherRow",
	},
	{
		ID: "A35", Platform: GA4,
		Summary: "advertiserAdCost repeats the spend that the ad platforms report themselves",
		Client:  "Does not ask for it",
		Source:  "developers.google.com/analytics/devguides/reporting/data/v1/api-schema", Test: ga4Tests + "TestReportColumns",
	},
	{
		ID: "A37", Platform: GA4, Switch: "mixed_channels",
		Summary: "The channel group is that of a session, so a campaign can have several on one day",
		Client:  "Returns a row for each channel of a campaign; they add up to the campaign",
		Source:  "developers.google.com/analytics/devguides/reporting/data/v1/api-schema (sessionDefaultChannelGroup)", Test: ga4Tests + "TestMixedChannels",
	},
	{
		ID: "X18", Platform: GA4, Switch: ga4OmitDefaults,
		Summary: "Answers leave out members that have the default value of their type: an empty report has neither rows nor rowCount, an unused quota no consumed, an empty text no value",
		Client:  "Takes absent members as the default value. A report without rows is empty.",
		Source:  "protobuf.dev/programming-guides/json (presence and default values); " + ga4DataAPI + " (RunReportResponse)",
		Test:    "internal/adplatform/ga4 TestOmittedDefaults",
	},
	{
		ID: "X19", Platform: GA4, Switch: ga4RowOrder,
		Summary: "Only orderBys specifies an order of rows. With the switch, the order of a report without it differs from page to page",
		Client:  "Orders every report by all its dimensions.",
		Source:  ga4DataAPI + " (RunReportRequest.order_bys, offset); that the order changes between pages is not documented",
		Test:    "internal/adplatform/ga4 TestRowOrder",
	},
	{
		ID: "X20", Platform: GA4, Switch: ga4EmptyAccount,
		Summary: "An account can have no property: its summary has no propertySummaries",
		Client:  "Lists the properties of the other accounts.",
		Source:  ga4AdminTypes + " (AccountSummary); protobuf.dev/programming-guides/json",
		Test:    "internal/adplatform/ga4 TestAccountWithoutProperties",
	},
}
