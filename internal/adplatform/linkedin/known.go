package linkedin

import (
	"slices"

	"fanfare/internal/adplatform/transport"
	"fanfare/internal/connection"
)

// Sources of LinkedIn's errors.
const (
	responsesPage = transport.Source("learn.microsoft.com/en-us/linkedin/marketing/error-responses")
	handlingPage  = transport.Source("learn.microsoft.com/en-us/linkedin/shared/api-guide/concepts/error-handling")
	versionPage   = transport.Source("learn.microsoft.com/en-us/linkedin/marketing/versioning")
	limitsPage    = transport.Source("learn.microsoft.com/en-us/linkedin/shared/api-guide/concepts/rate-limits")
	oauthPage     = transport.Source("learn.microsoft.com/en-us/linkedin/shared/authentication/authorization-code-flow; RFC 6749, section 5.2")
	refreshPage   = transport.Source("learn.microsoft.com/en-us/linkedin/shared/authentication/programmatic-refresh-tokens")
	accountsPage  = transport.Source("learn.microsoft.com/en-us/linkedin/marketing/increasing-access (Development tier)")
)

// Remedies of several errors.
const (
	reconnect    = "Select Reconnect on the connection and grant access again."
	updateServer = "LinkedIn has ended version " + version + " of its API: update Fanfare."
	checkRole    = "Check in Campaign Manager, Account settings, Manage access, that the member still has a role in the ad account, and at developer.linkedin.com, My apps, Products, that the app has the Advertising API. Then grant access again."
	askRole      = "Ask a manager of the ad account for the role CAMPAIGN_MANAGER or higher: Campaign Manager, Account settings, Manage access."
	checkClient  = "Compare the client ID and the client secret in FANFARE_OAUTH with developer.linkedin.com, My apps, Auth, and restart the server."
	changeThere  = "Open the campaign in Campaign Manager and change its state there."
)

