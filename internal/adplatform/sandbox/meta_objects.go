package sandbox

import (
	"encoding/base64"
	"maps"
	"slices"
	"strconv"
	"strings"
)

const (
	metaPage    = 25
	metaMaxPage = 5000
)

var metaBadCursor = metaInvalid("Invalid cursors values. Please do not store cursors for a long time.")

// writeList answers with a page of a list of an account.
func (c metaCall) writeList(a *Account, n int, item func(i int) any) {
	limit, refused := c.limit()
	text, err := readMetaCursor(c.params.Get("after"))
	text, second := strings.CutSuffix(text, metaSecondPage)
	first, wrong := metaNumber(text, 0)
	if refused == nil && (err != nil || wrong != nil || first < 0) {
		refused = metaBadCursor
	}
	if refused != nil {
		c.writeError(refused)
		return
	}
	first = min(first, n)
	limit, next := c.shortenPage(a, limit, second)
	end := min(first+limit, n)
	data := []any{}
	for i := first; i < end; i++ {
		data = append(data, item(i))
	}
	answer := map[string]any{"data": data, "paging": c.paging(metaCursor(strconv.Itoa(first)), metaCursor(strconv.Itoa(end)+next), end < n)}
	if summary := c.params.Get("summary"); summary == "true" || slices.Contains(parseMetaList(summary), "total_count") {
		answer["summary"] = map[string]any{"total_count": n}
	}
	c.writeAnswer(answer)
}

// metaSecondPage ends cursors after an empty page.
const metaSecondPage = " +"

// shortenPage returns the length of a page and the end of the next cursor. With
// short_and_empty_pages every second page is empty and the others are short,
// although more follows.
func (c metaCall) shortenPage(a *Account, limit int, second bool) (length int, next string) {
	switch {
	case !c.Behaves(a, metaShortPages):
		return limit, ""
	case second:
		return max(1, limit/3), ""
	}
	return 0, metaSecondPage
}

// limit returns the length of a page.
func (c metaCall) limit() (int, *metaError) {
	limit, err := metaNumber(c.params.Get("limit"), metaPage)
	if err != nil || limit < 1 || limit > metaMaxPage {
		return 0, metaInvalid("limit must be a number from 1 to %d", metaMaxPage)
	}
	return limit, nil
}

func metaNumber(text string, otherwise int) (int, error) {
	if text == "" {
		return otherwise, nil
	}
	return strconv.Atoi(text)
}

// paging returns the cursors of a page and the URL of the next one.
func (c metaCall) paging(before, after string, more bool) map[string]any {
	paging := map[string]any{"cursors": map[string]any{"before": before, "after": after}}
	if more {
		paging["next"] = c.nextURL(after)
	}
	return paging
}

// nextURL returns the URL of the page after a cursor. Like Meta's, it repeats
// every parameter including the token.
func (c metaCall) nextURL(cursor string) string {
	query := maps.Clone(c.params)
	query.Set("after", cursor)
	return c.Base() + c.r.URL.Path + "?" + query.Encode()
}

func metaCursor(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }

func readMetaCursor(cursor string) (string, error) {
	b, err := base64.RawURLEncoding.DecodeString(cursor)
	return string(b), err
}

// metaFields splits a list of fields at its outer commas; a part in braces
// belongs to the name before it.
func metaFields(text string) []string {
	var fields []string
	depth, start := 0, 0
	for i, r := range text + "," {
		switch r {
		case '{':
			depth++
		case '}':
			depth--
		case ',':
			if depth == 0 {
				name, _, _ := strings.Cut(text[start:i], "{")
				if name = strings.TrimSpace(name); name != "" {
					fields = append(fields, name)
				}
				start = i + 1
			}
		}
	}
	return fields
}

// selectFields returns the requested fields of an object, and always its id.
// Without a request it returns the default fields.
func (c metaCall) selectFields(object map[string]any, defaults ...string) map[string]any {
	chosen := map[string]any{"id": object["id"]}
	fields := metaFields(c.params.Get("fields"))
	if len(fields) == 0 {
		fields = defaults
	}
	for _, name := range fields {
		if value, ok := object[name]; ok {
			chosen[name] = value
		}
	}
	return chosen
}

func (c metaCall) accountNode(a *Account) map[string]any {
	status, reason := 1, 0
	if value := c.Behavior(a, metaAccountStatus); value != "" {
		status, _ = metaNumber(value, 1)
		reason = 1
	}
	tasks := []string{"DRAFT", "ANALYZE", "ADVERTISE", "MANAGE"}
	if c.Behaves(a, metaAccountDenied) {
		tasks = []string{}
	}
	node := map[string]any{
		"id": "act_" + a.ID, "account_id": a.ID, "name": a.Name, "account_status": status, "disable_reason": reason, "user_tasks": tasks,
		"currency": a.Set.Currency, "timezone_name": a.Set.Timezone,
	}
	maps.Copy(node, c.accountDetails(a))
	return node
}

// metaObjectives maps kinds of campaigns to Meta's objectives.
var metaObjectives = map[string]string{
	"awareness": "OUTCOME_AWARENESS", "traffic": "OUTCOME_TRAFFIC", "leads": "OUTCOME_LEADS", "sales": "OUTCOME_SALES", "video": "OUTCOME_ENGAGEMENT",
}

