package sandbox

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"fanfare/internal/clock"
	"fanfare/internal/fact"
)

// googleMetrics maps Google's metrics to measures.
var googleMetrics = map[string]fact.Measure{
	"metrics.impressions": fact.Impressions, "metrics.clicks": fact.Clicks, "metrics.cost_micros": fact.Spend, "metrics.video_trueview_views": fact.VideoViews,
}

// googleAction is an action that an account counts as a conversion.
type googleAction struct {
	id, name, category string
	// counted says that the account includes it in its conversions.
	counted bool
}

// googleSettingChanged is the switch of an account that has changed what it
// counts as a conversion.
const googleSettingChanged = "conversion_setting_changed"

// googleActions returns the conversion actions of an account: purchases, which
// are its conversions, and sign-ups, which it counts only after a change of its
// settings.
func googleActions(s *Call, a *Account) []*googleAction {
	return []*googleAction{
		{id: a.ID[1:] + "1", name: "Purchase", category: "PURCHASE", counted: true},
		{id: a.ID[1:] + "2", name: "Newsletter sign-up", category: "SIGNUP", counted: s.Behaves(a, googleSettingChanged)},
	}
}

// conversions returns the conversions of a row in millionths, and their value:
// those that the account counts, or all of them. One sign-up comes with every
// four purchases.
func (l *googleRow) conversions(all bool) (count, value int64) {
	for i, action := range googleActions(l.s, l.a) {
		if !all && !action.counted || l.action != nil && l.action.id != action.id {
			continue
		}
		if i > 0 {
			count += l.Values.V[fact.Conversions] / 4
			continue
		}
		count, value = count+l.Values.V[fact.Conversions], value+l.Values.V[fact.Revenue]
	}
	return count, value
}

// isGoogleMetric reports whether a field is a metric.
func isGoogleMetric(field string) bool {
	return googleIntegers[field] || googleDecimals[field] || googleOtherMetrics[field]
}

// metric returns the value of a metric, nil if the row has none. Metrics of which
// accounts of the sandbox have no data are zero.
func (l *googleRow) metric(field string) any {
	if m, ok := googleMetrics[field]; ok {
		n, known := l.Values.Get(m)
		if !known {
			return nil
		}
		return strconv.FormatInt(n, 10)
	}
	name := strings.TrimPrefix(field, "metrics.")
	if n, ok := l.conversionMetric(name); ok {
		return formatGoogleDouble(n, l.s.Behavior(l.a, googleDoubleFormat))
	}
	if name == "interactions" {
		return strconv.FormatInt(int64(l.interactions()), 10)
	}
	if ratio, ok := googleRatios[name]; ok {
		return jsontext.Value(strconv.FormatFloat(ratio(l), 'f', -1, 64))
	}
	switch {
	case googleIntegers[field]:
		return "0"
	case googleDecimals[field]:
		return jsontext.Value("0")
	}
	return nil
}

// conversionMetric returns a metric that counts conversions or their value.
//
// Choice: those by the date of the conversion equal those by the date of the
// click.
func (l *googleRow) conversionMetric(name string) (millionths int64, ok bool) {
	name = strings.TrimSuffix(name, "_by_conversion_date")
	counted, all := strings.HasPrefix(name, "conversions"), strings.HasPrefix(name, "all_conversions")
	count, value := l.conversions(all)
	switch strings.TrimPrefix(name, "all_") {
	case "conversions":
		return count, counted || all
	case "conversions_value":
		return value, counted || all
	}
	return 0, false
}

// interactions are views of video campaigns, and clicks of all others.
func (l *googleRow) interactions() float64 {
	if n := l.Values.V[fact.VideoViews]; n > 0 {
		return float64(n)
	}
	return float64(l.Values.V[fact.Clicks])
}

func (l *googleRow) measure(m fact.Measure) float64 { return float64(l.Values.V[m]) }

// conversionFloats returns conversions and their value as floats.
func (l *googleRow) conversionFloats(all bool) (count, value float64) {
	n, v := l.conversions(all)
	return float64(n) / million, float64(v) / million
}

// ratioOf returns a ratio, 0 without a divisor.
func ratioOf(of, by float64) float64 {
	if by == 0 {
		return 0
	}
	return of / by
}

