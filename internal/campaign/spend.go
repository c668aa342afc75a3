package campaign

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/money"
)

// Budget types.
const (
	daily    = "daily"
	lifetime = "lifetime"
)

// HasSpend reports whether the record shows spend, including spend whose total
// is unknown because an exchange rate is missing or facts were lost.
func (c *Campaign) HasSpend() bool {
	return c.SpendToDate != nil || slices.ContainsFunc(c.Delivery.Issues, func(i Issue) bool { return i.Code == "currency_mismatch" || i.Code == dataLost })
}

// restoreFlags restores dailyCapReached, rateMissing and lostBy from the stored
// delivery issues.
func (c *Campaign) restoreFlags() {
	c.lostBy = nil
	for _, issue := range c.Delivery.Issues {
		if issue.Code == dataLost && issue.ResourceID != nil {
			c.lostBy = append(c.lostBy, *issue.ResourceID)
		}
		c.dailyCapReached = c.dailyCapReached || issue.Code == "daily_cap_reached"
		c.rateMissing = c.rateMissing || issue.Code == "currency_mismatch"
	}
}

// dataLost is the code of the issue that facts of a connection were lost.
const dataLost = "data_lost"

// setLostBy selects the lost facts that may include spend of the campaign:
// those of its connections, and all own data if the campaign has spend. s is
// nil without facts.
//
// Choice: own data names campaigns in its rows, which are lost. So every
// campaign with spend counts, because a total that is too low looks right.
func (c *Campaign) setLostBy(sources []fact.LostSource, s *fact.CampaignSpend) {
	c.lostBy = nil
	if s == nil && !c.HasSpend() {
		return
	}
	for _, l := range sources {
		if l.Own || slices.Contains(c.Connections(), l.ID) {
			c.lostBy = append(c.lostBy, l.ID)
		}
	}
}

// keepsSpend reports whether the campaign keeps the spend that it shows,
// because facts were lost and the stored ones add up to less.
//
// Choice: the last known total protects the budget. A lower total would let the
// campaign spend a part of the budget again.
func (c *Campaign) keepsSpend(spent *Sum, s *fact.CampaignSpend) bool {
	if len(c.lostBy) == 0 || spent == nil || c.Budget != nil && c.Budget.Currency != spent.Currency {
		return false
	}
	return s == nil || s.Known && s.Currency == spent.Currency && s.Total < spent.Amount.Micros
}

// keepSpend sets the spend that the campaign showed before. The remaining
// budget of the day is unknown.
func (c *Campaign) keepSpend(spent, left *Sum) {
	c.SpendToDate = spent
	if b := c.Budget; b != nil && b.Type == lifetime {
		rest := *spent
		rest.Amount.Micros = min(max(b.Amount.Micros-spent.Amount.Micros, 0), b.Amount.Micros)
		if c.BudgetRemaining = &rest; left.equals(&rest) {
			c.BudgetRemaining = left
		}
	}
}

// spendQuery has the parameters of a spend query.
type spendQuery struct {
	currency money.Currency
	// zone is empty if the budget has no daily limit.
	zone string
}

func (c *Campaign) spendQuery() (q spendQuery) {
	if c.Budget != nil {
		q.currency = c.Budget.Currency
		if _, limited := c.Budget.perDay(); limited {
			q.zone = c.Schedule.Timezone
		}
	}
	return q
}

// perDay returns the daily spend limit, if the budget has one.
func (b *Budget) perDay() (micros int64, limited bool) {
	switch {
	case b.DailyCap != nil:
		return b.DailyCap.Micros, true
	case b.Type == daily:
		return b.Amount.Micros, true
	}
	return 0, false
}

// applySpend applies the spend from the facts; s is nil without facts. Sums
// that did not change keep their as_of. Call setLostBy before.
func (c *Campaign) applySpend(s *fact.CampaignSpend, now clock.Instant) {
	spent, left := c.SpendToDate, c.BudgetRemaining
	c.SpendToDate, c.BudgetRemaining, c.dailyCapReached, c.rateMissing = nil, nil, false, false
	if c.keepsSpend(spent, s) {
		c.keepSpend(spent, left)
		return
	}
	if s == nil {
		return
	}
	if !s.Known {
		c.rateMissing = true
		return
	}
	c.SpendToDate = newSum(s, s.Total)
	if b := c.Budget; b != nil {
		used := s.Total
		if limit, limited := b.perDay(); limited {
			today := s.Today
			// Facts that end before today include no spend of today.
			if c.day(s.AsOf) != c.day(now) {
				today = 0
			}
			c.dailyCapReached = today >= limit
			if b.Type == daily {
				used = today
			}
		}
		// Choice: the remaining budget is never negative, although platforms
		// may overspend, and never above the budget, although they may refund.
		c.BudgetRemaining = newSum(s, min(max(b.Amount.Micros-used, 0), b.Amount.Micros))
		if b.Type == daily && len(c.lostBy) > 0 {
			c.BudgetRemaining = nil // spend of today may be among the lost facts
		}
	}
	same := spent.equals(c.SpendToDate) && left.equals(c.BudgetRemaining)
	if same && (!c.dependsOnToday() || c.day(spent.AsOf) == c.day(s.AsOf)) {
		c.SpendToDate, c.BudgetRemaining = spent, left
	}
}

