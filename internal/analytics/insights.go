package analytics

import (
	"context"
	"errors"
	"fmt"

	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
)

// Maximum lengths of the lists in insights.
const (
	maxTopCreatives = 10
	maxCampaigns    = 20
)

// NoFacts is the warning code for an audience without facts.
const NoFacts = "no_facts"

// AudienceFacts are the metrics of an audience. Nothing is estimated: data that
// no platform reported is empty and has a warning.
type AudienceFacts struct {
	Trend        []TrendDay        `json:"trend"`
	Composition  Composition       `json:"composition"`
	ByChannel    []ChannelMetrics  `json:"by_channel"`
	Performance  Performance       `json:"performance"`
	BestTimes    []WeekdayIndex    `json:"best_times"`
	TopCreatives []CreativeMetrics `json:"top_creatives"`
	Campaigns    []CampaignMetrics `json:"campaigns"`
	Warnings     []Warning         `json:"-"`
}

// Composition breaks the audience down by attribute. An attribute is empty if
// no platform reported it.
type Composition struct {
	AgeRange []Part `json:"age_range"`
	Gender   []Part `json:"gender"`
	Country  []Part `json:"country"`
	Device   []Part `json:"device"`
}

// of returns the parts of an attribute.
func (c *Composition) of(attribute string) *[]Part {
	return map[string]*[]Part{"age_range": &c.AgeRange, "gender": &c.Gender, "country": &c.Country, "device": &c.Device}[attribute]
}

// TrendDay has the metrics of one day.
type TrendDay struct {
	Date        clock.Date `json:"date"`
	Impressions Number     `json:"impressions"`
	Clicks      Number     `json:"clicks"`
	Conversions Number     `json:"conversions"`
	Spend       Number     `json:"spend"`
}

// Part is one value of an attribute. Share is its share of the impressions with
// a known value. Index is 100 if the share equals that of the baseline.
type Part struct {
	Value       string `json:"value"`
	Impressions int64  `json:"impressions"`
	Share       Number `json:"share"`
	Index       Number `json:"index"`
}

// ChannelMetrics are the audience's metrics on one channel.
type ChannelMetrics struct {
	Channel string            `json:"channel"`
	Metrics map[string]Number `json:"metrics"`
	Index   Number            `json:"index"`
}

// Performance has the audience's metrics and their ratio to the workspace's.
type Performance struct {
	Metrics         map[string]Number `json:"metrics"`
	VersusWorkspace map[string]Number `json:"versus_workspace"`
}

// WeekdayIndex is the performance of one weekday.
type WeekdayIndex struct {
	Weekday string `json:"weekday"`
	Index   Number `json:"index"`
}

// CreativeMetrics are the metrics of a creative for the audience.
type CreativeMetrics struct {
	CreativeID  ident.ID `json:"creative_id"`
	Name        string   `json:"name"`
	CTR         Number   `json:"ctr"`
	CVR         Number   `json:"cvr"`
	Conversions Number   `json:"conversions"`
}

// CampaignMetrics are the metrics of a campaign for the audience.
type CampaignMetrics struct {
	CampaignID  ident.ID `json:"campaign_id"`
	Name        string   `json:"name"`
	Spend       Number   `json:"spend"`
	Conversions Number   `json:"conversions"`
}

// BaselineWorkspace compares the audience with the whole workspace.
const BaselineWorkspace = "workspace"

// breakdowns are the attributes of the composition.
var breakdowns = []string{"age_range", "gender", "country", "device"}

// audienceQueries runs the queries about one audience.
type audienceQueries struct {
	*Service
	ctx                context.Context
	w                  Workspace
	connections        []Connection
	days               *Range
	audience, baseline *Filter
	// err is the first error of a query. Later queries do not run after it.
	err error
}

// AudienceInsights returns the metrics of an audience from first to last, both
// included. It compares them with the baseline: the workspace or another
// audience.
func (s *Service) AudienceInsights(ctx context.Context, workspace, audience ident.ID, baseline string, first, last clock.Date) (*AudienceFacts, error) {
	w, err := s.Workspace(ctx, workspace)
	if err != nil {
		return nil, err
	}
	if err := s.catchUp(ctx, w.ID); err != nil {
		return nil, err
	}
	connections, err := s.connections(ctx, w.ID)
	if err != nil {
		return nil, err
	}
	from, to := first.String(), last.String()
	days := &Range{Start: &from, End: &to}
	// All queries of insights run in one turn, that of the broadest of them.
	e, err := s.resolveInternal(w, &Query{Metrics: DefaultMetrics, Range: days}, connections)
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return nil, invalidParameters(f.Details)
	}
	limited, end, err := s.begin(ctx, e)
	if err != nil {
		return nil, err
	}
	defer end()
	a := &audienceQueries{Service: s, ctx: limited, w: w, connections: connections, days: days, audience: oneOf("", "audience_id", []string{string(audience)})}
	if baseline != BaselineWorkspace {
		a.baseline = oneOf("", "audience_id", []string{baseline})
	}
	facts := a.facts()
	if a.err != nil {
		return nil, queryError(ctx, limited, a.err)
	}
	facts.Warnings = append(facts.Warnings, lostWarnings(s.changesLost(), lostOf(connections))...)
	return facts, nil
}

