package sandbox

import (
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"fanfare/internal/money"
)

// tikTokObjectives maps kinds of campaigns to TikTok's objectives.
var tikTokObjectives = map[string]string{"awareness": "REACH", "traffic": "TRAFFIC", "sales": "WEB_CONVERSIONS", "leads": "LEAD_GENERATION", "video": "VIDEO_VIEWS"}

// operationStatus returns TikTok's status of a campaign or of an object in it.
func (c *tikTokCall) operationStatus(of *Campaign, deleted bool) string {
	switch {
	case deleted:
		return "DELETE"
	case c.Runs(c.account, of):
		return "ENABLE"
	}
	return "DISABLE"
}

// listPage answers with a page of the requested items.
func (c *tikTokCall) listPage(items []map[string]any, most int) (any, *tikTokError) {
	for i, item := range items {
		kept, refused := c.selectFields(item)
		if refused != nil {
			return nil, refused
		}
		items[i] = kept
	}
	return c.page(len(items), most, func(i int) map[string]any { return items[i] })
}

// campaignItem returns the fields of a campaign.
func (c *tikTokCall) campaignItem(x *Campaign) map[string]any {
	kind := c.kindOf(x)
	status, automation := c.operationStatus(x, kind.deleted), "MANUAL"
	if kind.smart {
		automation = "UPGRADED_SMART_PLUS"
	}
	return map[string]any{
		"advertiser_id": c.account.ID, "campaign_id": x.ID, "campaign_name": x.Name, "objective_type": tikTokObjectives[x.Kind],
		"operation_status": status, "secondary_status": c.secondaryStatus(status), "campaign_type": "REGULAR_CAMPAIGN",
		"campaign_automation_type": automation, "is_smart_performance_campaign": false, "is_search_campaign": false,
		"budget_mode": "BUDGET_MODE_DAY", "budget": jsontext.Value(money.Amount{Micros: x.DailyBudget, Digits: 2}.String()),
		"create_time": x.Start.String() + " 00:00:00", "modify_time": x.Start.String() + " 00:00:00",
	}
}

func (c *tikTokCall) campaigns() (any, *tikTokError) {
	return c.listCampaigns(func(*Campaign) bool { return true })
}

// smartCampaigns lists only the campaigns of Smart+.
func (c *tikTokCall) smartCampaigns() (any, *tikTokError) {
	return c.listCampaigns(func(x *Campaign) bool { return c.kindOf(x).smart })
}

func (c *tikTokCall) listCampaigns(keep func(*Campaign) bool) (any, *tikTokError) {
	f, refused := c.readListFilter()
	if refused != nil {
		return nil, refused
	}
	items := []map[string]any{}
	for _, x := range c.account.Campaigns {
		if kind := c.kindOf(x); f.shows(x, kind) && f.hasStatus(c.Runs(c.account, x), kind.deleted) && keep(x) {
			items = append(items, c.campaignItem(x))
		}
	}
	return c.listPage(items, 1000)
}

// gmvMaxCampaigns lists the GMV Max campaigns, which other lists do not have.
func (c *tikTokCall) gmvMaxCampaigns() (any, *tikTokError) {
	items := []map[string]any{}
	for _, x := range c.account.Campaigns {
		if c.kindOf(x).gmvMax {
			items = append(items, map[string]any{
				"advertiser_id": c.account.ID, "campaign_id": x.ID, "campaign_name": x.Name, "operation_status": c.operationStatus(x, false), "objective_type": "PRODUCT_SALES",
			})
		}
	}
	return c.listPage(items, 100)
}

func (c *tikTokCall) groups() (any, *tikTokError) {
	f, refused := c.readListFilter()
	if refused != nil {
		return nil, refused
	}
	items := []map[string]any{}
	for _, x := range c.account.Campaigns {
		kind := c.kindOf(x)
		if !f.shows(x, kind) || !f.hasStatus(c.Runs(c.account, x), kind.deleted) {
			continue
		}
		status := c.operationStatus(x, kind.deleted)
		for _, g := range x.Groups {
			if f.GroupIDs != nil && !slices.Contains(f.GroupIDs, g.ID) {
				continue
			}
			audiences := []string{}
			if g.Audience != nil {
				audiences = append(audiences, g.Audience.ID)
			}
			items = append(items, map[string]any{
				"advertiser_id": c.account.ID, "campaign_id": x.ID, "campaign_name": x.Name, "adgroup_id": g.ID, "adgroup_name": g.Name,
				"operation_status": status, "secondary_status": "ADGROUP_STATUS_" + status, "audience_ids": audiences,
			})
		}
	}
	return c.listPage(items, 1000)
}