// newSum returns micros as a Sum, cut to the largest amount that can be
// encoded.
func newSum(s *fact.CampaignSpend, micros int64) *Sum {
	const maxMicros = money.MaxUnits*1_000_000 + 999_999
	digits, _ := s.Currency.Digits()
	return &Sum{Amount: money.Amount{Micros: min(max(micros, -maxMicros), maxMicros), Digits: int8(digits)}, Currency: s.Currency, AsOf: s.AsOf}
}

// equals compares amount and currency and ignores as_of.
func (s *Sum) equals(other *Sum) bool {
	if s == nil || other == nil {
		return s == other
	}
	return s.Amount.Micros == other.Amount.Micros && s.Currency == other.Currency
}

// sameSpend reports whether applySpend kept the sums of before. It compares pointers.
func (c *Campaign) sameSpend(before *Campaign) bool {
	return c.SpendToDate == before.SpendToDate && c.BudgetRemaining == before.BudgetRemaining
}

// budgetExhausted reports whether the lifetime budget is spent.
func (c *Campaign) budgetExhausted() bool {
	b, s := c.Budget, c.SpendToDate
	return b != nil && b.Type == lifetime && s != nil && s.Amount.Micros >= b.Amount.Micros
}

// checkBudgetCoversSpend rejects a new lifetime budget that is below the spend
// to date.
func (c *Campaign) checkBudgetCoversSpend(was *Budget) error {
	b, s := c.Budget, c.SpendToDate
	if !c.budgetExhausted() || s.Amount.Micros == b.Amount.Micros ||
		was != nil && was.Type == b.Type && was.Currency == b.Currency && was.Amount.Micros == b.Amount.Micros {
		return nil
	}
	// Round up to the currency's decimals.
	digits, _ := b.Currency.Digits()
	step := int64(math.Pow10(6 - digits))
	least := money.Amount{Micros: (s.Amount.Micros + step - 1) / step * step, Digits: int8(digits)}
	return fault.Invalid([]fault.Detail{{
		Field: "budget.amount", Code: "too_small",
		Message: fmt.Sprintf("budget.amount must be at least %s, which is spent already.", least),
		Meta:    fault.Meta{"minimum": least.String()},
	}})
}

// dependsOnToday reports whether the record has values that are valid for one
// day only.
func (c *Campaign) dependsOnToday() bool {
	b, left := c.Budget, c.BudgetRemaining
	if b == nil || left == nil {
		return false
	}
	return c.dailyCapReached && c.canDeliver() || b.Type == daily && left.Amount.Micros < b.Amount.Micros
}

// midnight returns the end of the day that the record's spend refers to, or nil
// if no value depends on the day.
func (c *Campaign) midnight() *clock.Instant {
	if !c.dependsOnToday() {
		return nil
	}
	_, end, _ := clock.ParseDay(c.day(c.SpendToDate.AsOf).String(), c.zone())
	at := clock.At(end)
	return &at
}

func (c *Campaign) day(at clock.Instant) clock.Date { return clock.DateIn(at.Time(), c.zone()) }

// zone returns the campaign's time zone. The zone was valid when it was
// written; UTC applies if the machine no longer knows it.
func (c *Campaign) zone() *time.Location {
	zone, err := clock.Zone(c.Schedule.Timezone)
	if err != nil {
		return time.UTC
	}
	return zone
}

// refreshSpend queries the facts for the campaign's spend and applies the
// result. Use it only for changes that depend on current spend; UpdateSpend
// updates campaigns otherwise.
func (s *Service) refreshSpend(ctx context.Context, c *Campaign, now clock.Instant) error {
	var found map[ident.ID]fact.CampaignSpend
	if s.spending != nil {
		lost, err := s.spending.LostSources(ctx, c.WorkspaceID)
		if err != nil {
			return fmt.Errorf("look up lost facts: %w", err)
		}
		q := c.spendQuery()
		found, err = s.spending.Spend(ctx, c.WorkspaceID, []ident.ID{c.ID}, q.currency, q.zone)
		if fault.Is(err, fault.Unavailable) {
			// A campaign can change while metrics are unavailable. It keeps its
			// spend and as_of, but drops values of a day that is over.
			if midnight := c.midnight(); midnight != nil && *midnight <= now {
				c.applySpend(nil, now)
			}
			return nil
		}
		if err != nil {
			return fmt.Errorf("look up the spend of %s: %w", c.ID, err)
		}
		c.setLostBy(lost, spendOf(found, c.ID))
	}
	c.applySpend(spendOf(found, c.ID), now)
	return nil
}

func spendOf(found map[ident.ID]fact.CampaignSpend, id ident.ID) *fact.CampaignSpend {
	if s, there := found[id]; there {
		return &s
	}
	return nil
}

// UpdateSpend updates all campaigns of a workspace after its facts changed. It
// writes only campaigns that changed. Repeated calls are safe.
func (s *Service) UpdateSpend(ctx context.Context, workspace ident.ID) error {
	if s.spending == nil {
		return nil
	}
	known, err := s.spending.Spend(ctx, workspace, nil, "", "")
	if err != nil {
		return fmt.Errorf("look up the spend of campaigns: %w", err)
	}
	lost, err := s.spending.LostSources(ctx, workspace)
	if err != nil {
		return fmt.Errorf("look up lost facts: %w", err)
	}
	// Campaigns whose facts were deleted need an update too.
	ids, err := s.store.WithSpend(ctx, workspace)
	if err != nil {
		return err
	}
	ids = slices.AppendSeq(ids, maps.Keys(known))
	slices.Sort(ids)
	for batch := range slices.Chunk(slices.Compact(ids), batchSize) {
		list, err := s.store.ByIDs(ctx, workspace, batch)
		if err != nil {
			return err
		}
		if err := s.convert(ctx, workspace, known, list); err != nil {
			return err
		}
		for _, c := range list {
			if err := s.storeSpend(ctx, c, spendOf(known, c.ID), lost); err != nil {
				return err
			}
		}
	}
	return nil
}

// convert repeats the query for campaigns with another currency than the
// workspace's, or with a daily limit.
func (s *Service) convert(ctx context.Context, workspace ident.ID, known map[ident.ID]fact.CampaignSpend, list []*Campaign) error {
	queries := map[spendQuery][]ident.ID{}
	for _, c := range list {
		spend, there := known[c.ID]
		if q := c.spendQuery(); there && q != (spendQuery{}) && q != (spendQuery{currency: spend.Currency}) {
			queries[q] = append(queries[q], c.ID)
		}
	}
	for q, ids := range queries {
		found, err := s.spending.Spend(ctx, workspace, ids, q.currency, q.zone)
		if err != nil {
			return fmt.Errorf("look up the spend of campaigns in %s: %w", q.currency, err)
		}
		for _, id := range ids {
			delete(known, id)
		}
		maps.Copy(known, found)
	}
	return nil
}

// storeSpend stores the spend of a campaign if it changed.
func (s *Service) storeSpend(ctx context.Context, c *Campaign, spend *fact.CampaignSpend, lost []fact.LostSource) error {
	query := c.spendQuery()
	if !c.spendChanged(spend, lost, clock.At(s.now())) {
		return nil
	}
	_, err := s.settle(ctx, c.WorkspaceID, c.ID, func(c *Campaign, now clock.Instant) error {
		if c.spendQuery() != query {
			return s.refreshSpend(ctx, c, now)
		}
		c.setLostBy(lost, spend)
		c.applySpend(spend, now)
		return nil
	})
	return err
}

// spendChanged applies the spend and reports whether the record must be
// written.
func (c *Campaign) spendChanged(spend *fact.CampaignSpend, lost []fact.LostSource, now clock.Instant) bool {
	c.restoreFlags()
	before := *c
	c.setLostBy(lost, spend)
	c.applySpend(spend, now)
	if !c.sameSpend(&before) || !slices.Equal(c.lostBy, before.lostBy) || c.canComplete() && c.budgetExhausted() {
		return true
	}
	return c.canDeliver() && (c.dailyCapReached != before.dailyCapReached || c.rateMissing != before.rateMissing)
}
