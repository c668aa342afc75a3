package google

import (
	"cmp"
	"context"
	"path"

	"fanfare/internal/connection"
)

// channels maps Google's campaign types to the channels of facts. All others
// are other.
var channels = map[string]string{
	"SEARCH": "search", "SHOPPING": "search",
	"DISPLAY": "display", "PERFORMANCE_MAX": "display", "DEMAND_GEN": "display", "DISCOVERY": "display",
	"VIDEO": "video",
}

func channelOf(campaignType string) string { return cmp.Or(channels[campaignType], "other") }

// Entities implements connection.Client.
func (c *Client) Entities(ctx context.Context, creds connection.Credentials, account string) (*connection.Entities, error) {
	entities := &found{Entities: connection.Entities{Groups: map[string]string{}}, adIndex: map[string]int{}}
	for _, list := range []struct {
		gaql string
		add  func(*found, *row)
	}{
		{"SELECT campaign.id, campaign.name, campaign.status, campaign.advertising_channel_type FROM campaign WHERE campaign.status != 'REMOVED'", addCampaign},
		{"SELECT ad_group_ad.ad.id, ad_group_ad.ad.name, ad_group_ad.ad.final_urls, ad_group_ad.ad.responsive_search_ad.headlines, ad_group_ad.status, " +
			"campaign.advertising_channel_type FROM ad_group_ad WHERE ad_group_ad.status != 'REMOVED' AND ad_group.status != 'REMOVED' AND campaign.status != 'REMOVED'", addAd},
		{"SELECT asset_group.id, asset_group.name, asset_group.status, asset_group.final_urls, campaign.advertising_channel_type FROM asset_group " +
			"WHERE asset_group.status != 'REMOVED' AND campaign.status != 'REMOVED'", addAssetGroup},
		{"SELECT user_list.id, user_list.name, user_list.membership_status, user_list.size_for_display FROM user_list", addAudience},
		{"SELECT ad_group.id, ad_group_criterion.user_list.user_list FROM ad_group_criterion WHERE ad_group_criterion.type = 'USER_LIST' " +
			"AND ad_group_criterion.negative = FALSE AND ad_group_criterion.status != 'REMOVED'", addTarget},
	} {
		rows, err := c.query(ctx, creds, account, list.gaql, false)
		if err != nil {
			return nil, err
		}
		for i := range rows {
			list.add(entities, &rows[i])
		}
	}
	for group, audience := range entities.Groups {
		if audience == severalAudiences {
			delete(entities.Groups, group)
		}
	}
	return &entities.Entities, nil
}

// found has the entities that were read so far, and where each ad is.
type found struct {
	connection.Entities
	adIndex map[string]int
}

func addCampaign(e *found, r *row) {
	e.Campaigns = append(e.Campaigns, connection.Entity{
		External: r.Campaign.ID, Name: r.Campaign.Name, Status: r.Campaign.Status, Runs: r.Campaign.Status == statusEnabled,
		Channel: channelOf(r.Campaign.Type),
	})
}

// addAd adds an ad. An ad can be in several ad groups with the same id
// (developers.google.com/google-ads/api/docs/concepts/api-structure, Object
// IDs), which is listed once.
//
// Choice: the ad is one for facts too, which have no ad groups. It runs if it
// runs in one of its ad groups.
func addAd(e *found, r *row) {
	ad := &r.AdGroupAd.Ad
	if i, there := e.adIndex[ad.ID]; there {
		if before := &e.Ads[i]; !before.Runs && r.AdGroupAd.Status == statusEnabled {
			before.Status, before.Runs = r.AdGroupAd.Status, true
		}
		return
	}
	e.adIndex[ad.ID] = len(e.Ads)
	entity := connection.Entity{
		External: ad.ID, Name: ad.displayName(), Status: r.AdGroupAd.Status, Runs: r.AdGroupAd.Status == statusEnabled,
		Channel: channelOf(r.Campaign.Type),
	}
	if len(ad.FinalURLs) > 0 {
		entity.URL = ad.FinalURLs[0]
	}
	e.Ads = append(e.Ads, entity)
}

// assetGroupPrefix marks the ids of asset groups, because Google numbers them and
// ads separately.
const assetGroupPrefix = "asset_group:"

// addAssetGroup adds an asset group, the ad of a Performance Max campaign.
func addAssetGroup(e *found, r *row) {
	group := &r.AssetGroup
	entity := connection.Entity{
		External: assetGroupPrefix + group.ID, Name: group.Name, Status: group.Status, Runs: group.Status == statusEnabled,
		Channel: channelOf(r.Campaign.Type),
	}
	if len(group.FinalURLs) > 0 {
		entity.URL = group.FinalURLs[0]
	}
	e.Ads = append(e.Ads, entity)
}

func addAudience(e *found, r *row) {
	e.Audiences = append(e.Audiences, connection.Entity{
		External: r.UserList.ID, Name: r.UserList.Name, Status: r.UserList.MembershipStatus, Runs: r.UserList.MembershipStatus == "OPEN",
		Size: r.UserList.SizeForDisplay,
	})
}

// severalAudiences marks an ad group with more than one audience.
const severalAudiences = "*"

// addTarget sets the audience of an ad group.
//
// Choice: an ad group with several audiences counts as one without, because
// Google does not report the metrics of each.
func addTarget(e *found, r *row) {
	audience := path.Base(r.AdGroupCriterion.UserList.UserList)
	if before, there := e.Groups[r.AdGroup.ID]; there && before != audience {
		audience = severalAudiences
	}
	e.Groups[r.AdGroup.ID] = audience
}
