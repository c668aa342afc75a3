package sandbox

import (
	"strconv"
	"time"
)

// Switches of the form of answers.
const (
	tikTokFixedOffset     = "fixed_offset_zone"
	tikTokSecondaryStatus = "secondary_status"
	tikTokSharedAudience  = "shared_audience"
)

// tikTokSecondaryStatuses are the values of the switch secondary_status.
var tikTokSecondaryStatuses = []string{
	"ADVERTISER_ACCOUNT_PUNISH", "ADVERTISER_CONTRACT_PENDING", "CAMPAIGN_STATUS_REVIEW_DISAPPROVED", "STATUS_NOT_DELIVERY",
}

// secondaryStatus returns the delivery of a campaign with a status.
func (c *tikTokCall) secondaryStatus(status string) string {
	if value := c.Behavior(c.account, tikTokSecondaryStatus); value != "" && status == "ENABLE" {
		return value
	}
	return "CAMPAIGN_STATUS_" + status
}

// zoneName returns the time zone of an account. With the switch, that of a place
// with daylight saving time is its offset in standard time. The signs of such
// names are those of POSIX: Etc/GMT+5 is behind UTC.
//
// Choice: only the name changes. The days of metrics stay those of the place, so
// that the true totals do.
func (c *tikTokCall) zoneName(a *Account) string {
	year := c.Now().Year()
	_, winter := time.Date(year, time.January, 1, 12, 0, 0, 0, a.zone).Zone()
	_, summer := time.Date(year, time.July, 1, 12, 0, 0, 0, a.zone).Zone()
	standard := min(winter, summer) / int(time.Hour/time.Second)
	switch {
	case winter == summer || !c.Behaves(a, tikTokFixedOffset):
		return a.Set.Timezone
	case standard > 0:
		return "Etc/GMT-" + strconv.Itoa(standard)
	case standard < 0:
		return "Etc/GMT+" + strconv.Itoa(-standard)
	}
	return "Etc/GMT"
}

// audiences lists the audiences of the account and those that are shared with
// it: with the switch, the first one of the first account of the token.
func (c *tikTokCall) audiences() (any, *tikTokError) {
	items := []map[string]any{}
	add := func(x *Audience, own, shared bool) {
		items = append(items, map[string]any{
			"audience_id": x.ID, "name": x.Name, "cover_num": x.Size, "is_valid": true, "audience_type": "Customer File Audience", "is_creator": own, "shared": shared,
		})
	}
	first, err := c.Open(c.token)
	if err != nil {
		return nil, tikTokRefusal("The token is for no advertiser.")
	}
	shares := c.Behaves(c.account, tikTokSharedAudience)
	if shares && c.account != first {
		add(first.Audiences[0], false, true)
	}
	for i, x := range c.account.Audiences {
		add(x, true, shares && c.account == first && i == 0)
	}
	return c.listPage(items, 100)
}
