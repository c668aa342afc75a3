package sandbox

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
)

// tikTokMaxIDs is the largest number of ids in a filter.
const tikTokMaxIDs = 100

// Buying types and origins of campaigns.
const (
	tikTokAuction  = "AUCTION"
	tikTokReach    = "RESERVATION_RF"
	tikTokTopView  = "RESERVATION_TOP_VIEW"
	tikTokPlatform = "TT_ADS_PLATFORM"
	tikTokPromote  = "PROMOTE"
)

// tikTokKind is what decides where TikTok shows a campaign.
type tikTokKind struct {
	buying, origin  string
	smart           bool
	gmvMax, deleted bool
}

// kindOf returns the kind of a campaign. Switches apply to every third campaign,
// so that each leaves some campaigns as they are.
func (c *tikTokCall) kindOf(x *Campaign) tikTokKind {
	if c.kinds == nil {
		c.kinds = map[*Campaign]tikTokKind{}
		reservation := c.Behavior(c.account, "reservation_spend")
		promote, deleted := c.Behaves(c.account, "promote_hidden"), c.Behaves(c.account, "deleted_hidden")
		gmvMax, smart := c.Behaves(c.account, "gmv_max_separate"), c.Behaves(c.account, "smart_plus")
		for i, x := range c.account.Campaigns {
			kind := tikTokKind{buying: tikTokAuction, origin: tikTokPlatform}
			switch {
			case reservation == "rf" && i%3 == 0:
				kind.buying = tikTokReach
			case reservation == "top_view" && i%3 == 0:
				kind.buying = tikTokTopView
			}
			if promote && i%3 == 2 {
				kind.origin = tikTokPromote
			}
			kind.smart, kind.deleted, kind.gmvMax = smart && i%3 == 0, deleted && i%3 == 1, gmvMax && i%3 == 2
			c.kinds[x] = kind
		}
	}
	return c.kinds[x]
}

// adDeleted reports whether an ad is deleted: with its campaign, or the first ad
// of a campaign alone.
func (c *tikTokCall) adDeleted(ad *Ad) bool {
	if c.kindOf(ad.Group.Campaign).deleted {
		return true
	}
	return ad == ad.Group.Campaign.Groups[0].Ads[0] && c.Behaves(c.account, "deleted_hidden")
}

// tikTokListFilter is the filtering of a list of campaigns, ad groups or ads.
type tikTokListFilter struct {
	CampaignIDs []string `json:"campaign_ids"`
	GroupIDs    []string `json:"adgroup_ids"`
	AdIDs       []string `json:"ad_ids"`
	Name        string   `json:"campaign_name"`
	Objective   string   `json:"objective_type"`
	BuyingTypes []string `json:"buying_types"`
	Origins     []string `json:"campaign_system_origins"`
	Primary     string   `json:"primary_status"`
	Secondary   string   `json:"secondary_status"`
	Automation  string   `json:"campaign_automation_type"`
}

// readListFilter returns the filtering of the call, with TikTok's defaults.
func (c *tikTokCall) readListFilter() (f tikTokListFilter, refused *tikTokError) {
	if text := c.query.Get("filtering"); text != "" {
		if err := json.Unmarshal([]byte(text), &f, json.RejectUnknownMembers(true)); err != nil {
			return f, tikTokRefusal("filtering must be an object with filters of this list.")
		}
	}
	if len(f.CampaignIDs) > tikTokMaxIDs || len(f.GroupIDs) > tikTokMaxIDs || len(f.AdIDs) > tikTokMaxIDs {
		return f, &tikTokError{code: tikTokTooManyIDs, message: "Too many IDs are provided in a single request."}
	}
	if f.BuyingTypes == nil {
		f.BuyingTypes = []string{tikTokAuction, tikTokReach}
	}
	if f.Origins == nil {
		f.Origins = []string{tikTokPlatform}
	}
	if slices.Contains(f.BuyingTypes, tikTokTopView) && len(f.BuyingTypes) > 1 {
		return f, tikTokRefusal("buying_types: RESERVATION_TOP_VIEW cannot be combined with other values.")
	}
	return f, nil
}

