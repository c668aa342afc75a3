// Package google is the client of Google Ads. It reads accounts, entities and
// metrics with GAQL over searchStream, and sets the status of campaigns with
// mutate. It converts Google's values to those of facts and stores nothing.
package google

import (
	"context"
	"net/http"
	"strings"
	"time"

	"fanfare/internal/adplatform/googleauth"
	"fanfare/internal/adplatform/transport"
	"fanfare/internal/clock"
	"fanfare/internal/connection"
)

const (
	// Platform is the name of the platform in facts.
	Platform = "google_ads"
	version  = "v26"
	host     = "https://googleads.googleapis.com"
	scope    = "https://www.googleapis.com/auth/adwords"
	// callsPerSecond is per account. Choice: Google does not publish a limit
	// and refuses calls by load; this is well below rates that are known to
	// work.
	callsPerSecond = 10
)

// Choice: Google announces the last day of a version only shortly before. It
// projects November 2027 for this one, without a day
// (developers.google.com/ads/blog/posts/2025/09/more-frequent-releases-coming-for).
var sunset = clock.MakeDate(2027, time.November, 1)

// Client is the client of Google Ads. It implements connection.Client and
// connection.Grantor.
type Client struct {
	*googleauth.Grantor
	api *transport.Transport
	now func() time.Time
	// routes has the managers through which moved accounts are reached.
	routes routeTable
}

// New returns a client. Without a base URL it calls Google, with one the
// simulation there. It sets its own ReadError.
func New(o transport.Options) *Client {
	c := &Client{Grantor: googleauth.New(o, scope), now: o.Now}
	if o.Base == "" {
		o.Base, o.PerSecond = host, callsPerSecond
	}
	o.ReadError = readError
	c.api = transport.New(o)
	return c
}

// About implements connection.Client.
func (c *Client) About() connection.About {
	return connection.About{
		Platform: Platform, Name: "Google Ads", Version: version, Sunset: &sunset,
		LookbackDays: 30, HistoryDays: historyDays, WindowDays: 30, DeepDays: 90,
		Levels: []connection.Level{
			connection.LevelAccount, connection.LevelCampaign, connection.LevelAd,
			connection.LevelGeo, connection.LevelDemographic, connection.LevelDevice,
		},
		Scopes: []string{scope}, WriteScopes: []string{scope},
		Calls: connection.CallCost{
			Entities: 5, Reports: map[connection.Level]int64{connection.LevelAccount: 1, connection.LevelCampaign: 1, connection.LevelAd: 2, connection.LevelGeo: 3, connection.LevelDemographic: 2, connection.LevelDevice: 3}, List: 1, ListSize: 1,
			Chosen: map[connection.Level]int64{connection.LevelAccount: 3, connection.LevelCampaign: 3, connection.LevelAd: 6, connection.LevelGeo: 9, connection.LevelDemographic: 6, connection.LevelDevice: 9},
		},
		Quotas:       []connection.Quota{{Name: "Explorer access", Calls: 2_880, Seconds: 24 * 3600, Scope: connection.ScopeApp}, {Name: "Basic access", Calls: 15_000, Seconds: 24 * 3600, Scope: connection.ScopeApp}},
		Capabilities: []string{"read_metrics", "read_campaigns", "write_campaigns", "read_audiences", "read_creative"},
	}
}

// chunk is a part of the answer to a query.
type chunk struct {
	Results []row `json:"results"`
}

func queryCall(gaql string, urgent bool) transport.Call {
	return transport.Call{Method: http.MethodPost, Path: "googleAds:searchStream", JSON: map[string]string{"query": gaql}, Urgent: urgent}
}

func rowsOf(chunks []chunk) (rows []row) {
	for _, c := range chunks {
		rows = append(rows, c.Results...)
	}
	return rows
}

// query runs a GAQL query. account has the form that Accounts returns.
func (c *Client) query(ctx context.Context, creds connection.Credentials, account, gaql string, urgent bool) ([]row, error) {
	var chunks []chunk
	if err := c.callAccount(ctx, creds, account, queryCall(gaql, urgent), &chunks); err != nil {
		return nil, err
	}
	return rowsOf(chunks), nil
}

// queryCustomer runs a GAQL query for a customer through a manager, which is empty
// for none.
func (c *Client) queryCustomer(ctx context.Context, creds connection.Credentials, customer, manager, gaql string, urgent bool) ([]row, error) {
	var chunks []chunk
	if err := c.callCustomer(ctx, creds, customer, manager, queryCall(gaql, urgent), &chunks); err != nil {
		return nil, err
	}
	return rowsOf(chunks), nil
}

// callAccount sends a call to an account. If it is no longer reached as its name
// says, it looks for another manager once, because managers change.
func (c *Client) callAccount(ctx context.Context, creds connection.Credentials, account string, call transport.Call, out any) error {
	customer, manager, err := splitAccount(account)
	if err != nil {
		return err
	}
	if moved, ok := c.routes.manager(account); ok {
		manager = moved
	}
	err = c.callCustomer(ctx, creds, customer, manager, call, out)
	if !isUnreachable(err) || !c.routes.maySearch(account, c.now()) {
		return err
	}
	other, found := c.findManager(ctx, creds, customer, manager, call.Urgent)
	if !found {
		return err
	}
	if err := c.callCustomer(ctx, creds, customer, other, call, out); err != nil {
		return err
	}
	c.routes.set(account, other)
	return nil
}

// callCustomer sends a call whose path is below that of a customer.
func (c *Client) callCustomer(ctx context.Context, creds connection.Credentials, customer, manager string, call transport.Call, out any) error {
	call.Path = "/" + version + "/customers/" + customer + "/" + call.Path
	call.Account, call.Header = customer, googleauth.Bearer(creds)
	if manager != "" {
		call.Header.Set("Login-Customer-Id", manager)
	}
	_, err := c.api.Do(ctx, call, out)
	return err
}

// splitAccount returns the customer id of an account and its manager, empty for
// none.
//
// Choice: an account below a manager is named client@manager, because every
// call must name the manager. An account with direct access is named by its id.
func splitAccount(account string) (customer, manager string, err error) {
	customer, manager, through := strings.Cut(account, "@")
	if !isDigits(customer) || through && !isDigits(manager) {
		return "", "", &connection.Error{Class: connection.Gone, Code: "unknown_account", Message: "An account of Google Ads has a number of ten digits, without dashes."}
	}
	return customer, manager, nil
}

// isDigits guards ids that become part of a path or a query.
func isDigits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }
