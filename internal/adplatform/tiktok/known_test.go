package tiktok_test

import (
	"errors"
	"strings"
	"testing"

	"fanfare/internal/adplatform/sandbox"
	"fanfare/internal/adplatform/tiktok"
	"fanfare/internal/adplatform/transport"
	"fanfare/internal/connection"
)

// documentedErrors are the return codes from TikTok's list that our calls can
// meet, by what they mean.
var documentedErrors = []struct {
	class connection.Class
	// remedy is a part of it, empty if there must be none.
	remedy string
	codes  []string
}{
	{connection.Forbidden, "User management", []string{"40001", "40106", "40119"}},
	{connection.Forbidden, "My Apps, App Detail", []string{"40113", "40125"}},
	{connection.Forbidden, "representative", []string{"40118"}},
	{connection.Forbidden, "developer profile", []string{"40124"}},
	{connection.Forbidden, "another country", []string{"41000"}},
	{connection.Revoked, "Reconnect", []string{"40102", "40103", "40104", "40105", "40107"}},
	{connection.Refused, "Start the connection again", []string{"40101", "40110", "40115"}},
	{connection.Refused, "App ID and Secret", []string{"40109", "40112", "40116"}},
	{connection.Gone, "", []string{"40007"}},
	{connection.Gone, "Turn it off", []string{"40300", "40301"}},
	{connection.Throttled, "", []string{"40016", "40100", "40132", "40133", "http/429"}},
	{connection.TooLarge, "", []string{"40067"}},
	{connection.Transient, "", []string{"40050", "40200", "40201", "40202", "40700", "50000", "50002", "51004", "51041", "51305", "60001", "http/500", "http/502", "http/503", "http/504"}},
	{connection.Sunset, "Update Fanfare", []string{"40006", "40010", "40051", "41001", "http/404"}},
	{connection.Refused, "", []string{"40000", "40002", "40008", "40011", "40108", "40117", "41002", "40502"}},
}

// TestDocumentedErrors has the sandbox answer with every documented error.
func TestDocumentedErrors(t *testing.T) {
	t.Parallel()
	seen := map[*transport.KnownError]bool{}
	table := tiktok.Errors()
	for _, test := range documentedErrors {
		for _, code := range test.codes {
			seen[table.Find("", code)] = true
			w := newSandbox(t, 1)
			w.addFault(t, sandbox.FaultRule{Fault: sandbox.FaultCode, Code: code, Message: "TikTok's own words."})
			err := w.client.SetStatus(t.Context(), w.access, w.account.ID, w.account.Campaigns[0].ID, true)
			e, ok := errors.AsType[*connection.Error](err)
			if !ok || e.Class != test.class || e.Code != strings.TrimPrefix(code, "http/") || e.Code == code && e.Message != "TikTok's own words." {
				t.Errorf("%s: got %v want %s", code, err, test.class)
				continue
			}
			if (e.Remedy != "") != (test.remedy != "") || !strings.Contains(e.Remedy, test.remedy) {
				t.Errorf("%s: got remedy %q want one with %q", code, e.Remedy, test.remedy)
			}
		}
	}
	for i := range table {
		if !seen[&table[i]] {
			t.Errorf("%s %q: no case of the test meets this row", table[i].Code, table[i].Text)
		}
	}
}
