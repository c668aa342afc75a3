package linkedin_test

import (
	"cmp"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"fanfare/internal/clock"
	"fanfare/internal/connection"
	"fanfare/internal/secret"
)

func TestGrant(t *testing.T) {
	t.Parallel()
	w := newSandbox(t, 1)
	grant := connection.Grant{Redirect: "https://fanfare.test/back?x=1", State: "a state", Write: true}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.client.AuthorizeURL(w.access.App, grant), http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	if scope := req.URL.Query().Get("scope"); scope != "r_ads r_ads_reporting rw_ads" {
		t.Errorf("got scope %s", scope)
	}
	resp, err := w.server.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	back, err := resp.Location()
	if err != nil || back.Query().Get("state") != grant.State || back.Query().Get("x") != "1" {
		t.Fatalf("got %v (%v) want back to %s", back, err, grant.Redirect)
	}
	code := cmp.Or(back.Query().Get("code"), "none")
	got, err := w.client.Exchange(t.Context(), w.access.App, grant, code)
	if err != nil || got.ExpiresAt == nil || *got.ExpiresAt != clock.At(now.AddDate(0, 0, 60)) || got.RefreshExpiresAt == nil || len(got.Scopes) != 3 {
		t.Fatalf("got %+v (%v) want access for 60 days", got, err)
	}
	if _, err := w.client.Exchange(t.Context(), w.access.App, grant, code); connection.ClassOf(err) != connection.Revoked {
		t.Errorf("the code again: got %v want it refused", err)
	}
	again, err := w.client.Refresh(t.Context(), w.access.App, got)
	if err != nil || again.Access.Reveal() == got.Access.Reveal() || again.Refresh.Empty() || again.RefreshExpiresAt == nil {
		t.Fatalf("got %v (%v) want other tokens", again, err)
	}
	if accounts, err := w.client.Accounts(t.Context(), again); err != nil || len(accounts) != 1 {
		t.Errorf("got %v (%v) want one account", accounts, err)
	}
	for range 2 {
		if err := w.client.Revoke(t.Context(), w.access.App, again); err != nil {
			t.Errorf("got %v want access given back", err)
		}
	}
	if _, err := w.client.Accounts(t.Context(), again); connection.ClassOf(err) != connection.Revoked {
		t.Errorf("got %v want revoked", err)
	}
	if _, err := w.client.Refresh(t.Context(), w.access.App, again); connection.ClassOf(err) != connection.Revoked {
		t.Errorf("got %v want revoked", err)
	}
	again.Refresh = secret.Text{}
	if _, err := w.client.Refresh(t.Context(), w.access.App, again); connection.ClassOf(err) != connection.Revoked {
		t.Errorf("without a refresh token: got %v want revoked", err)
	}
}

// TestErrorsOmitSecrets has a server that repeats every request in its answer.
func TestErrorsOmitSecrets(t *testing.T) {
	t.Parallel()
	c := clientOf(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprintf(w, `{"message":%q}`, fmt.Sprint(r.URL, r.Header, string(body), err))
	})
	cr := connection.Credentials{Access: secret.New("tok-5ecret"), Refresh: secret.New("ref-5ecret"), App: connection.OAuthClient{ID: "app", Secret: secret.New("app-5ecret")}}
	_, accounts := c.Accounts(t.Context(), cr)
	_, exchange := c.Exchange(t.Context(), cr.App, connection.Grant{}, "code-5ecret")
	_, refresh := c.Refresh(t.Context(), cr.App, cr)
	for name, err := range map[string]error{
		"accounts": accounts, "exchange": exchange, "refresh": refresh, "revoke": c.Revoke(t.Context(), cr.App, cr), "status": c.SetStatus(t.Context(), cr, "1", "2", true),
	} {
		if err == nil || strings.Contains(fmt.Sprintf("%v %+v", err, err), "5ecret") {
			t.Errorf("%s: got %v, want an error without secrets", name, err)
		}
	}
}
