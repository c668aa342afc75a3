// Package ratelimit decides whether a workspace may send a request, and when to
// retry. It does not depend on HTTP. The limits come from the workspace's plan.
package ratelimit

import (
	"time"
)

// Limits are the limits of a plan; 0 means unlimited.
type Limits struct {
	PerMinute int64
	PerDay    int64
	// InFlight is the maximum number of concurrent requests per node.
	InFlight int64
}

// Window is the state of one policy after a decision.
type Window struct {
	Limit     int64
	Remaining int64
	// Reset is when the window ends.
	Reset time.Time
}

// Decision is the result for one request.
type Decision struct {
	OK bool
	// Now is the time of the decision. No window opens after it, unless a clock
	// was set back.
	Now time.Time
	// Minute and Day are the windows. A Limit of 0 means no policy.
	Minute, Day Window
	// Wait is the time until the retry if the request was rejected.
	Wait time.Duration
	// Policy is the policy that rejected the request: minute or day.
	Policy string
	// Ticket is needed to refund an admitted request.
	Ticket Ticket
}

// Ticket identifies the windows in which a request was counted. Its time is not
// enough: near the end of a window, the later of two requests may be counted
// first.
type Ticket struct {
	Opened time.Time
	DayOf  int64
}

// Tightest returns the policy with the smaller Remaining. On a tie, it returns
// the one that ends later.
func (d *Decision) Tightest() Window {
	switch {
	case d.Day.Limit == 0:
		return d.Minute
	case d.Minute.Limit == 0:
		return d.Day
	case d.Day.Remaining < d.Minute.Remaining, d.Day.Remaining == d.Minute.Remaining && d.Day.Reset.After(d.Minute.Reset):
		return d.Day
	}
	return d.Minute
}

const minute = time.Minute

// Usage has the counters of one workspace.
type Usage struct {
	// Opened is the time of the first request in the minute window.
	Opened time.Time
	Minute int64
	// DayOf is the UTC day that Day counts, in days since 1970.
	DayOf int64
	Day   int64
}

// Take counts one request and returns the decision. The minute window is 60
// seconds from its first counted request; the day is the UTC calendar day. A
// rejected request is not counted. If both windows are used up, the one that
// ends later rejects, because waiting for the other would not help.
func (u *Usage) Take(l Limits, now time.Time) Decision {
	u.rollWindows(now)
	dayUsed, minuteUsed := l.PerDay > 0 && u.Day >= l.PerDay, l.PerMinute > 0 && u.Minute >= l.PerMinute
	switch {
	case minuteUsed && (!dayUsed || u.Opened.Add(minute).After(u.dayEnd())):
		return u.decide(l, now, "minute")
	case dayUsed:
		return u.decide(l, now, "day")
	}
	if u.Minute == 0 {
		u.Opened = now
	}
	u.Minute++
	u.Day++
	d := u.decide(l, now, "")
	d.Ticket = Ticket{u.Opened, u.DayOf}
	return d
}

// Refund takes an admitted request back from each of its windows that has not
// ended.
func (u *Usage) Refund(t Ticket, now time.Time) {
	u.rollWindows(now)
	if u.Minute > 0 && t.Opened.Equal(u.Opened) {
		u.Minute--
	}
	if u.Day > 0 && t.DayOf == u.DayOf {
		u.Day--
	}
}

// Peek returns the current state without counting.
func (u Usage) Peek(l Limits, now time.Time) Decision {
	u.rollWindows(now)
	return u.decide(l, now, "")
}

// maxClockSkew is the maximum clock difference of two nodes. Each may differ
// from the database by five minutes.
const maxClockSkew = 10 * time.Minute

// rollWindows starts new windows after the old ones have ended. A clock that
// steps back a little never reopens a window. A clock that steps back further
// was wrong before. Its counts are dropped, because they would lock the
// workspace out until that time.
func (u *Usage) rollWindows(now time.Time) {
	if age := now.Sub(u.Opened); u.Minute > 0 && (age >= minute || age < -maxClockSkew) {
		u.Minute = 0
	}
	if day := dayOf(now); day > u.DayOf || dayOf(now.Add(maxClockSkew)) < u.DayOf {
		u.DayOf, u.Day = day, 0
	}
}

// maxDelay is the maximum delay of a request between reading the clock and
// counting.
const maxDelay = time.Second

// decisionTime returns the time of a decision. The later of two requests may be
// counted first and open the window. The earlier one then gets the window's
// start as its time; otherwise its wait would be 61 seconds.
func (u *Usage) decisionTime(now time.Time) time.Time {
	for _, opened := range [...]time.Time{u.Opened, time.Unix(u.DayOf*86400, 0)} {
		if early := opened.Sub(now); early > 0 && early < maxDelay {
			now = opened
		}
	}
	return now
}

func dayOf(t time.Time) int64 { return t.Unix() / 86400 }

func (u *Usage) dayEnd() time.Time { return time.Unix((u.DayOf+1)*86400, 0) }

func (u *Usage) decide(l Limits, now time.Time, rejectedBy string) Decision {
	now = u.decisionTime(now)
	d := Decision{OK: rejectedBy == "", Now: now, Policy: rejectedBy}
	if l.PerMinute > 0 {
		opened := u.Opened
		if u.Minute == 0 {
			opened = now
		}
		d.Minute = Window{Limit: l.PerMinute, Remaining: max(0, l.PerMinute-u.Minute), Reset: opened.Add(minute)}
	}
	if l.PerDay > 0 {
		d.Day = Window{Limit: l.PerDay, Remaining: max(0, l.PerDay-u.Day), Reset: u.dayEnd()}
	}
	switch rejectedBy {
	case "minute":
		d.Wait = d.Minute.Reset.Sub(now)
	case "day":
		d.Wait = d.Day.Reset.Sub(now)
	}
	return d
}
