package linkedin

import (
	"slices"
	"strings"

	"fanfare/internal/connection"
	"fanfare/internal/fact"
)

// ruleURN is the prefix of the URNs of conversion rules.
const ruleURN = "urn:lla:llaPartnerConversion:"

// conversionMetrics are the metrics that conversion rules have.
var conversionMetrics = []metricField{{"externalWebsiteConversions", fact.Conversions}, {"conversionValueInLocalCurrency", fact.Revenue}}

// chooseConversions limits conversions and revenue to some conversion rules,
// named by their ids or URNs. Without a choice all rules of the account count,
// as in Campaign Manager. The main report then leaves both out, because it has
// the sums of all rules.
func (r *reportReader) chooseConversions(rules []string) {
	if len(rules) == 0 {
		return
	}
	r.metrics = slices.DeleteFunc(slices.Clone(r.metrics), func(f metricField) bool { return slices.Contains(conversionMetrics, f) })
	if r.q.Level > connection.LevelAd {
		// Breakdowns cannot be combined with rules: their conversions are
		// unknown.
		return
	}
	chosen := map[string]bool{}
	for _, rule := range rules {
		chosen[strings.TrimPrefix(rule, ruleURN)] = true
	}
	by := *r
	by.pivots, by.metrics = append(slices.Clip(r.pivots), "CONVERSION"), conversionMetrics
	r.rules = &ruleReader{&by, chosen}
}

// ruleReader reads the report of conversion rules beside a main report.
type ruleReader struct {
	*reportReader
	chosen map[string]bool
}

// addTo adds the conversions of the chosen rules to the rows of a report. A row
// without any has 0 of them. Days with conversions only get rows of their own.
func (r *ruleReader) addTo(rows []fact.Row, elements []reportElement) ([]fact.Row, error) {
	last := len(r.pivots) - 1
	found, err := r.rows(slices.DeleteFunc(elements, func(e reportElement) bool {
		return len(e.PivotValues) == len(r.pivots) && !r.chosen[strings.TrimPrefix(e.PivotValues[last], ruleURN)]
	}))
	if err != nil {
		return nil, err
	}
	at := map[fact.Row]int{}
	for i := range rows {
		key := rows[i]
		key.Values = fact.Values{}
		at[key] = i
		for _, f := range conversionMetrics {
			rows[i].Values.Set(f.measure, 0)
		}
	}
	for _, row := range found {
		key := row
		key.Values = fact.Values{}
		i, there := at[key]
		if !there {
			rows = append(rows, row)
			continue
		}
		addValues(&rows[i].Values, &row.Values)
	}
	return rows, nil
}
