package platforms_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
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

// runPython runs the script of Microsoft's SDK, which exists for Python and not
// for JavaScript.
func (s *testSandbox) runPython(t *testing.T, intent any) (out microsoftAnswer) {
	t.Helper()
	const folder = "microsoft"
	for _, command := range [][]string{
		{"python3", "-m", "venv", ".venv"},
		{".venv/bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--require-hashes", "-r", "requirements.txt"},
	} {
		cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
		cmd.Dir = folder
		if text, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v (Python 3.11 or newer with venv is needed)\n%s", command, err, text)
		}
	}
	input, err := json.Marshal(map[string]any{"grant": s.grant, "intent": intent})
	if err != nil {
		t.Fatal(err)
	}
	output := filepath.Join(t.TempDir(), "output.json")
	cmd := exec.CommandContext(t.Context(), ".venv/bin/python", "sdk.py")
	cmd.Dir = folder
	cmd.Env = []string{"HOME=" + t.TempDir(), "SANDBOX_URL=" + s.url, "SANDBOX_INPUT=" + string(input), "SANDBOX_OUTPUT=" + output}
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("sdk.py: %v\n%s", err, text)
	}
	text, err := os.ReadFile(output)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestMicrosoft compares the calls of our client with those of Microsoft's SDK,
// whose models check every member of the sandbox's answers.
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
	got := s.runPython(t, map[string]any{"campaign": campaign, "columns": request.ReportRequest.Columns})
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
