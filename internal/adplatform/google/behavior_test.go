package google_test

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"fanfare/internal/adplatform/sandbox"
	"fanfare/internal/clock"
	"fanfare/internal/connection"
	"fanfare/internal/secret"
)

// turnOn turns a switch on, for one account if one is named.
func (f *testSandbox) turnOn(t *testing.T, name, value, account string) {
	t.Helper()
	if err := f.server.TurnOn(sandbox.BehaviorRule{Platform: sandbox.GoogleAds, Switch: name, Value: value, Account: account}); err != nil {
		t.Fatal(err)
	}
}

// calls returns the number of calls so far.
func (f *testSandbox) calls() int { return len(f.server.Journal()) }

// wantError checks the class and the code of an error.
func wantError(t *testing.T, err error, class connection.Class, code string) {
	t.Helper()
	_ = platformError(t, err, class, code)
}

// platformError returns an error of a class and code for further checks.
func platformError(t *testing.T, err error, class connection.Class, code string) *connection.Error {
	t.Helper()
	e, ok := errors.AsType[*connection.Error](err)
	if !ok || e.Class != class || e.Code != code {
		t.Fatalf("got %v want %s, %s", err, class, code)
	}
	return e
}

// openTree opens a sandbox whose grant opens 300 accounts below managers.
func openTree(t *testing.T) (f *testSandbox, byName map[string]connection.Account, problems map[string]int) {
	t.Helper()
	f = openSandbox(t, 7)
	f.turnOn(t, sandbox.BehaviorAccounts, "300", "")
	f.turnOn(t, "manager_tree", "", "")
	list, err := f.client.Accounts(t.Context(), f.creds)
	if err != nil {
		t.Fatal(err)
	}
	customers := map[string]bool{}
	byName, problems = map[string]connection.Account{}, map[string]int{}
	for _, a := range list {
		customer, _, _ := strings.Cut(a.ExternalID, "@")
		if customers[customer] || strings.HasPrefix(a.Name, "Agency") {
			t.Errorf("got %s (%s) want every account once and no manager", a.ExternalID, a.Name)
		}
		customers[customer], byName[a.Name] = true, a
		if a.Problem != nil {
			problems[a.Problem.Code]++
		}
	}
	if len(customers) != 300 {
		t.Errorf("got %d accounts want 300", len(customers))
	}
	return f, byName, problems
}

// TestManagerTree lists 300 accounts below managers. Some are closed, suspended,
// hidden, below two managers, or deny access.
func TestManagerTree(t *testing.T) {
	t.Parallel()
	f, byName, problems := openTree(t)
	if calls := f.calls(); calls > 8 {
		t.Errorf("got %d calls for the listing want one per manager", calls)
	}
	for code, want := range map[string]int{"CANCELED": 1, "SUSPENDED": 1, "CLOSED": 1, "USER_PERMISSION_DENIED": 1, "CUSTOMER_NOT_ENABLED": 1} {
		if problems[code] != want {
			t.Errorf("%s: got %d accounts want %d of %v", code, problems[code], want, problems)
		}
	}
	first, hidden, below := byName["Northwind Outdoor"], byName["Northwind Outdoor 7"], byName["Northwind Outdoor 13"]
	if first.ExternalID != f.account.ID || hidden.Problem != nil || !hidden.Enabled || first.Currency != "EUR" || first.Timezone != "Europe/Berlin" {
		t.Errorf("got %+v and %+v want the first by its id and the hidden one readable", first, hidden)
	}
	customer, manager, _ := strings.Cut(below.ExternalID, "@")
	f.account, _ = f.server.Account(customer)
	f.compareTruth(t, below.ExternalID, connection.LevelCampaign, connection.Report{})

	denied := byName["Northwind Outdoor 8"]
	_, err := f.client.Entities(t.Context(), f.creds, denied.ExternalID)
	wantError(t, err, connection.Forbidden, "USER_PERMISSION_DENIED")
	_, _, err = f.read(t, connection.Report{Account: manager, Level: connection.LevelAccount})
	wantError(t, err, connection.Refused, "REQUESTED_METRICS_FOR_MANAGER")
}

