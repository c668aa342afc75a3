package microsoft

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"
	"time"

	"fanfare/internal/adplatform/transport"
	"fanfare/internal/clock"
	"fanfare/internal/connection"
	"fanfare/internal/secret"
)

// oauthPath is for accounts of work and personal ones alike.
const oauthPath = "/common/oauth2/v2.0/"

// grantScope has what makes Microsoft return a refresh token.
const grantScope = scope + " offline_access"

// AuthorizeURL implements connection.Grantor.
func (c *Client) AuthorizeURL(a connection.OAuthClient, g connection.Grant) string {
	challenge := sha256.Sum256([]byte(g.Verifier))
	return c.consent + oauthPath + "authorize?" + url.Values{
		"client_id": {a.ID}, "response_type": {"code"}, "response_mode": {"query"}, "redirect_uri": {g.Redirect}, "scope": {grantScope}, "state": {g.State},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(challenge[:])}, "code_challenge_method": {"S256"},
		// Without it, a person with several accounts is not asked which one.
		"prompt": {"select_account"},
	}.Encode()
}

// Exchange implements connection.Grantor. The credentials keep the app, because
// every call needs its developer token.
func (c *Client) Exchange(ctx context.Context, a connection.OAuthClient, g connection.Grant, code string) (connection.Credentials, error) {
	cr, err := c.requestTokens(ctx, a, connection.Credentials{}, url.Values{
		"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {g.Redirect}, "code_verifier": {g.Verifier},
	})
	cr.App = a
	return cr, err
}

// Refresh implements connection.Grantor. Microsoft returns a new refresh token
// every time, and the old one can end.
func (c *Client) Refresh(ctx context.Context, a connection.OAuthClient, cr connection.Credentials) (connection.Credentials, error) {
	if cr.Refresh.Empty() {
		return cr, &connection.Error{Class: connection.Revoked, Code: "no_refresh_token", Message: "There is no refresh token: grant access anew."}
	}
	return c.requestTokens(ctx, a, cr, url.Values{"grant_type": {"refresh_token"}, "refresh_token": {cr.Refresh.Reveal()}})
}

func (c *Client) requestTokens(ctx context.Context, a connection.OAuthClient, cr connection.Credentials, form url.Values) (connection.Credentials, error) {
	key, _ := splitSecret(a)
	form.Set("client_id", a.ID)
	form.Set("client_secret", key.Reveal())
	form.Set("scope", grantScope)
	var out struct {
		AccessToken  string `json:"access_token"`
		ExpiresIn    int64  `json:"expires_in"`
		RefreshToken string `json:"refresh_token"`
		Scope        string `json:"scope"`
	}
	if _, err := c.tokens.Do(ctx, transport.Call{Method: http.MethodPost, Path: oauthPath + "token", Form: form}, &out); err != nil {
		return connection.Credentials{}, err
	}
	if out.AccessToken == "" {
		return connection.Credentials{}, &connection.Error{Class: connection.Transient, Code: "no_token", Message: "Microsoft answered without an access token."}
	}
	now := c.now()
	ends := clock.At(now.Add(time.Duration(out.ExpiresIn) * time.Second))
	cr.Access, cr.IssuedAt, cr.ExpiresAt = secret.New(out.AccessToken), clock.At(now), &ends
	if out.RefreshToken != "" {
		cr.Refresh, cr.RefreshExpiresAt = secret.New(out.RefreshToken), nil
	}
	if out.Scope != "" {
		cr.Scopes = strings.Fields(out.Scope)
	}
	return cr, nil
}

// Revoke implements connection.Grantor. Microsoft has no way for an app to give
// access back: the person removes the app on account.microsoft.com or
// myapps.microsoft.com. Forgetting the tokens is all that can be done.
func (c *Client) Revoke(context.Context, connection.OAuthClient, connection.Credentials) error {
	return nil
}
