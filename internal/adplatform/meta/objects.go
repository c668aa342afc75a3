package meta

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"strings"

	"fanfare/internal/adplatform/transport"
	"fanfare/internal/connection"
	"fanfare/internal/money"
)

// accountClosed is the status of a closed account. Accounts with another status
// than active, such as disabled or unsettled, still have metrics, which change
// for 28 days.
const accountClosed = 101

// listedAccount is an account in the list of a token.
type listedAccount struct {
	ID       string         `json:"account_id"`
	Name     string         `json:"name"`
	Status   int            `json:"account_status"`
	Currency money.Currency `json:"currency"`
	Zone     string         `json:"timezone_name"`
	// Tasks are what the person may do in the account, nil if it is not known.
	Tasks []string `json:"user_tasks"`
}

const (
	accountFields = "account_id,name,account_status,currency,timezone_name"
	// optionalFields need more rights than the others. One field without rights
	// fails the whole list.
	optionalFields = ",user_tasks"
)

// Accounts implements connection.Client.
func (c *Client) Accounts(ctx context.Context, cred connection.Credentials) ([]connection.Account, error) {
	list := func(fields string) ([]listedAccount, error) {
		return readAll[listedAccount](ctx, c, cred, "", "/me/adaccounts", url.Values{"fields": {fields}})
	}
	found, err := list(accountFields + optionalFields)
	if class := connection.ClassOf(err); err != nil && (class == connection.Forbidden || class == connection.Refused) {
		found, err = list(accountFields)
	}
	if err != nil {
		return nil, worthRetry(err)
	}
	var accounts []connection.Account
	for _, a := range found {
		if a.Status == accountClosed {
			continue
		}
		at := "https://adsmanager.facebook.com/adsmanager/manage/campaigns?act=" + a.ID
		account := connection.Account{
			ExternalID: a.ID, Platform: connection.PlatformMetaAds, Name: cmp.Or(a.Name, a.ID), Currency: a.Currency, Timezone: a.Zone, URL: &at, Enabled: true,
		}
		if a.Tasks != nil && len(a.Tasks) == 0 {
			account.Problem = &connection.Error{
				Class: connection.Forbidden, Code: "no_task",
				Message: "You have no role in this ad account.",
				Remedy:  "Ask an administrator of the ad account for the task View performance: Meta Business Suite, Settings, Ad accounts, Assign people. Then sync again.",
			}
		}
		accounts = append(accounts, account)
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

// objectStatuses are the values of effective_status by level (facebook-business
// 26.0.3, adobjects/campaign.py, adset.py and ad.py). Meta omits objects with
// some of them unless they are named.
var objectStatuses = map[string][]string{
	"campaign": {"ACTIVE", "ARCHIVED", "DELETED", "IN_PROCESS", "PAUSED", "WITH_ISSUES"},
	"adset":    {"ACTIVE", "ARCHIVED", "CAMPAIGN_PAUSED", "DELETED", "IN_PROCESS", "PAUSED", "WITH_ISSUES"},
	"ad": {
		"ACTIVE", "ADSET_PAUSED", "ARCHIVED", "CAMPAIGN_PAUSED", "DELETED", "DISAPPROVED", "IN_PROCESS", "PAUSED", "PENDING_BILLING_INFO",
		"PENDING_REVIEW", "PREAPPROVED", "WITH_ISSUES",
	},
}

// listParams returns the parameters of a list of objects, archived ones
// included. Meta refuses to list deleted ones: their names are in the reports.
func listParams(level, fields string) url.Values {
	var statuses []string
	for _, status := range objectStatuses[level] {
		if status != "DELETED" {
			statuses = append(statuses, `"`+status+`"`)
		}
	}
	return url.Values{"fields": {fields}, "effective_status": {"[" + strings.Join(statuses, ",") + "]"}}
}

// Entities implements connection.Client.
func (c *Client) Entities(ctx context.Context, cred connection.Credentials, account string) (*connection.Entities, error) {
	e := &connection.Entities{Groups: map[string]string{}}
	for _, read := range []func(context.Context, connection.Credentials, string, *connection.Entities) error{
		c.readCampaigns, c.readAdSets, c.readAds, c.readAudiences,
	} {
		if err := read(ctx, cred, account, e); err != nil {
			return nil, worthRetry(err)
		}
	}
	return e, nil
}

func (c *Client) readCampaigns(ctx context.Context, cred connection.Credentials, account string, e *connection.Entities) error {
	type campaign struct {
		namedObject
		objectStatus
	}
	found, err := readAll[campaign](ctx, c, cred, account, accountPath(account)+"/campaigns", listParams("campaign", "id,name,status,effective_status"))
	for _, f := range found {
		o := f.observed()
		e.Campaigns = append(e.Campaigns, connection.Entity{External: f.ID, Name: f.Name, Status: o.Status, Runs: o.Runs, Channel: channel})
	}
	return err
}

// readAdSets reads the audience of each ad set, and the events that the account
// optimizes for.
//
// Choice: an ad set with several audiences counts as one without, because their
// metrics are not separate.
func (c *Client) readAdSets(ctx context.Context, cred connection.Credentials, account string, e *connection.Entities) error {
	type group struct {
		namedObject
		promotion
		Targeting struct {
			Audiences []namedObject `json:"custom_audiences"`
		} `json:"targeting"`
	}
	found, err := readAll[group](ctx, c, cred, account, accountPath(account)+"/adsets", listParams("adset", "id,targeting,optimization_goal,promoted_object"))
	var promotions []promotion
	for _, f := range found {
		promotions = append(promotions, f.promotion)
		if len(f.Targeting.Audiences) == 1 {
			e.Groups[f.ID] = f.Targeting.Audiences[0].ID
		}
	}
	e.Results = resultEvents(promotions)
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
	found, err := readAll[ad](ctx, c, cred, account, accountPath(account)+"/ads", listParams("ad", "id,name,status,effective_status,creative{object_story_spec{link_data{link}}}"))
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
	found, err := readAll[audience](ctx, c, cred, account, accountPath(account)+"/customaudiences", url.Values{"fields": {"id,name,approximate_count_lower_bound"}})
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
		return connection.Observed{}, worthRetry(err)
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
	return worthRetry(c.change(ctx, cred, transport.Call{
		Method: http.MethodPost, Path: "/" + url.PathEscape(campaign), JSON: map[string]string{"status": word}, Account: account, Urgent: true,
	}))
}
