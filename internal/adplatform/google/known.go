package google

import (
	"slices"

	"fanfare/internal/adplatform/googleauth"
	"fanfare/internal/adplatform/transport"
	"fanfare/internal/connection"
)

// sdk returns a file of the client library as a source.
func sdk(file string) transport.Source {
	return transport.Source("PyPI google-ads 34.0.0, google/ads/googleads/v26/errors/types/" + file + ".py")
}

const (
	// overviewPage is where the access level of a Cloud project is managed.
	overviewPage = "console.cloud.google.com/google/ads-apis/overview"
	wrongLogin   = "INVALID_LOGIN_CUSTOMER_ID_SERVING_CUSTOMER_ID_COMBINATION"
)

// Remedies of several errors.
const (
	reconnect      = "Select Reconnect on the connection and allow access again."
	askAccess      = "Ask an admin of the account, or of a manager account above it, to invite the Google account that granted access: Google Ads, Admin, Access and security. It needs Read only to sync, and Standard or Admin to change campaigns."
	reactivate     = "Reactivate the account in Google Ads, Admin, Account settings, or turn it off in the connection."
	applyForAccess = "Apply for Explorer, Basic or Standard access of the Google Cloud project on " + overviewPage + "."
	updateServer   = "Update Fanfare: Google has ended the version of the Google Ads API that it calls."
	chooseAccounts = "Turn the manager account off in the connection and turn on the accounts below it."
	quotaRemedy    = "Syncing goes on by itself. The operations per day are 2,880 with Explorer access and 15,000 with Basic: apply for a higher access level on " + overviewPage + " to sync more accounts, or sync less often."
)

