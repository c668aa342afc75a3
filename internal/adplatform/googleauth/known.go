package googleauth

import (
	"slices"

	"fanfare/internal/adplatform/transport"
	"fanfare/internal/connection"
)

// Sources of Google's errors.
const (
	oauthPage    = transport.Source("developers.google.com/identity/protocols/oauth2/web-server (errors); RFC 6749, section 5.2")
	expiryPage   = transport.Source("developers.google.com/identity/protocols/oauth2 (refresh token expiration)")
	reauthCode   = transport.Source("PyPI google-auth 2.62.2, google/oauth2/reauth.py (refresh_grant)")
	retryCode    = transport.Source("PyPI google-auth 2.62.2, google/oauth2/_client.py (_can_retry)")
	consentPage  = transport.Source("support.google.com/accounts/answer/16668185 (Understand & fix error codes)")
	reasonsProto = transport.Source("PyPI googleapis-common-protos 1.76.0, google/api/error_reason.proto")
	codesProto   = transport.Source("PyPI googleapis-common-protos 1.76.0, google/rpc/code.proto")
)

// Remedies of several errors.
const (
	reconnect    = "Select Reconnect on the connection and allow access again."
	checkClient  = "Compare the client ID and the client secret in FANFARE_OAUTH with Google Auth Platform, Clients, and restart the server."
	signInAgain  = "The session policy of your Google Workspace requires people to sign in again. " + reconnect + " To be asked less often, have the administrator exempt the app: Google Admin console, Security, Google Cloud session control."
	askWorkspace = "Ask the administrator of your Google Workspace to trust the app: Google Admin console, Security, Access and data control, API controls. Then connect again."
)

// TokenErrors are the errors of Google's OAuth endpoints, which all its
// platforms share.
var TokenErrors = slices.Concat(
	// The grant is not revoked: a person has to sign in again.
	reauthCode.Errors(connection.Revoked, signInAgain, "invalid_grant/invalid_rapt", "invalid_grant/rapt_required"),
	oauthPage.Text(connection.Refused, "Compare Authorized redirect URIs of the client in Google Auth Platform, Clients, with FANFARE_PUBLIC_URL and the path /oauth/callback/, then connect again.", "invalid_grant", "redirect"),
	expiryPage.Errors(connection.Revoked, reconnect+" If this happens every 7 days, the consent screen is in Testing: select Publish app in Google Auth Platform, Audience.", "invalid_grant"),
	oauthPage.Errors(connection.Revoked, reconnect, "invalid_token"),
	oauthPage.Errors(connection.Forbidden, checkClient, "invalid_client", "unauthorized_client"),
	consentPage.Errors(connection.Forbidden, "The OAuth client was deleted or disabled in Google Auth Platform, Clients. Create or enable one, set it in FANFARE_OAUTH, restart the server and connect again.", "deleted_client", "disabled_client"),
	consentPage.Errors(connection.Forbidden, askWorkspace, "admin_policy_enforced", "access_not_configured"),
	consentPage.Errors(connection.Forbidden, "The audience of the app is Internal, and the person is outside of the organization. Sign in with an account of the organization, or choose External in Google Auth Platform, Audience.", "org_internal"),
	oauthPage.Errors(connection.Forbidden, "Connect again and select Allow. While the consent screen is in Testing, add the person first in Google Auth Platform, Audience, Test users.", "access_denied"),
	oauthPage.Errors(connection.Refused, "Add the address in FANFARE_PUBLIC_URL with the path /oauth/callback/ and the platform under Authorized redirect URIs in Google Auth Platform, Clients. It must match character by character.", "redirect_uri_mismatch"),
	oauthPage.Errors(connection.Refused, "Add the scope in Google Auth Platform, Data Access, then connect again.", "invalid_scope"),
	oauthPage.Errors(connection.Refused, "", "invalid_request", "unsupported_grant_type", "unsupported_response_type"),
	// These pass whatever their status is.
	retryCode.Errors(connection.Transient, "", "server_error", "temporarily_unavailable", "internal_failure"),
	oauthPage.Errors(connection.Throttled, "", "rate_limit_exceeded"),
)

