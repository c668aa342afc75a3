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
	"slices"
	"strconv"
	"time"

	"fanfare/internal/adplatform/transport"
	"fanfare/internal/clock"
	"fanfare/internal/connection"
	"fanfare/internal/money"
)

const (
	apiHost   = "https://api.linkedin.com"
	loginHost = "https://www.linkedin.com"
	version   = "202610"
	// callsPerSecond is per account. LinkedIn counts the calls of a day by
	// resource, for the app and for the member, and publishes no limit.
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
		// Choice: conversion rules have windows of their own, some longer than
		// the lookback, and the report does not name them.
		LookbackDays: 30, HistoryDays: 730, WindowDays: 30, DeepDays: 90,
		Levels: []connection.Level{
			connection.LevelAccount, connection.LevelCampaign, connection.LevelAd, connection.LevelGeo, connection.LevelDevice,
		},
		Scopes: readScopes, WriteScopes: writeScopes,
		Calls: connection.CallCost{
			Entities: 3, Reports: map[connection.Level]int64{connection.LevelAccount: 1, connection.LevelCampaign: 1, connection.LevelAd: 1, connection.LevelGeo: 2, connection.LevelDevice: 1}, List: 1,
			Chosen: map[connection.Level]int64{connection.LevelAccount: 2, connection.LevelCampaign: 2, connection.LevelAd: 2},
			// Access is checked if there are no rows.
			Empty: 1,
		},
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

// accountStatuses are all states of an account except DRAFT, which never had a
// campaign. LinkedIn keeps the numbers of closed accounts, and changes the
// latest of them for a while.
var accountStatuses = []string{statusActive, "CANCELED", "PENDING_DELETION", "REMOVED"}

type account struct {
	ID       int64          `json:"id"`
	Name     string         `json:"name"`
	Currency money.Currency `json:"currency"`
	Status   string         `json:"status"`
}

// Accounts implements connection.Client. It also lists accounts that are closed,
// because their numbers can be read; they are not enabled.
//
// Choice: LinkedIn's accounts have no time zone; its days are in UTC.
func (c *Client) Accounts(ctx context.Context, cr connection.Credentials) ([]connection.Account, error) {
	query := "q=search&search=(status:(values:" + wordList(accountStatuses) + "))&pageSize=1000"
	found, err := readAllPages(ctx, c, cr, "", "/rest/adAccounts", query, func(a account) int64 { return a.ID })
	if err != nil {
		return nil, err
	}
	accounts := []connection.Account{}
	for _, a := range found {
		id := strconv.FormatInt(a.ID, 10)
		page := "https://www.linkedin.com/campaignmanager/accounts/" + id
		accounts = append(accounts, connection.Account{
			ExternalID: id, Name: a.Name, Currency: a.Currency, Timezone: "UTC", URL: &page, Enabled: a.Status == statusActive,
		})
	}
	return accounts, nil
}

// checkReadable returns an error if the member may not read the account or its
// reports. LinkedIn answers a report without access as one without activity, so
// an empty report counts only if this check passes.
func (c *Client) checkReadable(ctx context.Context, cr connection.Credentials, id string) error {
	if len(cr.Scopes) > 0 && !slices.Contains(cr.Scopes, reportScope) {
		return &connection.Error{Class: connection.Forbidden, Code: "scope_missing", Message: "LinkedIn was not asked for the scope " + reportScope + ".", Remedy: reconnect}
	}
	var found account
	_, err := c.api.Do(ctx, transport.Call{Method: http.MethodGet, Path: accountPath(id), Header: apiHeader(cr, "get"), Account: id}, &found)
	if err == nil && strconv.FormatInt(found.ID, 10) != id {
		return transport.Contradiction("LinkedIn answers with another account.")
	}
	return err
}

func accountPath(id string) string { return "/rest/adAccounts/" + url.PathEscape(id) }

// campaignPath returns the path of a campaign.
func campaignPath(account, id string) string {
	return accountPath(account) + "/adCampaigns/" + url.PathEscape(id)
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
