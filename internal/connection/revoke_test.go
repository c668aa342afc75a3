package connection_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"fanfare/internal/adplatform/registry"
	"fanfare/internal/adplatform/sandbox"
	"fanfare/internal/connection"
	"fanfare/internal/ident"
	"fanfare/internal/record"
	"fanfare/internal/secret"
)

// place is a connection of some workspace.
type place struct {
	workspace ident.ID
	id        string
}

// at makes a connection the one that the fixture is about.
func (s *syncFixture) at(p place) { s.Workspace, s.id = p.workspace, p.id }

// grantedBy has a person grant access to a new connection of a workspace.
func (s *syncFixture) grantedBy(workspace ident.ID, platform, person string) place {
	s.t.Helper()
	s.Workspace = workspace
	made := s.connect(map[string]any{"platform": platform, "name": "Granted by " + person}).OK()
	s.id = made.ID()
	s.visits("consent at "+platform, s.consent(made.Record()["authorization_url"].(string)+"&sandbox_person="+person), true)
	s.cancel(s.runs()[0].ID).OK()
	return place{workspace, s.id}
}

// leave disconnects a connection and returns the code of its status reason.
func (s *syncFixture) leave(p place) string {
	s.t.Helper()
	s.at(p)
	s.disconnect(false).OK()
	s.connections.Wait()
	if r := s.connection().StatusReason; r != nil {
		return r.Code
	}
	return ""
}

// ends disconnects a connection and does not wait for the platform.
func (s *syncFixture) ends(p place) {
	s.t.Helper()
	cause := s.Cause()
	cause.Workspace = p.workspace
	if _, err := s.connections.Disconnect(s.t.Context(), cause, ident.ID(p.id), record.Match{}, false); err != nil {
		s.t.Error(err)
	}
}

// works reports whether the platform still accepts the tokens of a connection.
func (s *syncFixture) works(p place) bool {
	s.t.Helper()
	s.at(p)
	return s.sync(recent).Status == connection.RunSucceeded
}

// revocations counts the calls that give access back.
func (s *syncFixture) revocations() int {
	return s.calls(func(e sandbox.Entry) bool {
		return e.Path == "/revoke" || e.Method == http.MethodDelete && strings.HasSuffix(e.Path, "/me/permissions") ||
			strings.HasSuffix(e.Path, "/oauth2/revoke_token/") || strings.HasSuffix(e.Path, "/oauth/v2/revoke")
	})
}

// TestRevokeLast has one person grant access to two workspaces. The platform is
// told only when the last connection ends, where that would end the others.
func TestRevokeLast(t *testing.T) {
	t.Parallel()
	s := newSyncFixture(t)
	here := s.Workspace
	other, _, _ := s.AddWorkspace("agency@example.com")
	for _, tt := range []struct {
		platform string
		shared   bool
	}{{"google_ads", true}, {"ga4", true}, {"meta_ads", true}, {"tiktok_ads", false}, {"linkedin_ads", false}} {
		before := s.revocations()
		first, second := s.grantedBy(here, tt.platform, "7001"), s.grantedBy(other, tt.platform, "7001")
		stranger := s.grantedBy(other, tt.platform, "7002")
		reason, calls := "", 1
		if tt.shared {
			reason, calls = "access_in_use", 0
		}
		want(t, tt.platform+", the first", []any{reason, calls}, []any{s.leave(first), s.revocations() - before})
		want(t, tt.platform+", the second works", true, s.works(second))
		want(t, tt.platform+", the second", []any{"", calls + 1}, []any{s.leave(second), s.revocations() - before})
		want(t, tt.platform+", another person", true, s.works(stranger))
		s.leave(stranger)
	}
	if n := s.Int(`SELECT count(*) FROM platform_grant`); n != 0 {
		t.Errorf("got %d grants in use want none", n)
	}
}

// TestRevokeAcrossPlatforms has Google Ads and GA4 of one person, which are one
// grant at Google.
func TestRevokeAcrossPlatforms(t *testing.T) {
	t.Parallel()
	s := newSyncFixture(t)
	ads, analytics := s.grantedBy(s.Workspace, "google_ads", "7001"), s.grantedBy(s.Workspace, "ga4", "7001")
	want(t, "Google Ads", []any{"access_in_use", 0}, []any{s.leave(ads), s.revocations()})
	want(t, "GA4 works", true, s.works(analytics))
	s.at(analytics)
	if got := s.connection().ScopesGranted; slices.Contains(got, "openid") {
		t.Errorf("got scopes %v without openid", got)
	}
	tokens, err := s.connections.OpenTokens(t.Context(), s.Workspace, ident.ID(s.id))
	s.must(err)
	want(t, "GA4", []any{"", 1}, []any{s.leave(analytics), s.revocations()})
	client, _ := s.faults.PlatformRegistry.Client("ga4", false)
	if _, err := client.Accounts(t.Context(), tokens["ga4"]); connection.ClassOf(err) != connection.Expired && connection.ClassOf(err) != connection.Revoked {
		t.Errorf("got %v want the access to be over", err)
	}
	var dump strings.Builder
	rows, err := s.Raw.Query(t.Context(), `SELECT hash FROM platform_grant`)
	s.must(err)
	for rows.Next() {
		dump.WriteString(rows.Text())
	}
	if strings.Contains(dump.String(), "7001") {
		t.Error("the database shows who has granted access")
	}
}

