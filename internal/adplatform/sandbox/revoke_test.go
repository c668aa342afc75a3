package sandbox

import (
	"errors"
	"net/http"
	"path/filepath"
	"testing"
	"time"
)

// TestRevokeGrant checks what a revocation ends: at Google and Meta all tokens
// of the same person and app so far, elsewhere those of one consent. A restart
// remembers it.
func TestRevokeGrant(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "sandbox.json")
	s := newTestServer(t, Options{State: file})
	issue := func(platform, person, client string) string {
		t.Helper()
		tokens, err := newTestCall(s, platform).Exchange(newTestCall(s, platform).Code(Consent{Person: person, Client: client}))
		if err != nil {
			t.Fatal(err)
		}
		return tokens.Access
	}
	type issued struct {
		platform, token string
		ended           bool
	}
	var list []issued
	for platform, whole := range map[string]bool{GoogleAds: true, MetaAds: true, TikTokAds: false, LinkedInAds: false} {
		first := issue(platform, "1", "app")
		list = append(
			list, issued{platform, first, true}, issued{platform, issue(platform, "1", "app"), whole},
			issued{platform, issue(platform, "2", "app"), false}, issued{platform, issue(platform, "1", "other"), false},
		)
		if platform == GoogleAds {
			list = append(list, issued{GA4, issue(GA4, "1", "app"), true})
		}
		newTestCall(s, platform).Revoke(first)
		list = append(list, issued{platform, issue(platform, "1", "app"), false})
	}
	for range 2 {
		for i, a := range list {
			want := error(nil)
			if a.ended {
				want = ErrRevokedToken
			}
			if _, err := newTestCall(s, a.platform).Open(a.token); !errors.Is(err, want) {
				t.Errorf("%s, token %d: got %v want %v", a.platform, i, err, want)
			}
		}
		if err := s.state.flush(); err != nil {
			t.Fatal(err)
		}
		s = newTestServer(t, Options{State: file})
	}
}

// TestRevokeOnOtherNode revokes on one node what a sandbox of another one has
// granted: its own tokens, from before and after, stay valid.
func TestRevokeOnOtherNode(t *testing.T) {
	t.Parallel()
	one, two := newTestServer(t, Options{}), newTestServer(t, Options{})
	advanceClock(two, time.Second)
	grant := func(s *Server) map[string]AccountTokens {
		t.Helper()
		list, err := s.Grant(AccountSet{Seed: 7})
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	valid := func(s *Server, list map[string]AccountTokens, want error) {
		t.Helper()
		for platform, access := range list {
			if _, err := newTestCall(s, platform).Open(access.AccessToken); !errors.Is(err, want) {
				t.Errorf("%s: got %v want %v", platform, err, want)
			}
		}
	}
	early, other := grant(one), grant(two)
	for platform, access := range other {
		newTestCall(one, platform).Revoke(access.AccessToken)
	}
	valid(one, other, ErrRevokedToken)
	valid(one, early, nil)
	for range 3 {
		valid(one, grant(one), nil)
	}
}

// TestServiceAccountKeys creates and deletes the key of a service account.
func TestServiceAccountKeys(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "sandbox.json")
	s := newTestServer(t, Options{State: file})
	var key ServiceAccountKey
	callControl(t, s, 200, http.MethodPost, "service_accounts", `{"seed":5}`, &key)
	callControl(t, s, 400, http.MethodPost, "service_accounts", `{"timezone":"Tokyo"}`, nil)
	s = newTestServer(t, Options{State: file})
	if k, known := s.state.serviceKey(key.PrivateKeyID, ""); !known || k.Email != key.ClientEmail || k.Set.Seed != 5 || k.Set.Currency != "USD" {
		t.Errorf("after a restart: got %+v, %v want the key", k, known)
	}
	if !s.DeleteServiceAccountKey(key.PrivateKeyID) {
		t.Error("the key was not deleted")
	}
	callControl(t, s, 404, http.MethodDelete, "service_accounts/"+key.PrivateKeyID, "", nil)
}
