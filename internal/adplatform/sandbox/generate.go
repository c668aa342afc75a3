package sandbox

import (
	"slices"
	"time"

	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/money"
)

// platformTraits are the properties of a platform's metrics.
type platformTraits struct {
	// measures are the reported measures that can be added up.
	measures []fact.Measure
	// notFacts are reported but do not become facts of this platform.
	// notInBreakdowns are absent from breakdowns.
	notFacts, notInBreakdowns []fact.Measure
	// notInFamily are absent from one family.
	notInFamily map[fact.Family][]fact.Measure
	reach       bool
	// settledAge is the age in days at which metrics no longer change.
	settledAge int
	// moneyStep is the smallest amount, conversionStep the smallest part of a
	// conversion, both in millionths.
	moneyStep, conversionStep int64
	// quietWeekends is set for business platforms.
	quietWeekends bool
	// familyLevels are the levels that have a family in facts.
	familyLevels []Level
}

var (
	basicMeasures  = []fact.Measure{fact.Impressions, fact.Clicks, fact.Spend, fact.Conversions, fact.Revenue}
	socialMeasures = slices.Concat(basicMeasures, []fact.Measure{fact.Engagements, fact.VideoViews, fact.VideoCompletions})
	allLevels      = []Level{ByAccount, ByCountry, ByAgeAndGender, ByDevice}
)

// traitsOf returns the traits of a platform. Metrics settle a day before the
// platform's usual lookback ends, so that a sync with that lookback reads final
// values.
func traitsOf(platform, currency string) *platformTraits {
	t := &platformTraits{measures: socialMeasures, reach: true, moneyStep: 1, conversionStep: million, familyLevels: allLevels}
	cent := int64(10_000)
	if digits, _ := money.Currency(currency).Digits(); digits == 0 {
		cent = million
	}
	switch platform {
	case GoogleAds:
		t.measures = slices.Concat(basicMeasures, []fact.Measure{fact.VideoViews})
		t.settledAge, t.conversionStep, t.reach = 29, 1, false
	case MetaAds:
		t.settledAge, t.moneyStep = 27, cent
	case TikTokAds:
		t.settledAge, t.moneyStep = 6, cent
		t.notInBreakdowns = []fact.Measure{fact.Revenue, fact.Engagements, fact.VideoViews, fact.VideoCompletions}
	case LinkedInAds:
		t.measures = slices.Concat(socialMeasures, []fact.Measure{fact.Leads})
		t.settledAge, t.quietWeekends = 29, true
		t.familyLevels = []Level{ByAccount, ByCountry, ByDevice}
		t.notInFamily = map[fact.Family][]fact.Measure{fact.Geo: {fact.Revenue}, fact.Device: {fact.Conversions, fact.Revenue}}
	case GA4:
		t.measures, t.notFacts = []fact.Measure{fact.Spend, fact.Conversions, fact.Revenue}, []fact.Measure{fact.Spend}
		t.settledAge, t.reach = 3, false
	case MicrosoftAds:
		t.measures = slices.Concat(basicMeasures, []fact.Measure{fact.VideoViews, fact.VideoCompletions})
		t.settledAge, t.moneyStep, t.conversionStep, t.reach = 29, cent, 1, false
		noVideo := []fact.Measure{fact.VideoViews, fact.VideoCompletions}
		t.notInFamily = map[fact.Family][]fact.Measure{fact.Geo: noVideo, fact.Demographic: noVideo}
	}
	return t
}

// profile is the average of a kind of campaign: CPM and value per conversion in
// cents, and rates in millionths: clicks and views per impression, completions
// per view, conversions and leads per click.
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

// adPlan has the parameters that generate the metrics of an ad.
type adPlan struct {
	key   seedKey
	start clock.Date
	// budget is per day. volume is the number of impressions per day before any
	// factor.
	budget, volume int64
	profile
	// growth is per year. A creative runs for creativeDays; after
	// fatigueImpressions its click rate has lost half of what it can lose.
	growth, creativeDays, fatigueImpressions int64
	// reachShare is the share of impressions that reach a new person.
	reachShare   int64
	holidayBoost bool
}

