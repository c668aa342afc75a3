package sandbox

import (
	"iter"
	"math/bits"

	"fanfare/internal/clock"
	"fanfare/internal/fact"
)

// rowsAsOf returns the rows of an account at a level, as they are reported on
// the day asOf.
func (s *Server) rowsAsOf(a *Account, level Level, first, last, asOf clock.Date) iter.Seq[Row] {
	runs := s.state.runChangesOf(a)
	a = s.matured(a)
	return func(yield func(Row) bool) {
		for day := max(first, a.First); day <= min(last, asOf); day++ {
			r := dayReader{account: a, runs: runs, factors: dayFactorsOf(day), age: int(asOf - day)}
			if !r.levelRows(level, yield) {
				return
			}
		}
	}
}

// dayReader generates the rows of one day of an account.
type dayReader struct {
	account *Account
	runs    runChanges
	factors dayFactors
	age     int
}

// valueSum adds values. For reach it keeps the largest and the total, because
// the same people can see several ads.
type valueSum struct {
	values               fact.Values
	maxReach, totalReach int64
}

func (s *valueSum) add(v fact.Values, t *platformTraits) {
	for _, m := range t.measures {
		s.values.Set(m, s.values.V[m]+v.V[m])
	}
	reach := v.V[fact.Reach]
	s.maxReach, s.totalReach = max(s.maxReach, reach), s.totalReach+reach
}

// isZero reports whether all values are zero.
func isZero(v *fact.Values) bool { return v.V == [fact.NumMeasures]int64{} }

// levelRows yields the rows of the day. It returns false if yield did.
func (r *dayReader) levelRows(level Level, yield func(Row) bool) bool {
	day := r.factors.day
	whole := valueSum{}
	for _, c := range r.account.Campaigns {
		if !r.runs.ranOn(c, day) {
			continue
		}
		ok := true
		switch level {
		case ByAccount:
			r.addCampaign(c, &whole)
		case ByCampaign:
			of := valueSum{}
			r.addCampaign(c, &of)
			if r.account.traits.reach {
				of.values.Set(fact.Reach, of.maxReach+applyFactor(of.totalReach-of.maxReach, 600_000))
			}
			ok = isZero(&of.values) || yield(Row{Date: day, Campaign: c, Values: of.values})
		case ByAd:
			ok = r.adRows(c, yield)
		default:
			ok = r.breakdownRows(c, level, yield)
		}
		if !ok {
			return false
		}
	}
	return level != ByAccount || isZero(&whole.values) || yield(Row{Date: day, Values: whole.values})
}

// planValues returns the metrics of a plan.
func (r *dayReader) planValues(p *adPlan) fact.Values {
	v := p.valuesAtAge(r.factors, r.account.traits, r.age)
	if r.account.traits.reach {
		v.Set(fact.Reach, applyFactor(v.V[fact.Impressions], p.reachShare))
	}
	return v
}

func (r *dayReader) addCampaign(c *Campaign, to *valueSum) {
	for _, g := range c.Groups {
		r.addGroup(g, to)
	}
	if c.withoutAds != nil {
		to.add(r.planValues(c.withoutAds), r.account.traits)
	}
}

func (r *dayReader) addGroup(g *Group, to *valueSum) {
	for _, ad := range g.Ads {
		to.add(r.planValues(ad.plan), r.account.traits)
	}
}

func (r *dayReader) adRows(c *Campaign, yield func(Row) bool) bool {
	for _, g := range c.Groups {
		for _, ad := range g.Ads {
			v := r.planValues(ad.plan)
			if !isZero(&v) && !yield(Row{Date: r.factors.day, Campaign: c, Group: g, Ad: ad, Values: v}) {
				return false
			}
		}
	}
	return true
}