// authErrors are the errors of tokens and permissions.
var authErrors = slices.Concat(
	sdk("authentication_error").Errors(connection.Expired, "", "authenticationError/AUTHENTICATION_ERROR", "authenticationError/OAUTH_TOKEN_EXPIRED", "authenticationError/OAUTH_TOKEN_INVALID", "authenticationError/GOOGLE_ACCOUNT_AUTHENTICATION_FAILED"),
	sdk("authentication_error").Errors(connection.Revoked, reconnect, "authenticationError/OAUTH_TOKEN_REVOKED", "authenticationError/OAUTH_TOKEN_DISABLED"),
	sdk("authentication_error").Errors(connection.Revoked, "The Google account that granted access was deleted. Select Reconnect on the connection and sign in with another Google account.", "authenticationError/GOOGLE_ACCOUNT_DELETED"),
	sdk("authentication_error").Errors(connection.Gone, "Check in Google Ads that the account still exists. Turn it off in the connection if it does not; its past metrics stay.", "authenticationError/CUSTOMER_NOT_FOUND"),
	sdk("authentication_error").Errors(connection.Forbidden, "This Google account has no Google Ads account. Connect with a Google account that has one, or have it invited in Google Ads, Admin, Access and security.", "authenticationError/NOT_ADS_USER"),
	sdk("authentication_error").Errors(connection.Forbidden, "Turn on 2-Step Verification for the Google account that granted access, at myaccount.google.com under Security, then connect again.", "authenticationError/TWO_STEP_VERIFICATION_NOT_ENROLLED"),
	sdk("authentication_error").Errors(connection.Forbidden, "Enroll the Google account that granted access in Advanced Protection, at landing.google.com/advancedprotection, then connect again.", "authenticationError/ADVANCED_PROTECTION_NOT_ENROLLED"),
	sdk("authentication_error").Errors(connection.Forbidden, "The Google Cloud organization of the project is not approved. "+applyForAccess, "authenticationError/ORGANIZATION_NOT_RECOGNIZED", "authenticationError/ORGANIZATION_NOT_APPROVED"),
	sdk("authentication_error").Errors(connection.Forbidden, "Developer tokens have ended, and Fanfare sends none. "+applyForAccess, "authenticationError/ORGANIZATION_NOT_ASSOCIATED_WITH_DEVELOPER_TOKEN", "authenticationError/DEVELOPER_TOKEN_INVALID"),
	sdk("authentication_error").Errors(connection.Refused, "", "authenticationError/CLIENT_CUSTOMER_ID_INVALID", "authenticationError/OAUTH_TOKEN_HEADER_INVALID", "authenticationError/USER_ID_INVALID"),
	sdk("authentication_error").Errors(connection.Forbidden, "", "authenticationError"),

	sdk("authorization_error").Errors(connection.Forbidden, askAccess, "authorizationError/USER_PERMISSION_DENIED", "authorizationError/ACTION_NOT_PERMITTED", "authorizationError/AUTHORIZATION_ERROR"),
	sdk("authorization_error").Errors(connection.Forbidden, "The manager account no longer has access to this account. Link it again in the manager account under Accounts, Sub-account settings, or connect with a Google account that can open it.", "authorizationError/"+wrongLogin),
	sdk("authorization_error").Errors(connection.Forbidden, "The account is canceled, suspended or not set up yet. "+reactivate, "authorizationError/CUSTOMER_NOT_ENABLED"),
	sdk("authorization_error").Errors(connection.Forbidden, "The account is not set up yet. Finish its sign-up in Google Ads, with a payment method.", "authorizationError/INCOMPLETE_SIGNUP"),
	sdk("authorization_error").Errors(connection.Forbidden, "The account is suspended: its campaigns do not serve and cannot be changed. Follow the notice in Google Ads and contact Google support.", "authorizationError/ACTION_NOT_PERMITTED_FOR_SUSPENDED_ACCOUNT"),
	sdk("authorization_error").Errors(connection.Forbidden, "The Google Cloud project has access to test accounts only. "+applyForAccess, "authorizationError/CLOUD_PROJECT_NOT_APPROVED_FOR_PRODUCTION"),
	sdk("authorization_error").Errors(connection.Forbidden, "Developer tokens have ended, and Fanfare sends none. "+applyForAccess, "authorizationError/DEVELOPER_TOKEN_NOT_ON_ALLOWLIST", "authorizationError/DEVELOPER_TOKEN_PROHIBITED", "authorizationError/DEVELOPER_TOKEN_NOT_APPROVED"),
	sdk("authorization_error").Errors(connection.Forbidden, "Open APIs & Services, Library in the Google Cloud console, in the project of the OAuth client, and enable the Google Ads API.", "authorizationError/PROJECT_DISABLED"),
	sdk("authorization_error").Errors(connection.Forbidden, "Move the Google Cloud project into the organization that Google requires, under IAM & Admin, Settings, Migrate in the Google Cloud console.", "authorizationError/CLOUD_PROJECT_NOT_UNDER_ORGANIZATION"),
	sdk("authorization_error").Errors(connection.Forbidden, "Accept the terms of the Google Ads API on "+overviewPage+".", "authorizationError/MISSING_TOS"),
	sdk("authorization_error").Errors(connection.Forbidden, "The Google Cloud project may not use this part of the API. Check its permissible use on "+overviewPage+".", "authorizationError/METRIC_ACCESS_DENIED", "authorizationError/SERVICE_ACCESS_DENIED"),
	sdk("authorization_error").Errors(connection.Forbidden, "The account belongs to another ads system than Google Ads. Turn it off in the connection.", "authorizationError/ACCESS_DENIED_FOR_ACCOUNT_TYPE"),
	sdk("authorization_error").Errors(connection.Forbidden, "", "authorizationError"),
	sdk("operation_access_denied_error").Errors(connection.Gone, removedRemedy, "operationAccessDeniedError/OPERATION_NOT_PERMITTED_FOR_REMOVED_RESOURCE"),
	sdk("operation_access_denied_error").Errors(connection.Refused, "Google Ads does not allow this change for this type of campaign. Make the change in Google Ads.", "operationAccessDeniedError/OPERATION_NOT_PERMITTED_FOR_CAMPAIGN_TYPE", "operationAccessDeniedError/MUTATE_ACTION_NOT_PERMITTED_FOR_CLIENT"),
	sdk("operation_access_denied_error").Errors(connection.Forbidden, askAccess, "operationAccessDeniedError"),
	sdk("header_error").Errors(connection.Forbidden, "The manager account that leads to this account is not valid any more. Select Reconnect on the connection.", "headerError/INVALID_LOGIN_CUSTOMER_ID"),
	sdk("request_error").Errors(connection.Forbidden, "Compare the client ID in FANFARE_OAUTH with Google Auth Platform, Clients: Google does not find the Google Cloud project of the OAuth client.", "requestError/CLOUD_PROJECT_NOT_FOUND"),
	sdk("request_error").Errors(connection.Forbidden, "Developer tokens have ended, and Fanfare sends none. "+applyForAccess, "requestError/DEVELOPER_TOKEN_PARAMETER_MISSING"),
)

const removedRemedy = "The campaign was removed in Google Ads, which cannot be undone. Create it again there, then link the new one."

