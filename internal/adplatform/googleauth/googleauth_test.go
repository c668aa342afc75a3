package googleauth_test

import (
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"fanfare/internal/adplatform/googleauth"
	"fanfare/internal/adplatform/sandbox"
	"fanfare/internal/adplatform/transport"
	"fanfare/internal/clock"
	"fanfare/internal/connection"
	"fanfare/internal/fact"
	"fanfare/internal/secret"
)

var (
	now   = time.Date(2026, 10, 20, 12, 0, 0, 0, time.UTC)
	app   = connection.OAuthClient{ID: "app.example", Secret: secret.New("app-secret")}
	grant = connection.Grant{Redirect: "https://fanfare.example/back?x=1", State: "st&te", Verifier: "a-verifier-of-some-length-that-is-long-enough"}
)

const scope = "https://www.googleapis.com/auth/adwords"

func openSandbox(t *testing.T) (*sandbox.Server, *googleauth.Grantor) {
	t.Helper()
	server, err := sandbox.New(sandbox.Options{Seed: 1, Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	return server, googleauth.New(transport.Options{Base: "http://sandbox/google", Do: server, Now: server.Now}, scope)
}

// grantConsent grants access as a person would and returns the code.
func grantConsent(t *testing.T, server *sandbox.Server, g *googleauth.Grantor) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, g.AuthorizeURL(app, grant), http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := server.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	back, err := url.Parse(resp.Header.Get("Location"))
	if err != nil || resp.StatusCode != http.StatusFound {
		t.Fatalf("got %d, %v want a way back", resp.StatusCode, err)
	}
	if q := back.Query(); back.Host != "fanfare.example" || q.Get("x") != "1" || q.Get("state") != grant.State {
		t.Errorf("got back to %s want %s with the state", back, grant.Redirect)
	}
	return back.Query().Get("code")
}

func TestGrantLifecycle(t *testing.T) {
	t.Parallel()
	server, g := openSandbox(t)
	code := grantConsent(t, server, g)
	first, err := g.Exchange(t.Context(), app, grant, code)
	if err != nil {
		t.Fatal(err)
	}
	if first.Access.Empty() || first.Refresh.Empty() || *first.ExpiresAt != clock.At(now.Add(time.Hour)) || first.IssuedAt != clock.At(now) || first.RefreshExpiresAt != nil {
		t.Errorf("got %+v want both tokens and an hour", first)
	}
	if len(first.Scopes) != 1 || first.Scopes[0] != scope {
		t.Errorf("got scopes %v want %s", first.Scopes, scope)
	}
	if _, err := g.Exchange(t.Context(), app, grant, code); connection.ClassOf(err) != connection.Revoked {
		t.Errorf("the code again: got %v want %s", err, connection.Revoked)
	}
	second, err := g.Refresh(t.Context(), app, first)
	if err != nil {
		t.Fatal(err)
	}
	if second.Access.Reveal() == first.Access.Reveal() || second.Refresh.Reveal() != first.Refresh.Reveal() {
		t.Error("a refresh must give another access token and leave the refresh token as it is")
	}
	for range 2 {
		if err := g.Revoke(t.Context(), app, second); err != nil {
			t.Errorf("revoke: got %v", err)
		}
	}
	_, err = g.Refresh(t.Context(), app, second)
	e, ok := errors.AsType[*connection.Error](err)
	if !ok || e.Class != connection.Revoked || e.Code != "invalid_grant" {
		t.Errorf("refresh after revocation: got %v want %s, invalid_grant", err, connection.Revoked)
	}
	for _, hidden := range []string{second.Refresh.Reveal(), app.Secret.Reveal()} {
		if strings.Contains(fmt.Sprintf("%+v", err), hidden) {
			t.Errorf("got %v, which shows a secret", err)
		}
	}
	if _, err := g.Refresh(t.Context(), app, connection.Credentials{}); connection.ClassOf(err) != connection.Revoked {
		t.Errorf("refresh with nothing: got %v want %s", err, connection.Revoked)
	}
	if err := g.Revoke(t.Context(), app, connection.Credentials{Access: secret.New("made-up")}); err != nil {
		t.Errorf("revoke what is none: got %v", err)
	}
}

// TestRotatedRefreshToken checks that a new refresh token replaces the old one.
func TestRotatedRefreshToken(t *testing.T) {
	t.Parallel()
	server, g := openSandbox(t)
	first, err := g.Exchange(t.Context(), app, grant, grantConsent(t, server, g))
	if err != nil {
		t.Fatal(err)
	}
	if err := server.AddFault(sandbox.FaultRule{Fault: sandbox.FaultRotatedToken}); err != nil {
		t.Fatal(err)
	}
	second, err := g.Refresh(t.Context(), app, first)
	if err != nil || second.Refresh.Reveal() == first.Refresh.Reveal() {
		t.Errorf("got the same refresh token, or %v", err)
	}
	if _, err := g.Refresh(t.Context(), app, first); connection.ClassOf(err) != connection.Revoked {
		t.Errorf("the old one: got %v want %s", err, connection.Revoked)
	}
}

// TestPlatformsShareTokens checks that both platforms accept each other's
// tokens, which one host issues.
func TestPlatformsShareTokens(t *testing.T) {
	t.Parallel()
	server, g := openSandbox(t)
	granted, err := server.Grant(server.Own())
	if err != nil {
		t.Fatal(err)
	}
	for _, platform := range []string{sandbox.GoogleAds, sandbox.GA4} {
		if _, err := g.Refresh(t.Context(), app, connection.Credentials{Refresh: secret.New(*granted[platform].RefreshToken)}); err != nil {
			t.Errorf("%s: got %v", platform, err)
		}
	}
}

func TestAuthorizeURLOfGoogleItself(t *testing.T) {
	t.Parallel()
	u, err := url.Parse(googleauth.New(transport.Options{}, scope).AuthorizeURL(app, grant))
	if err != nil {
		t.Fatal(err)
	}
	if got := u.Scheme + "://" + u.Host + u.Path; got != "https://accounts.google.com/o/oauth2/v2/auth" {
		t.Errorf("got %s", got)
	}
	// The challenge of RFC 7636, appendix B.
	known := grant
	known.Verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
	u, err = url.Parse(googleauth.New(transport.Options{}, scope).AuthorizeURL(app, known))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := u.Query().Get("code_challenge"), "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"; got != want {
		t.Errorf("got challenge %s want %s", got, want)
	}
}

func TestMillionths(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{
		"0": 0, "-0": 0, "1": 1_000_000, "12.5": 12_500_000, "12.333333333333334": 12_333_333, "0.0000005": 1, "0.00000049": 0, "-1.5": -1_500_000,
		"1e-05": 10, "1.5E-6": 2, "1e-40": 0, "2.5e3": 2_500_000_000, "1E+2": 100_000_000, "00012.50": 12_500_000, "1000000000": fact.MaxValue,
	} {
		if got, ok := googleauth.Millionths(text); !ok || got != want {
			t.Errorf("%s: got %d, %v want %d", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "-", ".", "1.", ".5", "1e", "e5", "1e5.5", "1e99", "1e-99", "0x10", "1,5", " 1", "NaN", "1000000001", "99999999999999999999", `"1"`, "--1", "+1"} {
		if got, ok := googleauth.Millionths(text); ok {
			t.Errorf("%q: got %d want a refusal", text, got)
		}
	}
}

// TestMillionthsRounding compares with exact arithmetic.
func TestMillionthsRounding(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`-?[0-9]{1,9}(\.[0-9]{1,20})?(e-?[0-9])?`).Draw(t, "text")
		exact, ok := new(big.Rat).SetString(text)
		if !ok {
			t.Fatal(text)
		}
		size := new(big.Rat).Abs(exact.Mul(exact, big.NewRat(fact.MaxValue, 1_000_000_000)))
		whole := new(big.Rat).Add(size, big.NewRat(1, 2))
		want := new(big.Int).Quo(whole.Num(), whole.Denom())
		if exact.Sign() < 0 {
			want.Neg(want)
		}
		got, ok := googleauth.Millionths(text)
		if fits := want.CmpAbs(big.NewInt(fact.MaxValue)) <= 0; ok != fits || ok && want.Cmp(big.NewInt(got)) != 0 {
			t.Errorf("%s: got %d, %v want %s", text, got, ok, want)
		}
	})
}
