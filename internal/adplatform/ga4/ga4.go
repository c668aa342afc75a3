// Package ga4 is the client of Google Analytics 4: properties from its Admin
// API, key events and revenue of sessions from its Data API. GA4 measures
// advertising and does not run any, so nothing can be changed through it.
package ga4

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"fanfare/internal/adplatform/googleauth"
	"fanfare/internal/adplatform/transport"
	"fanfare/internal/connection"
	"fanfare/internal/money"
)

const (
	// Platform is the name of the platform in facts.
	Platform  = "ga4"
	version   = "v1beta"
	dataHost  = "https://analyticsdata.googleapis.com"
	adminHost = "https://analyticsadmin.googleapis.com"
	scope     = "https://www.googleapis.com/auth/analytics.readonly"
	// callsPerSecond is per property. GA4 allows ten concurrent calls, and each
	// takes longer than a second.
	callsPerSecond = 8
	// pageRows is the number of rows per page.
	pageRows = 100_000
)

// Client is the client of GA4. It implements connection.Client and
// connection.Grantor.
type Client struct {
	*googleauth.Grantor
	data, admin *transport.Transport
	now         func() time.Time
	page        int
}

// New returns a client. Without a base URL it calls Google, with one the
// simulation there. It sets its own ReadError.
func New(o transport.Options) *Client {
	c := &Client{Grantor: googleauth.New(o, scope), now: o.Now, page: pageRows}
	o.ReadError = readError
	data, admin := o, o
	admin.Name += "/admin"
	if o.Base == "" {
		data.Base, data.PerSecond = dataHost, callsPerSecond
		admin.Base, admin.PerSecond = adminHost, callsPerSecond
	}
	c.data, c.admin = transport.New(data), transport.New(admin)
	return c
}

// About implements connection.Client. The last day of the API version is not
// known.
func (c *Client) About() connection.About {
	return connection.About{
		Platform: Platform, Name: "Google Analytics 4", Version: version,
		LookbackDays: 4, HistoryDays: 1125, WindowDays: 30,
		Levels: []connection.Level{
			connection.LevelAccount, connection.LevelCampaign, connection.LevelAd,
			connection.LevelGeo, connection.LevelDemographic, connection.LevelDevice,
		},
		Scopes:       []string{scope},
		Capabilities: []string{"read_metrics", "read_campaigns"},
	}
}

// Accounts implements connection.Client. An account is a GA4 property.
func (c *Client) Accounts(ctx context.Context, creds connection.Credentials) ([]connection.Account, error) {
	var accounts []connection.Account
	query := url.Values{"pageSize": {"200"}}
	for {
		var page struct {
			Summaries []struct {
				Properties []struct {
					Property string `json:"property"`
				} `json:"propertySummaries"`
			} `json:"accountSummaries"`
			Next string `json:"nextPageToken"`
		}
		if err := c.get(ctx, creds, "accountSummaries", query, &page); err != nil {
			return nil, err
		}
		for _, summary := range page.Summaries {
			for _, p := range summary.Properties {
				a, err := c.property(ctx, creds, p.Property)
				if err != nil {
					return nil, err
				}
				accounts = append(accounts, a)
			}
		}
		if page.Next == "" {
			return accounts, nil
		}
		query.Set("pageToken", page.Next)
	}
}

// property reads the time zone and the currency of a property, which the list
// omits.
func (c *Client) property(ctx context.Context, creds connection.Credentials, name string) (connection.Account, error) {
	id := strings.TrimPrefix(name, "properties/")
	if !isDigits(id) {
		return connection.Account{}, googleauth.MalformedAnswer("Google Analytics names a property without a number.")
	}
	var p struct {
		DisplayName  string `json:"displayName"`
		CurrencyCode string `json:"currencyCode"`
		TimeZone     string `json:"timeZone"`
	}
	if err := c.get(ctx, creds, "properties/"+id, nil, &p); err != nil {
		return connection.Account{}, err
	}
	link := "https://analytics.google.com/analytics/web/#/p" + id
	return connection.Account{
		ExternalID: id, Name: p.DisplayName, Currency: money.Currency(p.CurrencyCode), Timezone: p.TimeZone, URL: &link, Enabled: true,
	}, nil
}

func (c *Client) get(ctx context.Context, creds connection.Credentials, path string, query url.Values, out any) error {
	_, err := c.admin.Do(ctx, transport.Call{Method: http.MethodGet, Path: "/" + version + "/" + path, Query: query, Header: googleauth.Bearer(creds)}, out)
	return err
}

// isDigits guards ids that become part of a path.
func isDigits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// Status implements connection.Client. It always returns an error.
func (c *Client) Status(context.Context, connection.Credentials, string, string) (connection.Observed, error) {
	return connection.Observed{}, readOnly()
}

// SetStatus implements connection.Client. It always returns an error.
func (c *Client) SetStatus(context.Context, connection.Credentials, string, string, bool) error {
	return readOnly()
}

func readOnly() error {
	return &connection.Error{Class: connection.Forbidden, Code: "read_only", Message: "Google Analytics only measures; campaigns are run on the platform that they are from."}
}

// readError returns the error of an answer, nil if there is none.
func readError(status int, _ http.Header, body []byte, now time.Time) *connection.Error {
	e, said := googleauth.ReadError(status, body, now)
	if e == nil || e.Class != connection.Throttled || !e.Until.Equal(now.Add(googleauth.DefaultWait)) {
		return e
	}
	// If Google names no time, the message names the exhausted quota.
	switch message := strings.ToLower(said.Message); {
	case strings.Contains(message, "per day"):
		e.Until = nextDay(now)
	case strings.Contains(message, "per hour"):
		e.Until = nextHour(now)
	}
	return e
}

func nextHour(now time.Time) time.Time { return now.Truncate(time.Hour).Add(time.Hour) }

// nextDay returns when daily quotas restart: at midnight in California, in
// standard time (PST) all year.
func nextDay(now time.Time) time.Time {
	const pst = -8 * 60 * 60
	year, month, day := now.In(time.FixedZone("PST", pst)).Date()
	return time.Date(year, month, day+1, 0, 0, 0, 0, time.FixedZone("PST", pst))
}
