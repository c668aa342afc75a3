package sandbox

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// metaCondition is one condition on a list of objects.
type metaCondition struct {
	field, operator string
	values          []string
}

// metaConditionFields are the fields that lists can be filtered by.
var metaConditionFields = []string{
	"id", "name", "status", "effective_status", "configured_status", "delivery_info", "objective", "created_time", "updated_time", "start_time", "campaign_id", "adset_id",
}

// metaDelivery maps statuses to the words of delivery_info.
var metaDelivery = map[string]string{
	"ACTIVE": "active", "PAUSED": "inactive", "CAMPAIGN_PAUSED": "inactive", "ADSET_PAUSED": "inactive", "ARCHIVED": "archived", "DELETED": "deleted",
	"IN_PROCESS": "scheduled", "WITH_ISSUES": "not_delivering", "PENDING_REVIEW": "pending_review", "DISAPPROVED": "rejected",
}

// readMetaConditions parses the parameter filtering of a list. The name of the
// object before a field can be left out.
func readMetaConditions(text string) (conditions []metaCondition, refused *metaError) {
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
		f := metaCondition{field: l.Field, operator: l.Operator, values: metaTexts(l.Value)}
		if object, field, ok := strings.Cut(l.Field, "."); ok && metaKinds[object] != "" {
			f.field = field
		}
		if !slices.Contains(metaConditionFields, f.field) || !slices.Contains(metaOperators, f.operator) || len(f.values) == 0 {
			return nil, metaInvalid("Filtering field %s with operation %s is invalid", l.Field, l.Operator)
		}
		conditions = append(conditions, f)
	}
	return conditions, nil
}

// metaTexts returns a value or a list of values as texts.
func metaTexts(value jsontext.Value) (texts []string) {
	var list []jsontext.Value
	if json.Unmarshal(value, &list) != nil {
		list = []jsontext.Value{value}
	}
	for _, v := range list {
		texts = append(texts, strings.Trim(string(v), `"`))
	}
	return texts
}

// names reports whether a condition asks for objects of a status that lists omit
// by default.
func (f *metaCondition) names(status string) bool {
	switch f.field {
	case "effective_status", "status", "configured_status":
		return slices.Contains(f.values, status)
	case "delivery_info":
		return slices.Contains(f.values, metaDelivery[status])
	}
	return false
}

// metaPasses reports whether an object passes all conditions.
func metaPasses(conditions []metaCondition, node map[string]any) bool {
	for i := range conditions {
		if !conditions[i].passes(node) {
			return false
		}
	}
	return true
}

func (f *metaCondition) passes(node map[string]any) bool {
	text, _ := node[f.field].(string)
	if f.field == "delivery_info" {
		status, _ := node["effective_status"].(string)
		text = metaDelivery[status]
	}
	// Moments are compared with seconds since 1970.
	if moment, err := time.Parse("2006-01-02T15:04:05-0700", text); err == nil {
		text = strconv.FormatInt(moment.Unix(), 10)
	}
	has := slices.Contains(f.values, text)
	contains := slices.ContainsFunc(f.values, func(value string) bool { return strings.Contains(text, value) })
	number, _ := strconv.ParseFloat(text, 64)
	limit, _ := strconv.ParseFloat(f.values[0], 64)
	return map[string]bool{
		"IN": has, "EQUAL": has, "NOT_IN": !has, "NOT_EQUAL": !has, "CONTAIN": contains, "NOT_CONTAIN": !contains,
		"GREATER_THAN": number > limit, "LESS_THAN": number < limit,
	}[f.operator]
}
