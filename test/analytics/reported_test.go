package analytics_test

import (
	"math/big"
	"slices"
)

// zerosWithout returns the reported measures if there are no rows, else none.
func zerosWithout(views []taggedRow, reported map[string]bool) map[string]bool {
	if len(views) > 0 {
		return nil
	}
	return reported
}

// knownMeasures returns the measures that some of the rows have.
func (b *referenceData) knownMeasures(views []taggedRow) map[string]bool {
	known := map[string]bool{}
	for _, v := range views {
		for m, n := range b.rows[v.rowKey] {
			known[m] = known[m] || n != nil
		}
	}
	return known
}

// setZeros sets which measures are zero in rows without facts in a period:
// those of the facts with the same values, or, if there are none, the reported
// ones.
func (b *referenceData) setZeros(rows []*expectedRow, reported, reportedBefore map[string]bool) {
	views, earlier := map[string][]taggedRow{}, map[string][]taggedRow{}
	for _, o := range rows {
		key := keyOfValues(o.values)
		views[key], earlier[key] = append(views[key], o.views...), append(earlier[key], o.earlier...)
	}
	zeros := func(of []taggedRow, reported map[string]bool) map[string]bool {
		if len(of) > 0 {
			return b.knownMeasures(of)
		}
		return reported
	}
	for _, o := range rows {
		key := keyOfValues(o.values)
		if o.current && len(o.views) == 0 {
			o.zeros = zeros(views[key], reported)
		}
		if o.paired && len(o.earlier) == 0 {
			o.zerosBefore = zeros(earlier[key], reportedBefore)
		}
	}
}

// reported returns the measures that are zero without facts; views are the rows
// that match the query. If there are none, the rows of the same report that
// differ only in this report's dimensions decide. If only other reports have
// rows, nothing is known.
func (b *referenceData) reported(q *testQuery, views []taggedRow, days span) map[string]bool {
	if len(views) > 0 {
		return b.knownMeasures(views)
	}
	byTag := slices.Contains(q.Dimensions, "tag")
	own, others := []taggedRow{}, false
	for p := range b.rows {
		tags := []string{""}
		if list := b.records[b.entityOf(p, "campaign").record].tags; byTag && len(list) > 0 {
			tags = list
		}
		for _, tag := range tags {
			v := taggedRow{p, tag}
			can, _ := q.filter.possibleResults(func(d string) ([]string, bool) {
				if families[d] != "" {
					return nil, false
				}
				return b.dimensionValues(v, d, byTag), true
			})
			switch {
			case !can || !days.has(p.day):
			case p.family == q.family():
				own = append(own, v)
			default:
				others = true
			}
		}
	}
	switch all := map[string]bool{}; {
	case len(own) > 0:
		return b.knownMeasures(own)
	case !others:
		for _, m := range measures {
			all[m] = true
		}
		return all
	}
	return nil
}

// possibleResults reports whether a condition can be true and whether it can be
// false if not all values are known.
func (n *condition) possibleResults(of func(dimension string) (values []string, known bool)) (yes, no bool) {
	switch {
	case n == nil || isMetric(n.Field):
		return true, false
	case n.Not != nil:
		no, yes = n.Not.possibleResults(of)
		return yes, no
	case n.Field != "":
		values, known := of(n.Field)
		if !known {
			return true, true
		}
		return n.matchesValues(values), !n.matchesValues(values)
	}
	yes, no = n.And != nil, n.And == nil
	for _, inner := range slices.Concat(n.And, n.Or) {
		y, f := inner.possibleResults(of)
		if n.And != nil {
			yes, no = yes && y, no || f
		} else {
			yes, no = yes || y, no && f
		}
	}
	return yes, no
}

// lacking reports whether an account has rows near the days, but none in the
// query's report.
func (b *referenceData) lacking(q *testQuery) bool {
	days, earlier := q.days(b)
	spans := []span{days}
	if q.Compare != nil {
		spans = append(spans, earlier)
	}
	type of struct{ connection, account, family string }
	around := map[of]span{}
	for p := range b.rows {
		k := of{p.connection, p.account, p.family}
		s, there := around[k]
		if !there {
			s = span{p.day, p.day}
		}
		around[k] = span{min(s.first, p.day), max(s.last, p.day)}
	}
	for _, days := range spans {
		touches := func(k of) bool { s, there := around[k]; return there && s.first <= days.last && s.last >= days.first }
		for k := range around {
			can, _ := q.filter.possibleResults(func(d string) ([]string, bool) {
				switch d {
				case "platform":
					return []string{b.sources[k.connection].platform}, true
				case "connection_id":
					return []string{k.connection}, true
				case "account_id":
					return []string{k.account}, true
				}
				return nil, false
			})
			if can && touches(k) && !touches(of{k.connection, k.account, q.family()}) {
				return true
			}
		}
	}
	return false
}

// pacing returns the spend of campaigns before today, relative to an even plan
// for the past days.
func (b *referenceData) pacing(q *testQuery, views []taggedRow) (found map[string]*big.Rat, noRate bool) {
	found = map[string]*big.Rat{}
	today := q.today(b)
	for _, v := range views {
		id := b.entityOf(v.rowKey, "campaign").record
		f := b.records[id].flight
		if id == "" || f == nil || found[id] != nil || b.records[id].status != "active" {
			continue
		}
		if f.start == nil || *f.start >= today || f.end != nil && *f.end < today || f.end == nil && !f.daily {
			continue
		}
		var own []taggedRow
		for p := range b.rows {
			if p.family == "base" && p.day < today && b.entityOf(p, "campaign").record == id {
				own = append(own, taggedRow{rowKey: p})
			}
		}
		s := b.sumRows(own, f.currency, map[string]bool{"spend": true}, nil)
		if s.noRate {
			noRate = true
			continue
		}
		spent := s.of["spend"]
		if spent == nil {
			spent = new(big.Rat)
		}
		planned := new(big.Rat).Mul(f.amount, big.NewRat(int64(today-*f.start), 1))
		if !f.daily {
			planned.Quo(planned, big.NewRat(int64(*f.end-*f.start)+1, 1))
		}
		found[id] = quotient(spent, planned)
	}
	return found, noRate
}
