package connection_test

import (
	"errors"
	"net/url"
	"strings"
	"testing"

	"fanfare/internal/adplatform/sandbox"
	"fanfare/internal/connection"
	"fanfare/internal/fault"
)

// says checks that a remediation has a text.
func says(t *testing.T, where string, got *string, text string) {
	t.Helper()
	if got == nil || !strings.Contains(*got, text) {
		shown := "none"
		if got != nil {
			shown = *got
		}
		t.Errorf("%s: got remediation %q want one with %q", where, shown, text)
	}
}

// code makes a platform answer calls with a code.
func (s *syncFixture) code(platform, path, code, message string) {
	s.t.Helper()
	s.addFault(sandbox.FaultRule{Platform: platform, Path: path, Fault: sandbox.FaultCode, Code: code, Message: message})
}

// TestRemedyOfReport checks that what to do about a refused report is wherever
// the error is.
func TestRemedyOfReport(t *testing.T) {
	withSyncFixture(t, func(t *testing.T, s *syncFixture) {
		const remedy = "User management"
		s.code(sandbox.TikTokAds, "/report/", "40001", "No permission.")
		r := s.sync(recent)
		if r.Error == nil || r.Error.Message != "No permission." {
			t.Fatalf("got error %+v want TikTok's words", r.Error)
		}
		says(t, "run", r.Error.Remediation, remedy)
		c := s.connection()
		says(t, "last error", c.Sync.LastError.Remediation, remedy)
		says(t, "reason", c.StatusReason.Remediation, remedy)
		says(t, "gap", s.report("tiktok_ads", "base").Gaps[0].Remediation, remedy)
	}, "meta_ads", "tiktok_ads")
}

// TestRemedyOfEndedAccess checks the reason of a connection whose access has
// ended.
func TestRemedyOfEndedAccess(t *testing.T) {
	withSyncFixture(t, func(t *testing.T, s *syncFixture) {
		s.code(sandbox.MetaAds, "", "190/460", "The session was invalidated.")
		s.sync(recent)
		c := s.connection()
		want(t, "status", connection.StatusReauthRequired, c.Status)
		says(t, "reason", c.StatusReason.Remediation, "password has changed")
		says(t, "last error", c.Sync.LastError.Remediation, "password has changed")
	}, "meta_ads")
}

// TestRemedyOfFailingRuns checks the reason of a connection whose runs fail.
func TestRemedyOfFailingRuns(t *testing.T) {
	withSyncFixture(t, func(t *testing.T, s *syncFixture) {
		s.code(sandbox.GA4, "accountSummaries", "PERMISSION_DENIED/SERVICE_DISABLED", "")
		for range 3 {
			s.sync(recent)
		}
		c := s.connection()
		want(t, "status", connection.StatusError, c.Status)
		says(t, "reason", c.StatusReason.Remediation, "Google Analytics Admin API")
	}, "ga4")
}

// TestRemedyOfDeniedAccount checks the reason of a connection with an account
// that the platform lists and does not let us read.
func TestRemedyOfDeniedAccount(t *testing.T) {
	withSyncFixture(t, func(t *testing.T, s *syncFixture) {
		s.code(sandbox.TikTokAds, "/advertiser/info/", "40001", "No permission.")
		s.sync(recent)
		c := s.connection()
		if c.StatusReason == nil || c.StatusReason.Code != "accounts_denied" {
			t.Fatalf("got reason %+v want accounts_denied", c.StatusReason)
		}
		says(t, "reason", c.StatusReason.Remediation, "User management")
	}, "meta_ads", "tiktok_ads")
}

// TestRemedyOfPush checks that a state that cannot be written says what to do, in
// the reference and in the delivery issue.
func TestRemedyOfPush(t *testing.T) {
	withSyncFixture(t, func(t *testing.T, s *syncFixture) {
		id, _ := pushing(t, s)
		s.code(sandbox.MetaAds, "", "200", "No permission.")
		s.transition(id, "pause").OK()
		if _, err := s.push(id, 1); err != nil {
			t.Fatal(err)
		}
		says(t, "push error", s.refs(id)[0].PushError.Remediation, "Assign people")
		var c struct {
			Delivery struct {
				Issues []struct {
					Code        string  `json:"code"`
					Remediation *string `json:"remediation"`
				} `json:"issues"`
			} `json:"delivery"`
		}
		s.record(id).Decode(&c)
		if len(c.Delivery.Issues) == 0 || c.Delivery.Issues[0].Code != "push_failed" {
			t.Fatalf("got issues %+v want push_failed first", c.Delivery.Issues)
		}
		says(t, "issue", c.Delivery.Issues[0].Remediation, "Assign people")
	}, "meta_ads")
}

// TestRemedyOfRefusedConnection checks that a refused connection says what to do:
// with credentials, and after a consent page that denies access.
func TestRemedyOfRefusedConnection(t *testing.T) {
	t.Parallel()
	s := newSyncFixture(t)
	s.code(sandbox.MetaAds, "", "100", "API calls from the server require an appsecret_proof argument")
	refused := s.connect(map[string]any{"platform": "meta_ads", "name": "Refused", "credentials": map[string]string{"access_token": "token"}})
	f, ok := errors.AsType[*fault.Error](refused.Err)
	if !ok || f.Code != fault.ValidationFailed || !strings.Contains(f.Message, "appsecret_proof argument. Set the app secret") {
		t.Errorf("got %v want Meta's words and what to do", refused.Err)
	}
	for platform, codes := range map[string]map[string]string{
		"linkedin_ads": {"unauthorized_scope_error": "Advertising API", "user_cancelled_login": "select Allow", "new_code": "Access was not granted."},
		"google_ads":   {"access_denied": "Test users", "admin_policy_enforced": "API controls"},
		"ga4":          {"access_denied": "Test users"},
		"tiktok_ads":   {"access_denied": "Access was not granted."},
	} {
		at, err := url.Parse(s.consent(s.pending(platform)))
		s.must(err)
		for code, text := range codes {
			q := at.Query()
			q.Del("code")
			q.Set("error", code)
			if err := s.visit(at.Path + "?" + q.Encode()); err == nil || !strings.Contains(err.Error(), text) {
				t.Errorf("%s %s: got %v want %q", platform, code, err, text)
			}
		}
	}
}
