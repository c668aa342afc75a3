package numbers

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"fanfare/internal/analytics"
)

// positiveOps maps a negative operator to its positive one.
var positiveOps = map[analytics.Op]analytics.Op{
	analytics.NotEqual: analytics.Equal, analytics.NotIn: analytics.In, analytics.NotContains: analytics.Contains, analytics.IsNull: analytics.IsNotNull,
}

var comparisons = []analytics.Op{
	analytics.Equal, analytics.In, analytics.Contains, analytics.StartsWith, analytics.Greater, analytics.AtLeast, analytics.Less, analytics.AtMost, analytics.Between, analytics.IsNotNull,
}

func checkCondition(c *analytics.Condition) error {
	for _, list := range [][]analytics.Condition{c.And, c.Or} {
		for i := range list {
			if err := checkCondition(&list[i]); err != nil {
				return err
			}
		}
	}
	switch {
	case len(c.And) > 0 || len(c.Or) > 0:
		return nil
	case c.Not != nil:
		return checkCondition(c.Not)
	case !isDimension(c.Dimension):
		return fmt.Errorf("there is no dimension %q", c.Dimension)
	}
	op := c.Op
	if positive, negates := positiveOps[op]; negates {
		op = positive
	}
	if !slices.Contains(comparisons, op) {
		return fmt.Errorf("there is no operator %q", c.Op)
	}
	return nil
}

// match translates a condition. A comparison becomes the set of numbers whose
// texts match. A negative operator matches all other numbers, also those without
// a text.
func (t *Texts) match(p *analytics.Plan, c *analytics.Condition) Match {
	switch {
	case len(c.And) > 0:
		return joined(t.matches(p, c.And), false)
	case len(c.Or) > 0:
		return joined(t.matches(p, c.Or), true)
	case c.Not != nil:
		m := t.match(p, c.Not)
		return negated(m)
	}
	op, negates := c.Op, false
	if positive, found := positiveOps[op]; found {
		op, negates = positive, true
	}
	m := t.members(p, c.Dimension, func(text string) bool { return matchesText(text, op, c.Values) })
	if negates {
		return negated(m)
	}
	return m
}

func (t *Texts) matches(p *analytics.Plan, list []analytics.Condition) []Match {
	out := make([]Match, len(list))
	for i := range list {
		out[i] = t.match(p, &list[i])
	}
	return out
}

// members returns a match of the numbers whose text of a dimension matches.
func (t *Texts) members(p *analytics.Plan, dimension string, matches func(string) bool) Match {
	m := Match{Column: columnOf(dimension)}
	a, isAttribute := attributes[dimension]
	source, isSource := sourceTexts[dimension]
	switch {
	case isAttribute:
		for i := range t.Entities[a.kind] {
			if e := &t.Entities[a.kind][i]; matches(a.text(e)) {
				m.Numbers = append(m.Numbers, e.Key)
			}
		}
	case isSource:
		for i := range t.Sources {
			if matches(source(&t.Sources[i])) {
				m.Numbers = append(m.Numbers, t.Sources[i].Key)
			}
		}
	case dimension == "tag" && slices.Contains(p.Dimensions, "tag"):
		m.Column = TagColumn
		for n, tag := range t.Tags {
			if matches(tag) {
				m.Numbers = append(m.Numbers, int32(n))
			}
		}
	case dimension == "tag":
		m.Column = CampaignColumn
		for i := range t.Entities[KindCampaign] {
			if e := &t.Entities[KindCampaign][i]; slices.ContainsFunc(e.Tags, func(n int32) bool { return matches(t.Tags[n]) }) {
				m.Numbers = append(m.Numbers, e.Key)
			}
		}
	case dimension == "weekday":
		for day, word := range analytics.Weekdays {
			if matches(word) {
				m.Numbers = append(m.Numbers, int32(day))
			}
		}
	default:
		for code, word := range t.Words {
			if matches(word) {
				m.Numbers = append(m.Numbers, int32(code))
			}
		}
	}
	return m
}

func negated(m Match) Match {
	if m.Not != nil {
		return *m.Not
	}
	return Match{Not: &m}
}

// joined combines matches with or, else with and. Matches on one column become
// one set: a query may have a hundred comparisons, and each set may be large.
func joined(list []Match, or bool) Match {
	var rest []Match
	type kind struct {
		column Column
		not    bool
	}
	sets, order := map[kind]map[int32]bool{}, []kind{}
	for _, m := range list {
		k, numbers := kind{m.Column, false}, m.Numbers
		if m.Not != nil {
			k, numbers = kind{m.Not.Column, true}, m.Not.Numbers
		}
		if k.column == "" {
			rest = append(rest, m)
			continue
		}
		known, found := sets[k]
		if !found {
			order = append(order, k)
		}
		// NOT IN a OR NOT IN b = NOT IN both.
		sets[k] = combine(known, found, numbers, or != k.not)
	}
	for _, k := range order {
		m := Match{Column: k.column, Numbers: slices.Sorted(maps.Keys(sets[k]))}
		if k.not {
			m = negated(m)
		}
		rest = append(rest, m)
	}
	if len(rest) == 1 {
		return rest[0]
	}
	if or {
		return Match{Or: rest}
	}
	return Match{And: rest}
}

func combine(known map[int32]bool, found bool, numbers []int32, union bool) map[int32]bool {
	out := map[int32]bool{}
	for _, n := range numbers {
		if union || !found || known[n] {
			out[n] = true
		}
	}
	if union {
		maps.Copy(out, known)
	}
	return out
}

// matchesText reports whether a positive operator accepts a text for one of the
// values. It accepts no empty text.
func matchesText(text string, op analytics.Op, values []string) bool {
	if text == "" {
		return false
	}
	folded := strings.ToLower(text)
	some := func(f func(v string) bool) bool { return slices.ContainsFunc(values, f) }
	switch op {
	case analytics.Contains:
		return some(func(v string) bool { return strings.Contains(folded, strings.ToLower(v)) })
	case analytics.StartsWith:
		return some(func(v string) bool { return strings.HasPrefix(folded, strings.ToLower(v)) })
	case analytics.Greater:
		return some(func(v string) bool { return text > v })
	case analytics.AtLeast:
		return some(func(v string) bool { return text >= v })
	case analytics.Less:
		return some(func(v string) bool { return text < v })
	case analytics.AtMost:
		return some(func(v string) bool { return text <= v })
	case analytics.Between:
		return len(values) == 2 && text >= values[0] && text <= values[1]
	case analytics.IsNotNull:
		return true
	default:
		return some(func(v string) bool { return text == v })
	}
}