// TestMovedManagerLink reads and pauses an account whose link has moved to another
// manager.
func TestMovedManagerLink(t *testing.T) {
	t.Parallel()
	f, byName, _ := openTree(t)
	moved := byName["Northwind Outdoor 13"].ExternalID
	customer, _, _ := strings.Cut(moved, "@")
	f.account, _ = f.server.Account(customer)
	f.turnOn(t, "manager_link_moved", "", customer)
	f.compareTruth(t, moved, connection.LevelCampaign, connection.Report{})
	before := f.calls()
	f.compareTruth(t, moved, connection.LevelAccount, connection.Report{})
	if got := f.calls() - before; got != 1 {
		t.Errorf("got %d calls want 1: the manager is known", got)
	}
	if err := f.client.SetStatus(t.Context(), f.creds, moved, f.account.Campaigns[0].ID, false); err != nil {
		t.Error(err)
	}
}

func TestSuspendedAccount(t *testing.T) {
	t.Parallel()
	f := openSandbox(t, 7)
	f.turnOn(t, "status_suspended", "", f.account.ID)
	list, err := f.client.Accounts(t.Context(), f.creds)
	if err != nil || len(list) != 1 || list[0].Problem != nil || !list[0].Enabled {
		t.Errorf("got %+v, %v want a readable account", list, err)
	}
	f.compareTruth(t, f.account.ID, connection.LevelCampaign, connection.Report{})
	err = f.client.SetStatus(t.Context(), f.creds, f.account.ID, f.account.Campaigns[0].ID, false)
	wantError(t, err, connection.Forbidden, "ACTION_NOT_PERMITTED_FOR_SUSPENDED_ACCOUNT")
}

// TestOperationQuota uses up the operations of Explorer access.
func TestOperationQuota(t *testing.T) {
	t.Parallel()
	f := openSandbox(t, 7)
	f.turnOn(t, "access_level", "EXPLORER", "")
	campaign, start := f.account.Campaigns[0].ID, f.clock()
	for range 2_880 {
		if _, err := f.client.Status(t.Context(), f.creds, f.account.ID, campaign); err != nil {
			t.Fatal(err)
		}
	}
	_, _, err := f.read(t, connection.Report{Account: f.account.ID, Level: connection.LevelAccount})
	e := platformError(t, err, connection.Throttled, "RESOURCE_EXHAUSTED")
	if want := start.Add(24 * time.Hour); !e.Until.Equal(want) || !e.Stated || !strings.Contains(e.Remedy, "Explorer") {
		t.Errorf("got %v until %s, stated %v want %s and the access level", e, e.Until, e.Stated, want)
	}
	before := f.calls()
	_, err = f.client.Accounts(t.Context(), f.creds)
	wantError(t, err, connection.Throttled, "held_back")
	if f.calls() != before {
		t.Error("got a call want none before the named time")
	}
	f.setTime(t, start.Add(24*time.Hour))
	_, _, err = f.read(t, connection.Report{Account: f.account.ID, Level: connection.LevelAccount})
	wantError(t, err, connection.Throttled, "held_back")
	if err := f.client.SetStatus(t.Context(), f.creds, f.account.ID, campaign, false); err != nil {
		t.Errorf("pause: got %v want the first operations for it", err)
	}
	f.setTime(t, start.Add(24*time.Hour+5*time.Minute))
	f.compareTruth(t, f.account.ID, connection.LevelAccount, connection.Report{})
}

func TestQuotaScope(t *testing.T) {
	t.Parallel()
	for _, scope := range []string{"ACCOUNT", "DEVELOPER"} {
		t.Run(scope, func(t *testing.T) {
			t.Parallel()
			f := openSandbox(t, 7)
			f.turnOn(t, sandbox.BehaviorAccounts, "2", "")
			list, err := f.client.Accounts(t.Context(), f.creds)
			if err != nil || len(list) != 2 {
				t.Fatalf("got %v, %v want two accounts", list, err)
			}
			one := f.account.ID
			two := list[0].ExternalID
			if two == one {
				two = list[1].ExternalID
			}
			f.turnOn(t, "quota_scope", scope, one)
			start := f.clock()
			_, _, err = f.read(t, connection.Report{Account: one, Level: connection.LevelAccount})
			if e := platformError(t, err, connection.Throttled, "RESOURCE_EXHAUSTED"); e.Until.Sub(start) != 15*time.Minute || !e.Stated {
				t.Errorf("got until %s, stated %v want the delay of Google", e.Until, e.Stated)
			}
			before := f.calls()
			_, _, err = f.read(t, connection.Report{Account: two, Level: connection.LevelAccount})
			if scope == "ACCOUNT" {
				if err != nil {
					t.Errorf("got %v want the other account to be read", err)
				}
				return
			}
			wantError(t, err, connection.Throttled, "held_back")
			if f.calls() != before {
				t.Error("got a call for the other account want none")
			}
			other, _ := f.server.Account(two)
			if err := f.client.SetStatus(t.Context(), f.creds, two, other.Campaigns[0].ID, false); err != nil {
				t.Errorf("pause: got %v want it to be sent nevertheless", err)
			}
		})
	}
}