// ReasonErrors returns the errors of all of Google's APIs that have a reason. The
// remedies name the APIs that have to be enabled, and the data that is read.
func ReasonErrors(apis, data string) transport.ErrorTable {
	return slices.Concat(
		reasonsProto.Errors(connection.Forbidden, "Open APIs & Services, Library in the Google Cloud console, in the project of the OAuth client, and enable "+apis+". It can take a few minutes to work.", "*/SERVICE_DISABLED"),
		reasonsProto.Errors(connection.Forbidden, "Select Reconnect on the connection and check every box on Google's page, which allows access to "+data+".", "*/ACCESS_TOKEN_SCOPE_INSUFFICIENT"),
		reasonsProto.Errors(connection.Forbidden, "The Google Cloud project of the OAuth client was deleted or is not known. Set an OAuth client of a project that exists in FANFARE_OAUTH.", "*/CONSUMER_INVALID", "*/RESOURCE_PROJECT_INVALID", "*/USER_PROJECT_DENIED"),
		reasonsProto.Errors(connection.Forbidden, "Google has suspended the Google Cloud project of the OAuth client. Open the project in the Google Cloud console and file an appeal.", "*/CONSUMER_SUSPENDED", "*/GCP_SUSPENDED"),
		reasonsProto.Errors(connection.Forbidden, "Open Billing in the Google Cloud console and link an active billing account to the project of the OAuth client.", "*/BILLING_DISABLED"),
		reasonsProto.Errors(connection.Forbidden, askWorkspace, "*/USER_BLOCKED_BY_ADMIN"),
		reasonsProto.Errors(connection.Forbidden, "A policy of your Google Cloud organization forbids the call. Ask its administrator to allow "+apis+" for the project and the address of this server.",
			"*/SECURITY_POLICY_VIOLATED", "*/ORG_RESTRICTION_VIOLATION", "*/RESOURCE_USAGE_RESTRICTION_VIOLATED", "*/ENDPOINT_USAGE_RESTRICTION_VIOLATED", "*/LOCATION_POLICY_VIOLATED"),
		reasonsProto.Errors(connection.Expired, "", "*/ACCESS_TOKEN_EXPIRED"),
		reasonsProto.Errors(connection.Revoked, "The Google account that granted access is disabled or deleted. Connect again with another Google account.", "*/ACCOUNT_STATE_INVALID"),
		// Choice: a token that Google does not recognize may be one that it has
		// just replaced, so it is refreshed once; a refusal then ends the access.
		reasonsProto.Errors(connection.Expired, "", "*/ACCESS_TOKEN_TYPE_UNSUPPORTED", "*/CREDENTIALS_MISSING"),
		reasonsProto.Errors(connection.Throttled, "", "*/RATE_LIMIT_EXCEEDED", "*/RESOURCE_QUOTA_EXCEEDED"),
	)
}

// StatusErrors returns the errors of all of Google's APIs that have only a
// status, with what to do about missing rights and about objects that are gone.
func StatusErrors(denied, gone string) transport.ErrorTable {
	return slices.Concat(
		codesProto.Errors(connection.Expired, "", "UNAUTHENTICATED"),
		codesProto.Errors(connection.Forbidden, denied, "PERMISSION_DENIED"),
		codesProto.Errors(connection.Gone, gone, "NOT_FOUND"),
		codesProto.Errors(connection.Throttled, "", "RESOURCE_EXHAUSTED"),
		codesProto.Errors(connection.Refused, "", "INVALID_ARGUMENT", "FAILED_PRECONDITION", "OUT_OF_RANGE", "ALREADY_EXISTS", "UNIMPLEMENTED"),
		// Choice: a query that timed out at Google requests too much data; a
		// retry would take as long.
		codesProto.Errors(connection.TooLarge, "", "DEADLINE_EXCEEDED"),
		codesProto.Errors(connection.Transient, "", "ABORTED", "CANCELLED", "INTERNAL", "UNKNOWN", "UNAVAILABLE", "DATA_LOSS"),
	)
}
