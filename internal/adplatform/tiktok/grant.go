package tiktok

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"fanfare/internal/adplatform/transport"
	"fanfare/internal/clock"
	"fanfare/internal/connection"
	"fanfare/internal/secret"
)

// AuthorizeURL implements connection.Grantor. TikTok has no PKCE, so the state
// and the app's secret protect the code.
func (c *Client) AuthorizeURL(a connection.OAuthClient, g connection.Grant) string {
	return c.base + "/portal/auth?" + url.Values{"app_id": {a.ID}, "state": {g.State}, "redirect_uri": {g.Redirect}}.Encode()
}

// Exchange implements connection.Grantor.
func (c *Client) Exchange(ctx context.Context, a connection.OAuthClient, _ connection.Grant, code string) (connection.Credentials, error) {
	type token struct {
		Access string  `json:"access_token"`
		Scope  []int64 `json:"scope"`
	}
	got, err := callAPI[token](ctx, c, "", transport.Call{
		Method: http.MethodPost, Path: "/oauth2/access_token/",
		JSON: map[string]string{"app_id": a.ID, "secret": a.Secret.Reveal(), "auth_code": code},
	})
	if err != nil {
		return connection.Credentials{}, redact(err, a.Secret.Reveal(), code)
	}
	cr := connection.Credentials{Access: secret.New(got.Access), IssuedAt: clock.At(c.now()), App: a}
	for _, scope := range got.Scope {
		cr.Scopes = append(cr.Scopes, strconv.FormatInt(scope, 10))
	}
	// A revocation ends one token. Two connections have the same one if TikTok
	// answers a second consent with the token of the first.
	sum := sha256.Sum256([]byte(got.Access))
	cr.Grant = "tiktok/" + hex.EncodeToString(sum[:])
	return cr, nil
}

// Refresh implements connection.Grantor. TikTok's tokens end only by
// revocation, so it returns them unchanged.
func (c *Client) Refresh(_ context.Context, _ connection.OAuthClient, cr connection.Credentials) (connection.Credentials, error) {
	return cr, nil
}

// Revoke implements connection.Grantor.
func (c *Client) Revoke(ctx context.Context, a connection.OAuthClient, cr connection.Credentials) error {
	_, err := callAPI[struct{}](ctx, c, "", transport.Call{
		Method: http.MethodPost, Path: "/oauth2/revoke_token/",
		JSON: map[string]string{"app_id": a.ID, "secret": a.Secret.Reveal(), "access_token": cr.Access.Reveal()},
	})
	if err == nil || connection.ClassOf(err) == connection.Revoked {
		return nil
	}
	return redact(err, a.Secret.Reveal(), cr.Access.Reveal())
}

// redact removes secrets of a request body from an error, which the transport
// does not do.
func redact(err error, secrets ...string) error {
	e, ok := errors.AsType[*connection.Error](err)
	if !ok {
		return err
	}
	for _, s := range secrets {
		if s != "" {
			e.Message = strings.ReplaceAll(e.Message, s, "[sealed]")
		}
	}
	return e
}
