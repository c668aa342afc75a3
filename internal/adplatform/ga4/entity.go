package ga4

import (
	"cmp"
	"context"
	"slices"

	"fanfare/internal/connection"
)

// channels maps GA4's channel groups to the channels of facts. All others are
// other.
var channels = map[string]string{
	"Paid Search": "search", "Organic Search": "search", "Paid Shopping": "search", "Organic Shopping": "search",
	"Paid Social": "social", "Organic Social": "social",
	"Display": "display", "Cross-network": "display",
	"Paid Video": "video", "Organic Video": "video",
	"Audio": "audio", "Email": "email", "SMS": "sms", "Mobile Push Notifications": "push", "Affiliates": "affiliate",
}

func channelOf(group string) string { return cmp.Or(channels[group], "other") }

// devices maps the device names that differ from those of facts.
var devices = map[string]string{"smart tv": "tv"}

// knownOrUnknown returns the value if it is one of the values, else unknown.
func knownOrUnknown(words []string, word string) string {
	if slices.Contains(words, word) {
		return word
	}
	return "unknown"
}

// entityDays are the days whose campaigns and ads count as entities. Choice:
// GA4 has no list of campaigns, and those without a session for 90 days are not
// shown.
var entityDays = days{"90daysAgo", "today"}

// Entities implements connection.Client. GA4 knows campaigns and ads only by
// name and has no status of them. Audiences are omitted as in reports.
func (c *Client) Entities(ctx context.Context, creds connection.Credentials, account string) (*connection.Entities, error) {
	e := &connection.Entities{Groups: map[string]string{}}
	for _, list := range []struct {
		dimension string
		to        *[]connection.Entity
	}{{byCampaign, &e.Campaigns}, {byAd, &e.Ads}} {
		seen := map[string]bool{}
		in := query{property: account, dimensions: []string{list.dimension, byChannel}, metrics: []string{metricKeyEvents, metricRevenue}, between: entityDays}
		_, err := c.runReport(ctx, creds, in, func(l reportRow, _ []int64) error {
			if id := l[list.dimension]; !isPlaceholder(id) && !seen[id] {
				seen[id] = true
				*list.to = append(*list.to, connection.Entity{External: id, Name: id, Channel: channelOf(l[byChannel])})
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return e, nil
}
