package analytics

import (
	"context"
	"fmt"
	"math/big"
	"slices"

	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/ident"
	"fanfare/internal/money"
)

// plans returns the plans of the query: for its rows, for the comparison
// period, and for values that cannot be added up from rows.
func (e *evaluation) plans() []planTarget {
	r := e.r
	e.measures = r.measures()
	e.sources = e.sourcesOf(r.days)
	list := []planTarget{{e.plan(r.days, r.granularity, r.dimensions, e.measures), &e.now}}
	total := r.overlaps()
	if total {
		list = append(list, planTarget{e.plan(r.days, Whole, nil, e.measures), &e.nowTotal})
	}
	if r.compare != nil {
		list = append(list, planTarget{e.plan(r.compare.days, r.granularity, r.dimensions, e.measures), &e.before})
		if total {
			list = append(list, planTarget{e.plan(r.compare.days, Whole, nil, e.measures), &e.beforeTotal})
		}
	}
	if slices.Contains(e.measures, fact.Conversions) && len(e.platforms()) > 1 {
		list = append(list, planTarget{e.plan(r.days, Whole, []*Dimension{dimensions["platform"]}, []fact.Measure{fact.Conversions}), &e.byPlatform})
	}
	return list
}

// overlaps reports whether totals differ from the sum of the rows, because the
// same people or facts are in several rows.
func (r *Resolved) overlaps() bool {
	if len(r.dimensions) == 0 && r.granularity == Whole {
		return false
	}
	return slices.Contains(r.measures(), fact.Reach) || slices.Contains(r.dimensions, dimensions["tag"])
}

// measures returns all measures that the metrics need.
func (r *Resolved) measures() []fact.Measure {
	var needed [fact.NumMeasures]bool
	for _, m := range r.metrics {
		for _, v := range m.needs {
			needed[v] = true
		}
	}
	list := make([]fact.Measure, 0, fact.NumMeasures)
	for v, is := range needed {
		if is {
			list = append(list, fact.Measure(v))
		}
	}
	return list
}

func (e *evaluation) plan(days span, g Granularity, by []*Dimension, measures []fact.Measure) *Plan {
	p := &Plan{
		Workspace: e.workspace, Family: e.r.family, First: days.first, Last: days.last, Granularity: g,
		Measures: measures, Where: e.r.where, Currency: e.r.currency, Rates: e.rates[days], MaxGroups: MaxRows,
	}
	for _, d := range by {
		p.Dimensions = append(p.Dimensions, d.Name)
	}
	return p
}

// loadRates loads the exchange rates to the query's currency.
func (s *Service) loadRates(ctx context.Context, e *evaluation) error {
	e.rates = map[span][]Rate{}
	if !slices.ContainsFunc(e.r.measures(), fact.Measure.Money) {
		return nil
	}
	for _, d := range e.r.spans() {
		rates, err := s.ratesTo(ctx, e.workspace, e.state.Sources, e.r.currency, d)
		if err != nil {
			return err
		}
		e.rates[d] = rates
	}
	return nil
}

// ratesTo returns the exchange rates for every currency that sources report in
// on these days.
func (s *Service) ratesTo(ctx context.Context, workspace ident.ID, sources []fact.Coverage, to money.Currency, days span) ([]Rate, error) {
	const euro = "EUR"
	var from, needed []money.Currency
	for _, source := range sources {
		if source.Currency != to && covers(&source, days) && !slices.Contains(from, source.Currency) {
			from = append(from, source.Currency)
		}
	}
	if len(from) == 0 {
		return nil, nil
	}
	for _, c := range append(slices.Clone(from), to) {
		if c != euro {
			needed = append(needed, c)
		}
	}
	list, err := s.Rates.Rates(ctx, workspace, needed, days.first, days.last)
	if err != nil {
		return nil, fmt.Errorf("read rates: %w", err)
	}
	type key struct {
		currency money.Currency
		date     clock.Date
	}
	known := make(map[key]int64, len(list))
	for _, r := range list {
		known[key{r.Currency, r.Date}] = r.PerEuro
	}
	worth := func(c money.Currency, d clock.Date) int64 {
		if c == euro {
			return OneEuro
		}
		return known[key{c, d}]
	}
	var rates []Rate
	for d := days.first; d <= days.last; d++ {
		for _, c := range from {
			// Choice: only the stored rate of the day itself counts. The import
			// of rates decides which days use an earlier rate.
			if over, under := worth(to, d), worth(c, d); over > 0 && under > 0 {
				rates = append(rates, Rate{Currency: c, Date: d, Over: over, Under: under})
			}
		}
	}
	return rates, nil
}

// covers reports whether a source has facts in a span.
func covers(c *fact.Coverage, days span) bool { return c.First <= days.last && c.Last >= days.first }

// loadRecords loads the record data that rows show in addition to sums.
func (s *Service) loadRecords(ctx context.Context, e *evaluation) (err error) {
	r := e.r
	if r.emptyRows {
		if e.empty, err = s.recordsWithoutFacts(ctx, e); err != nil {
			return err
		}
	}
	if r.statuses != nil {
		if err := s.filterByStatus(ctx, e); err != nil {
			return err
		}
	}
	if slices.ContainsFunc(r.metrics, func(m *Metric) bool { return m.special == againstPlan }) {
		ids := idsIn(slices.Concat(e.now, e.before), slices.Index(r.dimensions, dimensions["campaign_id"]))
		if e.pacing, err = s.pacing(ctx, e, ids); err != nil {
			return err
		}
	}
	return nil
}

