package connection

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"fanfare/internal/clock"
	"fanfare/internal/fact"
)

// AccountReport says which days of one report of an account were read, and what
// their numbers lack.
type AccountReport struct {
	// Report is one of fact.Families.
	Report string `json:"report"`
	// Since and Through are the first and the last day that were read.
	// CompleteThrough is the last day before the first gap. All are nil before
	// the first sync.
	Since           *clock.Date `json:"start_date"`
	Through         *clock.Date `json:"end_date"`
	CompleteThrough *clock.Date `json:"complete_through"`
	// Gaps are in the order of days.
	Gaps []Gap `json:"gaps"`
}

// Gap is a range of days whose numbers are missing, or not all there.
type Gap struct {
	StartDate clock.Date `json:"start_date"`
	EndDate   clock.Date `json:"end_date"`
	// Code is a NoteCode, or the code of the error that kept the days from being
	// read.
	Code    string `json:"code"`
	Message string `json:"message"`
	// Remediation is what a person can do, nil for nothing.
	Remediation *string `json:"remediation"`
	// Metric and Amount are what is at stake on these days, in the currency of
	// the account, nil if nobody knows.
	Metric *string      `json:"metric"`
	Amount *fact.Number `json:"amount"`
	// Missing is true if the days have no numbers at all. Such days are read
	// again by later syncs, unless a person has to do something first.
	Missing bool `json:"missing"`
}

// maxGaps is the largest number of gaps of one report. Beyond it, neighbors
// become one.
const maxGaps = 50

// report returns the account's report of a family, which it adds if it is new.
func (a *Account) report(f fact.Family) *AccountReport {
	if r := a.find(f); r != nil {
		return r
	}
	a.Reports = append(slices.Clip(a.Reports), AccountReport{Report: f.String(), Gaps: []Gap{}})
	return &a.Reports[len(a.Reports)-1]
}

// reached returns the first day that was read or tried. ok is false before the
// first sync.
func (r *AccountReport) reached() (day clock.Date, ok bool) {
	if r.Since == nil {
		return 0, false
	}
	day = *r.Since
	for i := range r.Gaps {
		if g := &r.Gaps[i]; g.Code != conversionsChanged {
			day = min(day, g.StartDate)
		}
	}
	return day, true
}

// read records that days were read, with what their numbers lack. It replaces
// what was known about these days.
func (r *AccountReport) read(first, last clock.Date, lacks []Gap) {
	if r.Since == nil || first < *r.Since {
		r.Since = &first
	}
	if r.Through == nil || last > *r.Through {
		r.Through = &last
	}
	r.replace(first, last, lacks)
}

// unread records that days could not be read. Earlier numbers of these days may
// be there; they are not what the platform says now.
func (r *AccountReport) unread(first, last clock.Date, why *RunError) {
	r.replace(first, last, []Gap{{StartDate: first, EndDate: last, Code: why.Code, Message: why.Message, Remediation: why.Remediation, Missing: true}})
}

// replace puts gaps in the place of what is known about days.
func (r *AccountReport) replace(first, last clock.Date, gaps []Gap) {
	var kept []Gap
	for _, g := range r.Gaps {
		if g.EndDate < first || g.StartDate > last {
			kept = append(kept, g)
			continue
		}
		// The amount belongs to all days of the gap, so a part of it is unknown.
		if g.StartDate < first {
			kept = append(kept, g.between(g.StartDate, first-1))
		}
		if g.EndDate > last {
			kept = append(kept, g.between(last+1, g.EndDate))
		}
	}
	r.Gaps = joined(append(kept, gaps...))
	r.completed()
}

// completed brings the last day before the first gap in line with the gaps.
func (r *AccountReport) completed() {
	r.CompleteThrough = r.Through
	for i := range r.Gaps {
		if g := &r.Gaps[i]; g.Missing && r.CompleteThrough != nil && g.StartDate <= *r.CompleteThrough {
			day := g.StartDate - 1
			r.CompleteThrough = &day
			break
		}
	}
	if r.CompleteThrough != nil && r.Since != nil && *r.CompleteThrough < *r.Since {
		r.CompleteThrough = nil
	}
}

// between returns a part of the gap. Its amount is unknown.
func (g Gap) between(first, last clock.Date) Gap {
	g.StartDate, g.EndDate, g.Amount = first, last, nil
	return g
}

