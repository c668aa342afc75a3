package campaign_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"fanfare/internal/campaign"
	"fanfare/internal/clock"
	"fanfare/internal/ident"
	"fanfare/internal/money"
	"fanfare/internal/record"
)

// expectedMoneyText computes spend, remaining budget and budget issues from the
// spec, the status and the fake spend.
func expectedMoneyText(l *refService, c *campaign.Campaign, now time.Time) string {
	currency, spent, today, known := money.Currency("USD"), int64(0), int64(0), true
	if c.Budget != nil {
		currency = c.Budget.Currency
	}
	zone, err := clock.Zone(c.Schedule.Timezone)
	if err != nil {
		panic(err)
	}
	for _, r := range l.spend.rows[c.ID] {
		worth, is := l.spend.dollarsPerUnit[r.currency], l.spend.dollarsPerUnit[currency]
		if known = known && worth > 0 && is > 0; !known {
			break
		}
		micros := r.amount * 1_000_000 * worth / is
		spent += micros
		if r.day == now.In(zone).Format(time.DateOnly) {
			today += micros
		}
	}
	issues := []string{}
	issue := func(code string, is bool) {
		if is && c.Status != "completed" && c.Status != "archived" {
			issues = append(issues, code)
		}
	}
	switch facts := l.spend.rows[c.ID]; {
	case facts == nil:
		return fmt.Sprint("none, none ", issues)
	case !known:
		issue("currency_mismatch", true)
		return fmt.Sprint("none, none ", issues)
	case c.Budget == nil:
		return fmt.Sprint(spent, currency, ", none ", issues)
	}
	b, used := c.Budget, spent
	if b.Type == "daily" {
		used = today
	}
	issue("budget_exhausted", b.Type == "lifetime" && spent >= b.Amount.Micros)
	issue("daily_cap_reached", b.Type == "daily" && today >= b.Amount.Micros || b.DailyCap != nil && today >= b.DailyCap.Micros)
	return fmt.Sprint(spent, currency, ", ", min(max(b.Amount.Micros-used, 0), b.Amount.Micros), currency, " ", issues)
}

// moneyText returns the same values of the record.
func moneyText(c *campaign.Campaign) string {
	sum := func(s *campaign.Sum) string {
		if s == nil {
			return "none"
		}
		return fmt.Sprint(s.Amount.Micros, s.Currency)
	}
	issues := []string{}
	for _, i := range c.Delivery.Issues {
		if slices.Contains([]string{"budget_exhausted", "daily_cap_reached", "currency_mismatch"}, i.Code) {
			issues = append(issues, i.Code)
		}
	}
	return fmt.Sprint(sum(c.SpendToDate), ", ", sum(c.BudgetRemaining), " ", issues)
}

// TestSpendProperties changes facts, budgets, zones, statuses and the time in
// any order. After each change, UpdateSpend corrects the record, a second call
// writes nothing, and no settle is scheduled in the past.
func TestSpendProperties(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	l := newRefService(c)
	rapid.Check(t, func(rt *rapid.T) {
		id := l.create(t, completeSpec(nil))
		record := func() (*campaign.Campaign, string) {
			d, err := l.Get(t.Context(), c.Workspace, id)
			if err != nil {
				rt.Fatal(err)
			}
			got, err := decode(d)
			if err != nil {
				rt.Fatal(err)
			}
			return &got, d.ETag()
		}
		rt.Repeat(map[string]func(*rapid.T){
			"facts":  func(rt *rapid.T) { l.spend.set(id, randomFacts(rt, c.Clock.Now())...) },
			"budget": func(rt *rapid.T) { _ = l.revise(t, id, func(s *campaign.Spec) { s.Budget = randomBudget(rt) }) },
			"zone": func(rt *rapid.T) {
				zone := rapid.SampledFrom([]string{"UTC", "Asia/Tokyo", "America/New_York"}).Draw(rt, "zone")
				_ = l.revise(t, id, func(s *campaign.Spec) { s.Schedule.Timezone = zone })
			},
			"time": func(rt *rapid.T) {
				c.Clock.Advance(time.Duration(rapid.IntRange(1, 30).Draw(rt, "hours")) * time.Hour)
			},
			"status": func(rt *rapid.T) {
				l.tryAction(t, id, rapid.SampledFrom([]string{"launch", "pause", "resume", "archive", "restore"}).Draw(rt, "action"))
			},
			"settle": func(rt *rapid.T) {
				if _, err := l.Settle(t.Context(), c.Workspace, id); err != nil {
					rt.Fatal(err)
				}
			},
			"": func(rt *rapid.T) {
				l.updateSpend(t)
				got, tag := record()
				if is, want := moneyText(got), expectedMoneyText(l, got, c.Clock.Now()); is != want {
					rt.Fatalf("got %s want %s of %+v", is, want, got.Budget)
				}
				if got.Status != "draft" && slices.ContainsFunc(got.Delivery.Issues, func(i campaign.Issue) bool { return i.Code == "budget_exhausted" }) {
					rt.Fatalf("got a campaign that is %s and has spent its budget", got.Status)
				}
				l.updateSpend(t)
				next, err := l.Settle(t.Context(), c.Workspace, id)
				if err != nil || next != nil && *next <= clock.At(c.Clock.Now()) {
					rt.Fatalf("got next moment %v, %v, at %s", next, err, clock.At(c.Clock.Now()))
				}
				if _, again := record(); again != tag {
					rt.Fatalf("got %s after a second look want %s", again, tag)
				}
			},
		})
		l.spend.set(id)
	})
}

func randomFacts(rt *rapid.T, now time.Time) []daySpend {
	var rows []daySpend
	for range rapid.IntRange(0, 3).Draw(rt, "facts") {
		day := now.AddDate(0, 0, rapid.IntRange(-1, 1).Draw(rt, "day")).Format(time.DateOnly)
		in := rapid.SampledFrom([]money.Currency{"USD", "USD", "USD", "EUR", "JPY"}).Draw(rt, "currency")
		rows = append(rows, daySpend{day, rapid.Int64Range(-2, 20).Draw(rt, "amount"), in})
	}
	return rows
}

func randomBudget(rt *rapid.T) *campaign.Budget {
	kind := rapid.SampledFrom([]string{"", "daily", "lifetime", "lifetime"}).Draw(rt, "type")
	if kind == "" {
		return nil
	}
	units := rapid.Int64Range(1, 30).Draw(rt, "units")
	return budget(kind, units, rapid.Int64Range(0, units).Draw(rt, "cap"), rapid.SampledFrom([]money.Currency{"USD", "EUR", "CHF"}).Draw(rt, "in"))
}

// tryAction applies an action that the status may not allow.
func (l *refService) tryAction(t *testing.T, id ident.ID, action string) {
	t.Helper()
	switch action {
	case "archive":
		_, _ = l.Archive(t.Context(), l.cause, id, record.Match{})
	case "restore":
		_, _ = l.Restore(t.Context(), l.cause, id, record.Match{})
	default:
		_, _ = l.Transition(t.Context(), l.cause, id, record.Match{}, campaign.Action(action))
	}
}