// newPlan returns the plan of an ad, or of a campaign's rows without an ad.
func (b *accountBuilder) newPlan(c *Campaign, from campaignTemplate, k seedKey, budget int64) *adPlan {
	p := &adPlan{
		key: k, start: c.Start, budget: budget, profile: profiles[from.kind], holidayBoost: from.holidayBoost,
		growth: k.named("growth").intBetween(-60_000, 220_000), creativeDays: k.named("shown").intBetween(45, 120), reachShare: k.named("reach").intBetween(600_000, 860_000),
	}
	p.cpm = applyFactor(p.cpm*b.unit/100, k.named("cpm").logNoise(120_000))
	p.value = applyFactor(p.value*b.unit/100, k.named("value").logNoise(150_000))
	p.clicks = applyFactor(p.clicks, k.named("clicks").logNoise(180_000))
	p.conversions = applyFactor(p.conversions, k.named("conversions").logNoise(160_000))
	p.volume = applyFactor(mulDiv(budget, 1000, p.cpm), k.named("volume").intBetween(620_000, 920_000))
	p.fatigueImpressions = max(p.volume*k.named("tired").intBetween(20, 60), 1)
	return p
}

// dayFactors are the factors of a day for all ads.
type dayFactors struct {
	day             clock.Date
	season, holiday int64
	weekday         int
}

// monthFactors is the demand for outdoor gear at the start of each month.
var monthFactors = [12]int64{840_000, 820_000, 900_000, 1_010_000, 1_090_000, 1_080_000, 1_000_000, 960_000, 980_000, 1_000_000, 1_120_000, 1_200_000}

// Weekdays begin with Monday.
var (
	consumerWeekdays = [7]int64{960_000, 930_000, 920_000, 950_000, 1_020_000, 1_120_000, 1_100_000}
	officeWeekdays   = [7]int64{1_180_000, 1_250_000, 1_240_000, 1_180_000, 1_000_000, 580_000, 570_000}
)

func dayFactorsOf(day clock.Date) dayFactors {
	_, month, date := day.Calendar()
	now, next := monthFactors[month-1], monthFactors[month%12]
	return dayFactors{day: day, season: now + (next-now)*int64(date-1)/31, holiday: holidayFactor(day), weekday: day.Weekday()}
}

