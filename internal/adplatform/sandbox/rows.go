package sandbox

import (
	"iter"
	"math/bits"

	"fanfare/internal/clock"
	"fanfare/internal/fact"
)

// rows lists what an account reports at a level on a day, the newest it knows.
func (s *Server) rows(a *Account, level Level, first, last, asOf clock.Date) iter.Seq[Row] {
	runs := s.state.runsOf(a)
	return func(yield func(Row) bool) {
		for day := max(first, a.First); day <= min(last, asOf); day++ {
			r := reader{account: a, runs: runs, weather: weatherOf(day), age: int(asOf - day)}
			if !r.level(level, yield) {
				return
			}
		}
	}
}

// reader reads one day of an account.
type reader struct {
	account *Account
	runs    runs
	weather weather
	age     int
}

// sum adds figures up. Of reach it keeps the largest and the total: whoever
// was reached by one ad may have been by another.
type sum struct {
	values         fact.Values
	most, together int64
}

func (s *sum) add(v fact.Values, t *traits) {
	for _, m := range t.measures {
		s.values.Set(m, s.values.V[m]+v.V[m])
	}
	reach := v.V[fact.Reach]
	s.most, s.together = max(s.most, reach), s.together+reach
}

// empty reports whether there is nothing but zeros.
func empty(v *fact.Values) bool { return v.V == [fact.NumMeasures]int64{} }

// level lists the rows of the day and reports whether there may be more.
func (r *reader) level(level Level, yield func(Row) bool) bool {
	day := r.weather.day
	whole := sum{}
	for _, c := range r.account.Campaigns {
		if !r.runs.on(c, day) {
			continue
		}
		ok := true
		switch level {
		case ByAccount:
			r.campaign(c, &whole)
		case ByCampaign:
			of := sum{}
			r.campaign(c, &of)
			if r.account.traits.reach {
				of.values.Set(fact.Reach, of.most+times(of.together-of.most, 600_000))
			}
			ok = empty(&of.values) || yield(Row{Date: day, Campaign: c, Values: of.values})
		case ByAd:
			ok = r.ads(c, yield)
		default:
			ok = r.breakdown(c, level, yield)
		}
		if !ok {
			return false
		}
	}
	return level != ByAccount || empty(&whole.values) || yield(Row{Date: day, Values: whole.values})
}

// of are the figures of a plan.
func (r *reader) of(p *plan) fact.Values {
	v := p.values(r.weather, r.account.traits, r.age)
	if r.account.traits.reach {
		v.Set(fact.Reach, times(v.V[fact.Impressions], p.reached))
	}
	return v
}

func (r *reader) campaign(c *Campaign, to *sum) {
	for _, g := range c.Groups {
		r.group(g, to)
	}
	if c.beyond != nil {
		to.add(r.of(c.beyond), r.account.traits)
	}
}

func (r *reader) group(g *Group, to *sum) {
	for _, ad := range g.Ads {
		to.add(r.of(ad.plan), r.account.traits)
	}
}

func (r *reader) ads(c *Campaign, yield func(Row) bool) bool {
	for _, g := range c.Groups {
		for _, ad := range g.Ads {
			v := r.of(ad.plan)
			if !empty(&v) && !yield(Row{Date: r.weather.day, Campaign: c, Group: g, Ad: ad, Values: v}) {
				return false
			}
		}
	}
	return true
}

// breakdown splits what each group has, and what there is beyond them.
func (r *reader) breakdown(c *Campaign, level Level, yield func(Row) bool) bool {
	cells := cellsOf(r.account, c, level)
	for _, g := range c.Groups {
		of := sum{}
		r.group(g, &of)
		if !r.split(Row{Date: r.weather.day, Campaign: c, Group: g, Values: of.values}, cells, g.key, yield) {
			return false
		}
	}
	if c.beyond == nil {
		return true
	}
	return r.split(Row{Date: r.weather.day, Campaign: c, Values: r.of(c.beyond)}, cells, c.beyond.key, yield)
}

// cell is one value of a breakdown, with the part of everything that it has
// when nothing sets a group apart.
type cell struct {
	country, age, gender, device string
	weight                       int64
}

var (
	countryWeights = []int64{38, 22, 14, 11, 9, 6}
	ageWeights     = []int64{12, 24, 22, 16, 12, 8, 6}
	genderWeights  = []int64{48, 45, 7}
	deviceWeights  = []cell{{device: "mobile", weight: 60}, {device: "desktop", weight: 31}, {device: "tablet", weight: 9}, {device: "tv", weight: 28}}
)

func cellsOf(a *Account, c *Campaign, level Level) (cells []cell) {
	switch level {
	case ByCountry:
		for i, country := range a.countries {
			cells = append(cells, cell{country: country, weight: countryWeights[i]})
		}
	case ByAgeAndGender:
		for i, age := range ages {
			for j, gender := range genders {
				cells = append(cells, cell{age: age, gender: gender, weight: ageWeights[i] * genderWeights[j]})
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

// temper is what a measure follows when it is split: people see, click and buy
// in different proportions.
func temper(m fact.Measure) int64 {
	switch m {
	case fact.Clicks, fact.Spend, fact.Engagements:
		return 1
	case fact.Conversions, fact.Revenue, fact.Leads:
		return 2
	default:
		return 0
	}
}

// split divides a row among cells so that nothing is lost.
func (r *reader) split(whole Row, cells []cell, k key, yield func(Row) bool) bool {
	t := r.account.traits
	rows := make([]Row, len(cells))
	parts := make([]int64, len(cells))
	weights := make([]int64, len(cells))
	tempered := int64(-1)
	for i := range cells {
		rows[i] = Row{Date: whole.Date, Campaign: whole.Campaign, Group: whole.Group, Country: cells[i].country, AgeRange: cells[i].age, Gender: cells[i].gender, Device: cells[i].device}
	}
	for _, m := range t.measures {
		if of := temper(m); of != tempered {
			for i := range cells {
				weights[i] = cells[i].weight * k.number(of).number(int64(i)).between(700, 1300)
			}
			tempered = of
		}
		quantum := int64(1)
		switch {
		case m == fact.Conversions:
			quantum = t.credit
		case m.Money():
			quantum = t.quantum
		}
		divide(whole.Values.V[m]/quantum, weights, parts)
		for i := range rows {
			rows[i].Values.Set(m, parts[i]*quantum)
		}
	}
	for i := range rows {
		if !empty(&rows[i].Values) && !yield(rows[i]) {
			return false
		}
	}
	return true
}

// divide splits n by weights into whole parts that add up to n: what is left
// after cutting goes to the largest remainders, the first of equals.
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
