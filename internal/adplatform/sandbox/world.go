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

// shop is whose accounts they are.
const shop = "Northwind Outdoor"

// firstDay is the first that any account has figures for.
var firstDay = clock.MakeDate(2024, time.November, 1)

// blueprint is a campaign before it is built into a world.
type blueprint struct {
	name, channel, kind string
	// budget is in whole units of the currency a day.
	budget int64
	// start is in days after the first, length in days, 0 for open.
	start, length int
	// beyond is the part of the campaign that its ads do not have.
	beyond int64
	// festive ones make the most of holidays.
	festive bool
}

// blueprints are what each platform has, GA4 apart.
var blueprints = map[string][]blueprint{
	GoogleAds: {
		{name: "Brand Search", channel: "search", kind: "search", budget: 840},
		{name: "Black Friday: Trail Shoes", channel: "search", kind: "shopping", budget: 1320, start: 3, festive: true},
		{name: "Winter Jackets: Retargeting", channel: "display", kind: "display", budget: 540, start: 20, beyond: 40_000},
		{name: "Performance Max: All Products", channel: "display", kind: "performance_max", budget: 1080, start: 61, beyond: one},
		{name: "Trail Talk: Video Teaser", channel: "video", kind: "video", budget: 420, start: 120},
	},
	MetaAds: {
		{name: "Winter Jackets: Lookalikes", channel: "social", kind: "sales", budget: 960},
		{name: "Black Friday: Trail Shoes", channel: "social", kind: "sales", budget: 1260, start: 2, beyond: 30_000, festive: true},
		{name: "Weekend Hikes: Reach", channel: "social", kind: "awareness", budget: 360, start: 75},
		{name: "Gear Guide: Traffic", channel: "social", kind: "traffic", budget: 300, start: 140},
		{name: "Spring Clearance 2025", channel: "social", kind: "sales", budget: 720, start: 125, length: 56},
	},
	TikTokAds: {
		{name: "Trail Talk: Creator Clips", channel: "social", kind: "awareness", budget: 480},
		{name: "Trail Shoes: Try-on", channel: "social", kind: "traffic", budget: 390, start: 30, beyond: 25_000},
		{name: "Flash Sale: Rain Gear", channel: "social", kind: "sales", budget: 570, start: 95, festive: true},
	},
	LinkedInAds: {
		{name: "Corporate Gifts: Lead Form", channel: "social", kind: "leads", budget: 900},
		{name: "Team Outings: Sponsored Content", channel: "social", kind: "leads", budget: 660, start: 45, beyond: 50_000},
		{name: "Outdoor Employer: Awareness", channel: "social", kind: "awareness", budget: 450, start: 100},
	},
}

// payers are the platforms that ads run on, in the order in which GA4 sees
// their campaigns.
var payers = []string{GoogleAds, MetaAds, TikTokAds, LinkedInAds}

// audienceNames are what audiences are called.
var audienceNames = []string{"Cart abandoners", "Trail runners", "Newsletter readers", "Weekend hikers", "Lookalike 1 %"}

// themes are what ads are about.
var themes = []struct{ name, headline, text string }{
	{"Ridge Line", "Made for the ridge line", "Light shoes with a firm grip, for days that climb."},
	{"First Snow", "Ready for the first snow", "Warm jackets that pack small. Free returns for 60 days."},
	{"Mud Season", "Mud is no reason to stay in", "Waterproof from the first step to the last."},
	{"Basecamp", "Everything for basecamp", "Tents, stoves and bags that last for years."},
	{"Slow Miles", "Take the slow miles", "Packs that sit well from morning to evening."},
	{"Early Start", "For an early start", "Lamps and layers for the hour before sunrise."},
}

// shape is how ids of a platform look: the first digit, and how many there
// are.
//
// Choice: the first digit is the platform's own, so that accounts of different
// platforms never have the same id.
type shape struct {
	lead                                   string
	account, campaign, group, ad, audience int
}

