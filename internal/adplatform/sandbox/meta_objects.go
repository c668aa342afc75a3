package sandbox

import (
	"encoding/base64"
	"maps"
	"strconv"
	"strings"
)

const (
	metaPage    = 25
	metaMaxPage = 5000
)

var metaBadCursor = metaInvalid("Invalid cursors values. Please do not store cursors for a long time.")

// writeList answers with a page of a list.
func (c metaCall) writeList(n int, item func(i int) any) {
	limit, refused := c.limit()
	text, err := readMetaCursor(c.params.Get("after"))
	first, wrong := metaNumber(text, 0)
	if refused == nil && (err != nil || wrong != nil || first < 0) {
		refused = metaBadCursor
	}
	if refused != nil {
		c.writeError(refused)
		return
	}
	first = min(first, n)
	end := min(first+limit, n)
	data := []any{}
	for i := first; i < end; i++ {
		data = append(data, item(i))
	}
	c.writeAnswer(map[string]any{"data": data, "paging": c.paging(metaCursor(strconv.Itoa(first)), metaCursor(strconv.Itoa(end)), end < n)})
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
func (c metaCall) selectFields(object map[string]any) map[string]any {
	chosen := map[string]any{"id": object["id"]}
	for _, name := range metaFields(c.params.Get("fields")) {
		if value, ok := object[name]; ok {
			chosen[name] = value
		}
	}
	return chosen
}

func (c metaCall) accountNode(a *Account) map[string]any {
	return map[string]any{
		"id": "act_" + a.ID, "account_id": a.ID, "name": a.Name, "account_status": 1,
		"currency": a.Set.Currency, "timezone_name": a.Set.Timezone,
	}
}

// metaObjectives maps kinds of campaigns to Meta's objectives.
var metaObjectives = map[string]string{
	"awareness": "OUTCOME_AWARENESS", "traffic": "OUTCOME_TRAFFIC", "leads": "OUTCOME_LEADS", "sales": "OUTCOME_SALES", "video": "OUTCOME_ENGAGEMENT",
}

func (c metaCall) campaignStatus(a *Account, campaign *Campaign) string {
	if c.Runs(a, campaign) {
		return "ACTIVE"
	}
	return "PAUSED"
}

func (c metaCall) campaignNode(a *Account, campaign *Campaign) map[string]any {
	status := c.campaignStatus(a, campaign)
	return map[string]any{
		"id": campaign.ID, "account_id": a.ID, "name": campaign.Name, "objective": metaObjectives[campaign.Kind],
		"status": status, "configured_status": status, "effective_status": status,
		"daily_budget": strconv.FormatInt(campaign.DailyBudget/10_000, 10), "start_time": campaign.Start.String() + "T00:00:00+0000",
	}
}

// childStatus returns the status of ad sets and ads in a campaign, which are
// always switched on themselves.
func (c metaCall) childStatus(a *Account, campaign *Campaign) string {
	if c.Runs(a, campaign) {
		return "ACTIVE"
	}
	return "CAMPAIGN_PAUSED"
}

func (c metaCall) groupNode(a *Account, g *Group) map[string]any {
	targeting := map[string]any{"age_min": 18, "age_max": 65}
	if g.Audience != nil {
		targeting["custom_audiences"] = []any{map[string]any{"id": g.Audience.ID, "name": g.Audience.Name}}
	}
	return map[string]any{
		"id": g.ID, "account_id": a.ID, "campaign_id": g.Campaign.ID, "name": g.Name, "status": "ACTIVE",
		"effective_status": c.childStatus(a, g.Campaign), "targeting": targeting,
	}
}

func (c metaCall) adNode(a *Account, ad *Ad) map[string]any {
	return map[string]any{
		"id": ad.ID, "account_id": a.ID, "campaign_id": ad.Group.Campaign.ID, "adset_id": ad.Group.ID, "name": ad.Name, "status": "ACTIVE",
		"effective_status": c.childStatus(a, ad.Group.Campaign),
		"creative": map[string]any{"id": ad.ID + "1", "object_story_spec": map[string]any{
			"link_data": map[string]any{"link": ad.Link, "message": ad.Text, "name": ad.Headline},
		}},
	}
}

func audienceNode(audience *Audience) map[string]any {
	return map[string]any{
		"id": audience.ID, "name": audience.Name, "subtype": "CUSTOM",
		"approximate_count_lower_bound": audience.Size, "approximate_count_upper_bound": audience.Size + audience.Size/5,
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
