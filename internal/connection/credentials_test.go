package connection_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fanfare/internal/adplatform/sandbox"
	"fanfare/internal/clock"
	"fanfare/internal/connection"
	"fanfare/internal/ident"
	"fanfare/internal/secret"
)

// stored loads the connection with the fields that the API does not return.
func (s *syncFixture) stored() *connection.Connection {
	s.t.Helper()
	c, err := s.DB.Connections().Load(s.t.Context(), s.Workspace, ident.ID(s.id))
	if err != nil {
		s.t.Fatal(err)
	}
	return c
}

// sealed returns the decrypted credentials as text.
func (s *syncFixture) sealed() string {
	s.t.Helper()
	c := s.stored()
	text, err := s.connections.Vault.Open(s.Workspace, c.ID, c.Private.SealVersion, c.Private.Sealed)
	if err != nil {
		s.t.Fatal(err)
	}
	return text.Reveal()
}

func isToken(e sandbox.Entry) bool { return e.Path == "/token" }

// TestRefreshInTime wants tokens that live for an hour to be renewed after four
// fifths of it, and not before.
func TestRefreshInTime(t *testing.T) {
	withSyncFixture(t, func(t *testing.T, s *syncFixture) {
		for _, tt := range []struct {
			after time.Duration
			want  int
		}{{0, 0}, {47*time.Minute + 59*time.Second, 0}, {time.Second, 2}, {10 * time.Minute, 2}, {37*time.Minute + 59*time.Second, 2}, {time.Second, 4}} {
			s.Clock.Advance(tt.after)
			if r := s.sync(recent); r.Status != connection.RunSucceeded {
				t.Fatalf("got %s want succeeded: %+v", r.Status, r.Error)
			}
			// Google Ads and GA4 have tokens of their own.
			if got := s.calls(isToken); got != tt.want {
				t.Errorf("at %s: got %d renewals want %d", s.Clock.Now().Format(time.TimeOnly), got, tt.want)
			}
		}
	}, "google_ads")
}

// TestExpired makes a platform report that a valid token has expired. The token
// is renewed once, and the run continues.
func TestExpired(t *testing.T) {
	withSyncFixture(t, func(t *testing.T, s *syncFixture) {
		one := 1
		s.addFault(sandbox.FaultRule{Platform: sandbox.GoogleAds, Fault: sandbox.FaultExpiredToken, Path: "googleAds", Count: &one})
		before := s.stored().Private.SealVersion
		r := s.sync(recent)
		want(t, "run", []any{connection.RunSucceeded, before + 1}, []any{r.Status, s.stored().Private.SealVersion})
		s.addFault(sandbox.FaultRule{Platform: sandbox.GoogleAds, Fault: sandbox.FaultExpiredToken, Path: "googleAds"})
		r = s.sync(recent)
		want(t, "a token that never works", []any{connection.RunFailed, "auth", connection.StatusReauthRequired}, []any{r.Status, r.Error.Class, s.connection().Status})
	}, "google_ads")
}

// TestEmptyToken has a platform answer without tokens. Those that are there
// stay.
func TestEmptyToken(t *testing.T) {
	withSyncFixture(t, func(t *testing.T, s *syncFixture) {
		before := s.sealed()
		s.faults.refresh = func(string) (*connection.Credentials, error) { return &connection.Credentials{}, nil }
		s.Clock.Advance(50 * time.Minute)
		r := s.sync(recent)
		want(t, "run", connection.RunSucceeded, r.Status)
		want(t, "credentials", before, s.sealed())
		s.Clock.Advance(20 * time.Minute)
		r = s.sync(recent)
		want(t, "run with an old token", []any{connection.RunFailed, "transient", connection.StatusConnected}, []any{r.Status, r.Error.Class, s.connection().Status})
		want(t, "credentials", before, s.sealed())

		// Without another refresh token the one that is there stays.
		at := clock.At(s.Clock.Now())
		end := at.Add(time.Hour)
		s.faults.refresh = func(string) (*connection.Credentials, error) {
			return &connection.Credentials{Access: secret.New("new-access"), IssuedAt: at, ExpiresAt: &end}, nil
		}
		s.sync(recent)
		_, token, _ := strings.Cut(before, `"refresh":"`)
		token, _, _ = strings.Cut(token, `"`)
		if after := s.sealed(); token == "" || !strings.Contains(after, token) || !strings.Contains(after, "new-access") {
			t.Errorf("got credentials %s want the new token beside the old refresh token %s", after, token)
		}
	}, "google_ads")
}

