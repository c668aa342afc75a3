package ga4

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"fanfare/internal/adplatform/googleauth"
	"fanfare/internal/adplatform/transport"
	"fanfare/internal/connection"
	"fanfare/internal/money"
)

// Types of properties that repeat the data of other properties.
const (
	typeRollup      = "PROPERTY_TYPE_ROLLUP"
	typeSubproperty = "PROPERTY_TYPE_SUBPROPERTY"
)

// maxPage is the largest page of the Admin API.
const maxPage = "200"

// summary is a property in the list of accounts.
type summary struct {
	Property     string `json:"property"`
	DisplayName  string `json:"displayName"`
	PropertyType string `json:"propertyType"`
	Parent       string `json:"parent"`

	account string
}

// property is a property with its settings.
type property struct {
	Name         string `json:"name"`
	DisplayName  string `json:"displayName"`
	CurrencyCode string `json:"currencyCode"`
	TimeZone     string `json:"timeZone"`
	// DeleteTime is set for a property in the trash, which Google deletes for
	// good at ExpireTime.
	DeleteTime string `json:"deleteTime"`
	ExpireTime string `json:"expireTime"`
}

// Accounts implements connection.Client. An account is a GA4 property.
//
// The list of summaries has all properties but not their settings, the list of
// properties has the settings but leaves out those that cannot be read. So a
// listing takes one call per account and page, and one more for each property
// that Google left out.
func (c *Client) Accounts(ctx context.Context, creds connection.Credentials) ([]connection.Account, error) {
	summaries, err := c.summaries(ctx, creds)
	if err != nil {
		return nil, err
	}
	known, err := c.properties(ctx, creds, summaries)
	if err != nil {
		return nil, err
	}
	accounts := make([]connection.Account, 0, len(summaries))
	for i := range summaries {
		a, err := c.account(ctx, creds, &summaries[i], known)
		if err != nil {
			return nil, err
		}
		if a.Problem == nil {
			a.Problem = repeatsData(&summaries[i], summaries)
		}
		a.Enabled = a.Problem == nil
		accounts = append(accounts, a)
	}
	return accounts, nil
}

// summaries lists all properties that the credentials open.
func (c *Client) summaries(ctx context.Context, creds connection.Credentials) ([]summary, error) {
	var all []summary
	query := url.Values{"pageSize": {maxPage}}
	for {
		var page struct {
			Summaries []struct {
				Account    string    `json:"account"`
				Properties []summary `json:"propertySummaries"`
			} `json:"accountSummaries"`
			Next string `json:"nextPageToken"`
		}
		if err := c.get(ctx, creds, "accountSummaries", query, &page); err != nil {
			return nil, err
		}
		for _, of := range page.Summaries {
			for _, p := range of.Properties {
				if !isDigits(propertyID(p.Property)) {
					return nil, googleauth.MalformedAnswer("Google Analytics names a property without a number.")
				}
				p.account = of.Account
				all = append(all, p)
			}
		}
		if page.Next == "" {
			return all, nil
		}
		query.Set("pageToken", page.Next)
	}
}

func propertyID(name string) string { return strings.TrimPrefix(name, "properties/") }

// properties reads the settings of properties by name, account by account. An
// account that refuses leaves its properties out.
func (c *Client) properties(ctx context.Context, creds connection.Credentials, summaries []summary) (map[string]property, error) {
	known := map[string]property{}
	asked := map[string]bool{}
	for _, s := range summaries {
		if s.account == "" || asked[s.account] {
			continue
		}
		asked[s.account] = true
		query := url.Values{"filter": {"ancestor:" + s.account}, "pageSize": {maxPage}, "showDeleted": {"true"}}
		for {
			var page struct {
				Properties []property `json:"properties"`
				Next       string     `json:"nextPageToken"`
			}
			if err := c.get(ctx, creds, "properties", query, &page); err != nil {
				if _, one := oneProperty(err); one {
					break
				}
				return nil, err
			}
			for _, p := range page.Properties {
				known[p.Name] = p
			}
			if page.Next == "" {
				break
			}
			query.Set("pageToken", page.Next)
		}
	}
	return known, nil
}

// oneProperty returns the error if it is about a property and not about the
// credentials, the version of the API or the calls of all properties.
func oneProperty(err error) (*connection.Error, bool) {
	e, ok := errors.AsType[*connection.Error](err)
	if !ok || e.Code == "canceled" || concernsAll(e) {
		return nil, false
	}
	return e, slices.Contains([]connection.Class{connection.Forbidden, connection.Gone, connection.Refused, connection.Transient}, e.Class)
}

// concernsAll reports whether an error has a reason that is about the OAuth client
// or the Google account, and not about one property.
func concernsAll(e *connection.Error) bool {
	return e.Class == connection.Forbidden && errorTable.Find("", "/"+e.Code) != nil
}

// account returns a property as an account. It has a problem if Google does not
// let us read it.
func (c *Client) account(ctx context.Context, creds connection.Credentials, s *summary, known map[string]property) (connection.Account, error) {
	id := propertyID(s.Property)
	link := "https://analytics.google.com/analytics/web/#/p" + id
	a := connection.Account{ExternalID: id, Name: s.DisplayName, URL: &link}
	p, ok := known[s.Property]
	if !ok {
		err := c.get(ctx, creds, "properties/"+id, nil, &p)
		problem, one := oneProperty(err)
		switch {
		case one:
			a.Problem = problem
			return a, nil
		case err != nil:
			return a, err
		}
	}
	a.Name, a.Currency, a.Timezone = p.DisplayName, money.Currency(p.CurrencyCode), p.TimeZone
	if p.DeleteTime != "" {
		a.Problem = &connection.Error{
			Class: connection.Gone, Code: "property_in_trash",
			Message: "The property is in the trash of Google Analytics and will be deleted at " + p.ExpireTime + ".",
			Remedy:  restoreProperty,
		}
	}
	return a, nil
}

// repeatsData returns the problem of a property whose data is also in another
// property of the list, nil for any other property.
//
// Choice: the Admin API does not tell the sources of a roll-up property. They
// are taken to be in the list if it has an ordinary property of the same account.
func repeatsData(s *summary, all []summary) *connection.Error {
	repeated := func(summary) bool { return false }
	kind := "roll-up property"
	switch s.PropertyType {
	case typeRollup:
		repeated = func(o summary) bool {
			return o.account == s.account && o.PropertyType != typeRollup && o.PropertyType != typeSubproperty
		}
	case typeSubproperty:
		kind = "subproperty"
		repeated = func(o summary) bool { return o.Property == s.Parent }
	}
	if !slices.ContainsFunc(all, repeated) {
		return nil
	}
	return &connection.Error{
		Class: connection.Refused, Code: "repeats_data",
		Message: "This " + kind + " repeats data of other properties in this connection, so its numbers would count twice.",
		Remedy:  "Connect either this property or the others.",
	}
}

func (c *Client) get(ctx context.Context, creds connection.Credentials, path string, query url.Values, out any) error {
	_, err := c.admin.Do(ctx, transport.Call{Method: http.MethodGet, Path: "/" + version + "/" + path, Query: query, Header: googleauth.Bearer(creds)}, out)
	return err
}

// isDigits guards ids that become part of a path.
func isDigits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }
