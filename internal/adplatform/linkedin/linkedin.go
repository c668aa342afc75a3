// Package linkedin is the client of LinkedIn's Marketing API. It reads ad
// accounts, entities and metrics, and sets the status of campaigns. The API
// uses Rest.li, whose parentheses and colons in queries must not be escaped.
// LinkedIn has no ad groups: a campaign has its own audience and counts as its
// own group.
package linkedin

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"fanfare/internal/adplatform/transport"
	"fanfare/internal/clock"
	"fanfare/internal/connection"
	"fanfare/internal/money"
)

const (
	apiHost   = "https://api.linkedin.com"
	loginHost = "https://www.linkedin.com"
	version   = "202610"
	// callsPerSecond is per account. LinkedIn counts calls per day and does not
	// publish the limit.
	callsPerSecond = 5
	channel        = "social"
)

// Client implements connection.Client and connection.Grantor.
type Client struct {
	api, login *transport.Transport
	loginBase  string
	now        func() time.Time
}

// New returns a client. Without a base URL it calls LinkedIn, whose OAuth has
// another host than the API.
func New(o transport.Options) *Client {
	o.ReadError = readError
	login := o
	login.Name += "/login"
	if o.Base == "" {
		o.Base, login.Base = apiHost, loginHost
		o.PerSecond = cmp.Or(o.PerSecond, callsPerSecond)
	}
	return &Client{transport.New(o), transport.New(login), login.Base, o.Now}
}

// About implements connection.Client.
//
// Choice: there is no demographic report, because LinkedIn reports occupations
// instead of age and gender.
func (c *Client) About() connection.About {
	// Versions are supported for at least a year.
	sunset := clock.MakeDate(2027, time.October, 1)
	return connection.About{
		Platform: "linkedin_ads", Name: "LinkedIn Ads", Version: version, Sunset: &sunset,
		LookbackDays: 30, HistoryDays: 730, WindowDays: 30,
		Levels: []connection.Level{
			connection.LevelAccount, connection.LevelCampaign, connection.LevelAd, connection.LevelGeo, connection.LevelDevice,
		},
		Scopes: readScopes, WriteScopes: writeScopes,
		Capabilities: []string{
			connection.CapabilityReadMetrics, connection.CapabilityReadCampaigns, connection.CapabilityWriteCampaigns,
			connection.CapabilityReadAudiences, connection.CapabilityReadCreative,
		},
	}
}

// apiHeader returns the header of every API call. method is the Rest.li method.
func apiHeader(cr connection.Credentials, method string) http.Header {
	return http.Header{
		"Authorization":             {"Bearer " + cr.Access.Reveal()},
		"Linkedin-Version":          {version},
		"X-Restli-Protocol-Version": {"2.0.0"},
		"X-Restli-Method":           {method},
	}
}

// errorAnswer is an error of LinkedIn: the API and the OAuth host use different
// members.
type errorAnswer struct {
	ServiceErrorCode int    `json:"serviceErrorCode"`
	Code             string `json:"code"`
	Message          string `json:"message"`
	Error            string `json:"error"`
	Description      string `json:"error_description"`
}

// readError implements transport.Options.ReadError.
func readError(status int, header http.Header, body []byte, now time.Time) *connection.Error {
	if status < http.StatusMultipleChoices {
		return nil
	}
	var said errorAnswer
	if err := json.Unmarshal(body, &said); err != nil {
		// An answer that is not JSON comes from a proxy; the status is enough.
		said = errorAnswer{}
	}
	e := &connection.Error{
		Class:     classOf(status, said),
		Code:      cmp.Or(said.Code, said.Error, strconv.Itoa(cmp.Or(said.ServiceErrorCode, status))),
		Message:   cmp.Or(said.Message, said.Description, "LinkedIn answered with status "+strconv.Itoa(status)+"."),
		RequestID: header.Get("X-Li-Uuid"),
	}
	if e.Class == connection.Throttled {
		e.Until = retryTime(e.Message, now)
	}
	return e
}