func TestProjectWithTestAccess(t *testing.T) {
	t.Parallel()
	f := openSandbox(t, 7)
	f.turnOn(t, "access_level", "TEST", "")
	_, err := f.client.Accounts(t.Context(), f.creds)
	e := platformError(t, err, connection.Forbidden, "CLOUD_PROJECT_NOT_APPROVED_FOR_PRODUCTION")
	if !strings.Contains(e.Remedy, "console.cloud.google.com") {
		t.Errorf("got %q want the page with the remedy", e.Remedy)
	}
}

func TestAPIErrors(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name     string
		want     connection.Class
		attempts int
		// remedy is a part of it.
		remedy string
	}{
		{"authenticationError.TWO_STEP_VERIFICATION_NOT_ENROLLED", connection.Forbidden, 1, "2-Step Verification"},
		{"authenticationError.ADVANCED_PROTECTION_NOT_ENROLLED", connection.Forbidden, 1, "Enroll"},
		{"authenticationError.NOT_ADS_USER", connection.Forbidden, 1, "Connect with a Google account"},
		{"authenticationError.GOOGLE_ACCOUNT_DELETED", connection.Revoked, 1, "another Google account"},
		{"authorizationError.PROJECT_DISABLED", connection.Forbidden, 1, "Google Cloud console"},
		{"authorizationError.MISSING_TOS", connection.Forbidden, 1, "Accept"},
		{"authorizationError.INCOMPLETE_SIGNUP", connection.Forbidden, 1, "sign-up"},
		{"authorizationError.METRIC_ACCESS_DENIED", connection.Forbidden, 1, "permissible use"},
		{"requestError.CLOUD_PROJECT_NOT_FOUND", connection.Forbidden, 1, "client ID"},
		{"quotaError.RESOURCE_TEMPORARILY_EXHAUSTED", connection.Throttled, 6, ""},
		{"quotaError.EXCESSIVE_SHORT_TERM_QUERY_RESOURCE_CONSUMPTION", connection.Throttled, 6, ""},
		{"quotaError.EXCESSIVE_LONG_TERM_QUERY_RESOURCE_CONSUMPTION", connection.Throttled, 1, ""},
		{"internalError.INTERNAL_ERROR", connection.Transient, 6, ""},
		{"internalError.TRANSIENT_ERROR", connection.Transient, 6, ""},
		{"internalError.DEADLINE_EXCEEDED", connection.TooLarge, 1, ""},
		{"internalError.ERROR_CODE_NOT_PUBLISHED", connection.Refused, 1, ""},
		{"databaseError.CONCURRENT_MODIFICATION", connection.Transient, 6, ""},
		{"databaseError.REQUEST_TOO_LARGE", connection.TooLarge, 1, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			f := openSandbox(t, 7)
			f.turnOn(t, "api_error", test.name, f.account.ID)
			_, _, err := f.read(t, connection.Report{Account: f.account.ID, Level: connection.LevelAccount})
			_, code, _ := strings.Cut(test.name, ".")
			e := platformError(t, err, test.want, code)
			if got := f.calls(); got != test.attempts || !strings.Contains(e.Remedy, test.remedy) {
				t.Errorf("got %d calls, %q want %d and a remedy with %q", got, e.Remedy, test.attempts, test.remedy)
			}
		})
	}
}

func TestRefusedStatusChanges(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]connection.Class{
		"campaignError.INVALID_STATUS_CHANGE":                         connection.Refused,
		"campaignError.INVALID_OPERATION_IF_SERVING_STATUS_HAS_ENDED": connection.Refused,
		"campaignError.CANNOT_MODIFY_FOR_TRIAL_CAMPAIGN":              connection.Refused,
		"contextError.OPERATION_NOT_PERMITTED_FOR_REMOVED_RESOURCE":   connection.Gone,
	} {
		f := openSandbox(t, 7)
		f.turnOn(t, "api_error", name, f.account.ID)
		err := f.client.SetStatus(t.Context(), f.creds, f.account.ID, f.account.Campaigns[0].ID, true)
		_, code, _ := strings.Cut(name, ".")
		if e := platformError(t, err, want, code); !strings.Contains(e.Remedy, "campaign") {
			t.Errorf("%s: got %q want what to do", name, e.Remedy)
		}
	}
}

