package sandbox

import (
	"errors"
	"net/http"
	"net/url"
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

// Codes of answers.
const (
	tikTokForbidden = 40001
	tikTokInvalid   = 40002
	tikTokTooLarge  = 40067
	tikTokThrottled = 40100
	tikTokNoToken   = 40104
	tikTokBadToken  = 40105
)

// tikTokCall is one call. account is nil if the call is not about one.
type tikTokCall struct {
	*Call
	w       http.ResponseWriter
	r       *http.Request
	query   url.Values
	account *Account
}

// tikTokError is the error of an answer.
type tikTokError struct {
	code    int
	message string
}

func tikTokRefusal(message string) *tikTokError { return &tikTokError{tikTokInvalid, message} }

// tikTokRoute is the operation of a path.
type tikTokRoute struct {
	method string
	// open needs no token, listed no account.
	open, listed bool
	answer       func(c *tikTokCall) (any, *tikTokError)
}

var tikTokRoutes = map[string]tikTokRoute{
	"oauth2/access_token/":      {http.MethodPost, true, false, (*tikTokCall).issueToken},
	"oauth2/revoke_token/":      {http.MethodPost, true, false, (*tikTokCall).revokeToken},
	"oauth2/advertiser/get/":    {http.MethodGet, false, true, (*tikTokCall).advertisers},
	"advertiser/info/":          {http.MethodGet, false, true, (*tikTokCall).advertiser},
	"campaign/get/":             {http.MethodGet, false, false, (*tikTokCall).campaigns},
	"adgroup/get/":              {http.MethodGet, false, false, (*tikTokCall).groups},
	"ad/get/":                   {http.MethodGet, false, false, (*tikTokCall).ads},
	"dmp/custom_audience/list/": {http.MethodGet, false, false, (*tikTokCall).audiences},
	"report/integrated/get/":    {http.MethodGet, false, false, (*tikTokCall).report},
	"campaign/status/update/":   {http.MethodPost, false, true, (*tikTokCall).setStatus},
}

// Serve implements Dialect.
func (tikTok) Serve(s *Call, w http.ResponseWriter, r *http.Request) {
	c := &tikTokCall{Call: s, w: w, r: r, query: r.URL.Query()}
	if r.URL.Path == "/portal/auth" {
		c.grantConsent()
		return
	}
	path, current := strings.CutPrefix(r.URL.Path, "/open_api/v1.3/")
	route, known := tikTokRoutes[path]
	if !current || !known || route.method != r.Method || s.Fault(FaultVersionSunset) {
		http.NotFound(w, r)
		return
	}
	data, refused := c.serve(route)
	if refused != nil {
		writeTikTok(w, s, refused.code, refused.message, struct{}{})
		return
	}
	writeTikTok(w, s, 0, "OK", data)
}

// serve answers a call after checking its token and account.
func (c *tikTokCall) serve(route tikTokRoute) (any, *tikTokError) {
	if route.open {
		return route.answer(c)
	}
	token := c.r.Header.Get("Access-Token")
	if token == "" {
		return nil, &tikTokError{tikTokNoToken, "Access token is null."}
	}
	account, err := c.Open(token)
	if err != nil {
		return nil, &tikTokError{tikTokBadToken, "Access token is incorrect or has been revoked."}
	}
	c.account = account
	if !route.listed {
		if refused := c.checkAccess(c.query.Get("advertiser_id")); refused != nil {
			return nil, refused
		}
	}
	return route.answer(c)
}

// checkAccess rejects other accounts, and a closed one.
func (c *tikTokCall) checkAccess(advertiser string) *tikTokError {
	switch {
	case advertiser != c.account.ID:
		return &tikTokError{tikTokForbidden, "No permission to operate advertiser " + advertiser + "."}
	case c.Fault(FaultAccountDisabled):
		return &tikTokError{tikTokForbidden, "Advertiser " + advertiser + " is disabled."}
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

// grantConsent grants consent at once.
func (c *tikTokCall) grantConsent() {
	to, err := url.Parse(c.query.Get("redirect_uri"))
	if err != nil || to.Host == "" || c.query.Get("app_id") == "" {
		http.Error(c.w, "app_id or redirect_uri is missing", http.StatusBadRequest)
		return
	}
	code := c.Code()
	query := to.Query()
	query.Set("auth_code", code)
	query.Set("code", code)
	query.Set("state", c.query.Get("state"))
	to.RawQuery = query.Encode()
	http.Redirect(c.w, c.r, to.String(), http.StatusFound)
}

// readBody decodes the required members of a body.
func (c *tikTokCall) readBody(out any) *tikTokError {
	if err := json.UnmarshalRead(http.MaxBytesReader(c.w, c.r.Body, 1<<20), out); err != nil {
		return tikTokRefusal("The body is not the JSON that it should be.")
	}
	return nil
}

// tikTokApp has the credentials of an app.
type tikTokApp struct {
	ID     string `json:"app_id"`
	Secret string `json:"secret"`
	Code   string `json:"auth_code"`
	Access string `json:"access_token"`
}

func (a tikTokApp) check() *tikTokError {
	if a.ID == "" || a.Secret == "" {
		return tikTokRefusal("app_id and secret are required.")
	}
	return nil
}

func (c *tikTokCall) issueToken() (any, *tikTokError) {
	var in tikTokApp
	if refused := c.readBody(&in); refused != nil {
		return nil, refused
	}
	if refused := in.check(); refused != nil {
		return nil, refused
	}
	tokens, err := c.Exchange(in.Code)
	if err != nil {
		return nil, tikTokRefusal("auth_code is invalid, expired or used.")
	}
	account, err := c.Open(tokens.Access)
	if err != nil {
		return nil, tikTokRefusal("auth_code is for no advertiser.")
	}
	return map[string]any{"access_token": tokens.Access, "advertiser_ids": []string{account.ID}, "scope": []int{1, 2, 3, 4}}, nil
}

func (c *tikTokCall) revokeToken() (any, *tikTokError) {
	var in tikTokApp
	if refused := c.readBody(&in); refused != nil {
		return nil, refused
	}
	if refused := in.check(); refused != nil {
		return nil, refused
	}
	if _, err := c.Open(in.Access); err != nil {
		return nil, &tikTokError{tikTokBadToken, "Access token is incorrect or has been revoked."}
	}
	c.Revoke(in.Access)
	return struct{}{}, nil
}

func (c *tikTokCall) advertisers() (any, *tikTokError) {
	if refused := (tikTokApp{ID: c.query.Get("app_id"), Secret: c.query.Get("secret")}).check(); refused != nil {
		return nil, refused
	}
	return map[string]any{"list": []any{map[string]any{"advertiser_id": c.account.ID, "advertiser_name": c.account.Name}}}, nil
}

func (c *tikTokCall) advertiser() (any, *tikTokError) {
	ids, err := parseTikTokList(c.query.Get("advertiser_ids"))
	if err != nil || len(ids) == 0 || len(ids) > 100 {
		return nil, tikTokRefusal("advertiser_ids must be a list of 1 to 100 ids.")
	}
	for _, id := range ids {
		if id != c.account.ID {
			return nil, &tikTokError{tikTokForbidden, "No permission to operate advertiser " + id + "."}
		}
	}
	status := "STATUS_ENABLE"
	if c.Fault(FaultAccountDisabled) {
		status = "STATUS_DISABLE"
	}
	item, refused := c.selectFields(map[string]any{
		"advertiser_id": c.account.ID, "name": c.account.Name, "currency": c.account.Set.Currency,
		"timezone": c.account.Set.Timezone, "display_timezone": c.account.Set.Timezone, "status": status,
	})
	return map[string]any{"list": []any{item}}, refused
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
	kept := map[string]any{}
	for _, name := range asked {
		value, ok := item[name]
		if !ok {
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
	info := map[string]any{"page": page, "page_size": size, "total_number": total, "total_page": pages}
	return map[string]any{"list": shown, "page_info": info}, nil
}

func tikTokNumber(text string, otherwise int) (int, error) {
	if text == "" {
		return otherwise, nil
	}
	return strconv.Atoi(text)
}
