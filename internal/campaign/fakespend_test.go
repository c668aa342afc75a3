package campaign_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"fanfare/internal/campaign"
	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/ident"
	"fanfare/internal/money"
)

// fakeSpend has the spend of campaigns. The workspace uses US dollars and UTC.
type fakeSpend struct {
	mu   sync.Mutex
	now  func() time.Time
	rows map[ident.ID][]daySpend
	// dollarsPerUnit has the value of one unit of each currency.
	dollarsPerUnit map[money.Currency]int64
	// queries has the number of campaigns of each query, -1 for all.
	queries []int
	// age is the age of the facts.
	age time.Duration
	// lost are the connections that have lost facts.
	lost []fact.LostSource
	// duringQuery, if set, is called once during a query.
	duringQuery func()
}

// daySpend is the spend of a day, in whole units.
type daySpend struct {
	day      string
	amount   int64
	currency money.Currency
}

func newFakeSpend(c *fixture) *fakeSpend {
	return &fakeSpend{now: c.Clock.Now, rows: map[ident.ID][]daySpend{}, dollarsPerUnit: map[money.Currency]int64{"USD": 1, "EUR": 2, "KRW": 2}}
}

func (l *fakeSpend) set(id ident.ID, rows ...daySpend) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if delete(l.rows, id); rows != nil {
		l.rows[id] = rows
	}
}

// takeQueries returns the queries since the last call.
func (l *fakeSpend) takeQueries() []int {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer func() { l.queries = nil }()
	return l.queries
}

// LostSources implements campaign.Spending.
func (l *fakeSpend) LostSources(context.Context, ident.ID) ([]fact.LostSource, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lost, nil
}

// Spend implements campaign.Spending.
func (l *fakeSpend) Spend(_ context.Context, _ ident.ID, ids []ident.ID, currency money.Currency, zone string) (map[ident.ID]fact.CampaignSpend, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if zone == "" {
		zone = "UTC"
	}
	if currency == "" {
		currency = "USD"
	}
	days, err := clock.Zone(zone)
	if err != nil {
		return nil, err
	}
	l.queries = append(l.queries, len(ids))
	if ids == nil {
		l.queries[len(l.queries)-1] = -1
		for id := range l.rows {
			ids = append(ids, id)
		}
	}
	found := map[ident.ID]fact.CampaignSpend{}
	for _, id := range ids {
		if l.rows[id] == nil {
			continue
		}
		s := fact.CampaignSpend{Currency: currency, Known: true, AsOf: clock.At(l.now().Add(-l.age))}
		for _, r := range l.rows[id] {
			worth, is := l.dollarsPerUnit[r.currency], l.dollarsPerUnit[currency]
			if worth == 0 || is == 0 {
				s.Known = false
				continue
			}
			amount := r.amount * 1_000_000 * worth / is
			s.Total += amount
			if r.day == clock.DateIn(l.now(), days).String() {
				s.Today += amount
			}
		}
		found[id] = s
	}
	if l.duringQuery != nil {
		call := l.duringQuery
		l.duringQuery = nil
		l.mu.Unlock()
		call()
		l.mu.Lock()
	}
	return found, nil
}

// Days around the start of the test in UTC.
const (
	yesterday = "2026-11-14"
	today     = "2026-11-15"
	tomorrow  = "2026-11-16"
)

// usd is an amount of dollars on a day.
func usd(day string, amount int64) daySpend { return daySpend{day, amount, "USD"} }

func amount(units int64) money.Amount { return money.Amount{Micros: units * 1_000_000, Digits: 2} }

// budget returns a budget. A dailyCap of 0 means none.
func budget(kind string, units, dailyCap int64, in money.Currency) *campaign.Budget {
	b := &campaign.Budget{Type: kind, Amount: amount(units), Currency: in, Pacing: "even"}
	if dailyCap > 0 {
		most := amount(dailyCap)
		b.DailyCap = &most
	}
	return b
}

// completeSpec returns a spec without delivery issues, apart from the budget.
func completeSpec(b *campaign.Budget) campaign.Spec {
	return campaign.Spec{ConnectionIDs: ids("con_1"), CreativeIDs: ids("crv_1"), AudienceIDs: ids("aud_1"), Budget: b}
}

func (l *refService) updateSpend(t testing.TB) {
	t.Helper()
	if err := l.UpdateSpend(t.Context(), l.cause.Workspace); err != nil {
		t.Fatal(err)
	}
}

// active is a launched campaign.
func (l *refService) active(t *testing.T, spec campaign.Spec) ident.ID {
	t.Helper()
	id := l.create(t, spec)
	l.act(t, id, campaign.Launch)
	return id
}

// spendAndStatus returns the spend, the remaining budget, the status, the
// delivery status and the issues of a record as text.
func spendAndStatus(c *fixture, id ident.ID) string {
	rec := read(c, string(id))
	sum := func(name string) string {
		s, ok := rec[name].(map[string]any)
		if !ok {
			return "none"
		}
		return fmt.Sprint(s["amount"], " ", s["currency"])
	}
	status, issues := deliveryOf(rec)
	codes := []string{}
	for code := range issues {
		codes = append(codes, code)
	}
	slices.Sort(codes)
	return fmt.Sprint(sum("spend_to_date"), ", ", sum("budget_remaining"), " left, ", rec["status"], "/", status, " ", codes)
}
