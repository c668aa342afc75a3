// Package sandbox simulates the APIs of ad platforms: Google Ads, Meta Ads,
// TikTok Ads, LinkedIn Ads, GA4 and Microsoft Advertising. The metrics of its
// invented accounts depend only on a seed, the day, and the day on which they are
// read. Truth returns the exact totals, so that a sync can be verified to the
// millionth. The package does not know its callers.
package sandbox

import (
	"net/http"
	"time"

	"fanfare/internal/clock"
	"fanfare/internal/fact"
)

// The simulated platforms, by their names in facts.
const (
	GoogleAds   = "google_ads"
	MetaAds     = "meta_ads"
	TikTokAds   = "tiktok_ads"
	LinkedInAds = "linkedin_ads"
	GA4         = "ga4"
	// MicrosoftAds is Microsoft Advertising.
	MicrosoftAds = "microsoft_ads"
)

// AccountSet identifies a set of invented accounts, one per platform. The API of
// the sandbox calls it a world. Equal sets always have the same accounts,
// campaigns and metrics.
type AccountSet struct {
	Seed     int64  `json:"seed"`
	Currency string `json:"currency"`
	Timezone string `json:"timezone"`
	// Member is the number of a further account of the grant that opens several,
	// 0 for the first.
	Member int `json:"-"`
}

// Account is an ad account on one platform.
type Account struct {
	Set      AccountSet
	Platform string
	// ID has as many digits as the platform's ids. Accounts of different
	// platforms never have the same id, those of different account sets only by a
	// hash collision.
	ID        string
	Name      string
	Campaigns []*Campaign
	Audiences []*Audience
	// First is the first day with metrics.
	First clock.Date

	zone      *time.Location
	traits    *platformTraits
	countries []string
}

// Campaign is a campaign on a platform. Its values are neutral; each platform's
// API converts them.
type Campaign struct {
	ID, Name string
	// Channel is one of fact.Channels. Kind is search, shopping, display,
	// performance_max, video, awareness, traffic, leads or sales.
	Channel, Kind string
	// DailyBudget is in millionths of the account's currency.
	DailyBudget int64
	// URL is the landing page.
	URL    string
	Groups []*Group
	// Start is the first day of the campaign, End the last, 0 for none.
	Start, End clock.Date

	key                   seedKey
	pauseFirst, pauseLast clock.Date
	// withoutAds generates the campaign's rows without an ad, nil for none.
	withoutAds *adPlan
}

// Group is an ad group with at most one audience.
type Group struct {
	ID, Name string
	Campaign *Campaign
	Audience *Audience
	Ads      []*Ad

	key seedKey
}

// Ad is an ad.
type Ad struct {
	ID, Name             string
	Headline, Text, Link string
	Group                *Group

	key    seedKey
	weight int64
	plan   *adPlan
}

// Audience is an audience on a platform.
type Audience struct {
	ID, Name string
	Size     int64
}

// Level is the level of detail of a report.
type Level uint8

// The levels. A campaign can have rows without an ad in addition to its ads.
// Breakdowns are by ad group; rows without an ad have no group.
const (
	ByAccount Level = iota
	ByCampaign
	ByAd
	ByCountry
	ByAgeAndGender
	ByDevice
)

// Row is one row of a report of one day. Amounts are multiples of the
// platform's smallest unit: cents for Meta and TikTok, millionths for others.
type Row struct {
	Date     clock.Date
	Campaign *Campaign
	Group    *Group
	Ad       *Ad
	Country  string
	AgeRange string
	Gender   string
	Device   string
	// Part is what a platform's API splits rows by that the model does not have,
	// such as an hour. It is empty in rows of the model.
	Part   string
	Values fact.Values
}

// PlatformAPI is the API of one platform.
type PlatformAPI interface {
	Platform() string
	// Hosts are the platform's host names, Prefix its path on the sandbox's own
	// address, such as /meta.
	Hosts() []string
	Prefix() string
	// Serve answers a call whose path has no prefix. The server has already
	// applied the common faults; Serve queries c.Fault for the platform's own.
	Serve(s *Call, w http.ResponseWriter, r *http.Request)
	// Throttle answers as the platform does when a rate limit is exceeded.
	Throttle(w http.ResponseWriter, r *http.Request, seconds int)
}

// platformAPIs are all simulated platforms.
var platformAPIs = []PlatformAPI{google{}, meta{}, tikTok{}, linkedIn{}, ga4{}, microsoft{}}
