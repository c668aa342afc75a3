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

// meta plays Meta Ads: the Graph API with what the Marketing API has in it, and
// the dialog in which people grant access.
type meta struct{}

// Platform implements Dialect.
func (meta) Platform() string { return MetaAds }

// Hosts implements Dialect.
func (meta) Hosts() []string { return []string{"graph.facebook.com", "www.facebook.com"} }

// Prefix implements Dialect.
func (meta) Prefix() string { return "/meta" }

// metaOldest is the oldest major version that is answered.
//
// Choice: it is the one that Meta's own SDK speaks, although the real platform
// has retired it for ads: the SDK proves more about this double than the
// refusal would.
const metaOldest = 24

// metaCall is one call with its parameters, wherever they came from.
type metaCall struct {
	*Session
	w      http.ResponseWriter
	r      *http.Request
	params url.Values
}

// metaError is what an answer says instead of data.
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

// metaToken is what is wrong with a token.
func metaToken(err error) *metaError {
	switch {
	case errors.Is(err, ErrExpiredToken):
		return &metaError{Code: 190, Subcode: 463, Message: "Error validating access token: Session has expired."}
	case errors.Is(err, ErrRevokedToken):
		return &metaError{Code: 190, Subcode: 458, Message: "Error validating access token: The user has not authorized application."}
	}
	return &metaError{Code: 190, Message: "Invalid OAuth access token - Cannot parse access token"}
}

// Serve implements Dialect.
func (meta) Serve(s *Session, w http.ResponseWriter, r *http.Request) {
	c := metaCall{s, w, r, nil}
	params, err := metaParams(r)
	if err != nil {
		c.refuse(metaInvalid("%v", err))
		return
	}
	c.params = params
	version, path, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	major, _, _ := strings.Cut(strings.TrimPrefix(version, "v"), ".")
	if n, err := strconv.Atoi(major); err != nil || n < metaOldest || s.Fault(FaultVersionSunset) {
		c.refuse(metaSunset)
		return
	}
	switch path {
	case "dialog/oauth":
		c.dialog()
	case "oauth/access_token":
		c.tokens()
	default:
		c.open(path)
	}
}

// metaParams gathers the parameters of a call: the query, and a form or a JSON
// object in the body. What is no text in JSON is kept as JSON. The body of a
// GET, which Meta's own SDK sends, has no meaning.
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

// dialog is a person who always says yes.
func (c metaCall) dialog() {
	back, err := url.Parse(c.params.Get("redirect_uri"))
	if err != nil || !back.IsAbs() || c.params.Get("client_id") == "" {
		c.refuse(metaInvalid("client_id and an absolute redirect_uri are required"))
		return
	}
	query := back.Query()
	query.Set("code", c.Code())
	query.Set("state", c.params.Get("state"))
	back.RawQuery = query.Encode()
	http.Redirect(c.w, c.r, back.String(), http.StatusFound)
}

// tokens trades a code, or a token that still lives, for one that lives long.
func (c metaCall) tokens() {
	if c.params.Get("client_id") == "" || c.params.Get("client_secret") == "" {
		c.refuse(&metaError{Code: 101, Message: "Missing client_id or client_secret parameter."})
		return
	}
	var got Tokens
	var err error
	switch {
	case c.params.Get("grant_type") == "fb_exchange_token":
		if got, err = c.Refresh(c.params.Get("fb_exchange_token")); err != nil {
			c.refuse(metaToken(err))
			return
		}
	case c.params.Get("redirect_uri") == "":
		c.refuse(&metaError{Code: 191, Message: "Missing redirect_uri parameter."})
		return
	default:
		if got, err = c.Exchange(c.params.Get("code")); err != nil {
			c.refuse(&metaError{Code: 100, Subcode: 36009, Message: "This authorization code has been used."})
			return
		}
	}
	answer := map[string]any{"access_token": got.Access, "token_type": "bearer"}
	if got.Lives > 0 {
		answer["expires_in"] = int64(got.Lives.Seconds())
	}
	c.answer(answer)
}

// open answers what needs a token.
func (c metaCall) open(path string) {
	access := cmp.Or(c.params.Get("access_token"), strings.TrimPrefix(c.r.Header.Get("Authorization"), "Bearer "))
	a, err := c.Open(access)
	if err != nil {
		c.refuse(metaToken(err))
		return
	}
	c.used(a)
	id, edge, _ := strings.Cut(path, "/")
	switch {
	case id == "me":
		c.me(a, edge, access)
	case c.Fault(FaultAccountDisabled):
		c.refuse(metaDisabled)
	case id == "act_"+a.ID:
		c.account(a, edge)
	default:
		c.object(a, id, edge)
	}
}

