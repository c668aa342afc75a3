package sandbox

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"fanfare/internal/money"
)

// Prefixes of URNs. An account has one campaign group, with its own id.
const (
	linkedInAccountURN  = "urn:li:sponsoredAccount:"
	linkedInGroupURN    = "urn:li:sponsoredCampaignGroup:"
	linkedInCampaignURN = "urn:li:sponsoredCampaign:"
	linkedInCreativeURN = "urn:li:sponsoredCreative:"
	linkedInRuleURN     = "urn:lla:llaPartnerConversion:"
	linkedInSegmentURN  = "urn:li:adSegment:"
	linkedInAudiences   = "urn:li:adTargetingFacet:audienceMatchingSegments"
)

// linkedInCampaignType is the type of all campaigns.
const linkedInCampaignType = "SPONSORED_UPDATES"

const (
	linkedInMaxPage = 1000
	// linkedInHeavyPage is the largest page of creatives that LinkedIn's server
	// can always answer.
	linkedInHeavyPage = 100
)

var linkedInObjectives = map[string]string{"awareness": "BRAND_AWARENESS", "traffic": "WEBSITE_VISIT", "sales": "WEBSITE_CONVERSION", "leads": "LEAD_GENERATION", "video": "VIDEO_VIEW"}

func (c *linkedInCall) campaignStatus(of *Campaign) string {
	switch {
	case c.archived(of):
		return "ARCHIVED"
	case c.Behaves(c.account, linkedInArchived) && of == c.account.Campaigns[1]:
		return "REMOVED"
	case c.Runs(c.account, of):
		return "ACTIVE"
	}
	return "PAUSED"
}

// archived reports whether a campaign has been archived.
func (c *linkedInCall) archived(of *Campaign) bool {
	return c.Behaves(c.account, linkedInArchived) && of == c.account.Campaigns[0]
}

// pageByToken answers with a page of items. The token selects the page. A page
// that is not the last has one item fewer than it could have.
func (c *linkedInCall) pageByToken(items []any) (any, *linkedInError) {
	size, ok := c.intParam("pageSize", 100)
	start, also := c.intParam("pageToken", 0)
	if !ok || !also || size < 1 || size > linkedInMaxPage {
		return nil, linkedInInvalid("pageSize must be from 1 to 1000, pageToken one of ours.")
	}
	end := min(start+size, len(items))
	if end < len(items) && size > 1 {
		end--
	}
	shown := slices.Clone(items[min(start, end):end])
	if c.Fault(FaultDuplicatePage) {
		shown = append(shown, shown...)
	}
	metadata := map[string]any{}
	if end < len(items) {
		metadata["nextPageToken"] = strconv.Itoa(end)
	}
	return map[string]any{"elements": shown, "metadata": metadata}, nil
}

// intParam returns a parameter that must be a number of at least 0.
func (c *linkedInCall) intParam(name string, otherwise int) (int, bool) {
	text, given := c.query[name].(string)
	if !given {
		return otherwise, true
	}
	n, err := strconv.Atoi(text)
	return n, err == nil && n >= 0
}

// States of accounts, creatives and campaigns.
var (
	linkedInAccountStatuses  = []string{"ACTIVE", "CANCELED", "DRAFT", "PENDING_DELETION", "REMOVED"}
	linkedInCreativeStatuses = slices.Concat(linkedInAccountStatuses, []string{"PAUSED", "ARCHIVED"})
	linkedInCampaignStatuses = slices.Concat(linkedInCreativeStatuses, []string{"COMPLETED"})
)

// linkedInCheckStatuses rejects a filter with a state that there is not.
func linkedInCheckStatuses(wanted, known []string) *linkedInError {
	for _, status := range wanted {
		if !slices.Contains(known, status) {
			return linkedInInvalid(status + " is not a member of the enum.")
		}
	}
	return nil
}

