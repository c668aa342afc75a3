package campaign_test

import (
	"testing"

	"fanfare/internal/campaign"
	"fanfare/internal/fact"
)

// TestSpendOfLostFacts loses facts of connections: campaigns that may have spent
// through them keep the last known spend and say so, until the loss has ended.
func TestSpendOfLostFacts(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	l := newRefService(c)
	own := []fact.LostSource{{ID: "con_9", Own: true}}
	for _, tt := range []struct {
		name              string
		budget            *campaign.Budget
		before, after     []daySpend
		lost              []fact.LostSource
		known, then, last string
	}{
		{
			"nothing again", budget("lifetime", 100, 0, "USD"),
			[]daySpend{usd(yesterday, 60)},
			nil, own,
			"60.00 USD, 40.00 USD left, active/delivering []", "60.00 USD, 40.00 USD left, active/delivering [data_lost]", "none, none left, active/delivering []",
		},
		{
			"a part again", budget("lifetime", 100, 0, "USD"),
			[]daySpend{usd(yesterday, 60)},
			[]daySpend{usd(today, 10)},
			own,
			"60.00 USD, 40.00 USD left, active/delivering []", "60.00 USD, 40.00 USD left, active/delivering [data_lost]", "10.00 USD, 90.00 USD left, active/delivering []",
		},
		{
			"more than before", budget("lifetime", 100, 0, "USD"),
			[]daySpend{usd(yesterday, 60)},
			[]daySpend{usd(today, 70)},
			own,
			"60.00 USD, 40.00 USD left, active/delivering []", "70.00 USD, 30.00 USD left, active/delivering [data_lost]", "70.00 USD, 30.00 USD left, active/delivering []",
		},
		{
			"more than the budget", budget("lifetime", 100, 0, "USD"),
			[]daySpend{usd(yesterday, 60)},
			[]daySpend{usd(today, 110)},
			own,
			"60.00 USD, 40.00 USD left, active/delivering []", "110.00 USD, 0.00 USD left, completed/ended [data_lost]", "110.00 USD, 0.00 USD left, completed/ended []",
		},
		{
			"spent before", budget("lifetime", 100, 0, "USD"),
			[]daySpend{usd(yesterday, 100)},
			nil, own,
			"100.00 USD, 0.00 USD left, completed/ended []", "100.00 USD, 0.00 USD left, completed/ended [data_lost]", "none, none left, completed/ended []",
		},
		{
			"a daily budget", budget("daily", 100, 0, "USD"),
			[]daySpend{usd(today, 100)},
			nil, own,
			"100.00 USD, 0.00 USD left, active/limited [daily_cap_reached]", "100.00 USD, none left, active/delivering [data_lost]", "none, none left, active/delivering []",
		},
		{
			"more stored again, none of today", budget("daily", 50, 0, "USD"),
			[]daySpend{usd(yesterday, 20), usd(today, 10)},
			[]daySpend{usd(yesterday, 40)},
			own,
			"30.00 USD, 40.00 USD left, active/delivering []", "40.00 USD, none left, active/delivering [data_lost]", "40.00 USD, 50.00 USD left, active/delivering []",
		},
		{
			"no rate before", budget("lifetime", 100, 0, "USD"),
			[]daySpend{{yesterday, 50, "JPY"}},
			nil, own,
			"none, none left, active/limited [currency_mismatch]", "none, none left, active/delivering [data_lost]", "none, none left, active/delivering []",
		},
		{
			"no spend before", budget("lifetime", 100, 0, "USD"), nil, nil, own,
			"none, none left, active/delivering []", "none, none left, active/delivering []", "none, none left, active/delivering []",
		},
		{
			"its platform", budget("lifetime", 100, 0, "USD"),
			[]daySpend{usd(yesterday, 60)},
			nil,
			[]fact.LostSource{{ID: "con_1"}},
			"60.00 USD, 40.00 USD left, active/delivering []", "60.00 USD, 40.00 USD left, active/delivering [data_lost]", "none, none left, active/delivering []",
		},
		{
			"another platform", budget("lifetime", 100, 0, "USD"),
			[]daySpend{usd(yesterday, 60)},
			nil,
			[]fact.LostSource{{ID: "con_2"}},
			"60.00 USD, 40.00 USD left, active/delivering []", "none, none left, active/delivering []", "none, none left, active/delivering []",
		},
	} {
		id := l.active(t, completeSpec(tt.budget))
		step := func(name, wanted string) {
			t.Helper()
			l.updateSpend(t)
			want(t, tt.name+": "+name, wanted, spendAndStatus(c, id))
			etag := get(c, string(id)).ETag()
			l.updateSpend(t)
			want(t, tt.name+": "+name+": written again", etag, get(c, string(id)).ETag())
		}
		l.spend.set(id, tt.before...)
		step("before", tt.known)
		l.spend.set(id, tt.after...)
		l.spend.lost = tt.lost
		step("after the loss", tt.then)
		if _, err := l.Settle(t.Context(), c.Workspace, id); err != nil {
			t.Fatal(err)
		}
		want(t, tt.name+": settled", tt.then, spendAndStatus(c, id))
		l.spend.lost = nil
		step("after the loss has ended", tt.last)
		l.spend.set(id)
	}
}
