// Package meta is the client of Meta Ads: the Marketing API, which is a part of
// the Graph API. It stores nothing.
package meta

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"fanfare/internal/adplatform/transport"
	"fanfare/internal/clock"
	"fanfare/internal/connection"
	"fanfare/internal/money"
)

// Version is the API version.
const Version = "v26.0"

// sunset is the last day of Version.
//
// Choice: Meta announces the day only after two newer versions. Versions of the
// Marketing API have lasted about a year, and this one was released on 29 July
// 2026.
var sunset = clock.MakeDate(2027, time.July, 29)

const (
	graphHost  = "https://graph.facebook.com"
	dialogHost = "https://www.facebook.com"
	// channel is the channel of all Meta ads.
	channel = "social"
)

// pageSize is the number of objects per page.
//
// Choice: large enough for few pages, small enough for a page within the
// timeout.
const pageSize = 500

// Client is the client of Meta Ads.
type Client struct {
	t      *transport.Transport
	dialog string
	now    func() time.Time
	sleep  func(ctx context.Context, d time.Duration) error
}

var (
	_ connection.Client  = (*Client)(nil)
	_ connection.Grantor = (*Client)(nil)
)

// New returns a client. Without a base URL it calls Meta's hosts. With a base
// URL, the hosts are paths below it.
func New(o transport.Options) *Client {
	dialog := cmp.Or(o.Base, dialogHost)
	o.Base = cmp.Or(o.Base, graphHost)
	o.ReadError = readError
	if o.Sleep == nil {
		o.Sleep = transport.Sleep
	}
	return &Client{transport.New(o), dialog, o.Now, o.Sleep}
}

// About implements connection.Client.
func (*Client) About() connection.About {
	return connection.About{
		Platform: connection.PlatformMetaAds, Name: "Meta Ads", Version: Version, Sunset: &sunset,
		LookbackDays: 28, HistoryDays: 1125, WindowDays: 30,
		Levels: []connection.Level{
			connection.LevelAccount, connection.LevelCampaign, connection.LevelAd, connection.LevelGeo, connection.LevelDemographic, connection.LevelDevice,
		},
		Scopes: []string{"ads_read"}, WriteScopes: []string{"ads_management"},
		Capabilities: []string{
			connection.CapabilityReadMetrics, connection.CapabilityReadCampaigns, connection.CapabilityWriteCampaigns,
			connection.CapabilityReadAudiences, connection.CapabilityReadCreative,
		},
	}
}

// call sends a call and waits as the usage headers of the answer require.
func (c *Client) call(ctx context.Context, cred connection.Credentials, call transport.Call, out any) error {
	if call.Query == nil {
		call.Query = url.Values{}
	}
	call.Path = "/" + Version + call.Path
	call.Query.Set("access_token", cred.Access.Reveal())
	header, err := c.t.Do(ctx, call, out)
	now := c.now()
	if until := readUsage(header).nextCall(now); until.After(now) {
		c.t.Hold(ctx, call.Account, until)
	}
	return err
}

// page is one page of a list.
type page[T any] struct {
	Data   []T `json:"data"`
	Paging struct {
		Next    string `json:"next"`
		Cursors struct {
			After string `json:"after"`
		} `json:"cursors"`
	} `json:"paging"`
	Summary struct {
		Impressions string `json:"impressions"`
	} `json:"summary"`
}

// maxRepeats is how often a cursor may repeat before the list counts as
// endless.
const maxRepeats = 3

// readPages reads all pages of a list.
func readPages[T any](ctx context.Context, c *Client, cred connection.Credentials, account, path string, query url.Values, each func(*page[T]) error) error {
	query.Set("limit", strconv.Itoa(pageSize))
	asked := map[string]int{}
	for {
		var p page[T]
		if err := c.call(ctx, cred, transport.Call{Method: http.MethodGet, Path: path, Query: query, Account: account}, &p); err != nil {
			return err
		}
		if p.Data == nil {
			return malformedError("it has no list")
		}
		if err := each(&p); err != nil {
			return err
		}
		// The URL of the next page is not used: it contains the token, and an
		// answer must not decide where a token is sent.
		if p.Paging.Next == "" {
			return nil
		}
		after := p.Paging.Cursors.After
		if asked[after]++; asked[after] > maxRepeats {
			return reportChanged("The pages of a list go in circles.")
		}
		query.Set("after", after)
	}
}