// searchedStatuses returns the states of a search.
func (c *linkedInCall) searchedStatuses() []string {
	search, _ := c.query["search"].(map[string]any)
	of, _ := search["status"].(map[string]any)
	wanted, _ := restliTexts(of["values"])
	return wanted
}

// searched reports whether a search selects an object by a field. Without the
// field in the search, it selects those that are shown by default.
func (c *linkedInCall) searched(field, value string, byDefault bool) bool {
	search, _ := c.query["search"].(map[string]any)
	of, _ := search[field].(map[string]any)
	wanted, given := restliTexts(of["values"])
	if !given {
		return byDefault
	}
	return slices.Contains(wanted, value)
}

// inOrder returns items in the order of the call, which is ascending unless it
// names the other.
func (c *linkedInCall) inOrder(items []any) []any {
	if restliWord(c.query["sortOrder"]) == "DESCENDING" {
		slices.Reverse(items)
	}
	return items
}

func (c *linkedInCall) accounts() (any, *linkedInError) {
	if refused := linkedInCheckStatuses(c.searchedStatuses(), linkedInAccountStatuses); refused != nil {
		return nil, refused
	}
	open, err := c.Accounts(c.token)
	if err != nil {
		return nil, linkedInDenied()
	}
	items := []any{}
	for _, a := range open {
		if c.Behaves(a, linkedInNoAccess) || !c.searched("status", c.accountStatus(a), true) ||
			!c.searched("id", linkedInAccountURN+a.ID, true) || !c.searched("type", "BUSINESS", true) || !c.searched("name", a.Name, true) {
			continue
		}
		items = append(items, c.accountNode(a))
	}
	return c.pageByToken(c.inOrder(items))
}

func (c *linkedInCall) accountStatus(a *Account) string {
	if c.Fault(FaultAccountDisabled) || c.Behaves(a, linkedInCanceled) {
		return "CANCELED"
	}
	return "ACTIVE"
}

func (c *linkedInCall) accountNode(a *Account) map[string]any {
	status := c.accountStatus(a)
	serving := []string{"RUNNABLE"}
	if status != "ACTIVE" {
		serving = []string{"STOPPED"}
	}
	return map[string]any{
		"id": jsontext.Value(a.ID), "name": a.Name, "currency": a.Set.Currency, "status": status, "type": "BUSINESS", "test": false,
		"servingStatuses": serving, "reference": "urn:li:organization:" + a.ID, "notifiedOnCampaignOptimization": true, "notifiedOnCreativeApproval": false,
		"notifiedOnCreativeRejection": true, "notifiedOnEndOfCampaign": true, "notifiedOnNewFeaturesEnabled": false,
		"version": map[string]any{"versionTag": "1"}, "changeAuditStamps": linkedInStamps(a.First),
	}
}

// campaignNode returns a campaign in LinkedIn's format. It is its own only ad
// group.
func (c *linkedInCall) campaignNode(x *Campaign) map[string]any {
	targeting := []any{map[string]any{"or": map[string]any{"urn:li:adTargetingFacet:interfaceLocales": []string{"urn:li:locale:en_US"}}}}
	for _, g := range x.Groups {
		if g.Audience != nil {
			targeting = append(targeting, map[string]any{"or": map[string]any{linkedInAudiences: []string{linkedInSegmentURN + g.Audience.ID}}})
		}
	}
	serving := []string{"RUNNABLE"}
	if c.campaignStatus(x) != "ACTIVE" {
		serving = []string{"STOPPED"}
	}
	node := map[string]any{
		"servingStatuses": serving, "costType": "CPM", "format": "STANDARD_UPDATE", "creativeSelection": "OPTIMIZED", "audienceExpansionEnabled": false,
		"offsiteDeliveryEnabled": false, "test": false, "locale": map[string]any{"country": "US", "language": "en"}, "version": map[string]any{"versionTag": "1"},
		"unitCost": map[string]any{"currencyCode": c.account.Set.Currency, "amount": "12"}, "runSchedule": map[string]any{"start": linkedInMillis(x.Start)},
		"associatedEntity": "urn:li:organization:" + c.account.ID, "changeAuditStamps": linkedInStamps(x.Start),
		"id": jsontext.Value(x.ID), "account": linkedInAccountURN + c.account.ID, "campaignGroup": linkedInGroupURN + c.account.ID, "name": x.Name,
		"status": c.campaignStatus(x), "type": linkedInCampaignType, "objectiveType": linkedInObjectives[x.Kind],
		"targetingCriteria": map[string]any{"include": map[string]any{"and": targeting}},
	}
	c.addBudget(node, x)
	return node
}