// breakdownRows splits the metrics of each ad group, and of the rows without an
// ad.
func (r *dayReader) breakdownRows(c *Campaign, level Level, yield func(Row) bool) bool {
	cells := cellsOf(r.account, c, level)
	for _, g := range c.Groups {
		of := valueSum{}
		r.addGroup(g, &of)
		if !r.splitRow(Row{Date: r.factors.day, Campaign: c, Group: g, Values: of.values}, cells, g.key, yield) {
			return false
		}
	}
	if c.withoutAds == nil {
		return true
	}
	return r.splitRow(Row{Date: r.factors.day, Campaign: c, Values: r.planValues(c.withoutAds)}, cells, c.withoutAds.key, yield)
}

// breakdownCell is one value of a breakdown, with its average weight.
type breakdownCell struct {
	country, age, gender, device string
	weight                       int64
}

var (
	countryWeights = []int64{38, 22, 14, 11, 9, 6}
	ageWeights     = []int64{12, 24, 22, 16, 12, 8, 6}
	genderWeights  = []int64{48, 45, 7}
	deviceWeights  = []breakdownCell{{device: "mobile", weight: 60}, {device: "desktop", weight: 31}, {device: "tablet", weight: 9}, {device: "tv", weight: 28}}
)

func cellsOf(a *Account, c *Campaign, level Level) (cells []breakdownCell) {
	switch level {
	case ByCountry:
		for i, country := range a.countries {
			cells = append(cells, breakdownCell{country: country, weight: countryWeights[i]})
		}
	case ByAgeAndGender:
		for i, age := range ages {
			for j, gender := range genders {
				cells = append(cells, breakdownCell{age: age, gender: gender, weight: ageWeights[i] * genderWeights[j]})
			}
		}
	case ByDevice:
		cells = deviceWeights
		if c.Kind != "video" {
			cells = cells[:3]
		}
	default:
	}
	return cells
}

// weightGroup returns which weights split a measure: people see, click and buy
// in different proportions.
func weightGroup(m fact.Measure) int64 {
	switch m {
	case fact.Clicks, fact.Spend, fact.Engagements:
		return 1
	case fact.Conversions, fact.Revenue, fact.Leads:
		return 2
	default:
		return 0
	}
}

// splitRow divides a row among cells. The parts add up to the row.
func (r *dayReader) splitRow(whole Row, cells []breakdownCell, k seedKey, yield func(Row) bool) bool {
	t := r.account.traits
	rows := make([]Row, len(cells))
	parts := make([]int64, len(cells))
	weights := make([]int64, len(cells))
	tempered := int64(-1)
	for i := range cells {
		rows[i] = Row{Date: whole.Date, Campaign: whole.Campaign, Group: whole.Group, Country: cells[i].country, AgeRange: cells[i].age, Gender: cells[i].gender, Device: cells[i].device}
	}
	for _, m := range t.measures {
		if of := weightGroup(m); of != tempered {
			for i := range cells {
				weights[i] = cells[i].weight * k.numbered(of).numbered(int64(i)).intBetween(700, 1300)
			}
			tempered = of
		}
		quantum := int64(1)
		switch {
		case m == fact.Conversions:
			quantum = t.conversionStep
		case m.Money():
			quantum = t.moneyStep
		}
		divide(whole.Values.V[m]/quantum, weights, parts)
		for i := range rows {
			rows[i].Values.Set(m, parts[i]*quantum)
		}
	}
	for i := range rows {
		if !isZero(&rows[i].Values) && !yield(rows[i]) {
			return false
		}
	}
	return true
}

// divide splits n by weights into integer parts that add up to n: the remainder
// goes to the parts with the largest fractions, the first of equals.
func divide(n int64, weights, parts []int64) {
	total := int64(0)
	for _, w := range weights {
		total += w
	}
	var space [32]uint64
	rests := space[:len(weights)]
	left := n
	for i, w := range weights {
		high, low := bits.Mul64(uint64(n), uint64(w))
		quotient, rest := bits.Div64(high, low, uint64(total))
		parts[i], rests[i] = int64(quotient), rest+1
		left -= parts[i]
	}
	for ; left > 0; left-- {
		best := 0
		for i, rest := range rests {
			if rest > rests[best] {
				best = i
			}
		}
		parts[best]++
		rests[best] = 0
	}
}
