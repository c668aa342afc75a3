// Package microsoft is the client of Microsoft Advertising, version 13 of its
// REST API. It reads accounts and entities, reads metrics from report files, and
// sets the status of campaigns. Microsoft names errors by numbers in the body,
// also in answers with status 200.
package microsoft

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	"fanfare/internal/adplatform/transport"
	"fanfare/internal/connection"
	"fanfare/internal/secret"
)

// Hosts of the services (PyPI msads 13.0.30.1, bingads/service_client.py and
// bingads/authorization.py).
const (
	loginHost    = "https://login.microsoftonline.com"
	customerHost = "https://clientcenter.api.bingads.microsoft.com"
	campaignHost = "https://campaign.api.bingads.microsoft.com"
	reportHost   = "https://reporting.api.bingads.microsoft.com"
	// anyHost accepts every URL of a file, because the host of files changes.
	// Calls to it have no credentials.
	anyHost = "https:"
)

const (
	// Platform is the name of the platform in facts.
	Platform      = "microsoft_ads"
	version       = "v13"
	customerPath  = "/CustomerManagement/" + version + "/"
	campaignPath  = "/CampaignManagement/" + version + "/"
	reportingPath = "/Reporting/" + version + "/"
	scope         = "https://ads.microsoft.com/msads.manage"
	// callsPerSecond is per customer. Choice: Microsoft limits the calls of a
	// minute and does not publish the limit.
	callsPerSecond = 5
	// testToken is the developer token that Microsoft publishes for its sandbox
	// (learn.microsoft.com/advertising/guides/sandbox). It opens nothing.
	testToken = "BBD37VB98"
)

// Client is the client of Microsoft Advertising. It implements connection.Client
// and connection.Grantor.
type Client struct {
	tokens, customers, campaigns, reports, files *transport.Transport
	consent                                      string
	// developerToken is that of apps without one, empty for none.
	developerToken string
	now            func() time.Time
	sleep          func(ctx context.Context, d time.Duration) error
	owners         ownerTable
	slots          slotTable
	// groups is the number of ad groups whose ads are listed.
	groups int
}

// New returns a client. Without a base URL it calls Microsoft, with one the
// simulation there. It sets its own ReadError.
func New(o transport.Options) *Client {
	c := &Client{consent: loginHost, now: o.Now, sleep: o.Sleep, groups: maxGroups}
	if c.sleep == nil {
		c.sleep = transport.Sleep
	}
	if o.Base != "" {
		c.consent, c.developerToken = o.Base, testToken
	}
	service := func(host, name string, readError func(int, http.Header, []byte, time.Time) *connection.Error) *transport.Transport {
		s := o
		if s.Base == "" {
			s.Base, s.PerSecond = host, callsPerSecond
		}
		s.Name, s.ReadError = s.Name+name, readError
		return transport.New(s)
	}
	c.tokens = service(loginHost, "/token", readTokenError)
	c.customers = service(customerHost, "", readError)
	c.campaigns = service(campaignHost, "", readError)
	c.reports = service(reportHost, "", readError)
	c.files = service(anyHost, "/file", readFileError)
	return c
}

// About implements connection.Client.
//
// Choice: conversions are dated by the click and counted for up to 90 days, so
// recent days are read again often, and 90 days once a week. Microsoft has not
// announced the end of version 13.
func (c *Client) About() connection.About {
	return connection.About{
		Platform: Platform, Name: "Microsoft Advertising", Version: version,
		LookbackDays: 30, DeepDays: 90, HistoryDays: historyDays, WindowDays: 30,
		Calls: connection.CallCost{Entities: 17, List: 2, Reports: map[connection.Level]int64{
			connection.LevelAccount: 3, connection.LevelCampaign: 3, connection.LevelAd: 6, connection.LevelGeo: 3, connection.LevelDemographic: 6, connection.LevelDevice: 6,
		}},
		Levels: []connection.Level{
			connection.LevelAccount, connection.LevelCampaign, connection.LevelAd,
			connection.LevelGeo, connection.LevelDemographic, connection.LevelDevice,
		},
		Scopes: []string{scope}, WriteScopes: []string{scope},
		Capabilities: []string{
			connection.CapabilityReadMetrics, connection.CapabilityReadCampaigns, connection.CapabilityWriteCampaigns,
			connection.CapabilityReadAudiences, connection.CapabilityReadCreative,
		},
	}
}

// splitSecret returns the client secret and the developer token of an app.
//
// Choice: an app's secret is SECRET:DEVELOPER_TOKEN, because every call needs a
// developer token and it belongs to the app as its secret does. Client secrets
// have no colon.
func splitSecret(a connection.OAuthClient) (key, developer secret.Text) {
	text := a.Secret.Reveal()
	if at := strings.LastIndexByte(text, ':'); at >= 0 {
		return secret.New(text[:at]), secret.New(text[at+1:])
	}
	return a.Secret, secret.New("")
}

