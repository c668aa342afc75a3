package tiktok

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"fanfare/internal/adplatform/transport"
	"fanfare/internal/connection"
)

// Values of filters. TikTok leaves TopView ads, and posts that were promoted in
// TikTok's app, out of lists and reports unless they are asked for, each alone.
const (
	buyingAuction  = "AUCTION"
	buyingReach    = "RESERVATION_RF"
	buyingTopView  = "RESERVATION_TOP_VIEW"
	originPlatform = "TT_ADS_PLATFORM"
	originPromote  = "PROMOTE"
)

type campaign struct {
	ID        string `json:"campaign_id"`
	Account   string `json:"advertiser_id"`
	Name      string `json:"campaign_name"`
	Status    string `json:"operation_status"`
	Secondary string `json:"secondary_status"`
}

type group struct {
	ID        string   `json:"adgroup_id"`
	Audiences []string `json:"audience_ids"`
}

type ad struct {
	ID        string `json:"ad_id"`
	Name      string `json:"ad_name"`
	Status    string `json:"operation_status"`
	Secondary string `json:"secondary_status"`
	URL       string `json:"landing_page_url"`
}

type audience struct {
	ID   string `json:"audience_id"`
	Name string `json:"name"`
	Size *int64 `json:"cover_num"`
}

// Fields of the lists.
var (
	campaignFields = []string{"campaign_id", "campaign_name", "operation_status", "secondary_status"}
	groupFields    = []string{"adgroup_id", "audience_ids"}
	adFields       = []string{"ad_id", "ad_name", "operation_status", "secondary_status", "landing_page_url"}
)

// listFilter is the filtering of a list. Secondary asks for deleted objects,
// which lists leave out.
type listFilter struct {
	CampaignIDs []string `json:"campaign_ids,omitzero"`
	BuyingTypes []string `json:"buying_types,omitzero"`
	Origins     []string `json:"campaign_system_origins,omitzero"`
	Secondary   string   `json:"secondary_status,omitzero"`
}

// query returns the parameters of a list with the filter.
func (f listFilter) query(fields []string) url.Values {
	q := url.Values{"fields": {jsonList(fields)}}
	// Encoding fails only for invalid UTF-8, which TikTok does not send.
	if b, err := json.Marshal(f); err == nil && string(b) != "{}" {
		q.Set("filtering", string(b))
	}
	return q
}

// Entities implements connection.Client.
//
// Choice: an ad group with several audiences counts as one without, because
// TikTok does not report the metrics of each.
func (c *Client) Entities(ctx context.Context, cr connection.Credentials, account string) (*connection.Entities, error) {
	access := cr.Access.Reveal()
	campaigns, err := readAllKinds(ctx, c, access, account, "/campaign/get/", campaignFields, "CAMPAIGN_STATUS_ALL", func(x campaign) string { return x.ID })
	if err != nil {
		return nil, err
	}
	// Neither TopView ads nor promoted posts have custom audiences.
	groups, err := readList(ctx, c, access, account, "/adgroup/get/", listFilter{Secondary: "ADGROUP_STATUS_ALL"}.query(groupFields), 1000, func(x group) string { return x.ID })
	if err != nil {
		return nil, err
	}
	ads, err := readAllKinds(ctx, c, access, account, "/ad/get/", adFields, "AD_STATUS_ALL", func(x ad) string { return x.ID })
	if err != nil {
		return nil, err
	}
	audiences, err := readList(ctx, c, access, account, "/dmp/custom_audience/list/", url.Values{}, 100, func(x audience) string { return x.ID })
	if err != nil {
		return nil, err
	}
	found := &connection.Entities{Groups: map[string]string{}}
	for _, x := range campaigns {
		found.Campaigns = append(found.Campaigns, entity(x.ID, x.Name, x.Status, x.Secondary))
	}
	for _, x := range groups {
		if len(x.Audiences) == 1 {
			found.Groups[x.ID] = x.Audiences[0]
		}
	}
	for _, x := range ads {
		e := entity(x.ID, x.Name, x.Status, x.Secondary)
		e.URL = x.URL
		found.Ads = append(found.Ads, e)
	}
	for _, x := range audiences {
		found.Audiences = append(found.Audiences, connection.Entity{External: x.ID, Name: x.Name, Size: x.Size})
	}
	return found, nil
}

// entity returns a campaign or an ad. Either of its two statuses tells that it is
// deleted.
func entity(id, name, operation, secondary string) connection.Entity {
	deleted := operation == statusDeleted || strings.HasSuffix(secondary, "_"+statusDeleted)
	return connection.Entity{
		External: id, Name: name, Status: shownStatus(operation, secondary), Runs: operation == statusEnabled && !deleted, Deleted: deleted, Channel: channel,
	}
}

// deliveries end the secondary status of an object that is switched on and that
// nothing keeps from delivering.
var deliveries = []string{"_STATUS_ENABLE", "_STATUS_DELIVERY_OK"}

// shownStatus returns the status that people see: that of the switch, and where
// it is on, the secondary status if it says more. That can be a review or the
// account (tiktok-business-api-sdk 0.1.8, smart_plus_campaign_get.yml,
// secondary_status). TikTok adds values, so none is unknown.
func shownStatus(operation, secondary string) string {
	if operation != statusEnabled || secondary == "" || slices.ContainsFunc(deliveries, func(end string) bool { return strings.HasSuffix(secondary, end) }) {
		return operation
	}
	return secondary
}

// readAllKinds reads a list of all objects of an account: deleted ones too, of
// all ways of buying.
//
// Choice: a refusal of one of the special lists counts as an empty one, because
// accounts without such ads may not be allowed to ask. Their metrics are not
// lost by that: reports ask by themselves and carry the names.
func readAllKinds[T any](ctx context.Context, c *Client, access, account, path string, fields []string, all string, id func(T) string) ([]T, error) {
	found, err := readList(ctx, c, access, account, path, listFilter{Secondary: all}.query(fields), 1000, id)
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for _, x := range found {
		seen[id(x)] = true
	}
	for _, special := range []listFilter{{BuyingTypes: []string{buyingTopView}, Secondary: all}, {Origins: []string{originPromote}, Secondary: all}} {
		more, err := readList(ctx, c, access, account, path, special.query(fields), 1000, id)
		if err != nil && !isRefusal(err) {
			return nil, err
		}
		for _, x := range more {
			if !seen[id(x)] {
				seen[id(x)] = true
				found = append(found, x)
			}
		}
	}
	return found, nil
}

// readList reads all objects of one list of an account. It reads it again if
// the number of objects is not the one that TikTok names.
func readList[T any](ctx context.Context, c *Client, access, account, path string, query url.Values, size int, id func(T) string) ([]T, error) {
	query.Set("advertiser_id", account)
	call := transport.Call{Method: http.MethodGet, Path: path, Query: query, Account: account}
	for attempt := 1; ; attempt++ {
		found, seen, totals := []T{}, map[string]bool{}, []int{}
		err := readPages(ctx, c, access, call, size, func(page *listPage[T], _ http.Header) error {
			totals = append(totals, page.PageInfo.TotalNumber)
			for _, x := range page.List {
				if !seen[id(x)] {
					seen[id(x)] = true
					found = append(found, x)
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		n, first, last := len(found), totals[0], totals[len(totals)-1]
		switch {
		case first == last && n == last:
			return found, nil
		case attempt < maxReads:
		case n == first || n == last:
			// The number changed while the list was read, each time.
			return found, nil
		default:
			return nil, reportChanged("The list has more or fewer entries than TikTok says.")
		}
	}
}
