package analytics

import (
	"fmt"
	"slices"
	"strings"

	"fanfare/internal/clock"
	"fanfare/internal/fact"
)

// maxGapTexts is the largest number of gaps that a warning describes.
const maxGapTexts = 3

// incomplete returns a warning if days of the query have metrics that are
// missing or not all there. The connections need not contribute: all of their
// days may be missing.
func (e *evaluation) incomplete() []Warning {
	w := Warning{Code: "incomplete_data"}
	var days []clock.Date
	var texts []string
	for _, c := range e.connections {
		for i := range c.Gaps {
			g := &c.Gaps[i]
			if !e.touches(&c, g) {
				continue
			}
			if !slices.Contains(w.Connections, c.ID) {
				w.Connections = append(w.Connections, c.ID)
			}
			for _, span := range e.r.spans() {
				for d := max(g.First, span.first); d <= min(g.Last, span.last); d++ {
					days = append(days, d)
				}
			}
			if g.Metric != "" {
				w.Amounts = append(w.Amounts, Amount{g.Account, g.Metric, g.Amount, g.Currency})
			}
			texts = append(texts, fmt.Sprintf("account %s from %s to %s: %s", g.Account, g.First, g.Last, g.Message))
		}
	}
	if texts == nil {
		return nil
	}
	slices.Sort(w.Connections)
	slices.Sort(days)
	days = slices.Compact(days)
	w.Days, w.DayCount = days[:min(len(days), maxWarningDays)], len(days)
	w.Message = fmt.Sprintf("The numbers of %d days are incomplete. %s", len(days), strings.Join(texts[:min(len(texts), maxGapTexts)], " "))
	if more := len(texts) - maxGapTexts; more > 0 {
		w.Message += fmt.Sprintf(" %d more; the accounts of the connections list them.", more)
	}
	return []Warning{w}
}

// touches reports whether a gap has days, an account, a report and a measure of the
// query.
func (e *evaluation) touches(c *Connection, g *Gap) bool {
	if g.Family != e.r.family || !slices.ContainsFunc(e.r.spans(), func(s span) bool { return g.First <= s.last && g.Last >= s.first }) {
		return false
	}
	if g.Measures != nil && !slices.ContainsFunc(g.Measures, func(m fact.Measure) bool { return slices.Contains(e.r.measures(), m) }) {
		return false
	}
	yes, _ := e.r.where.canMatch(func(d string) ([]string, bool) {
		switch d {
		case "platform":
			return []string{g.Platform}, true
		case "connection_id":
			return []string{string(c.ID)}, true
		case "account_id":
			return []string{g.Account}, true
		}
		return nil, false
	})
	return yes
}