// requestErrors are the errors of quotas, reports and changes, and of Google
// itself.
var requestErrors = slices.Concat(
	sdk("quota_error").Errors(connection.Forbidden, "Google has prohibited access for the Google Cloud project. Check its access level on "+overviewPage+".", "quotaError/ACCESS_PROHIBITED"),
	sdk("quota_error").Errors(connection.Throttled, "", "quotaError"),

	sdk("request_error").Errors(connection.Sunset, updateServer, "requestError/UNSUPPORTED_VERSION"),
	sdk("request_error").Errors(connection.Gone, "", "requestError/RESOURCE_NOT_FOUND"),
	sdk("mutate_error").Errors(connection.Gone, "", "mutateError/RESOURCE_NOT_FOUND"),
	sdk("request_error").Errors(connection.PagesDisagree, "", "requestError/EXPIRED_PAGE_TOKEN", "requestError/INVALID_PAGE_TOKEN"),
	sdk("request_error").Errors(connection.TooLarge, "", "requestError/RPC_DEADLINE_TOO_SHORT"),
	sdk("request_error").Errors(connection.Refused, chooseAccounts, "requestError/CANNOT_BE_EXECUTED_BY_MANAGER_ACCOUNT"),
	sdk("request_error").Errors(connection.Refused, "", "requestError"),

	sdk("query_error").Errors(connection.TooLarge, "", "queryError/DATE_RANGE_TOO_WIDE"),
	sdk("query_error").Errors(connection.Refused, chooseAccounts, "queryError/REQUESTED_METRICS_FOR_MANAGER"),
	sdk("query_error").Errors(connection.Refused, "", "queryError"),
	sdk("date_range_error").Errors(connection.Refused, retentionRemedy, "dateRangeError/REQUESTED_DATE_GRANULARITY_NOT_SUPPORTED", "dateRangeError/INVALID_DATE"),
	sdk("date_range_error").Errors(connection.Refused, "", "dateRangeError"),

	// Choice: a query that ran into its deadline asks for too much; another try
	// would take as long.
	sdk("internal_error").Errors(connection.TooLarge, "", "internalError/DEADLINE_EXCEEDED"),
	// A code that this version of the API does not know is not known to pass.
	sdk("internal_error").Errors(connection.Refused, "", "internalError/ERROR_CODE_NOT_PUBLISHED"),
	sdk("internal_error").Errors(connection.Transient, "", "internalError"),
	sdk("database_error").Errors(connection.TooLarge, "", "databaseError/REQUEST_TOO_LARGE"),
	sdk("database_error").Errors(connection.Refused, "", "databaseError/DATA_CONSTRAINT_VIOLATION"),
	sdk("database_error").Errors(connection.Transient, "", "databaseError"),

	sdk("context_error").Errors(connection.Gone, removedRemedy, "contextError/OPERATION_NOT_PERMITTED_FOR_REMOVED_RESOURCE"),
	sdk("context_error").Errors(connection.Refused, "Google Ads does not allow this change here. Make the change in Google Ads.", "contextError/OPERATION_NOT_PERMITTED_FOR_CONTEXT"),
	sdk("campaign_error").Errors(connection.Refused, "Google Ads does not allow this change of the campaign's status. Open the campaign in Google Ads and change it there.", "campaignError/INVALID_STATUS_CHANGE"),
	sdk("campaign_error").Errors(connection.Refused, "The campaign has ended. Move its end date in Google Ads, campaign Settings, to run it again.", "campaignError/INVALID_OPERATION_IF_SERVING_STATUS_HAS_ENDED"),
	sdk("campaign_error").Errors(connection.Refused, "The campaign belongs to an experiment. Change the experiment in Google Ads, Campaigns, Experiments.", "campaignError/CANNOT_MODIFY_FOR_TRIAL_CAMPAIGN"),
	sdk("campaign_error").Errors(connection.Refused, "Open the campaign in Google Ads, follow the notice there and accept the terms that it names, then resume the campaign again.", "campaignError/HEC_AGREEMENT_REQUIRED", "campaignError/LOCAL_SERVICES_AGREEMENT_REQUIRED"),
	sdk("campaign_error").Errors(connection.Refused, "Open the campaign in Google Ads and correct what the message names, then try again.", "campaignError"),
	sdk("mutate_error").Errors(connection.Refused, "Open the campaign in Google Ads, campaign Settings, and declare under EU political ads whether it has political ads. Every campaign of the account needs it.", "mutateError/EU_POLITICAL_ADVERTISING_DECLARATION_REQUIRED"),
	sdk("mutate_error").Errors(connection.Refused, "The campaign belongs to another ads system than Google Ads. Change it there.", "mutateError/RESOURCE_NOT_IN_GOOGLE_ADS"),
	sdk("mutate_error").Errors(connection.Refused, "", "mutateError"),
)

const retentionRemedy = "Google Ads keeps daily metrics for 37 months. Older days cannot be read any more; import them from a report that you have."

// statusErrors are the errors without a failure of Google Ads.
var statusErrors = slices.Concat(googleauth.ReasonErrors("the Google Ads API", "Google Ads"), googleauth.StatusErrors("", ""))

// errorTable has the errors of calls to Google Ads. The part before the slash is
// the member of errorCode, or the status.
var errorTable = slices.Concat(authErrors, requestErrors, statusErrors)

// Errors returns the errors that Google documents for our calls, also those of
// OAuth.
func Errors() transport.ErrorTable { return slices.Concat(errorTable, googleauth.TokenErrors) }
