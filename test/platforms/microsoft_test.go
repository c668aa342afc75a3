package platforms_test

import (
	"encoding/json"
	"testing"
	"time"

	"fanfare/internal/adplatform/microsoft"
	"fanfare/internal/adplatform/sandbox"
	"fanfare/internal/clock"
	"fanfare/internal/connection"
	"fanfare/internal/fact"
	"fanfare/internal/secret"
)

// microsoftAnswer is the output of the script.
type microsoftAnswer struct {
	Account, Currency, Zone, Status, Report, URL string
	Failed                                       int
}

// TestMicrosoft compares the calls of our client with those of Microsoft's SDK,
// whose models check every member of the sandbox's answers. It is the one for
// Python, because there is none for JavaScript.
func TestMicrosoft(t *testing.T) {
	s := openSandbox(t, sandbox.MicrosoftAds)
	creds := connection.Credentials{
		Access: secret.New(s.grant.Access), Refresh: secret.New(s.grant.Refresh),
		App: connection.OAuthClient{ID: "client", Secret: secret.New("client-secret:developer-token")},
	}
	client := microsoft.New(s.clientOptions("/microsoft"))
	entities, err := client.Entities(t.Context(), creds, s.grant.Account)
	if err != nil {
		t.Fatal(err)
	}
	campaign := entities.Campaigns[0].External
	s.journal(t)

	if _, err := client.Accounts(t.Context(), creds); err != nil {
		t.Fatal(err)
	}
	if err := client.SetStatus(t.Context(), creds, s.grant.Account, campaign, false); err != nil {
		t.Fatal(err)
	}
	if got, err := client.Status(t.Context(), creds, s.grant.Account, campaign); err != nil || !got.Stopped {
		t.Fatalf("got %+v, %v want a stopped campaign", got, err)
	}
	day := clock.MakeDate(2026, time.October, 1)
	q := connection.Report{Account: s.grant.Account, Level: connection.LevelCampaign, First: day, Last: day}
	if err := client.Report(t.Context(), creds, q, func([]fact.Row) error { return nil }); err != nil {
		t.Fatal(err)
	}
	ours := s.journal(t)
	ours = ours[:len(ours)-1] // the file is downloaded without the SDK

	var request struct {
		ReportRequest struct{ Columns []string }
	}
	if err := json.Unmarshal(ours[len(ours)-2].Body, &request); err != nil {
		t.Fatal(err)
	}
	if err := installPython(); err != nil {
		t.Fatal(err)
	}
	var got microsoftAnswer
	s.runPython(t, sdkEnvironment, "microsoft", sandbox.MicrosoftAds, map[string]any{"campaign": campaign, "columns": request.ReportRequest.Columns}, &got)
	sdk := s.journal(t)
	if got.Account != s.grant.Account || got.Currency != "EUR" || got.Zone != "AmsterdamBerlinBernRomeStockholmVienna" || got.Status != "Paused" || got.Failed != 0 ||
		got.Report != "Success" || got.URL == "" {
		t.Errorf("got %+v", got)
	}
	if len(ours) != 6 || len(sdk) != 6 {
		t.Fatalf("got %v and %v want six calls each", callLines(ours), callLines(sdk))
	}
	headers := []string{"Authorization", "DeveloperToken", "Content-Type"}
	compareCalls(t, ours[:2], sdk[:2], comparison{headers: headers})
	compareCalls(t, ours[2:], sdk[2:], comparison{
		headers: append(headers, "CustomerId", "CustomerAccountId"),
		ignored: map[string]string{"ReportRequestId": "each has its own report"},
	})
}
