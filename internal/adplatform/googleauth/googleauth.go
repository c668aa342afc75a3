// Package googleauth has what Google's APIs share: OAuth, error formats and
// number formats. The clients of Google Ads and GA4 use it.
package googleauth

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"fanfare/internal/adplatform/transport"
	"fanfare/internal/clock"
	"fanfare/internal/connection"
	"fanfare/internal/secret"
)

// Addresses of Google's OAuth endpoints.
const (
	consentHost = "https://accounts.google.com"
	tokenHost   = "https://oauth2.googleapis.com"
)

// Grantor obtains access. It implements connection.Grantor.
type Grantor struct {
	consent string
	scope   string
	// audience is the address of the token endpoint, as assertions name it.
	audience string
	now      func() time.Time
	tokens   *transport.Transport
}

// New returns the grantor for a scope. With a base URL, Google's hosts are
// below it. Google has the same scope for reading and changing.
func New(o transport.Options, scope string) *Grantor {
	g := &Grantor{consent: consentHost, scope: scope, now: o.Now}
	if o.Base != "" {
		g.consent = o.Base
	} else {
		o.Base = tokenHost
	}
	g.audience = o.Base + "/token"
	o.Name += "/token"
	o.ReadError = readTokenError
	g.tokens = transport.New(o)
	return g
}

// AuthorizeURL implements connection.Grantor.
func (g *Grantor) AuthorizeURL(a connection.OAuthClient, grant connection.Grant) string {
	challenge := sha256.Sum256([]byte(grant.Verifier))
	return g.consent + "/o/oauth2/v2/auth?" + url.Values{
		"response_type": {"code"},
		"client_id":     {a.ID},
		"redirect_uri":  {grant.Redirect},
		"scope":         {"openid " + g.scope},
		"state":         {grant.State},
		// Both parameters make Google return a refresh token at every consent
		// and not only at the first.
		"access_type":           {"offline"},
		"prompt":                {"consent"},
		"code_challenge":        {base64.RawURLEncoding.EncodeToString(challenge[:])},
		"code_challenge_method": {"S256"},
	}.Encode()
}

// tokenAnswer is the answer of the token endpoint.
type tokenAnswer struct {
	AccessToken  string `json:"access_token"`
	ExpiresIn    int64  `json:"expires_in"`
	RefreshToken string `json:"refresh_token"`
	// RefreshTokenExpiresIn is set for temporary access, which includes all
	// access of apps in testing.
	RefreshTokenExpiresIn int64  `json:"refresh_token_expires_in"`
	Scope                 string `json:"scope"`
	// IDToken says who has granted access.
	IDToken string `json:"id_token"`
}

// grantName names what a revocation ends: everything that a person has granted
// to the apps of a Cloud project. It is empty if the person is not known.
//
// Choice: the part of a client's id before the hyphen is its project's number.
// Google documents that a revocation ends the grant of a person to an app, and
// shows people one app for a project; the wider reading ends nobody's access by
// mistake. The ID token came from the token endpoint over TLS, so its signature
// need not be checked.
func grantName(client, idToken string) string {
	parts := strings.Split(idToken, ".")
	if len(parts) != 3 {
		return ""
	}
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	var claims struct {
		Subject string `json:"sub"`
	}
	if err != nil || json.Unmarshal(payload, &claims) != nil || claims.Subject == "" {
		return ""
	}
	project, _, _ := strings.Cut(client, "-")
	return "google/" + project + "/" + claims.Subject
}

// Exchange implements connection.Grantor.
func (g *Grantor) Exchange(ctx context.Context, a connection.OAuthClient, grant connection.Grant, code string) (connection.Credentials, error) {
	return g.requestTokens(ctx, a, connection.Credentials{}, url.Values{
		"grant_type":    {"authorization_code"},
		"client_id":     {a.ID},
		"client_secret": {a.Secret.Reveal()},
		"redirect_uri":  {grant.Redirect},
		"code":          {code},
		"code_verifier": {grant.Verifier},
	})
}

// Refresh implements connection.Grantor.
func (g *Grantor) Refresh(ctx context.Context, a connection.OAuthClient, c connection.Credentials) (connection.Credentials, error) {
	if c.ServiceAccount != nil {
		return g.requestByKey(ctx, c)
	}
	if c.Refresh.Empty() {
		return c, &connection.Error{Class: connection.Revoked, Code: "no_refresh_token", Message: "There is no refresh token.", Remedy: reconnect}
	}
	return g.requestTokens(ctx, a, c, url.Values{
		"grant_type":    {"refresh_token"},
		"client_id":     {a.ID},
		"client_secret": {a.Secret.Reveal()},
		"refresh_token": {c.Refresh.Reveal()},
	})
}

func (g *Grantor) requestTokens(ctx context.Context, a connection.OAuthClient, c connection.Credentials, form url.Values) (connection.Credentials, error) {
	var out tokenAnswer
	if _, err := g.tokens.Do(ctx, transport.Call{Method: http.MethodPost, Path: "/token", Form: form}, &out); err != nil {
		return connection.Credentials{}, err
	}
	if out.AccessToken == "" {
		return connection.Credentials{}, &connection.Error{Class: connection.Transient, Code: "no_token", Message: "Google answered without an access token."}
	}
	now := g.now()
	after := func(seconds int64) *clock.Instant {
		at := clock.At(now.Add(time.Duration(seconds) * time.Second))
		return &at
	}
	c.Access, c.IssuedAt, c.ExpiresAt = secret.New(out.AccessToken), clock.At(now), after(out.ExpiresIn)
	if out.RefreshToken != "" {
		c.Refresh, c.RefreshExpiresAt = secret.New(out.RefreshToken), nil
	}
	if out.RefreshTokenExpiresIn > 0 {
		c.RefreshExpiresAt = after(out.RefreshTokenExpiresIn)
	}
	if out.Scope != "" {
		// openid opens no data; it is only asked for to learn the person's id.
		c.Scopes = slices.DeleteFunc(strings.Fields(out.Scope), func(scope string) bool { return scope == "openid" })
	}
	if form.Get("grant_type") == "authorization_code" {
		c.Grant = grantName(a.ID, out.IDToken)
	}
	return c, nil
}

// Revoke implements connection.Grantor. Google revokes all tokens of a grant
// with any of them.
func (g *Grantor) Revoke(ctx context.Context, _ connection.OAuthClient, c connection.Credentials) error {
	token := c.Refresh
	if token.Empty() {
		token = c.Access
	}
	_, err := g.tokens.Do(ctx, transport.Call{Method: http.MethodPost, Path: "/revoke", Form: url.Values{"token": {token.Reveal()}}}, nil)
	if e, ok := errors.AsType[*connection.Error](err); ok && slices.Contains(endedGrantCodes, e.Code) {
		return nil
	}
	return err
}

// Bearer returns the Authorization header.
func Bearer(c connection.Credentials) http.Header {
	return http.Header{"Authorization": {"Bearer " + c.Access.Reveal()}}
}