// TestRevoked makes a platform revoke access. A person must grant it again. The
// stored data stays and is marked as stale.
func TestRevoked(t *testing.T) {
	withSyncFixture(t, func(t *testing.T, s *syncFixture) {
		s.sync(recent)
		before, _ := s.spendBy("platform")
		s.ask(`{"mode":"full"}`)
		s.addFault(sandbox.FaultRule{Platform: sandbox.MetaAds, Fault: sandbox.FaultRevokedToken})
		s.Clock.Advance(time.Hour)
		s.Sync(s.id)
		c := s.connection()
		want(t, "connection", []any{connection.StatusReauthRequired, "idle", (*clock.Instant)(nil), "auth"}, []any{c.Status, c.Sync.State, c.Sync.NextRunAt, c.Sync.LastError.Class})
		if c.StatusReason == nil || c.StatusReason.Remediation == nil || c.ReauthURL == nil {
			t.Errorf("got reason %+v and page %v want both", c.StatusReason, c.ReauthURL)
		}
		if !slices.Contains(s.events(s.id), "connection.reauth_required") {
			t.Errorf("got events %v want connection.reauth_required", s.events(s.id))
		}
		after, warnings := s.spendBy("platform")
		if diff := cmp.Diff(before, after); diff != "" || !slices.Contains(warnings, "stale_connections") {
			t.Errorf("got warnings %v, want stale_connections and the figures as they were:\n%s", warnings, diff)
		}
		if at, err := s.work(t.Context()); at != nil || err != nil {
			t.Errorf("got %v, %v want nothing to be done", at, err)
		}

		s.registry.Server().ServeHTTP(discard{}, clearFaults(t))
		s.reconnect(nil).OK()
		s.Sync(s.id)
		c = s.connection()
		want(t, "after reconnecting", []any{connection.StatusConnected, (*connection.Reason)(nil), (*string)(nil)}, []any{c.Status, c.StatusReason, c.ReauthURL})
		if _, warnings := s.spendBy("platform"); slices.Contains(warnings, "stale_connections") {
			t.Errorf("got warnings %v want no stale_connections", warnings)
		}
	}, "meta_ads")
}

// TestDisconnect checks that a disconnect deletes the credentials immediately
// and revokes access at the platforms. Metrics stay until a user erases them.
func TestDisconnect(t *testing.T) {
	withSyncFixture(t, func(t *testing.T, s *syncFixture) {
		s.sync(recent)
		waiting := s.ask(`{}`)
		tokens := map[string]string{}
		for _, part := range strings.Split(s.sealed(), `_ads":{"access":"`)[1:] {
			tokens[part[:strings.IndexByte(part, '"')]] = part
		}
		if len(tokens) != 5 {
			t.Fatalf("got %d tokens want 5", len(tokens))
		}
		first := s.disconnect(false).OK()
		want(t, "status", any("disconnected"), first.Record()["status"])
		if diff := cmp.Diff(connection.Private{}, s.stored().Private); diff != "" {
			t.Errorf("something private is left:\n%s", diff)
		}
		s.connections.Wait()
		for _, platform := range []string{"google_ads", "meta_ads", "linkedin_ads", "tiktok_ads"} {
			client, _ := s.faults.PlatformRegistry.Client(platform, true)
			for token := range tokens {
				if _, err := client.Accounts(t.Context(), connection.Credentials{Access: secret.New(token), App: connection.OAuthClient{ID: "sandbox", Secret: secret.New("sandbox")}}); err == nil {
					t.Errorf("%s: a token works that should have been given back", platform)
				}
			}
		}
		want(t, "a run that waited", connection.RunCanceled, s.run(waiting).Status)
		sums, _ := s.spendBy("platform")
		want(t, "figures", map[string]string{"meta_ads": s.truth("meta_ads", today-2)}, sums)
		again := s.disconnect(false).OK()
		want(t, "again", string(first.JSON), string(again.JSON))
		s.disconnect(true).OK()
		sums, _ = s.spendBy("platform")
		want(t, "figures after the purge", map[string]string{}, sums)
		if at, err := s.work(t.Context()); at != nil || err != nil {
			t.Errorf("got %v, %v want nothing to be done", at, err)
		}
	}, "meta_ads")
}