// readAll reads a whole list.
func readAll[T any](ctx context.Context, c *Client, cred connection.Credentials, account, path, fields string) (list []T, err error) {
	err = readPages(ctx, c, cred, account, path, url.Values{"fields": {fields}}, func(p *page[T]) error {
		list = append(list, p.Data...)
		return nil
	})
	return list, err
}

// accountPath returns the path of an account.
func accountPath(account string) string { return "/act_" + url.PathEscape(account) }

// accountClosed is the status of a closed account.
const accountClosed = 101

// Accounts implements connection.Client.
func (c *Client) Accounts(ctx context.Context, cred connection.Credentials) ([]connection.Account, error) {
	type account struct {
		ID       string         `json:"account_id"`
		Name     string         `json:"name"`
		Status   int            `json:"account_status"`
		Currency money.Currency `json:"currency"`
		Zone     string         `json:"timezone_name"`
	}
	found, err := readAll[account](ctx, c, cred, "", "/me/adaccounts", "account_id,name,account_status,currency,timezone_name")
	if err != nil {
		return nil, err
	}
	var accounts []connection.Account
	for _, a := range found {
		if a.Status == accountClosed {
			continue
		}
		at := "https://adsmanager.facebook.com/adsmanager/manage/campaigns?act=" + a.ID
		accounts = append(accounts, connection.Account{
			ExternalID: a.ID, Platform: connection.PlatformMetaAds, Name: cmp.Or(a.Name, a.ID), Currency: a.Currency, Timezone: a.Zone, URL: &at, Enabled: true,
		})
	}
	return accounts, nil
}

// namedObject has the members that all objects have.
type namedObject struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// objectStatus is the configured status and the effective one.
type objectStatus struct {
	Configured string `json:"status"`
	Effective  string `json:"effective_status"`
}

// observed returns the status that counts.
//
// Choice: the effective status, except during a change: then the configured
// one. WITH_ISSUES delivers, though not everywhere.
func (s objectStatus) observed() connection.Observed {
	word := cmp.Or(s.Effective, s.Configured)
	if word == "IN_PROCESS" {
		word = s.Configured
	}
	return connection.Observed{Status: word, Runs: deliveringStatuses[word], Stopped: stoppedStatuses[s.Configured] && (s.Effective == "" || stoppedStatuses[s.Effective])}
}

// deliveringStatuses and stoppedStatuses are the values of effective_status in
// which a campaign delivers, and those in which it never does. Other values
// confirm neither.
var (
	deliveringStatuses = map[string]bool{"ACTIVE": true, "WITH_ISSUES": true}
	stoppedStatuses    = map[string]bool{"PAUSED": true, "ARCHIVED": true, "DELETED": true}
)

// Entities implements connection.Client.
func (c *Client) Entities(ctx context.Context, cred connection.Credentials, account string) (*connection.Entities, error) {
	e := &connection.Entities{Groups: map[string]string{}}
	if err := c.readCampaigns(ctx, cred, account, e); err != nil {
		return nil, err
	}
	if err := c.readAdSets(ctx, cred, account, e); err != nil {
		return nil, err
	}
	if err := c.readAds(ctx, cred, account, e); err != nil {
		return nil, err
	}
	return e, c.readAudiences(ctx, cred, account, e)
}

