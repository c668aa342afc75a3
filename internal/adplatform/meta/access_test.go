package meta_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"fanfare/internal/adplatform/sandbox"
	"fanfare/internal/connection"
	"fanfare/internal/secret"
)

// grant returns new credentials for the account.
func (w *testSandbox) grant(t *testing.T) connection.Credentials {
	t.Helper()
	opened, err := w.sandbox.Grant(w.sandbox.Own())
	if err != nil {
		t.Fatal(err)
	}
	return connection.Credentials{Access: secret.New(opened[sandbox.MetaAds].AccessToken), App: app}
}

// TestTokenReasons checks that each reason for the end of a token asks for a new
// consent, and says where.
func TestTokenReasons(t *testing.T) {
	t.Parallel()
	for value, test := range map[string]struct {
		class  connection.Class
		remedy string
	}{
		"458": {connection.Revoked, "has removed the app"},
		"459": {connection.Revoked, "Log in at www.facebook.com"},
		"460": {connection.Revoked, "password has changed"},
		"463": {connection.Expired, "Connect the account again"},
		"464": {connection.Revoked, "Log in at www.facebook.com"},
		"467": {connection.Revoked, "Connect the account again"},
		"492": {connection.Revoked, "no role on the Page"},
	} {
		w := newSandbox(t, 31)
		w.turnOn(t, "token_subcodes", value)
		_, err := w.client.Accounts(t.Context(), w.cred)
		checkClass(t, value, err, test.class, test.remedy)
	}
}

// TestPartialPermission checks that reading goes on without the permission to
// write.
func TestPartialPermission(t *testing.T) {
	t.Parallel()
	w := newSandbox(t, 32)
	w.turnOn(t, "permission_partial", "")
	cred, err := w.client.Exchange(t.Context(), app, testGrant, w.consent(t, testGrant))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(cred.Scopes, "ads_read") || slices.Contains(cred.Scopes, "ads_management") {
		t.Errorf("got scopes %v want ads_read without ads_management", cred.Scopes)
	}
	q := w.reportFor(t, connection.LevelCampaign, 7)
	rows, err := w.report(t, q)
	w.checkTruth(t, "partial", q, rows, err)
	checkClass(t, "write", w.client.SetStatus(t.Context(), cred, w.account.ID, w.account.Campaigns[0].ID, false), connection.Forbidden, "ads_management")
}

// TestUnusedPermission checks that a permission that Meta has taken away is not
// the end of the token.
func TestUnusedPermission(t *testing.T) {
	t.Parallel()
	w := newSandbox(t, 33)
	q := w.reportFor(t, connection.LevelCampaign, 7)
	w.turnOn(t, "permission_90d", "")
	_, err := w.report(t, q)
	checkClass(t, "unused", err, connection.Forbidden, "90 days")
}

// TestAppSecretProof checks that every call has the proof, and no URL a token.
func TestAppSecretProof(t *testing.T) {
	t.Parallel()
	w := newSandbox(t, 34)
	w.turnOn(t, "require_app_secret", "")
	q := w.reportFor(t, connection.LevelCampaign, 7)
	rows, err := w.report(t, q)
	w.checkTruth(t, "proof", q, rows, err)
	if err := w.client.SetStatus(t.Context(), w.cred, w.account.ID, w.account.Campaigns[0].ID, false); err != nil {
		t.Error(err)
	}
	mac := hmac.New(sha256.New, []byte(app.Secret.Reveal()))
	_, _ = mac.Write([]byte(w.cred.Access.Reveal()))
	want := hex.EncodeToString(mac.Sum(nil))
	for _, r := range w.requests {
		if got := r.URL.Query().Get("appsecret_proof"); got != want || strings.Contains(r.URL.String(), w.cred.Access.Reveal()) {
			t.Errorf("%s %s: got proof %q want %q and no token", r.Method, r.URL.Path, got, want)
		}
	}
	w.requests = nil
	cred, err := w.client.Exchange(t.Context(), app, testGrant, w.consent(t, testGrant))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range w.requests {
		for _, hidden := range []string{cred.Access.Reveal(), app.Secret.Reveal()} {
			if strings.Contains(r.URL.String(), hidden) {
				t.Errorf("%s %s: the URL has a secret", r.Method, r.URL.Path)
			}
		}
	}
	w.cred.App.Secret = secret.Text{}
	_, err = w.client.Accounts(t.Context(), w.cred)
	checkClass(t, "without a secret", err, connection.Forbidden, "Set the app secret")
}

