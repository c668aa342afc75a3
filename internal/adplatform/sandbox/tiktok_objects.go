package sandbox

import (
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"fanfare/internal/money"
)

// tikTokObjectives maps kinds of campaigns to TikTok's objectives.
var tikTokObjectives = map[string]string{"awareness": "REACH", "traffic": "TRAFFIC", "sales": "WEB_CONVERSIONS", "leads": "LEAD_GENERATION", "video": "VIDEO_VIEWS"}

// campaignStatus returns TikTok's status of a campaign.
func (c *tikTokCall) campaignStatus(of *Campaign) string {
	if c.Runs(c.account, of) {
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

func (c *tikTokCall) campaigns() (any, *tikTokError) {
	var only struct {
		IDs []string `json:"campaign_ids"`
	}
	if text := c.query.Get("filtering"); text != "" {
		if err := json.Unmarshal([]byte(text), &only); err != nil {
			return nil, tikTokRefusal("filtering must be an object.")
		}
	}
	items := []map[string]any{}
	for _, x := range c.account.Campaigns {
		if only.IDs != nil && !slices.Contains(only.IDs, x.ID) {
			continue
		}
		items = append(items, map[string]any{
			"advertiser_id": c.account.ID, "campaign_id": x.ID, "campaign_name": x.Name, "objective_type": tikTokObjectives[x.Kind],
			"operation_status": c.campaignStatus(x), "secondary_status": "CAMPAIGN_STATUS_" + c.campaignStatus(x),
			"budget_mode": "BUDGET_MODE_DAY", "budget": jsontext.Value(money.Amount{Micros: x.DailyBudget, Digits: 2}.String()),
		})
	}
	return c.listPage(items, 1000)
}

func (c *tikTokCall) groups() (any, *tikTokError) {
	items := []map[string]any{}
	for _, x := range c.account.Campaigns {
		for _, g := range x.Groups {
			audiences := []string{}
			if g.Audience != nil {
				audiences = append(audiences, g.Audience.ID)
			}
			items = append(items, map[string]any{
				"advertiser_id": c.account.ID, "campaign_id": x.ID, "campaign_name": x.Name, "adgroup_id": g.ID, "adgroup_name": g.Name,
				"operation_status": c.campaignStatus(x), "audience_ids": audiences,
			})
		}
	}
	return c.listPage(items, 1000)
}

func (c *tikTokCall) ads() (any, *tikTokError) {
	items := []map[string]any{}
	for _, x := range c.account.Campaigns {
		for _, g := range x.Groups {
			for _, ad := range g.Ads {
				items = append(items, map[string]any{
					"advertiser_id": c.account.ID, "campaign_id": x.ID, "adgroup_id": g.ID, "ad_id": ad.ID, "ad_name": ad.Name,
					"ad_text": ad.Text, "landing_page_url": ad.Link, "operation_status": c.campaignStatus(x),
				})
			}
		}
	}
	return c.listPage(items, 1000)
}

func (c *tikTokCall) audiences() (any, *tikTokError) {
	items := []map[string]any{}
	for _, x := range c.account.Audiences {
		items = append(items, map[string]any{"audience_id": x.ID, "name": x.Name, "cover_num": x.Size, "is_valid": true, "audience_type": "Customer File Audience"})
	}
	return c.listPage(items, 100)
}

func (c *tikTokCall) setStatus() (any, *tikTokError) {
	var in struct {
		Advertiser string   `json:"advertiser_id"`
		Campaigns  []string `json:"campaign_ids"`
		Status     string   `json:"operation_status"`
	}
	if refused := c.readBody(&in); refused != nil {
		return nil, refused
	}
	if refused := c.checkAccess(in.Advertiser); refused != nil {
		return nil, refused
	}
	if in.Status != "ENABLE" && in.Status != "DISABLE" {
		return nil, tikTokRefusal("operation_status must be ENABLE or DISABLE.")
	}
	found := []*Campaign{}
	for _, id := range in.Campaigns {
		at := slices.IndexFunc(c.account.Campaigns, func(x *Campaign) bool { return x.ID == id })
		if at < 0 {
			return nil, tikTokRefusal("Campaign " + id + " does not exist.")
		}
		found = append(found, c.account.Campaigns[at])
	}
	for _, x := range found {
		c.SetRuns(c.account, x, in.Status == "ENABLE")
	}
	return map[string]any{"campaign_ids": in.Campaigns, "status": in.Status}, nil
}