// run runs a query and returns its rows.
func (a *audienceQueries) run(q Query) *evaluation {
	if a.err != nil {
		return &evaluation{}
	}
	q.Range = a.days
	e, err := a.runInternal(a.ctx, a.w, &q, a.connections)
	if err != nil {
		a.err = err
		return &evaluation{}
	}
	return e
}

func (a *audienceQueries) facts() *AudienceFacts {
	f := &AudienceFacts{Trend: []TrendDay{}, ByChannel: []ChannelMetrics{}, BestTimes: []WeekdayIndex{}, TopCreatives: []CreativeMetrics{}, Campaigns: []CampaignMetrics{}, Warnings: []Warning{}}
	for _, name := range breakdowns {
		*f.Composition.of(name) = []Part{}
	}
	f.Performance = a.performance()
	all := a.run(Query{Metrics: []string{"impressions"}, Filters: a.audience})
	if all.sum.sums == nil {
		return a.onlyBreakdowns(f)
	}
	f.Trend, f.ByChannel, f.BestTimes = a.trend(), a.byChannel(), a.bestTimes()
	f.TopCreatives, f.Campaigns = a.topCreatives(), a.campaigns()
	a.addComposition(f)
	return f
}

// onlyBreakdowns returns the insights of an audience without facts of the base
// family. Its breakdowns may have been reported separately, for example in a
// file. Their sums are not totals, because platforms omit what they cannot
// attribute.
func (a *audienceQueries) onlyBreakdowns(f *AudienceFacts) *AudienceFacts {
	a.addComposition(f)
	if len(f.Warnings) == len(breakdowns) {
		f.Warnings = []Warning{{Code: NoFacts, Message: "No platform has reported metrics for this audience in the period."}}
		return f
	}
	f.Warnings = append(f.Warnings, Warning{Code: "no_totals", Message: "Only breakdowns have been reported for this audience in the period, so there are no totals, channels, creatives or campaigns."})
	return f
}

// addComposition adds the composition by each breakdown, or a warning.
func (a *audienceQueries) addComposition(f *AudienceFacts) {
	for _, name := range breakdowns {
		parts := a.composition(name)
		if len(parts) == 0 {
			f.Warnings = append(f.Warnings, Warning{Code: "no_breakdown", Dimension: name, Message: "No platform has reported metrics by " + name + " for this audience in the period."})
			continue
		}
		*f.Composition.of(name) = parts
	}
}

func (a *audienceQueries) performance() Performance {
	p := Performance{Metrics: map[string]Number{}, VersusWorkspace: map[string]Number{}}
	here := a.run(Query{Metrics: DefaultMetrics, Filters: a.audience})
	everywhere := a.run(Query{Metrics: DefaultMetrics})
	if a.err != nil || here.sum.sums == nil {
		return p
	}
	for i, name := range DefaultMetrics {
		p.Metrics[name] = here.rows[0].now[i]
		p.VersusWorkspace[name] = share(here.rows[0].now[i], everywhere.rows[0].now[i])
	}
	return p
}

// share returns part / whole.
func share(part, whole Number) Number {
	return ratio(1, part, Number{Digits: part.Digits, Known: true}, whole)
}

// index returns 100 × here / baseline.
func index(here, baseline Number) Number {
	return ratio(100, here, Number{Digits: here.Digits, Known: true}, baseline)
}

func (a *audienceQueries) trend() []TrendDay {
	day := string(Day)
	e := a.run(Query{Metrics: []string{"impressions", "clicks", "conversions", "spend"}, Granularity: &day, Filters: a.audience})
	list := make([]TrendDay, len(e.rows))
	for i, r := range e.rows {
		list[i] = TrendDay{r.date, r.now[0], r.now[1], r.now[2], r.now[3]}
	}
	return list
}

// indexes compares each value's share of the impressions with its share in the
// baseline. Both shares count only impressions with a known value. Otherwise
// unattributed impressions on one side would inflate every value of the other.
func (a *audienceQueries) indexes(dimension string) (here *evaluation, shares, indexes map[string]Number) {
	q := Query{Metrics: DefaultMetrics, Dimensions: []string{dimension}, Filters: a.audience, OrderBy: []Order{{Field: "impressions"}}}
	here = a.run(q)
	q.Filters = a.baseline
	there := a.run(q)
	shares, indexes = here.shares(), map[string]Number{}
	for value, baseline := range there.shares() {
		indexes[value] = index(shares[value], baseline)
	}
	return here, shares, indexes
}

// shares returns each known value's share of the impressions with a known
// value. Impressions are the first metric.
func (e *evaluation) shares() map[string]Number {
	whole := Number{Known: true}
	for i := range e.rows {
		if e.rows[i].valueKnown() {
			whole.N += e.rows[i].now[0].N
		}
	}
	shares := map[string]Number{}
	for i := range e.rows {
		if r := &e.rows[i]; r.valueKnown() {
			shares[r.values[0].ID] = share(r.now[0], whole)
		}
	}
	return shares
}