func (c metaCall) me(a *Account, edge, access string) {
	switch c.r.Method + " " + edge {
	case "GET adaccounts":
		c.list(1, func(int) any { return c.choose(c.accountNode(a)) })
	case "GET permissions":
		granted := []string{"ads_read", "ads_management", "business_management"}
		c.list(len(granted), func(i int) any { return map[string]any{"permission": granted[i], "status": "granted"} })
	case "DELETE permissions":
		c.Revoke(access)
		c.answer(map[string]any{"success": true})
	default:
		c.refuse(metaUnknown)
	}
}

func (c metaCall) account(a *Account, edge string) {
	switch c.r.Method + " " + edge {
	case "GET ":
		c.answer(c.choose(c.accountNode(a)))
	case "GET campaigns":
		c.list(len(a.Campaigns), func(i int) any { return c.choose(c.campaignNode(a, a.Campaigns[i])) })
	case "GET adsets":
		groups := metaGroups(a)
		c.list(len(groups), func(i int) any { return c.choose(c.groupNode(a, groups[i])) })
	case "GET ads":
		ads := metaAds(a)
		c.list(len(ads), func(i int) any { return c.choose(c.adNode(a, ads[i])) })
	case "GET customaudiences":
		c.list(len(a.Audiences), func(i int) any { return c.choose(audienceNode(a.Audiences[i])) })
	case "GET insights":
		c.insights(a, c.params, false)
	case "POST insights":
		c.start(a)
	default:
		c.refuse(metaUnknown)
	}
}

// object answers for what has an id of its own: campaigns, and reports that
// are made in the background.
func (c metaCall) object(a *Account, id, edge string) {
	if run, ok := readMetaRun(id); ok && c.r.Method == http.MethodGet {
		c.run(a, id, edge, run)
		return
	}
	i := slices.IndexFunc(a.Campaigns, func(campaign *Campaign) bool { return campaign.ID == id })
	if i < 0 || edge != "" {
		c.refuse(metaUnknown)
		return
	}
	switch c.r.Method {
	case http.MethodGet:
		c.answer(c.choose(c.campaignNode(a, a.Campaigns[i])))
	case http.MethodPost:
		status := c.params.Get("status")
		if status != "ACTIVE" && status != "PAUSED" {
			c.refuse(metaInvalid("Param status must be one of {ACTIVE, PAUSED}"))
			return
		}
		c.SetRuns(a, a.Campaigns[i], status == "ACTIVE")
		c.answer(map[string]any{"success": true})
	default:
		c.refuse(metaUnknown)
	}
}

func (c metaCall) answer(v any) {
	c.w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	// Who has gone away does not read the rest.
	_ = json.MarshalWrite(c.w, v, json.Deterministic(true))
}

func (c metaCall) refuse(e *metaError) {
	told := *e
	told.Type, told.Trace = "OAuthException", "A"+strconv.FormatInt(c.Now().UnixNano(), 36)
	c.w.Header().Set("X-Fb-Trace-Id", told.Trace)
	metaRefuse(c.w, told)
}

func metaRefuse(w http.ResponseWriter, e metaError) {
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	w.WriteHeader(cmp.Or(e.Status, http.StatusBadRequest))
	_ = json.MarshalWrite(w, map[string]metaError{"error": e}, json.Deterministic(true))
}

// used says how much of its budget of calls an account has used up.
func (c metaCall) used(a *Account) {
	c.w.Header().Set("X-Business-Use-Case-Usage", metaUsage(a.ID, 1, 0))
	c.w.Header().Set("X-Fb-Ads-Insights-Throttle", `{"app_id_util_pct":0.1,"acc_id_util_pct":0.5,"ads_api_access_tier":"standard_access"}`)
}

func metaUsage(account string, percent, minutes int) string {
	return fmt.Sprintf(`{%q:[{"type":"ads_insights","call_count":%d,"total_cputime":%d,"total_time":%d,"estimated_time_to_regain_access":%d}]}`,
		account, percent, percent, percent, minutes)
}

// Throttle implements Dialect. The platform counts the time in minutes.
func (meta) Throttle(w http.ResponseWriter, _ *http.Request, seconds int) {
	w.Header().Set("X-Business-Use-Case-Usage", metaUsage("0", 100, (seconds+59)/60))
	metaRefuse(w, metaError{
		Code: 80000, Subcode: 2446079, Type: "OAuthException", Trace: "A0",
		Message: "(#80000) There have been too many calls from this ad-account. Wait a bit and try again.",
	})
}
