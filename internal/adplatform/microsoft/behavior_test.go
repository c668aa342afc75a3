package microsoft_test

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"fanfare/internal/adplatform/sandbox"
	"fanfare/internal/connection"
	"fanfare/internal/fact"
)

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

// TestErrorCodes checks the class of every code, that errors for people have a
// remedy, and that none shows a secret.
func TestErrorCodes(t *testing.T) {
	t.Parallel()
	for code, want := range map[int]connection.Class{
		0: connection.Transient, 100: connection.Refused, 105: connection.Revoked, 106: connection.Forbidden, 109: connection.Expired, 113: connection.Refused,
		116: connection.Refused, 117: connection.Throttled, 120: connection.Revoked, 122: connection.Revoked, 123: connection.Revoked, 124: connection.Revoked,
		125: connection.Revoked, 207: connection.Throttled, 1100: connection.Gone, 1102: connection.Gone, 1120: connection.Refused, 2003: connection.Forbidden,
		2004: connection.Transient, 2030: connection.TooLarge, 6133: connection.Refused,
	} {
		t.Run(strconv.Itoa(code), func(t *testing.T) {
			t.Parallel()
			f := openSandbox(t, 7)
			f.turnOn(t, "error_code", strconv.Itoa(code))
			_, err := f.client.Accounts(t.Context(), f.creds)
			e := platformError(t, err, want, strconv.Itoa(code))
			person := want == connection.Revoked || want == connection.Forbidden || want == connection.Refused || want == connection.Gone
			if (e.Remedy != "") != person || e.RequestID == "" || (e.Class == connection.Throttled) != !e.Until.IsZero() {
				t.Errorf("got %+v want a remedy %v, a tracking id, and a time for throttling alone", e, person)
			}
			for _, hidden := range []string{f.creds.Access.Reveal(), "developer-token"} {
				if strings.Contains(err.Error()+e.Remedy, hidden) {
					t.Errorf("got %v, which shows a secret", err)
				}
			}
		})
	}
}

// TestInactiveAccount checks that code 105 about an account is not taken for
// access that has ended.
func TestInactiveAccount(t *testing.T) {
	t.Parallel()
	f := openSandbox(t, 7)
	if err := f.server.TurnOn(sandbox.BehaviorRule{Platform: sandbox.MicrosoftAds, Account: f.account.ID, Switch: "error_code", Value: "105"}); err != nil {
		t.Fatal(err)
	}
	_, err := f.client.Entities(t.Context(), f.creds, f.account.ID)
	wantError(t, err, connection.Forbidden, "105")
	f.turnOn(t, "error_code", "105")
	_, err = f.client.Entities(t.Context(), f.creds, f.account.ID)
	wantError(t, err, connection.Revoked, "105")
}

// TestManyAccounts lists 1,203 accounts of several customers, reads one of each
// and changes what the role allows.
func TestManyAccounts(t *testing.T) {
	t.Parallel()
	f := openSandbox(t, 7)
	f.turnOn(t, sandbox.BehaviorAccounts, "1203")
	f.turnOn(t, "linked_account_roles", "")
	list, err := f.client.Accounts(t.Context(), f.creds)
	ids := map[string]bool{}
	for _, a := range list {
		ids[a.ExternalID] = true
	}
	if err != nil || len(list) != 1203 || len(ids) != 1203 {
		t.Fatalf("got %d accounts, %d ids, %v want 1203", len(list), len(ids), err)
	}
	if got := f.calls("/Accounts/Search"); got != 2 {
		t.Errorf("got %d calls want 2: the last page is a short one", got)
	}
	for _, at := range []int{1, 5, 9} {
		f.account, _ = f.server.Account(list[at].ExternalID)
		f.compareTruth(t)
		err := f.client.SetStatus(t.Context(), f.creds, f.account.ID, f.account.Campaigns[0].ID, false)
		if at == 5 {
			if e := platformError(t, err, connection.Forbidden, "106"); !strings.Contains(e.Remedy, "Standard") {
				t.Errorf("got %+v want the role that is needed", e)
			}
			continue
		}
		if err != nil {
			t.Errorf("account %d: %v", at, err)
		}
	}
}

func TestAccountStates(t *testing.T) {
	t.Parallel()
	f := openSandbox(t, 7)
	f.turnOn(t, sandbox.BehaviorAccounts, "6")
	f.turnOn(t, "account_states", "")
	list, err := f.client.Accounts(t.Context(), f.creds)
	if err != nil || len(list) != 6 {
		t.Fatalf("got %v, %v want 6 accounts", list, err)
	}
	for i, a := range list {
		deleted := i == 4
		if a.Enabled == deleted || (a.Problem != nil) != deleted {
			t.Errorf("account %d: got %+v want a problem of the deleted one alone", i, a)
		}
	}
	f.account, _ = f.server.Account(list[5].ExternalID)
	f.compareTruth(t)
}

func TestUnknownZone(t *testing.T) {
	t.Parallel()
	f := openSandbox(t, 7)
	f.turnOn(t, "unknown_zone", "")
	list, err := f.client.Accounts(t.Context(), f.creds)
	if err != nil || len(list) != 1 || list[0].Enabled || list[0].Problem == nil || list[0].Problem.Code != "unknown_time_zone" {
		t.Errorf("got %+v, %v want an account with a problem", list, err)
	}
}

func TestCallRate(t *testing.T) {
	t.Parallel()
	f := openSandbox(t, 7)
	f.turnOn(t, "rate_117", "6")
	if _, err := f.client.Entities(t.Context(), f.creds, f.account.ID); err != nil {
		t.Fatal(err)
	}
	if f.slept < time.Minute {
		t.Errorf("got %s of sleep want a minute for each limit", f.slept)
	}
}

