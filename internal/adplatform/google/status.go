package google

import (
	"cmp"
	"context"
	"net/http"
	"strings"

	"fanfare/internal/adplatform/googleauth"
	"fanfare/internal/adplatform/transport"
	"fanfare/internal/connection"
)

// The statuses of a campaign. REMOVED is permanent and is never set.
const (
	statusEnabled = "ENABLED"
	statusPaused  = "PAUSED"
	statusRemoved = "REMOVED"
)

// Status implements connection.Client.
func (c *Client) Status(ctx context.Context, creds connection.Credentials, account, campaign string) (connection.Observed, error) {
	if !isDigits(campaign) {
		return connection.Observed{}, unknownCampaign()
	}
	rows, err := c.query(ctx, creds, account, "SELECT campaign.id, campaign.status FROM campaign WHERE campaign.id = "+campaign, true)
	if err != nil {
		return connection.Observed{}, err
	}
	customer, _, _ := strings.Cut(account, "@")
	switch name := resourceName(customer, campaign); {
	case len(rows) == 0:
		return connection.Observed{}, unknownCampaign()
	case len(rows) > 1:
		return connection.Observed{}, transport.Contradiction("Google reports more than one campaign for one id.")
	case rows[0].Campaign.ID != campaign:
		return connection.Observed{}, nil
	case cmp.Or(rows[0].Campaign.ResourceName, name) != name:
		return connection.Observed{}, transport.Contradiction("Google reports the campaign with the resource name of another one.")
	}
	status := rows[0].Campaign.Status
	return connection.Observed{Status: status, Runs: status == statusEnabled, Stopped: status == statusPaused || status == statusRemoved}, nil
}

// resourceName returns Google's name of a campaign.
func resourceName(customer, campaign string) string {
	return "customers/" + customer + "/campaigns/" + campaign
}

func unknownCampaign() error {
	return &connection.Error{Class: connection.Gone, Code: "unknown_campaign", Message: "The account has no such campaign any more."}
}

type mutation struct {
	Operations []operation `json:"operations"`
}

type operation struct {
	UpdateMask string `json:"updateMask"`
	Update     struct {
		ResourceName string `json:"resourceName"`
		Status       string `json:"status"`
	} `json:"update"`
}

// SetStatus implements connection.Client.
func (c *Client) SetStatus(ctx context.Context, creds connection.Credentials, account, campaign string, run bool) error {
	customer, _, err := splitAccount(account)
	if err != nil {
		return err
	}
	if !isDigits(campaign) {
		return unknownCampaign()
	}
	op := operation{UpdateMask: "status"}
	op.Update.ResourceName, op.Update.Status = resourceName(customer, campaign), statusPaused
	if run {
		op.Update.Status = statusEnabled
	}
	var answer struct {
		PartialFailure *googleauth.Status `json:"partialFailureError"`
	}
	err = c.callAccount(ctx, creds, account, transport.Call{
		Method: http.MethodPost, Path: "campaigns:mutate", JSON: mutation{[]operation{op}}, Urgent: true,
	}, &answer)
	if err == nil && answer.PartialFailure != nil {
		// The call does not allow partial failure, so Google should not report
		// one; if it does, the change was not made.
		return failureOf(answer.PartialFailure, c.now())
	}
	return err
}