// joined sorts gaps by day and joins those that follow each other and say the
// same. Beyond maxGaps it joins neighbors whatever they say.
func joined(list []Gap) []Gap {
	slices.SortStableFunc(list, func(a, b Gap) int {
		return cmp.Or(cmp.Compare(a.StartDate, b.StartDate), cmp.Compare(a.Code, b.Code))
	})
	out := []Gap{}
	for _, g := range list {
		if n := len(out); n > 0 && out[n-1].follows(&g) {
			out[n-1].join(&g)
			continue
		}
		out = append(out, g)
	}
	for len(out) > maxGaps {
		out[0].join(&out[1])
		out = slices.Delete(out, 1, 2)
	}
	return out
}

// follows reports whether the other gap goes on where g ends.
func (g *Gap) follows(other *Gap) bool {
	return g.Code == other.Code && g.Message == other.Message && g.Missing == other.Missing && equalText(g.Metric, other.Metric) && other.StartDate <= g.EndDate+1
}

// join makes g the gap of both. An amount is known if both are.
func (g *Gap) join(other *Gap) {
	g.EndDate = max(g.EndDate, other.EndDate)
	g.Missing = g.Missing || other.Missing
	if g.Amount == nil || other.Amount == nil || g.Amount.Digits != other.Amount.Digits {
		g.Amount = nil
		return
	}
	sum := *g.Amount
	sum.N += other.Amount.N
	g.Amount = &sum
}

func equalText(a, b *string) bool { return a == b || a != nil && b != nil && *a == *b }

// gap returns what a note says about days as a gap.
func (n *Note) gap() Gap {
	g := Gap{StartDate: n.First, EndDate: n.Last, Code: string(n.Code), Message: n.Message}
	if n.Amount != nil {
		name, amount := n.Measure.String(), number(n.Measure, *n.Amount)
		g.Metric, g.Amount = &name, &amount
	}
	return g
}

// cover brings what accounts say about their reports in line with a run that is
// over.
func (c *Connection) cover(run *Run) {
	if run.StartedAt != nil && *run.StartedAt < c.Private.ReadAgainAt {
		return
	}
	c.Accounts = slices.Clone(c.Accounts)
	c.Private.Active = maps.Clone(c.Private.Active)
	if c.Private.Active == nil {
		c.Private.Active = map[string]clock.Date{}
	}
	for i := range run.Plan {
		p := &run.Plan[i]
		a := c.account(p.Account)
		if p.Entities || a == nil {
			continue
		}
		switch p.Status {
		case partDone:
			var gaps []Gap
			for j := range p.Notes {
				gaps = append(gaps, p.Notes[j].gap())
			}
			if p.Family == fact.Base {
				a.outdate(run, i)
			}
			a.report(p.Family).read(p.First, p.Last, gaps)
			if p.Active > c.Private.Active[p.Account] {
				c.Private.Active[p.Account] = p.Active
			}
		case partFailed:
			a.report(p.Family).unread(p.First, p.Last, p.Error)
		}
	}
}

// partlySynced is the reason of a connection of which days are missing.
const partlySynced = "partly_synced"

// incomplete returns the reason for days that are missing, nil if none are.
func (c *Connection) incomplete(at clock.Instant) *Reason {
	var first *Gap
	where, more := "", 0
	for _, a := range c.Accounts {
		if !a.Enabled {
			continue
		}
		for _, r := range a.Reports {
			for i := range r.Gaps {
				switch g := &r.Gaps[i]; {
				case !g.Missing:
				case first == nil:
					first, where = g, fmt.Sprintf("the report %s of account %s", r.Report, a.ExternalID)
				default:
					more++
				}
			}
		}
	}
	if first == nil {
		return nil
	}
	message := fmt.Sprintf("%s to %s of %s could not be read: %s", first.StartDate, first.EndDate, where, first.Message)
	if more > 0 {
		message += fmt.Sprintf(" %d more ranges of days are missing; the accounts list them.", more)
	}
	remedy := "The days are read again by later syncs."
	if first.Remediation != nil {
		remedy = *first.Remediation
	}
	return &Reason{Code: partlySynced, Message: message, Since: at, Remediation: &remedy}
}
