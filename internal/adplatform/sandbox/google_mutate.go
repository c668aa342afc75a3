package sandbox

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// googleMaxOperations is the largest number of changes in a call.
const googleMaxOperations = 10_000

// googleOperation is a change of a campaign.
type googleOperation struct {
	UpdateMask string `json:"updateMask"`
	Update     struct {
		ResourceName string `json:"resourceName"`
		Status       string `json:"status"`
	} `json:"update"`
}

// mutate sets the status of campaigns, the only change that is simulated. It
// carries out all changes or none, unless the call allows partial failure.
func (s *googleCall) mutate(body []byte) (any, *googleFailure) {
	var in struct {
		Operations     []googleOperation `json:"operations"`
		PartialFailure bool              `json:"partialFailure"`
		ValidateOnly   bool              `json:"validateOnly"`
		Content        string            `json:"responseContentType"`
	}
	if failure := readGoogle(body, &in); failure != nil {
		return nil, failure
	}
	switch {
	case in.Content != "" && !slices.Contains([]string{"UNSPECIFIED", "RESOURCE_NAME_ONLY", "MUTABLE_RESOURCE"}, in.Content):
		return nil, requestError("INVALID_ENUM_VALUE", "responseContentType must be RESOURCE_NAME_ONLY or MUTABLE_RESOURCE.")
	case s.customer.manager:
		return nil, requestError("CANNOT_BE_EXECUTED_BY_MANAGER_ACCOUNT", "The operation cannot be executed by a manager account.")
	case s.customer.status == "SUSPENDED":
		return nil, &googleFailure{
			http.StatusForbidden, "authorizationError", "ACTION_NOT_PERMITTED_FOR_SUSPENDED_ACCOUNT", "The action is not permitted for a suspended account.", nil,
		}
	case len(in.Operations) > googleMaxOperations:
		return nil, requestError("TOO_MANY_MUTATE_OPERATIONS", "Too many mutate operations in a request.")
	}
	if failure := chargeGoogle(s.Call, s.customer.account, len(in.Operations)); failure != nil {
		return nil, failure
	}
	failures := []any{}
	campaigns := make([]*Campaign, len(in.Operations))
	for i, op := range in.Operations {
		c, failure := s.changedCampaign(op)
		if failure != nil && !in.PartialFailure {
			return nil, failure
		}
		if failure != nil {
			detail := failure.detail()
			detail["location"] = map[string]any{"fieldPathElements": []any{map[string]any{"fieldName": "operations", "index": i}}}
			failures = append(failures, detail)
		}
		campaigns[i] = c
	}
	answer := map[string]any{}
	if len(failures) > 0 {
		answer["partialFailureError"] = map[string]any{
			"code": 3, "message": "Multiple errors in ‘details’. First error: " + strconv.Itoa(len(failures)) + " operations failed.",
			"details": []any{googleFailureDetail(s.version, failures...)},
		}
	}
	if !in.ValidateOnly {
		answer["results"] = s.applyChanges(in.Operations, campaigns, in.Content == "MUTABLE_RESOURCE")
	}
	return answer, nil
}

// applyChanges sets the statuses. The result of a change that failed is empty.
// With content, a result has the fields of the campaign that can be changed.
func (s *googleCall) applyChanges(operations []googleOperation, campaigns []*Campaign, content bool) []any {
	results := make([]any, len(operations))
	for i, c := range campaigns {
		if c == nil {
			results[i] = struct{}{}
			continue
		}
		s.SetRuns(s.customer.account, c, operations[i].Update.Status == "ENABLED")
		result := map[string]any{"resourceName": operations[i].Update.ResourceName}
		if content {
			result["campaign"] = map[string]any{"resourceName": operations[i].Update.ResourceName, "name": c.Name, "status": operations[i].Update.Status}
		}
		results[i] = result
	}
	return results
}

// changedCampaign returns the campaign that a change is for.
func (s *googleCall) changedCampaign(op googleOperation) (*Campaign, *googleFailure) {
	a := s.customer.account
	id, ours := strings.CutPrefix(op.Update.ResourceName, "customers/"+a.ID+"/campaigns/")
	at := slices.IndexFunc(a.Campaigns, func(c *Campaign) bool { return c.ID == id })
	switch {
	case op.UpdateMask != "status":
		return nil, &googleFailure{http.StatusBadRequest, "fieldMaskError", "INVALID_FIELD_MASK", "Only status can be changed here.", nil}
	case !ours || at < 0:
		return nil, &googleFailure{http.StatusBadRequest, "mutateError", "RESOURCE_NOT_FOUND", "Resource was not found.", nil}
	case op.Update.Status != "ENABLED" && op.Update.Status != "PAUSED":
		return nil, requestError("INVALID_ENUM_VALUE", "Status must be ENABLED or PAUSED.")
	case googleIsRemoved(s.Call, a, a.Campaigns[at]):
		return nil, &googleFailure{
			http.StatusBadRequest, "contextError", "OPERATION_NOT_PERMITTED_FOR_REMOVED_RESOURCE", "The operation is not allowed for removed resources.", nil,
		}
	}
	return a.Campaigns[at], nil
}
