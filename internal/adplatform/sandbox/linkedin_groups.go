package sandbox

import (
	"net/http"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"fanfare/internal/clock"
)

// linkedInPersonURN begins the URN of the member that gave the consent.
const linkedInPersonURN = "urn:li:person:"

// linkedInMillis returns the beginning of a day as LinkedIn writes moments: in
// milliseconds since 1970.
func linkedInMillis(day clock.Date) int64 { return day.Time().UnixMilli() }

// linkedInStamps returns when an object was created and last modified.
func linkedInStamps(day clock.Date) map[string]any {
	stamp := map[string]any{"time": linkedInMillis(day)}
	return map[string]any{"created": stamp, "lastModified": stamp}
}

// accountUsers lists the accounts of the member with the role in each.
func (c *linkedInCall) accountUsers() (any, *linkedInError) {
	open, err := c.Accounts(c.token)
	if err != nil {
		return nil, linkedInDenied()
	}
	items := []any{}
	for _, a := range open {
		role := "CAMPAIGN_MANAGER"
		switch {
		case c.Behaves(a, linkedInNoAccess):
			continue
		case c.Behaves(a, linkedInViewer):
			role = "VIEWER"
		}
		items = append(items, map[string]any{
			"account": linkedInAccountURN + a.ID, "user": linkedInPersonURN + open[0].ID, "role": role, "changeAuditStamps": linkedInStamps(a.First),
		})
	}
	start, ok := c.intParam("start", 0)
	count, also := c.intParam("count", len(items))
	if !ok || !also {
		return nil, linkedInInvalid("start and count must not be negative.")
	}
	shown := items[min(start, len(items)):min(start+count, len(items))]
	return map[string]any{"elements": shown, "paging": map[string]any{"start": start, "count": count, "total": len(items), "links": []any{}}}, nil
}

// campaignGroupNode returns the only campaign group of the account.
func (c *linkedInCall) campaignGroupNode() map[string]any {
	return map[string]any{
		"id": jsontext.Value(c.account.ID), "account": linkedInAccountURN + c.account.ID, "name": c.account.Name, "status": c.campaignGroupStatus(), "test": false,
		"backfilled": false, "servingStatuses": []string{"RUNNABLE"}, "allowedCampaignTypes": []string{linkedInCampaignType},
		"runSchedule": map[string]any{"start": linkedInMillis(c.account.First)}, "changeAuditStamps": linkedInStamps(c.account.First),
	}
}

func (c *linkedInCall) campaignGroupStatus() string {
	if c.Behaves(c.account, linkedInDraftGroup) {
		return "DRAFT"
	}
	return "ACTIVE"
}

func (c *linkedInCall) campaignGroups() (any, *linkedInError) {
	if refused := linkedInCheckStatuses(c.searchedStatuses(), linkedInCreativeStatuses); refused != nil {
		return nil, refused
	}
	items := []any{}
	if c.searched("status", c.campaignGroupStatus(), true) && c.searched("id", linkedInGroupURN+c.account.ID, true) && c.searched("name", c.account.Name, true) {
		items = append(items, c.campaignGroupNode())
	}
	return c.pageByToken(items)
}

// campaignsByID returns several campaigns. Those that do not exist are errors in
// an answer that is successful.
func (c *linkedInCall) campaignsByID() (any, *linkedInError) {
	ids, ok := restliTexts(c.query["ids"])
	if !ok || len(ids) == 0 {
		return nil, linkedInInvalid("ids must be a list.")
	}
	results, statuses, failed := map[string]any{}, map[string]int{}, map[string]any{}
	for _, id := range ids {
		at := slices.IndexFunc(c.account.Campaigns, func(x *Campaign) bool { return x.ID == id })
		if at < 0 {
			statuses[id], failed[id] = http.StatusNotFound, linkedInNotFound("campaign")
			continue
		}
		statuses[id], results[id] = http.StatusOK, c.campaignNode(c.account.Campaigns[at])
	}
	return map[string]any{"results": results, "statuses": statuses, "errors": failed}, nil
}