func TestDeletedCampaign(t *testing.T) {
	t.Parallel()
	f := openSandbox(t, 7)
	f.turnOn(t, "deleted_in_report", "")
	deleted := f.account.Campaigns[1]
	entities, err := f.client.Entities(t.Context(), f.creds, f.account.ID)
	if err != nil || len(entities.Campaigns) != len(f.account.Campaigns)-1 {
		t.Fatalf("got %+v, %v want a campaign less", entities, err)
	}
	rows, _ := f.compareTruth(t)
	named := false
	for _, r := range rows {
		named = named || r.Campaign == fact.Entity{ExternalID: deleted.ID, Name: deleted.Name}
	}
	if !named {
		t.Error("got no rows of the deleted campaign with its name")
	}
	_, err = f.client.Status(t.Context(), f.creds, f.account.ID, deleted.ID)
	wantError(t, err, connection.Gone, "1100")
}

func TestPartialErrors(t *testing.T) {
	t.Parallel()
	for code, class := range map[string]connection.Class{"1100": connection.Gone, "1120": connection.Refused, "6133": connection.Refused} {
		f := openSandbox(t, 7)
		f.turnOn(t, "partial_errors_200", code)
		err := f.client.SetStatus(t.Context(), f.creds, f.account.ID, f.account.Campaigns[0].ID, false)
		if e := platformError(t, err, class, code); e.Remedy == "" {
			t.Errorf("%s: got %+v want a remedy", code, e)
		}
	}
}

func TestBudgetPaused(t *testing.T) {
	t.Parallel()
	f := openSandbox(t, 7)
	f.turnOn(t, "budget_paused", "")
	campaign := f.account.Campaigns[0].ID
	for run, want := range map[bool]connection.Observed{true: {Status: "BudgetPaused", Runs: true}, false: {Status: "BudgetAndManualPaused", Stopped: true}} {
		if err := f.client.SetStatus(t.Context(), f.creds, f.account.ID, campaign, run); err != nil {
			t.Fatal(err)
		}
		if got, err := f.client.Status(t.Context(), f.creds, f.account.ID, campaign); err != nil || got != want || !got.Confirms(run) {
			t.Errorf("run %v: got %+v, %v want %+v", run, got, err, want)
		}
	}
}

func TestUnknownCampaignType(t *testing.T) {
	t.Parallel()
	f := openSandbox(t, 7)
	f.turnOn(t, "unknown_type", "")
	entities, err := f.client.Entities(t.Context(), f.creds, f.account.ID)
	if err != nil || entities.Campaigns[0].Channel != "other" {
		t.Errorf("got %+v, %v want the channel other", entities, err)
	}
	rows, _ := f.compareTruth(t)
	if rows[0].Channel != "other" {
		t.Errorf("got %+v want the channel other", rows[0])
	}
}

// TestGrant grants access in the sandbox and checks what the consent page gets.
func TestGrant(t *testing.T) {
	t.Parallel()
	f := openSandbox(t, 7)
	grant := connection.Grant{Redirect: "https://fanfare.test/oauth/callback/microsoft_ads", State: "s1", Verifier: "a-verifier-of-enough-length"}
	page := f.client.AuthorizeURL(testApp, grant)
	if strings.Contains(page, "client-secret") || strings.Contains(page, "developer-token") {
		t.Errorf("got %s, which shows a secret", page)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, page, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := f.server.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	back, err := resp.Location()
	if err != nil || back.Query().Get("state") != "s1" || back.Query().Get("code") == "" {
		t.Fatalf("got %v, %v want a code", back, err)
	}
	cr, err := f.client.Exchange(t.Context(), testApp, grant, back.Query().Get("code"))
	if err != nil || cr.Refresh.Empty() || cr.ExpiresAt == nil || cr.ExpiresAt.Time().Sub(f.clock()) != time.Hour || cr.App.ID != "client" {
		t.Fatalf("got %+v, %v want tokens for an hour with the app", cr, err)
	}
	if list, err := f.client.Accounts(t.Context(), cr); err != nil || len(list) != 1 {
		t.Errorf("got %v, %v want an account", list, err)
	}
	if err := f.client.Revoke(t.Context(), testApp, cr); err != nil {
		t.Error(err)
	}
}

func TestRefreshRotates(t *testing.T) {
	t.Parallel()
	f := openSandbox(t, 7)
	f.turnOn(t, "refresh_rotates", "")
	next, err := f.client.Refresh(t.Context(), testApp, f.creds)
	if err != nil || next.Refresh.Reveal() == f.creds.Refresh.Reveal() {
		t.Fatalf("got %v want a new refresh token", err)
	}
	_, err = f.client.Refresh(t.Context(), testApp, f.creds)
	if e := platformError(t, err, connection.Revoked, "invalid_grant"); strings.Contains(e.Message, f.creds.Refresh.Reveal()) {
		t.Errorf("got %v, which shows the token", e)
	}
	if _, err = f.client.Refresh(t.Context(), testApp, next); err != nil {
		t.Error(err)
	}
}

func TestConsentErrors(t *testing.T) {
	t.Parallel()
	for number, want := range map[string]struct {
		class connection.Class
		code  string
	}{
		"50011": {connection.Refused, "AADSTS50011"}, "650052": {connection.Forbidden, "AADSTS650052"}, "700016": {connection.Forbidden, "AADSTS700016"},
		"70000": {connection.Revoked, "invalid_grant"},
	} {
		f := openSandbox(t, 7)
		f.turnOn(t, "consent_error", number)
		_, err := f.client.Refresh(t.Context(), testApp, f.creds)
		if e := platformError(t, err, want.class, want.code); e.Remedy == "" {
			t.Errorf("%s: got %+v want a remedy", number, e)
		}
	}
}
