package google

import (
	"context"
	"fmt"
	"time"

	"fanfare/internal/clock"
	"fanfare/internal/connection"
	"fanfare/internal/fact"
)

const campaignFields = "campaign.id, campaign.name, campaign.advertising_channel_type"

// levelViews are the levels whose rows are read from one view.
var levelViews = map[connection.Level]reportView{
	connection.LevelAccount:  {"customer", ""},
	connection.LevelCampaign: {"campaign", campaignFields},
	connection.LevelAd: {
		"ad_group_ad",
		campaignFields + ", ad_group.id, ad_group_ad.ad.id, ad_group_ad.ad.name, ad_group_ad.ad.responsive_search_ad.headlines",
	},
}

// assetGroupView has the ads of Performance Max campaigns, which have no ad groups
// and no ads.
var assetGroupView = reportView{"asset_group", campaignFields + ", asset_group.id, asset_group.name"}

// Report implements connection.Client.
func (c *Client) Report(ctx context.Context, creds connection.Credentials, q connection.Report, each func([]fact.Row) error) error {
	if err := clampToRetention(&q, c.now()); err != nil {
		return err
	}
	audiences := groupAudiences(q.Entities)
	var rows []fact.Row
	var err error
	if cut, ok := breakdowns[q.Level]; ok {
		rows, err = c.readBreakdown(ctx, creds, &q, cut, audiences)
	} else {
		rows, err = c.readLevel(ctx, creds, &q, audiences)
	}
	if err != nil || len(rows) == 0 {
		return err
	}
	return each(rows)
}

// readLevel reads a level that is no breakdown. It adds up the rows of an ad that
// is in several ad groups: the id of an ad is unique in an ad group only
// (developers.google.com/google-ads/api/docs/concepts/api-structure, Object
// IDs), and facts have no ad groups. No number is lost, so that no note says so.
func (c *Client) readLevel(ctx context.Context, creds connection.Credentials, q *connection.Report, audiences map[string]fact.Entity) ([]fact.Row, error) {
	views := []reportView{levelViews[q.Level]}
	if q.Level == connection.LevelAd {
		views = append(views, assetGroupView)
	}
	sums := rowSums{at: map[fact.Row]int{}}
	for _, v := range views {
		err := c.readView(ctx, creds, q, v, func(r *row, as fact.Row) {
			ad := r.AdGroupAd.Ad.ID
			switch {
			case ad != "":
				as.Creative, as.Audience = fact.Entity{ExternalID: ad, Name: r.AdGroupAd.Ad.displayName()}, audiences[r.AdGroup.ID]
			case r.AssetGroup.ID != "":
				as.Creative = fact.Entity{ExternalID: assetGroupPrefix + r.AssetGroup.ID, Name: r.AssetGroup.Name}
			}
			sums.add(as, 1)
		})
		if err != nil {
			return nil, err
		}
	}
	return sums.list, nil
}

// groupAudiences returns the audience of each ad group.
func groupAudiences(e *connection.Entities) map[string]fact.Entity {
	groups := map[string]fact.Entity{}
	if e == nil {
		return groups
	}
	names := map[string]string{}
	for _, a := range e.Audiences {
		names[a.External] = a.Name
	}
	for group, audience := range e.Groups {
		groups[group] = fact.Entity{ExternalID: audience, Name: names[audience]}
	}
	return groups
}

const (
	// retentionMonths is for how long Google keeps metrics by day, since 1 June
	// 2026: ads-developers.googleblog.com/2026/05/new-data-retention-policy-for-google.
	retentionMonths = 37
	// historyDays is less than the shortest 37 months of all time zones.
	historyDays = 1115

	retentionMessage = "Google Ads keeps daily metrics for 37 months. Older days cannot be read any more."
	// easternmost is the offset of the time zone in which days begin first.
	easternmost = 14 * time.Hour
)

// clampToRetention leaves out days that Google no longer has, and adds a note
// about them. It refuses a report that has only such days: an empty one would say
// that nothing happened.
func clampToRetention(q *connection.Report, now time.Time) error {
	oldest := clock.DateIn(now.Add(easternmost).UTC().AddDate(0, -retentionMonths, 0), time.UTC)
	if q.First >= oldest {
		return nil
	}
	if q.Last < oldest {
		return &connection.Error{Class: connection.Refused, Code: "beyond_retention", Message: retentionMessage, Remedy: retentionRemedy}
	}
	q.AddNote(connection.Note{
		Code: connection.NoteNotIncluded, First: q.First, Last: oldest - 1,
		Message: fmt.Sprintf("%s The report begins on %s.", retentionMessage, oldest),
	})
	q.First = oldest
	return nil
}