// call sends a call with the credentials.
func (c *Client) call(ctx context.Context, service *transport.Transport, creds connection.Credentials, call transport.Call, out any) error {
	_, developer := splitSecret(creds.App)
	token := developer.Reveal()
	if token == "" {
		token = c.developerToken
	}
	if token == "" {
		return &connection.Error{
			Class: connection.Forbidden, Code: "no_developer_token", Message: "There is no developer token for Microsoft Advertising.",
			Remedy: "Set the OAuth client of microsoft_ads as ID:SECRET:DEVELOPER_TOKEN, then connect again.",
		}
	}
	if call.Header == nil {
		call.Header = http.Header{}
	}
	call.Header.Set("Authorization", "Bearer "+creds.Access.Reveal())
	call.Header.Set("DeveloperToken", token)
	_, err := service.Do(ctx, call, out)
	return err
}

// callAccount sends a call about an account. Such calls name the customer that
// owns the account. If the call is refused, the account may have a new owner.
func (c *Client) callAccount(ctx context.Context, service *transport.Transport, creds connection.Credentials, account string, call transport.Call, out any) error {
	o, cached, err := c.ownerOf(ctx, creds, account, call.Urgent)
	if err != nil {
		return err
	}
	err = c.callOwned(ctx, service, creds, account, o, call, out)
	switch {
	case hasCode(err, codeForbidden) && cached:
		c.owners.forget(account)
		moved, _, lookup := c.ownerOf(ctx, creds, account, call.Urgent)
		if lookup != nil || moved.customer == o.customer {
			return err
		}
		return c.callOwned(ctx, service, creds, account, moved, call, out)
	case hasCode(err, codeCredentials):
		return c.explainCredentials(ctx, creds, call.Urgent, err)
	}
	return err
}

func (c *Client) callOwned(ctx context.Context, service *transport.Transport, creds connection.Credentials, account string, o owner, call transport.Call, out any) error {
	// The limits are those of the customer.
	call.Account = o.customer
	call.Header = http.Header{}
	call.Header.Set("CustomerId", o.customer)
	call.Header.Set("CustomerAccountId", account)
	return c.call(ctx, service, creds, call, out)
}

// explainCredentials finds out whether an error about the credentials is about
// the account alone: Microsoft has one code for both.
func (c *Client) explainCredentials(ctx context.Context, creds connection.Credentials, urgent bool, refused error) error {
	if _, err := c.userID(ctx, creds, urgent); err != nil {
		return err
	}
	e, _ := errors.AsType[*connection.Error](refused) // it has a code
	account := *e
	account.Class, account.Remedy = connection.Forbidden, "The account is not active in Microsoft Advertising. Reactivate it there, or turn it off here."
	return &account
}

// owner is what calls about an account need to know of it.
type owner struct {
	customer, zone string
	at             time.Time
}

// ownerLife is for how long an owner is not asked for again.
const ownerLife = time.Hour

// ownerTable remembers the owners of accounts. An entry that is wrong costs two
// calls.
type ownerTable struct {
	mu   sync.Mutex
	list map[string]owner
}

func (t *ownerTable) get(account string, now time.Time) (owner, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	o, ok := t.list[account]
	return o, ok && now.Sub(o.at) < ownerLife
}

func (t *ownerTable) set(account string, o owner) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.list == nil {
		t.list = map[string]owner{}
	}
	t.list[account] = o
}

func (t *ownerTable) forget(account string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.list, account)
}

// ownerOf returns the owner of an account, and whether it was known before.
//
// Choice: accounts are named by their id alone and the owner is asked for, so
// that an account stays the same one if its owner changes.
func (c *Client) ownerOf(ctx context.Context, creds connection.Credentials, account string, urgent bool) (o owner, cached bool, err error) {
	if !isDigits(account) {
		return owner{}, false, &connection.Error{Class: connection.Gone, Code: "unknown_account", Message: "An account of Microsoft Advertising has a number."}
	}
	if o, ok := c.owners.get(account, c.now()); ok {
		return o, true, nil
	}
	var answer struct {
		Account *advertiserAccount
	}
	err = c.call(ctx, c.customers, creds, transport.Call{
		Method: http.MethodPost, Path: customerPath + "Account/Query", JSON: map[string]string{"AccountId": account}, Account: account, Urgent: urgent,
	}, &answer)
	if err != nil {
		return owner{}, false, err
	}
	if answer.Account == nil || answer.Account.ID != account || !isDigits(answer.Account.ParentCustomerID) {
		return owner{}, false, transport.Contradiction("Microsoft answered with another account.")
	}
	return c.remember(answer.Account), false, nil
}

// remember stores the owner of an account.
func (c *Client) remember(a *advertiserAccount) owner {
	o := owner{customer: a.ParentCustomerID, zone: a.TimeZone, at: c.now()}
	c.owners.set(a.ID, o)
	return o
}

// isDigits guards ids that become part of a header.
func isDigits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }
