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

// Prefixes of URNs.
const (
	linkedInAccountURN  = "urn:li:sponsoredAccount:"
	linkedInCampaignURN = "urn:li:sponsoredCampaign:"
	linkedInCreativeURN = "urn:li:sponsoredCreative:"
	linkedInSegmentURN  = "urn:li:adSegment:"
	linkedInAudiences   = "urn:li:adTargetingFacet:audienceMatchingSegments"
)

var linkedInObjectives = map[string]string{"awareness": "BRAND_AWARENESS", "traffic": "WEBSITE_VISIT", "sales": "WEBSITE_CONVERSION", "leads": "LEAD_GENERATION", "video": "VIDEO_VIEW"}

func (c *linkedInCall) campaignStatus(of *Campaign) string {
	if c.Runs(c.account, of) {
		return "ACTIVE"
	}
	return "PAUSED"
}

// pageByToken answers with a page of items. The token selects the page.
func (c *linkedInCall) pageByToken(items []any) (any, *linkedInError) {
	size, ok := c.intParam("pageSize", 100)
	start, also := c.intParam("pageToken", 0)
	if !ok || !also || size < 1 || size > 1000 {
		return nil, linkedInInvalid("pageSize must be from 1 to 1000, pageToken one of ours.")
	}
	end := min(start+size, len(items))
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

func (c *linkedInCall) accounts() (any, *linkedInError) {
	a := c.account
	status := "ACTIVE"
	if c.Fault(FaultAccountDisabled) {
		status = "CANCELED"
	}
	if search, ok := c.query["search"].(map[string]any); ok {
		of, _ := search["status"].(map[string]any)
		if wanted, given := restliTexts(of["values"]); given && !slices.Contains(wanted, status) {
			return c.pageByToken([]any{})
		}
	}
	return c.pageByToken([]any{map[string]any{
		"id": jsontext.Value(a.ID), "name": a.Name, "currency": a.Set.Currency, "status": status, "type": "BUSINESS", "test": false,
		"servingStatuses": []string{"RUNNABLE"},
	}})
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
	return map[string]any{
		"id": jsontext.Value(x.ID), "account": linkedInAccountURN + c.account.ID, "name": x.Name, "status": c.campaignStatus(x), "objectiveType": linkedInObjectives[x.Kind],
		"dailyBudget":       map[string]any{"currencyCode": c.account.Set.Currency, "amount": money.Amount{Micros: x.DailyBudget}.String()},
		"targetingCriteria": map[string]any{"include": map[string]any{"and": targeting}},
	}
}

func (c *linkedInCall) campaigns() (any, *linkedInError) {
	items := []any{}
	for _, x := range c.account.Campaigns {
		items = append(items, c.campaignNode(x))
	}
	return c.pageByToken(items)
}

func (c *linkedInCall) creatives() (any, *linkedInError) {
	items := []any{}
	for _, x := range c.account.Campaigns {
		for _, g := range x.Groups {
			for _, ad := range g.Ads {
				items = append(items, map[string]any{
					"id": linkedInCreativeURN + ad.ID, "name": ad.Name, "campaign": linkedInCampaignURN + x.ID, "account": linkedInAccountURN + c.account.ID,
					"intendedStatus": c.campaignStatus(x), "isServing": c.Runs(c.account, x),
				})
			}
		}
	}
	return c.pageByToken(items)
}

func (c *linkedInCall) segments() (any, *linkedInError) {
	if of, ok := restliTexts(c.query["accounts"]); !ok || !slices.Equal(of, []string{linkedInAccountURN + c.account.ID}) {
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
	for _, x := range c.account.Audiences[min(from, total):min(from+count, total)] {
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
	c.SetRuns(c.account, x, in.Patch.Set.Status == "ACTIVE")
	return nil, nil
}