var shapes = map[string]shape{
	GoogleAds:   {"4", 10, 11, 12, 12, 10},
	MetaAds:     {"1", 16, 18, 18, 18, 17},
	TikTokAds:   {"7", 19, 19, 19, 19, 18},
	LinkedInAds: {"5", 9, 9, 9, 9, 8},
	GA4:         {"3", 9, 0, 9, 0, 10},
}

// check says what is wrong with a world.
func (w World) check() (*time.Location, error) {
	if _, ok := money.Currency(w.Currency).Digits(); !ok {
		return nil, fmt.Errorf("currency %q is unknown: give a code of ISO 4217 such as USD", w.Currency)
	}
	zone, err := clock.Zone(w.Timezone)
	if err != nil {
		return nil, fmt.Errorf("%w: give one of the IANA database such as Europe/Berlin", err)
	}
	return zone, nil
}

// builder builds one account.
type builder struct {
	account *Account
	shape   shape
	key     key
	// unit is one of the currency in millionths, for prices that are thought
	// of in dollars.
	unit int64
	used map[string]bool
}

// key is where the chance of a world comes from.
func (w World) key() key { return key(0).number(w.Seed).text(w.Currency).text(w.Timezone) }

// accountID is the id of the account of a world on a platform.
func accountID(w World, platform string) string {
	return shapes[platform].id(shapes[platform].account, w.key().text(platform).text("account"), func(string) bool { return false })
}

// build makes the account of a world on a platform.
func build(w World, zone *time.Location, platform string, scale int) *Account {
	k := w.key()
	if platform == LinkedInAds {
		// It has no zones; its days are those of UTC wherever the shop is.
		zone = time.UTC
	}
	a := &Account{World: w, Platform: platform, ID: accountID(w, platform), Name: shop, First: firstDay, zone: zone, traits: traitsOf(platform, w.Currency)}
	b := &builder{account: a, shape: shapes[platform], key: k.text(platform), unit: one, used: map[string]bool{}}
	if digits, _ := money.Currency(w.Currency).Digits(); digits == 0 {
		// Choice: a unit of a currency without decimals is worth about a cent.
		b.unit = 100 * one
	}
	a.countries = pickCountries(k.text("countries"))
	b.audiences()
	for copied := range max(scale, 1) {
		if platform != GA4 {
			b.campaigns(platform, k.text(platform), copied)
			continue
		}
		for _, payer := range payers {
			b.campaigns(payer, k.text(payer), copied)
		}
	}
	b.used = nil
	return a
}

// id makes an id of so many digits.
func (s shape) id(digits int, k key, taken func(id string) bool) string {
	space := int64(1)
	for range digits - 1 {
		space *= 10
	}
	for n := k.below(space); ; n = (n + 1) % space {
		if id := s.lead + fmt.Sprintf("%0*d", digits-1, n); !taken(id) {
			return id
		}
	}
}

// id makes an id that nothing in the account has yet.
func (b *builder) id(digits int, k key) string {
	id := b.shape.id(digits, k, func(id string) bool { return b.used[id] })
	b.used[id] = true
	return id
}

// named makes the id of a campaign or an ad, which in GA4 is its name.
func (b *builder) named(digits int, k key, name string) string {
	if b.account.Platform == GA4 {
		return name
	}
	return b.id(digits, k)
}

func (b *builder) audiences() {
	k := b.key.text("audiences")
	from := k.number(0).below(int64(len(audienceNames)))
	for i := range k.number(1).between(2, 4) {
		name := audienceNames[(from+i)%int64(len(audienceNames))]
		b.account.Audiences = append(b.account.Audiences, &Audience{
			ID: b.id(b.shape.audience, k.text(name)), Name: name, Size: k.text(name).number(2).between(1_200, 480_000),
		})
	}
}

// campaigns builds what a platform has. The shape of a campaign hangs on the
// platform where it runs, so that GA4 sees the same ads.
func (b *builder) campaigns(platform string, shape key, copied int) {
	for _, p := range blueprints[platform] {
		if copied > 0 {
			p.name += " " + strconv.Itoa(copied+1)
		}
		seen := b.account.Platform + "/" + p.name
		if b.used[seen] {
			continue // two platforms run it, GA4 sees one
		}
		b.used[seen] = true
		b.account.Campaigns = append(b.account.Campaigns, b.campaign(p, shape.text(p.name), platform))
	}
}

