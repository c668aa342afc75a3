package meta_test

import (
	"errors"
	"strings"
	"testing"

	"fanfare/internal/adplatform/meta"
	"fanfare/internal/adplatform/sandbox"
	"fanfare/internal/adplatform/transport"
	"fanfare/internal/connection"
)

// documentedErrors are the errors from Meta's pages that our calls can meet, by
// what they mean. A message follows the code after a space.
var documentedErrors = []struct {
	class connection.Class
	// remedy is a part of it, empty if there must be none.
	remedy string
	codes  []string
}{
	{connection.Expired, "Reconnect", []string{"190/463"}},
	{connection.Revoked, "Reconnect", []string{"190 Invalid OAuth 2.0 Access Token", "190/458", "190/460", "190/467", "102", "2500 An active access token must be used to query information about the current user."}},
	{connection.Revoked, "Log in at www.facebook.com", []string{"190/459", "190/464"}},
	{connection.Revoked, "role on the Page", []string{"190/492"}},
	{connection.Forbidden, "App secret", []string{
		"104 Incorrect signature", "1 Error validating client secret.", "100 Error validating client secret.", "101 Error validating application. Invalid application ID.", "190 Error validating application. Invalid application ID.",
	}},
	{connection.Forbidden, "app secret of the Meta app", []string{"100 Invalid appsecret_proof provided in the API argument", "100 API calls from the server require an appsecret_proof argument"}},
	{connection.Forbidden, "Permissions and features", []string{"270", "294"}},
	{connection.Forbidden, "Use cases", []string{"3"}},
	{connection.Forbidden, "Assign people", []string{"10", "200", "275", "299"}},
	{connection.Forbidden, "is assigned to it", []string{"100/33"}},
	{connection.Gone, "is assigned to it", []string{"803"}},
	{connection.Throttled, "", []string{"4", "4/1504022", "17", "17/2446079", "32", "341", "613", "613/1996", "613/1487742", "80000", "80003", "80004", "80014"}},
	{connection.TooLarge, "", []string{
		"100/1504018", "2/1504038", "100/1487534", "1/99 Please reduce the amount of data you're asking for, then retry your request", "1 An unknown error occurred",
		"100 The After Cursor specified exceeds the max limit supported by this endpoint",
	}},
	{connection.Transient, "", []string{"1", "2", "2/1504043", "-2/2490547", "1/99", "104", "368", "960"}},
	{connection.PagesDisagree, "", []string{"2642"}},
	{connection.Sunset, "Update Fanfare", []string{"2635"}},
	{connection.Refused, "37 months", []string{"3018"}},
	{connection.Refused, "breakdown", []string{"2/1504041"}},
	{connection.Refused, "custom metric", []string{"2/1504042"}},
	{connection.Refused, "Valid OAuth Redirect URIs", []string{"100 Error validating verification code. Please make sure your redirect_uri is identical to the one you used in the OAuth dialog request"}},
	{connection.Refused, "Start the connection again", []string{"100 This authorization code has been used."}},
	{connection.Refused, "", []string{"100", "105", "194", "2500"}},
}

// TestDocumentedErrors has the sandbox answer with every documented error.
func TestDocumentedErrors(t *testing.T) {
	t.Parallel()
	seen := map[*transport.KnownError]bool{}
	table := meta.Errors()
	for _, test := range documentedErrors {
		for _, spec := range test.codes {
			code, message, _ := strings.Cut(spec, " ")
			seen[table.Find(message, code)] = true
			w := newSandbox(t, 31)
			q := w.reportFor(t, connection.LevelCampaign, 1)
			if err := w.sandbox.AddFault(sandbox.FaultRule{Platform: sandbox.MetaAds, Fault: sandbox.FaultCode, Code: code, Message: message}); err != nil {
				t.Fatal(err)
			}
			_, err := w.report(t, q)
			e, ok := errors.AsType[*connection.Error](err)
			if !ok || e.Class != test.class || e.Code != code || message != "" && e.Message != message {
				t.Errorf("%s: got %v want %s", spec, err, test.class)
				continue
			}
			if (e.Remedy != "") != (test.remedy != "") || !strings.Contains(e.Remedy, test.remedy) {
				t.Errorf("%s: got remedy %q want one with %q", spec, e.Remedy, test.remedy)
			}
		}
	}
	// Meta's page sends a person back with this code.
	seen[table.Find("", "access_denied")] = true
	if e := newSandbox(t, 31).client.GrantError("access_denied"); e == nil || e.Class != connection.Forbidden || !strings.Contains(e.Remedy, "allow every permission") {
		t.Errorf("got %+v want what to do after a denied consent", e)
	}
	for i := range table {
		if !seen[&table[i]] {
			t.Errorf("%s %q: no case of the test meets this row", table[i].Code, table[i].Text)
		}
	}
}