// valueKnown reports whether the value of the row and its first metric are
// known.
func (r *row) valueKnown() bool {
	return !r.values[0].null() && r.values[0].ID != fact.Unknown && r.now[0].Known
}

// composition returns the parts of a dimension, without unknown values.
func (a *audienceQueries) composition(dimension string) []Part {
	here, shares, indexes := a.indexes(dimension)
	var list []Part
	for i := range here.rows {
		if r := &here.rows[i]; r.valueKnown() {
			v := r.values[0].ID
			list = append(list, Part{v, r.now[0].N, shares[v], indexes[v]})
		}
	}
	return list
}

func (a *audienceQueries) byChannel() []ChannelMetrics {
	here, _, indexes := a.indexes("channel")
	list := []ChannelMetrics{}
	for _, r := range here.rows {
		list = append(list, ChannelMetrics{r.values[0].ID, byName(DefaultMetrics, r.now), indexes[r.values[0].ID]})
	}
	return list
}

func byName(names []string, numbers []Number) map[string]Number {
	values := make(map[string]Number, len(names))
	for i, name := range names {
		values[name] = numbers[i]
	}
	return values
}

// bestTimes compares weekdays by CTR.
//
// Choice: conversions are attributed to later days and are too few to compare
// seven days. Spend shows what was bought, not how well it performed.
func (a *audienceQueries) bestTimes() []WeekdayIndex {
	e := a.run(Query{Metrics: []string{"ctr"}, Dimensions: []string{"weekday"}, Filters: a.audience, OrderBy: []Order{{Field: "weekday"}}})
	list := []WeekdayIndex{}
	for _, r := range e.rows {
		list = append(list, WeekdayIndex{r.values[0].ID, index(r.now[0], e.totals.now[0])})
	}
	return list
}

func (a *audienceQueries) topCreatives() []CreativeMetrics {
	e := a.run(Query{Metrics: []string{"conversions", "ctr", "cvr"}, Dimensions: []string{"creative_id"}, Filters: a.linkedTo("creative_id"), OrderBy: []Order{{Field: "conversions"}, {Field: "ctr"}}})
	list := []CreativeMetrics{}
	for _, r := range e.rows[:min(len(e.rows), maxTopCreatives)] {
		list = append(list, CreativeMetrics{ident.ID(r.values[0].ID), r.values[0].Label, r.now[1], r.now[2], r.now[0]})
	}
	return list
}

func (a *audienceQueries) campaigns() []CampaignMetrics {
	e := a.run(Query{Metrics: []string{"spend", "conversions"}, Dimensions: []string{"campaign_id"}, Filters: a.linkedTo("campaign_id")})
	list := []CampaignMetrics{}
	for _, r := range e.rows[:min(len(e.rows), maxCampaigns)] {
		list = append(list, CampaignMetrics{ident.ID(r.values[0].ID), r.values[0].Label, r.now[0], r.now[1]})
	}
	return list
}

// linkedTo selects the audience's facts that are linked to a record.
func (a *audienceQueries) linkedTo(dimension string) *Filter {
	return allOf(a.audience, &Filter{Field: dimension, Op: string(IsNotNull)})
}

// creativeMetricNames are the metrics of creatives and variants.
var creativeMetricNames = []string{"impressions", "clicks", "ctr", "conversions", "cvr", "spend", "cpa"}

// Variants returns the metrics of a creative and its variants in the last 30
// days. An ad that shows a variant counts for both. The map omits records
// without facts; it is empty if the result is too large.
func (s *Service) Variants(ctx context.Context, workspace, creative ident.ID) (map[ident.ID]fact.VariantMetrics, error) {
	w, err := s.Workspace(ctx, workspace)
	if err != nil {
		return nil, err
	}
	if err := s.Catchup(ctx, w.ID); err != nil {
		return nil, fmt.Errorf("bring records up to date: %w", err)
	}
	connections, err := s.connections(ctx, w.ID)
	if err != nil {
		return nil, err
	}
	found := map[ident.ID]fact.VariantMetrics{}
	for _, dimension := range []string{"creative_id", DimensionVariant} {
		q := &Query{Metrics: creativeMetricNames, Dimensions: []string{dimension}, Filters: oneOf("", "creative_id", []string{string(creative)}), internal: true}
		e, err := s.runInternal(ctx, w, q, connections)
		if errors.Is(err, ErrTooLarge) || errors.Is(err, ErrTooMany) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		for _, r := range e.rows {
			if v := &r.values[0]; !v.null() {
				m := byName(creativeMetricNames, r.now)
				found[ident.ID(v.ID)] = fact.VariantMetrics{
					Impressions: m["impressions"], Clicks: m["clicks"], CTR: m["ctr"], Conversions: m["conversions"],
					CVR: m["cvr"], Spend: m["spend"], CPA: m["cpa"],
				}
			}
		}
	}
	return found, nil
}