func (c *tikTokCall) ads() (any, *tikTokError) {
	f, refused := c.readListFilter()
	if refused != nil {
		return nil, refused
	}
	items := []map[string]any{}
	for _, x := range c.account.Campaigns {
		if !f.shows(x, c.kindOf(x)) {
			continue
		}
		for _, g := range x.Groups {
			if f.GroupIDs != nil && !slices.Contains(f.GroupIDs, g.ID) {
				continue
			}
			for _, ad := range g.Ads {
				if f.hasStatus(c.Runs(c.account, x), c.adDeleted(ad)) && (f.AdIDs == nil || slices.Contains(f.AdIDs, ad.ID)) {
					items = append(items, c.adItem(ad))
				}
			}
		}
	}
	return c.listPage(items, 1000)
}

// adItem returns the fields of an ad. Ads of Smart+ have no time of change.
func (c *tikTokCall) adItem(ad *Ad) map[string]any {
	g := ad.Group
	x := g.Campaign
	status := c.operationStatus(x, c.adDeleted(ad))
	item := map[string]any{
		"advertiser_id": c.account.ID, "campaign_id": x.ID, "campaign_name": x.Name, "adgroup_id": g.ID, "adgroup_name": g.Name, "ad_id": ad.ID, "ad_name": ad.Name,
		"ad_text": ad.Text, "landing_page_url": ad.Link, "operation_status": status, "secondary_status": "AD_STATUS_" + status,
		"create_time": x.Start.String() + " 00:00:00", "modify_time": x.Start.String() + " 00:00:00",
	}
	if c.kindOf(x).smart {
		item["modify_time"] = nil
	}
	return item
}

func (c *tikTokCall) setStatus() (any, *tikTokError) { return c.changeStatus(false) }

// setSmartStatus sets the status of campaigns of Smart+.
func (c *tikTokCall) setSmartStatus() (any, *tikTokError) { return c.changeStatus(true) }

// changeStatus sets the status of campaigns that are of Smart+ or not.
func (c *tikTokCall) changeStatus(smart bool) (any, *tikTokError) {
	var in struct {
		Advertiser string   `json:"advertiser_id"`
		Campaigns  []string `json:"campaign_ids"`
		Status     string   `json:"operation_status"`
	}
	if refused := c.readBody(&in); refused != nil {
		return nil, refused
	}
	if refused := c.selectAccount(in.Advertiser); refused != nil {
		return nil, refused
	}
	switch {
	case c.Behaves(c.account, "narrow_grant"):
		return nil, &tikTokError{code: tikTokForbidden, message: "No permission to operate campaigns of advertiser " + in.Advertiser + "."}
	case in.Status != "ENABLE" && in.Status != "DISABLE":
		return nil, tikTokRefusal("operation_status must be ENABLE or DISABLE.")
	case len(in.Campaigns) == 0 || len(in.Campaigns) > 20:
		return nil, tikTokRefusal("campaign_ids must be a list of 1 to 20 ids.")
	}
	found := []*Campaign{}
	for _, id := range in.Campaigns {
		at := slices.IndexFunc(c.account.Campaigns, func(x *Campaign) bool { return x.ID == id })
		if at < 0 {
			return nil, tikTokRefusal("Campaign " + id + " does not exist.")
		}
		kind := c.kindOf(c.account.Campaigns[at])
		switch {
		case kind.deleted:
			return nil, tikTokRefusal("The status of deleted campaigns cannot be modified: " + id + ".")
		case kind.origin == tikTokPromote:
			return nil, tikTokRefusal("Campaign " + id + " is a Promote campaign and cannot be updated.")
		case kind.smart != smart:
			return nil, tikTokRefusal("This endpoint does not support the automation type of campaign " + id + ".")
		}
		found = append(found, c.account.Campaigns[at])
	}
	return c.applyStatus(found, in.Status)
}

// applyStatus changes campaigns, or answers that it worked only in part.
func (c *tikTokCall) applyStatus(campaigns []*Campaign, status string) (any, *tikTokError) {
	partly := c.Behavior(c.account, "partial_20001")
	ids, done, failed := []string{}, []any{}, []any{}
	for _, x := range campaigns {
		if partly == "failed" {
			failed = append(failed, map[string]any{"campaign_id": x.ID, "error_message": "The campaign is locked by another change."})
			continue
		}
		c.SetRuns(c.account, x, status == "ENABLE")
		ids = append(ids, x.ID)
		done = append(done, map[string]any{"campaign_id": x.ID, "status": status})
	}
	answer := map[string]any{"campaign_ids": ids, "status": status, "campaign_list": done, "error_list": failed}
	if partly != "" {
		return nil, &tikTokError{code: tikTokPartly, message: "Partially successful.", data: answer}
	}
	return answer, nil
}
