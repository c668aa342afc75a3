package linkedin

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"fanfare/internal/adplatform/transport"
	"fanfare/internal/clock"
	"fanfare/internal/connection"
	"fanfare/internal/secret"
)

var (
	readScopes  = []string{"r_ads", reportScope}
	writeScopes = []string{"rw_ads"}
)

const reportScope = "r_ads_reporting"

// AuthorizeURL implements connection.Grantor. LinkedIn accepts PKCE only from
// apps without a secret, so the state and the app's secret protect the code.
func (c *Client) AuthorizeURL(a connection.OAuthClient, g connection.Grant) string {
	scopes := readScopes
	if g.Write {
		scopes = slices.Concat(scopes, writeScopes)
	}
	return c.loginBase + "/oauth/v2/authorization?" + url.Values{
		"response_type": {"code"}, "client_id": {a.ID}, "redirect_uri": {g.Redirect}, "state": {g.State}, "scope": {strings.Join(scopes, " ")},
	}.Encode()
}

// Exchange implements connection.Grantor.
func (c *Client) Exchange(ctx context.Context, a connection.OAuthClient, g connection.Grant, code string) (connection.Credentials, error) {
	cr, err := c.requestTokens(ctx, a, connection.Credentials{}, url.Values{"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {g.Redirect}})
	// A revocation ends one token. Two connections have the same one if LinkedIn
	// answers a second consent with the token of the first.
	sum := sha256.Sum256([]byte(cr.Access.Reveal()))
	cr.Grant = "linkedin/" + hex.EncodeToString(sum[:])
	return cr, err
}

// Refresh implements connection.Grantor. Refresh tokens expire a year after the
// consent even if they are used, and LinkedIn must approve an app that gets
// them.
func (c *Client) Refresh(ctx context.Context, a connection.OAuthClient, cr connection.Credentials) (connection.Credentials, error) {
	if cr.Refresh.Empty() {
		return cr, &connection.Error{Class: connection.Revoked, Code: "no_refresh_token", Message: "LinkedIn gave the app no refresh token, because it is not approved for them.", Remedy: "Select Reconnect on the connection every 60 days, before the access ends, or ask LinkedIn to approve the app for refresh tokens."}
	}
	return c.requestTokens(ctx, a, cr, url.Values{"grant_type": {"refresh_token"}, "refresh_token": {cr.Refresh.Reveal()}})
}

// requestTokens requests tokens and returns the credentials with them.
func (c *Client) requestTokens(ctx context.Context, a connection.OAuthClient, cr connection.Credentials, form url.Values) (connection.Credentials, error) {
	var got struct {
		Access         string `json:"access_token"`
		Seconds        int64  `json:"expires_in"`
		Refresh        string `json:"refresh_token"`
		RefreshSeconds int64  `json:"refresh_token_expires_in"`
		Scope          string `json:"scope"`
	}
	form.Set("client_id", a.ID)
	form.Set("client_secret", a.Secret.Reveal())
	if _, err := c.login.Do(ctx, transport.Call{Method: http.MethodPost, Path: "/oauth/v2/accessToken", Form: form}, &got); err != nil {
		return cr, err
	}
	cr.Access, cr.IssuedAt, cr.App = secret.New(got.Access), clock.At(c.now()), a
	cr.ExpiresAt = c.instantAfter(got.Seconds)
	if got.Refresh != "" {
		cr.Refresh = secret.New(got.Refresh)
	}
	if got.RefreshSeconds != 0 {
		cr.RefreshExpiresAt = c.instantAfter(got.RefreshSeconds)
	}
	if got.Scope != "" {
		cr.Scopes = strings.FieldsFunc(got.Scope, func(r rune) bool { return r == ',' || r == ' ' })
	}
	return cr, nil
}

// instantAfter returns the time some seconds from now, nil for 0.
func (c *Client) instantAfter(seconds int64) *clock.Instant {
	if seconds == 0 {
		return nil
	}
	at := clock.At(c.now().Add(time.Duration(seconds) * time.Second))
	return &at
}

// Revoke implements connection.Grantor.
func (c *Client) Revoke(ctx context.Context, a connection.OAuthClient, cr connection.Credentials) error {
	_, err := c.login.Do(ctx, transport.Call{Method: http.MethodPost, Path: "/oauth/v2/revoke", Form: url.Values{
		"client_id": {a.ID}, "client_secret": {a.Secret.Reveal()}, "token": {cr.Access.Reveal()},
	}}, nil)
	if class := connection.ClassOf(err); err != nil && (class == connection.Revoked || class == connection.Expired) {
		return nil
	}
	return err
}
