package sandbox

import (
	"slices"

	"github.com/go-json-experiment/json"
)

// The statuses of objects, from Meta's SDK (adobjects/campaign.py, adset.py and
// ad.py, EffectiveStatus).
var metaStatuses = map[string][]string{
	"campaign": {"ACTIVE", "ARCHIVED", "DELETED", "IN_PROCESS", "PAUSED", "WITH_ISSUES"},
	"adset":    {"ACTIVE", "ARCHIVED", "CAMPAIGN_PAUSED", "DELETED", "IN_PROCESS", "PAUSED", "WITH_ISSUES"},
	"ad": {
		"ACTIVE", "ADSET_PAUSED", "ARCHIVED", "CAMPAIGN_PAUSED", "DELETED", "DISAPPROVED", "IN_PROCESS", "PAUSED", "PENDING_BILLING_INFO",
		"PENDING_REVIEW", "PREAPPROVED", "WITH_ISSUES",
	},
}

// metaInherited are the statuses that everything below an object has too.
var metaInherited = []string{"ARCHIVED", "DELETED"}

// campaignStatus returns the status of a campaign. With deleted_hidden the
// second one is deleted, with lists_omit_archived the third one archived.
func (c metaCall) campaignStatus(a *Account, campaign *Campaign) string {
	switch {
	case c.Behaves(a, metaDeletedHidden) && len(a.Campaigns) > 1 && campaign == a.Campaigns[1]:
		return "DELETED"
	case c.Behaves(a, metaListsOmitArchived) && len(a.Campaigns) > 2 && campaign == a.Campaigns[2]:
		return "ARCHIVED"
	case c.Runs(a, campaign):
		return "ACTIVE"
	}
	return "PAUSED"
}

// groupStatus returns the configured and the effective status of an ad set. All
// are switched on, except the last one of the fourth campaign, which
// lists_omit_archived archives.
func (c metaCall) groupStatus(a *Account, g *Group) (configured, effective string) {
	configured, effective = "ACTIVE", "ACTIVE"
	if c.Behaves(a, metaListsOmitArchived) && len(a.Campaigns) > 3 && g.Campaign == a.Campaigns[3] && g == g.Campaign.Groups[len(g.Campaign.Groups)-1] {
		configured, effective = "ARCHIVED", "ARCHIVED"
	}
	switch status := c.campaignStatus(a, g.Campaign); {
	case slices.Contains(metaInherited, status):
		effective = status
	case status == "PAUSED" && effective == "ACTIVE":
		effective = "CAMPAIGN_PAUSED"
	}
	return configured, effective
}

// adStatus returns the configured and the effective status of an ad. All are
// switched on, except the last one of the first campaign, which deleted_hidden
// deletes.
func (c metaCall) adStatus(a *Account, ad *Ad) (configured, effective string) {
	configured, effective = "ACTIVE", "ACTIVE"
	first := a.Campaigns[0]
	if c.Behaves(a, metaDeletedHidden) && ad.Group.Campaign == first {
		groups := first.Groups
		if ads := groups[len(groups)-1].Ads; ad == ads[len(ads)-1] {
			configured, effective = "DELETED", "DELETED"
		}
	}
	if _, parent := c.groupStatus(a, ad.Group); parent != "ACTIVE" && effective == "ACTIVE" {
		effective = parent
	}
	return configured, effective
}

// rowStatus returns the effective status of the object of a row at a level.
// Rows of a campaign without an ad set belong to one that was deleted.
func (c metaCall) rowStatus(a *Account, level string, row Row) string {
	var object any
	switch {
	case level == "campaign":
		object = row.Campaign
	case level == "ad" && row.Ad != nil:
		object = row.Ad
	case row.Group != nil:
		object = row.Group
	default:
		return "DELETED"
	}
	status, known := c.statuses[object]
	if !known {
		switch o := object.(type) {
		case *Campaign:
			status = c.campaignStatus(a, o)
		case *Group:
			_, status = c.groupStatus(a, o)
		case *Ad:
			_, status = c.adStatus(a, o)
		}
		c.statuses[object] = status
	}
	return status
}

// writeObjects answers with a page of a list of objects. It omits archived and
// deleted ones unless effective_status names them, and refuses to list deleted
// ones.
func writeObjects[T any](c metaCall, a *Account, kind string, all []T, node func(a *Account, object T) map[string]any) {
	var asked []string
	if text := c.params.Get("effective_status"); text != "" && json.Unmarshal([]byte(text), &asked) != nil {
		c.writeError(metaInvalid("Param effective_status must be an array."))
		return
	}
	for _, status := range asked {
		if status == "DELETED" || !slices.Contains(metaStatuses[kind], status) {
			c.writeError(&metaError{Code: 100, Subcode: 1487561, Message: "Invalid parameter"})
			return
		}
	}
	if limit, _ := c.limit(); limit > 100 && c.Behaves(a, metaLargeLists) {
		c.writeError(metaTooLarge)
		return
	}
	conditions, refused := readMetaConditions(c.params.Get("filtering"))
	if refused == nil {
		refused = c.checkFields(metaKinds[kind])
	}
	if refused != nil {
		c.writeError(refused)
		return
	}
	var nodes []map[string]any
	for _, object := range all {
		n := node(a, object)
		status, _ := n["effective_status"].(string)
		hidden := slices.Contains(metaInherited, status) && !slices.ContainsFunc(conditions, func(f metaCondition) bool { return f.names(status) })
		if (slices.Contains(asked, status) || len(asked) == 0 && !hidden) && metaPasses(conditions, n) {
			nodes = append(nodes, n)
		}
	}
	c.writeList(a, len(nodes), func(i int) any { return c.selectFields(nodes[i]) })
}
