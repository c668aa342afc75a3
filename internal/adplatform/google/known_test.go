package google_test

import (
	"errors"
	"strings"
	"testing"

	"fanfare/internal/adplatform/google"
	"fanfare/internal/adplatform/googleauth"
	"fanfare/internal/adplatform/sandbox"
	"fanfare/internal/adplatform/transport"
	"fanfare/internal/connection"
)

// documentedErrors are the errors that Google documents for our calls, by what
// they mean. A message follows the code after a space. The list is from the
// descriptions in google-ads 34.0.0 (errors/types), error_reason.proto, code.proto
// and the pages about OAuth.
var documentedErrors = []struct {
	class connection.Class
	// remedy is a part of it, empty if there must be none.
	remedy string
	codes  []string
}{
	{connection.Expired, "", []string{
		"authenticationError/AUTHENTICATION_ERROR", "authenticationError/OAUTH_TOKEN_EXPIRED", "authenticationError/OAUTH_TOKEN_INVALID",
		"authenticationError/GOOGLE_ACCOUNT_AUTHENTICATION_FAILED", "UNAUTHENTICATED", "UNAUTHENTICATED/ACCESS_TOKEN_EXPIRED", "UNAUTHENTICATED/ACCESS_TOKEN_TYPE_UNSUPPORTED", "UNAUTHENTICATED/CREDENTIALS_MISSING",
	}},
	{connection.Revoked, "Reconnect", []string{"authenticationError/OAUTH_TOKEN_REVOKED", "authenticationError/OAUTH_TOKEN_DISABLED", "authenticationError/GOOGLE_ACCOUNT_DELETED"}},
	{connection.Revoked, "another Google account", []string{"UNAUTHENTICATED/ACCOUNT_STATE_INVALID"}},
	{connection.Revoked, "Publish app", []string{"invalid_grant Token has been expired or revoked.", "invalid_grant Bad Request"}},
	{connection.Revoked, "session control", []string{"invalid_grant/invalid_rapt reauth related error (invalid_rapt)", "invalid_grant/rapt_required reauth related error (rapt_required)"}},
	{connection.Revoked, "Reconnect", []string{"invalid_token"}},

	{connection.Forbidden, "Access and security", []string{
		"authorizationError/USER_PERMISSION_DENIED", "authorizationError/ACTION_NOT_PERMITTED", "authorizationError/AUTHORIZATION_ERROR", "authenticationError/NOT_ADS_USER",
		"operationAccessDeniedError/ACTION_NOT_PERMITTED", "operationAccessDeniedError/UPDATE_OPERATION_NOT_PERMITTED", "operationAccessDeniedError/MUTATE_NOT_PERMITTED_FOR_CUSTOMER",
	}},
	{connection.Forbidden, "Sub-account settings", []string{"authorizationError/INVALID_LOGIN_CUSTOMER_ID_SERVING_CUSTOMER_ID_COMBINATION"}},
	{connection.Forbidden, "Reconnect", []string{"headerError/INVALID_LOGIN_CUSTOMER_ID"}},
	{connection.Forbidden, "2-Step Verification", []string{"authenticationError/TWO_STEP_VERIFICATION_NOT_ENROLLED"}},
	{connection.Forbidden, "Advanced Protection", []string{"authenticationError/ADVANCED_PROTECTION_NOT_ENROLLED"}},
	{connection.Forbidden, "Reactivate", []string{"authorizationError/CUSTOMER_NOT_ENABLED"}},
	{connection.Forbidden, "sign-up", []string{"authorizationError/INCOMPLETE_SIGNUP"}},
	{connection.Forbidden, "Google support", []string{"authorizationError/ACTION_NOT_PERMITTED_FOR_SUSPENDED_ACCOUNT"}},
	{connection.Forbidden, "console.cloud.google.com/google/ads-apis/overview", []string{
		"authorizationError/CLOUD_PROJECT_NOT_APPROVED_FOR_PRODUCTION", "authorizationError/MISSING_TOS", "authorizationError/METRIC_ACCESS_DENIED", "authorizationError/SERVICE_ACCESS_DENIED",
		"authorizationError/DEVELOPER_TOKEN_NOT_ON_ALLOWLIST", "authorizationError/DEVELOPER_TOKEN_PROHIBITED", "authorizationError/DEVELOPER_TOKEN_NOT_APPROVED",
		"authenticationError/ORGANIZATION_NOT_RECOGNIZED", "authenticationError/ORGANIZATION_NOT_APPROVED", "authenticationError/ORGANIZATION_NOT_ASSOCIATED_WITH_DEVELOPER_TOKEN",
		"authenticationError/DEVELOPER_TOKEN_INVALID", "requestError/DEVELOPER_TOKEN_PARAMETER_MISSING", "quotaError/ACCESS_PROHIBITED",
	}},
	{connection.Forbidden, "enable the Google Ads API", []string{"authorizationError/PROJECT_DISABLED", "PERMISSION_DENIED/SERVICE_DISABLED"}},
	{connection.Forbidden, "organization", []string{
		"authorizationError/CLOUD_PROJECT_NOT_UNDER_ORGANIZATION", "PERMISSION_DENIED/SECURITY_POLICY_VIOLATED", "PERMISSION_DENIED/ORG_RESTRICTION_VIOLATION",
		"PERMISSION_DENIED/RESOURCE_USAGE_RESTRICTION_VIOLATED", "PERMISSION_DENIED/ENDPOINT_USAGE_RESTRICTION_VIOLATED", "PERMISSION_DENIED/LOCATION_POLICY_VIOLATED", "org_internal",
	}},
	{connection.Forbidden, "another ads system", []string{"authorizationError/ACCESS_DENIED_FOR_ACCOUNT_TYPE"}},
	{connection.Forbidden, "FANFARE_OAUTH", []string{
		"requestError/CLOUD_PROJECT_NOT_FOUND", "PERMISSION_DENIED/CONSUMER_INVALID", "PERMISSION_DENIED/RESOURCE_PROJECT_INVALID", "PERMISSION_DENIED/USER_PROJECT_DENIED",
		"invalid_client", "unauthorized_client", "deleted_client", "disabled_client",
	}},
	{connection.Forbidden, "check every box", []string{"PERMISSION_DENIED/ACCESS_TOKEN_SCOPE_INSUFFICIENT"}},
	{connection.Forbidden, "appeal", []string{"PERMISSION_DENIED/CONSUMER_SUSPENDED", "PERMISSION_DENIED/GCP_SUSPENDED"}},
	{connection.Forbidden, "Billing", []string{"PERMISSION_DENIED/BILLING_DISABLED"}},
	{connection.Forbidden, "API controls", []string{"PERMISSION_DENIED/USER_BLOCKED_BY_ADMIN", "admin_policy_enforced", "access_not_configured"}},
	{connection.Forbidden, "Test users", []string{"access_denied"}},
	{connection.Forbidden, "", []string{"PERMISSION_DENIED", "authenticationError/LOGIN_COOKIE_REQUIRED", "authorizationError/UNKNOWN"}},

	{connection.Throttled, "", []string{
		"quotaError/RESOURCE_EXHAUSTED", "quotaError/RESOURCE_TEMPORARILY_EXHAUSTED", "quotaError/EXCESSIVE_SHORT_TERM_QUERY_RESOURCE_CONSUMPTION", "quotaError/EXCESSIVE_LONG_TERM_QUERY_RESOURCE_CONSUMPTION",
		"RESOURCE_EXHAUSTED", "RESOURCE_EXHAUSTED/RATE_LIMIT_EXCEEDED", "RESOURCE_EXHAUSTED/RESOURCE_QUOTA_EXCEEDED", "rate_limit_exceeded",
	}},
	{connection.Transient, "", []string{
		"internalError/INTERNAL_ERROR", "internalError/TRANSIENT_ERROR", "databaseError/CONCURRENT_MODIFICATION",
		"ABORTED", "CANCELLED", "INTERNAL", "UNKNOWN", "UNAVAILABLE", "DATA_LOSS", "server_error", "temporarily_unavailable", "internal_failure",
	}},
	{connection.TooLarge, "", []string{
		"internalError/DEADLINE_EXCEEDED", "databaseError/REQUEST_TOO_LARGE", "queryError/DATE_RANGE_TOO_WIDE", "requestError/RPC_DEADLINE_TOO_SHORT", "DEADLINE_EXCEEDED",
	}},
	{connection.PagesDisagree, "", []string{"requestError/EXPIRED_PAGE_TOKEN", "requestError/INVALID_PAGE_TOKEN"}},
	{connection.Sunset, "Update Fanfare", []string{"requestError/UNSUPPORTED_VERSION"}},
	{connection.Gone, "", []string{"requestError/RESOURCE_NOT_FOUND", "mutateError/RESOURCE_NOT_FOUND", "NOT_FOUND"}},
	{connection.Gone, "Turn it off", []string{"authenticationError/CUSTOMER_NOT_FOUND"}},
	{connection.Gone, "removed", []string{"contextError/OPERATION_NOT_PERMITTED_FOR_REMOVED_RESOURCE", "operationAccessDeniedError/OPERATION_NOT_PERMITTED_FOR_REMOVED_RESOURCE"}},

	{connection.Refused, "accounts below it", []string{"queryError/REQUESTED_METRICS_FOR_MANAGER", "requestError/CANNOT_BE_EXECUTED_BY_MANAGER_ACCOUNT"}},
	{connection.Refused, "37 months", []string{"dateRangeError/REQUESTED_DATE_GRANULARITY_NOT_SUPPORTED", "dateRangeError/INVALID_DATE"}},
	{connection.Refused, "in Google Ads", []string{
		"campaignError/INVALID_STATUS_CHANGE", "campaignError/INVALID_OPERATION_IF_SERVING_STATUS_HAS_ENDED", "campaignError/CANNOT_MODIFY_FOR_TRIAL_CAMPAIGN", "campaignError/HEC_AGREEMENT_REQUIRED",
		"campaignError/LOCAL_SERVICES_AGREEMENT_REQUIRED", "campaignError/DUPLICATE_CAMPAIGN_NAME", "contextError/OPERATION_NOT_PERMITTED_FOR_CONTEXT", "mutateError/EU_POLITICAL_ADVERTISING_DECLARATION_REQUIRED",
		"operationAccessDeniedError/OPERATION_NOT_PERMITTED_FOR_CAMPAIGN_TYPE", "operationAccessDeniedError/MUTATE_ACTION_NOT_PERMITTED_FOR_CLIENT",
	}},
	{connection.Refused, "another ads system", []string{"mutateError/RESOURCE_NOT_IN_GOOGLE_ADS"}},
	{connection.Refused, "Authorized redirect URIs", []string{"redirect_uri_mismatch", "invalid_grant The redirect URI does not match."}},
	{connection.Refused, "Data Access", []string{"invalid_scope"}},
	{connection.Refused, "", []string{
		"authenticationError/CLIENT_CUSTOMER_ID_INVALID", "authenticationError/OAUTH_TOKEN_HEADER_INVALID", "authenticationError/USER_ID_INVALID",
		"internalError/ERROR_CODE_NOT_PUBLISHED", "databaseError/DATA_CONSTRAINT_VIOLATION", "queryError/BAD_FIELD_NAME", "queryError/FILTER_HAS_TOO_MANY_VALUES", "queryError/UNRECOGNIZED_FIELD", "requestError/INVALID_CUSTOMER_ID",
		"dateRangeError/START_DATE_AFTER_END_DATE", "mutateError/MUTATE_NOT_ALLOWED", "INVALID_ARGUMENT", "FAILED_PRECONDITION", "OUT_OF_RANGE", "ALREADY_EXISTS", "UNIMPLEMENTED",
		"invalid_request", "unsupported_grant_type", "unsupported_response_type",
	}},
}

