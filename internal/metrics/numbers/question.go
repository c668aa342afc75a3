// Package numbers is what SQL engines of facts share. Fact tables have a small
// integer for each text: a code for a word such as a channel, a key for a source
// or an entity. These are the numbers, and Texts maps them to texts.
//
// Translate turns a plan into a Question without any text, which an engine writes
// in its own SQL. Groups turns the sums of numbers back into groups of texts. So
// rules for texts, such as case folding, are the same Go code for every engine.
package numbers

import (
	"fmt"
	"slices"

	"fanfare/internal/analytics"
	"fanfare/internal/clock"
	"fanfare/internal/fact"
)

// Column is a column of fact tables that a question groups or filters by.
type Column string

// The columns that are not words. WeekdayColumn is computed from the day, 0 for
// Monday. TagColumn is the number of a tag of the campaign; it multiplies facts by
// the tags of their campaign, and is 0 for a campaign without tags.
const (
	SourceColumn   Column = "source"
	CampaignColumn Column = fact.KindCampaign
	CreativeColumn Column = fact.KindCreative
	AudienceColumn Column = fact.KindAudience
	WeekdayColumn  Column = "weekday"
	TagColumn      Column = "tag"
)

// Question is a plan with numbers in place of texts.
type Question struct {
	Family      fact.Family
	First, Last clock.Date
	Granularity analytics.Granularity
	Columns     []Column
	Measures    []fact.Measure
	// Match is nil for all facts.
	Match *Match
	// Rates convert amounts of sources with another currency than the plan's.
	// Foreign are those sources.
	Foreign []Foreign
	Rates   []Rate
	// Tags has the tags of campaigns, if TagColumn is one of the Columns.
	Tags []Tag
}

// Tag is a tag of a campaign, both by number.
type Tag struct{ Campaign, Tag int32 }

// Foreign is a source whose amounts need a rate. Currency is an index that Rates
// use.
type Foreign struct{ Source, Currency int32 }

// Rate is the rate of a foreign currency on one day: amount × Over / Under,
// rounded half away from zero.
type Rate struct {
	Currency, Day int32
	Over, Under   int64
}

// Match is a condition that is true or false for every fact, never unknown.
// Exactly one of And, Or, Not and Column is set.
type Match struct {
	And, Or []Match
	Not     *Match
	// Column has one of the Numbers.
	Column  Column
	Numbers []int32
}

// Only reports whether the condition uses no columns but those that f accepts.
func (m *Match) Only(f func(Column) bool) bool {
	if m == nil {
		return true
	}
	for _, list := range [][]Match{m.And, m.Or} {
		for i := range list {
			if !list[i].Only(f) {
				return false
			}
		}
	}
	return m.Not.Only(f) && (m.Column == "" || f(m.Column))
}

// Columns returns the columns of the condition, some more than once.
func (m *Match) Columns() (list []Column) {
	m.Only(func(c Column) bool {
		list = append(list, c)
		return true
	})
	return list
}

// Converts reports whether amounts of a measure need rates.
func (q *Question) Converts(m fact.Measure) bool { return m.Money() && len(q.Foreign) > 0 }

// Row is one row of an engine's result: a group of numbers.
type Row struct {
	// Bucket is the first day of the bucket, 0 without granularity.
	Bucket clock.Date
	// Facts is the number of facts of the group, at least 1.
	Facts  int64
	Values []int32
	Sums   []Sum
}

// Sum is the sum of a measure over the facts of a row.
type Sum struct {
	// Total is the sum of the known values; for reach it is the largest.
	Total Int128
	// Known is 0 if no fact has a known value, Unrated if all known values have a
	// rate.
	Known, Unrated int64
}

// attribute is a text of an entity or of its record.
type attribute struct {
	kind int
	text func(*Entity) string
}

func (a attribute) column() Column { return Column(Kinds[a.kind]) }

var attributes = map[string]attribute{
	"campaign_id":     {KindCampaign, func(e *Entity) string { return e.Record }},
	"campaign_name":   {KindCampaign, (*Entity).name},
	"campaign_status": {KindCampaign, func(e *Entity) string { return e.Status }},
	"objective":       {KindCampaign, func(e *Entity) string { return e.Objective }},
	"creative_id":     {KindCreative, func(e *Entity) string { return e.Record }},
	"creative_name":   {KindCreative, (*Entity).name},
	"creative_type":   {KindCreative, func(e *Entity) string { return e.Type }},

	analytics.DimensionVariant: {KindCreative, func(e *Entity) string { return e.Variant }},

	"audience_id":   {KindAudience, func(e *Entity) string { return e.Record }},
	"audience_name": {KindAudience, (*Entity).name},
}

// sourceTexts are the dimensions that describe a source.
var sourceTexts = map[string]func(*Source) string{
	"connection_id": func(s *Source) string { return string(s.Connection) },
	"platform":      func(s *Source) string { return s.Platform },
	"account_id":    func(s *Source) string { return s.Account },
}

