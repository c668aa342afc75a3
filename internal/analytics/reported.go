package analytics

import (
	"context"
	"slices"

	"fanfare/internal/fact"
)

// A row without facts is 0 for measures that are reported, and unknown for
// others. The reported measures of a period are
//   - those of the facts that match the query, if any do;
//   - otherwise those of facts of the same family that match the conditions,
//     except conditions that only this family has: if clicks are reported by
//     device, no clicks on tablets means 0 clicks;
//   - otherwise none, if another family has facts: metrics that were reported
//     only by device are not in the base family;
//   - otherwise all: nothing has happened, so every measure is zero.
//
// No measure is reported while a connection that may belong to the query has
// lost facts: the missing facts may be the lost ones.

// measureSet is a set of measures. It never contains reach, because missing
// facts do not prove that reach is 0.
type measureSet uint16

const allMeasures = measureSet(1<<fact.NumMeasures-1) &^ (1 << fact.Reach)

func (s measureSet) has(m fact.Measure) bool { return s&(1<<m) != 0 }

// reportedBy returns the measures that a group has, including amounts without
// an exchange rate.
func (e *evaluation) reportedBy(g *Group) (s measureSet) {
	for i, m := range e.measures {
		if m != fact.Reach && (g.Sums[i].Known || g.Sums[i].NoRate) {
			s |= 1 << m
		}
	}
	return s
}

func (e *evaluation) reportedByAny(groups []Group) (s measureSet) {
	for i := range groups {
		s |= e.reportedBy(&groups[i])
	}
	return s
}

// findReported computes the reported measures of both periods. It returns
// whether it queried the facts.
func (s *Service) findReported(ctx context.Context, e *evaluation) (queried bool, err error) {
	if len(e.lost()) > 0 {
		e.reported, e.reportedBefore = 0, 0
		return false, nil
	}
	if e.reported, queried, err = s.reported(ctx, e, e.now, e.r.days); err != nil || e.r.compare == nil {
		return queried, err
	}
	reported, more, err := s.reported(ctx, e, e.before, e.r.compare.days)
	e.reportedBefore = reported
	return queried || more, err
}

// reported returns the measures that are reported in a span. groups are the
// query's facts in the span.
func (s *Service) reported(ctx context.Context, e *evaluation, groups []Group, days span) (reported measureSet, queried bool, err error) {
	if len(groups) > 0 {
		return e.reportedByAny(groups), false, nil
	}
	var plans []planTarget
	found := make([][]Group, fact.NumFamilies)
	where, sources := e.r.where.inEveryFamily(true), e.sourcesOf(days)
	var by []*Dimension
	if tag := dimensions["tag"]; slices.Contains(e.r.dimensions, tag) {
		// Conditions on tags apply to the row's tag.
		by = append(by, tag)
	}
	for _, f := range everyFamily {
		covered := func(c fact.Coverage) bool { return c.Families[f].Covers(days.first, days.last) }
		if !slices.ContainsFunc(sources, covered) || f == e.r.family && !e.r.where.isFamilySpecific() {
			continue
		}
		p := e.plan(days, Whole, by, nil)
		p.Family, p.Where = f, where
		if f == e.r.family {
			p.Measures = e.measures
		}
		plans = append(plans, planTarget{p, &found[f]})
	}
	if len(plans) == 0 {
		return allMeasures, false, nil
	}
	if err := s.runPlans(ctx, plans); err != nil {
		return 0, true, err
	}
	switch {
	case len(found[e.r.family]) > 0:
		return e.reportedByAny(found[e.r.family]), true, nil
	case slices.ContainsFunc(found, func(groups []Group) bool { return len(groups) > 0 }):
		return 0, true, nil
	}
	return allMeasures, true, nil
}

// isFamilySpecific reports whether the condition uses a dimension that only
// some families have.
func (c *Condition) isFamilySpecific() bool {
	switch {
	case c == nil:
		return false
	case c.Not != nil:
		return c.Not.isFamilySpecific()
	case c.Dimension != "":
		return len(dimensions[c.Dimension].families) < len(everyFamily)
	}
	return slices.ContainsFunc(slices.Concat(c.And, c.Or), func(c Condition) bool { return c.isFamilySpecific() })
}

// inEveryFamily returns a condition that every family can evaluate. It is true
// whenever the original can be equal to wanted for some values of the
// dimensions that only some families have. nil is always true.
func (c *Condition) inEveryFamily(wanted bool) *Condition {
	switch {
	case !c.isFamilySpecific() && wanted:
		return c
	case !c.isFamilySpecific():
		return &Condition{Not: c}
	case c.Not != nil:
		return c.Not.inEveryFamily(!wanted)
	}
	var list []Condition
	for _, inner := range slices.Concat(c.And, c.Or) {
		if relaxed := inner.inEveryFamily(wanted); relaxed != nil {
			list = append(list, *relaxed)
		}
	}
	switch all := (c.And != nil) == wanted; {
	case all && list != nil:
		return &Condition{And: list}
	case !all && len(list) == len(c.And)+len(c.Or) && list != nil:
		return &Condition{Or: list}
	}
	return nil
}
