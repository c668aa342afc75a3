package sandbox

import (
	"net/http"
	"net/url"

	"github.com/go-json-experiment/json"
)

// grantConsent grants consent at once.
func (c *tikTokCall) grantConsent() {
	to, err := url.Parse(c.query.Get("redirect_uri"))
	if err != nil || to.Host == "" || c.query.Get("app_id") == "" {
		http.Error(c.w, "app_id or redirect_uri is missing", http.StatusBadRequest)
		return
	}
	code := c.Code(newConsent(c.query, c.query.Get("app_id"), ""))
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

// tikTokReadScope is the scope of a grant without the right to change campaigns.
var tikTokReadScope = []int{1, 2}

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
		return nil, &tikTokError{code: tikTokBadCode, message: "The auth_code is canceled, used or expired. Please re-authorize and try again with a new auth_code."}
	}
	accounts, err := c.Accounts(tokens.Access)
	if err != nil {
		return nil, tikTokRefusal("auth_code is for no advertiser.")
	}
	ids := []string{}
	for _, a := range accounts {
		ids = append(ids, a.ID)
	}
	scope := []int{1, 2, 3, 4}
	if c.Behaves(accounts[0], "narrow_grant") {
		scope = tikTokReadScope
	}
	return map[string]any{"access_token": tokens.Access, "advertiser_ids": ids, "scope": scope}, nil
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
		return nil, &tikTokError{code: tikTokBadToken, message: "Access token is incorrect or has been revoked."}
	}
	c.Revoke(in.Access)
	return struct{}{}, nil
}

func (c *tikTokCall) advertisers() (any, *tikTokError) {
	if refused := (tikTokApp{ID: c.query.Get("app_id"), Secret: c.query.Get("secret")}).check(); refused != nil {
		return nil, refused
	}
	accounts, err := c.Accounts(c.token)
	if err != nil {
		return nil, tikTokRefusal("The token is for no advertiser.")
	}
	list := []any{}
	for _, a := range accounts {
		list = append(list, map[string]any{"advertiser_id": a.ID, "advertiser_name": a.Name})
	}
	return map[string]any{"list": list}, nil
}

// advertiserDetails answers with the details of accounts. One account without
// access fails the whole call.
func (c *tikTokCall) advertiserDetails() (any, *tikTokError) {
	ids, err := parseTikTokList(c.query.Get("advertiser_ids"))
	switch {
	case err != nil || len(ids) == 0:
		return nil, tikTokRefusal("advertiser_ids must be a list of 1 to 100 ids.")
	case len(ids) > tikTokMaxIDs:
		return nil, &tikTokError{code: tikTokTooManyIDs, message: "Too many IDs are provided in a single request."}
	}
	list := []any{}
	for _, id := range ids {
		account, err := c.AccountByID(c.token, id)
		if err != nil || account == nil {
			return nil, &tikTokError{code: tikTokForbidden, message: "No permission to operate advertiser " + id + "."}
		}
		status := "STATUS_ENABLE"
		if c.Fault(FaultAccountDisabled) {
			status = "STATUS_DISABLE"
		} else if refused := c.checkAccount(account); refused != nil {
			return nil, refused
		}
		item, refused := c.selectFields(c.advertiserFields(account, status))
		if refused != nil {
			return nil, refused
		}
		list = append(list, item)
	}
	return map[string]any{"list": list}, nil
}

func (c *tikTokCall) advertiserFields(a *Account, status string) map[string]any {
	kind := "AUCTION"
	if c.Behavior(a, "reservation_spend") == "account" {
		kind = "RESERVATION"
	}
	return map[string]any{
		"advertiser_id": a.ID, "name": a.Name, "currency": a.Set.Currency, "timezone": c.zoneName(a), "display_timezone": a.Set.Timezone,
		"status": status, "advertiser_account_type": kind, "role": "ROLE_ADVERTISER", "company": a.Name, "country": a.countries[0], "language": "en",
		"balance": 0, "create_time": a.First.Time().Unix(), "rejection_reason": "", "industry": "290303", "description": "", "address": nil, "contacter": nil,
		"email": nil, "cellphone_number": nil, "telephone_number": nil, "license_no": "", "license_url": nil, "owner_bc_id": nil,
	}
}
