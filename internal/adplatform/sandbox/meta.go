package sandbox

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// meta simulates Meta Ads: the part of the Graph API that the Marketing API
// uses, and the consent dialog.
type meta struct{}

// Platform implements Dialect.
func (meta) Platform() string { return MetaAds }

// Hosts implements Dialect.
func (meta) Hosts() []string { return []string{"graph.facebook.com", "www.facebook.com"} }

// Prefix implements Dialect.
func (meta) Prefix() string { return "/meta" }

// metaOldestVersion is the oldest supported major version.
//
// Choice: it is the version of Meta's own SDK, although Meta has retired it for
// ads: testing the simulation with the SDK is worth more than the refusal.
const metaOldestVersion = 24

// metaCall is one call with the parameters of its query and body.
type metaCall struct {
	*Call
	w      http.ResponseWriter
	r      *http.Request
	params url.Values
}

// metaError is the error of an answer.
type metaError struct {
	Status  int    `json:"-"`
	Message string `json:"message"`
	Type    string `json:"type"`
	Code    int    `json:"code"`
	Subcode int    `json:"error_subcode,omitzero"`
	Trace   string `json:"fbtrace_id"`
}

func metaInvalid(format string, args ...any) *metaError {
	return &metaError{Code: 100, Message: "(#100) " + fmt.Sprintf(format, args...)}
}

var (
	metaTooLarge = &metaError{Status: http.StatusInternalServerError, Code: 1, Subcode: 99, Message: "Please reduce the amount of data you're asking for, then retry your request"}
	metaSunset   = &metaError{Code: 2635, Message: "(#2635) You are calling a deprecated version of the Ads API. Please update to the latest version."}
	metaDisabled = &metaError{Status: http.StatusForbidden, Code: 200, Message: "(#200) The ad account is disabled."}
	metaUnknown  = &metaError{Code: 100, Subcode: 33, Message: "Unsupported request. Object does not exist, cannot be loaded due to missing permissions, or does not support this operation."}
)

// metaTokenError returns the error of a token.
func metaTokenError(err error) *metaError {
	switch {
	case errors.Is(err, ErrExpiredToken):
		return &metaError{Code: 190, Subcode: 463, Message: "Error validating access token: Session has expired."}
	case errors.Is(err, ErrRevokedToken):
		return &metaError{Code: 190, Subcode: 458, Message: "Error validating access token: The user has not authorized application."}
	}
	return &metaError{Code: 190, Message: "Invalid OAuth access token - Cannot parse access token"}
}

// Serve implements Dialect.
func (meta) Serve(s *Call, w http.ResponseWriter, r *http.Request) {
	c := metaCall{s, w, r, nil}
	params, err := metaParams(r)
	if err != nil {
		c.writeError(metaInvalid("%v", err))
		return
	}
	c.params = params
	version, path, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	major, _, _ := strings.Cut(strings.TrimPrefix(version, "v"), ".")
	if n, err := strconv.Atoi(major); err != nil || n < metaOldestVersion || s.Fault(FaultVersionSunset) {
		c.writeError(metaSunset)
		return
	}
	switch path {
	case "dialog/oauth":
		c.serveConsent()
	case "oauth/access_token":
		c.serveToken()
	default:
		c.serveAuthorized(path)
	}
}

// metaParams returns the parameters of a call: the query, and a form or a JSON
// object in the body. JSON values that are not strings stay JSON. The body of a
// GET, which Meta's own SDK sends, is ignored.
func metaParams(r *http.Request) (url.Values, error) {
	params := r.URL.Query()
	if r.Method == http.MethodGet {
		return params, nil
	}
	body, err := io.ReadAll(r.Body)
	if err != nil || len(body) == 0 {
		return params, err
	}
	if !strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") {
		form, err := url.ParseQuery(string(body))
		maps.Copy(params, form)
		return params, err
	}
	members := map[string]jsontext.Value{}
	if err := json.Unmarshal(body, &members); err != nil {
		return nil, errors.New("the body is not a JSON object")
	}
	for name, value := range members {
		text := string(value)
		if value.Kind() == '"' {
			if err := json.Unmarshal(value, &text); err != nil {
				return nil, err
			}
		}
		params.Set(name, text)
	}
	return params, nil
}

// serveConsent grants consent at once.
func (c metaCall) serveConsent() {
	back, err := url.Parse(c.params.Get("redirect_uri"))
	if err != nil || !back.IsAbs() || c.params.Get("client_id") == "" {
		c.writeError(metaInvalid("client_id and an absolute redirect_uri are required"))
		return
	}
	query := back.Query()
	query.Set("code", c.Code())
	query.Set("state", c.params.Get("state"))
	back.RawQuery = query.Encode()
	http.Redirect(c.w, c.r, back.String(), http.StatusFound)
}

// serveToken exchanges a code or a valid token for a token that lasts 60 days.
func (c metaCall) serveToken() {
	if c.params.Get("client_id") == "" || c.params.Get("client_secret") == "" {
		c.writeError(&metaError{Code: 101, Message: "Missing client_id or client_secret parameter."})
		return
	}
	var got Tokens
	var err error
	switch {
	case c.params.Get("grant_type") == "fb_exchange_token":
		if got, err = c.Refresh(c.params.Get("fb_exchange_token")); err != nil {
			c.writeError(metaTokenError(err))
			return
		}
	case c.params.Get("redirect_uri") == "":
		c.writeError(&metaError{Code: 191, Message: "Missing redirect_uri parameter."})
		return
	default:
		if got, err = c.Exchange(c.params.Get("code")); err != nil {
			c.writeError(&metaError{Code: 100, Subcode: 36009, Message: "This authorization code has been used."})
			return
		}
	}
	answer := map[string]any{"access_token": got.Access, "token_type": "bearer"}
	if got.AccessLifetime > 0 {
		answer["expires_in"] = int64(got.AccessLifetime.Seconds())
	}
	c.writeAnswer(answer)
}

