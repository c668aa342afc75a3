package sandbox

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
)

// metadata lists the dimensions and metrics of a property, or of all properties
// if it is nil.
func (v ga4Viewer) metadata(a *Account) any {
	id := "0"
	if a != nil {
		id = a.ID
	}
	dimensions, metrics := []any{}, []any{}
	for _, name := range slices.Sorted(maps.Keys(ga4Dimensions)) {
		dimensions = append(dimensions, ga4DimensionMetadata(name))
	}
	for _, name := range slices.Sorted(maps.Keys(ga4Metrics)) {
		_, former := ga4DeprecatedMetrics[name]
		if former || a == nil && strings.Contains(name, ":") {
			continue
		}
		metrics = append(metrics, v.metricMetadata(a, name))
	}
	return map[string]any{"name": "properties/" + id + "/metadata", "dimensions": dimensions, "metrics": metrics}
}

func ga4DimensionMetadata(name string) map[string]any {
	return map[string]any{"apiName": name, "uiName": ga4Words(name), "description": ga4Words(name) + ".", "category": "Other"}
}

func (v ga4Viewer) metricMetadata(a *Account, name string) map[string]any {
	m := map[string]any{"apiName": name, "uiName": ga4Words(name), "description": ga4Words(name) + ".", "category": "Other", "type": ga4Metrics[name].kind}
	for old, now := range ga4DeprecatedMetrics {
		if now == name {
			m["deprecatedApiNames"] = []string{old}
		}
	}
	if a != nil && v.restricts(a, name) {
		m["blockedReasons"] = []string{map[string]string{ga4CostData: "NO_COST_METRICS", ga4RevenueData: "NO_REVENUE_METRICS"}[ga4Metrics[name].restricted]}
	}
	return m
}

// ga4Words returns the name of a field in words: sessionSource is "Session
// source".
func ga4Words(name string) string {
	var words strings.Builder
	for i, r := range name {
		switch {
		case i == 0:
			words.WriteString(strings.ToUpper(string(r)))
		case r >= 'A' && r <= 'Z':
			words.WriteString(" " + strings.ToLower(string(r)))
		default:
			words.WriteRune(r)
		}
	}
	return words.String()
}

// checkCompatibility answers which fields fit the fields of a report.
//
// Choice: all fields fit each other.
func (v ga4Viewer) checkCompatibility(a *Account, body []byte) (int, any) {
	var in ga4Request
	if err := json.Unmarshal(body, &in, json.RejectUnknownMembers(true)); err != nil {
		return ga4Invalid("Invalid JSON payload received: " + err.Error())
	}
	if wrong := in.checkFields(); wrong != "" {
		return ga4Invalid(wrong)
	}
	dimensions, metrics := []any{}, []any{}
	for _, name := range slices.Sorted(maps.Keys(ga4Dimensions)) {
		if in.CompatibilityFilter != "INCOMPATIBLE" {
			dimensions = append(dimensions, map[string]any{"dimensionMetadata": ga4DimensionMetadata(name), "compatibility": "COMPATIBLE"})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(ga4Metrics)) {
		if _, former := ga4DeprecatedMetrics[name]; !former && in.CompatibilityFilter != "INCOMPATIBLE" {
			metrics = append(metrics, map[string]any{"metricMetadata": v.metricMetadata(a, name), "compatibility": "COMPATIBLE"})
		}
	}
	return http.StatusOK, map[string]any{"dimensionCompatibilities": dimensions, "metricCompatibilities": metrics}
}
