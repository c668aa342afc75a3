package tiktok

import (
	"cmp"
	"context"
	"net/http"
	"net/url"

	"github.com/go-json-experiment/json"

	"fanfare/internal/adplatform/transport"
	"fanfare/internal/connection"
)

// statusEnabled is the operation_status of an object that delivers unless
// TikTok has another reason.
const statusEnabled = "ENABLE"

// statusDisabled and statusFrozen are the values of operation_status in which a
// campaign does not deliver. A frozen one has ended permanently.
const (
	statusDisabled = "DISABLE"
	statusFrozen   = "FROZEN"
)

type campaign struct {
	ID      string `json:"campaign_id"`
	Account string `json:"advertiser_id"`
	Name    string `json:"campaign_name"`
	Status  string `json:"operation_status"`
}

type group struct {
	ID        string   `json:"adgroup_id"`
	Audiences []string `json:"audience_ids"`
}

type ad struct {
	ID     string `json:"ad_id"`
	Name   string `json:"ad_name"`
	Status string `json:"operation_status"`
	URL    string `json:"landing_page_url"`
}

type audience struct {
	ID   string `json:"audience_id"`
	Name string `json:"name"`
	Size *int64 `json:"cover_num"`
}

// Entities implements connection.Client.
//
// Choice: an ad group with several audiences counts as one without, because
// TikTok does not report the metrics of each.
func (c *Client) Entities(ctx context.Context, cr connection.Credentials, account string) (*connection.Entities, error) {
	access := cr.Access.Reveal()
	campaigns, err := readList(ctx, c, access, account, "/campaign/get/", fieldsQuery("campaign_id", "campaign_name", "operation_status"), 1000, func(x campaign) string { return x.ID })
	if err != nil {
		return nil, err
	}
	groups, err := readList(ctx, c, access, account, "/adgroup/get/", fieldsQuery("adgroup_id", "audience_ids"), 1000, func(x group) string { return x.ID })
	if err != nil {
		return nil, err
	}
	ads, err := readList(ctx, c, access, account, "/ad/get/", fieldsQuery("ad_id", "ad_name", "operation_status", "landing_page_url"), 1000, func(x ad) string { return x.ID })
	if err != nil {
		return nil, err
	}
	audiences, err := readList(ctx, c, access, account, "/dmp/custom_audience/list/", url.Values{}, 100, func(x audience) string { return x.ID })
	if err != nil {
		return nil, err
	}
	found := &connection.Entities{Groups: map[string]string{}}
	for _, x := range campaigns {
		found.Campaigns = append(found.Campaigns, connection.Entity{External: x.ID, Name: x.Name, Status: x.Status, Runs: x.Status == statusEnabled, Channel: channel})
	}
	for _, x := range groups {
		if len(x.Audiences) == 1 {
			found.Groups[x.ID] = x.Audiences[0]
		}
	}
	for _, x := range ads {
		found.Ads = append(found.Ads, connection.Entity{External: x.ID, Name: x.Name, Status: x.Status, Runs: x.Status == statusEnabled, Channel: channel, URL: x.URL})
	}
	for _, x := range audiences {
		found.Audiences = append(found.Audiences, connection.Entity{External: x.ID, Name: x.Name, Size: x.Size})
	}
	return found, nil
}

func fieldsQuery(names ...string) url.Values { return url.Values{"fields": {jsonList(names)}} }

// readList reads all objects of one kind of an account.
func readList[T any](ctx context.Context, c *Client, access, account, path string, query url.Values, size int, id func(T) string) ([]T, error) {
	query.Set("advertiser_id", account)
	found, seen := []T{}, map[string]bool{}
	total, err := readPages(ctx, c, access, transport.Call{Method: http.MethodGet, Path: path, Query: query, Account: account}, size, func(page []T) error {
		for _, x := range page {
			if !seen[id(x)] {
				seen[id(x)] = true
				found = append(found, x)
			}
		}
		return nil
	})
	if err == nil && len(found) != total {
		err = reportChanged("The list has more or fewer entries than TikTok says.")
	}
	return found, err
}

// Status implements connection.Client.
func (c *Client) Status(ctx context.Context, cr connection.Credentials, account, id string) (connection.Observed, error) {
	only, err := json.Marshal(map[string][]string{"campaign_ids": {id}})
	if err != nil {
		return connection.Observed{}, &connection.Error{Class: connection.Refused, Code: "invalid_id", Message: "The campaign's id is not text."}
	}
	query := fieldsQuery("campaign_id", "campaign_name", "operation_status")
	query.Set("advertiser_id", account)
	query.Set("filtering", string(only))
	got, err := callAPI[listPage[campaign]](ctx, c, cr.Access.Reveal(), transport.Call{Method: http.MethodGet, Path: "/campaign/get/", Query: query, Account: account, Urgent: true})
	if err != nil {
		return connection.Observed{}, err
	}
	switch {
	case got.List == nil:
		return connection.Observed{}, transport.Contradiction("TikTok's answer has no list of campaigns.")
	case len(got.List) == 0:
		return connection.Observed{}, &connection.Error{Class: connection.Gone, Code: "campaign_gone", Message: "The account has no such campaign any more."}
	case len(got.List) > 1 || got.List[0].ID != id:
		return connection.Observed{}, transport.Contradiction("TikTok reports other campaigns than the one that was asked for.")
	case cmp.Or(got.List[0].Account, account) != account:
		return connection.Observed{}, transport.Contradiction("TikTok reports the campaign in another account.")
	}
	status := got.List[0].Status
	return connection.Observed{Status: status, Runs: status == statusEnabled, Stopped: status == statusDisabled || status == statusFrozen}, nil
}

// SetStatus implements connection.Client.
func (c *Client) SetStatus(ctx context.Context, cr connection.Credentials, account, id string, run bool) error {
	status := statusDisabled
	if run {
		status = statusEnabled
	}
	_, err := callAPI[struct{}](ctx, c, cr.Access.Reveal(), transport.Call{
		Method: http.MethodPost, Path: "/campaign/status/update/", Account: account, Urgent: true,
		JSON: map[string]any{"advertiser_id": account, "campaign_ids": []string{id}, "operation_status": status},
	})
	return err
}