// TestPrimaryStatusLags checks that a pause is confirmed at once, although
// Google's delivery status changes later.
func TestPrimaryStatusLags(t *testing.T) {
	t.Parallel()
	f := openSandbox(t, 7)
	campaign := f.account.Campaigns[0].ID
	if err := f.client.SetStatus(t.Context(), f.creds, f.account.ID, campaign, false); err != nil {
		t.Fatal(err)
	}
	got, err := f.client.Status(t.Context(), f.creds, f.account.ID, campaign)
	if err != nil || !got.Confirms(false) {
		t.Errorf("got %+v, %v want the pause confirmed", got, err)
	}
}

// TestPartialFailure checks that an answer with status 200 that has an error is
// one, and that the client does not ask for such answers.
func TestPartialFailure(t *testing.T) {
	t.Parallel()
	s := &scriptedAnswers{answers: []answer{{200, `{"partialFailureError":{"code":3,"message":"m","details":[{"errors":[{"errorCode":{"campaignError":"INVALID_STATUS_CHANGE"}}]}]},"results":[{}]}`}}}
	err := newScriptedClient(s).SetStatus(t.Context(), creds, "1", "2", true)
	wantError(t, err, connection.Refused, "INVALID_STATUS_CHANGE")
	if strings.Contains(s.bodies[0], "partialFailure") {
		t.Errorf("got %s want no partial failure", s.bodies[0])
	}
}

// TestNoPages checks that no call depends on page tokens.
func TestNoPages(t *testing.T) {
	t.Parallel()
	f := openSandbox(t, 7)
	f.turnOn(t, "page_token_expired", "", "")
	f.compareTruth(t, f.account.ID, connection.LevelDevice, connection.Report{})
	for _, entry := range f.server.Journal() {
		if strings.HasSuffix(entry.Path, "googleAds:search") {
			t.Errorf("got %s want searchStream", entry.Path)
		}
	}
}

// TestStreamCut checks that an answer that does not end gives no rows.
func TestStreamCut(t *testing.T) {
	t.Parallel()
	f := openSandbox(t, 7)
	f.turnOn(t, "stream_cut", "", f.account.ID)
	rows, _, err := f.read(t, connection.Report{Account: f.account.ID, Level: connection.LevelCampaign})
	wantError(t, err, connection.Transient, "malformed")
	if len(rows) != 0 || f.calls() != 6 {
		t.Errorf("got %d rows and %d calls want none of 6", len(rows), f.calls())
	}
	for _, entry := range f.server.Journal() {
		if entry.Status != http.StatusOK {
			t.Errorf("got status %d want 200", entry.Status)
		}
	}
}

func TestUnknownCampaignType(t *testing.T) {
	t.Parallel()
	f := openSandbox(t, 7)
	f.turnOn(t, "unknown_enum_value", "", f.account.ID)
	rows := f.compareTruth(t, f.account.ID, connection.LevelCampaign, connection.Report{})
	other := 0
	for _, r := range rows {
		if r.Campaign.ExternalID == f.account.Campaigns[0].ID && r.Channel == "other" {
			other++
		}
	}
	if other == 0 {
		t.Error("got no rows of the campaign with an unknown type want them with the channel other")
	}
}

// TestConsentInTesting checks that the end of a refresh token is known, and that
// access has ended then.
func TestConsentInTesting(t *testing.T) {
	t.Parallel()
	f := openSandbox(t, 7)
	f.turnOn(t, "consent_testing", "", "")
	app := connection.OAuthClient{ID: "app.example", Secret: secret.New("app-secret")}
	grant := connection.Grant{Redirect: "https://fanfare.example/back", State: "s", Verifier: "a-verifier-of-some-length-that-is-long-enough"}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, f.client.AuthorizeURL(app, grant), http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := f.server.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	back, err := url.Parse(resp.Header.Get("Location"))
	if err != nil {
		t.Fatal(err)
	}
	granted, err := f.client.Exchange(t.Context(), app, grant, back.Query().Get("code"))
	if err != nil {
		t.Fatal(err)
	}
	end := f.clock().Add(7 * 24 * time.Hour)
	if granted.RefreshExpiresAt == nil || *granted.RefreshExpiresAt != clock.At(end) {
		t.Errorf("got an end at %v want %s", granted.RefreshExpiresAt, end)
	}
	if _, err := f.client.Refresh(t.Context(), app, granted); err != nil {
		t.Error(err)
	}
	f.setTime(t, end)
	_, err = f.client.Refresh(t.Context(), app, granted)
	wantError(t, err, connection.Revoked, "invalid_grant")
}
