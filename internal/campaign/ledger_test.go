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
	"fanfare/internal/fanfaretest"
	"fanfare/internal/ident"
	"fanfare/internal/money"
)

// ledger is what campaigns have spent, in the test's hand. The workspace
// counts in US dollars and in UTC.
type ledger struct {
	mu   sync.Mutex
	now  func() time.Time
	rows map[ident.ID][]spending
	// dollars is what a unit of a currency is worth.
	dollars map[money.Currency]int64
	// asked are how many campaigns each question was about, -1 for all.
	asked []int
	// late is how old figures are.
	late time.Duration
	// meanwhile, if set, happens once while a question is answered.
	meanwhile func()
}

// spending is an amount of a day, in whole units.
type spending struct {
	day    string
	amount int64
	in     money.Currency
}

func newLedger(c *fanfaretest.Tenant) *ledger {
	return &ledger{now: c.World.Clock.Now, rows: map[ident.ID][]spending{}, dollars: map[money.Currency]int64{"USD": 1, "EUR": 2, "KRW": 2}}
}

func (l *ledger) set(id ident.ID, rows ...spending) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if delete(l.rows, id); rows != nil {
		l.rows[id] = rows
	}
}

// questions returns what was asked since it was called before.
func (l *ledger) questions() []int {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer func() { l.asked = nil }()
	return l.asked
}

// Spend implements campaign.Spending.
func (l *ledger) Spend(_ context.Context, _ ident.ID, ids []ident.ID, currency money.Currency, zone string) (map[ident.ID]fact.CampaignSpend, error) {
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
	l.asked = append(l.asked, len(ids))
	if ids == nil {
		l.asked[len(l.asked)-1] = -1
		for id := range l.rows {
			ids = append(ids, id)
		}
	}
	found := map[ident.ID]fact.CampaignSpend{}
	for _, id := range ids {
		if l.rows[id] == nil {
			continue
		}
		s := fact.CampaignSpend{Currency: currency, Known: true, AsOf: clock.At(l.now().Add(-l.late))}
		for _, r := range l.rows[id] {
			worth, is := l.dollars[r.in], l.dollars[currency]
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
	if l.meanwhile != nil {
		then := l.meanwhile
		l.meanwhile = nil
		l.mu.Unlock()
		then()
		l.mu.Lock()
	}
	return found, nil
}

// today and yesterday are days of the test's beginning in UTC.
const (
	yesterday = "2026-11-14"
	today     = "2026-11-15"
	tomorrow  = "2026-11-16"
)

// usd is an amount of dollars on a day.
func usd(day string, amount int64) spending { return spending{day, amount, "USD"} }

func amount(units int64) money.Amount { return money.Amount{Micros: units * 1_000_000, Digits: 2} }

// budget makes one; a cap of 0 is none.
func budget(kind string, units, dailyCap int64, in money.Currency) *campaign.Budget {
	b := &campaign.Budget{Type: kind, Amount: amount(units), Currency: in, Pacing: "even"}
	if dailyCap > 0 {
		most := amount(dailyCap)
		b.DailyCap = &most
	}
	return b
}

// whole is a spec that lacks nothing but a budget.
func whole(b *campaign.Budget) campaign.Spec {
	return campaign.Spec{ConnectionIDs: ids("con_1"), CreativeIDs: ids("crv_1"), AudienceIDs: ids("aud_1"), Budget: b}
}

func (l *linked) spent(t testing.TB) {
	t.Helper()
	if err := l.Spent(t.Context(), l.cause.Workspace); err != nil {
		t.Fatal(err)
	}
}

// active is a launched campaign.
func (l *linked) active(t *testing.T, spec campaign.Spec) ident.ID {
	t.Helper()
	id := l.create(t, spec)
	l.act(t, id, campaign.Launch)
	return id
}

// accountOf is what a record says about money: spend, what is left, status,
// delivery and issues.
func accountOf(c *fanfaretest.Tenant, id ident.ID) string {
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