// holidayFactor returns the factor of holidays on a day.
func holidayFactor(day clock.Date) int64 {
	year, month, date := day.Calendar()
	switch {
	case month == time.November && date >= 20 || month == time.December && date <= 3:
		// Thanksgiving is the fourth Thursday, Black Friday the day after.
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
	return million
}

// clickFatigue returns the remaining share of the click rate after so many
// impressions of a creative.
func (p *adPlan) clickFatigue(impressions int64) int64 {
	const left = 450_000
	return left + mulDiv(million-left, p.fatigueImpressions, p.fatigueImpressions+impressions)
}

const (
	learningDays = 10
	daysPerYear  = 365
)

// finalValues returns the metrics of a day when they no longer change: counts
// in units, amounts and conversions in millionths.
//
// Choice: cumulative impressions are estimated from average days, because
// adding the real ones would need all days since the start.
func (p *adPlan) finalValues(w dayFactors, t *platformTraits) (v [fact.NumMeasures]int64) {
	ran := int64(w.day - p.start)
	chance := p.key.numbered(int64(w.day))
	demand := applyFactor(p.volume, w.season)
	demand = applyFactor(demand, w.holiday)
	if p.holidayBoost {
		demand = applyFactor(demand, w.holiday)
	}
	weekdays := &consumerWeekdays
	if t.quietWeekends {
		weekdays = &officeWeekdays
	}
	demand = applyFactor(demand, weekdays[w.weekday])
	demand = applyFactor(demand, million+p.growth*min(ran, 10*daysPerYear)/daysPerYear)
	demand = applyFactor(demand, chance.numbered(1).logNoise(140_000))
	learned := min(ran, learningDays)
	demand = applyFactor(demand, 600_000+400_000*learned/learningDays)

	// Platforms exceed the budget slightly on good days and compensate on
	// others.
	cpm := applyFactor(p.cpm, chance.numbered(2).logNoise(60_000))
	if most := applyFactor(p.budget, chance.numbered(3).intBetween(1_120_000, 1_240_000)); mulDiv(demand, cpm, 1000) > most {
		demand = mulDiv(most, 1000, cpm)
	}
	v[fact.Impressions] = demand
	v[fact.Spend] = mulDiv(demand, cpm, 1000)
	rate := applyFactor(p.clicks, p.clickFatigue(p.volume*(ran%p.creativeDays)))
	v[fact.Clicks] = min(applyFactor(demand, applyFactor(rate, chance.numbered(4).logNoise(90_000))), demand)
	rate = applyFactor(applyFactor(p.conversions, 700_000+300_000*learned/learningDays), chance.numbered(5).logNoise(110_000))
	rate = applyFactor(rate, million+(w.holiday-million)/3)
	v[fact.Conversions] = v[fact.Clicks] * min(rate, million)
	if t.conversionStep > 1 {
		v[fact.Conversions] = chance.numbered(6).roundRandomly(v[fact.Conversions]) * million
	}
	v[fact.Revenue] = applyFactor(applyFactor(v[fact.Conversions], p.value), chance.numbered(7).logNoise(130_000))
	v[fact.Leads] = chance.numbered(8).roundRandomly(v[fact.Clicks] * p.leads)
	v[fact.VideoViews] = applyFactor(demand, p.views)
	v[fact.VideoCompletions] = applyFactor(v[fact.VideoViews], p.completions)
	v[fact.Engagements] = v[fact.Clicks] + applyFactor(demand, p.reactions)
	return v
}

// roundRandomly rounds millionths up or down at random, so that small rates are
// right on average.
func (k seedKey) roundRandomly(millionths int64) int64 {
	return (millionths + k.intBelow(million)) / million
}

// todayShare is the share of today that has been counted.
const todayShare = 550_000

// countedFactor returns the factor of measures that are counted at once:
// slightly too high until invalid traffic is removed.
func countedFactor(age int) int64 {
	if age == 0 {
		return applyFactor(todayShare, 1_009_000)
	}
	return million + 3_000*int64(max(3-age, 0))
}

// creditedFactor returns the factor of measures that are attributed to a day
// later.
func (t *platformTraits) creditedFactor(age int) int64 {
	if age >= t.settledAge {
		return million
	}
	const missing = 600_000
	known := million - applyFactor(missing, expMillionths(-4*million*int64(age)/int64(t.settledAge)))
	if age == 0 {
		return applyFactor(todayShare, known)
	}
	return known
}

// valuesAtAge returns the metrics of a day as they are reported at an age in
// days.
func (p *adPlan) valuesAtAge(w dayFactors, t *platformTraits, age int) (v fact.Values) {
	final := p.finalValues(w, t)
	count, credit := countedFactor(age), t.creditedFactor(age)
	for _, m := range t.measures {
		n := final[m]
		switch {
		case m == fact.Conversions:
			n = applyFactor(n/t.conversionStep, credit) * t.conversionStep
		case m == fact.Revenue && final[fact.Conversions] > 0:
			credited := applyFactor(final[fact.Conversions]/t.conversionStep, credit) * t.conversionStep
			n = mulDiv(n, credited, final[fact.Conversions]) / t.moneyStep * t.moneyStep
		case m == fact.Leads:
			n = applyFactor(n, credit)
		case m == fact.Spend:
			n = applyFactor(n/t.moneyStep, count) * t.moneyStep
		default:
			n = applyFactor(n, count)
		}
		v.Set(m, n)
	}
	return v
}
