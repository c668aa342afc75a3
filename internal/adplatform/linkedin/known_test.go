package linkedin_test

import (
	"errors"
	"strings"
	"testing"

	"fanfare/internal/adplatform/linkedin"
	"fanfare/internal/adplatform/sandbox"
	"fanfare/internal/adplatform/transport"
	"fanfare/internal/connection"
)

// documentedErrors are the errors from LinkedIn's pages that our calls can meet,
// with the HTTP status, by what they mean. A message follows the code after a
// space.
var documentedErrors = []struct {
	class connection.Class
	// remedy is a part of it, empty if there must be none.
	remedy string
	codes  []string
}{
	{connection.Expired, "", []string{"401/EXPIRED_ACCESS_TOKEN", "401/65602"}},
	{connection.Revoked, "Reconnect", []string{"401/REVOKED_ACCESS_TOKEN", "401/INVALID_ACCESS_TOKEN", "401/EMPTY_ACCESS_TOKEN", "401/65600", "401/65601", "401/65604", "401", "400/invalid_grant"}},
	{connection.Forbidden, "Manage access", []string{
		"403/ACCESS_DENIED", "403", "403/100 Not enough permissions to access: partialUpdate.adCampaigns", "403/NO_PERMISSION_ON_ENTITY", "403/NO_PERMISSION_ON_FIELD", "403/NO_PERMISSION_TO_UPDATE",
	}},
	{connection.Forbidden, "Development tier", []string{"403/FORBIDDEN The account is not on the Account Management list of the app."}},
	{connection.Forbidden, "FANFARE_OAUTH", []string{"401/invalid_client", "401/invalid_client_id", "400/unauthorized_client"}},
	{connection.Forbidden, "Advertising API", []string{"400/unauthorized_scope_error", "400/invalid_scope"}},
	{connection.Forbidden, "select Allow", []string{"400/access_denied", "400/user_cancelled_login", "400/user_cancelled_authorize"}},
	{connection.Sunset, "update Fanfare", []string{"426/NONEXISTENT_VERSION", "426"}},
	{connection.Throttled, "", []string{"429/TOO_MANY_REQUESTS", "429"}},
	{connection.TooLarge, "", []string{"400 The query parameters are too long.", "413", "414"}},
	{connection.Gone, "", []string{"404/NOT_FOUND", "404/RESOURCE_NOT_FOUND", "404"}},
	{connection.Transient, "", []string{
		"408/TIMEOUT", "409/CONFLICT", "500/INTERNAL_ERROR", "503/UNDER_MAINTENANCE", "500/FAILED_TO_RETRIEVE_AUDIENCE_SIZE", "500/FAILED_TO_RETRIEVE_SEGMENTS", "408", "409", "500", "504", "500/server_error", "503/temporarily_unavailable",
	}},
	{connection.Refused, "campaign group", []string{"400/ONLY_DRAFT_CAMPAIGNS_ALLOWED_IN_DRAFT_CAMPAIGN_GROUPS", "400/INSUFFICIENT_CAMPAIGN_GROUP_BUDGET"}},
	{connection.Refused, "Campaign Manager", []string{
		"400/ACTION_NOT_ALLOWED_FOR_CANCELLED_STATUS", "400/INVALID_STATUS_TRANSITION", "400/STATUS_CHANGE_NOT_ALLOWED", "400/CONVERSION_CAMPAIGN_MISSING_ASSOCIATED_CONVERSION",
		"400/AUDIENCE_SIZE_TOO_SMALL", "400/FIELD_VALUE_NOT_ALLOWED_FOR_SEGMENT_STATUS", "400/FAILED_TO_PROCESS_TARGETING_CRITERIA", "400/FAILED_TO_PROCESS_CAMPAIGN_FOR_AUDIENCE_SIZE_ESTIMATION",
		"400/CONDITIONAL_FIELD_NOT_ALLOWED", "400/CONDITIONAL_INVALID_VALUE", "400/CONDITIONAL_MISSING_FIELD", "400/CONDITIONAL_VALUE_TOO_HIGH", "400/CONDITIONAL_VALUE_TOO_LOW", "400/DATE_TOO_EARLY",
		"400/DATE_IMMUTABLE_WHEN_PASSED", "400/FIELD_VALUE_TOO_HIGH", "400/FIELD_VALUE_TOO_LOW", "400/FIELD_VALUE_NOT_ACTIVE", "400/INVALID_CAMPAIGN_CONFIGURATION", "400/MULTIPLE_VALIDATIONS_FAILED", "400/START_DATE_AFTER_END_DATE",
	}},
	{connection.Refused, "Authorized redirect URLs", []string{"400/invalid_redirect_uri", "400/invalid_request Unable to retrieve access token: appid/redirect uri/code verifier does not match authorization code."}},
	{connection.Refused, "Start the connection again", []string{"400/invalid_request Unable to retrieve access token: authorization code not found"}},
	{connection.Refused, "", []string{"400/VERSION_MISSING", "501/NOT_IMPLEMENTED", "412/PRECONDITION_FAILED", "400/ILLEGAL_ARGUMENT", "405", "411"}},
}

// TestDocumentedErrors has the sandbox answer with every documented error.
func TestDocumentedErrors(t *testing.T) {
	t.Parallel()
	seen := map[*transport.KnownError]bool{}
	table := linkedin.Errors()
	for _, test := range documentedErrors {
		for _, spec := range test.codes {
			code, message, _ := strings.Cut(spec, " ")
			seen[table.Find(message, code)] = true
			w := newSandbox(t, 1)
			w.addFault(t, sandbox.FaultRule{Fault: sandbox.FaultCode, Code: code, Message: message})
			status, sub, _ := strings.Cut(code, "/")
			err := w.client.SetStatus(t.Context(), w.access, w.account.ID, w.account.Campaigns[0].ID, true)
			if sub != strings.ToUpper(sub) {
				_, err = w.client.Refresh(t.Context(), w.access.App, w.access)
			}
			e, ok := errors.AsType[*connection.Error](err)
			if !ok || e.Class != test.class || e.Code != sub && e.Code != status || message != "" && e.Message != message {
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
