package microsoft

import (
	"cmp"
	"context"
	"net/http"

	"fanfare/internal/adplatform/transport"
	"fanfare/internal/connection"
	"fanfare/internal/money"
)

// advertiserAccount is an account as Customer Management has it.
type advertiserAccount struct {
	ID               string `json:"Id"`
	Name             string
	CurrencyCode     string
	TimeZone         string
	ParentCustomerID string `json:"ParentCustomerId"`
	Status           string `json:"AccountLifeCycleStatus"`
}

const (
	accountsPerPage = 1000
	// maxAccountPages ends a listing whose pages do not end.
	maxAccountPages = 100
)

// userID returns the id of the user who granted access.
func (c *Client) userID(ctx context.Context, creds connection.Credentials, urgent bool) (string, error) {
	var answer struct {
		User struct {
			ID string `json:"Id"`
		}
	}
	err := c.call(ctx, c.customers, creds, transport.Call{
		Method: http.MethodPost, Path: customerPath + "User/Query", JSON: map[string]any{"UserId": nil}, Urgent: urgent,
	}, &answer)
	if err == nil && answer.User.ID == "" {
		err = transport.Contradiction("Microsoft answered without a user.")
	}
	return answer.User.ID, err
}

// Accounts implements connection.Client. An account that the user reaches through
// several customers is listed once.
func (c *Client) Accounts(ctx context.Context, creds connection.Credentials) ([]connection.Account, error) {
	user, err := c.userID(ctx, creds, false)
	if err != nil {
		return nil, err
	}
	type predicate struct{ Field, Operator, Value string }
	type paging struct{ Index, Size int }
	var list []connection.Account
	seen := map[string]bool{}
	for page := range maxAccountPages {
		var answer struct{ Accounts []*advertiserAccount }
		err := c.call(ctx, c.customers, creds, transport.Call{
			Method: http.MethodPost, Path: customerPath + "Accounts/Search",
			JSON: map[string]any{"Predicates": []predicate{{"UserId", "Equals", user}}, "PageInfo": paging{page, accountsPerPage}},
		}, &answer)
		if err != nil {
			return nil, err
		}
		for _, a := range answer.Accounts {
			if a == nil || !isDigits(a.ID) || seen[a.ID] {
				continue
			}
			seen[a.ID] = true
			if isDigits(a.ParentCustomerID) {
				c.remember(a)
			}
			list = append(list, a.account())
		}
		if len(answer.Accounts) < accountsPerPage {
			break
		}
	}
	return list, nil
}

// account returns the account for the connection. All but deleted accounts keep
// their metrics and can be read.
func (a *advertiserAccount) account() connection.Account {
	out := connection.Account{
		ExternalID: a.ID, Name: cmp.Or(a.Name, "Microsoft Advertising "+a.ID), Currency: money.Currency(a.CurrencyCode), Timezone: timeZones[a.TimeZone], Enabled: true,
	}
	switch {
	case a.Status == "Inactive":
		out.Problem = &connection.Error{Class: connection.Gone, Code: "Inactive", Message: "The account was deleted in Microsoft Advertising."}
	case out.Timezone == "":
		out.Problem = &connection.Error{
			Class: connection.Refused, Code: "unknown_time_zone", Message: "The server does not know the time zone of the account, " + a.TimeZone + ".",
			Remedy: "Update the server, or choose another time zone for the account in Microsoft Advertising.",
		}
	}
	out.Enabled = out.Problem == nil
	return out
}
