package campaign

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"fanfare/internal/clock"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/money"
)

// Types of budgets.
const (
	daily    = "daily"
	lifetime = "lifetime"
)

// Spends reports whether the record tells of spend, be it only that its sum is
// not known.
func (c *Campaign) Spends() bool {
	return c.SpendToDate != nil || slices.ContainsFunc(c.Delivery.Issues, func(i Issue) bool { return i.Code == "currency_mismatch" })
}

// recall takes from the issues of a record just loaded what they remember.
func (c *Campaign) recall() {
	for _, issue := range c.Delivery.Issues {
		c.capped = c.capped || issue.Code == "daily_cap_reached"
		c.unpriced = c.unpriced || issue.Code == "currency_mismatch"
	}
}

// question is what to ask the facts to know what a campaign has spent.
type question struct {
	currency money.Currency
	// zone is empty where no day counts by itself.
	zone string
}

func (c *Campaign) question() (q question) {
	if c.Budget != nil {
		q.currency = c.Budget.Currency
		if _, limited := c.Budget.perDay(); limited {
			q.zone = c.Schedule.Timezone
		}
	}
	return q
}

// perDay is the most that may be spent in a day, if there is a limit.
func (b *Budget) perDay() (micros int64, limited bool) {
	switch {
	case b.DailyCap != nil:
		return b.DailyCap.Micros, true
	case b.Type == daily:
		return b.Amount.Micros, true
	}
	return 0, false
}

// note takes over what the facts say, nil where there are none. Sums that are
// as they were stay as they are, with the moment since when they are.
func (c *Campaign) note(s *Spend, now clock.Instant) {
	spent, left := c.SpendToDate, c.BudgetRemaining
	c.SpendToDate, c.BudgetRemaining, c.capped, c.unpriced = nil, nil, false, false
	if s == nil {
		return
	}
	if !s.Known {
		c.unpriced = true
		return
	}
	c.SpendToDate = s.sum(s.Total)
	if b := c.Budget; b != nil {
		used := s.Total
		if limit, limited := b.perDay(); limited {
			today := s.Today
			// Facts that end before today know nothing of it.
			if c.day(s.AsOf) != c.day(now) {
				today = 0
			}
			c.capped = today >= limit
			if b.Type == daily {
				used = today
			}
		}
		// Choice: what is left is never below nothing, although platforms may
		// overspend, and never above the budget, although they may pay back.
		c.BudgetRemaining = s.sum(min(max(b.Amount.Micros-used, 0), b.Amount.Micros))
	}
	same := spent.equals(c.SpendToDate) && left.equals(c.BudgetRemaining)
	if same && (!c.perishable() || c.day(spent.AsOf) == c.day(s.AsOf)) {
		c.SpendToDate, c.BudgetRemaining = spent, left
	}
}

// sum is an amount of what was spent, as far as an amount can be written.
func (s *Spend) sum(micros int64) *Sum {
	const most = money.MaxUnits*1_000_000 + 999_999
	digits, _ := s.Currency.Digits()
	return &Sum{Amount: money.Amount{Micros: min(max(micros, -most), most), Digits: int8(digits)}, Currency: s.Currency, AsOf: s.AsOf}
}

// equals compares amounts, whenever they were true.
func (s *Sum) equals(other *Sum) bool {
	if s == nil || other == nil {
		return s == other
	}
	return s.Amount.Micros == other.Amount.Micros && s.Currency == other.Currency
}

// sameSums reports whether the sums are those of before, which note leaves in
// place where they are.
func (c *Campaign) sameSums(before *Campaign) bool {
	return c.SpendToDate == before.SpendToDate && c.BudgetRemaining == before.BudgetRemaining
}

// exhausted reports whether a lifetime budget is spent.
func (c *Campaign) exhausted() bool {
	b, s := c.Budget, c.SpendToDate
	return b != nil && b.Type == lifetime && s != nil && s.Amount.Micros >= b.Amount.Micros
}

// affordable refuses a new lifetime budget of less than is spent already.
func (c *Campaign) affordable(was *Budget) error {
	b, s := c.Budget, c.SpendToDate
	if !c.exhausted() || s.Amount.Micros == b.Amount.Micros ||
		was != nil && was.Type == b.Type && was.Currency == b.Currency && was.Amount.Micros == b.Amount.Micros {
		return nil
	}
	// The least that can be written in the currency's own decimals.
	digits, _ := b.Currency.Digits()
	step := int64(math.Pow10(6 - digits))
	least := money.Amount{Micros: (s.Amount.Micros + step - 1) / step * step, Digits: int8(digits)}
	return fault.Invalid([]fault.Detail{{
		Field: "budget.amount", Code: "too_small",
		Message: fmt.Sprintf("budget.amount must be at least %s, which is spent already.", least),
		Meta:    fault.Meta{"minimum": least.String()},
	}})
}

