package googleauth_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"fanfare/internal/adplatform/googleauth"
	"fanfare/internal/adplatform/sandbox"
	"fanfare/internal/adplatform/transport"
	"fanfare/internal/clock"
	"fanfare/internal/connection"
	"fanfare/internal/secret"
)

// addressed records the addresses of calls.
type addressed struct {
	*sandbox.Server
	addresses []string
}

func (a *addressed) Do(r *http.Request) (*http.Response, error) {
	a.addresses = append(a.addresses, r.URL.String())
	return a.Server.Do(r)
}

// TestAssertion gets tokens with the key of a service account, and has wrong
// assertions refused.
func TestAssertion(t *testing.T) {
	t.Parallel()
	server, _ := openSandbox(t)
	key, err := server.ServiceAccount(sandbox.AccountSet{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	cred := connection.Credentials{ServiceAccount: &connection.ServiceAccount{Email: key.ClientEmail, KeyID: key.PrivateKeyID, PrivateKey: secret.New(key.PrivateKey)}}
	calls := &addressed{Server: server}
	grantor := func(base, scope string, clock func() time.Time) *googleauth.Grantor {
		return googleauth.New(transport.Options{Base: base, Do: calls, Now: clock}, scope)
	}
	good := grantor("http://sandbox/google", scope, server.Now)
	got, err := good.Refresh(t.Context(), connection.OAuthClient{}, cred)
	if err != nil || got.Access.Empty() || !got.Refresh.Empty() || *got.ExpiresAt != clock.At(now.Add(time.Hour)) || len(got.Scopes) != 1 || got.ServiceAccount == nil {
		t.Fatalf("got %+v, %v want an access token for an hour", got, err)
	}
	anonymous := *cred.ServiceAccount
	anonymous.KeyID = ""
	if _, err := good.Refresh(t.Context(), app, connection.Credentials{ServiceAccount: &anonymous}); err != nil {
		t.Errorf("a file without the id of the key: %v", err)
	}
	at := func(d time.Duration) func() time.Time { return func() time.Time { return now.Add(d) } }
	for name, tt := range map[string]struct {
		g    *googleauth.Grantor
		code string
	}{
		"another scope":  {grantor("http://sandbox/google", "https://www.googleapis.com/auth/drive", server.Now), "invalid_scope"},
		"a clock behind": {grantor("http://sandbox/google", scope, at(-2*time.Hour)), "invalid_grant"},
		"a clock ahead":  {grantor("http://sandbox/google", scope, at(time.Hour)), "invalid_grant"},
	} {
		_, err := tt.g.Refresh(t.Context(), app, cred)
		if e, ok := errors.AsType[*connection.Error](err); !ok || e.Code != tt.code {
			t.Errorf("%s: got %v want %s", name, err, tt.code)
		}
	}
	server.DeleteServiceAccountKey(key.PrivateKeyID)
	_, err = good.Refresh(t.Context(), app, cred)
	e, ok := errors.AsType[*connection.Error](err)
	if !ok || e.Class != connection.Revoked || e.Code != "invalid_grant" || !strings.Contains(e.Remedy, "reconnect") {
		t.Errorf("a deleted key: got %+v want access that has ended, with a remedy", err)
	}
	for _, address := range calls.addresses {
		if !strings.HasPrefix(address, "http://sandbox/google") || strings.Contains(address, "assertion") {
			t.Errorf("got a call to %s", address)
		}
	}
}