// TestDocumentedErrors has the sandbox answer with every documented error.
func TestDocumentedErrors(t *testing.T) {
	t.Parallel()
	app := connection.OAuthClient{ID: "app"}
	seen := map[*transport.KnownError]bool{}
	table := google.Errors()
	for _, test := range documentedErrors {
		for _, spec := range test.codes {
			code, message, _ := strings.Cut(spec, " ")
			seen[table.Find(message, code)] = true
			f := openSandbox(t, 7)
			if err := f.server.AddFault(sandbox.FaultRule{Platform: sandbox.GoogleAds, Fault: sandbox.FaultCode, Code: code, Message: message}); err != nil {
				t.Fatal(err)
			}
			err := f.client.SetStatus(t.Context(), f.creds, f.account.ID, f.account.Campaigns[0].ID, true)
			if googleauth.TokenErrors.Find(message, code) != nil {
				_, err = f.client.Refresh(t.Context(), app, f.creds)
			}
			e, ok := errors.AsType[*connection.Error](err)
			main, sub, _ := strings.Cut(code, "/")
			if !ok || e.Class != test.class || e.Code != sub && e.Code != main || message != "" && e.Message != message {
				t.Errorf("%s: got %v want %s", spec, err, test.class)
				continue
			}
			if (e.Remedy != "") != (test.remedy != "") || !strings.Contains(e.Remedy, test.remedy) {
				t.Errorf("%s: got remedy %q want one with %q", spec, e.Remedy, test.remedy)
			}
		}
	}
	for i := range table {
		if !seen[&table[i]] {
			t.Errorf("%s %q: no case of the test meets this row", table[i].Code, table[i].Text)
		}
	}
}