// addBudget adds the budget of a campaign: per day or, with the switch and for
// the first campaign, in total.
func (c *linkedInCall) addBudget(node map[string]any, x *Campaign) {
	kind, micros := "dailyBudget", x.DailyBudget
	if x == c.account.Campaigns[0] && c.Behaves(c.account, linkedInTotalBudget) {
		kind, micros = "totalBudget", totalBudgetDays*micros
	}
	node[kind] = map[string]any{"currencyCode": c.account.Set.Currency, "amount": money.Amount{Micros: micros}.String()}
}

func (c *linkedInCall) campaigns() (any, *linkedInError) {
	if refused := linkedInCheckStatuses(c.searchedStatuses(), linkedInCampaignStatuses); refused != nil {
		return nil, refused
	}
	items := []any{}
	for _, x := range c.account.Campaigns {
		status := c.campaignStatus(x)
		if c.searched("status", status, status != "ARCHIVED") && c.searched("id", linkedInCampaignURN+x.ID, true) && c.searched("name", x.Name, true) &&
			c.searched("type", linkedInCampaignType, true) && c.searched("campaignGroup", linkedInGroupURN+c.account.ID, true) {
			items = append(items, c.campaignNode(x))
		}
	}
	return c.pageByToken(c.inOrder(items))
}

// creatives lists ads. Without a list of statuses it leaves out archived ones.
//
// Choice: LinkedIn does not document which states a list has by default; public
// connectors name all of them.
func (c *linkedInCall) creatives() (any, *linkedInError) {
	size, _ := c.intParam("pageSize", linkedInHeavyPage)
	if size > linkedInHeavyPage && c.Behaves(c.account, linkedInHeavyCreatives) {
		return nil, &linkedInError{Status: http.StatusInternalServerError, Code: "INTERNAL_ERROR", Message: "Internal Error"}
	}
	statuses, byStatus := restliTexts(c.query["intendedStatuses"])
	if refused := linkedInCheckStatuses(statuses, linkedInCreativeStatuses); refused != nil {
		return nil, refused
	}
	campaigns, byCampaign := restliTexts(c.query["campaigns"])
	items := []any{}
	for _, x := range c.account.Campaigns {
		status := c.campaignStatus(x)
		if byStatus && !slices.Contains(statuses, status) || !byStatus && status == "ARCHIVED" || byCampaign && !slices.Contains(campaigns, linkedInCampaignURN+x.ID) {
			continue
		}
		for _, g := range x.Groups {
			for _, ad := range g.Ads {
				item := map[string]any{
					"id": linkedInCreativeURN + ad.ID, "name": ad.Name, "campaign": linkedInCampaignURN + x.ID, "account": linkedInAccountURN + c.account.ID,
					"intendedStatus": status, "isServing": status == "ACTIVE", "isTest": false, "review": map[string]any{"status": "APPROVED"},
					"createdAt": linkedInMillis(x.Start), "lastModifiedAt": linkedInMillis(x.Start),
					"createdBy": linkedInPersonURN + c.account.ID, "lastModifiedBy": linkedInPersonURN + c.account.ID,
				}
				if c.Behaves(c.account, linkedInNamelessAds) {
					delete(item, "name")
				}
				items = append(items, item)
			}
		}
	}
	return c.pageByToken(c.inOrder(items))
}

