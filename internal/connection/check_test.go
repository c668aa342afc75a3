package connection_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"fanfare/internal/adplatform/sandbox"
	"fanfare/internal/connection"
	"fanfare/internal/ident"
)

// check checks the connection.
func (s *syncFixture) check(accounts ...string) *connection.CheckReport {
	s.t.Helper()
	if accounts == nil {
		accounts = []string{}
	}
	r, err := s.connections.Check(s.t.Context(), s.Workspace, ident.ID(s.id), s.options(map[string]any{"account_ids": accounts}))
	s.must(err)
	return r
}

// failures returns the checks that failed, as name and account.
func failures(r *connection.CheckReport) (list []string) {
	for _, c := range r.Checks {
		if c.Status == connection.CheckFailed {
			account := ""
			if c.AccountID != nil {
				account = " " + *c.AccountID
			}
			list = append(list, c.Name+account)
		}
	}
	return list
}

// TestCheck checks connections that work and such that do not. Every failure
// names what to do, and nothing is changed on the platform.
func TestCheck(t *testing.T) {
	withSyncFixture(t, func(t *testing.T, s *syncFixture) {
		r := s.check()
		want(t, "a connection that works", []any{true, []string(nil)}, []any{r.OK, failures(r)})
		for _, name := range []string{"credentials", "accounts", "entities", "report_base", "report_geo", "report_demographic", "report_device", "writes", "quota"} {
			if !slices.ContainsFunc(r.Checks, func(c connection.Check) bool { return c.Name == name }) {
				t.Errorf("got no check %s", name)
			}
		}
		writes := s.calls(func(e sandbox.Entry) bool { return e.Method == http.MethodPost && strings.Contains(e.Path, "mutate") })
		want(t, "writes", 0, writes)

		meta := s.account("meta_ads")
		s.addFault(sandbox.FaultRule{Platform: sandbox.MetaAds, Path: "insights", Fault: sandbox.FaultAccountDisabled})
		r = s.check(meta)
		want(t, "an account that denies reports", false, r.OK)
		for _, c := range r.Checks {
			if c.Status == connection.CheckFailed && (c.Remediation == nil || c.Code == nil) {
				t.Errorf("got failure %+v without a code or a remedy", c)
			}
		}
	}, "meta_ads", "google_ads")
}

// TestCheckWithoutAccess checks a connection whose access was taken back: it is
// then reported as such.
func TestCheckWithoutAccess(t *testing.T) {
	t.Parallel()
	s := newSyncFixture(t)
	s.withToken("meta_ads")
	s.addFault(sandbox.FaultRule{Platform: sandbox.MetaAds, Fault: sandbox.FaultRevokedToken})
	r := s.check()
	want(t, "failures", []string{"credentials"}, failures(r))
	want(t, "status", connection.StatusReauthRequired, s.connection().Status)
	if c := r.Checks[0]; c.Remediation == nil || !strings.Contains(*c.Remediation, "Reconnect") {
		t.Errorf("got %+v want a remedy that says to reconnect", c)
	}
}

// TestCheckWithoutAnswer checks a connection whose platform does not answer: that
// says nothing about the credentials.
func TestCheckWithoutAnswer(t *testing.T) {
	t.Parallel()
	s := newSyncFixture(t)
	s.withToken("meta_ads")
	s.addFault(sandbox.FaultRule{Platform: sandbox.MetaAds, Fault: sandbox.Fault503})
	r := s.check()
	want(t, "failures and credentials", []any{[]string{"accounts"}, connection.CheckSkipped}, []any{failures(r), r.Checks[0].Status})
	want(t, "status", connection.StatusConnected, s.connection().Status)
}
