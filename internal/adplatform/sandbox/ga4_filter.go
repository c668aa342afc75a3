package sandbox

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// ga4Filter is a filter expression: one of its members is set.
type ga4Filter struct {
	AndGroup      *ga4FilterList   `json:"andGroup"`
	OrGroup       *ga4FilterList   `json:"orGroup"`
	NotExpression *ga4Filter       `json:"notExpression"`
	Filter        *ga4SingleFilter `json:"filter"`
}

type ga4FilterList struct {
	Expressions []ga4Filter `json:"expressions"`
}

// ga4SingleFilter is a condition on a field: one of its filters is set.
type ga4SingleFilter struct {
	FieldName    string            `json:"fieldName"`
	StringFilter *ga4StringFilter  `json:"stringFilter"`
	InListFilter *ga4InListFilter  `json:"inListFilter"`
	Numeric      *ga4NumericFilter `json:"numericFilter"`
	Between      *ga4BetweenFilter `json:"betweenFilter"`
	EmptyFilter  jsontext.Value    `json:"emptyFilter"`
}

type ga4StringFilter struct {
	MatchType     ga4MatchType `json:"matchType"`
	Value         string       `json:"value"`
	CaseSensitive bool         `json:"caseSensitive"`
}

type ga4InListFilter struct {
	Values        []string `json:"values"`
	CaseSensitive bool     `json:"caseSensitive"`
}

type ga4NumericFilter struct {
	Operation ga4Operation    `json:"operation"`
	Value     ga4NumericValue `json:"value"`
}

type ga4BetweenFilter struct {
	FromValue ga4NumericValue `json:"fromValue"`
	ToValue   ga4NumericValue `json:"toValue"`
}

type ga4NumericValue struct {
	Int64  *ga4Number `json:"int64Value"`
	Double *float64   `json:"doubleValue"`
}

func (v ga4NumericValue) number() float64 {
	switch {
	case v.Double != nil:
		return *v.Double
	case v.Int64 != nil:
		return float64(*v.Int64)
	}
	return 0
}

// fields calls each with the name of every field of the expression.
func (f *ga4Filter) fields(each func(name string)) {
	if f == nil {
		return
	}
	for _, list := range []*ga4FilterList{f.AndGroup, f.OrGroup} {
		if list == nil {
			continue
		}
		for i := range list.Expressions {
			list.Expressions[i].fields(each)
		}
	}
	f.NotExpression.fields(each)
	if f.Filter != nil {
		each(f.Filter.FieldName)
	}
}

// problem returns what is wrong with the expression, an empty string if nothing
// is.
func (f *ga4Filter) problem() string {
	if f == nil {
		return ""
	}
	set := 0
	for _, there := range []bool{f.AndGroup != nil, f.OrGroup != nil, f.NotExpression != nil, f.Filter != nil} {
		if there {
			set++
		}
	}
	if set != 1 {
		return "A FilterExpression must have exactly one of andGroup, orGroup, notExpression and filter."
	}
	for _, list := range []*ga4FilterList{f.AndGroup, f.OrGroup} {
		if list == nil {
			continue
		}
		for i := range list.Expressions {
			if wrong := list.Expressions[i].problem(); wrong != "" {
				return wrong
			}
		}
	}
	if f.Filter != nil {
		return f.Filter.problem()
	}
	return f.NotExpression.problem()
}

func (f *ga4SingleFilter) problem() string {
	switch {
	case f.StringFilter != nil:
		if _, err := regexp.Compile(f.StringFilter.Value); err != nil && strings.HasSuffix(string(f.StringFilter.MatchType), "_REGEXP") {
			return "The regular expression of the filter on " + f.FieldName + " is invalid."
		}
	case f.InListFilter != nil && len(f.InListFilter.Values) == 0:
		return "The list of the filter on " + f.FieldName + " must be non-empty."
	case f.Numeric != nil && (f.Numeric.Operation == "" || f.Numeric.Operation == "OPERATION_UNSPECIFIED"):
		return "The filter on " + f.FieldName + " has no operation."
	case f.InListFilter == nil && f.Numeric == nil && f.Between == nil && f.EmptyFilter == nil:
		return "The filter on " + f.FieldName + " has no condition."
	}
	return ""
}

// matches reports whether fields with these values fit. Without an expression,
// all do.
func (f *ga4Filter) matches(value func(field string) string) bool {
	switch {
	case f == nil:
		return true
	case f.AndGroup != nil:
		return !slices.ContainsFunc(f.AndGroup.Expressions, func(x ga4Filter) bool { return !x.matches(value) })
	case f.OrGroup != nil:
		return slices.ContainsFunc(f.OrGroup.Expressions, func(x ga4Filter) bool { return x.matches(value) })
	case f.NotExpression != nil:
		return !f.NotExpression.matches(value)
	}
	return f.Filter.matches(value(f.Filter.FieldName))
}

func (f *ga4SingleFilter) matches(text string) bool {
	number, err := strconv.ParseFloat(text, 64)
	switch {
	case f.StringFilter != nil:
		return f.StringFilter.matches(text)
	case f.InListFilter != nil:
		return slices.ContainsFunc(f.InListFilter.Values, func(one string) bool {
			return one == text || !f.InListFilter.CaseSensitive && strings.EqualFold(one, text)
		})
	case f.Numeric != nil:
		return err == nil && f.Numeric.matches(number)
	case f.Between != nil:
		return err == nil && number >= f.Between.FromValue.number() && number <= f.Between.ToValue.number()
	}
	return text == "" || text == ga4NotSet
}

func (f *ga4NumericFilter) matches(number float64) bool {
	with := f.Value.number()
	switch f.Operation {
	case "LESS_THAN":
		return number < with
	case "LESS_THAN_OR_EQUAL":
		return number <= with
	case "GREATER_THAN":
		return number > with
	case "GREATER_THAN_OR_EQUAL":
		return number >= with
	}
	return number == with
}

func (f *ga4StringFilter) matches(text string) bool {
	with, pattern := f.Value, f.Value
	if !f.CaseSensitive {
		text, with, pattern = strings.ToLower(text), strings.ToLower(with), "(?i)"+pattern
	}
	switch f.MatchType {
	case "BEGINS_WITH":
		return strings.HasPrefix(text, with)
	case "ENDS_WITH":
		return strings.HasSuffix(text, with)
	case "CONTAINS":
		return strings.Contains(text, with)
	case "FULL_REGEXP", "PARTIAL_REGEXP":
		if f.MatchType == "FULL_REGEXP" {
			pattern = "^(?:" + pattern + ")$"
		}
		matched, err := regexp.MatchString(pattern, text)
		return err == nil && matched
	}
	return text == with
}
