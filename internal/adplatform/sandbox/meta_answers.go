package sandbox

import (
	"io"
	"strconv"
)

// warnOfUpgrade sets the header of a call that another version than the
// requested one answers.
func (c metaCall) warnOfUpgrade(major string) {
	n, err := strconv.Atoi(major)
	if err == nil && c.Behaves(nil, metaVersionUpgraded) {
		c.w.Header().Set("X-Ad-Api-Version-Warning", "The call has been auto-upgraded to v"+strconv.Itoa(n+1)+".0 as v"+major+".0 has been deprecated.")
	}
}

// writeUnavailable answers that the service is not available, with status 200.
func (c metaCall) writeUnavailable() {
	c.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	// A client that has disconnected gets no answer.
	_, _ = io.WriteString(c.w, "Service Unavailable")
}

// metaOldObjectives maps kinds of campaigns to the objectives of Meta before
// those that begin with OUTCOME.
var metaOldObjectives = map[string]string{
	"awareness": "BRAND_AWARENESS", "traffic": "LINK_CLICKS", "leads": "LEAD_GENERATION", "sales": "CONVERSIONS", "video": "VIDEO_VIEWS",
}

// objectiveOf returns the objective of a campaign.
func (c metaCall) objectiveOf(a *Account, campaign *Campaign) string {
	if c.Behaves(a, metaLegacyObjectives) {
		return metaOldObjectives[campaign.Kind]
	}
	return metaObjectives[campaign.Kind]
}

// addCampaignBudget adds the budget of a campaign, which it does not have if its
// ad sets have budgets.
//
// Choice: a campaign omits the budget that it does not have; an ad set has 0, as
// in answers that public connectors recorded.
func (c metaCall) addCampaignBudget(node map[string]any, a *Account, campaign *Campaign) {
	switch c.Behavior(a, metaBudgetLevel) {
	case "":
		node["daily_budget"], node["budget_remaining"] = metaBudget(a, campaign.DailyBudget), metaBudget(a, campaign.DailyBudget)
	case "lifetime":
		node["lifetime_budget"] = metaBudget(a, totalBudgetDays*campaign.DailyBudget)
	}
}

// addGroupBudget adds the budget of an ad set: an equal part of its campaign's.
func (c metaCall) addGroupBudget(node map[string]any, a *Account, g *Group) {
	if c.Behavior(a, metaBudgetLevel) == "adset" {
		node["daily_budget"] = metaBudget(a, g.Campaign.DailyBudget/int64(len(g.Campaign.Groups)))
		node["lifetime_budget"] = "0"
	}
}

// audienceNode returns the audience with a number. With the switch, the first
// one is a lookalike audience that is not active and has no size.
func (c metaCall) audienceNode(a *Account, i int) map[string]any {
	audience := a.Audiences[i]
	node := map[string]any{
		"id": audience.ID, "name": audience.Name, "subtype": "CUSTOM",
		"approximate_count_lower_bound": audience.Size, "approximate_count_upper_bound": audience.Size + audience.Size/5,
	}
	if i == 0 && c.Behaves(a, metaInactiveAudience) {
		node["subtype"], node["approximate_count_lower_bound"], node["approximate_count_upper_bound"] = "LOOKALIKE", -1, -1
		node["operation_status"] = map[string]any{"code": 450, "description": "This lookalike audience is inactive."}
	}
	return node
}
