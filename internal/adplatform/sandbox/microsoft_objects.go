package sandbox

import (
	"slices"
	"strconv"
	"strings"
)

// microsoftTypes are the campaign types of kinds: as the campaign service names
// them, and as reports do.
var microsoftTypes = map[string][2]string{
	"search": {"Search", "Search & content"}, "shopping": {"Shopping", "Shopping"}, "display": {"Audience", "Audience"},
	"performance_max": {"PerformanceMax", "Performance max"},
}

// microsoftKnownTypes are all types of the SDK.
var microsoftKnownTypes = []string{"Search", "Shopping", "DynamicSearchAds", "Audience", "Hotel", "PerformanceMax", "App", "ObjectiveBased"}

// microsoftAdTypes are the types of ads by the kind of their campaign.
var microsoftAdTypes = map[string]string{"search": "ResponsiveSearch", "shopping": "Product", "display": "ResponsiveAd"}

// campaignType returns the type of a campaign for the campaign service.
func (c *microsoftCall) campaignType(campaign *Campaign) string {
	if c.Behaves(c.account, microsoftNewType) && campaign == c.account.Campaigns[0] {
		return "GenerativeAds"
	}
	return microsoftTypes[campaign.Kind][0]
}

// listed returns the campaigns that Get operations return: all but deleted ones.
func (c *microsoftCall) listed() (list []*Campaign) {
	for _, campaign := range c.account.Campaigns {
		if !c.deleted(c.account, campaign) {
			list = append(list, campaign)
		}
	}
	return list
}

// deleted reports whether a campaign is deleted: with the switch on, the second.
func (s *Call) deleted(a *Account, campaign *Campaign) bool {
	return len(a.Campaigns) > 1 && campaign == a.Campaigns[1] && s.Behaves(a, microsoftDeleted)
}

// requestedTypes parses a list of campaign types. Without one it is Search alone.
func requestedTypes(text string) []string {
	if text == "" {
		return []string{"Search"}
	}
	list := strings.Split(text, ",")
	for i := range list {
		list[i] = strings.TrimSpace(list[i])
	}
	return list
}

// hasType reports whether a campaign is of one of the types. A type that is newer
// than the SDK is returned to callers that ask for all known ones.
func (c *microsoftCall) hasType(campaign *Campaign, types []string) bool {
	of := c.campaignType(campaign)
	return slices.Contains(types, of) || !slices.Contains(microsoftKnownTypes, of) && len(types) == len(microsoftKnownTypes)
}

func (c *microsoftCall) campaigns() (any, *microsoftError) {
	var in struct {
		AccountID    string `json:"AccountId"`
		CampaignType string
	}
	if refused := c.read(&in); refused != nil {
		return nil, refused
	}
	if in.AccountID != c.account.ID {
		return nil, microsoftRefusal(1102, "")
	}
	list := []any{}
	for _, campaign := range c.listed() {
		if c.hasType(campaign, requestedTypes(in.CampaignType)) {
			list = append(list, c.campaignFields(campaign))
		}
	}
	return map[string]any{"Campaigns": list}, nil
}

// status returns the status of a campaign. If the budget is used up, Microsoft
// sets a status of its own.
func (c *microsoftCall) status(campaign *Campaign) string {
	runs := c.Runs(c.account, campaign)
	switch budget := c.Behaves(c.account, microsoftBudgetPaused); {
	case budget && runs:
		return "BudgetPaused"
	case budget:
		return "BudgetAndManualPaused"
	case runs:
		return "Active"
	}
	return "Paused"
}

func (c *microsoftCall) campaignFields(campaign *Campaign) map[string]any {
	zone, _ := microsoftZone(c.account.zone)
	return map[string]any{
		"Id": campaign.ID, "Name": campaign.Name, "Status": c.status(campaign), "CampaignType": c.campaignType(campaign), "SubType": nil,
		"DailyBudget": float64(campaign.DailyBudget) / million, "BudgetType": "DailyBudgetStandard", "BudgetId": nil, "TimeZone": zone, "Languages": []string{"All"},
		"ExperimentId": nil, "Settings": []any{}, "StartDate": nil, "EndDate": nil, "IsPolitical": false, "ForwardCompatibilityMap": []any{},
	}
}