// idsIn returns the distinct records of a dimension in groups.
func idsIn(groups []Group, dimension int) []ident.ID {
	seen := map[string]bool{}
	var list []ident.ID
	for i := range groups {
		if id := groups[i].Values[dimension].ID; id != "" && !seen[id] {
			seen[id] = true
			list = append(list, ident.ID(id))
		}
	}
	return list
}

// filterByStatus drops groups without a record and groups whose record has
// another status.
func (s *Service) filterByStatus(ctx context.Context, e *evaluation) error {
	id := e.r.recordDimension()
	at := slices.Index(e.r.dimensions, id)
	list, err := s.Records.Records(ctx, e.workspace, recordKinds[id.Name], idsIn(slices.Concat(e.now, e.before), at))
	if err != nil {
		return fmt.Errorf("read records: %w", err)
	}
	keep := map[string]bool{}
	for _, record := range list {
		keep[string(record.ID)] = slices.Contains(e.r.statuses, record.Status)
	}
	drop := func(g Group) bool { return !keep[g.Values[at].ID] }
	e.now, e.before = slices.DeleteFunc(e.now, drop), slices.DeleteFunc(e.before, drop)
	return nil
}

// recordsWithoutFacts returns the values of records that satisfy the conditions
// and may have no facts in the range. Their values that depend on facts are
// null.
func (s *Service) recordsWithoutFacts(ctx context.Context, e *evaluation) ([][]Value, error) {
	id := e.r.recordDimension()
	var list [][]Value
	add := func(of func(dimension string) Value, tags []string) {
		yes, _ := e.r.where.canMatch(func(d string) ([]string, bool) {
			if d == "tag" {
				return tags, true
			}
			if v := of(d); !v.null() {
				return []string{v.ID}, true
			}
			return nil, true
		})
		if !yes {
			return
		}
		values := make([]Value, len(e.r.dimensions))
		for i, d := range e.r.dimensions {
			values[i] = of(d.Name)
		}
		list = append(list, values)
	}
	if id.Name == "connection_id" {
		for i := range e.connections {
			c := &e.connections[i]
			add(func(d string) Value {
				switch d {
				case "connection_id":
					return Value{ID: string(c.ID), Label: c.Name}
				case "platform":
					return Value{ID: c.Platform}
				}
				return Value{Null: true}
			}, nil)
		}
		return list, nil
	}
	records, err := s.Records.Records(ctx, e.workspace, recordKinds[id.Name], nil)
	if err != nil {
		return nil, fmt.Errorf("read records: %w", err)
	}
	for i := range records {
		add(func(d string) Value { return valueOf(&records[i], d) }, records[i].Tags)
	}
	return list, nil
}

// valueOf returns a record's value of a dimension.
func valueOf(r *fact.Record, dimension string) Value {
	text := ""
	switch dimension {
	case r.Kind + "_id":
		return Value{ID: string(r.ID), Label: r.Name}
	case r.Kind + "_name":
		text = r.Name
	case r.Kind + "_status":
		text = r.Status
	case "creative_type":
		text = r.Type
	case "objective":
		text = r.Objective
	}
	return Value{ID: text, Null: text == ""}
}

// pacing compares the spend of campaigns with an even plan, as of today.
//
// Choice: all spend to date counts, as in the campaign's spend_to_date. Today
// counts on neither side, because it is not over. Pacing is unknown while a
// connection has lost facts: the spend to date is unknown, whatever the query
// selects.
func (s *Service) pacing(ctx context.Context, e *evaluation, ids []ident.ID) (map[string]Number, error) {
	if len(lostOf(e.connections)) > 0 {
		return nil, nil
	}
	flights, err := s.Flights.Flights(ctx, e.workspace, ids)
	if err != nil {
		return nil, fmt.Errorf("read flights: %w", err)
	}
	today := e.r.today
	running := map[money.Currency][]ident.ID{}
	for _, id := range ids {
		if f, there := flights[id]; there && f.isPaced(today) {
			running[f.Currency] = append(running[f.Currency], id)
		}
	}
	pacing := map[string]Number{}
	e.unpacedCurrencies = nil
	for currency, ids := range running {
		sums, err := s.spendByCampaign(ctx, e.workspace, e.state.Sources, ids, currency, span{earliest, today - 1})
		if err != nil {
			return nil, err
		}
		for _, id := range ids {
			f := flights[id]
			if sum := sums[id]; sum.NoRate {
				e.unpacedCurrencies = append(e.unpacedCurrencies, string(currency))
			} else {
				pacing[string(id)] = f.pace(sum.N, today)
			}
		}
	}
	return pacing, nil
}

// isPaced reports whether the flight is running, is past its first day and has
// a plan for the days so far.
func (f *Flight) isPaced(today clock.Date) bool {
	return f.Running && f.Start != nil && *f.Start < today && (f.End == nil || *f.End >= today) && (f.Daily || f.End != nil)
}

// pace divides spend by the even plan for the days that are over.
func (f *Flight) pace(spent int64, today clock.Date) Number {
	over, planned := big.NewInt(spent), big.NewInt(f.Micros)
	planned.Mul(planned, big.NewInt(int64(today-*f.Start)))
	if !f.Daily {
		over.Mul(over, big.NewInt(int64(*f.End-*f.Start)+1))
	}
	return quotient128(over, planned)
}
