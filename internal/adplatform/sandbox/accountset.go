package sandbox

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/money"
)

// shopName is the name of all accounts.
const shopName = "Northwind Outdoor"

// firstDay is the first day with metrics in any account.
var firstDay = clock.MakeDate(2024, time.November, 1)

// campaignTemplate is a campaign without the random parts of an account set.
type campaignTemplate struct {
	name, channel, kind string
	// budget is per day, in whole units of the currency.
	budget int64
	// start is in days after the first day, length in days, 0 for unlimited.
	start, length int
	// withoutAds is the share of the campaign's rows without an ad.
	withoutAds int64
	// holidayBoost doubles the effect of holidays.
	holidayBoost bool
}

// campaignTemplates are the campaigns of each platform except GA4.
var campaignTemplates = map[string][]campaignTemplate{
	GoogleAds: {
		{name: "Brand Search", channel: "search", kind: "search", budget: 840},
		{name: "Black Friday: Trail Shoes", channel: "search", kind: "shopping", budget: 1320, start: 3, holidayBoost: true},
		{name: "Winter Jackets: Retargeting", channel: "display", kind: "display", budget: 540, start: 20, withoutAds: 40_000},
		{name: "Performance Max: All Products", channel: "display", kind: "performance_max", budget: 1080, start: 61, withoutAds: million},
		{name: "Trail Talk: Video Teaser", channel: "video", kind: "video", budget: 420, start: 120},
	},
	MetaAds: {
		{name: "Winter Jackets: Lookalikes", channel: "social", kind: "sales", budget: 960},
		{name: "Black Friday: Trail Shoes", channel: "social", kind: "sales", budget: 1260, start: 2, withoutAds: 30_000, holidayBoost: true},
		{name: "Weekend Hikes: Reach", channel: "social", kind: "awareness", budget: 360, start: 75},
		{name: "Gear Guide: Traffic", channel: "social", kind: "traffic", budget: 300, start: 140},
		{name: "Spring Clearance 2025", channel: "social", kind: "sales", budget: 720, start: 125, length: 56},
	},
	TikTokAds: {
		{name: "Trail Talk: Creator Clips", channel: "social", kind: "awareness", budget: 480},
		{name: "Trail Shoes: Try-on", channel: "social", kind: "traffic", budget: 390, start: 30, withoutAds: 25_000},
		{name: "Flash Sale: Rain Gear", channel: "social", kind: "sales", budget: 570, start: 95, holidayBoost: true},
	},
	LinkedInAds: {
		{name: "Corporate Gifts: Lead Form", channel: "social", kind: "leads", budget: 900},
		{name: "Team Outings: Sponsored Content", channel: "social", kind: "leads", budget: 660, start: 45, withoutAds: 50_000},
		{name: "Outdoor Employer: Awareness", channel: "social", kind: "awareness", budget: 450, start: 100},
	},
	MicrosoftAds: {
		{name: "Brand Search: Bing", channel: "search", kind: "search", budget: 380},
		{name: "Trail Shoes: Shopping", channel: "search", kind: "shopping", budget: 520, start: 12, holidayBoost: true},
		{name: "Rain Gear: Audience Network", channel: "display", kind: "display", budget: 240, start: 40, withoutAds: 40_000},
		{name: "Performance Max: Clearance", channel: "display", kind: "performance_max", budget: 310, start: 70, withoutAds: million},
	},
}

// adPlatforms are the platforms whose campaigns GA4 has too, in the order of their
// campaigns there.
//
// Choice: those of Microsoft are not in GA4, so that the accounts of GA4 stay the
// same for every seed.
var adPlatforms = []string{GoogleAds, MetaAds, TikTokAds, LinkedInAds}

// audienceNames are the names of audiences.
var audienceNames = []string{"Cart abandoners", "Trail runners", "Newsletter readers", "Weekend hikers", "Lookalike 1 %"}

// themes are the subjects of ads.
var themes = []struct{ name, headline, text string }{
	{"Ridge Line", "Made for the ridge line", "Light shoes with a firm grip, for days that climb."},
	{"First Snow", "Ready for the first snow", "Warm jackets that pack small. Free returns for 60 days."},
	{"Mud Season", "Mud is no reason to stay in", "Waterproof from the first step to the last."},
	{"Basecamp", "Everything for basecamp", "Tents, stoves and bags that last for years."},
	{"Slow Miles", "Take the slow miles", "Packs that sit well from morning to evening."},
	{"Early Start", "For an early start", "Lamps and layers for the hour before sunrise."},
}

// idFormat is the format of a platform's ids: the first digit and the length.
//
// Choice: each platform has its own first digit, so that accounts of different
// platforms never have the same id.
type idFormat struct {
	lead                                   string
	account, campaign, group, ad, audience int
}

