package sandbox

import (
	"errors"
	"net/http"
	"net/url"
	"time"
)

// linkedInScopes are the permissions of all consents.
const linkedInScopes = "r_ads,r_ads_reporting,rw_ads"

// serveOAuth answers calls to the OAuth host.
func (c *linkedInCall) serveOAuth(path string) {
	if path == "authorization" && c.r.Method == http.MethodGet {
		c.grantConsent(c.r.URL.Query())
		return
	}
	if err := c.r.ParseForm(); err != nil || c.r.Method != http.MethodPost || path != "accessToken" && path != "revoke" && path != "introspectToken" {
		writeLinkedIn(c.w, http.StatusNotFound, linkedInNotFound("resource"))
		return
	}
	form := c.r.Form
	if form.Get("client_id") == "" || form.Get("client_secret") == "" {
		writeLinkedIn(c.w, http.StatusUnauthorized, map[string]any{"error": "invalid_client", "error_description": "Client authentication failed"})
		return
	}
	switch path {
	case "revoke":
		c.Revoke(form.Get("token"))
		writeLinkedIn(c.w, http.StatusOK, struct{}{})
	case "introspectToken":
		writeLinkedIn(c.w, http.StatusOK, c.introspect(form))
	default:
		c.issueToken(form)
	}
}

// grantConsent grants consent at once.
func (c *linkedInCall) grantConsent(query url.Values) {
	to, err := url.Parse(query.Get("redirect_uri"))
	if err != nil || to.Host == "" || query.Get("client_id") == "" || query.Get("scope") == "" || query.Get("response_type") != "code" {
		http.Error(c.w, "response_type, client_id, redirect_uri or scope is missing", http.StatusBadRequest)
		return
	}
	back := to.Query()
	back.Set("code", c.Code(newConsent(query, query.Get("client_id"), query.Get("scope"))))
	back.Set("state", query.Get("state"))
	to.RawQuery = back.Encode()
	http.Redirect(c.w, c.r, to.String(), http.StatusFound)
}

func (c *linkedInCall) issueToken(form url.Values) {
	var tokens Tokens
	err := ErrUnknownToken
	switch form.Get("grant_type") {
	case "authorization_code":
		tokens, err = c.Exchange(form.Get("code"))
	case "refresh_token":
		tokens, err = c.Refresh(form.Get("refresh_token"))
	}
	if err != nil {
		writeLinkedIn(c.w, http.StatusBadRequest, map[string]any{
			"error": "invalid_grant", "error_description": "The provided authorization grant or refresh token is invalid, expired or revoked.",
		})
		return
	}
	answer := map[string]any{
		"access_token": tokens.Access, "expires_in": int64(tokens.AccessLifetime / time.Second), "scope": linkedInScopes,
	}
	if !c.Behaves(nil, linkedInNoRefreshToken) {
		answer["refresh_token"], answer["refresh_token_expires_in"] = tokens.Refresh, int64(tokens.RefreshLifetime/time.Second)
	}
	writeLinkedIn(c.w, http.StatusOK, answer)
}

// introspect describes a token. Of a token that is not its own, LinkedIn says only
// that it is not active.
func (c *linkedInCall) introspect(form url.Values) map[string]any {
	token, ok := readToken(form.Get("token"))
	if !ok || token.Issuer != LinkedInAds {
		return map[string]any{"active": false}
	}
	status := "active"
	switch _, err := c.server.readValidToken(form.Get("token"), token.Kind, LinkedInAds, c.Now()); {
	case errors.Is(err, ErrExpiredToken):
		status = "expired"
	case err != nil:
		status = "revoked"
	}
	created := token.Expires - int64(tokenLifetimes[LinkedInAds].access/time.Second)
	return map[string]any{
		"active": status == "active", "status": status, "client_id": form.Get("client_id"), "auth_type": "3L", "scope": linkedInScopes,
		"authorized_at": created, "created_at": created, "expires_at": token.Expires,
	}
}