// TestBroughtIsKept wants tokens that a caller brings to be forgotten and not
// revoked, and to leave alone what a person has granted.
func TestBroughtIsKept(t *testing.T) {
	t.Parallel()
	s := newSyncFixture(t)
	granted, err := s.registry.Server().Grant(sandboxAccounts)
	s.must(err)
	for _, platform := range connection.Played {
		token := granted[platform].AccessToken
		// TikTok wants to know the app of a token.
		brought := map[string]string{"access_token": token, "client_id": "client", "client_secret": "client-secret"}
		s.id = s.connect(map[string]any{"platform": platform, "name": "Brought", "credentials": brought}).OK().ID()
		want(t, platform, []any{"access_kept", 0}, []any{s.leave(place{s.Workspace, s.id}), s.revocations()})
		want(t, "credentials of "+platform, connection.Private{}.Sealed, s.stored().Private.Sealed)
		client, _ := s.faults.PlatformRegistry.Client(platform, false)
		app, _ := s.registry.App(platform)
		if _, err := client.Accounts(t.Context(), connection.Credentials{Access: secret.New(token), App: app}); err != nil {
			t.Errorf("%s: the token does not work any more: %v", platform, err)
		}
	}
	// After a reconnect with a brought token, nothing is left to revoke.
	p := s.grantedBy(s.Workspace, "google_ads", "7001")
	s.reconnect(map[string]any{"credentials": map[string]string{"access_token": granted["google_ads"].AccessToken}}).OK()
	want(t, "after a reconnect", []any{"access_kept", 0}, []any{s.leave(p), s.revocations()})
}

// TestRevokeAfterRotation changes the master key while two workspaces use a
// grant: both are still found, before and after their hashes are rewritten.
func TestRevokeAfterRotation(t *testing.T) {
	t.Parallel()
	s := newSyncFixture(t)
	here := s.Workspace
	other, _, _ := s.AddWorkspace("agency@example.com")
	first, second, third := s.grantedBy(here, "meta_ads", "7001"), s.grantedBy(other, "meta_ads", "7001"), s.grantedBy(other, "meta_ads", "7002")
	ring := s.connections.Vault.(registry.Vault).Ring
	old := ring.Active()
	_, err := ring.Add()
	s.must(err)
	rewrap := func(workspace ident.ID, n int) {
		t.Helper()
		moved, err := s.connections.Rewrap(t.Context(), workspace, ring.Rewrap)
		s.must(err)
		want(t, "rewrapped", n, moved)
	}
	rewrap(here, 1)
	want(t, "one hash of each key", []any{"access_in_use", 0}, []any{s.leave(first), s.revocations()})
	fourth := s.grantedBy(here, "meta_ads", "7001")
	want(t, "and the other way", []any{"access_in_use", 0}, []any{s.leave(second), s.revocations()})
	rewrap(other, 1)
	s.must(ring.Drop(old))
	fifth := s.grantedBy(here, "meta_ads", "7002")
	want(t, "without the old key", []any{"access_in_use", 0}, []any{s.leave(third), s.revocations()})
	want(t, "the last", []any{"", "", 2}, []any{s.leave(fourth), s.leave(fifth), s.revocations()})
}

// TestRevokeRaces connects and disconnects at the same time.
func TestRevokeRaces(t *testing.T) {
	t.Parallel()
	s := newSyncFixture(t)
	here := s.Workspace
	other, _, _ := s.AddWorkspace("agency@example.com")
	// One ends after the other has its tokens and before it is stored who uses
	// them.
	first := s.grantedBy(here, "google_ads", "7001")
	s.faults.accounts = func(context.Context) {
		s.faults.accounts = nil
		s.ends(first)
	}
	second := s.grantedBy(other, "google_ads", "7001")
	s.connections.Wait()
	want(t, "revocations of a grant that is taken into use", 0, s.revocations())
	want(t, "the new connection works", true, s.works(second))

	// One ends, and the platform is told, before the other comes to use its
	// tokens: the person is told to begin again.
	s.Workspace = here
	back := s.consent(s.pending("google_ads") + "&sandbox_person=7001")
	third := place{here, s.id}
	s.faults.exchanged = func() {
		s.faults.exchanged = nil
		s.ends(second)
		s.connections.Wait()
	}
	s.visits("a grant that was just revoked", back, false)
	s.at(third)
	want(t, "revocations", 1, s.revocations())
	want(t, "status", connection.StatusPending, s.connection().Status)

	// Both end at once.
	one, two := s.grantedBy(here, "google_ads", "7003"), s.grantedBy(other, "google_ads", "7003")
	var group sync.WaitGroup
	for _, p := range []place{one, two} {
		group.Go(func() { s.ends(p) })
	}
	group.Wait()
	s.connections.Wait()
	if n := s.revocations() - 1; n != 1 && n != 2 {
		t.Errorf("got %d revocations want one, or two for the same grant", n)
	}
}
