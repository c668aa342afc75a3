// Package sandbox plays ad platforms: Google Ads, Meta Ads, TikTok Ads, LinkedIn
// Ads and GA4 as they look from outside, with made-up accounts whose figures
// are a pure function of a seed, a day and the day on which one looks. It also
// tells the truth about them, so that whoever syncs can be checked to the last
// millionth. It knows nothing of those who call it.
package sandbox

import (
	"net/http"
	"time"

	"fanfare/internal/clock"
	"fanfare/internal/fact"
)

// Platforms are those that are played, in the words that facts name them by.
const (
	GoogleAds   = "google_ads"
	MetaAds     = "meta_ads"
	TikTokAds   = "tiktok_ads"
	LinkedInAds = "linkedin_ads"
	GA4         = "ga4"
)

// World is what accounts are made from. The same world has the same accounts,
// campaigns and figures, wherever and whenever it is made.
type World struct {
	Seed     int64  `json:"seed"`
	Currency string `json:"currency"`
	Timezone string `json:"timezone"`
}

// Account is one account on one platform.
type Account struct {
	World    World
	Platform string
	// ID is made of digits, as many as the platform's have. Accounts of
	// different platforms never have the same, those of different worlds as
	// seldom as a hash of that length allows.
	ID        string
	Name      string
	Campaigns []*Campaign
	Audiences []*Audience
	// First is the first day that has figures.
	First clock.Date

	zone      *time.Location
	traits    *platformTraits
	countries []string
}

// Campaign is one on a platform. Its words are the platform-neutral ones that
// every dialect puts into its own.
type Campaign struct {
	ID, Name string
	// Channel is one of fact.Channels, Kind tells apart what a platform has
	// several kinds of: search, shopping, display, performance_max, video,
	// awareness, traffic, leads, sales.
	Channel, Kind string
	// DailyBudget is in millionths of the account's currency.
	DailyBudget int64
	// URL is the landing page.
	URL    string
	Groups []*Group
	// Start is the first day it ran, End the last, 0 for open.
	Start, End clock.Date

	key                   seedKey
	pauseFirst, pauseLast clock.Date
	// withoutAds is what ran without an ad, nil for nothing.
	withoutAds *adPlan
}

// Group is a group of ads, for one audience or for none.
type Group struct {
	ID, Name string
	Campaign *Campaign
	Audience *Audience
	Ads      []*Ad

	key seedKey
}

// Ad is one ad.
type Ad struct {
	ID, Name             string
	Headline, Text, Link string
	Group                *Group

	key    seedKey
	weight int64
	plan   *adPlan
}

// Audience is one on a platform.
type Audience struct {
	ID, Name string
	Size     int64
}

// Level is a cut through the figures of an account.
type Level uint8

// The levels. Campaigns may have more than their ads: what ran without one.
// Breakdowns are by group; what ran without an ad has a row without a group.
const (
	ByAccount Level = iota
	ByCampaign
	ByAd
	ByCountry
	ByAgeAndGender
	ByDevice
)

// Row is what an account reports for a day. Every amount is a whole number of
// what the platform writes: cents for Meta and TikTok, millionths elsewhere.
type Row struct {
	Date     clock.Date
	Campaign *Campaign
	Group    *Group
	Ad       *Ad
	Country  string
	AgeRange string
	Gender   string
	Device   string
	Values   fact.Values
}

// PlatformAPI is the API of one platform.
type PlatformAPI interface {
	Platform() string
	// Hosts are where the platform is found when it is addressed by name,
	// Prefix where it is below the sandbox's own address, such as /meta.
	Hosts() []string
	Prefix() string
	// Serve answers a call whose path has no prefix any more. The call has
	// passed the faults that every server knows; the dialect's own it asks
	// s for by name.
	Serve(s *Call, w http.ResponseWriter, r *http.Request)
	// Throttle answers in the way in which the platform says that it is
	// asked too often.
	Throttle(w http.ResponseWriter, r *http.Request, seconds int)
}

// platformAPIs are all platforms that are played.
var platformAPIs = []PlatformAPI{google{}, meta{}, tikTok{}, linkedIn{}, ga4{}}
