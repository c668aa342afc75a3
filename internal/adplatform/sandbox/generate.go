package sandbox

import (
	"slices"
	"time"

	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/money"
)

// traits are what sets the figures of a platform apart.
type traits struct {
	// measures are those that it reports and that can be added up.
	measures []fact.Measure
	// hidden are reported by the platform but are no facts of its own, whole
	// are those that breakdowns do not have.
	hidden, whole []fact.Measure
	reach         bool
	// settled is the age in days at which figures do not change any more.
	settled int
	// quantum is the smallest amount, credit the smallest part of a
	// conversion, both in millionths.
	quantum, credit int64
	// business platforms rest on weekends.
	business bool
	// levels are those that make a family.
	levels []Level
}

var (
	counted   = []fact.Measure{fact.Impressions, fact.Clicks, fact.Spend, fact.Conversions, fact.Revenue}
	social    = slices.Concat(counted, []fact.Measure{fact.Engagements, fact.VideoViews, fact.VideoCompletions})
	allLevels = []Level{ByAccount, ByCountry, ByAgeAndGender, ByDevice}
)

// traitsOf are those of a platform. Figures settle a day before the lookback
// that is usual for the platform, so that whoever reads that far gets all.
func traitsOf(platform, currency string) *traits {
	t := &traits{measures: social, reach: true, quantum: 1, credit: one, levels: allLevels}
	cent := int64(10_000)
	if digits, _ := money.Currency(currency).Digits(); digits == 0 {
		cent = one
	}
	switch platform {
	case GoogleAds:
		t.measures = slices.Concat(counted, []fact.Measure{fact.VideoViews})
		t.settled, t.credit, t.reach = 29, 1, false
	case MetaAds:
		t.settled, t.quantum = 27, cent
	case TikTokAds:
		t.settled, t.quantum = 6, cent
		t.whole = []fact.Measure{fact.Revenue, fact.Engagements, fact.VideoViews, fact.VideoCompletions}
	case LinkedInAds:
		t.measures = slices.Concat(social, []fact.Measure{fact.Leads})
		t.settled, t.business = 29, true
		t.levels = []Level{ByAccount, ByCountry, ByDevice}
	case GA4:
		t.measures, t.hidden = []fact.Measure{fact.Spend, fact.Conversions, fact.Revenue}, []fact.Measure{fact.Spend}
		t.settled, t.reach = 3, false
	}
	return t
}

// profile is what a kind of campaign is like: the price of a thousand
// impressions and the value of a conversion in hundredths of a unit, and rates
// in millionths, those of clicks and views by impression, of completions by
// view, of conversions and leads by click.
type profile struct {
	cpm, value                                         int64
	clicks, conversions, views, completions, reactions int64
	leads                                              int64
}

var profiles = map[string]profile{
	"search":          {cpm: 45_00, value: 95_00, clicks: 62_000, conversions: 46_000},
	"shopping":        {cpm: 12_00, value: 110_00, clicks: 13_000, conversions: 31_000},
	"display":         {cpm: 3_20, value: 90_00, clicks: 4_200, conversions: 16_000},
	"performance_max": {cpm: 6_10, value: 104_00, clicks: 11_000, conversions: 27_000},
	"video":           {cpm: 8_70, value: 84_00, clicks: 3_600, conversions: 8_000, views: 320_000, completions: 420_000, reactions: 4_000},
	"awareness":       {cpm: 5_40, value: 82_00, clicks: 6_300, conversions: 5_000, views: 290_000, completions: 310_000, reactions: 24_000},
	"traffic":         {cpm: 6_90, value: 88_00, clicks: 14_500, conversions: 13_000, views: 160_000, completions: 240_000, reactions: 17_000},
	"leads":           {cpm: 27_50, value: 240_00, clicks: 6_800, conversions: 21_000, views: 70_000, completions: 350_000, reactions: 9_000, leads: 68_000},
	"sales":           {cpm: 10_20, value: 101_00, clicks: 13_800, conversions: 25_000, views: 120_000, completions: 260_000, reactions: 12_000},
}

// plan is what the figures of an ad are made from.
type plan struct {
	key   key
	start clock.Date
	// budget is what a day may cost, volume how many impressions it has
	// before anything is taken into account.
	budget, volume int64
	profile
	// growth is by year. A creative is shown for so many days; after tired
	// impressions half of what it can lose is lost.
	growth, shown, tired int64
	// reached is the part of impressions that is somebody's first.
	reached int64
	festive bool
}

// plan makes the plan of an ad, or of what a campaign has beyond its ads.
func (b *builder) plan(c *Campaign, from blueprint, k key, budget int64) *plan {
	p := &plan{
		key: k, start: c.Start, budget: budget, profile: profiles[from.kind], festive: from.festive,
		growth: k.text("growth").between(-60_000, 220_000), shown: k.text("shown").between(45, 120), reached: k.text("reach").between(600_000, 860_000),
	}
	p.cpm = times(p.cpm*b.unit/100, k.text("cpm").noise(120_000))
	p.value = times(p.value*b.unit/100, k.text("value").noise(150_000))
	p.clicks = times(p.clicks, k.text("clicks").noise(180_000))
	p.conversions = times(p.conversions, k.text("conversions").noise(160_000))
	p.volume = times(share(budget, 1000, p.cpm), k.text("volume").between(620_000, 920_000))
	p.tired = max(p.volume*k.text("tired").between(20, 60), 1)
	return p
}

// weather is what a day is like for everybody.
type weather struct {
	day             clock.Date
	season, holiday int64
	weekday         int
}

// seasons is how much gear is bought by month, from its first day on.
var seasons = [12]int64{840_000, 820_000, 900_000, 1_010_000, 1_090_000, 1_080_000, 1_000_000, 960_000, 980_000, 1_000_000, 1_120_000, 1_200_000}

