package connection

import (
	"slices"
	"time"

	"fanfare/internal/clock"
	"fanfare/internal/fact"
)

// plan cuts the run into parts: first what accounts have, then their figures,
// the newest days first, so that a dashboard is useful in the first minute.
func (e *execution) plan() {
	plan := []SyncPart{}
	now := clock.At(e.s.now())
	for _, a := range e.c.Accounts {
		if _, _, ok := e.client(a.ExternalID); ok && a.Enabled && (!e.brief() || !e.c.idle(&a, now)) {
			plan = append(plan, SyncPart{Account: a.ExternalID, Entities: true, Status: partPending})
		}
	}
	if !slices.ContainsFunc(e.run.Streams, func(s *Stream) bool { return s.Name == StreamMetrics }) {
		e.run.Plan = plan
		return
	}
	var figures []SyncPart
	for _, p := range plan {
		client, _, _ := e.client(p.Account)
		first, last := e.window(client.About(), e.c.account(p.Account), now)
		for _, level := range client.About().Levels {
			family, its := Families[level]
			_, known := e.c.account(p.Account).report(family).reached()
			if !its || known && family != fact.Base && e.brief() {
				continue
			}
			from, to := e.reportWindow(p.Account, family, first, last, now)
			figures = append(figures, chunks(p.Account, family, from, to, client.About().WindowDays)...)
			figures = append(figures, e.missed(p.Account, family, first, client.About().WindowDays)...)
		}
	}
	slices.SortStableFunc(figures, func(a, b SyncPart) int { return int(b.Last - a.Last) })
	e.run.Plan = slices.Concat(plan, figures)
}

// brief reports whether the run is one of those between the daily ones. Such a
// run reads the totals of the last days and saves calls on everything else: it
// neither lists the accounts nor reads breakdowns nor accounts that are idle.
func (e *execution) brief() bool {
	return e.run.Trigger == TriggerScheduled && e.run.Window.EndDate-e.run.Window.StartDate < clock.Date(e.c.Sync.LookbackDays)
}

// idleDays is the number of days without ads and conversions after which an
// account is read once a day only.
const idleDays = 14

// idle reports whether an account has had no ads and no conversions for a while.
func (c *Connection) idle(a *Account, now clock.Instant) bool {
	r := a.report(fact.Base)
	since := a.today(now) - idleDays
	return r.Since != nil && *r.Since <= since && c.Private.Active[a.ExternalID] <= since
}

// reportWindow returns the days to read of one report. One that was never read
// gets the days of a first sync, and history goes on where it ended.
func (e *execution) reportWindow(account string, f fact.Family, first, last clock.Date, now clock.Instant) (from, to clock.Date) {
	a := e.c.account(account)
	reached, ok := a.report(f).reached()
	switch {
	case !ok && e.run.Trigger == TriggerScheduled:
		first = min(first, a.today(now)-fullDays+1)
	case ok && e.run.Trigger == TriggerBackfill && e.c.Private.Unread == nil:
		last = min(last, reached-1)
	}
	return first, last
}

// maxMissed is the largest number of parts with missed days that a scheduled run
// reads of one report.
const maxMissed = 5

// missed returns parts for days before first that earlier runs could not read, or
// of which the totals were read later than the report, for a scheduled run. Where
// a person has to do something first, the days are tried once a day.
func (e *execution) missed(account string, f fact.Family, first clock.Date, window int) (list []SyncPart) {
	if e.run.Trigger != TriggerScheduled {
		return nil
	}
	r := e.c.account(account).report(f)
	for i := len(r.Gaps) - 1; i >= 0 && len(list) < maxMissed; i-- {
		if g := &r.Gaps[i]; (g.Missing || g.Code == olderThanTotals) && g.StartDate < first && (!e.brief() || g.Remediation == nil) {
			list = append(list, chunks(account, f, g.StartDate, min(g.EndDate, first-1), window)...)
		}
	}
	return list[:min(len(list), maxMissed)]
}

// chunks cuts days into parts, the newest first.
func chunks(account string, family fact.Family, first, last clock.Date, days int) (list []SyncPart) {
	if days <= 0 {
		days = fullDays
	}
	for last >= first {
		from := max(first, last-clock.Date(days)+1)
		list = append(list, SyncPart{Account: account, Family: family, First: from, Last: last, Status: partPending})
		last = from - 1
	}
	return list
}

// window are the days to read of an account: none after its own today, none
// before the platform has any, and for a platform that corrects figures for
// longer than others, as many as it may correct.
func (e *execution) window(about About, a *Account, now clock.Instant) (first, last clock.Date) {
	today := a.today(now)
	first, last = e.run.Window.StartDate, min(e.run.Window.EndDate, today)
	if e.run.Mode == ModeIncremental && e.run.Window.EndDate-first > recentDays && about.DeepDays > 0 && e.deep(now) {
		first = today - clock.Date(about.DeepDays) + 1
	}
	if about.HistoryDays > 0 {
		first = max(first, today-clock.Date(about.HistoryDays)+1)
	}
	return first, last
}

// deep reports whether days far back are due.
func (e *execution) deep(now clock.Instant) bool {
	return e.c.Private.Deep != 0 && e.c.Private.Deep.Add(7*24*time.Hour) <= now
}
