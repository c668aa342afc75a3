package microsoft

import (
	"context"
	"net/http"

	"fanfare/internal/adplatform/transport"
	"fanfare/internal/connection"
)

// The statuses of a campaign (PyPI msads 13.0.30.1,
// openapi_client/models/campaign/campaign_status.py). Microsoft itself sets those
// about the budget and Suspended.
const (
	statusActive          = "Active"
	statusPaused          = "Paused"
	statusBudgetPaused    = "BudgetPaused"
	statusBudgetAndManual = "BudgetAndManualPaused"
	statusSuspended       = "Suspended"
	statusDeleted         = "Deleted"
)

// isRunning reports whether a campaign is to run. One without a budget left is:
// it goes on by itself.
func isRunning(status string) bool { return status == statusActive || status == statusBudgetPaused }

func isStopped(status string) bool {
	return status == statusPaused || status == statusBudgetAndManual || status == statusSuspended || status == statusDeleted
}

func unknownCampaign() error {
	return &connection.Error{Class: connection.Gone, Code: "unknown_campaign", Message: "The account has no such campaign any more."}
}

// Status implements connection.Client.
func (c *Client) Status(ctx context.Context, creds connection.Credentials, account, id string) (connection.Observed, error) {
	if !isDigits(id) {
		return connection.Observed{}, unknownCampaign()
	}
	var answer struct {
		Campaigns     []*campaign
		PartialErrors []*fault
	}
	err := c.callAccount(ctx, c.campaigns, creds, account, transport.Call{
		Method: http.MethodPost, Path: campaignPath + "Campaigns/QueryByIds", Urgent: true,
		JSON: map[string]any{"AccountId": account, "CampaignIds": []string{id}, "CampaignType": campaignTypes},
	}, &answer)
	if err == nil {
		err = partialError(answer.PartialErrors, c.now())
	}
	switch {
	case err != nil:
		return connection.Observed{}, err
	case len(answer.Campaigns) == 1 && answer.Campaigns[0] == nil:
		return connection.Observed{}, unknownCampaign()
	case len(answer.Campaigns) != 1 || answer.Campaigns[0].ID != id:
		return connection.Observed{}, nil
	}
	status := answer.Campaigns[0].Status
	return connection.Observed{Status: status, Runs: isRunning(status), Stopped: isStopped(status)}, nil
}

// SetStatus implements connection.Client. It sends the id and the status alone:
// what a change does not have stays as it is.
func (c *Client) SetStatus(ctx context.Context, creds connection.Credentials, account, id string, run bool) error {
	if !isDigits(id) {
		return unknownCampaign()
	}
	status := statusPaused
	if run {
		status = statusActive
	}
	var answer struct{ PartialErrors []*fault }
	err := c.callAccount(ctx, c.campaigns, creds, account, transport.Call{
		Method: http.MethodPut, Path: campaignPath + "Campaigns", Urgent: true,
		JSON: map[string]any{"AccountId": account, "Campaigns": []map[string]string{{"Id": id, "Status": status}}},
	}, &answer)
	if err != nil {
		return err
	}
	return partialError(answer.PartialErrors, c.now())
}