// weekdays begin with Monday.
var (
	consumers = [7]int64{960_000, 930_000, 920_000, 950_000, 1_020_000, 1_120_000, 1_100_000}
	offices   = [7]int64{1_180_000, 1_250_000, 1_240_000, 1_180_000, 1_000_000, 580_000, 570_000}
)

func weatherOf(day clock.Date) weather {
	_, month, date := day.Calendar()
	now, next := seasons[month-1], seasons[month%12]
	return weather{day: day, season: now + (next-now)*int64(date-1)/31, holiday: holidayOf(day), weekday: day.Weekday()}
}

// holidayOf is what a holiday makes of a day.
func holidayOf(day clock.Date) int64 {
	year, month, date := day.Calendar()
	switch {
	case month == time.November && date >= 20 || month == time.December && date <= 3:
		// The fourth Thursday is at least the 22nd, and Friday follows.
		first := clock.MakeDate(year, time.November, 1)
		friday := first + clock.Date((3-first.Weekday()+7)%7) + 21 + 1
		switch day - friday {
		case 0:
			return 2_400_000
		case 3:
			return 1_900_000
		case -1, 1, 2:
			return 1_500_000
		}
	case month == time.December && date >= 24 && date <= 26:
		return 550_000
	case month == time.December && date >= 8 && date <= 20:
		return 1_180_000
	case month == time.January && date == 1:
		return 600_000
	}
	return one
}

// tiredness is what is left of the rate of clicks after so many impressions of
// one creative.
func (p *plan) tiredness(impressions int64) int64 {
	const left = 450_000
	return left + share(one-left, p.tired, p.tired+impressions)
}

const (
	learning = 10
	year     = 365
)

// final are the figures of a day when nothing changes any more, in units, and
// amounts and conversions in millionths.
//
// Choice: cumulative impressions are taken as those of average days, which
// costs nothing for any day; real ones would have to be added up from the
// start.
func (p *plan) final(w weather, t *traits) (v [fact.NumMeasures]int64) {
	ran := int64(w.day - p.start)
	chance := p.key.number(int64(w.day))
	demand := times(p.volume, w.season)
	demand = times(demand, w.holiday)
	if p.festive {
		demand = times(demand, w.holiday)
	}
	weekdays := &consumers
	if t.business {
		weekdays = &offices
	}
	demand = times(demand, weekdays[w.weekday])
	demand = times(demand, one+p.growth*min(ran, 10*year)/year)
	demand = times(demand, chance.number(1).noise(140_000))
	learned := min(ran, learning)
	demand = times(demand, 600_000+400_000*learned/learning)

	// Platforms spend a little more than the budget on good days, and make up
	// for it on others.
	cpm := times(p.cpm, chance.number(2).noise(60_000))
	if most := times(p.budget, chance.number(3).between(1_120_000, 1_240_000)); share(demand, cpm, 1000) > most {
		demand = share(most, 1000, cpm)
	}
	v[fact.Impressions] = demand
	v[fact.Spend] = share(demand, cpm, 1000)
	rate := times(p.clicks, p.tiredness(p.volume*(ran%p.shown)))
	v[fact.Clicks] = min(times(demand, times(rate, chance.number(4).noise(90_000))), demand)
	rate = times(times(p.conversions, 700_000+300_000*learned/learning), chance.number(5).noise(110_000))
	rate = times(rate, one+(w.holiday-one)/3)
	v[fact.Conversions] = v[fact.Clicks] * min(rate, one)
	if t.credit > 1 {
		v[fact.Conversions] = chance.number(6).whole(v[fact.Conversions]) * one
	}
	v[fact.Revenue] = times(times(v[fact.Conversions], p.value), chance.number(7).noise(130_000))
	v[fact.Leads] = chance.number(8).whole(v[fact.Clicks] * p.leads)
	v[fact.VideoViews] = times(demand, p.views)
	v[fact.VideoCompletions] = times(v[fact.VideoViews], p.completions)
	v[fact.Engagements] = v[fact.Clicks] + times(demand, p.reactions)
	return v
}

// whole rounds millionths up or down by chance, so that small rates are right
// over many days.
func (k key) whole(millionths int64) int64 { return (millionths + k.below(one)) / one }

// unfinished is the part of today that has been counted.
const unfinished = 550_000

// counting is the factor for what is counted at once: a little too much until
// invalid traffic is found.
func counting(age int) int64 {
	if age == 0 {
		return times(unfinished, 1_009_000)
	}
	return one + 3_000*int64(max(3-age, 0))
}

// crediting is the factor for what is credited to a day later on.
func (t *traits) crediting(age int) int64 {
	if age >= t.settled {
		return one
	}
	const missing = 600_000
	known := one - times(missing, exp(-4*one*int64(age)/int64(t.settled)))
	if age == 0 {
		return times(unfinished, known)
	}
	return known
}

// values are the figures of a day as they are known at an age.
func (p *plan) values(w weather, t *traits, age int) (v fact.Values) {
	final := p.final(w, t)
	count, credit := counting(age), t.crediting(age)
	for _, m := range t.measures {
		n := final[m]
		switch {
		case m == fact.Conversions:
			n = times(n/t.credit, credit) * t.credit
		case m == fact.Revenue && final[fact.Conversions] > 0:
			credited := times(final[fact.Conversions]/t.credit, credit) * t.credit
			n = share(n, credited, final[fact.Conversions]) / t.quantum * t.quantum
		case m == fact.Leads:
			n = times(n, credit)
		case m == fact.Spend:
			n = times(n/t.quantum, count) * t.quantum
		default:
			n = times(n, count)
		}
		v.Set(m, n)
	}
	return v
}