// segments lists audiences. The total also counts those that the member may not
// see.
//
// Choice: LinkedIn does not document why a page is short; the sandbox hides the
// first audience of each.
func (c *linkedInCall) segments() (any, *linkedInError) {
	of, _, refused := readLinkedInURNs(c.query["accounts"], linkedInAccountURN)
	if refused != nil || len(of) != 1 || !c.openAccount(of[0]) {
		return nil, linkedInInvalid("accounts must be a list of accounts that you may use.")
	}
	start, ok := c.intParam("start", 0)
	count, also := c.intParam("count", 10)
	if !ok || !also || count < 1 || count > 500 {
		return nil, linkedInInvalid("start must not be negative, count from 1 to 500.")
	}
	total := len(c.account.Audiences)
	from := start
	if c.Fault(FaultSkipPage) {
		from += count
	}
	items := []any{}
	for i, x := range c.account.Audiences[min(from, total):min(from+count, total)] {
		if i == 0 && c.Behaves(c.account, linkedInShortPages) {
			continue
		}
		items = append(items, map[string]any{"id": jsontext.Value(x.ID), "name": x.Name, "type": "BULK", "status": "READY", "approximateMemberCount": x.Size})
	}
	if c.Fault(FaultDuplicatePage) {
		items = append(items, items...)
	}
	if c.Fault(FaultDriftingTotal) {
		total++
	}
	return map[string]any{"elements": items, "paging": map[string]any{"start": start, "count": count, "total": total}}, nil
}

// campaign returns one campaign, or changes its status.
func (c *linkedInCall) campaign(id string, get bool) (any, *linkedInError) {
	at := slices.IndexFunc(c.account.Campaigns, func(x *Campaign) bool { return x.ID == id })
	if at < 0 {
		return nil, linkedInNotFound("campaign")
	}
	x := c.account.Campaigns[at]
	if get {
		return c.campaignNode(x), nil
	}
	if c.r.Method != http.MethodPost || !strings.EqualFold(c.r.Header.Get("X-Restli-Method"), "PARTIAL_UPDATE") {
		return nil, linkedInInvalid("X-RestLi-Method must be PARTIAL_UPDATE.")
	}
	var in struct {
		Patch struct {
			Set struct {
				Status string `json:"status"`
			} `json:"$set"`
		} `json:"patch"`
	}
	if err := json.UnmarshalRead(c.r.Body, &in); err != nil || in.Patch.Set.Status != "ACTIVE" && in.Patch.Set.Status != "PAUSED" {
		return nil, linkedInInvalid("patch must set status to ACTIVE or PAUSED.")
	}
	if refused := c.checkChange(x, in.Patch.Set.Status); refused != nil {
		return nil, refused
	}
	c.SetRuns(c.account, x, in.Patch.Set.Status == "ACTIVE")
	return nil, nil
}

// checkChange rejects a change of status that the member or the state of the
// campaign does not allow.
func (c *linkedInCall) checkChange(x *Campaign, status string) *linkedInError {
	switch {
	case c.Behaves(c.account, linkedInViewer):
		return &linkedInError{
			Status: http.StatusForbidden, Code: "NO_PERMISSION_TO_UPDATE",
			Message: "Viewer may not have permission to change status on " + linkedInCampaignURN + x.ID + " from " + c.campaignStatus(x) + " to " + status,
		}
	case c.Behaves(c.account, linkedInDraftGroup):
		return linkedInBadInput("ONLY_DRAFT_CAMPAIGNS_ALLOWED_IN_DRAFT_CAMPAIGN_GROUPS", "Only draft campaigns are allowed in draft campaign groups", "status")
	case c.Behaves(c.account, linkedInCanceled):
		return linkedInBadInput("ACTION_NOT_ALLOWED_FOR_CANCELLED_STATUS", "Action UPDATE not allowed for cancelled campaigns", "status")
	}
	return nil
}