var idFormats = map[string]idFormat{
	GoogleAds:   {"4", 10, 11, 12, 12, 10},
	MetaAds:     {"1", 16, 18, 18, 18, 17},
	TikTokAds:   {"7", 19, 19, 19, 19, 18},
	LinkedInAds: {"5", 9, 9, 9, 9, 8},
	GA4:         {"3", 9, 0, 9, 0, 10},

	MicrosoftAds: {"2", 9, 9, 16, 14, 9},
}

// validate checks an account set and returns its time zone.
func (w AccountSet) validate() (*time.Location, error) {
	if _, ok := money.Currency(w.Currency).Digits(); !ok {
		return nil, fmt.Errorf("currency %q is unknown: give a code of ISO 4217 such as USD", w.Currency)
	}
	zone, err := clock.Zone(w.Timezone)
	if err != nil {
		return nil, fmt.Errorf("%w: give one of the IANA database such as Europe/Berlin", err)
	}
	return zone, nil
}

// accountBuilder builds one account.
type accountBuilder struct {
	account *Account
	shape   idFormat
	key     seedKey
	// unit is one unit of the currency in millionths, for prices given in
	// dollars.
	unit int64
	used map[string]bool
}

// seedKey returns the key that all random numbers of an account set derive from.
func (w AccountSet) seedKey() seedKey {
	return seedKey(0).numbered(w.Seed).named(w.Currency).named(w.Timezone)
}

// accountID returns the id of an account set's account on a platform.
func accountID(w AccountSet, platform string) string {
	return idFormats[platform].newID(idFormats[platform].account, w.seedKey().named(platform).named("account"), func(string) bool { return false })
}

// buildAccount returns an account set's account on a platform.
func buildAccount(w AccountSet, zone *time.Location, platform string, scale int) *Account {
	k := w.seedKey()
	switch platform {
	case LinkedInAds:
		// LinkedIn's accounts have no time zone; its days are in UTC.
		zone = time.UTC
	case MicrosoftAds:
		_, zone = microsoftZone(zone)
	}
	a := &Account{Set: w, Platform: platform, ID: accountID(w, platform), Name: shopName, First: firstDay, zone: zone, traits: traitsOf(platform, w.Currency)}
	if w.Member > 0 {
		a.Name += " " + strconv.Itoa(w.Member+1)
	}
	b := &accountBuilder{account: a, shape: idFormats[platform], key: k.named(platform), unit: million, used: map[string]bool{}}
	if digits, _ := money.Currency(w.Currency).Digits(); digits == 0 {
		// Choice: a unit of a currency without decimals is worth about a cent.
		b.unit = 100 * million
	}
	a.countries = pickCountries(k.named("countries"))
	b.addAudiences()
	for copied := range max(scale, 1) {
		if platform != GA4 {
			b.addCampaigns(platform, k.named(platform), copied)
			continue
		}
		for _, payer := range adPlatforms {
			b.addCampaigns(payer, k.named(payer), copied)
		}
	}
	b.used = nil
	return a
}

// newID returns an id of so many digits.
func (s idFormat) newID(digits int, k seedKey, taken func(id string) bool) string {
	space := int64(1)
	for range digits - 1 {
		space *= 10
	}
	for n := k.intBelow(space); ; n = (n + 1) % space {
		if id := s.lead + fmt.Sprintf("%0*d", digits-1, n); !taken(id) {
			return id
		}
	}
}

// newID returns an id that is unique in the account.
func (b *accountBuilder) newID(digits int, k seedKey) string {
	id := b.shape.newID(digits, k, func(id string) bool { return b.used[id] })
	b.used[id] = true
	return id
}

// entityID returns the id of a campaign or an ad, which in GA4 is its name.
func (b *accountBuilder) entityID(digits int, k seedKey, name string) string {
	if b.account.Platform == GA4 {
		return name
	}
	return b.newID(digits, k)
}

func (b *accountBuilder) addAudiences() {
	k := b.key.named("audiences")
	from := k.numbered(0).intBelow(int64(len(audienceNames)))
	for i := range k.numbered(1).intBetween(2, 4) {
		name := audienceNames[(from+i)%int64(len(audienceNames))]
		b.account.Audiences = append(b.account.Audiences, &Audience{
			ID: b.newID(b.shape.audience, k.named(name)), Name: name, Size: k.named(name).numbered(2).intBetween(1_200, 480_000),
		})
	}
}

