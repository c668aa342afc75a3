package sandbox

import (
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
)

// linkedIn simulates LinkedIn's Marketing API, which uses Rest.li, and its
// OAuth host. A campaign of LinkedIn is what other platforms call an ad group.
type linkedIn struct{}

// Platform implements Dialect.
func (linkedIn) Platform() string { return LinkedInAds }

// Hosts implements Dialect.
func (linkedIn) Hosts() []string { return []string{"api.linkedin.com", "www.linkedin.com"} }

// Prefix implements Dialect.
func (linkedIn) Prefix() string { return "/linkedin" }

// linkedInMaxQuery is the longest query. A longer one can be sent as the body
// of a POST with the method override GET, up to linkedInMaxTunnel.
const (
	linkedInMaxQuery  = 4 << 10
	linkedInMaxTunnel = 64 << 10
)

// linkedInCall is one call.
type linkedInCall struct {
	*Call
	w       http.ResponseWriter
	r       *http.Request
	query   map[string]any
	account *Account
}

// linkedInError is the error of an answer.
type linkedInError struct {
	Status  int    `json:"status"`
	Service int    `json:"serviceErrorCode,omitzero"`
	Code    string `json:"code"`
	Message string `json:"message"`
}

func linkedInInvalid(message string) *linkedInError {
	return &linkedInError{http.StatusBadRequest, 100, "ILLEGAL_ARGUMENT", message}
}

func linkedInNotFound(what string) *linkedInError {
	return &linkedInError{http.StatusNotFound, 0, "RESOURCE_NOT_FOUND", "There is no such " + what + "."}
}

// Serve implements Dialect.
func (linkedIn) Serve(s *Call, w http.ResponseWriter, r *http.Request) {
	c := &linkedInCall{Call: s, w: w, r: r}
	w.Header().Set("X-Li-Uuid", "SANDBOX"+strconv.FormatInt(s.Now().UnixMilli(), 36))
	if login, ok := strings.CutPrefix(r.URL.Path, "/oauth/v2/"); ok {
		c.serveOAuth(login)
		return
	}
	answer, refused := c.serve()
	switch {
	case refused != nil:
		writeLinkedIn(w, refused.Status, refused)
	case answer == nil:
		w.WriteHeader(http.StatusNoContent)
	default:
		writeLinkedIn(w, http.StatusOK, answer)
	}
}

func writeLinkedIn(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	// A client that has disconnected gets no answer.
	_ = json.MarshalWrite(w, value, json.Deterministic(true))
}

// Throttle implements PlatformAPI. A short wait is for too many calls, a long
// one for too much data; only the message distinguishes them.
func (linkedIn) Throttle(w http.ResponseWriter, _ *http.Request, seconds int) {
	message := "Resource level throttle limit for calls to this resource is reached."
	if seconds > 1 {
		message = "The data request limit of 45 million metric values was reached."
	}
	writeLinkedIn(w, http.StatusTooManyRequests, &linkedInError{http.StatusTooManyRequests, 101, "TOO_MANY_REQUESTS", message})
}

// serve answers an API call; nil is an answer without a body.
func (c *linkedInCall) serve() (any, *linkedInError) {
	method, raw, refused := c.methodAndQuery()
	if refused != nil {
		return nil, refused
	}
	if refused := c.checkHeaders(); refused != nil {
		return nil, refused
	}
	account, err := c.Open(strings.TrimPrefix(c.r.Header.Get("Authorization"), "Bearer "))
	switch {
	case errors.Is(err, ErrExpiredToken):
		return nil, &linkedInError{http.StatusUnauthorized, 65602, "EXPIRED_ACCESS_TOKEN", "The token used in the request has expired"}
	case errors.Is(err, ErrRevokedToken):
		return nil, &linkedInError{http.StatusUnauthorized, 65601, "REVOKED_ACCESS_TOKEN", "The token used in the request has been revoked by the user"}
	case err != nil:
		return nil, &linkedInError{http.StatusUnauthorized, 65600, "INVALID_ACCESS_TOKEN", "Invalid access token"}
	}
	c.account = account
	query, err := parseRestli(raw)
	if err != nil {
		return nil, &linkedInError{http.StatusBadRequest, 0, "ILLEGAL_ARGUMENT", "Invalid query parameters passed to request: " + err.Error()}
	}
	c.query = query
	return c.route(method)
}