// TestErrorWithStatus200 checks that an error counts although the status is one
// of success.
func TestErrorWithStatus200(t *testing.T) {
	t.Parallel()
	w := newSandbox(t, 35)
	q := w.reportFor(t, connection.LevelAd, 60)
	w.turnOn(t, "error_with_200", "")
	w.addFault(t, sandbox.FaultTooLarge, 1)
	rows, err := w.report(t, q)
	if err != nil {
		t.Fatal(err)
	}
	w.compareRows(t, q, rows)
	w.addFault(t, sandbox.FaultRevokedToken, 0)
	_, err = w.client.Accounts(t.Context(), w.cred)
	checkClass(t, "revoked", err, connection.Revoked, "removed the app")
}

// TestUsageTexts checks that usage counts if Meta sends its numbers as texts.
func TestUsageTexts(t *testing.T) {
	t.Parallel()
	w := newSandbox(t, 36)
	q := w.reportFor(t, connection.LevelCampaign, 7)
	w.turnOn(t, "usage_headers_as_strings", "")
	w.waited = nil
	for range 2 {
		if _, err := w.report(t, q); err != nil {
			// The account is held back, and the caller waits.
			w.now = w.now.Add(time.Minute)
		}
	}
	if want := 18 * time.Second; len(w.waited) == 0 || w.waited[0] != want {
		t.Errorf("got waits %v want %v at 80 percent", w.waited, want)
	}
}

// TestAccountStates checks that accounts that do not deliver are listed and read,
// and closed ones are not listed.
func TestAccountStates(t *testing.T) {
	t.Parallel()
	for _, value := range []string{"2", "3", "7", "8", "9", "100", "101"} {
		w := newSandbox(t, 37)
		w.turnOn(t, "account_status", value)
		accounts, err := w.client.Accounts(t.Context(), w.cred)
		if want := map[bool]int{true: 0, false: 1}[value == "101"]; err != nil || len(accounts) != want {
			t.Errorf("%s: got %+v, %v want %d accounts", value, accounts, err, want)
		}
		q := w.reportFor(t, connection.LevelCampaign, 7)
		rows, err := w.report(t, q)
		w.checkTruth(t, value, q, rows, err)
	}
}

// TestManyAccounts checks that all accounts of a grant are listed, one that
// denies access with its problem, and that each has its own numbers.
func TestManyAccounts(t *testing.T) {
	t.Parallel()
	w := newSandbox(t, 38)
	w.turnOn(t, "accounts", "30")
	w.turnOn(t, "short_and_empty_pages", "")
	accounts, err := w.client.Accounts(t.Context(), w.cred)
	if err != nil || len(accounts) != 30 {
		t.Fatalf("got %d accounts, %v want 30", len(accounts), err)
	}
	other, ok := w.sandbox.Account(accounts[7].ExternalID)
	if !ok || other == w.account {
		t.Fatalf("account %s is not there", accounts[7].ExternalID)
	}
	denied := accounts[9].ExternalID
	if err := w.sandbox.TurnOn(sandbox.BehaviorRule{Platform: sandbox.MetaAds, Account: denied, Switch: "account_denied"}); err != nil {
		t.Fatal(err)
	}
	w.account = other
	q := w.reportFor(t, connection.LevelCampaign, 30)
	rows, err := w.report(t, q)
	w.checkTruth(t, "another account", q, rows, err)
	accounts, err = w.client.Accounts(t.Context(), w.cred)
	if err != nil || len(accounts) != 30 {
		t.Fatalf("got %d accounts, %v want 30", len(accounts), err)
	}
	for i, a := range accounts {
		if (a.Problem != nil) != (i == 9) || a.Problem != nil && a.Problem.Class != connection.Forbidden {
			t.Errorf("account %d: got problem %v", i, a.Problem)
		}
	}
	_, err = w.client.Entities(t.Context(), w.cred, denied)
	checkClass(t, "denied", err, connection.Forbidden, "Ask an administrator")
}

