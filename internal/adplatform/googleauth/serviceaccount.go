package googleauth

import (
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/url"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"fanfare/internal/connection"
)

const (
	assertionGrant = "urn:ietf:params:oauth:grant-type:jwt-bearer"
	// assertionTime is the longest time that Google allows an assertion.
	assertionTime = time.Hour
)

// requestByKey gets an access token with the key of a service account. It asks
// the token endpoint of this grantor: the address in a key file is a caller's.
func (g *Grantor) requestByKey(ctx context.Context, c connection.Credentials) (connection.Credentials, error) {
	assertion, err := g.sign(c.ServiceAccount)
	if err != nil {
		return c, err
	}
	fresh, err := g.requestTokens(ctx, connection.OAuthClient{}, c, url.Values{"grant_type": {assertionGrant}, "assertion": {assertion}})
	if e, ok := errors.AsType[*connection.Error](err); ok && slices.Contains(endedGrantCodes, e.Code) {
		e.Message = "Google does not accept the key of the service account any more: " + e.Message
		e.Remedy = "Create a new key for the service account, or another service account, and send its key file as credentials.service_account with POST /v1/connections/{id}/reconnect."
	}
	if err != nil {
		return c, err
	}
	// An answer without a scope is for the scope that was asked for.
	fresh.Scopes = []string{g.scope}
	return fresh, nil
}

// sign returns the assertion of a service account: a JWT that its key has
// signed.
func (g *Grantor) sign(a *connection.ServiceAccount) (string, error) {
	key, err := a.Key()
	if err != nil {
		return "", &connection.Error{Class: connection.Revoked, Code: "invalid_key", Message: "The key of the service account cannot be read.", Cause: err}
	}
	type head struct {
		Algorithm string `json:"alg"`
		Type      string `json:"typ"`
		Key       string `json:"kid,omitzero"`
	}
	type claims struct {
		Issuer   string `json:"iss"`
		Scope    string `json:"scope"`
		Audience string `json:"aud"`
		Issued   int64  `json:"iat"`
		Expires  int64  `json:"exp"`
	}
	now := g.now()
	text, err := encodeParts(head{"RS256", "JWT", a.KeyID}, claims{a.Email, g.scope, g.audience, now.Unix(), now.Add(assertionTime).Unix()})
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(text))
	signature, err := rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, sum[:])
	if err != nil {
		return "", &connection.Error{Class: connection.Revoked, Code: "invalid_key", Message: "The key of the service account cannot sign.", Cause: err}
	}
	return text + "." + base64.RawURLEncoding.EncodeToString(signature), nil
}

// encodeParts returns the parts of a JWT that are signed.
func encodeParts(head, claims any) (string, error) {
	a, err := json.Marshal(head)
	if err != nil {
		return "", err
	}
	b, err := json.Marshal(claims)
	return base64.RawURLEncoding.EncodeToString(a) + "." + base64.RawURLEncoding.EncodeToString(b), err
}
