package tiktok

import (
	"cmp"
	"context"
	"net/http"
	"slices"

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

// statusDeleted ends the statuses of an object that is deleted.
const statusDeleted = "DELETE"

// Status implements connection.Client. A campaign that the usual list does not
// have can be one that TikTok lists only when it is asked for; a deleted one is
// in neither.
func (c *Client) Status(ctx context.Context, cr connection.Credentials, account, id string) (connection.Observed, error) {
	ids := []string{id}
	for i, f := range []listFilter{{CampaignIDs: ids}, {CampaignIDs: ids, BuyingTypes: []string{buyingTopView}}, {CampaignIDs: ids, Origins: []string{originPromote}}} {
		query := f.query(campaignFields)
		query.Set("advertiser_id", account)
		got, err := callAPI[listPage[campaign]](ctx, c, cr.Access.Reveal(), transport.Call{Method: http.MethodGet, Path: "/campaign/get/", Query: query, Account: account, Urgent: true})
		switch {
		case err != nil && i > 0 && isRefusal(err):
			continue
		case err != nil:
			return connection.Observed{}, err
		case got.List == nil:
			return connection.Observed{}, transport.Contradiction("TikTok's answer has no list of campaigns.")
		case len(got.List) == 0:
			continue
		case len(got.List) > 1 || got.List[0].ID != id:
			return connection.Observed{}, transport.Contradiction("TikTok reports other campaigns than the one that was asked for.")
		case cmp.Or(got.List[0].Account, account) != account:
			return connection.Observed{}, transport.Contradiction("TikTok reports the campaign in another account.")
		}
		status := got.List[0].Status
		return connection.Observed{Status: shownStatus(status, got.List[0].Secondary), Runs: status == statusEnabled, Stopped: status == statusDisabled || status == statusFrozen}, nil
	}
	return connection.Observed{}, &connection.Error{Class: connection.Gone, Code: "campaign_gone", Message: "The account has no such campaign any more."}
}

// statusAnswer is the answer to a change of status.
type statusAnswer struct {
	IDs       []string `json:"campaign_ids"`
	Campaigns []struct {
		ID     string `json:"campaign_id"`
		Status string `json:"status"`
	} `json:"campaign_list"`
	Errors []struct {
		ID      string `json:"campaign_id"`
		Message string `json:"error_message"`
	} `json:"error_list"`
}

// SetStatus implements connection.Client.
//
// Choice: campaigns of Smart+ have an endpoint of their own. It is tried if the
// usual one refuses, instead of reading the type first: a pause must not wait
// for a call that most campaigns do not need.
func (c *Client) SetStatus(ctx context.Context, cr connection.Credentials, account, id string, run bool) error {
	status := statusDisabled
	if run {
		status = statusEnabled
	}
	err := c.changeStatus(ctx, cr, "/campaign/status/update/", account, id, status)
	if connection.ClassOf(err) != connection.Refused {
		return err
	}
	if also := c.changeStatus(ctx, cr, "/smart_plus/campaign/status/update/", account, id, status); also == nil || !isRefusal(also) {
		return also
	}
	return err
}

func (c *Client) changeStatus(ctx context.Context, cr connection.Credentials, path, account, id, status string) error {
	got, _, err := sendCall[statusAnswer](ctx, c, cr.Access.Reveal(), transport.Call{
		Method: http.MethodPost, Path: path, Account: account, Urgent: true,
		JSON: map[string]any{"advertiser_id": account, "campaign_ids": []string{id}, "operation_status": status},
	})
	if err != nil {
		return err
	}
	for _, x := range got.Data.Errors {
		if x.ID == id {
			return &connection.Error{Class: connection.Refused, Code: "20001", Message: "TikTok did not change the campaign: " + x.Message, RequestID: got.RequestID}
		}
	}
	if slices.Contains(got.Data.IDs, id) {
		return nil
	}
	for _, x := range got.Data.Campaigns {
		if x.ID == id && cmp.Or(x.Status, status) == status {
			return nil
		}
	}
	return got.partly()
}