// methodAndQuery returns the method and the query of a call, also if they are
// in the body.
func (c *linkedInCall) methodAndQuery() (method, query string, refused *linkedInError) {
	if c.r.Method == http.MethodPost && strings.EqualFold(c.r.Header.Get("X-Http-Method-Override"), http.MethodGet) {
		body, err := io.ReadAll(http.MaxBytesReader(c.w, c.r.Body, linkedInMaxTunnel))
		if err != nil {
			return "", "", linkedInInvalid("The body is too long, or cannot be read.")
		}
		return http.MethodGet, string(body), nil
	}
	if len(c.r.URL.RawQuery) > linkedInMaxQuery || c.Fault(FaultTooLarge) {
		return "", "", &linkedInError{http.StatusRequestURITooLong, 0, "URI_TOO_LONG", "The request URI is too long."}
	}
	return c.r.Method, c.r.URL.RawQuery, nil
}

// checkHeaders rejects calls without the required headers.
func (c *linkedInCall) checkHeaders() *linkedInError {
	version := c.r.Header.Get("Linkedin-Version")
	switch _, err := time.Parse("200601", version); {
	case version == "":
		return &linkedInError{http.StatusBadRequest, 0, "VERSION_MISSING", "A version must be present. Please specify a version by adding the LinkedIn-Version header."}
	case err != nil || c.Fault(FaultVersionSunset):
		return &linkedInError{http.StatusUpgradeRequired, 0, "NONEXISTENT_VERSION", "Requested version " + version + " is not active"}
	case c.r.Header.Get("X-Restli-Protocol-Version") != "2.0.0":
		return linkedInInvalid("X-Restli-Protocol-Version must be 2.0.0.")
	}
	return nil
}

// route finds the operation of a call.
func (c *linkedInCall) route(method string) (any, *linkedInError) {
	parts := strings.Split(strings.TrimPrefix(c.r.URL.Path, "/rest/"), "/")
	finder, _ := c.query["q"].(string)
	get := method == http.MethodGet
	if parts[0] == "adAccounts" && len(parts) == 1 && get && finder == "search" {
		return c.accounts()
	}
	if c.Fault(FaultAccountDisabled) || parts[0] == "adAccounts" && (len(parts) < 2 || parts[1] != c.account.ID) {
		return nil, &linkedInError{http.StatusForbidden, 100, "ACCESS_DENIED", "Not enough permissions to access this account."}
	}
	switch {
	case parts[0] == "adAnalytics" && get && (finder == "analytics" || finder == "statistics"):
		return c.analytics()
	case parts[0] == "adSegments" && get && finder == "accounts":
		return c.segments()
	case len(parts) == 3 && parts[2] == "adCampaigns" && get && finder == "search":
		return c.campaigns()
	case len(parts) == 3 && parts[2] == "creatives" && get && finder == "criteria":
		return c.creatives()
	case len(parts) == 4 && parts[2] == "adCampaigns":
		return c.campaign(parts[3], get)
	}
	return nil, linkedInNotFound("resource")
}

// serveOAuth answers calls to the OAuth host.
func (c *linkedInCall) serveOAuth(path string) {
	if path == "authorization" && c.r.Method == http.MethodGet {
		c.grantConsent(c.r.URL.Query())
		return
	}
	if err := c.r.ParseForm(); err != nil || c.r.Method != http.MethodPost || path != "accessToken" && path != "revoke" {
		writeLinkedIn(c.w, http.StatusNotFound, linkedInNotFound("resource"))
		return
	}
	form := c.r.Form
	if form.Get("client_id") == "" || form.Get("client_secret") == "" {
		writeLinkedIn(c.w, http.StatusUnauthorized, map[string]any{"error": "invalid_client", "error_description": "Client authentication failed"})
		return
	}
	if path == "revoke" {
		c.Revoke(form.Get("token"))
		writeLinkedIn(c.w, http.StatusOK, struct{}{})
		return
	}
	c.issueToken(form)
}

// grantConsent grants consent at once.
func (c *linkedInCall) grantConsent(query url.Values) {
	to, err := url.Parse(query.Get("redirect_uri"))
	if err != nil || to.Host == "" || query.Get("client_id") == "" || query.Get("scope") == "" || query.Get("response_type") != "code" {
		http.Error(c.w, "response_type, client_id, redirect_uri or scope is missing", http.StatusBadRequest)
		return
	}
	back := to.Query()
	back.Set("code", c.Code())
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
	writeLinkedIn(c.w, http.StatusOK, map[string]any{
		"access_token": tokens.Access, "expires_in": int64(tokens.AccessLifetime / time.Second),
		"refresh_token": tokens.Refresh, "refresh_token_expires_in": int64(tokens.RefreshLifetime / time.Second),
		"scope": "r_ads,r_ads_reporting,rw_ads",
	})
}