// addCampaigns adds the campaigns of a platform. Their random parts depend on
// the platform that runs them, so that GA4 has the same ads.
func (b *accountBuilder) addCampaigns(platform string, shape seedKey, copied int) {
	for _, p := range campaignTemplates[platform] {
		if copied > 0 {
			p.name += " " + strconv.Itoa(copied+1)
		}
		seen := b.account.Platform + "/" + p.name
		if b.used[seen] {
			continue // two platforms run it; GA4 has it once
		}
		b.used[seen] = true
		b.account.Campaigns = append(b.account.Campaigns, b.newCampaign(p, shape.named(p.name), platform))
	}
}

func (b *accountBuilder) newCampaign(p campaignTemplate, shape seedKey, platform string) *Campaign {
	k := b.key.named("campaign").named(p.name)
	c := &Campaign{
		ID: b.entityID(b.shape.campaign, k, p.name), Name: p.name, Channel: p.channel, Kind: p.kind, DailyBudget: p.budget * b.unit,
		URL: "https://northwind-outdoor.example/" + slug(p.name), Start: firstDay + clock.Date(p.start), key: k,
	}
	if p.length > 0 {
		c.End = c.Start + clock.Date(p.length-1)
	}
	if shape.named("pause").intBelow(3) == 0 {
		c.pauseFirst = c.Start + clock.Date(shape.named("pause").numbered(1).intBetween(150, 320))
		c.pauseLast = c.pauseFirst + clock.Date(shape.named("pause").numbered(2).intBetween(5, 18))
	}
	weights := int64(0)
	if p.withoutAds < million {
		weights = b.addGroups(c, shape, platform)
	}
	for _, g := range c.Groups {
		for _, ad := range g.Ads {
			ad.plan = b.newPlan(c, p, ad.key, mulDiv(applyFactor(c.DailyBudget, million-p.withoutAds), ad.weight, weights))
		}
	}
	if p.withoutAds > 0 {
		c.withoutAds = b.newPlan(c, p, k.named("beyond"), applyFactor(c.DailyBudget, p.withoutAds))
	}
	return c
}

// addGroups adds the ad groups of a campaign with their ads and returns the sum
// of the ads' weights.
func (b *accountBuilder) addGroups(c *Campaign, shape seedKey, platform string) (weights int64) {
	groups := shape.named("groups").intBetween(1, 2)
	if platform == LinkedInAds {
		groups = 1 // a LinkedIn campaign is its own ad group
	}
	for i := range groups {
		k := shape.named("group").numbered(i)
		g := &Group{ID: b.newID(b.shape.group, c.key.named("group").numbered(i)), Campaign: c, Name: "Everybody", key: c.key.named("group").numbered(i)}
		// One ad group in three has no audience.
		if (int64(len(b.account.Campaigns))+i)%3 != 2 {
			g.Audience = b.account.Audiences[k.numbered(1).intBelow(int64(len(b.account.Audiences)))]
			g.Name = g.Audience.Name
		}
		g.Name = c.Name + ": " + g.Name + " " + strconv.FormatInt(i+1, 10)
		for j := range k.numbered(2).intBetween(1, 3) {
			theme := themes[k.numbered(3).numbered(j).intBelow(int64(len(themes)))]
			name := fmt.Sprintf("%s: %s %d%c", c.Name, theme.name, i+1, 'A'+rune(j))
			of := g.key.named("ad").numbered(j)
			ad := &Ad{
				ID: b.entityID(b.shape.ad, of, name), Name: name, Headline: theme.headline, Text: theme.text,
				Link: c.URL + "?utm_content=" + slug(name), Group: g, key: of, weight: k.numbered(4).numbered(j).intBetween(60, 140),
			}
			weights += ad.weight
			g.Ads = append(g.Ads, ad)
		}
		c.Groups = append(c.Groups, g)
	}
	return weights
}

// slug returns a name as a part of a URL.
func slug(name string) string {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
	return strings.Join(words, "-")
}

// plannedOn reports whether the campaign was planned to run on a day.
func (c *Campaign) plannedOn(day clock.Date) bool {
	return day >= c.Start && (c.End == 0 || day <= c.End) && (c.pauseFirst == 0 || day < c.pauseFirst || day > c.pauseLast)
}

// pickCountries returns the five or six countries of an account set, the largest
// first.
func pickCountries(k seedKey) []string {
	all := []string{"US", "GB", "DE", "FR", "CA", "NL", "SE", "AU", "ES", "JP"}
	n := k.numbered(0).intBetween(5, 6)
	from := k.numbered(1).intBelow(int64(len(all)))
	list := make([]string, n)
	for i := range n {
		list[i] = all[(from+i)%int64(len(all))]
	}
	return list
}

// ages and genders are the reported ones; minors see no ads.
var (
	ages    = fact.AgeRanges[1:]
	genders = []string{"female", "male", "unknown"}
)
