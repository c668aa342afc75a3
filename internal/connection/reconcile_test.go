package connection_test

import (
	"testing"

	"fanfare/internal/fact"
	"fanfare/internal/ident"
	"fanfare/internal/metrics"
)

// TestReconcile gives facts back what was deleted in them, as a backup has it:
// a link, the facts of a connection that was purged, and those of one that does
// not exist. None of it is there afterwards, and everything else is.
func TestReconcile(t *testing.T) {
	withSyncFixture(t, func(t *testing.T, s *syncFixture) {
		facts := s.connections.Facts.(metrics.Connections)
		write := func(b *fact.Batch) {
			t.Helper()
			b.Workspace = s.Workspace
			s.must(facts.Write(t.Context(), b))
		}
		reconcile := func(erased int) {
			t.Helper()
			n, err := s.connections.Reconcile(t.Context(), facts, s.Workspace)
			s.must(err)
			want(t, "connections without facts", erased, n)
		}
		s.sync(recent)
		one := s.campaign("One")
		external := s.twin("google_ads").ExternalID
		s.link(external, one)
		s.link(external, nil)
		before, _ := s.spendBy("campaign_id")
		write(&fact.Batch{Links: []fact.Link{{Connection: ident.ID(s.id), Kind: fact.KindCampaign, Entity: fact.Entity{ExternalID: external, Record: ident.ID(one)}}}})
		if sums, _ := s.spendBy("campaign_id"); sums[one] == "" {
			t.Fatalf("got figures %v want some of %s", sums, one)
		}
		reconcile(0)
		after, _ := s.spendBy("campaign_id")
		want(t, "figures", before, after)

		row := func(connection string) fact.Row {
			r := fact.Row{Source: &fact.Source{Connection: ident.ID(connection), Platform: "csv", Account: "a", Currency: "USD", Zone: "UTC"}, Date: today, Channel: "social"}
			r.Values.Set(fact.Spend, 5_000_000)
			return r
		}
		write(&fact.Batch{Rows: []fact.Row{row("con_unknown")}})
		reconcile(1)
		after, _ = s.spendBy("campaign_id")
		want(t, "figures without those of an unknown connection", before, after)

		s.disconnect(true).OK()
		write(&fact.Batch{Rows: []fact.Row{row(s.id)}})
		reconcile(1)
		after, _ = s.spendBy("campaign_id")
		want(t, "figures after the purge", map[string]string{}, after)
		lost, _, err := s.connections.Lost(t.Context(), s.Cause(), ident.ID(s.id))
		s.must(err)
		want(t, "lost", false, lost)
	}, "google_ads")
}