// partialError is an error of one object in an answer with status 200.
func partialError(index, code int) map[string]any {
	said := microsoftErrors[code]
	return map[string]any{"Code": code, "ErrorCode": said[0], "Message": said[1], "Details": nil, "FieldPath": "", "Index": index, "Type": "BatchError"}
}

// campaignsByIDs answers with campaigns at the positions of their ids. Unknown
// ids are null.
func (c *microsoftCall) campaignsByIDs() (any, *microsoftError) {
	var in struct {
		AccountID    string   `json:"AccountId"`
		CampaignIDs  []string `json:"CampaignIds"`
		CampaignType string
	}
	if refused := c.read(&in); refused != nil {
		return nil, refused
	}
	if len(in.CampaignIDs) == 0 || len(in.CampaignIDs) > 100 {
		return nil, microsoftRefusal(microsoftNullRequest, "CampaignIds")
	}
	list, failed := []any{}, []any{}
	for i, id := range in.CampaignIDs {
		at := slices.IndexFunc(c.listed(), func(campaign *Campaign) bool { return campaign.ID == id })
		switch {
		case at < 0:
			list, failed = append(list, nil), append(failed, partialError(i, microsoftNoCampaign))
		case !c.hasType(c.listed()[at], requestedTypes(in.CampaignType)):
			list, failed = append(list, nil), append(failed, partialError(i, microsoftWrongType))
		default:
			list = append(list, c.campaignFields(c.listed()[at]))
		}
	}
	return map[string]any{"Campaigns": list, "PartialErrors": failed}, nil
}

// updateCampaigns sets the status of campaigns. The answer has status 200, also
// if all of them fail.
func (c *microsoftCall) updateCampaigns() (any, *microsoftError) {
	var in struct {
		AccountID string `json:"AccountId"`
		Campaigns []struct {
			ID     string `json:"Id"`
			Status *string
		}
	}
	if refused := c.read(&in); refused != nil {
		return nil, refused
	}
	if c.roleFor(c.account) == microsoftViewer {
		return nil, microsoftRefusal(microsoftForbidden, "")
	}
	if in.AccountID != c.account.ID || len(in.Campaigns) == 0 || len(in.Campaigns) > 100 {
		return nil, microsoftRefusal(1102, "")
	}
	refusal, _ := strconv.Atoi(c.Behavior(c.account, microsoftPartial)) // 0 if it is off
	failed := []any{}
	for i, change := range in.Campaigns {
		at := slices.IndexFunc(c.listed(), func(campaign *Campaign) bool { return campaign.ID == change.ID })
		switch {
		case refusal != 0:
			failed = append(failed, partialError(i, refusal))
		case at < 0:
			failed = append(failed, partialError(i, microsoftNoCampaign))
		case change.Status == nil:
		case *change.Status == "Active" || *change.Status == "Paused":
			c.SetRuns(c.account, c.listed()[at], *change.Status == "Active")
		default:
			failed = append(failed, partialError(i, 1120))
		}
	}
	return map[string]any{"PartialErrors": failed}, nil
}

// findCampaign returns a campaign of the account by its id, nil if there is none.
func (c *microsoftCall) findCampaign(id string) *Campaign {
	for _, campaign := range c.listed() {
		if campaign.ID == id {
			return campaign
		}
	}
	return nil
}

func (c *microsoftCall) groups() (any, *microsoftError) {
	var in struct {
		CampaignID string `json:"CampaignId"`
	}
	if refused := c.read(&in); refused != nil {
		return nil, refused
	}
	campaign := c.findCampaign(in.CampaignID)
	if campaign == nil {
		return nil, microsoftRefusal(microsoftNoCampaign, "")
	}
	list := []any{}
	for _, g := range campaign.Groups {
		list = append(list, map[string]any{
			"Id": g.ID, "Name": g.Name, "Status": "Active", "AdGroupType": "SearchStandard", "Language": nil, "Network": "OwnedAndOperatedAndSyndicatedSearch",
			"StartDate": nil, "EndDate": nil, "ForwardCompatibilityMap": []any{},
		})
	}
	return map[string]any{"AdGroups": list}, nil
}

// findGroup returns an ad group of the account by its id, nil if there is none.
func (c *microsoftCall) findGroup(id string) *Group {
	for _, campaign := range c.listed() {
		for _, g := range campaign.Groups {
			if g.ID == id {
				return g
			}
		}
	}
	return nil
}

