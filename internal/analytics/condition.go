package analytics

import (
	"slices"
	"strings"
)

// possible tells whether the condition can be true and whether it can be false
// of something of which only some dimensions are known. of returns the values
// in a dimension, none where it is null, and whether they are known.
func (c *Condition) possible(of func(dimension string) (values []string, known bool)) (yes, no bool) {
	switch {
	case c == nil:
		return true, false
	case c.And != nil:
		yes = true
		for i := range c.And {
			y, n := c.And[i].possible(of)
			yes, no = yes && y, no || n
		}
		return yes, no
	case c.Or != nil:
		no = true
		for i := range c.Or {
			y, n := c.Or[i].possible(of)
			yes, no = yes || y, no && n
		}
		return yes, no
	case c.Not != nil:
		y, n := c.Not.possible(of)
		return n, y
	}
	values, known := of(c.Dimension)
	if !known {
		return true, true
	}
	is := c.matches(values)
	return is, !is
}

// matches reports whether the values of a dimension satisfy the leaf.
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

// onAnyTag reports whether the condition holds for one of a campaign's tags
// exactly where it holds for any of them: it asks once at most, and denies
// nothing of it.
func (c *Condition) onAnyTag() bool {
	asked, denied := c.tags(false)
	return asked <= 1 && !denied
}

// tags counts the leaves on tags, and tells whether one of them denies.
func (c *Condition) tags(not bool) (asked int, denied bool) {
	switch {
	case c == nil:
		return 0, false
	case c.Not != nil:
		return c.Not.tags(!not)
	case c.Dimension == "tag":
		return 1, not != (c.Op == NotEqual || c.Op == NotIn || c.Op == NotContains)
	}
	for _, inner := range slices.Concat(c.And, c.Or) {
		n, is := inner.tags(not)
		asked, denied = asked+n, denied || is
	}
	return asked, denied
}