// errorTable has LinkedIn's errors: the HTTP status, and the code, the service
// error code or the error of OAuth after a slash.
var errorTable = slices.Concat(
	handlingPage.Text(connection.TooLarge, "", "400", "too long"),
	accountsPage.Text(connection.Forbidden, "The app is in the Development tier. Add the ad account at developer.linkedin.com, My apps, Products, Advertising API, View ad accounts.", "403", "account management list"),

	handlingPage.Errors(connection.Expired, "", "*/EXPIRED_ACCESS_TOKEN", "*/65602"),
	handlingPage.Errors(connection.Revoked, reconnect, "*/REVOKED_ACCESS_TOKEN", "*/INVALID_ACCESS_TOKEN", "*/EMPTY_ACCESS_TOKEN", "*/65600", "*/65601", "*/65604"),
	versionPage.Errors(connection.Sunset, updateServer, "*/NONEXISTENT_VERSION"),
	versionPage.Errors(connection.Refused, "", "*/VERSION_MISSING"),
	limitsPage.Errors(connection.Throttled, "", "*/TOO_MANY_REQUESTS"),

	handlingPage.Errors(connection.Forbidden, checkRole, "*/ACCESS_DENIED"),
	responsesPage.Errors(connection.Forbidden, askRole, "*/NO_PERMISSION_ON_ENTITY", "*/NO_PERMISSION_ON_FIELD", "*/NO_PERMISSION_TO_UPDATE"),
	responsesPage.Errors(connection.Refused, "Activate the campaign group in Campaign Manager first.", "*/ONLY_DRAFT_CAMPAIGNS_ALLOWED_IN_DRAFT_CAMPAIGN_GROUPS"),
	responsesPage.Errors(connection.Refused, "A canceled campaign cannot be changed. Copy it in Campaign Manager, then link the copy.", "*/ACTION_NOT_ALLOWED_FOR_CANCELLED_STATUS"),
	responsesPage.Errors(connection.Refused, changeThere, "*/INVALID_STATUS_TRANSITION", "*/STATUS_CHANGE_NOT_ALLOWED"),
	responsesPage.Errors(connection.Refused, "Raise the total budget of the campaign group in Campaign Manager, then resume the campaign again.", "*/INSUFFICIENT_CAMPAIGN_GROUP_BUDGET"),
	responsesPage.Errors(connection.Refused, "Change the audience of the campaign in Campaign Manager, then resume the campaign again.", "*/AUDIENCE_SIZE_TOO_SMALL", "*/FIELD_VALUE_NOT_ALLOWED_FOR_SEGMENT_STATUS", "*/FAILED_TO_PROCESS_TARGETING_CRITERIA", "*/FAILED_TO_PROCESS_CAMPAIGN_FOR_AUDIENCE_SIZE_ESTIMATION"),
	responsesPage.Errors(connection.Refused, "Add a conversion to the campaign in Campaign Manager, then resume the campaign again.", "*/CONVERSION_CAMPAIGN_MISSING_ASSOCIATED_CONVERSION"),
	responsesPage.Errors(connection.Refused, "Correct in Campaign Manager what the message names, then try again.", "*/CONDITIONAL_FIELD_NOT_ALLOWED", "*/CONDITIONAL_INVALID_VALUE", "*/CONDITIONAL_MISSING_FIELD", "*/CONDITIONAL_VALUE_TOO_HIGH", "*/CONDITIONAL_VALUE_TOO_LOW",
		"*/DATE_TOO_EARLY", "*/DATE_IMMUTABLE_WHEN_PASSED", "*/FIELD_VALUE_TOO_HIGH", "*/FIELD_VALUE_TOO_LOW", "*/FIELD_VALUE_NOT_ACTIVE", "*/INVALID_CAMPAIGN_CONFIGURATION", "*/MULTIPLE_VALIDATIONS_FAILED", "*/START_DATE_AFTER_END_DATE"),
	responsesPage.Errors(connection.Gone, "", "*/NOT_FOUND", "*/RESOURCE_NOT_FOUND"),
	responsesPage.Errors(connection.Transient, "", "*/TIMEOUT", "*/CONFLICT", "*/INTERNAL_ERROR", "*/UNDER_MAINTENANCE", "*/FAILED_TO_RETRIEVE_AUDIENCE_SIZE", "*/FAILED_TO_RETRIEVE_SEGMENTS"),
	responsesPage.Errors(connection.Refused, "", "*/NOT_IMPLEMENTED", "*/PRECONDITION_FAILED"),

	refreshPage.Errors(connection.Revoked, reconnect+" LinkedIn ends a consent after a year.", "*/invalid_grant"),
	oauthPage.Text(connection.Refused, "Compare Authorized redirect URLs at developer.linkedin.com, My apps, Auth, with FANFARE_PUBLIC_URL and the path /oauth/callback/linkedin_ads, then start the connection again.", "*/invalid_request", "redirect"),
	oauthPage.Errors(connection.Refused, "Add the address in FANFARE_PUBLIC_URL with the path /oauth/callback/linkedin_ads under Authorized redirect URLs at developer.linkedin.com, My apps, Auth.", "*/invalid_redirect_uri"),
	oauthPage.Errors(connection.Refused, "The code of the consent page is used up or too old. Start the connection again.", "*/invalid_request"),
	oauthPage.Errors(connection.Forbidden, checkClient, "*/invalid_client", "*/invalid_client_id", "*/unauthorized_client"),
	oauthPage.Errors(connection.Forbidden, "The app does not have the Advertising API yet. Request it at developer.linkedin.com, My apps, Products, then connect again.", "*/unauthorized_scope_error", "*/invalid_scope"),
	oauthPage.Errors(connection.Forbidden, "Connect again and select Allow.", "*/access_denied", "*/user_cancelled_login", "*/user_cancelled_authorize"),
	oauthPage.Errors(connection.Transient, "", "*/server_error", "*/temporarily_unavailable"),

	handlingPage.Errors(connection.Revoked, reconnect, "401"),
	handlingPage.Errors(connection.Forbidden, checkRole, "403"),
	handlingPage.Errors(connection.Gone, "", "404"),
	handlingPage.Errors(connection.Transient, "", "408", "409"),
	handlingPage.Errors(connection.TooLarge, "", "413", "414"),
	versionPage.Errors(connection.Sunset, updateServer, "426"),
	limitsPage.Errors(connection.Throttled, "", "429"),
	handlingPage.Errors(connection.Refused, "", "400-499"),
	handlingPage.Errors(connection.Transient, "", "500-599"),
)

// Errors returns the errors that LinkedIn documents for our calls.
func Errors() transport.ErrorTable { return slices.Clone(errorTable) }
