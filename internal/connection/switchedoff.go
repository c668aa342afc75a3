package connection

import (
	"fmt"
	"slices"
	"strings"

	"fanfare/internal/clock"
	"fanfare/internal/fact"
)

// Codes of accounts that the service has switched off: the platform no longer
// lists them, or they have another currency or time zone than before. They are
// codes of the connection's reason and of gaps.
const (
	accountNotListed = "account_not_listed"
	accountChanged   = "account_changed"
)

// What a person can do about accounts that are switched off.
const (
	unlistedRemedy = "Grant access with credentials that open all accounts; what was switched off is then switched on again. If you no longer need an account, set its enabled to false with PATCH /v1/connections/{id}: reports then do without its later days."
	changedRemedy  = "Connect the platform anew to read the account as it is now. Then set its enabled to false in this connection with PATCH /v1/connections/{id}: reports then do without its later days here."
)

// Why the service switches accounts off.
var (
	isUnlisted = &RunError{Code: accountNotListed, Message: "The platform no longer lists the account for these credentials, so it is switched off and not read.", Remediation: some(unlistedRemedy)}
	hasChanged = &RunError{Code: accountChanged, Message: "The account has another currency or time zone than before, so it is switched off and not read.", Remediation: some(changedRemedy)}
)

// AccountChanged is the error of a report whose answer says that the account has
// another currency or time zone than the numbers that are stored.
func AccountChanged() *Error {
	return &Error{Class: Refused, Code: hasChanged.Code, Message: hasChanged.Message, Remedy: *hasChanged.Remediation}
}

// switchOffChanged switches off accounts whose reports say that they have another
// currency or time zone. Only daily runs list the accounts.
func (c *Connection) switchOffChanged(run *Run) {
	for i := range run.Plan {
		p := &run.Plan[i]
		if a := c.account(p.Account); a != nil && a.Enabled && p.Status == partFailed && p.Error.Code == accountChanged {
			c.switchAccount(a, hasChanged)
		}
	}
}

// switchedOff returns why the service has switched an account off, nil if it has
// not. One that a person has deselected is not switched off by the service.
func (c *Connection) switchedOff(id string) *RunError {
	switch {
	case slices.Contains(c.Private.Changed, id):
		return hasChanged
	case slices.Contains(c.Private.Unlisted, id):
		return isUnlisted
	}
	return nil
}

// offCount is the number of accounts that the service has switched off.
func (c *Connection) offCount() int { return len(c.Private.Unlisted) + len(c.Private.Changed) }

// switchAccount switches an account off for a reason, or on without one.
func (c *Connection) switchAccount(a *Account, why *RunError) {
	a.Enabled = why == nil
	c.decided(a.ExternalID)
	switch {
	case why == nil:
	case why.Code == accountChanged:
		c.Private.Changed = append(c.Private.Changed, a.ExternalID)
	default:
		c.Private.Unlisted = append(c.Private.Unlisted, a.ExternalID)
	}
}

// decided notes that it is no longer the service that has switched an account
// off.
func (c *Connection) decided(id string) {
	c.Private.Unlisted, c.Private.Changed = without(c.Private.Unlisted, id), without(c.Private.Changed, id)
}

// switchedOffReason is the reason for accounts that the service has switched off,
// nil where there are none.
func (c *Connection) switchedOffReason(at clock.Instant) *Reason {
	switch {
	case len(c.Private.Changed) > 0:
		return &Reason{
			Code: accountChanged, Message: fmt.Sprintf("The accounts %s have another currency or time zone than before; they are switched off.", strings.Join(c.Private.Changed, ", ")),
			Since: at, Remediation: some(changedRemedy),
		}
	case len(c.Private.Unlisted) > 0:
		return &Reason{
			Code: accountNotListed, Message: fmt.Sprintf("The platform no longer lists the accounts %s for these credentials; they are switched off.", strings.Join(c.Private.Unlisted, ", ")),
			Since: at, Remediation: some(unlistedRemedy),
		}
	}
	return nil
}

// relist takes over the accounts that a run has found. What people have decided
// while it looked stays.
func (c *Connection) relist(found *Connection) {
	c.Private.Denied, c.Private.DeniedRemedies = found.Private.Denied, found.Private.DeniedRemedies
	c.Accounts = slices.Clone(c.Accounts)
	for _, a := range found.Accounts {
		known := c.account(a.ExternalID)
		if known == nil {
			c.Accounts = append(c.Accounts, a)
			continue
		}
		known.Name, known.URL = a.Name, a.URL
		if before, now := c.switchedOff(a.ExternalID), found.switchedOff(a.ExternalID); before != nil || known.Enabled && now != nil {
			c.switchAccount(known, now)
		}
	}
}

// coverSwitchedOff brings the gaps of accounts that the service has switched off
// in line with what they are now. One that is off lacks all days up to today. One
// that is on again is read by later syncs. One that a person has deselected lacks
// nothing: nobody expects its later days.
func (c *Connection) coverSwitchedOff(now clock.Instant) {
	c.Accounts = slices.Clone(c.Accounts)
	for i := range c.Accounts {
		a := &c.Accounts[i]
		a.Reports = slices.Clone(a.Reports)
		why := c.switchedOff(a.ExternalID)
		if why != nil {
			a.report(fact.Base) // it lacks days also if it was never read
		}
		for j := range a.Reports {
			r := &a.Reports[j]
			switch {
			case why != nil:
				r.unread(c.firstUnread(r, a.today(now)), a.today(now), why)
			case a.Enabled:
				r.readByItself()
			default:
				r.Gaps = slices.DeleteFunc(slices.Clone(r.Gaps), func(g Gap) bool { return g.switchedOff() })
				r.completed()
			}
		}
	}
}

// firstUnread returns the first day of a report that has no final numbers.
//
// Choice: days that could still change when they were last read count as unread,
// because their last corrections never come. So do those that were read after the
// accounts were last listed: their amounts may be in another currency already.
func (c *Connection) firstUnread(r *AccountReport, today clock.Date) clock.Date {
	if r.Through == nil {
		return today - fullDays + 1
	}
	return max(*r.Since, *r.Through-clock.Date(max(c.Sync.LookbackDays, recentDays+1))+1)
}

// readByItself has the days read again that the report lacks because its account
// was switched off.
func (r *AccountReport) readByItself() {
	r.Gaps = slices.Clone(r.Gaps)
	for i := range r.Gaps {
		if g := &r.Gaps[i]; g.switchedOff() {
			g.Message, g.Remediation = "The account was switched off for a while.", nil
		}
	}
}

// switchedOff reports whether the days are missing because the service has
// switched the account off.
func (g *Gap) switchedOff() bool { return g.Code == accountNotListed || g.Code == accountChanged }
