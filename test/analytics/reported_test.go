package analytics_test

import (
	"math/big"
	"slices"
)

// zerosWithout is what is zero where there are no lines, nothing where there are.
func zerosWithout(views []taggedRow, reported map[string]bool) map[string]bool {
	if len(views) > 0 {
		return nil
	}
	return reported
}

// knownMeasures are the measures that some of the lines know.
func (b *referenceData) knownMeasures(views []taggedRow) map[string]bool {
	known := map[string]bool{}
	for _, v := range views {
		for m, n := range b.rows[v.rowKey] {
			known[m] = known[m] || n != nil
		}
	}
	return known
}

// setZeros says what is zero in rows that have no line in a period: what the
// lines of the same values know there, or where there are none, what is
// reported at all.
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

// reported are the measures that are zero where nothing has happened; views are
// the lines that answer the question. Where there are none, the lines of the
// same report decide that differ only in what this report alone can tell; and
// where only other reports have lines, nothing is known.
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

// possibleResults says whether a condition can be true and whether it can be false of
// something of which not everything is known.
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

// lacking says whether an account has lines around the days, but none of the
// report that answers the question.
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

// pacing is what campaigns have spent before today against an even plan for
// the days that are over.
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