// serveAuthorized answers calls that need a token.
func (c metaCall) serveAuthorized(path string) {
	access := cmp.Or(c.params.Get("access_token"), strings.TrimPrefix(c.r.Header.Get("Authorization"), "Bearer "))
	a, err := c.Open(access)
	if err != nil {
		c.writeError(metaTokenError(err))
		return
	}
	c.writeUsage(a)
	id, edge, _ := strings.Cut(path, "/")
	switch {
	case id == "me":
		c.serveMe(a, edge, access)
	case c.Fault(FaultAccountDisabled):
		c.writeError(metaDisabled)
	case id == "act_"+a.ID:
		c.serveAccount(a, edge)
	default:
		c.serveObject(a, id, edge)
	}
}

func (c metaCall) serveMe(a *Account, edge, access string) {
	switch c.r.Method + " " + edge {
	case "GET adaccounts":
		c.writeList(1, func(int) any { return c.selectFields(c.accountNode(a)) })
	case "GET permissions":
		granted := []string{"ads_read", "ads_management", "business_management"}
		c.writeList(len(granted), func(i int) any { return map[string]any{"permission": granted[i], "status": "granted"} })
	case "DELETE permissions":
		c.Revoke(access)
		c.writeAnswer(map[string]any{"success": true})
	default:
		c.writeError(metaUnknown)
	}
}

func (c metaCall) serveAccount(a *Account, edge string) {
	switch c.r.Method + " " + edge {
	case "GET ":
		c.writeAnswer(c.selectFields(c.accountNode(a)))
	case "GET campaigns":
		c.writeList(len(a.Campaigns), func(i int) any { return c.selectFields(c.campaignNode(a, a.Campaigns[i])) })
	case "GET adsets":
		groups := allGroups(a)
		c.writeList(len(groups), func(i int) any { return c.selectFields(c.groupNode(a, groups[i])) })
	case "GET ads":
		ads := allAds(a)
		c.writeList(len(ads), func(i int) any { return c.selectFields(c.adNode(a, ads[i])) })
	case "GET customaudiences":
		c.writeList(len(a.Audiences), func(i int) any { return c.selectFields(audienceNode(a.Audiences[i])) })
	case "GET insights":
		c.insights(a, c.params, false)
	case "POST insights":
		c.startReport(a)
	default:
		c.writeError(metaUnknown)
	}
}

// serveObject answers for objects by id: campaigns and background reports.
func (c metaCall) serveObject(a *Account, id, edge string) {
	if run, ok := decodeReportID(id); ok && c.r.Method == http.MethodGet {
		c.serveReport(a, id, edge, run)
		return
	}
	i := slices.IndexFunc(a.Campaigns, func(campaign *Campaign) bool { return campaign.ID == id })
	if i < 0 || edge != "" {
		c.writeError(metaUnknown)
		return
	}
	switch c.r.Method {
	case http.MethodGet:
		c.writeAnswer(c.selectFields(c.campaignNode(a, a.Campaigns[i])))
	case http.MethodPost:
		status := c.params.Get("status")
		if status != "ACTIVE" && status != "PAUSED" {
			c.writeError(metaInvalid("Param status must be one of {ACTIVE, PAUSED}"))
			return
		}
		c.SetRuns(a, a.Campaigns[i], status == "ACTIVE")
		c.writeAnswer(map[string]any{"success": true})
	default:
		c.writeError(metaUnknown)
	}
}

func (c metaCall) writeAnswer(v any) {
	c.w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	// A client that has disconnected gets no answer.
	_ = json.MarshalWrite(c.w, v, json.Deterministic(true))
}

func (c metaCall) writeError(e *metaError) {
	shown := *e
	shown.Type, shown.Trace = "OAuthException", "A"+strconv.FormatInt(c.Now().UnixNano(), 36)
	c.w.Header().Set("X-Fb-Trace-Id", shown.Trace)
	writeMetaError(c.w, shown)
}

func writeMetaError(w http.ResponseWriter, e metaError) {
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	w.WriteHeader(cmp.Or(e.Status, http.StatusBadRequest))
	_ = json.MarshalWrite(w, map[string]metaError{"error": e}, json.Deterministic(true))
}

// writeUsage sets the usage header of an account.
func (c metaCall) writeUsage(a *Account) {
	c.w.Header().Set("X-Business-Use-Case-Usage", metaUsage(a.ID, 1, 0))
	c.w.Header().Set("X-Fb-Ads-Insights-Throttle", `{"app_id_util_pct":0.1,"acc_id_util_pct":0.5,"ads_api_access_tier":"standard_access"}`)
}

func metaUsage(account string, percent, minutes int) string {
	return fmt.Sprintf(`{%q:[{"type":"ads_insights","call_count":%d,"total_cputime":%d,"total_time":%d,"estimated_time_to_regain_access":%d}]}`,
		account, percent, percent, percent, minutes)
}

// Throttle implements PlatformAPI. Meta reports the wait in minutes.
func (meta) Throttle(w http.ResponseWriter, _ *http.Request, seconds int) {
	w.Header().Set("X-Business-Use-Case-Usage", metaUsage("0", 100, (seconds+59)/60))
	writeMetaError(w, metaError{
		Code: 80000, Subcode: 2446079, Type: "OAuthException", Trace: "A0",
		Message: "(#80000) There have been too many calls from this ad-account. Wait a bit and try again.",
	})
}