// perishable reports whether the record says something that holds for a day
// only.
func (c *Campaign) perishable() bool {
	b, left := c.Budget, c.BudgetRemaining
	if b == nil || left == nil {
		return false
	}
	return c.capped && c.open() || b.Type == daily && left.Amount.Micros < b.Amount.Micros
}

// midnight is when the day ends that the record speaks of, nil where it speaks
// of none.
func (c *Campaign) midnight() *clock.Instant {
	if !c.perishable() {
		return nil
	}
	_, end, _ := clock.ParseDay(c.day(c.SpendToDate.AsOf).String(), c.zone())
	at := clock.At(end)
	return &at
}

func (c *Campaign) day(at clock.Instant) clock.Date { return clock.DateIn(at.Time(), c.zone()) }

// zone is that of the campaign's days. It was checked when it was written; a
// machine that has lost it still has days.
func (c *Campaign) zone() *time.Location {
	zone, err := clock.Zone(c.Schedule.Timezone)
	if err != nil {
		return time.UTC
	}
	return zone
}

// ask brings in what a campaign has spent by now. It costs a question to the
// facts, so it is for changes that depend on the answer; otherwise Spent tells
// campaigns.
func (s *Service) ask(ctx context.Context, c *Campaign, now clock.Instant) error {
	var found map[ident.ID]Spend
	if s.spending != nil {
		var err error
		q := c.question()
		found, err = s.spending.Spend(ctx, c.WorkspaceID, []ident.ID{c.ID}, q.currency, q.zone)
		if fault.Is(err, fault.Unavailable) {
			// A campaign can be changed without metrics. What it says of spend
			// stays, with its moment; what held for a day that is over goes.
			if midnight := c.midnight(); midnight != nil && *midnight <= now {
				c.note(nil, now)
			}
			return nil
		}
		if err != nil {
			return fmt.Errorf("look up what %s has spent: %w", c.ID, err)
		}
	}
	c.note(of(found, c.ID), now)
	return nil
}

func of(found map[ident.ID]Spend, id ident.ID) *Spend {
	if s, there := found[id]; there {
		return &s
	}
	return nil
}

// Spent brings all campaigns of a workspace up to date after its facts have
// changed. Only what has changed is written. Calling it at any time and any
// number of times is right.
func (s *Service) Spent(ctx context.Context, workspace ident.ID) error {
	if s.spending == nil {
		return nil
	}
	known, err := s.spending.Spend(ctx, workspace, nil, "", "")
	if err != nil {
		return fmt.Errorf("look up what campaigns have spent: %w", err)
	}
	// Facts may have gone, so those count too that only had some.
	ids, err := s.store.Spenders(ctx, workspace)
	if err != nil {
		return err
	}
	ids = slices.AppendSeq(ids, maps.Keys(known))
	slices.Sort(ids)
	for batch := range slices.Chunk(slices.Compact(ids), followed) {
		list, err := s.store.Several(ctx, workspace, batch)
		if err != nil {
			return err
		}
		if err := s.convert(ctx, workspace, known, list); err != nil {
			return err
		}
		for _, c := range list {
			if err := s.tell(ctx, c, of(known, c.ID)); err != nil {
				return err
			}
		}
	}
	return nil
}

// convert asks again for campaigns that count in another currency than the
// workspace's, or by days.
func (s *Service) convert(ctx context.Context, workspace ident.ID, known map[ident.ID]Spend, list []*Campaign) error {
	asked := map[question][]ident.ID{}
	for _, c := range list {
		told, there := known[c.ID]
		if q := c.question(); there && q != (question{}) && q != (question{currency: told.Currency}) {
			asked[q] = append(asked[q], c.ID)
		}
	}
	for q, ids := range asked {
		found, err := s.spending.Spend(ctx, workspace, ids, q.currency, q.zone)
		if err != nil {
			return fmt.Errorf("look up what campaigns have spent in %s: %w", q.currency, err)
		}
		for _, id := range ids {
			delete(known, id)
		}
		maps.Copy(known, found)
	}
	return nil
}

// tell writes what a campaign has spent, if that is news.
func (s *Service) tell(ctx context.Context, c *Campaign, spend *Spend) error {
	asked := c.question()
	if !c.news(spend, clock.At(s.now())) {
		return nil
	}
	_, err := s.settle(ctx, c.WorkspaceID, c.ID, func(c *Campaign, now clock.Instant) error {
		if c.question() != asked {
			return s.ask(ctx, c, now)
		}
		c.note(spend, now)
		return nil
	})
	return err
}

// news notes what was spent and reports whether that changes anything.
func (c *Campaign) news(spend *Spend, now clock.Instant) bool {
	c.recall()
	before := *c
	c.note(spend, now)
	if !c.sameSums(&before) || c.running() && c.exhausted() {
		return true
	}
	return c.open() && (c.capped != before.capped || c.unpriced != before.unpriced)
}
