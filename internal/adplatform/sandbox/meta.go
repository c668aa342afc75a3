package sandbox

import (
	"cmp"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"regexp"
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

var metaVersionFormat = regexp.MustCompile(`^v[0-9]+\.[0-9]+$`)

// metaCall is one call with the parameters of its query and body.
type metaCall struct {
	*Call
	w      http.ResponseWriter
	r      *http.Request
	params url.Values
	// statuses caches the status of objects.
	statuses map[any]string
}

// Serve implements Dialect.
func (meta) Serve(s *Call, w http.ResponseWriter, r *http.Request) {
	c := metaCall{s, w, r, nil, map[any]string{}}
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
	c.warnOfUpgrade(major)
	switch path {
	case "":
		c.serveBatch(version)
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
	agreed := newConsent(c.params, c.params.Get("client_id"), c.params.Get("scope"))
	if refused := c.applyConfiguration(&agreed); refused != nil {
		c.writeError(refused)
		return
	}
	query := back.Query()
	query.Set("code", c.Code(agreed))
	query.Set("state", c.params.Get("state"))
	back.RawQuery = query.Encode()
	http.Redirect(c.w, c.r, back.String(), http.StatusFound)
}

// The configurations of Facebook Login for Business that every app has: for
// tokens of persons and for tokens of system users.
const (
	MetaPersonConfiguration     = "1000000000000001"
	MetaSystemUserConfiguration = "1000000000000002"
)

// applyConfiguration checks the configuration that an app asks with, if there is
// one, and makes the consent that of a system user if it is for one.
func (c metaCall) applyConfiguration(agreed *Consent) *metaError {
	id := c.params.Get("config_id")
	switch {
	case id == "":
		return nil
	case c.params.Has("scope"):
		return metaInvalid("scope is not used with config_id: the configuration has the permissions")
	case id != MetaPersonConfiguration && id != MetaSystemUserConfiguration:
		return metaInvalid("config_id is no configuration of the app")
	case c.params.Get("response_type") != "code":
		return metaInvalid("response_type must be code")
	}
	agreed.System = id == MetaSystemUserConfiguration
	return nil
}

// isSystemUser reports whether a token is that of a system user.
func (c metaCall) isSystemUser(token string) bool {
	claims, _ := readToken(token)
	return claims.System || c.Behaves(nil, metaSystemUser)
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
	case c.params.Get("grant_type") == "fb_exchange_token" && c.isSystemUser(c.params.Get("fb_exchange_token")):
		c.writeError(metaInvalid("The token of a system user cannot be exchanged"))
		return
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
	if got.AccessLifetime > 0 && !c.Behaves(nil, metaSystemUser) {
		answer["expires_in"] = int64(got.AccessLifetime.Seconds())
	}
	c.writeAnswer(answer)
}

// serveAuthorized answers calls that need a token.
func (c metaCall) serveAuthorized(path string) {
	access := cmp.Or(c.params.Get("access_token"), strings.TrimPrefix(c.r.Header.Get("Authorization"), "Bearer "))
	own, err := c.Open(access)
	if err != nil {
		c.writeError(metaTokenError(err))
		return
	}
	id, edge, _ := strings.Cut(path, "/")
	if refused := c.refuseAccess(own, id, edge); refused != nil {
		c.writeError(refused)
		return
	}
	if c.Behaves(own, metaUnavailable200) {
		c.writeUnavailable()
		return
	}
	if id == "me" {
		c.writeUsage(own)
		c.serveMe(own, edge, access)
		return
	}
	accounts, err := c.Accounts(access)
	if err != nil {
		c.writeError(metaTokenError(err))
		return
	}
	if c.Fault(FaultAccountDisabled) {
		c.writeError(metaDisabled)
		return
	}
	for _, a := range accounts {
		switch {
		case id == "act_"+a.ID:
			c.serveOpen(a, func() { c.serveAccount(a, edge) })
			return
		case a.ID == reportAccount(id) || findMetaObject(a, id) != nil:
			c.serveOpen(a, func() { c.serveObject(a, id, edge) })
			return
		}
	}
	c.writeError(metaUnknown)
}

// serveOpen answers for an account unless its owner has taken access away.
func (c metaCall) serveOpen(a *Account, answer func()) {
	c.writeUsage(a)
	if c.Behaves(a, metaAccountDenied) {
		c.writeError(metaDenied)
		return
	}
	answer()
}

// refuseAccess returns the error of a call that the token, the app or the
// permissions do not allow, nil if they do.
func (c metaCall) refuseAccess(a *Account, id, edge string) *metaError {
	proof := c.params.Get("appsecret_proof")
	subcode, _ := strconv.Atoi(c.Behavior(a, metaTokenSubcodes))
	write := c.r.Method == http.MethodPost && edge == "" && id != "me"
	switch {
	case subcode != 0:
		return &metaError{Code: 190, Subcode: subcode, Message: metaTokenMessages[subcode]}
	case proof == "" && c.Behaves(a, metaRequireProof):
		return metaInvalid("API calls from the server require an appsecret_proof argument")
	case proof != "" && !metaProofFormat.MatchString(proof):
		return metaInvalid("Invalid appsecret_proof provided in the API argument")
	case c.Behaves(a, metaPermissionUnused) && id != "me":
		return &metaError{Status: http.StatusForbidden, Code: 10, Message: "(#10) Application does not have permission for this action"}
	case c.Behaves(a, metaPermissionPartial) && write:
		return &metaError{Status: http.StatusForbidden, Code: 200, Message: "(#200) Requires ads_management permission to manage the object"}
	}
	return nil
}

func (c metaCall) serveMe(a *Account, edge, access string) {
	switch c.r.Method + " " + edge {
	case "GET ":
		c.writeNode("User", map[string]any{"id": cmp.Or(c.Person(access), a.ID+"5"), "name": shopName}, "name")
	case "GET adaccounts":
		if c.Behaves(a, metaFieldPermission) && slices.Contains(metaFields(c.params.Get("fields")), "user_tasks") {
			c.writeError(&metaError{Status: http.StatusForbidden, Code: 200, Message: "(#200) Permissions error"})
			return
		}
		accounts, err := c.Accounts(access)
		if err != nil {
			c.writeError(metaTokenError(err))
			return
		}
		if refused := c.checkFields("AdAccount"); refused != nil {
			c.writeError(refused)
			return
		}
		c.writeList(a, len(accounts), func(i int) any { return c.selectFields(c.accountNode(accounts[i]), "account_id") })
	case "GET permissions":
		granted := []string{"ads_read", "ads_management", "business_management"}
		c.writeList(nil, len(granted), func(i int) any {
			status := "granted"
			if granted[i] == "ads_management" && c.Behaves(a, metaPermissionPartial) {
				status = "declined"
			}
			return map[string]any{"permission": granted[i], "status": status}
		})
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
		c.writeNode("AdAccount", c.accountNode(a), "account_id")
	case "GET campaigns":
		writeObjects(c, a, "campaign", a.Campaigns, c.campaignNode)
	case "GET adsets":
		writeObjects(c, a, "adset", allGroups(a), c.groupNode)
	case "GET ads":
		writeObjects(c, a, "ad", allAds(a), c.adNode)
	case "GET customaudiences":
		if refused := c.checkFields("CustomAudience"); refused != nil {
			c.writeError(refused)
			return
		}
		c.writeList(a, len(a.Audiences), func(i int) any { return c.selectFields(c.audienceNode(a, i)) })
	case "GET insights":
		c.insights(a, c.params, false)
	case "POST insights":
		c.startReport(a)
	default:
		c.writeError(metaUnknown)
	}
}

// serveObject answers for objects by id: campaigns, ad sets, ads and background
// reports. Deleted ones have an answer too.
func (c metaCall) serveObject(a *Account, id, edge string) {
	if run, ok := decodeReportID(id); ok && c.r.Method == http.MethodGet {
		c.serveReport(a, id, edge, run)
		return
	}
	object := findMetaObject(a, id)
	campaign, isCampaign := object.(*Campaign)
	switch {
	case object == nil:
		c.writeError(metaUnknown)
	case c.r.Method == http.MethodGet && edge == "insights":
		c.insightsOf(a, object)
	case c.r.Method == http.MethodGet && edge == "":
		c.writeNode(metaKindOf(object), c.nodeOf(a, object))
	case c.r.Method == http.MethodGet && c.serveChildren(a, object, edge):
	case c.r.Method == http.MethodPost && edge == "" && isCampaign:
		c.setStatus(a, campaign)
	default:
		c.writeError(metaUnknown)
	}
}

// serveChildren answers with the ad sets or ads of an object. It returns false
// if the object has no such list.
func (c metaCall) serveChildren(a *Account, object any, edge string) bool {
	var groups []*Group
	var ads []*Ad
	switch o := object.(type) {
	case *Campaign:
		groups = o.Groups
	case *Group:
		ads = o.Ads
	}
	for _, g := range groups {
		ads = append(ads, g.Ads...)
	}
	switch {
	case edge == "adsets" && groups != nil:
		writeObjects(c, a, "adset", groups, c.groupNode)
	case edge == "ads" && ads != nil:
		writeObjects(c, a, "ad", ads, c.adNode)
	default:
		return false
	}
	return true
}

// setStatus changes the status of a campaign. Archived and deleted ones keep it.
func (c metaCall) setStatus(a *Account, campaign *Campaign) {
	status, before := c.params.Get("status"), c.campaignStatus(a, campaign)
	switch {
	case status != "ACTIVE" && status != "PAUSED":
		c.writeError(metaInvalid("Param status must be one of {ACTIVE, PAUSED}"))
	case before == "ARCHIVED" || before == "DELETED":
		c.writeError(&metaError{Code: 100, Subcode: 1487056, Message: "Invalid parameter"})
	case c.Behaves(a, metaSuccessFalse):
		c.writeAnswer(map[string]any{"success": false})
	default:
		c.SetRuns(a, campaign, status == "ACTIVE")
		c.writeAnswer(map[string]any{"success": true})
	}
}

func (c metaCall) writeAnswer(v any) {
	c.w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	// A client that has disconnected gets no answer.
	_ = json.MarshalWrite(c.w, v, json.Deterministic(true))
}
