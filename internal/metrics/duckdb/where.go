package duckdb

import (
	"slices"
	"strings"

	"fanfare/internal/analytics"
	"fanfare/internal/fact"
	"fanfare/internal/metrics/numbers"
)

// text is a dimension that the view described tells of an entity.
type text struct{ entity, attribute string }

// texts are the dimensions that entities and records tell.
var texts = map[string]text{
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

// worded are the dimensions whose values are words.
var worded = []string{"channel", "country", "age_range", "gender", "device"}

// where writes a condition. Every part of it is true or false, never unknown,
// so that not and or mean what they say.
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
		b.leaf(c)
	}
}

// joined writes conditions put together. Those on the texts of one entity are
// one look at its keys: each look is a join, and the planner took 10 seconds
// for the 100 of the largest query there may be.
func (b *builder) joined(list []analytics.Condition, with string) {
	open, looked := "(", map[look]bool{}
	for i := range list {
		l := lookOf(&list[i])
		if looked[l] {
			continue
		}
		b.text(open)
		open = with
		if l.entity == "" {
			b.where(&list[i])
			continue
		}
		looked[l] = true
		b.look(l, list[i:], with)
	}
	b.text(")")
}

// look is a search for the keys of an entity that have fitting texts, or for
// all others.
type look struct{ entity, denied string }

// lookOf is the search that a condition on a text needs, none for others.
func lookOf(c *analytics.Condition) look {
	t, isText := texts[c.Dimension]
	if !isText {
		return look{}
	}
	_, denied := plain(c.Op)
	return look{t.entity, denied}
}

// look writes all conditions of a list that need the same search. To have none
// of some is not to have any, so what denies is joined the other way round.
func (b *builder) look(l look, list []analytics.Condition, with string) {
	if l.denied != "" {
		with = map[string]string{and: or, or: and}[with]
	}
	b.text("f." + l.entity + " " + l.denied + "IN (SELECT d.key FROM described d WHERE d.workspace = ? AND d.kind = '" + l.entity + "' AND ")
	b.bind(b.w.key)
	open := "("
	for i := range list {
		if c := &list[i]; lookOf(c) == l {
			op, _ := plain(c.Op)
			b.text(open)
			b.compare("d."+texts[c.Dimension].attribute, op, c.Values)
			open = with
		}
	}
	b.text("))")
}

// plain is an operator that says yes, and what denies it.
func plain(op analytics.Op) (yes analytics.Op, denied string) {
	if yes, denies := numbers.Affirmed[op]; denies {
		return yes, "NOT "
	}
	return op, ""
}

const (
	and = " AND "
	or  = " OR "
)

// leaf writes a comparison as membership: what has a value that fits, or for
// those that deny, everything else. What has no value is in no such set.
func (b *builder) leaf(c *analytics.Condition) {
	op, denied := plain(c.Op)
	switch l := lookOf(c); {
	case l.entity != "":
		b.look(l, []analytics.Condition{*c}, and)
	case c.Dimension == "tag" && b.tagged:
		b.text(denied + "coalesce(")
		b.compare("t.tag", op, c.Values)
		b.text(", false)")
	case c.Dimension == "tag":
		b.text("f.campaign " + denied + "IN (SELECT e.key FROM entity e JOIN tag t ON t.workspace = e.workspace AND t.record = e.record WHERE e.workspace = ?")
		b.bind(b.w.key)
		b.text(" AND ")
		b.compare("t.tag", op, c.Values)
		b.text(")")
	default:
		column, codes := b.codes(c.Dimension, op, c.Values)
		if len(codes) == 0 {
			b.text(denied + "false")
			return
		}
		b.text(column + " " + denied + "IN " + list(codes))
	}
}

// codes are the numbers of a small set whose texts fit: the words, the days of
// the week, the workspace's sources.
func (b *builder) codes(dimension string, op analytics.Op, values []string) (column string, codes []int32) {
	switch {
	case slices.Contains(worded, dimension):
		for code, word := range b.words.text {
			if numbers.Fits(word, op, values) {
				codes = append(codes, int32(code))
			}
		}
		return "f." + dimension, codes
	case dimension == "weekday":
		for day, word := range analytics.Weekdays {
			if numbers.Fits(word, op, values) {
				codes = append(codes, int32(day))
			}
		}
		return weekday, codes
	}
	for _, s := range b.w.sources {
		if numbers.Fits(sourceText(dimension, &s), op, values) {
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

// comparisons are how an operator compares an expression with one value.
var comparisons = map[analytics.Op][2]string{
	analytics.Equal: {"", " = ?"}, analytics.In: {"", " = ?"},
	analytics.Greater: {"", " > ?"}, analytics.AtLeast: {"", " >= ?"}, analytics.Less: {"", " < ?"}, analytics.AtMost: {"", " <= ?"},
	analytics.Contains: {"contains(lower(", "), lower(?))"}, analytics.StartsWith: {"starts_with(lower(", "), lower(?))"},
}

// compare writes that an expression fits one of the values.
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