// shows reports whether a list has objects of a campaign, whatever their status.
func (f *tikTokListFilter) shows(x *Campaign, kind tikTokKind) bool {
	automation := "MANUAL"
	if kind.smart {
		automation = "UPGRADED_SMART_PLUS"
	}
	switch {
	case kind.gmvMax, f.CampaignIDs != nil && !slices.Contains(f.CampaignIDs, x.ID):
		return false
	case f.Name != "" && !strings.Contains(strings.ToLower(x.Name), strings.ToLower(f.Name)):
		return false
	case f.Objective != "" && f.Objective != tikTokObjectives[x.Kind], f.Automation != "" && f.Automation != automation:
		return false
	}
	return slices.Contains(f.BuyingTypes, kind.buying) && slices.Contains(f.Origins, kind.origin)
}

// hasStatus reports whether a list has an object of a status. Deleted objects
// are left out unless they are asked for.
func (f *tikTokListFilter) hasStatus(runs, deleted bool) bool {
	word := f.Primary
	if i := strings.Index(f.Secondary, "STATUS_"); i >= 0 {
		word = f.Secondary[i:]
	}
	switch word {
	case "STATUS_ALL":
		return true
	case "STATUS_DELETE":
		return deleted
	case "STATUS_ENABLE", "STATUS_DELIVERY_OK":
		return runs && !deleted
	case "STATUS_DISABLE":
		return !runs && !deleted
	}
	return !deleted
}

// tikTokFilter is one condition of a report.
type tikTokFilter struct {
	Field string `json:"field_name"`
	Type  string `json:"filter_type"`
	Value string `json:"filter_value"`
}

// tikTokReportFilter has the values of all conditions, by field.
type tikTokReportFilter map[string][]string

// tikTokFilterFields are the conditions of reports that the sandbox knows.
var tikTokFilterFields = []string{
	"campaign_ids", "adgroup_ids", "ad_ids", "campaign_status", "adgroup_status", "ad_status", "buying_type", "campaign_system_origins",
}

// readReportFilter returns the conditions of the call. filter_value is a list in
// a text.
func (c *tikTokCall) readReportFilter() (tikTokReportFilter, *tikTokError) {
	found := tikTokReportFilter{}
	text := c.query.Get("filtering")
	if text == "" {
		return found, nil
	}
	var list []tikTokFilter
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		return nil, tikTokRefusal("filtering must be a list of objects.")
	}
	for _, f := range list {
		values, err := parseTikTokList(f.Value)
		switch {
		case !slices.Contains(tikTokFilterFields, f.Field) || f.Type != "IN":
			return nil, tikTokRefusal("Invalid filter field: " + f.Field + " " + f.Type + ".")
		case err != nil || len(values) == 0:
			return nil, tikTokRefusal("Invalid filter_value type: " + f.Field + ".")
		case strings.HasSuffix(f.Field, "_ids") && len(values) > tikTokMaxIDs:
			return nil, &tikTokError{code: tikTokTooManyIDs, message: "Too many IDs are provided in a single request."}
		case f.Field == "buying_type" && len(values) > 1 && slices.Contains(values, tikTokTopView):
			return nil, tikTokRefusal("buying_type: RESERVATION_TOP_VIEW cannot be combined with other values.")
		}
		found[f.Field] = values
	}
	return found, nil
}

// has reports whether a condition allows a value. Without the condition only the
// default is allowed, or all if there is none.
func (f tikTokReportFilter) has(field, value, otherwise string) bool {
	if values, asked := f[field]; asked {
		return slices.Contains(values, value)
	}
	return otherwise == "" || value == otherwise
}

// showsDeleted reports whether the status condition of a level asks for deleted
// objects.
func (f tikTokReportFilter) showsDeleted(field string) bool {
	return slices.Contains(f[field], "STATUS_ALL") || slices.Contains(f[field], "STATUS_DELETE")
}
