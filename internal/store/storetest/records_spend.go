package storetest

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"fanfare/internal/campaign"
	"fanfare/internal/fact"
	"fanfare/internal/ident"
	"fanfare/internal/money"
)

// fakeSpending is one campaign that has spent something.
type fakeSpending struct{ id ident.ID }

// Spend implements campaign.Spending.
func (s fakeSpending) Spend(context.Context, ident.ID, []ident.ID, money.Currency, string) (map[ident.ID]fact.CampaignSpend, error) {
	return map[ident.ID]fact.CampaignSpend{s.id: {Total: 1_500_000, Currency: "EUR", Known: true}}, nil
}

// LostSources implements campaign.Spending.
func (s fakeSpending) LostSources(context.Context, ident.ID) ([]fact.LostSource, error) {
	return nil, nil
}

// recordsSpend reads several campaigns at once and lists those with spend.
func recordsSpend(t *testing.T, w *Fixture) {
	other, _, _ := w.AddWorkspace("spender@example.com")
	none, known, unknown, lost, foreign := w.Draft("None"), w.Draft("Known"), w.Draft("Unknown"), w.Draft("Lost"), w.Draft("Foreign")
	sum := &campaign.Sum{Amount: money.Amount{Micros: 1_500_000, Digits: 2}, Currency: "EUR", AsOf: w.Now()}
	known.SpendToDate, foreign.SpendToDate = sum, sum
	unknown.Delivery.Issues = []campaign.Issue{{Code: "currency_mismatch"}}
	lost.Delivery.Issues = []campaign.Issue{{Code: "data_lost"}}
	foreign.WorkspaceID = other
	for _, c := range []*campaign.Campaign{none, known, unknown, lost, foreign} {
		save := w.Save("campaign.created")
		save.Cause.Workspace = c.WorkspaceID
		_, err := w.DB.Campaigns().Save(t.Context(), c, save)
		w.must(err)
	}
	spenders := func(want ...ident.ID) {
		t.Helper()
		got, err := w.DB.Campaigns().WithSpend(t.Context(), w.Workspace)
		w.must(err)
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("spenders: got %v want %v", got, want)
		}
	}
	spenders(known.ID, unknown.ID, lost.ID)
	list, err := w.DB.Campaigns().ByIDs(t.Context(), w.Workspace, []ident.ID{unknown.ID, "cmp_gone", foreign.ID, none.ID, known.ID})
	w.must(err)
	got, want := []string{}, []string{}
	for _, c := range list {
		got = append(got, fmt.Sprint(c.ID, c.Name, c.Stored().Stamp, c.WorkspaceID))
	}
	for _, c := range []*campaign.Campaign{none, known, unknown} {
		want = append(want, fmt.Sprint(c.ID, c.Name, c.Stamp(), w.Workspace))
	}
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("several: got %v want %v", got, want)
	}
	if list, err := w.DB.Campaigns().ByIDs(t.Context(), w.Workspace, nil); err != nil || len(list) != 0 {
		t.Errorf("none: got %v, %v want no campaigns", list, err)
	}
	for _, c := range list {
		c.SpendToDate, c.Delivery.Issues = nil, nil
		if c.ID == none.ID {
			c.SpendToDate = sum
		}
		c.Rev++
		_, err := w.DB.Campaigns().Save(t.Context(), c, w.Save("campaign.delivery_changed"))
		w.must(err)
	}
	spenders(none.ID, lost.ID)
	w.Count(1_500_000, `SELECT spend FROM campaign WHERE workspace_id = $1 AND id = $2`, string(w.Workspace), string(none.ID))
}
