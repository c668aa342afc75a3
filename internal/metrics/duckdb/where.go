package duckdb

import (
	"slices"
	"strings"

	"fanfare/internal/analytics"
	"fanfare/internal/fact"
	"fanfare/internal/metrics/numbers"
)

// entityAttribute is a column of the view described, for one kind of entity.
type entityAttribute struct{ entity, attribute string }

// entityAttributes has the dimensions of entities and of their records.
var entityAttributes = map[string]entityAttribute{
	"campaign_id":     {fact.KindCampaign, "id"},
	"campaign_name":   {fact.KindCampaign, "name"},
	"campaign_status": {fact.KindCampaign, "status"},
	"objective":       {fact.KindCampaign, "objective"},
	"creative_id":     {fact.KindCreative, "id"},
	"creative_name":   {fact.KindCreative, "name"},
	"creative_type":   {fact.KindCreative, "type"},

	analytics.DimensionVariant: {fact.KindCreative, "part"},

	"audience_id":   {fact.KindAudience, "id"},
	"audience_name": {fact.KindAudience, "name"},
}

// where writes a condition. Every part of it is true or false, never NULL, so
// that NOT and OR are correct.
func (b *builder) where(c *analytics.Condition) {
	switch {
	case len(c.And) > 0:
		b.joined(c.And, and)
	case len(c.Or) > 0:
		b.joined(c.Or, or)
	case c.Not != nil:
		b.text("NOT (")
		b.where(c.Not)
		b.text(")")
	default:
		b.comparison(c)
	}
}

// joined writes a list of conditions. Conditions on attributes of one entity
// share one search: each search is a join, and planning the 100 joins of the
// largest query took 10 seconds.
func (b *builder) joined(list []analytics.Condition, with string) {
	open, searched := "(", map[entitySearch]bool{}
	for i := range list {
		s := entitySearchOf(&list[i])
		if searched[s] {
			continue
		}
		b.text(open)
		open = with
		if s.entity == "" {
			b.where(&list[i])
			continue
		}
		searched[s] = true
		b.search(s, list[i:], with)
	}
	b.text(")")
}

// entitySearch is a search for the keys of entities that match, or with a
// negation that do not.
type entitySearch struct{ entity, negation string }

// entitySearchOf returns the search of a condition on an attribute, empty for
// other conditions.
func entitySearchOf(c *analytics.Condition) entitySearch {
	t, isText := entityAttributes[c.Dimension]
	if !isText {
		return entitySearch{}
	}
	_, negation := splitNegation(c.Op)
	return entitySearch{t.entity, negation}
}

// search writes all conditions of a list that need the same search. NOT IN swaps
// AND and OR (De Morgan).
func (b *builder) search(s entitySearch, list []analytics.Condition, with string) {
	if s.negation != "" {
		with = map[string]string{and: or, or: and}[with]
	}
	b.text("f." + s.entity + " " + s.negation + "IN (SELECT d.key FROM described d WHERE d.workspace = ? AND d.kind = '" + s.entity + "' AND ")
	b.bind(b.w.key)
	open := "("
	for i := range list {
		if c := &list[i]; entitySearchOf(c) == s {
			op, _ := splitNegation(c.Op)
			b.text(open)
			b.compare("d."+entityAttributes[c.Dimension].attribute, op, c.Values)
			open = with
		}
	}
	b.text("))")
}

// splitNegation returns the positive operator, and NOT if op negates it.
func splitNegation(op analytics.Op) (positive analytics.Op, negation string) {
	if positive, negated := numbers.Positive[op]; negated {
		return positive, "NOT "
	}
	return op, ""
}

const (
	and = " AND "
	or  = " OR "
)

// comparison writes one comparison, as IN the matching numbers, or NOT IN for a
// negation. A fact without a value is in no such set, so it matches only
// negations.
func (b *builder) comparison(c *analytics.Condition) {
	op, not := splitNegation(c.Op)
	switch s := entitySearchOf(c); {
	case s.entity != "":
		b.search(s, []analytics.Condition{*c}, and)
	case c.Dimension == "tag" && b.tagged:
		b.text(not + "coalesce(")
		b.compare("t.tag", op, c.Values)
		b.text(", false)")
	case c.Dimension == "tag":
		b.text("f.campaign " + not + "IN (SELECT e.key FROM entity e JOIN tag t ON t.workspace = e.workspace AND t.record = e.record WHERE e.workspace = ?")
		b.bind(b.w.key)
		b.text(" AND ")
		b.compare("t.tag", op, c.Values)
		b.text(")")
	default:
		column, codes := b.codes(c.Dimension, op, c.Values)
		if len(codes) == 0 {
			b.text(not + "false")
			return
		}
		b.text(column + " " + not + "IN " + list(codes))
	}
}

// codes returns the numbers whose text matches: of words, weekdays or the sources
// of the workspace.
func (b *builder) codes(dimension string, op analytics.Op, values []string) (column string, codes []int32) {
	switch {
	case slices.Contains(wordDimensions, dimension):
		for code, word := range b.words.text {
			if numbers.Matches(word, op, values) {
				codes = append(codes, int32(code))
			}
		}
		return "f." + dimension, codes
	case dimension == "weekday":
		for day, word := range analytics.Weekdays {
			if numbers.Matches(word, op, values) {
				codes = append(codes, int32(day))
			}
		}
		return weekday, codes
	}
	for _, s := range b.w.sources {
		if numbers.Matches(sourceText(dimension, &s), op, values) {
			codes = append(codes, s.key)
		}
	}
	return "f.source", codes
}

func sourceText(dimension string, s *source) string {
	switch dimension {
	case "connection_id":
		return string(s.Connection)
	case "platform":
		return s.Platform
	default:
		return s.Account
	}
}

// comparisons is the SQL before and after an expression that compares it with one
// value.
var comparisons = map[analytics.Op][2]string{
	analytics.Equal: {"", " = ?"}, analytics.In: {"", " = ?"},
	analytics.Greater: {"", " > ?"}, analytics.AtLeast: {"", " >= ?"}, analytics.Less: {"", " < ?"}, analytics.AtMost: {"", " <= ?"},
	analytics.Contains: {"contains(lower(", "), lower(?))"}, analytics.StartsWith: {"starts_with(lower(", "), lower(?))"},
}

// compare writes that an expression matches one of the values.
func (b *builder) compare(expression string, op analytics.Op, values []string) {
	switch {
	case op == analytics.IsNotNull:
		b.text(expression + " IS NOT NULL")
	case len(values) == 0 || op == analytics.Between && len(values) != 2:
		b.text("false")
	case op == analytics.Between:
		b.text("(" + expression + " BETWEEN ? AND ?)")
		b.bind(values[0], values[1])
	case (op == analytics.Equal || op == analytics.In) && len(values) > 1:
		b.text(expression + " IN (?" + strings.Repeat(", ?", len(values)-1) + ")")
		for _, v := range values {
			b.bind(v)
		}
	default:
		form := comparisons[op]
		for i, v := range values {
			b.text([]string{"(", " OR "}[min(i, 1)] + form[0] + expression + form[1])
			b.bind(v)
		}
		b.text(")")
	}
}
