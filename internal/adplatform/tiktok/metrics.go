package tiktok

import (
	"slices"
	"strings"

	"fanfare/internal/adplatform/transport"
	"fanfare/internal/connection"
	"fanfare/internal/fact"
)

// metricField is a metric of TikTok and the measure of facts that it is added
// to.
type metricField struct {
	metric  string
	measure fact.Measure
}

// skanMetric counts the conversions that only Apple's SKAdNetwork reports. They
// are not added to the others, because TikTok can have counted the same ones.
const skanMetric = "skan_conversion"

var (
	// basicMetrics are the metrics of every report.
	basicMetrics = []metricField{{"impressions", fact.Impressions}, {"clicks", fact.Clicks}, {"spend", fact.Spend}}
	// otherMetrics are those of reports by account, campaign and ad. Reports by
	// audience refuse them.
	//
	// TikTok counts the value of purchases in three metrics: in apps, on the
	// website, and in TikTok Shop. Those that an account does not use are zero.
	// The value on the website has the name of a rate.
	otherMetrics = []metricField{
		{"total_purchase_value", fact.Revenue},
		{"total_complete_payment_rate", fact.Revenue},
		{"total_onsite_shopping_value", fact.Revenue},
		{"engagements", fact.Engagements},
		{"video_play_actions", fact.VideoViews},
		{"video_views_p100", fact.VideoCompletions},
		{"reach", fact.Reach},
	}
	// resultMetric counts the events for which TikTok optimizes each ad group,
	// which the account has chosen. It covers apps, websites and TikTok Shop.
	resultMetric = metricField{"conversion", fact.Conversions}
)

// conversionEvents are the events that TikTok counts in several metrics: in
// apps, on the website, and on TikTok. An event with another name is the metric
// with that name.
var conversionEvents = map[string][]string{
	"purchase":          {"total_purchase", "complete_payment", "onsite_shopping"},
	"add_to_cart":       {"total_app_event_add_to_cart", "web_event_add_to_cart", "onsite_on_web_cart"},
	"initiate_checkout": {"total_checkout", "initiate_checkout", "onsite_initiate_checkout_count"},
	"view_content":      {"total_view_content", "page_content_view_events", "onsite_on_web_detail"},
	"registration":      {"total_registration", "user_registration"},
	"lead":              {"total_sales_lead", "form", "onsite_form"},
}

// reportMetrics returns the metrics of a report. Reports by audience do not have
// chosen events.
func reportMetrics(audience bool, events []string) []metricField {
	list := slices.Clone(basicMetrics)
	switch {
	case len(events) == 0:
		list = append(list, resultMetric)
	case !audience:
		for _, event := range events {
			metrics, several := conversionEvents[event]
			if !several {
				metrics = []string{event}
			}
			for _, metric := range metrics {
				if !slices.ContainsFunc(list, func(f metricField) bool { return f.metric == metric }) {
					list = append(list, metricField{metric, fact.Conversions})
				}
			}
		}
	}
	if !audience {
		list = append(list, otherMetrics...)
	}
	return list
}

// values returns the metrics of a row. A measure is unknown if none of its
// metrics is known.
func values(fields []metricField, metrics map[string]string) (v fact.Values, err error) {
	for _, f := range fields {
		text := metrics[f.metric]
		if text == "" || text == missingValue {
			continue
		}
		n, ok := transport.ParseMetric(text, f.measure)
		if !ok {
			return v, malformedError(f.metric)
		}
		before, _ := v.Get(f.measure)
		v.Set(f.measure, before+n)
	}
	return v, nil
}

// isInvalidMetric reports whether TikTok refuses a report because of a metric.
func isInvalidMetric(err error, metric string) bool {
	return connection.ClassOf(err) == connection.Refused && strings.Contains(err.Error(), "metric fields") && strings.Contains(err.Error(), "'"+metric+"'")
}

// dropInvalid removes the metrics from a report that TikTok calls invalid, and
// returns them as lost, except those that no report can do without.
func dropInvalid(fields []metricField, err error) (left, lost []metricField) {
	if err == nil {
		return fields, nil
	}
	for _, f := range fields {
		if isInvalidMetric(err, f.metric) && !slices.Contains(basicMetrics, f) {
			lost = append(lost, f)
			continue
		}
		left = append(left, f)
	}
	return left, lost
}