// TestFieldPermission checks that a field without rights does not fail the list
// of accounts.
func TestFieldPermission(t *testing.T) {
	t.Parallel()
	w := newSandbox(t, 39)
	w.turnOn(t, "field_permission", "")
	accounts, err := w.client.Accounts(t.Context(), w.cred)
	if err != nil || len(accounts) != 1 || accounts[0].Currency != "EUR" || accounts[0].Problem != nil {
		t.Errorf("got %+v, %v want the account without a problem", accounts, err)
	}
}

// TestSystemUser checks that the token of a system user is used as it is.
func TestSystemUser(t *testing.T) {
	t.Parallel()
	w := newSandbox(t, 40)
	w.turnOn(t, "system_user_token", "")
	cred, err := w.client.Exchange(t.Context(), app, testGrant, w.consent(t, testGrant))
	if err != nil || cred.ExpiresAt != nil || len(cred.Scopes) == 0 {
		t.Fatalf("got %+v, %v want a token that does not expire", cred, err)
	}
	if _, err := w.client.Accounts(t.Context(), cred); err != nil {
		t.Error(err)
	}
	if w.count(http.MethodPost, "/oauth/access_token") != 1 {
		t.Error("the token was exchanged again")
	}
}

// TestLoginForBusiness checks that a configuration replaces the scopes, and
// that its kind of token works.
func TestLoginForBusiness(t *testing.T) {
	t.Parallel()
	for configuration, expires := range map[string]bool{sandbox.MetaPersonConfiguration: true, sandbox.MetaSystemUserConfiguration: false} {
		w := newSandbox(t, 42)
		business := app
		business.Configuration = configuration
		at := w.client.AuthorizeURL(business, testGrant)
		if !strings.Contains(at, "config_id="+configuration) || strings.Contains(at, "scope=") {
			t.Errorf("got address %s want the configuration and no scope", at)
		}
		cred, err := w.client.Exchange(t.Context(), business, testGrant, w.visit(t, at, testGrant))
		if err != nil || (cred.ExpiresAt != nil) != expires || len(cred.Scopes) == 0 || cred.Grant == "" {
			t.Fatalf("%s: got %+v, %v", configuration, cred, err)
		}
		if _, err := w.client.Accounts(t.Context(), cred); err != nil {
			t.Error(err)
		}
		if _, err := w.client.Refresh(t.Context(), business, cred); (err == nil) != expires {
			t.Errorf("%s: exchange of the token: got %v", configuration, err)
		}
	}
	for name, query := range map[string]string{
		"both": "&config_id=" + sandbox.MetaPersonConfiguration + "&scope=ads_read", "unknown": "&config_id=5",
	} {
		w := newSandbox(t, 43)
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://sandbox.test/meta/v26.0/dialog/oauth?client_id=1&response_type=code&redirect_uri=https://fanfare.test"+query, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := w.sandbox.Do(req)
		if err != nil || resp.StatusCode != http.StatusBadRequest {
			t.Errorf("%s: got %v, %v want a refusal", name, resp.StatusCode, err)
		}
		_ = resp.Body.Close()
	}
}

// TestEffectiveStatus checks what a status means that differs from the
// requested one.
func TestEffectiveStatus(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]connection.Observed{
		"IN_PROCESS": {Status: "ACTIVE"}, "WITH_ISSUES": {Status: "WITH_ISSUES", Runs: true},
	} {
		w := newSandbox(t, 41)
		w.turnOn(t, "effective_status", value)
		campaign := w.account.Campaigns[0].ID
		if err := w.client.SetStatus(t.Context(), w.cred, w.account.ID, campaign, true); err != nil {
			t.Fatal(err)
		}
		got, err := w.client.Status(t.Context(), w.cred, w.account.ID, campaign)
		if err != nil || got != want {
			t.Errorf("%s: got %+v, %v want %+v", value, got, err, want)
		}
	}
}
