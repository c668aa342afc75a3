package meta

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
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

// AuthorizeURL implements connection.Grantor. With a configuration of Facebook
// Login for Business, the permissions, the assets and the kind of token are
// those of the configuration, and the address has no scope.
func (c *Client) AuthorizeURL(a connection.OAuthClient, g connection.Grant) string {
	query := url.Values{"client_id": {a.ID}, "redirect_uri": {g.Redirect}, "state": {g.State}, "response_type": {"code"}}
	if a.Configuration != "" {
		query.Set("config_id", a.Configuration)
	} else {
		about := c.About()
		scopes := about.Scopes
		if g.Write {
			scopes = slices.Concat(scopes, about.WriteScopes)
		}
		query.Set("scope", strings.Join(scopes, ","))
	}
	if g.Verifier != "" {
		sum := sha256.Sum256([]byte(g.Verifier))
		query.Set("code_challenge", base64.RawURLEncoding.EncodeToString(sum[:]))
		query.Set("code_challenge_method", "S256")
	}
	return c.dialog + "/" + Version + "/dialog/oauth?" + query.Encode()
}

// Exchange implements connection.Grantor. The first token of a person lasts an
// hour or two, so it is exchanged for one that lasts about 60 days. That of a
// system user does not expire and cannot be exchanged.
func (c *Client) Exchange(ctx context.Context, a connection.OAuthClient, g connection.Grant, code string) (connection.Credentials, error) {
	form := url.Values{"redirect_uri": {g.Redirect}, "code": {code}}
	if g.Verifier != "" {
		form.Set("code_verifier", g.Verifier)
	}
	short, err := c.requestToken(ctx, a, form)
	if err != nil {
		return connection.Credentials{}, err
	}
	long := short
	if short.ExpiresAt != nil {
		if long, err = c.Refresh(ctx, a, short); err != nil {
			return connection.Credentials{}, err
		}
	}
	long.Scopes, err = c.grantedScopes(ctx, long)
	// A system user has its permissions from the configuration. Meta does not
	// document that it lists them, so they are unknown if it does not.
	if class := connection.ClassOf(err); err != nil && (long.ExpiresAt != nil || class != connection.Refused && class != connection.Forbidden && class != connection.Gone) {
		return long, err
	}
	long.Grant, err = c.grantName(ctx, a, long)
	return long, err
}

// grantName names what a revocation ends: everything that a person or a system
// user has granted to the app.
func (c *Client) grantName(ctx context.Context, a connection.OAuthClient, cred connection.Credentials) (string, error) {
	var me struct {
		ID string `json:"id"`
	}
	if err := c.call(ctx, cred, transport.Call{Method: http.MethodGet, Path: "/me", Query: url.Values{"fields": {"id"}}}, &me); err != nil || me.ID == "" {
		return "", err
	}
	return "meta/" + a.ID + "/" + me.ID, nil
}

// grantedScopes returns the scopes that the person has granted.
func (c *Client) grantedScopes(ctx context.Context, cred connection.Credentials) ([]string, error) {
	var p page[struct {
		Permission string `json:"permission"`
		Status     string `json:"status"`
	}]
	if err := c.call(ctx, cred, transport.Call{Method: http.MethodGet, Path: "/me/permissions"}, &p); err != nil {
		return nil, err
	}
	var scopes []string
	for _, d := range p.Data {
		if d.Status == "granted" {
			scopes = append(scopes, d.Permission)
		}
	}
	return scopes, nil
}

// Refresh implements connection.Grantor. Meta has no refresh tokens: a valid
// token is exchanged for a new one. An expired token cannot be exchanged and
// needs a new consent.
func (c *Client) Refresh(ctx context.Context, a connection.OAuthClient, cred connection.Credentials) (connection.Credentials, error) {
	fresh, err := c.requestToken(ctx, a, url.Values{"grant_type": {"fb_exchange_token"}, "fb_exchange_token": {cred.Access.Reveal()}})
	if err != nil {
		return cred, requireNewConsent(err)
	}
	cred.Access, cred.IssuedAt, cred.ExpiresAt, cred.App = fresh.Access, fresh.IssuedAt, fresh.ExpiresAt, a
	return cred, nil
}

// requestToken requests a token. The parameters are in the body, because URLs are
// written to logs.
func (c *Client) requestToken(ctx context.Context, a connection.OAuthClient, form url.Values) (connection.Credentials, error) {
	form.Set("client_id", a.ID)
	form.Set("client_secret", a.Secret.Reveal())
	var got struct {
		Access  string `json:"access_token"`
		Seconds int64  `json:"expires_in"`
	}
	if _, err := c.t.Do(ctx, transport.Call{Method: http.MethodPost, Path: "/" + Version + "/oauth/access_token", Form: form}, &got); err != nil {
		return connection.Credentials{}, err
	}
	if got.Access == "" {
		return connection.Credentials{}, malformedError("it has no token")
	}
	cred := connection.Credentials{Access: secret.New(got.Access), IssuedAt: clock.At(c.now()), App: a}
	if got.Seconds > 0 {
		end := cred.IssuedAt.Add(time.Duration(got.Seconds) * time.Second)
		cred.ExpiresAt = &end
	}
	return cred, nil
}

// Revoke implements connection.Grantor. It takes all permissions of the app
// back, with all tokens of the same person.
func (c *Client) Revoke(ctx context.Context, _ connection.OAuthClient, cred connection.Credentials) error {
	err := c.change(ctx, cred, transport.Call{Method: http.MethodDelete, Path: "/me/permissions"})
	if err == nil {
		return nil
	}
	// Access that has already ended needs no revocation.
	if class := connection.ClassOf(err); class == connection.Revoked || class == connection.Expired {
		return nil
	}
	return err
}
