package connection_test

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"fanfare/internal/adplatform/sandbox"
	"fanfare/internal/clock"
	"fanfare/internal/connection"
)

// keyFile returns the key file of a new service account.
func (s *syncFixture) keyFile() sandbox.ServiceAccountKey {
	s.t.Helper()
	key, err := s.registry.Server().ServiceAccount(sandboxAccounts)
	s.must(err)
	// Tokens must come from the configured address whatever the file says.
	key.TokenURI = "https://attacker.example/token"
	return key
}

func isAssertion(e sandbox.Entry) bool {
	return e.Path == "/token" && strings.Contains(string(e.Body), "jwt-bearer")
}

// TestServiceAccount connects with the key of a service account: tokens are
// renewed by signing, and a deleted key needs another one.
func TestServiceAccount(t *testing.T) {
	t.Parallel()
	s := newSyncFixture(t)
	for _, platform := range []string{"ga4", "google_ads"} {
		before := s.calls(isAssertion)
		key := s.keyFile()
		made := s.connect(map[string]any{"platform": platform, "name": "Service", "credentials": map[string]any{"service_account": key}}).OK()
		s.id = made.ID()
		s.cancel(s.runs()[0].ID).OK()
		c := s.connection()
		want(t, platform, []any{connection.StatusConnected, 1, (*clock.Instant)(nil), []string{}}, []any{c.Status, len(c.Accounts), c.CredentialsExpireAt, c.ScopesMissing})
		want(t, "first sync", connection.RunSucceeded, s.sync(recent).Status)
		want(t, "assertions of "+platform, 1, s.calls(isAssertion)-before)
		s.Clock.Advance(50 * time.Minute)
		want(t, "sync after 50 minutes", connection.RunSucceeded, s.sync(recent).Status)
		want(t, "assertions of "+platform, 2, s.calls(isAssertion)-before)

		if !s.registry.Server().DeleteServiceAccountKey(key.PrivateKeyID) {
			t.Fatal("the sandbox does not know the key")
		}
		s.Clock.Advance(50 * time.Minute)
		r := s.sync(recent)
		c = s.connection()
		want(t, "deleted key", []any{connection.RunFailed, "auth", "invalid_grant", connection.StatusReauthRequired}, []any{r.Status, r.Error.Class, r.Error.Code, c.Status})
		if c.StatusReason == nil || c.StatusReason.Remediation == nil || !strings.Contains(c.StatusReason.Message, "key of the service account") {
			t.Errorf("got reason %+v want one about the key, with a remedy", c.StatusReason)
		}

		again := s.keyFile()
		s.reconnect(map[string]any{"credentials": map[string]any{"service_account": again}}).OK()
		want(t, "with another key", connection.RunSucceeded, s.sync(recent).Status)
		sealed := s.sealed()
		for _, k := range []sandbox.ServiceAccountKey{key, again} {
			secretLine := strings.Split(k.PrivateKey, "\n")[3]
			if strings.Contains(string(made.JSON)+s.log.String()+fmt.Sprint(s.stored()), secretLine) {
				t.Error("the private key is answered, logged or stored in the clear")
			}
			want(t, "sealed", k.PrivateKeyID == again.PrivateKeyID, strings.Contains(sealed, secretLine))
		}
		want(t, "disconnected", []any{"access_kept", 0}, []any{s.leave(place{s.Workspace, s.id}), s.revocations()})
	}
	for _, p := range s.connections.Platforms() {
		google := p.Platform == "ga4" || p.Platform == "google_ads"
		want(t, "credential fields of "+p.Platform, google, slices.Contains(p.CredentialFields, "service_account"))
	}
}

// TestServiceAccountRefused sends key files that are not to work. All problems
// are named at once.
func TestServiceAccountRefused(t *testing.T) {
	t.Parallel()
	s := newSyncFixture(t)
	good := s.keyFile()
	short, err := rsa.GenerateKey(rand.Reader, 1024)
	s.must(err)
	encoded, err := x509.MarshalPKCS8PrivateKey(short)
	s.must(err)
	weak := string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: encoded}))
	file := map[string]any{"type": "service_account", "client_email": good.ClientEmail, "private_key": good.PrivateKey, "private_key_id": good.PrivateKeyID, "universe_domain": "googleapis.com"}
	with := func(name string, value any) map[string]any {
		changed := maps.Clone(file)
		if changed[name] = value; value == nil {
			delete(changed, name)
		}
		return changed
	}
	const at = "credentials.service_account"
	for name, tt := range map[string]struct {
		platform    string
		credentials map[string]any
		want        []string
	}{
		"no key":           {"ga4", map[string]any{"service_account": with("private_key", nil)}, []string{at + ".private_key required"}},
		"a short key":      {"ga4", map[string]any{"service_account": with("private_key", weak)}, []string{at + ".private_key invalid_value"}},
		"no PEM":           {"ga4", map[string]any{"service_account": with("private_key", "hush-hush")}, []string{at + ".private_key invalid_value"}},
		"a file of a user": {"ga4", map[string]any{"service_account": map[string]any{"type": "authorized_user", "client_email": "nobody"}}, []string{at + ".type invalid_value", at + ".client_email invalid_value", at + ".private_key required"}},
		"with tokens":      {"ga4", map[string]any{"service_account": file, "access_token": "a", "client_id": "b"}, []string{"credentials.access_token incompatible_fields", "credentials.client_id incompatible_fields"}},
		"another platform": {"meta_ads", map[string]any{"service_account": file, "refresh_token": "a"}, []string{at + " incompatible_fields", "credentials.refresh_token incompatible_fields"}},
		"a sandbox":        {"sandbox", map[string]any{"service_account": file}, []string{"credentials incompatible_fields"}},
		"a text":           {"ga4", map[string]any{"service_account": "{}"}, []string{at + " invalid_type"}},
		"a key of nobody":  {"google_ads", map[string]any{"service_account": with("private_key_id", "none")}, []string{"credentials invalid_value"}},
		"another account":  {"google_ads", map[string]any{"service_account": with("client_email", "other@sandbox.iam.gserviceaccount.com")}, []string{"credentials invalid_value"}},
	} {
		res := s.connect(map[string]any{"platform": tt.platform, "name": name, "credentials": tt.credentials})
		var got []string
		for _, d := range res.Fault("validation_failed").Details {
			got = append(got, d.Field+" "+d.Code)
		}
		want(t, name, tt.want, got)
		for _, hidden := range []string{strings.Split(good.PrivateKey, "\n")[3], strings.Split(weak, "\n")[3], "hush-hush"} {
			if strings.Contains(fmt.Sprint(res.Err, res.Fault("validation_failed").Details)+s.log.String(), hidden) {
				t.Errorf("%s: a key is answered or logged", name)
			}
		}
	}
	if n := s.calls(func(e sandbox.Entry) bool { return strings.Contains(e.Host, "attacker") }); n != 0 {
		t.Errorf("got %d calls to the address of a key file", n)
	}
}
