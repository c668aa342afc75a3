package analytics

import (
	"slices"
	"strings"
)

// canMatch reports whether the condition can be true and whether it can be
// false if only some dimensions are known. of returns the values of a
// dimension, none for null, and whether they are known.
func (c *Condition) canMatch(of func(dimension string) (values []string, known bool)) (yes, no bool) {
	switch {
	case c == nil:
		return true, false
	case c.And != nil:
		yes = true
		for i := range c.And {
			y, n := c.And[i].canMatch(of)
			yes, no = yes && y, no || n
		}
		return yes, no
	case c.Or != nil:
		no = true
		for i := range c.Or {
			y, n := c.Or[i].canMatch(of)
			yes, no = yes || y, no && n
		}
		return yes, no
	case c.Not != nil:
		y, n := c.Not.canMatch(of)
		return n, y
	}
	values, known := of(c.Dimension)
	if !known {
		return true, true
	}
	is := c.matches(values)
	return is, !is
}

// matches reports whether the values of a dimension satisfy this leaf.
func (c *Condition) matches(values []string) bool {
	anyOf := func(match func(value, wanted string) bool) bool {
		return slices.ContainsFunc(values, func(v string) bool {
			return slices.ContainsFunc(c.Values, func(wanted string) bool { return match(v, wanted) })
		})
	}
	equal := func(v, wanted string) bool { return v == wanted }
	contains := func(v, wanted string) bool { return strings.Contains(strings.ToLower(v), strings.ToLower(wanted)) }
	switch c.Op {
	case NotEqual, NotIn:
		return !anyOf(equal)
	case Contains:
		return anyOf(contains)
	case NotContains:
		return !anyOf(contains)
	case StartsWith:
		return anyOf(func(v, wanted string) bool { return strings.HasPrefix(strings.ToLower(v), strings.ToLower(wanted)) })
	case Greater:
		return anyOf(func(v, bound string) bool { return v > bound })
	case AtLeast:
		return anyOf(func(v, bound string) bool { return v >= bound })
	case Less:
		return anyOf(func(v, bound string) bool { return v < bound })
	case AtMost:
		return anyOf(func(v, bound string) bool { return v <= bound })
	case Between:
		return slices.ContainsFunc(values, func(v string) bool { return v >= c.Values[0] && v <= c.Values[1] })
	case IsNull:
		return len(values) == 0
	case IsNotNull:
		return len(values) > 0
	default:
		return anyOf(equal)
	}
}

// uses reports whether the condition has a dimension that is selects.
func (c *Condition) uses(is func(dimension string) bool) bool {
	if c == nil {
		return false
	}
	in := func(c Condition) bool { return c.uses(is) }
	return is(c.Dimension) || c.Not.uses(is) || slices.ContainsFunc(c.And, in) || slices.ContainsFunc(c.Or, in)
}

// onAnyTag reports whether the condition on all tags of a campaign can be
// checked tag by tag: it has at most one leaf on tags, and that leaf is not
// negated.
func (c *Condition) onAnyTag() bool {
	count, negated := c.countTagLeaves(false)
	return count <= 1 && !negated
}

// countTagLeaves counts the leaves on tags, and reports whether one of them is
// negated.
func (c *Condition) countTagLeaves(not bool) (count int, negated bool) {
	switch {
	case c == nil:
		return 0, false
	case c.Not != nil:
		return c.Not.countTagLeaves(!not)
	case c.Dimension == "tag":
		return 1, not != (c.Op == NotEqual || c.Op == NotIn || c.Op == NotContains)
	}
	for _, inner := range slices.Concat(c.And, c.Or) {
		n, is := inner.countTagLeaves(not)
		count, negated = count+n, negated || is
	}
	return count, negated
}
