package connection_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"fanfare/internal/adplatform/sandbox"
	"fanfare/internal/connection"
	"fanfare/internal/ident"
)

// turnOn turns a switch of the sandbox on.
func (s *syncFixture) turnOn(platform, name, value string) {
	s.t.Helper()
	s.must(s.registry.Server().TurnOn(sandbox.BehaviorRule{Platform: platform, Switch: name, Value: value}))
}

// TestTokenErrorPasses checks that a connection stays connected and keeps its
// refresh token while Google issues no tokens.
func TestTokenErrorPasses(t *testing.T) {
	t.Parallel()
	for _, code := range []string{"internal_failure", "server_error", "temporarily_unavailable"} {
		t.Run(code, func(t *testing.T) {
			withSyncFixture(t, func(t *testing.T, s *syncFixture) {
				s.sync(recent)
				before := s.sealed()
				s.turnOn(sandbox.GoogleAds, "token_error", code)
				s.Clock.Advance(2 * time.Hour)
				r := s.sync(recent)
				if r.Error == nil {
					t.Fatalf("got run %+v want it to fail", r)
				}
				want(t, "run", []any{connection.RunFailed, "transient", connection.StatusConnected}, []any{r.Status, r.Error.Class, s.connection().Status})
				want(t, "credentials", before, s.sealed())
				s.registry.Server().TurnAllOff()
				s.Clock.Advance(2 * time.Hour)
				want(t, "afterwards", connection.RunSucceeded, s.sync(recent).Status)
				sums, _ := s.spendIn("2026-11-13", "2026-11-15", "platform")
				want(t, "spend", s.truth("google_ads", today-2), sums["google_ads"])
			}, "google_ads")
		})
	}
}

// TestSignInAgain checks that a session policy asks for a new sign-in, and that
// nothing says that access was revoked.
func TestSignInAgain(t *testing.T) {
	withSyncFixture(t, func(t *testing.T, s *syncFixture) {
		s.sync(recent)
		s.turnOn(sandbox.GoogleAds, "token_error", "rapt_required")
		s.Clock.Advance(2 * time.Hour)
		s.ask(recent)
		s.Sync(s.id)
		c := s.connection()
		want(t, "status", connection.StatusReauthRequired, c.Status)
		if c.StatusReason == nil || c.StatusReason.Remediation == nil || !strings.Contains(*c.StatusReason.Remediation, "session policy") ||
			strings.Contains(strings.ToLower(c.StatusReason.Message+*c.StatusReason.Remediation), "revoked") {
			t.Errorf("got reason %+v want the session policy", c.StatusReason)
		}
		before := s.calls(isToken)
		if at, err := s.work(t.Context()); at != nil || err != nil || s.calls(isToken) != before {
			t.Errorf("got %v, %v and %d more calls want none", at, err, s.calls(isToken)-before)
		}
	}, "google_ads")
}

// audienceAccounts returns the accounts of all audiences by their ids.
func (s *syncFixture) audienceAccounts() map[string]string {
	s.t.Helper()
	found := map[string]string{}
	for _, l := range s.entities([]string{"audience"}, nil) {
		found[l.ExternalID] = l.AccountID
	}
	return found
}

// TestSharedAudience syncs two accounts of which one shares an audience with the
// other. The audience is stored once and stays with an account while that is
// synced.
func TestSharedAudience(t *testing.T) {
	withSyncFixture(t, func(t *testing.T, s *syncFixture) {
		s.turnOn(sandbox.TikTokAds, sandbox.BehaviorAccounts, "2")
		s.turnOn(sandbox.TikTokAds, "shared_audience", "")
		s.sync(recent)
		server, accounts, all := s.registry.Server(), []string{}, 0
		for _, a := range s.connection().Accounts {
			if a.Platform == "tiktok_ads" {
				accounts = append(accounts, a.ExternalID)
				there, _ := server.Account(a.ExternalID)
				all += len(there.Audiences)
			}
		}
		want(t, "accounts", 2, len(accounts))
		owner, _ := server.Account(s.account("tiktok_ads"))
		shared := owner.Audiences[0].ID
		for _, only := range [][]string{accounts, accounts, accounts[:1], accounts, accounts, accounts[1:], accounts, accounts} {
			before := s.audienceAccounts()[shared]
			s.syncOf(only)
			found := s.audienceAccounts()
			want(t, "audiences", true, len(found) <= all)
			switch {
			case len(only) == 1:
				want(t, "the only account that is synced", only[0], found[shared])
			case before != "":
				want(t, "account of the shared audience", before, found[shared])
			}
		}
		want(t, "audiences", all, len(s.audienceAccounts()))
	}, "tiktok_ads")
}

