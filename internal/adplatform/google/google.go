// Package google is the client of Google Ads. It reads accounts, entities and
// metrics with GAQL over searchStream, and sets the status of campaigns with
// mutate. It converts Google's values to those of facts and stores nothing.
package google

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"fanfare/internal/adplatform/googleauth"
	"fanfare/internal/adplatform/transport"
	"fanfare/internal/clock"
	"fanfare/internal/connection"
	"fanfare/internal/money"
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

// Choice: Google announces the last day of a version only shortly before. A
// version lasts a year, and this one was released in October 2026.
var sunset = clock.MakeDate(2027, time.October, 6)

// Client is the client of Google Ads. It implements connection.Client and
// connection.Grantor.
type Client struct {
	*googleauth.Grantor
	api *transport.Transport
}

// New returns a client. Without a base URL it calls Google, with one the
// simulation there. It sets its own ReadError.
func New(o transport.Options) *Client {
	c := &Client{Grantor: googleauth.New(o, scope)}
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
		LookbackDays: 30, HistoryDays: 1125, WindowDays: 30, DeepDays: 90,
		Levels: []connection.Level{
			connection.LevelAccount, connection.LevelCampaign, connection.LevelAd,
			connection.LevelGeo, connection.LevelDemographic, connection.LevelDevice,
		},
		Scopes: []string{scope}, WriteScopes: []string{scope},
		Capabilities: []string{"read_metrics", "read_campaigns", "write_campaigns", "read_audiences", "read_creative"},
	}
}

// query runs a GAQL query. account has the form that Accounts returns.
func (c *Client) query(ctx context.Context, creds connection.Credentials, account, gaql string, urgent bool) ([]row, error) {
	customer, header, err := customerHeader(creds, account)
	if err != nil {
		return nil, err
	}
	var chunks []struct {
		Results []row `json:"results"`
	}
	_, err = c.api.Do(ctx, transport.Call{
		Method: http.MethodPost, Path: "/" + version + "/customers/" + customer + "/googleAds:searchStream",
		Header: header, JSON: map[string]string{"query": gaql}, Account: customer, Urgent: urgent,
	}, &chunks)
	if err != nil {
		return nil, err
	}
	var rows []row
	for _, chunk := range chunks {
		rows = append(rows, chunk.Results...)
	}
	return rows, nil
}

// customerHeader returns the customer id of an account and the header of its
// calls.
//
// Choice: an account below a manager is named client@manager, because every
// call must name the manager. An account with direct access is named by its id.
func customerHeader(creds connection.Credentials, account string) (customer string, header http.Header, err error) {
	customer, manager, through := strings.Cut(account, "@")
	if !isDigits(customer) || through && !isDigits(manager) {
		return "", nil, &connection.Error{Class: connection.Gone, Code: "unknown_account", Message: "An account of Google Ads has a number of ten digits, without dashes."}
	}
	header = googleauth.Bearer(creds)
	if through {
		header.Set("Login-Customer-Id", manager)
	}
	return customer, header, nil
}

// isDigits guards ids that become part of a path or a query.
func isDigits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// Accounts implements connection.Client.
func (c *Client) Accounts(ctx context.Context, creds connection.Credentials) ([]connection.Account, error) {
	var accessible struct {
		ResourceNames []string `json:"resourceNames"`
	}
	_, err := c.api.Do(ctx, transport.Call{
		Method: http.MethodGet, Path: "/" + version + "/customers:listAccessibleCustomers", Header: googleauth.Bearer(creds),
	}, &accessible)
	if err != nil {
		return nil, err
	}
	var found []connection.Account
	at := map[string]int{}
	for _, name := range accessible.ResourceNames {
		root := strings.TrimPrefix(name, "customers/")
		below, err := c.listAccounts(ctx, creds, root)
		if err != nil {
			return nil, err
		}
		for _, a := range below {
			customer, _, through := strings.Cut(a.ExternalID, "@")
			i, there := at[customer]
			switch {
			case !there:
				at[customer] = len(found)
				found = append(found, a)
			case !through:
				found[i] = a
			}
		}
	}
	return found, nil
}

