package sandbox

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
)

// tikTok simulates the TikTok Business API: one version, the token in a
// separate header, and status 200 for all answers, errors too.
type tikTok struct{}

// Platform implements Dialect.
func (tikTok) Platform() string { return TikTokAds }

// Hosts implements Dialect.
func (tikTok) Hosts() []string { return []string{"business-api.tiktok.com"} }

// Prefix implements Dialect.
func (tikTok) Prefix() string { return "/tiktok" }

// tikTokRoot is the path of the only version.
const tikTokRoot = "/open_api/v1.3/"

// Codes of answers.
const (
	tikTokPartly           = 20001
	tikTokForbidden        = 40001
	tikTokInvalid          = 40002
	tikTokTooManyIDs       = 40011
	tikTokTooLarge         = 40067
	tikTokThrottled        = 40100
	tikTokNoToken          = 40104
	tikTokBadToken         = 40105
	tikTokBadCode          = 40110
	tikTokAccountThrottled = 40133
	tikTokMaintenance      = 60001
)

// tikTokCodes are the codes of the switch return_code, with TikTok's
// descriptions of them.
var tikTokCodes = map[string]string{
	"40001": "No permission to perform the related operation.",
	"40006": "The specified API version is incompatible with the provided parameters.",
	"40007": "The operation/object does not exist.",
	"40016": "Requests made too frequently.",
	"40051": "Invalid API version.",
	"40102": "The access token has expired.",
	"40106": "The core user is invalid.",
	"40113": "The app has been blocked or does not exist.",
	"40118": "The app or advertiser is not on the allowlist for accessing the feature.",
	"40119": "Developer and advertisers do not belong to the same company.",
	"40124": "The developer profile is not filled in and approved.",
	"40125": "The developer doesn't have the permission.",
	"40132": "Requests made too frequently for a certain field value.",
	"40200": "Task error.",
	"40201": "Task is not ready.",
	"40202": "Write or update entity conflict.",
	"40300": "The advertiser does not exist or has been deleted.",
	"40301": "The advertiser cannot be matched.",
	"40700": "Internal service validation error.",
	"41000": "The client IP is on the banned country list.",
	"41001": "The interface is offline.",
	"50000": "System error",
	"50002": "Error processing request on TikTok side. Please see error message for details.",
	"51305": "Satellite service error.",
}

// tikTokCall is one call. account is the one that it is about, or the first of
// its token.
type tikTokCall struct {
	*Call
	w       http.ResponseWriter
	r       *http.Request
	query   url.Values
	token   string
	account *Account
	kinds   map[*Campaign]tikTokKind
}

// tikTokError is the error of an answer. data is nil unless the call was partly
// successful.
type tikTokError struct {
	code    int
	message string
	data    any
}

func tikTokRefusal(message string) *tikTokError {
	return &tikTokError{code: tikTokInvalid, message: message}
}

// tikTokRoute is the operation of a path.
type tikTokRoute struct {
	method string
	// open needs no token, listed no account.
	open, listed bool
	answer       func(c *tikTokCall) (any, *tikTokError)
}

var tikTokRoutes = map[string]tikTokRoute{
	"oauth2/access_token/":               {http.MethodPost, true, false, (*tikTokCall).issueToken},
	"oauth2/revoke_token/":               {http.MethodPost, true, false, (*tikTokCall).revokeToken},
	"oauth2/advertiser/get/":             {http.MethodGet, false, true, (*tikTokCall).advertisers},
	"advertiser/info/":                   {http.MethodGet, false, true, (*tikTokCall).advertiserDetails},
	"campaign/get/":                      {http.MethodGet, false, false, (*tikTokCall).campaigns},
	"smart_plus/campaign/get/":           {http.MethodGet, false, false, (*tikTokCall).smartCampaigns},
	"gmv_max/campaign/get/":              {http.MethodGet, false, false, (*tikTokCall).gmvMaxCampaigns},
	"adgroup/get/":                       {http.MethodGet, false, false, (*tikTokCall).groups},
	"ad/get/":                            {http.MethodGet, false, false, (*tikTokCall).ads},
	"dmp/custom_audience/list/":          {http.MethodGet, false, false, (*tikTokCall).audiences},
	"report/integrated/get/":             {http.MethodGet, false, false, (*tikTokCall).report},
	"campaign/status/update/":            {http.MethodPost, false, true, (*tikTokCall).setStatus},
	"smart_plus/campaign/status/update/": {http.MethodPost, false, true, (*tikTokCall).setSmartStatus},
}

// Serve implements Dialect.
func (tikTok) Serve(s *Call, w http.ResponseWriter, r *http.Request) {
	c := &tikTokCall{Call: s, w: w, r: r, query: r.URL.Query()}
	if r.URL.Path == "/portal/auth" {
		c.grantConsent()
		return
	}
	path, current := strings.CutPrefix(r.URL.Path, tikTokRoot)
	route, known := tikTokRoutes[path]
	if !current || !known || route.method != r.Method || s.Fault(FaultVersionSunset) {
		http.NotFound(w, r)
		return
	}
	data, refused := c.serve(route)
	switch {
	case refused != nil && refused.data != nil:
		writeTikTok(w, s, refused.code, refused.message, refused.data)
	case refused != nil:
		writeTikTok(w, s, refused.code, refused.message, struct{}{})
	default:
		writeTikTok(w, s, 0, "OK", data)
	}
}

// serve answers a call after checking its token and account.
func (c *tikTokCall) serve(route tikTokRoute) (any, *tikTokError) {
	if route.open {
		return route.answer(c)
	}
	c.token = c.r.Header.Get("Access-Token")
	if c.token == "" {
		return nil, &tikTokError{code: tikTokNoToken, message: "Access token is null, you should set it in http header with key Access-Token."}
	}
	first, err := c.Open(c.token)
	if err != nil {
		return nil, &tikTokError{code: tikTokBadToken, message: "Access token is incorrect or has been revoked."}
	}
	c.account = first
	if !route.listed {
		if refused := c.selectAccount(c.query.Get("advertiser_id")); refused != nil {
			return nil, refused
		}
	}
	return route.answer(c)
}

// selectAccount makes the call one about an account. It rejects those that the
// token does not open, and a closed one.
func (c *tikTokCall) selectAccount(id string) *tikTokError {
	account, err := c.AccountByID(c.token, id)
	if err != nil || account == nil {
		return &tikTokError{code: tikTokForbidden, message: "No permission to operate advertiser " + id + "."}
	}
	c.account = account
	return c.checkAccount(account)
}

// checkAccount returns the error that switches and faults give to all calls
// about an account.
func (c *tikTokCall) checkAccount(a *Account) *tikTokError {
	code := c.Behavior(a, "return_code")
	switch {
	case c.Fault(FaultAccountDisabled):
		return &tikTokError{code: tikTokForbidden, message: "Advertiser " + a.ID + " is disabled."}
	case c.Behaves(a, "maintenance_60001"):
		return &tikTokError{code: tikTokMaintenance, message: "The system is in maintenance."}
	case c.Behaves(a, "advertiser_throttle_40133"):
		return &tikTokError{code: tikTokAccountThrottled, message: "Advertiser (" + a.ID + ")'s QPS (11) reaches QPS limit 10 for current path, request is temporarily restricted."}
	case code != "":
		n, err := strconv.Atoi(code)
		if err != nil {
			return tikTokRefusal("return_code is not a number.")
		}
		return &tikTokError{code: n, message: tikTokCodes[code]}
	}
	return nil
}

// writeTikTok writes a response in TikTok's envelope: code, message, request id
// and data. Without a call, the request id is empty.
func writeTikTok(w http.ResponseWriter, s *Call, code int, message string, data any) {
	id := ""
	if s != nil {
		id = s.Now().UTC().Format("20060102150405") + "SANDBOX"
	}
	w.Header().Set("Content-Type", "application/json")
	// A client that has disconnected gets no answer.
	_ = json.MarshalWrite(w, map[string]any{"code": code, "message": message, "request_id": id, "data": data}, json.Deterministic(true))
}

// Throttle implements PlatformAPI. Only the message names the wait.
func (tikTok) Throttle(w http.ResponseWriter, _ *http.Request, seconds int) {
	message := "Too many requests: the QPS limit is reached."
	if seconds > 1 {
		message = "Too many requests: the QPM limit is reached."
	}
	writeTikTok(w, nil, tikTokThrottled, message, struct{}{})
}

// selectFields returns the requested fields of an object.
func (c *tikTokCall) selectFields(item map[string]any) (map[string]any, *tikTokError) {
	asked, err := parseTikTokList(c.query.Get("fields"))
	if err != nil {
		return nil, tikTokRefusal("fields must be a list.")
	}
	if asked == nil {
		return item, nil
	}
	null := tikTokNullFields[strings.TrimPrefix(c.r.URL.Path, tikTokRoot)]
	kept := map[string]any{}
	for _, name := range asked {
		value, ok := item[name]
		if !ok && !slices.Contains(null, name) {
			return nil, tikTokRefusal("fields has no " + name + ".")
		}
		kept[name] = value
	}
	return kept, nil
}

// parseTikTokList parses a list in a parameter, nil if it is empty.
func parseTikTokList(text string) (list []string, err error) {
	if text != "" {
		err = json.Unmarshal([]byte(text), &list)
	}
	return list, err
}

// page answers with a page of a list. It creates only the items of the page.
func (c *tikTokCall) page(total, most int, item func(i int) map[string]any) (any, *tikTokError) {
	page, err := tikTokNumber(c.query.Get("page"), 1)
	size, also := tikTokNumber(c.query.Get("page_size"), 10)
	if err := errors.Join(err, also); err != nil || page < 1 || size < 1 || size > most {
		return nil, tikTokRefusal("page must be at least 1, page_size at most " + strconv.Itoa(most) + ".")
	}
	pages := (total + size - 1) / size
	at := page
	if c.Fault(FaultSkipPage) {
		at++
	}
	shown := []map[string]any{}
	for i := (at - 1) * size; i < min(at*size, total); i++ {
		shown = append(shown, item(i))
	}
	if c.Fault(FaultDuplicatePage) {
		shown = append(shown, shown...)
	}
	if c.Fault(FaultDriftingTotal) {
		total++
	}
	if c.Behaves(c.account, "total_drift") {
		total += page - 1
	}
	info := map[string]any{"page": page, "page_size": size, "total_number": total, "total_page": pages}
	return map[string]any{"list": shown, "page_info": info}, nil
}

// isTrue reports whether a parameter is true. TikTok's SDK for Python writes it
// with a capital letter.
func (c *tikTokCall) isTrue(name string) bool { return strings.EqualFold(c.query.Get(name), "true") }

func tikTokNumber(text string, otherwise int) (int, error) {
	if text == "" {
		return otherwise, nil
	}
	return strconv.Atoi(text)
}