// googleRatios are the metrics that are computed from others of the row.
var googleRatios = map[string]func(l *googleRow) float64{
	"ctr":                  func(l *googleRow) float64 { return ratioOf(l.measure(fact.Clicks), l.measure(fact.Impressions)) },
	"average_cpc":          func(l *googleRow) float64 { return ratioOf(l.measure(fact.Spend), l.measure(fact.Clicks)) },
	"average_cpm":          func(l *googleRow) float64 { return ratioOf(1000*l.measure(fact.Spend), l.measure(fact.Impressions)) },
	"average_cost":         func(l *googleRow) float64 { return ratioOf(l.measure(fact.Spend), l.interactions()) },
	"trueview_average_cpv": func(l *googleRow) float64 { return ratioOf(l.measure(fact.Spend), l.measure(fact.VideoViews)) },
	"interaction_rate":     func(l *googleRow) float64 { return ratioOf(l.interactions(), l.measure(fact.Impressions)) },
	"video_trueview_view_rate": func(l *googleRow) float64 {
		return ratioOf(l.measure(fact.VideoViews), l.measure(fact.Impressions))
	},
	"conversions_from_interactions_rate":     func(l *googleRow) float64 { return l.perInteraction(false) },
	"all_conversions_from_interactions_rate": func(l *googleRow) float64 { return l.perInteraction(true) },
	"cost_per_conversion":                    func(l *googleRow) float64 { return l.costPer(false) },
	"cost_per_all_conversions":               func(l *googleRow) float64 { return l.costPer(true) },
	"value_per_conversion":                   func(l *googleRow) float64 { return l.valuePer(false) },
	"value_per_all_conversions":              func(l *googleRow) float64 { return l.valuePer(true) },
	"conversions_value_per_cost":             func(l *googleRow) float64 { return l.valuePerCost(false) },
	"all_conversions_value_per_cost":         func(l *googleRow) float64 { return l.valuePerCost(true) },
}

func (l *googleRow) perInteraction(all bool) float64 {
	count, _ := l.conversionFloats(all)
	return ratioOf(count, l.interactions())
}

// costPer is in micros.
func (l *googleRow) costPer(all bool) float64 {
	count, _ := l.conversionFloats(all)
	return ratioOf(l.measure(fact.Spend), count)
}

func (l *googleRow) valuePer(all bool) float64 {
	count, value := l.conversionFloats(all)
	return ratioOf(value, count)
}

func (l *googleRow) valuePerCost(all bool) float64 {
	_, value := l.conversionFloats(all)
	return ratioOf(value, l.measure(fact.Spend)/million)
}

// fitsConversionSegment reports whether a metric can be segmented by conversion
// action: only counts and values of conversions can.
func fitsConversionSegment(field string) bool {
	name := strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(field, "metrics."), "all_"), "_by_conversion_date")
	return name == "conversions" || name == "conversions_value" || strings.HasPrefix(name, "value_per_")
}

// summaryOnly asks for the sum of all rows instead of the rows.
const summaryOnly = "SUMMARY_ROW_ONLY"

// summaryRow returns the sum of all rows, nil if the call does not ask for it.
func (q *gaql) summaryRow(setting string, lines []googleRow) (any, *googleFailure) {
	switch setting {
	case "", "NO_SUMMARY_ROW":
		return nil, nil
	case "SUMMARY_ROW_WITH_RESULTS", summaryOnly:
	default:
		return nil, requestError("INVALID_ENUM_VALUE", "There is no such setting of the summary row.")
	}
	metrics := &gaql{}
	for _, field := range q.fields {
		if isGoogleMetric(field) {
			metrics.fields = append(metrics.fields, field)
		}
	}
	switch {
	case metrics.fields == nil:
		return nil, requestError("CANNOT_RETURN_SUMMARY_ROW_FOR_REQUEST_WITHOUT_METRICS", "A summary row needs metrics.")
	case len(lines) == 0:
		return nil, nil
	}
	whole := lines[0]
	for _, line := range lines[1:] {
		for m := range fact.Measure(fact.NumMeasures) {
			if n, known := line.Values.Get(m); known {
				whole.Values.Set(m, whole.Values.V[m]+n)
			}
		}
	}
	return metrics.encodeRow(&whole), nil
}

// googleDates are the segments of days.
var googleDates = map[string]func(l *googleRow) any{
	"segments.date":  func(l *googleRow) any { return l.Date.String() },
	"segments.week":  func(l *googleRow) any { return (l.Date - clock.Date(l.Date.Weekday())).String() },
	"segments.month": func(l *googleRow) any { return l.Date.FirstOfMonth().String() },
	"segments.quarter": func(l *googleRow) any {
		year, month, _ := l.Date.Calendar()
		return fmt.Sprintf("%d-%02d-01", year, (int(month)-1)/3*3+1)
	},
	"segments.year": func(l *googleRow) any {
		year, _, _ := l.Date.Calendar()
		return year
	},
	"segments.day_of_week": func(l *googleRow) any { return strings.ToUpper(l.Date.Time().Weekday().String()) },
	"segments.month_of_year": func(l *googleRow) any {
		_, month, _ := l.Date.Calendar()
		return strings.ToUpper(month.String())
	},
	// Choice: all of a day is in one hour.
	"segments.hour": func(*googleRow) any { return 12 },
}