// metaWholeUnits are the currencies whose budgets are in whole units. All others
// are in hundredths, whatever ISO 4217 says
// (developers.facebook.com/documentation/ads-commerce/marketing-api/currencies).
var metaWholeUnits = []string{"CLP", "COP", "CRC", "HUF", "ISK", "IDR", "JPY", "KRW", "PYG", "TWD", "VND"}

// metaBudget returns a budget in the unit of Meta.
func metaBudget(a *Account, micros int64) string {
	if slices.Contains(metaWholeUnits, a.Set.Currency) {
		return strconv.FormatInt(micros/million, 10)
	}
	return strconv.FormatInt(micros/(million/100), 10)
}

func (c metaCall) campaignNode(a *Account, campaign *Campaign) map[string]any {
	status := c.campaignStatus(a, campaign)
	effective := status
	if value := c.Behavior(a, metaEffectiveStatus); value != "" && status == "ACTIVE" {
		effective = value
	}
	node := map[string]any{
		"id": campaign.ID, "account_id": a.ID, "name": campaign.Name, "objective": c.objectiveOf(a, campaign),
		"status": status, "configured_status": status, "effective_status": effective, "start_time": metaTime(a, campaign.Start),
		"created_time": metaTime(a, campaign.Start), "updated_time": c.updatedTime(a, campaign), "buying_type": "AUCTION", "bid_strategy": "LOWEST_COST_WITHOUT_CAP",
		"special_ad_categories": []string{}, "special_ad_category": "NONE", "source_campaign_id": "0", "can_use_spend_cap": true, "smart_promotion_type": "GUIDED_CREATION",
	}
	c.addCampaignBudget(node, a, campaign)
	return node
}

// metaGoals are the optimization goals of ad sets by the kind of their
// campaign, with the event of those that optimize for one.
var metaGoals = map[string]struct{ goal, event string }{
	"awareness": {"REACH", ""}, "traffic": {"LINK_CLICKS", ""}, "video": {"THRUPLAY", ""}, "leads": {"OFFSITE_CONVERSIONS", "LEAD"}, "sales": {"OFFSITE_CONVERSIONS", "PURCHASE"},
}

func (c metaCall) groupNode(a *Account, g *Group) map[string]any {
	targeting := map[string]any{"age_min": 18, "age_max": 65}
	if g.Audience != nil {
		targeting["custom_audiences"] = []any{map[string]any{"id": g.Audience.ID, "name": g.Audience.Name}}
	}
	configured, effective := c.groupStatus(a, g)
	node := map[string]any{
		"id": g.ID, "account_id": a.ID, "campaign_id": g.Campaign.ID, "name": g.Name, "status": configured, "configured_status": configured,
		"effective_status": effective, "targeting": targeting, "billing_event": "IMPRESSIONS", "start_time": metaTime(a, g.Campaign.Start),
		"created_time": metaTime(a, g.Campaign.Start), "updated_time": c.updatedTime(a, g.Campaign), "source_adset_id": "0", "is_dynamic_creative": false,
		"attribution_spec": []any{map[string]any{"event_type": "CLICK_THROUGH", "window_days": 7}, map[string]any{"event_type": "VIEW_THROUGH", "window_days": 1}},
	}
	c.addGroupBudget(node, a, g)
	goal, event := c.goalOf(a, g.Campaign)
	node["optimization_goal"] = goal
	if event != "" {
		node["promoted_object"] = map[string]any{"pixel_id": a.ID + "9", "custom_event_type": event}
	}
	return node
}

func (c metaCall) adNode(a *Account, ad *Ad) map[string]any {
	configured, effective := c.adStatus(a, ad)
	return map[string]any{
		"id": ad.ID, "account_id": a.ID, "campaign_id": ad.Group.Campaign.ID, "adset_id": ad.Group.ID, "name": ad.Name, "status": configured,
		"configured_status": configured, "effective_status": effective, "created_time": metaTime(a, ad.Group.Campaign.Start),
		"updated_time": c.updatedTime(a, ad.Group.Campaign), "source_ad_id": "0", "bid_type": "ABSOLUTE_OCPM",
		"creative": map[string]any{"id": ad.ID + "1", "object_story_spec": map[string]any{
			"link_data": map[string]any{"link": ad.Link, "message": ad.Text, "name": ad.Headline},
		}},
	}
}

func allGroups(a *Account) (groups []*Group) {
	for _, campaign := range a.Campaigns {
		groups = append(groups, campaign.Groups...)
	}
	return groups
}

func allAds(a *Account) (ads []*Ad) {
	for _, g := range allGroups(a) {
		ads = append(ads, g.Ads...)
	}
	return ads
}

// findMetaObject returns the campaign, ad set or ad with an id, nil if there is
// none.
func findMetaObject(a *Account, id string) any {
	for _, campaign := range a.Campaigns {
		if campaign.ID == id {
			return campaign
		}
		for _, g := range campaign.Groups {
			if g.ID == id {
				return g
			}
			for _, ad := range g.Ads {
				if ad.ID == id {
					return ad
				}
			}
		}
	}
	return nil
}

func (c metaCall) nodeOf(a *Account, object any) map[string]any {
	switch o := object.(type) {
	case *Campaign:
		return c.campaignNode(a, o)
	case *Group:
		return c.groupNode(a, o)
	case *Ad:
		return c.adNode(a, o)
	}
	return nil
}
