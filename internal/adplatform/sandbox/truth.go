package sandbox

import (
	"slices"

	"fanfare/internal/clock"
	"fanfare/internal/fact"
)

// Truth has the exact totals of an account, as they are reported today.
type Truth struct {
	AccountID string     `json:"account_id"`
	Platform  string     `json:"platform"`
	Currency  string     `json:"currency"`
	Timezone  string     `json:"timezone"`
	AsOf      clock.Date `json:"as_of"`
	// Families are the totals by family and day, nil for a family that the
	// platform does not have.
	Families map[string][]TruthDay `json:"families"`
}

// TruthDay has the totals of one day. Measures that the platform does not
// report in the family are nil.
type TruthDay struct {
	Date              clock.Date `json:"date"`
	Impressions       *int64     `json:"impressions"`
	Clicks            *int64     `json:"clicks"`
	SpendMicros       *int64     `json:"spend_micros"`
	ConversionsMicros *int64     `json:"conversions_micros"`
	RevenueMicros     *int64     `json:"revenue_micros"`
	Leads             *int64     `json:"leads"`
	Engagements       *int64     `json:"engagements"`
	VideoViews        *int64     `json:"video_views"`
	VideoCompletions  *int64     `json:"video_completions"`
}

// familyLevels maps families to the level of their totals.
var familyLevels = map[fact.Family]Level{fact.Base: ByAccount, fact.Geo: ByCountry, fact.Demographic: ByAgeAndGender, fact.Device: ByDevice}

// Truth returns the totals of an account from first to last.
func (s *Server) Truth(a *Account, first, last clock.Date) Truth {
	today := s.Today(a)
	t := Truth{AccountID: a.ID, Platform: a.Platform, Currency: a.Set.Currency, Timezone: a.zone.String(), AsOf: today, Families: map[string][]TruthDay{}}
	for family, level := range familyLevels {
		if !slices.Contains(a.traits.familyLevels, level) {
			t.Families[family.String()] = nil
			continue
		}
		sums := make([]valueSum, last-first+1)
		for r := range s.rowsAsOf(a, level, first, last, today) {
			sums[r.Date-first].add(r.Values, a.traits)
		}
		days := make([]TruthDay, len(sums))
		for i := range sums {
			days[i] = a.traits.truthDay(family, first+clock.Date(i), &sums[i].values)
		}
		t.Families[family.String()] = days
	}
	return t
}

// truthDay returns the measures that are facts of the platform in a family.
func (t *platformTraits) truthDay(family fact.Family, date clock.Date, v *fact.Values) TruthDay {
	of := func(m fact.Measure) *int64 {
		if !slices.Contains(t.measures, m) || slices.Contains(t.notFacts, m) || family != fact.Base && slices.Contains(t.notInBreakdowns, m) || slices.Contains(t.notInFamily[family], m) {
			return nil
		}
		return &v.V[m]
	}
	return TruthDay{
		Date: date, Impressions: of(fact.Impressions), Clicks: of(fact.Clicks), SpendMicros: of(fact.Spend), ConversionsMicros: of(fact.Conversions), RevenueMicros: of(fact.Revenue),
		Leads: of(fact.Leads), Engagements: of(fact.Engagements), VideoViews: of(fact.VideoViews), VideoCompletions: of(fact.VideoCompletions),
	}
}