// classOf returns the class of an error.
func classOf(status int, said errorAnswer) connection.Class {
	switch {
	case said.Code == "NONEXISTENT_VERSION" || status == http.StatusUpgradeRequired:
		return connection.Sunset
	case said.ServiceErrorCode == 65602 || said.Code == "EXPIRED_ACCESS_TOKEN":
		return connection.Expired
	case said.Error == "invalid_grant" || status == http.StatusUnauthorized:
		return connection.Revoked
	case status == http.StatusRequestURITooLong || status == http.StatusRequestEntityTooLarge,
		status == http.StatusBadRequest && strings.Contains(strings.ToLower(said.Message), "too long"):
		return connection.TooLarge
	}
	return transport.ClassOf(status)
}

// retryTime returns when LinkedIn accepts calls again. A daily quota ends at
// midnight, all others after some minutes: the data limit is over five minutes.
func retryTime(message string, now time.Time) time.Time {
	if strings.Contains(strings.ToUpper(message), "DAY LIMIT") {
		return now.UTC().Truncate(24 * time.Hour).Add(24 * time.Hour)
	}
	return now.Add(330 * time.Second)
}

func reportChanged(message string) error {
	return &connection.Error{Class: connection.PagesDisagree, Code: "paging_drift", Message: message}
}

// Accounts implements connection.Client.
//
// Choice: LinkedIn's accounts have no time zone; its days are in UTC.
func (c *Client) Accounts(ctx context.Context, cr connection.Credentials) ([]connection.Account, error) {
	type account struct {
		ID       int64          `json:"id"`
		Name     string         `json:"name"`
		Currency money.Currency `json:"currency"`
	}
	found, err := readAllPages(ctx, c, cr, "", "/rest/adAccounts", "q=search&search=(status:(values:List(ACTIVE)))&pageSize=1000", func(a account) int64 { return a.ID })
	if err != nil {
		return nil, err
	}
	accounts := []connection.Account{}
	for _, a := range found {
		id := strconv.FormatInt(a.ID, 10)
		page := "https://www.linkedin.com/campaignmanager/accounts/" + id
		accounts = append(accounts, connection.Account{ExternalID: id, Name: a.Name, Currency: a.Currency, Timezone: "UTC", URL: &page, Enabled: true})
	}
	return accounts, nil
}

// campaignPath returns the path of a campaign.
func campaignPath(account, id string) string {
	return "/rest/adAccounts/" + url.PathEscape(account) + "/adCampaigns/" + url.PathEscape(id)
}

// Status implements connection.Client.
func (c *Client) Status(ctx context.Context, cr connection.Credentials, account, id string) (connection.Observed, error) {
	var found struct {
		campaign
		ServiceErrorCode int `json:"serviceErrorCode"`
	}
	_, err := c.api.Do(ctx, transport.Call{Method: http.MethodGet, Path: campaignPath(account, id), Header: apiHeader(cr, "get"), Account: account, Urgent: true}, &found)
	if err != nil {
		return connection.Observed{}, err
	}
	switch urn := accountURN + account; {
	case found.ServiceErrorCode != 0:
		return connection.Observed{}, transport.Contradiction("LinkedIn reports an error beside the campaign.")
	case strconv.FormatInt(found.ID, 10) != id:
		return connection.Observed{}, nil
	case cmp.Or(found.Account, urn) != urn:
		return connection.Observed{}, transport.Contradiction("LinkedIn reports the campaign in another account.")
	}
	return connection.Observed{Status: found.Status, Runs: found.Status == statusActive, Stopped: stoppedStatuses[found.Status]}, nil
}

// SetStatus implements connection.Client.
func (c *Client) SetStatus(ctx context.Context, cr connection.Credentials, account, id string, run bool) error {
	status := statusPaused
	if run {
		status = statusActive
	}
	_, err := c.api.Do(ctx, transport.Call{
		Method: http.MethodPost, Path: campaignPath(account, id), Header: apiHeader(cr, "partial_update"), Account: account, Urgent: true,
		JSON: map[string]any{"patch": map[string]any{"$set": map[string]string{"status": status}}},
	}, nil)
	return err
}