func (c *microsoftCall) ads() (any, *microsoftError) {
	var in struct {
		AdGroupID string `json:"AdGroupId"`
		AdTypes   []string
	}
	if refused := c.read(&in); refused != nil {
		return nil, refused
	}
	g := c.findGroup(in.AdGroupID)
	if g == nil || len(in.AdTypes) == 0 {
		return nil, microsoftRefusal(microsoftNullRequest, "AdGroupId, AdTypes")
	}
	list := []any{}
	for _, ad := range g.Ads {
		if slices.Contains(in.AdTypes, microsoftAdTypes[g.Campaign.Kind]) {
			list = append(list, microsoftAd(ad))
		}
	}
	return map[string]any{"Ads": list}, nil
}

// microsoftAd returns an ad. Ads have no names; those of products have no
// headlines.
func microsoftAd(ad *Ad) map[string]any {
	of := microsoftAdTypes[ad.Group.Campaign.Kind]
	out := map[string]any{
		"Id": ad.ID, "Type": of, "Status": "Active", "EditorialStatus": "Active", "FinalUrls": []string{ad.Link}, "FinalMobileUrls": nil, "ForwardCompatibilityMap": []any{},
	}
	if of == "Product" {
		out["PromotionalText"] = ad.Headline
		return out
	}
	link := func(text string) []any {
		return []any{map[string]any{"Asset": map[string]any{"Id": "1" + ad.ID, "Text": text, "Type": "TextAsset"}, "PinnedField": nil, "EditorialStatus": "Active"}}
	}
	out["Headlines"], out["Descriptions"] = link(ad.Headline), link(ad.Text)
	return out
}

// microsoftAssetGroup returns the id and the name of the asset group of a
// campaign.
func microsoftAssetGroup(campaign *Campaign) (id, name string) {
	return "64" + campaign.ID, campaign.Name + ": Assets"
}

func (c *microsoftCall) assetGroups() (any, *microsoftError) {
	var in struct {
		CampaignID string `json:"CampaignId"`
	}
	if refused := c.read(&in); refused != nil {
		return nil, refused
	}
	campaign := c.findCampaign(in.CampaignID)
	if campaign == nil {
		return nil, microsoftRefusal(microsoftNoCampaign, "")
	}
	list := []any{}
	if hasAssetGroups(campaign) {
		id, name := microsoftAssetGroup(campaign)
		list = append(list, map[string]any{"Id": id, "Name": name, "Status": "Active", "FinalUrls": []string{campaign.URL}, "Headlines": []any{}, "ForwardCompatibilityMap": []any{}})
	}
	return map[string]any{"AssetGroups": list, "PartialErrors": []any{}}, nil
}

func (c *microsoftCall) audiences() (any, *microsoftError) {
	var in struct {
		Type string
	}
	if refused := c.read(&in); refused != nil {
		return nil, refused
	}
	list := []any{}
	if slices.Contains(requestedTypes(in.Type), "RemarketingList") {
		for _, a := range c.account.Audiences {
			list = append(list, map[string]any{
				"Id": a.ID, "Name": a.Name, "Type": "RemarketingList", "Scope": "Account", "MembershipDuration": 30, "SearchSize": strconv.FormatInt(a.Size, 10),
				"AudienceNetworkSize": strconv.FormatInt(a.Size/2, 10), "SupportedCampaignTypes": microsoftKnownTypes, "ForwardCompatibilityMap": []any{},
			})
		}
	}
	return map[string]any{"Audiences": list, "PartialErrors": []any{}}, nil
}

// criterions answers with the audiences of an ad group.
func (c *microsoftCall) criterions() (any, *microsoftError) {
	var in struct {
		AdGroupID     string `json:"AdGroupId"`
		CriterionType string
	}
	if refused := c.read(&in); refused != nil {
		return nil, refused
	}
	g := c.findGroup(in.AdGroupID)
	if g == nil || in.CriterionType != "Audience" {
		return nil, microsoftRefusal(microsoftNullRequest, "AdGroupId, CriterionType")
	}
	list := []any{}
	if g.Audience != nil {
		list = append(list, map[string]any{
			"Type": "BiddableAdGroupCriterion", "Id": "9" + g.ID, "AdGroupId": g.ID, "Status": "Active",
			"Criterion": map[string]any{"Type": "AudienceCriterion", "AudienceId": g.Audience.ID, "AudienceType": "RemarketingList"},
		})
	}
	return map[string]any{"AdGroupCriterions": list}, nil
}
