package sandbox

import (
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// metaFilter is one condition of the parameter filtering.
type metaFilter struct {
	// object is campaign, adset, ad or empty; field is what the condition is
	// about.
	object, field, operator string
	values                  []string
	number                  float64
}

// metaOperators are the simulated operators.
var metaOperators = []string{"IN", "NOT_IN", "EQUAL", "NOT_EQUAL", "GREATER_THAN", "LESS_THAN", "CONTAIN", "NOT_CONTAIN"}

// readMetaFilters parses the parameter filtering.
func readMetaFilters(text string) (filters []metaFilter, refused *metaError) {
	if text == "" {
		return nil, nil
	}
	var list []struct {
		Field    string         `json:"field"`
		Operator string         `json:"operator"`
		Value    jsontext.Value `json:"value"`
	}
	if json.Unmarshal([]byte(text), &list) != nil {
		return nil, metaInvalid("Param filtering must be an array of objects with field, operator and value")
	}
	for _, l := range list {
		f := metaFilter{field: l.Field, operator: l.Operator}
		if object, field, ok := strings.Cut(l.Field, "."); ok {
			f.object, f.field = object, field
		}
		if json.Unmarshal(l.Value, &f.values) != nil {
			f.values = []string{strings.Trim(string(l.Value), `"`)}
		}
		f.number, _ = strconv.ParseFloat(f.values[0], 64)
		if refused := f.check(); refused != nil {
			return nil, refused
		}
		filters = append(filters, f)
	}
	return filters, nil
}

func (f *metaFilter) check() *metaError {
	_, metric := metaScalars[f.field]
	object := metaStatuses[f.object] != nil && slices.Contains([]string{"effective_status", "id", "name"}, f.field)
	if !slices.Contains(metaOperators, f.operator) || len(f.values) == 0 || !metric && !object {
		return metaInvalid("Filtering field %s.%s with operation %s is invalid", f.object, f.field, f.operator)
	}
	for _, value := range f.values {
		if f.field == "effective_status" && !slices.Contains(metaStatuses[f.object], value) {
			return metaInvalid("Filtering value %s is not a status of %s", value, f.object)
		}
	}
	return nil
}

// keeps reports whether a row of a report passes its filters. Without a filter
// by the status of the objects of the level, deleted ones do not.
func (c metaCall) keeps(a *Account, r *metaReport, row Row) bool {
	if r.level == "account" {
		return true
	}
	own := slices.ContainsFunc(r.filters, func(f metaFilter) bool { return f.object == r.level && f.field == "effective_status" })
	if !own && c.rowStatus(a, r.level, row) == "DELETED" {
		return false
	}
	for i := range r.filters {
		if !r.filters[i].passes(c, a, row) {
			return false
		}
	}
	return true
}

func (f *metaFilter) passes(c metaCall, a *Account, row Row) bool {
	if m, ok := metaScalars[f.field]; ok {
		n, _ := row.Values.Get(m)
		value, _ := strconv.ParseFloat(formatMetaMetric(a, m, n), 64)
		switch f.operator {
		case "GREATER_THAN":
			return value > f.number
		case "LESS_THAN":
			return value < f.number
		case "NOT_EQUAL":
			return value != f.number
		}
		return value == f.number
	}
	text := ""
	if f.field == "effective_status" {
		text = c.rowStatus(a, f.object, row)
	} else {
		text = metaEntities(a, row)[f.object+"_"+f.field]
	}
	contains := slices.ContainsFunc(f.values, func(value string) bool { return strings.Contains(text, value) })
	switch f.operator {
	case "IN", "EQUAL":
		return slices.Contains(f.values, text)
	case "NOT_IN", "NOT_EQUAL":
		return !slices.Contains(f.values, text)
	case "CONTAIN":
		return contains
	}
	return !contains
}
