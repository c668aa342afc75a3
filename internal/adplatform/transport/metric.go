package transport

import (
	"fanfare/internal/fact"
	"fanfare/internal/money"
)

// ParseMetric parses a decimal of a platform in the unit of its measure,
// without floats.
func ParseMetric(text string, m fact.Measure) (int64, bool) {
	a, reason := money.Parse(text, 0)
	n := a.Micros
	if !m.Scaled() {
		if n%1_000_000 != 0 {
			return 0, false
		}
		n /= 1_000_000
	}
	return n, reason == "" && n <= fact.MaxValue && n >= -fact.MaxValue
}
