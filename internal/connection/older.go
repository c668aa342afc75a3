package connection

import (
	"context"
	"slices"

	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/record"
)

// olderThanTotals is the code of days of a breakdown that were read before the
// totals: the platform has counted more since. Breakdowns are read once a day.
const olderThanTotals = "older_than_totals"

// ChangedDays are days whose totals are others than before.
type ChangedDays struct {
	First clock.Date `json:"first"`
	Last  clock.Date `json:"last"`
	// Spend is how much more was spent, nil if nobody knows.
	Spend *int64 `json:"spend,omitzero"`
}

// changed returns the days whose totals a part has changed.
//
// Choice: only runs that read no breakdowns say by how much. After others the
// breakdowns are as new as the totals, and history would store years of days.
// Where a part is done again, an earlier attempt may have written the totals
// already, so that all of its days may have changed.
func (e *execution) changed(p *SyncPart, before, after map[clock.Date]fact.Values) (list []ChangedDays) {
	if e.run.Attempt > 1 || p.Attempts > 0 {
		return []ChangedDays{{First: p.First, Last: p.Last}}
	}
	for day := p.First; day <= p.Last; day++ {
		was, is := before[day], after[day]
		if was == is {
			continue
		}
		if n := len(list); !e.brief() && n > 0 && list[n-1].Last == day-1 {
			list[n-1].Last = day
			continue
		}
		c := ChangedDays{First: day, Last: day}
		if spend, known := is.Get(fact.Spend); known && e.brief() {
			had, _ := was.Get(fact.Spend)
			spend -= had
			c.Spend = &spend
		}
		list = append(list, c)
	}
	return list
}

// outdate notes which days of breakdowns are older than the totals that a part
// of a run has read. Parts of an account are read in the order of the plan.
func (a *Account) outdate(run *Run, part int) {
	p := &run.Plan[part]
	base := *a.report(fact.Base)
	for i := range a.Reports {
		r := &a.Reports[i]
		if r.Report == base.Report || r.Since == nil {
			continue
		}
		// What the run has read of the report before has some of the change.
		some := slices.ContainsFunc(run.Plan[:part], func(b SyncPart) bool {
			return b.Account == p.Account && !b.Entities && b.Family.String() == r.Report && b.Status == partDone && b.First <= p.Last && b.Last >= p.First
		})
		for _, c := range p.Changed {
			if c.Last < *r.Since {
				continue
			}
			c.First = max(c.First, *r.Since)
			if some || !base.has(c.First, c.Last) && c.First <= *r.Through {
				c.Spend = nil
			}
			r.older(c)
		}
	}
}

// has reports whether the days were read and have no gap.
func (r *AccountReport) has(first, last clock.Date) bool {
	return r.Since != nil && first >= *r.Since && last <= *r.Through &&
		!slices.ContainsFunc(r.Gaps, func(g Gap) bool { return g.Missing && g.StartDate <= last && g.EndDate >= first })
}

// older adds days of a breakdown that are older than the totals.
func (r *AccountReport) older(c ChangedDays) {
	if slices.ContainsFunc(r.Gaps, func(g Gap) bool { return g.Missing && g.StartDate <= c.First && g.EndDate >= c.Last }) {
		return
	}
	g := Gap{
		StartDate: c.First, EndDate: c.Last, Code: olderThanTotals,
		Message: "The totals were read later than this breakdown, which is read once a day, at night.",
	}
	if c.Spend != nil {
		name, amount := fact.Spend.String(), number(fact.Spend, *c.Spend)
		g.Metric, g.Amount = &name, &amount
	}
	r.Gaps = joined(append(slices.Clone(r.Gaps), g))
}

// outdated notes what a run has changed that was canceled.
func (c *Connection) outdated(run *Run) {
	c.Accounts = slices.Clone(c.Accounts)
	for i := range run.Plan {
		p := &run.Plan[i]
		if a := c.account(p.Account); a != nil && p.Family == fact.Base && !p.Entities && p.Status == partDone {
			a.Reports = slices.Clone(a.Reports)
			a.outdate(run, i)
		}
	}
}

// orphaned notes the days of a part whose totals may have been written although
// the run was canceled before that was stored. A run that goes on elsewhere does
// the part again.
func (e *execution) orphaned(ctx context.Context, p *SyncPart) error {
	if p.Entities || p.Family != fact.Base {
		return nil
	}
	ctx = context.WithoutCancel(ctx)
	run, err := e.s.Runs.Load(ctx, e.run.WorkspaceID, e.run.ID)
	if err != nil || !run.over() {
		return err
	}
	_, err = e.s.change(ctx, system(e.c), e.c.ID, record.Match{}, func(c *Connection, _ *Change) error {
		written := *p
		written.Status, written.Changed = partDone, []ChangedDays{{First: p.First, Last: p.Last}}
		c.outdated(&Run{Plan: []SyncPart{written}})
		return nil
	})
	return err
}