func (b *builder) campaign(p blueprint, shape key, platform string) *Campaign {
	k := b.key.text("campaign").text(p.name)
	c := &Campaign{
		ID: b.named(b.shape.campaign, k, p.name), Name: p.name, Channel: p.channel, Kind: p.kind, DailyBudget: p.budget * b.unit,
		URL: "https://northwind-outdoor.example/" + slug(p.name), Start: firstDay + clock.Date(p.start), key: k,
	}
	if p.length > 0 {
		c.End = c.Start + clock.Date(p.length-1)
	}
	if shape.text("pause").below(3) == 0 {
		c.pauseFirst = c.Start + clock.Date(shape.text("pause").number(1).between(150, 320))
		c.pauseLast = c.pauseFirst + clock.Date(shape.text("pause").number(2).between(5, 18))
	}
	weights := int64(0)
	if p.beyond < one {
		weights = b.groups(c, shape, platform)
	}
	for _, g := range c.Groups {
		for _, ad := range g.Ads {
			ad.plan = b.plan(c, p, ad.key, share(times(c.DailyBudget, one-p.beyond), ad.weight, weights))
		}
	}
	if p.beyond > 0 {
		c.beyond = b.plan(c, p, k.text("beyond"), times(c.DailyBudget, p.beyond))
	}
	return c
}

// groups builds the groups of a campaign with their ads and returns the sum of
// the ads' weights.
func (b *builder) groups(c *Campaign, shape key, platform string) (weights int64) {
	groups := shape.text("groups").between(1, 2)
	if platform == LinkedInAds {
		groups = 1 // its campaigns are what others call groups
	}
	for i := range groups {
		k := shape.text("group").number(i)
		g := &Group{ID: b.id(b.shape.group, c.key.text("group").number(i)), Campaign: c, Name: "Everybody", key: c.key.text("group").number(i)}
		// One group in three is for nobody in particular.
		if (int64(len(b.account.Campaigns))+i)%3 != 2 {
			g.Audience = b.account.Audiences[k.number(1).below(int64(len(b.account.Audiences)))]
			g.Name = g.Audience.Name
		}
		g.Name = c.Name + ": " + g.Name + " " + strconv.FormatInt(i+1, 10)
		for j := range k.number(2).between(1, 3) {
			theme := themes[k.number(3).number(j).below(int64(len(themes)))]
			name := fmt.Sprintf("%s: %s %d%c", c.Name, theme.name, i+1, 'A'+rune(j))
			of := g.key.text("ad").number(j)
			ad := &Ad{
				ID: b.named(b.shape.ad, of, name), Name: name, Headline: theme.headline, Text: theme.text,
				Link: c.URL + "?utm_content=" + slug(name), Group: g, key: of, weight: k.number(4).number(j).between(60, 140),
			}
			weights += ad.weight
			g.Ads = append(g.Ads, ad)
		}
		c.Groups = append(c.Groups, g)
	}
	return weights
}

// slug is a name as a part of an address.
func slug(name string) string {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
	return strings.Join(words, "-")
}

// planned reports whether the campaign was meant to run on a day.
func (c *Campaign) planned(day clock.Date) bool {
	return day >= c.Start && (c.End == 0 || day <= c.End) && (c.pauseFirst == 0 || day < c.pauseFirst || day > c.pauseLast)
}

// pickCountries are the five or six in which a world is active, the largest
// first.
func pickCountries(k key) []string {
	all := []string{"US", "GB", "DE", "FR", "CA", "NL", "SE", "AU", "ES", "JP"}
	n := k.number(0).between(5, 6)
	from := k.number(1).below(int64(len(all)))
	list := make([]string, n)
	for i := range n {
		list[i] = all[(from+i)%int64(len(all))]
	}
	return list
}

// ages and genders are those that are reported: nobody under age sees an ad.
var (
	ages    = fact.AgeRanges[1:]
	genders = []string{"female", "male", "unknown"}
)
