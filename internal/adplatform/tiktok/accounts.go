package tiktok

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"

	"github.com/go-json-experiment/json"

	"fanfare/internal/adplatform/transport"
	"fanfare/internal/connection"
	"fanfare/internal/money"
)

// maxIDs is the largest number of ids in a call.
const maxIDs = 100

// account is an advertiser. The list of the token has only its id and name.
type account struct {
	ID          string         `json:"advertiser_id"`
	GrantedName string         `json:"advertiser_name"`
	Name        string         `json:"name"`
	Currency    money.Currency `json:"currency"`
	// Timezone is an offset without daylight saving time, DisplayTimezone the
	// name of a zone.
	Timezone        string `json:"timezone"`
	DisplayTimezone string `json:"display_timezone"`
	Status          string `json:"status"`
}

// Accounts implements connection.Client.
func (c *Client) Accounts(ctx context.Context, cr connection.Credentials) ([]connection.Account, error) {
	if cr.App.ID == "" || cr.App.Secret.Empty() {
		return nil, &connection.Error{Class: connection.Refused, Code: "app_missing", Message: "TikTok lists the accounts of a token only to the app that it was made with.", Remedy: "Send client_id and client_secret of the app along with the access token."}
	}
	granted, err := callAPI[listPage[account]](ctx, c, cr.Access.Reveal(), transport.Call{
		Method: http.MethodGet, Path: "/oauth2/advertiser/get/", Query: url.Values{"app_id": {cr.App.ID}, "secret": {cr.App.Secret.Reveal()}},
	})
	if err != nil {
		return nil, err
	}
	accounts := []connection.Account{}
	for some := range slices.Chunk(granted.List, maxIDs) {
		described, err := c.describeAccounts(ctx, cr, some)
		if err != nil {
			return nil, err
		}
		accounts = append(accounts, described...)
	}
	return accounts, nil
}

// describeAccounts returns accounts with their details. An account that does not
// give them fails TikTok's whole answer, so the accounts are asked for in
// smaller groups then.
func (c *Client) describeAccounts(ctx context.Context, cr connection.Credentials, some []account) ([]connection.Account, error) {
	ids := []string{}
	for _, a := range some {
		ids = append(ids, a.ID)
	}
	details, err := callAPI[listPage[account]](ctx, c, cr.Access.Reveal(), transport.Call{
		Method: http.MethodGet, Path: "/advertiser/info/", Query: url.Values{
			"advertiser_ids": {jsonList(ids)},
			"fields":         {jsonList([]string{"advertiser_id", "name", "currency", "timezone", "display_timezone", "status"})},
		},
	})
	switch {
	case err == nil:
		return matchDetails(some, details.List), nil
	case !isRefusal(err) || isAppProblem(err):
		return nil, err
	case len(some) == 1:
		e, _ := errors.AsType[*connection.Error](err)
		return []connection.Account{some[0].withProblem(e)}, nil
	}
	half := len(some) / 2
	first, err := c.describeAccounts(ctx, cr, some[:half])
	if err != nil {
		return nil, err
	}
	second, err := c.describeAccounts(ctx, cr, some[half:])
	return append(first, second...), err
}

// matchDetails returns the accounts that are not closed. One without details is
// an account that cannot be read.
func matchDetails(granted, details []account) (found []connection.Account) {
	for _, a := range granted {
		i := slices.IndexFunc(details, func(d account) bool { return d.ID == a.ID })
		switch {
		case i < 0:
			found = append(found, a.withProblem(&connection.Error{Class: connection.Forbidden, Code: "details_missing", Message: "TikTok lists the account and does not return its details.", Remedy: askAccount}))
		case details[i].Status != "STATUS_DISABLE":
			found = append(found, details[i].toAccount())
		}
	}
	return found
}

func (a account) toAccount() connection.Account {
	page := "https://ads.tiktok.com/i18n/dashboard?aadvid=" + url.QueryEscape(a.ID)
	return connection.Account{
		ExternalID: a.ID, Name: a.Name, Currency: a.Currency, Timezone: cmp.Or(a.DisplayTimezone, a.Timezone), URL: &page, Enabled: true,
	}
}

// withProblem returns an account that is listed and cannot be read.
func (a account) withProblem(e *connection.Error) connection.Account {
	found := account{ID: a.ID, Name: cmp.Or(a.GrantedName, a.ID)}.toAccount()
	found.Enabled, found.Problem = false, e
	return found
}

// jsonList encodes a list for a query parameter.
func jsonList(list []string) string {
	b, err := json.Marshal(list)
	if err != nil {
		// Encoding fails only for invalid UTF-8, which TikTok does not send.
		return "[]"
	}
	return string(b)
}
