package ga4

import (
	"errors"
	"strings"
	"testing"

	"fanfare/internal/adplatform/googleauth"
	"fanfare/internal/adplatform/sandbox"
	"fanfare/internal/adplatform/transport"
	"fanfare/internal/connection"
)

// documentedErrors are the errors that Google documents for our calls, from
// error_reason.proto, code.proto and the pages about OAuth, by what they mean. A
// message follows the code after a space.
var documentedErrors = []struct {
	class connection.Class
	// remedy is a part of it, empty if there must be none.
	remedy string
	codes  []string
}{
	{connection.Expired, "", []string{"UNAUTHENTICATED", "UNAUTHENTICATED/ACCESS_TOKEN_EXPIRED", "UNAUTHENTICATED/ACCESS_TOKEN_TYPE_UNSUPPORTED", "UNAUTHENTICATED/CREDENTIALS_MISSING"}},
	{connection.Revoked, "another Google account", []string{"UNAUTHENTICATED/ACCOUNT_STATE_INVALID"}},
	{connection.Revoked, "Publish app", []string{"invalid_grant Token has been expired or revoked."}},
	{connection.Revoked, "session control", []string{"invalid_grant/invalid_rapt", "invalid_grant/rapt_required"}},
	{connection.Revoked, "Reconnect", []string{"invalid_token"}},
	{connection.Forbidden, "Property access management", []string{"PERMISSION_DENIED User does not have sufficient permissions for this property.", "PERMISSION_DENIED/IAM_PERMISSION_DENIED"}},
	{connection.Forbidden, "enable both the Google Analytics Data API and the Google Analytics Admin API", []string{"PERMISSION_DENIED/SERVICE_DISABLED"}},
	{connection.Forbidden, "Google Analytics data", []string{"PERMISSION_DENIED/ACCESS_TOKEN_SCOPE_INSUFFICIENT"}},
	{connection.Forbidden, "FANFARE_OAUTH", []string{
		"PERMISSION_DENIED/CONSUMER_INVALID", "PERMISSION_DENIED/RESOURCE_PROJECT_INVALID", "PERMISSION_DENIED/USER_PROJECT_DENIED",
		"invalid_client", "unauthorized_client", "deleted_client", "disabled_client",
	}},
	{connection.Forbidden, "appeal", []string{"PERMISSION_DENIED/CONSUMER_SUSPENDED", "PERMISSION_DENIED/GCP_SUSPENDED"}},
	{connection.Forbidden, "Billing", []string{"PERMISSION_DENIED/BILLING_DISABLED"}},
	{connection.Forbidden, "API controls", []string{"PERMISSION_DENIED/USER_BLOCKED_BY_ADMIN", "admin_policy_enforced", "access_not_configured"}},
	{connection.Forbidden, "organization", []string{
		"PERMISSION_DENIED/SECURITY_POLICY_VIOLATED", "PERMISSION_DENIED/ORG_RESTRICTION_VIOLATION", "PERMISSION_DENIED/RESOURCE_USAGE_RESTRICTION_VIOLATED",
		"PERMISSION_DENIED/ENDPOINT_USAGE_RESTRICTION_VIOLATED", "PERMISSION_DENIED/LOCATION_POLICY_VIOLATED", "org_internal",
	}},
	{connection.Forbidden, "Test users", []string{"access_denied"}},
	{connection.Throttled, "", []string{"RESOURCE_EXHAUSTED", "RESOURCE_EXHAUSTED/RATE_LIMIT_EXCEEDED", "RESOURCE_EXHAUSTED/RESOURCE_QUOTA_EXCEEDED", "rate_limit_exceeded"}},
	{connection.Transient, "", []string{"ABORTED", "CANCELLED", "INTERNAL", "UNKNOWN", "UNAVAILABLE", "DATA_LOSS", "server_error", "temporarily_unavailable", "internal_failure"}},
	{connection.TooLarge, "", []string{"DEADLINE_EXCEEDED"}},
	{connection.Gone, "Trash", []string{"NOT_FOUND"}},
	{connection.Refused, "Authorized redirect URIs", []string{"redirect_uri_mismatch", "invalid_grant The redirect URI does not match."}},
	{connection.Refused, "Data Access", []string{"invalid_scope"}},
	{connection.Refused, "", []string{
		"INVALID_ARGUMENT", "FAILED_PRECONDITION", "OUT_OF_RANGE", "ALREADY_EXISTS", "UNIMPLEMENTED", "invalid_request", "unsupported_grant_type", "unsupported_response_type",
	}},
}

// TestDocumentedErrors has the sandbox answer with every documented error.
func TestDocumentedErrors(t *testing.T) {
	t.Parallel()
	seen := map[*transport.KnownError]bool{}
	table := Errors()
	for _, test := range documentedErrors {
		for _, spec := range test.codes {
			code, message, _ := strings.Cut(spec, " ")
			seen[table.Find(message, code)] = true
			f := openSandbox(t)
			if err := f.server.AddFault(sandbox.FaultRule{Platform: sandbox.GA4, Fault: sandbox.FaultCode, Code: code, Message: message}); err != nil {
				t.Fatal(err)
			}
			_, err := f.client.Accounts(t.Context(), f.creds)
			if googleauth.TokenErrors.Find(message, code) != nil {
				_, err = f.client.Refresh(t.Context(), connection.OAuthClient{ID: "app"}, f.creds)
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
