package metricstest

import (
	"fanfare/internal/analytics"
	"fanfare/internal/fact"
	"fanfare/internal/ident"
)

func (t ruleTest) linkedLater() {
	t.writeRows(fact1(euro, monday, fact.Entity{ExternalID: "7", Name: "Theirs"}, fact.Clicks, 1), fact1(dollar, monday, fact.Entity{ExternalID: "8", Name: "Another"}, fact.Clicks, 10),
		fact1(euro, monday, fact.Entity{}, fact.Clicks, 100))
	nothing := analytics.Value{Null: true}
	t.wants("unlinked", plan(fact.Clicks, by("campaign_id")), known(100, nothing),
		known(1, analytics.Value{Null: true, External: "7", Label: "Theirs"}), known(10, analytics.Value{Null: true, External: "8", Label: "Another"}))
	t.writeRows(fact1(euro, monday+1, fact.Entity{ExternalID: "7", Record: "cmp_1"}, fact.Clicks, 1000))
	t.wants("one linked, not known yet", plan(fact.Clicks, by("campaign_id")), known(100, nothing),
		known(1001, analytics.Value{ID: "cmp_1", Label: "Theirs"}), known(10, analytics.Value{Null: true, External: "8", Label: "Another"}))
	t.mirror(fact.Record{ID: "cmp_1", Kind: fact.KindCampaign, Name: "Ours", Status: "active", Objective: "sales"})
	t.writeRows(fact1(dollar, monday+1, fact.Entity{ExternalID: "8", Record: "cmp_1"}, fact.Clicks, 10_000))
	t.wants("both are one", plan(fact.Clicks, by("campaign_id")), known(100, nothing), known(11_011, analytics.Value{ID: "cmp_1", Label: "Ours"}))
	t.wants("by name", plan(fact.Clicks, by("campaign_name")), known(100, nothing), known(11_011, analytics.Value{ID: "Ours"}))
	t.wants("by status", plan(fact.Clicks, by("campaign_status", "objective")),
		known(100, nothing, nothing), known(11_011, analytics.Value{ID: "active"}, analytics.Value{ID: "sales"}))
	// An entity that names only the record belongs to it.
	t.writeRows(fact1(euro, monday+2, fact.Entity{Record: "cmp_1"}, fact.Clicks, 100_000))
	t.wants("by our id alone", plan(fact.Clicks, by("campaign_id"), where("campaign_id", analytics.Equal, "cmp_1")), known(111_011, analytics.Value{ID: "cmp_1", Label: "Ours"}))
}

func (t ruleTest) linkedByHand() {
	t.writeRows(fact1(euro, monday, fact.Entity{ExternalID: "7", Name: "Theirs"}, fact.Clicks, 1), fact1(euro, monday, fact.Entity{ExternalID: "8", Name: "Another"}, fact.Clicks, 10))
	link := func(external string, record ident.ID) {
		t.write(&fact.Batch{Links: []fact.Link{{Connection: euro.Connection, Kind: fact.KindCampaign, Entity: fact.Entity{ExternalID: external, Record: record}}}})
	}
	link("7", "cmp_1")
	another := known(10, analytics.Value{Null: true, External: "8", Label: "Another"})
	t.wants("linked", plan(fact.Clicks, by("campaign_id")), known(1, analytics.Value{ID: "cmp_1", Label: "Theirs"}), another)
	link("7", "")
	t.wants("not any more", plan(fact.Clicks, by("campaign_id")), known(1, analytics.Value{Null: true, External: "7", Label: "Theirs"}), another)
	link("9", "cmp_2")
	t.writeRows(fact1(euro, monday+1, fact.Entity{ExternalID: "9", Name: "Later"}, fact.Clicks, 100))
	t.wants("linked before there are facts", plan(fact.Clicks, by("campaign_id"), where("campaign_id", analytics.Equal, "cmp_2")), known(100, analytics.Value{ID: "cmp_2", Label: "Later"}))
}
