package numbers

import (
	"slices"
	"strings"

	"fanfare/internal/fact"
)

// KeyColumns make a fact unique within a workspace. They are numbers, 0 for none,
// so that equal keys are found by plain equality.
var KeyColumns = []string{"day", "source", "channel", "campaign", "creative", "audience", "country", "age_range", "gender", "device"}

// FactColumns are the columns of a table of facts. Those that a family does not
// use are 0 in all its rows.
var FactColumns = slices.Concat([]string{"workspace"}, KeyColumns, fact.Measures, []string{"import"})

// SameKey returns the condition that joins two tables of facts on their key.
func SameKey(a, b string) string {
	terms := []string{a + ".workspace = " + b + ".workspace"}
	for _, k := range KeyColumns {
		terms = append(terms, a+"."+k+" = "+b+"."+k)
	}
	return strings.Join(terms, " AND ")
}

// NotEmptiedSince returns the condition that no import has emptied the day of a
// replaced fact r since it was replaced. emptied is the table of windows that
// imports have emptied.
func NotEmptiedSince(emptied string) string {
	return "NOT EXISTS (SELECT 1 FROM " + emptied + ` c WHERE c.workspace = r.workspace AND c.family = r.family AND c.source = r.source
		AND r.day BETWEEN c.first AND c.last AND c.import >= r.above)`
}