func (c *Client) readCampaigns(ctx context.Context, cred connection.Credentials, account string, e *connection.Entities) error {
	type campaign struct {
		namedObject
		objectStatus
	}
	found, err := readAll[campaign](ctx, c, cred, account, accountPath(account)+"/campaigns", "id,name,status,effective_status")
	for _, f := range found {
		o := f.observed()
		e.Campaigns = append(e.Campaigns, connection.Entity{External: f.ID, Name: f.Name, Status: o.Status, Runs: o.Runs, Channel: channel})
	}
	return err
}

// readAdSets reads the audience of each ad set.
//
// Choice: an ad set with several audiences counts as one without, because their
// metrics are not separate.
func (c *Client) readAdSets(ctx context.Context, cred connection.Credentials, account string, e *connection.Entities) error {
	type group struct {
		namedObject
		Targeting struct {
			Audiences []namedObject `json:"custom_audiences"`
		} `json:"targeting"`
	}
	found, err := readAll[group](ctx, c, cred, account, accountPath(account)+"/adsets", "id,targeting")
	for _, f := range found {
		if len(f.Targeting.Audiences) == 1 {
			e.Groups[f.ID] = f.Targeting.Audiences[0].ID
		}
	}
	return err
}

func (c *Client) readAds(ctx context.Context, cred connection.Credentials, account string, e *connection.Entities) error {
	type ad struct {
		namedObject
		objectStatus
		Creative struct {
			Story struct {
				LinkData struct {
					Link string `json:"link"`
				} `json:"link_data"`
			} `json:"object_story_spec"`
		} `json:"creative"`
	}
	found, err := readAll[ad](ctx, c, cred, account, accountPath(account)+"/ads", "id,name,status,effective_status,creative{object_story_spec{link_data{link}}}")
	for _, f := range found {
		o := f.observed()
		e.Ads = append(e.Ads, connection.Entity{External: f.ID, Name: f.Name, Status: o.Status, Runs: o.Runs, Channel: channel, URL: f.Creative.Story.LinkData.Link})
	}
	return err
}

func (c *Client) readAudiences(ctx context.Context, cred connection.Credentials, account string, e *connection.Entities) error {
	type audience struct {
		namedObject
		AtLeast *int64 `json:"approximate_count_lower_bound"`
	}
	found, err := readAll[audience](ctx, c, cred, account, accountPath(account)+"/customaudiences", "id,name,approximate_count_lower_bound")
	for _, f := range found {
		// -1 means that Meta does not disclose the number.
		if f.AtLeast != nil && *f.AtLeast < 0 {
			f.AtLeast = nil
		}
		e.Audiences = append(e.Audiences, connection.Entity{External: f.ID, Name: f.Name, Channel: channel, Size: f.AtLeast})
	}
	return err
}

// Status implements connection.Client.
func (c *Client) Status(ctx context.Context, cred connection.Credentials, account, campaign string) (connection.Observed, error) {
	var s struct {
		ID      string `json:"id"`
		Account string `json:"account_id"`
		objectStatus
	}
	err := c.call(ctx, cred, transport.Call{
		Method: http.MethodGet, Path: "/" + url.PathEscape(campaign), Query: url.Values{"fields": {"id,status,effective_status"}}, Account: account, Urgent: true,
	}, &s)
	if err != nil || s.ID != campaign {
		return connection.Observed{}, err
	}
	if cmp.Or(s.Account, account) != account {
		return connection.Observed{}, transport.Contradiction("Meta reports the campaign in another account.")
	}
	o := s.observed()
	// A change in progress is not applied yet.
	o.Runs = deliveringStatuses[cmp.Or(s.Effective, s.Configured)]
	return o, nil
}

// SetStatus implements connection.Client.
func (c *Client) SetStatus(ctx context.Context, cred connection.Credentials, account, campaign string, run bool) error {
	word := "PAUSED"
	if run {
		word = "ACTIVE"
	}
	return c.call(ctx, cred, transport.Call{
		Method: http.MethodPost, Path: "/" + url.PathEscape(campaign), JSON: map[string]string{"status": word}, Account: account, Urgent: true,
	}, nil)
}