// syncOf turns all accounts but some off and syncs.
func (s *syncFixture) syncOf(accounts []string) {
	s.t.Helper()
	var list []map[string]any
	for _, a := range s.connection().Accounts {
		list = append(list, map[string]any{"external_id": a.ExternalID, "enabled": slices.Contains(accounts, a.ExternalID)})
	}
	s.patch(map[string]any{"accounts": list}).OK()
	for _, r := range s.runs() {
		if r.Status == connection.RunQueued {
			s.cancel(r.ID).OK()
		}
	}
	want(s.t, "run", connection.RunSucceeded, s.sync(recent).Status)
}

// TestOffered checks which entities of an account are stored for linking.
func TestOffered(t *testing.T) {
	t.Parallel()
	record := ident.ID("aud_1")
	held := func(account string, to *ident.ID) *connection.Link {
		return &connection.Link{ExternalID: "1", AccountID: account, RecordID: to}
	}
	for _, tt := range []struct {
		name    string
		deleted bool
		kind    string
		was     *connection.Link
		synced  bool
		want    bool
	}{
		{"new", false, "audience", nil, true, true},
		{"known", false, "audience", held("a", nil), true, true},
		{"audience of another account", false, "audience", held("b", nil), true, false},
		{"linked audience of another account", false, "audience", held("b", &record), true, false},
		{"audience of an account that is not synced", false, "audience", held("b", nil), false, true},
		{"campaign that moved", false, "campaign", held("b", nil), true, true},
		{"deleted", true, "campaign", nil, true, false},
		{"deleted and known", true, "campaign", held("a", nil), true, false},
		{"deleted and linked", true, "campaign", held("a", &record), true, true},
	} {
		it := connection.Entity{External: "1", Deleted: tt.deleted}
		if got := it.Offered("a", tt.kind, tt.was, func(string) bool { return tt.synced }); got != tt.want {
			t.Errorf("%s: got %v want %v", tt.name, got, tt.want)
		}
	}
}

// TestDeletedCampaigns checks that deleted campaigns of TikTok count, and are not
// offered for linking. One that is linked is shown as deleted.
func TestDeletedCampaigns(t *testing.T) {
	withSyncFixture(t, func(t *testing.T, s *syncFixture) {
		s.sync(recent)
		there, _ := s.registry.Server().Account(s.account("tiktok_ads"))
		deleted, id := there.Campaigns[1].ID, s.campaign("Deleted later")
		s.link(deleted, id)
		s.turnOn(sandbox.TikTokAds, "deleted_hidden", "")
		s.sync(recent)
		find := func() (found []any) {
			for _, l := range s.entities([]string{"campaign"}, nil) {
				if l.ExternalID == deleted {
					found = []any{*l.Status, l.Runs}
				}
			}
			return found
		}
		want(t, "linked", []any{"DELETE", false}, find())
		s.link(deleted, nil)
		s.sync(recent)
		want(t, "not linked", []any(nil), find())
		sums, _ := s.spendIn("2026-11-13", "2026-11-15", "platform")
		want(t, "spend", s.truth("tiktok_ads", today-2), sums["tiktok_ads"])
	}, "tiktok_ads")
}

// TestPushWithoutSuccess checks that a pause that Meta answers with success false
// is not shown as made.
func TestPushWithoutSuccess(t *testing.T) {
	withSyncFixture(t, func(t *testing.T, s *syncFixture) {
		id, there := pushing(t, s)
		s.turnOn(sandbox.MetaAds, "success_false", "")
		s.transition(id, "pause").OK()
		if _, err := s.push(id, 1); connection.ClassOf(err) != connection.Transient {
			t.Errorf("got %v want to be called again", err)
		}
		s.delivers("not written", id, there, "pending", "ACTIVE", true)
		s.registry.Server().TurnAllOff()
		if _, err := s.push(id, 2); err != nil {
			t.Error(err)
		}
		s.delivers("written", id, there, "applied", "PAUSED", false)
	}, "meta_ads")
}
