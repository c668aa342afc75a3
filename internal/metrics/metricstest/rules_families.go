package metricstest

import (
	"fanfare/internal/analytics"
	"fanfare/internal/fact"
)

// familiesAreApart: facts by device are in no other family, and the state has the
// days of each family.
func (t ruleTest) familiesAreApart() {
	mobile := fact1(euro, monday, fact.Entity{ExternalID: "c"}, fact.Spend, 5)
	mobile.Family, mobile.Device = fact.Device, "mobile"
	t.writeRows(mobile)
	device := func(p *analytics.Plan) { p.Family = fact.Device }
	none := func(p *analytics.Plan) { p.Measures = nil }
	t.wants("base", plan(fact.Spend))
	t.wants("base without measures", plan(fact.Spend, none))
	t.wants("device", plan(fact.Spend, device), total(5))
	t.wants("device without measures", plan(fact.Spend, device, none), analytics.Group{})
	t.wants("device by tag without measures", plan(fact.Spend, device, none, by("tag")), analytics.Group{Values: []analytics.Value{{Null: true}}})
	want := [fact.NumFamilies]fact.Extent{fact.Device: {Rows: 1, First: monday, Last: monday}}
	if got := state(t.T, t.e, space1).Sources; len(got) != 1 || got[0].Families != want {
		t.Errorf("state: got %+v want %v", got, want)
	}
}