func columnOf(dimension string) Column {
	if a, ok := attributes[dimension]; ok {
		return a.column()
	}
	if _, ok := sourceTexts[dimension]; ok {
		return SourceColumn
	}
	return Column(dimension)
}

// GroupedBy reports whether a plan groups by a column.
func GroupedBy(p *analytics.Plan, c Column) bool {
	return slices.ContainsFunc(p.Dimensions, func(d string) bool { return columnOf(d) == c })
}

// FilteredBy reports whether a plan selects facts by a column. Tags are found by
// the campaign.
func FilteredBy(p *analytics.Plan, c Column) bool {
	uses := func(d string) bool { return d != "" && (columnOf(d) == c || d == "tag" && c == CampaignColumn) }
	return p.Where != nil && mentions(p.Where, uses) || c == CampaignColumn && slices.Contains(p.Dimensions, "tag")
}

func mentions(c *analytics.Condition, uses func(dimension string) bool) bool {
	in := func(c analytics.Condition) bool { return mentions(&c, uses) }
	return uses(c.Dimension) || c.Not != nil && mentions(c.Not, uses) || slices.ContainsFunc(c.And, in) || slices.ContainsFunc(c.Or, in)
}

// Converts reports whether a plan asks for amounts that some source has in another
// currency.
func Converts(p *analytics.Plan, sources []Source) bool {
	return slices.ContainsFunc(p.Measures, fact.Measure.Money) &&
		slices.ContainsFunc(sources, func(s Source) bool { return s.Currency != p.Currency })
}

// Translate translates a plan. It refuses names that the catalog does not have,
// because names become part of the SQL.
func Translate(p *analytics.Plan, t *Texts) (*Question, error) {
	if err := check(p); err != nil {
		return nil, err
	}
	q := &Question{Family: p.Family, First: p.First, Last: p.Last, Granularity: p.Granularity, Measures: p.Measures}
	for _, d := range p.Dimensions {
		if c := columnOf(d); !slices.Contains(q.Columns, c) {
			q.Columns = append(q.Columns, c)
		}
	}
	if slices.Contains(q.Columns, TagColumn) {
		for i := range t.Entities[KindCampaign] {
			e := &t.Entities[KindCampaign][i]
			for _, n := range e.Tags {
				q.Tags = append(q.Tags, Tag{e.Key, n})
			}
		}
	}
	if p.Where != nil {
		m := t.match(p, p.Where)
		q.Match = &m
	}
	if slices.ContainsFunc(p.Measures, fact.Measure.Money) {
		q.convert(p, t)
	}
	return q, nil
}

// convert sets the rates of the plan's sources in other currencies.
func (q *Question) convert(p *analytics.Plan, t *Texts) {
	currencies := map[string]int32{}
	for _, s := range t.Sources {
		if s.Currency == p.Currency {
			continue
		}
		n, found := currencies[string(s.Currency)]
		if !found {
			n = int32(len(currencies))
			currencies[string(s.Currency)] = n
		}
		q.Foreign = append(q.Foreign, Foreign{s.Key, n})
	}
	type when struct{ currency, day int32 }
	taken := map[when]bool{}
	for _, r := range p.Rates {
		n, found := currencies[string(r.Currency)]
		// Invalid rates are ignored.
		if w := (when{n, int32(r.Date)}); found && !taken[w] && r.Over >= 0 && r.Under > 0 {
			taken[w] = true
			q.Rates = append(q.Rates, Rate{n, w.day, r.Over, r.Under})
		}
	}
}

// maxDimensions is the number of dimensions that a plan can have. The API allows
// fewer.
const maxDimensions = 7

// check refuses a plan with a name that the catalog does not have.
func check(p *analytics.Plan) error {
	if len(p.Dimensions) > maxDimensions {
		return fmt.Errorf("there are %d dimensions, more than %d", len(p.Dimensions), maxDimensions)
	}
	if int(p.Family) >= len(fact.Families) {
		return fmt.Errorf("there is no family %d", p.Family)
	}
	if !slices.Contains(analytics.Granularities, p.Granularity) {
		return fmt.Errorf("there is no granularity %q", p.Granularity)
	}
	for _, m := range p.Measures {
		if m >= fact.NumMeasures {
			return fmt.Errorf("there is no measure %d", m)
		}
	}
	for _, d := range p.Dimensions {
		if !isDimension(d) {
			return fmt.Errorf("there is no dimension %q", d)
		}
	}
	if p.Where == nil {
		return nil
	}
	return checkCondition(p.Where)
}

func isDimension(name string) bool {
	return name == analytics.DimensionVariant || slices.ContainsFunc(analytics.Dimensions, func(d analytics.Dimension) bool { return d.Name == name })
}
