package sandbox

import (
	"errors"
	"io"
	"net/http"
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
	w     http.ResponseWriter
	r     *http.Request
	token string
	query map[string]any
	// account is that of the path, or the first one of the token.
	account *Account
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

// serve answers an API call; nil is an answer without a body.
func (c *linkedInCall) serve() (any, *linkedInError) {
	method, raw, refused := c.methodAndQuery()
	if refused != nil {
		return nil, refused
	}
	if refused := c.checkHeaders(); refused != nil {
		return nil, refused
	}
	c.token = strings.TrimPrefix(c.r.Header.Get("Authorization"), "Bearer ")
	account, err := c.Open(c.token)
	switch {
	case errors.Is(err, ErrExpiredToken):
		return nil, &linkedInError{Status: http.StatusUnauthorized, Service: 65602, Code: "EXPIRED_ACCESS_TOKEN", Message: "The token used in the request has expired"}
	case errors.Is(err, ErrRevokedToken):
		return nil, &linkedInError{Status: http.StatusUnauthorized, Service: 65601, Code: "REVOKED_ACCESS_TOKEN", Message: "The token used in the request has been revoked by the user"}
	case err != nil:
		return nil, &linkedInError{Status: http.StatusUnauthorized, Service: 65600, Code: "INVALID_ACCESS_TOKEN", Message: "Invalid access token"}
	}
	c.account = account
	if c.Behaves(account, linkedInScopesChanged) {
		return nil, &linkedInError{Status: http.StatusForbidden, Service: 100, Code: "ACCESS_DENIED", Message: "Not enough permissions to access: " + c.resource()}
	}
	if refused := c.checkQuota(); refused != nil {
		return nil, refused
	}
	query, err := parseRestli(raw)
	if err != nil {
		return nil, &linkedInError{Status: http.StatusBadRequest, Code: "ILLEGAL_ARGUMENT", Message: "Invalid query parameters passed to request: " + err.Error()}
	}
	c.query = query
	if refused := c.checkParameters(); refused != nil {
		return nil, refused
	}
	answer, refused := c.route(method)
	return c.project(answer), refused
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
		return "", "", &linkedInError{Status: http.StatusRequestURITooLong, Code: "URI_TOO_LONG", Message: "The request URI is too long."}
	}
	return c.r.Method, c.r.URL.RawQuery, nil
}

// checkHeaders rejects calls without the required headers.
func (c *linkedInCall) checkHeaders() *linkedInError {
	version := c.r.Header.Get("Linkedin-Version")
	switch {
	case version == "":
		return &linkedInError{Status: http.StatusBadRequest, Code: "VERSION_MISSING", Message: "A version must be present. Please specify a version by adding the LinkedIn-Version header."}
	case !linkedInVersionLives(version, c.Now()) || c.Fault(FaultVersionSunset) || c.Behaves(nil, linkedInVersion426):
		return &linkedInError{Status: http.StatusUpgradeRequired, Code: "NONEXISTENT_VERSION", Message: "Requested version " + version + " is not active"}
	case c.r.Header.Get("X-Restli-Protocol-Version") != "2.0.0":
		return linkedInInvalid("X-Restli-Protocol-Version must be 2.0.0.")
	}
	return nil
}

// linkedInNewest is a version that exists on every day of the sandbox's clock,
// which can be set to a day before its release.
const linkedInNewest = "202610"

// linkedInVersionLives reports whether a version is accepted. One ends on the
// 15th of its month in the next year, or on the Monday after it.
func linkedInVersionLives(version string, now time.Time) bool {
	month, err := time.Parse("200601", version)
	if err != nil || version > max(linkedInNewest, now.UTC().Format("200601")) || version < "202206" {
		return false
	}
	end := month.AddDate(1, 0, 14)
	for end.Weekday() == time.Saturday || end.Weekday() == time.Sunday {
		end = end.AddDate(0, 0, 1)
	}
	return now.Before(end)
}

// route finds the operation of a call.
func (c *linkedInCall) route(method string) (any, *linkedInError) {
	parts := strings.Split(strings.TrimPrefix(c.r.URL.Path, "/rest/"), "/")
	finder, _ := c.query["q"].(string)
	get := method == http.MethodGet
	switch {
	case parts[0] == "adAccounts" && len(parts) == 1 && get && finder == "search":
		return c.accounts()
	case parts[0] == "adAccountUsers" && len(parts) == 1 && get && finder == "authenticatedUser":
		return c.accountUsers()
	}
	if c.Fault(FaultAccountDisabled) {
		return nil, linkedInDenied()
	}
	if passing := linkedInPassingError(c.Behavior(c.account, linkedInPassing)); passing != nil {
		return nil, passing
	}
	if parts[0] == "adAccounts" {
		if len(parts) < 2 || !c.openAccount(parts[1]) {
			return nil, linkedInDenied()
		}
	}
	switch {
	case parts[0] == "adAnalytics" && get && (finder == "analytics" || finder == "statistics"):
		return c.analytics()
	case parts[0] == "adSegments" && get && finder == "accounts":
		return c.segments()
	case len(parts) == 2 && parts[0] == "adAccounts" && get:
		return c.accountNode(c.account), nil
	case len(parts) == 3 && parts[2] == "adCampaigns" && get && finder == "search":
		return c.campaigns()
	case len(parts) == 3 && parts[2] == "adCampaigns" && get && finder == "" && c.query["ids"] != nil:
		return c.campaignsByID()
	case len(parts) == 3 && parts[2] == "adCampaignGroups" && get && finder == "search":
		return c.campaignGroups()
	case len(parts) == 4 && parts[2] == "adCampaignGroups" && get && parts[3] == c.account.ID:
		return c.campaignGroupNode(), nil
	case len(parts) == 3 && parts[2] == "creatives" && get && finder == "criteria":
		return c.creatives()
	case len(parts) == 4 && parts[2] == "adCampaigns":
		return c.campaign(parts[3], get)
	}
	return nil, linkedInNotFound("resource")
}

// openAccount makes an account that of the call. It returns false if the member
// may not read it.
func (c *linkedInCall) openAccount(id string) bool {
	a, err := c.AccountByID(c.token, id)
	if err != nil || a == nil || c.Behaves(a, linkedInNoAccess) {
		return false
	}
	c.account = a
	return true
}
