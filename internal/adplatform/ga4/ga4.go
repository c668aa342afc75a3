// Package ga4 is the client of Google Analytics 4: properties from its Admin
// API, key events and revenue of sessions from its Data API. GA4 measures
// advertising and does not run any, so nothing can be changed through it.
package ga4

import (
	"context"
	"time"

	"fanfare/internal/adplatform/googleauth"
	"fanfare/internal/adplatform/transport"
	"fanfare/internal/connection"
)

const (
	// Platform is the name of the platform in facts.
	Platform  = "ga4"
	version   = "v1beta"
	dataHost  = "https://analyticsdata.googleapis.com"
	adminHost = "https://analyticsadmin.googleapis.com"
	scope     = "https://www.googleapis.com/auth/analytics.readonly"
	// callsPerSecond is per property.
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
	// page is the number of rows per page, metrics that of metrics per request.
	page, metrics int
}

// New returns a client. Without a base URL it calls Google, with one the
// simulation there. It sets its own ReadError.
func New(o transport.Options) *Client {
	c := &Client{Grantor: googleauth.New(o, scope), now: o.Now, page: pageRows, metrics: maxMetrics}
	o.ReadError = readError
	data, admin := o, o
	admin.Name += "/admin"
	if o.Base == "" {
		data.Base, data.PerSecond = dataHost, callsPerSecond
		data.Do = newLimitedDoer(o.Do, o.Now)
		admin.Base, admin.PerSecond = adminHost, callsPerSecond
	}
	c.data, c.admin = transport.New(data), transport.New(admin)
	return c
}

// About implements connection.Client. The last day of the API version is not
// known.
//
// GA4 processes events for up to 48 hours and takes those that arrive up to 72
// hours late (support.google.com/analytics/answer/11198161). Large properties
// take longer, so the last 30 days are read again once a week.
func (c *Client) About() connection.About {
	return connection.About{
		Platform: Platform, Name: "Google Analytics 4", Version: version,
		LookbackDays: 4, DeepDays: 30, HistoryDays: 1125, WindowDays: 30,
		Levels: []connection.Level{
			connection.LevelAccount, connection.LevelCampaign, connection.LevelAd,
			connection.LevelGeo, connection.LevelDemographic, connection.LevelDevice,
		},
		Scopes:       []string{scope},
		Calls:        connection.CallCost{Entities: 2, List: 1, ListSize: 1, Reports: map[connection.Level]int64{connection.LevelAccount: 2, connection.LevelCampaign: 1, connection.LevelAd: 1, connection.LevelGeo: 1, connection.LevelDemographic: 1, connection.LevelDevice: 1}},
		Quotas:       []connection.Quota{{Name: "a standard property (200,000 tokens a day, about 10 for a report)", Calls: 20_000, Seconds: 24 * 3600, Scope: connection.ScopeAccount}},
		Capabilities: []string{"read_metrics", "read_campaigns"},
	}
}

// Status implements connection.Client. It always returns an error.
func (c *Client) Status(context.Context, connection.Credentials, string, string) (connection.Observed, error) {
	return connection.Observed{}, readOnly()
}

// SetStatus implements connection.Client. It always returns an error.
func (c *Client) SetStatus(context.Context, connection.Credentials, string, string, bool) error {
	return readOnly()
}

func readOnly() error {
	return &connection.Error{Class: connection.Forbidden, Code: "read_only", Message: "Google Analytics only measures; campaigns are run on the platform that they are from.", Remedy: "Change the campaign on the platform that it is from."}
}