// listAccounts returns an account, or the accounts below a manager.
func (c *Client) listAccounts(ctx context.Context, creds connection.Credentials, root string) ([]connection.Account, error) {
	rows, err := c.query(ctx, creds, root, "SELECT customer_client.id, customer_client.descriptive_name, customer_client.currency_code, "+
		"customer_client.time_zone, customer_client.manager, customer_client.status FROM customer_client WHERE customer_client.status = 'ENABLED'", false)
	if e, ok := errors.AsType[*connection.Error](err); ok && closedAccountCodes[e.Code] {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var accounts []connection.Account
	for _, r := range rows {
		client := &r.CustomerClient
		if client.Manager || client.Status != "ENABLED" || !isDigits(client.ID) {
			continue
		}
		a := connection.Account{
			ExternalID: client.ID, Name: client.DescriptiveName,
			Currency: money.Currency(client.CurrencyCode), Timezone: client.TimeZone, Enabled: true,
		}
		if client.ID != root {
			a.ExternalID += "@" + root
		}
		if a.Name == "" {
			a.Name = "Google Ads " + client.ID
		}
		accounts = append(accounts, a)
	}
	return accounts, nil
}

// The statuses of a campaign. REMOVED is permanent and is never set.
const (
	statusEnabled = "ENABLED"
	statusPaused  = "PAUSED"
	statusRemoved = "REMOVED"
)

// Status implements connection.Client.
func (c *Client) Status(ctx context.Context, creds connection.Credentials, account, campaign string) (connection.Observed, error) {
	if !isDigits(campaign) {
		return connection.Observed{}, unknownCampaign()
	}
	rows, err := c.query(ctx, creds, account, "SELECT campaign.id, campaign.status FROM campaign WHERE campaign.id = "+campaign, true)
	if err != nil {
		return connection.Observed{}, err
	}
	customer, _, _ := strings.Cut(account, "@")
	switch name := resourceName(customer, campaign); {
	case len(rows) == 0:
		return connection.Observed{}, unknownCampaign()
	case len(rows) > 1:
		return connection.Observed{}, transport.Contradiction("Google reports more than one campaign for one id.")
	case rows[0].Campaign.ID != campaign:
		return connection.Observed{}, nil
	case cmp.Or(rows[0].Campaign.ResourceName, name) != name:
		return connection.Observed{}, transport.Contradiction("Google reports the campaign with the resource name of another one.")
	}
	status := rows[0].Campaign.Status
	return connection.Observed{Status: status, Runs: status == statusEnabled, Stopped: status == statusPaused || status == statusRemoved}, nil
}

// resourceName returns Google's name of a campaign.
func resourceName(customer, campaign string) string {
	return "customers/" + customer + "/campaigns/" + campaign
}

func unknownCampaign() error {
	return &connection.Error{Class: connection.Gone, Code: "unknown_campaign", Message: "The account has no such campaign any more."}
}

type mutation struct {
	Operations []operation `json:"operations"`
}

type operation struct {
	UpdateMask string `json:"updateMask"`
	Update     struct {
		ResourceName string `json:"resourceName"`
		Status       string `json:"status"`
	} `json:"update"`
}

// SetStatus implements connection.Client.
func (c *Client) SetStatus(ctx context.Context, creds connection.Credentials, account, campaign string, run bool) error {
	customer, header, err := customerHeader(creds, account)
	if err != nil {
		return err
	}
	if !isDigits(campaign) {
		return unknownCampaign()
	}
	op := operation{UpdateMask: "status"}
	op.Update.ResourceName, op.Update.Status = resourceName(customer, campaign), statusPaused
	if run {
		op.Update.Status = statusEnabled
	}
	_, err = c.api.Do(ctx, transport.Call{
		Method: http.MethodPost, Path: "/" + version + "/customers/" + customer + "/campaigns:mutate",
		Header: header, JSON: mutation{[]operation{op}}, Account: customer, Urgent: true,
	}, nil)
	return err
}
