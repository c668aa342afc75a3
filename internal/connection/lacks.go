package connection

import (
	"fmt"
	"slices"
	"time"

	"fanfare/internal/clock"
	"fanfare/internal/fact"
)

// Lacks returns the days of a report whose numbers are missing or not all there:
// the gaps of the report, what the totals say that no report has, and days that
// syncs should have read by now.
func (c *Connection) Lacks(a *Account, f fact.Family, now clock.Instant) (list []Gap) {
	base, r := a.find(fact.Base), a.find(f)
	if r != nil {
		list = slices.Clone(r.Gaps)
	}
	if base != nil && f != fact.Base {
		for _, g := range base.Gaps {
			if g.Code == string(NoteExcluded) {
				list = append(list, g)
			}
		}
	}
	if c.Sync.IntervalMinutes == nil || c.Status == StatusDisconnected || !a.Enabled && c.switchedOff(a.ExternalID) == nil {
		return list
	}
	why, today := c.overdue(now), a.today(now)
	first := today - fullDays + 1
	switch {
	case base == nil || base.Since == nil && len(base.Gaps) == 0:
		if why == "" {
			why = "The account was not read yet."
		}
	case why == "" || r == nil:
		return list
	case r.Through != nil:
		// The last day was not over when it was read.
		first = *r.Through
	}
	return append(list, Gap{StartDate: first, EndDate: max(first, today), Message: why})
}

// find returns the account's report of a family, nil if there is none.
func (a *Account) find(f fact.Family) *AccountReport {
	for i := range a.Reports {
		if a.Reports[i].Report == f.String() {
			return &a.Reports[i]
		}
	}
	return nil
}

// overdue says why the connection is not synced although it should be, empty if
// it is.
func (c *Connection) overdue(now clock.Instant) string {
	last := "never"
	if at := c.Sync.LastSuccessAt; at != nil {
		last = "last on " + at.Time().UTC().Format(time.DateTime) + " UTC"
	}
	switch at := c.Sync.LastSuccessAt; {
	case c.Status == StatusReauthRequired:
		return fmt.Sprintf("The platform does not accept the stored access any more, so the account is not read. It was read %s.", last)
	case c.Status == StatusError, at != nil && at.Add(c.StaleAfter()) < now:
		return fmt.Sprintf("The account was not read for longer than its schedule allows, %s.", last)
	}
	return ""
}

// Measures returns the measures that a gap is about, nil for all.
func (g *Gap) Measures() []fact.Measure {
	if g.Code == conversionsChanged {
		return []fact.Measure{fact.Conversions, fact.Revenue}
	}
	return nil
}
