// Package ratelimit decides whether a workspace may go on, and when to come
// back. It counts; it does not know HTTP. Numbers come from the plan, never
// from here.
package ratelimit

import (
	"time"
)

// Limits are a plan's numbers; 0 is unlimited.
type Limits struct {
	PerMinute int64
	PerDay    int64
	// InFlight is how many requests may run at once on a node.
	InFlight int64
}

// Window is one policy as it stands after a decision.
type Window struct {
	Limit     int64
	Remaining int64
	// Reset is when the window ends.
	Reset time.Time
}

// Decision is the answer to one request.
type Decision struct {
	OK bool
	// Now is when it was given. No window opens after it, unless a clock was
	// set back.
	Now time.Time
	// Minute and Day are the windows; a Limit of 0 is no policy.
	Minute, Day Window
	// Wait is how long to wait when the answer is no.
	Wait time.Duration
	// Policy is what said no: minute or day.
	Policy string
	// Ticket is for the refund of an admitted request.
	Ticket Ticket
}

// Ticket names the windows that a request was counted in. Its time would not
// do: of two requests at an edge the later one may be counted first.
type Ticket struct {
	Opened time.Time
	DayOf  int64
}

// Tightest returns the policy with the smaller Remaining; with a tie, the one
// that ends later.
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

// Usage are the counters of one workspace.
type Usage struct {
	// Opened is when the minute window was opened by its first request.
	Opened time.Time
	Minute int64
	// DayOf is the UTC day that Day counts, in days since 1970.
	DayOf int64
	Day   int64
}

// Take spends one request and says how things stand. The minute window is 60
// seconds from its first counted request; the day is the UTC calendar day. A
// refused request is not counted. Where both windows are used up the one that
// ends later says no, because waiting for the other would not help.
func (u *Usage) Take(l Limits, now time.Time) Decision {
	u.roll(now)
	noDay, noMinute := l.PerDay > 0 && u.Day >= l.PerDay, l.PerMinute > 0 && u.Minute >= l.PerMinute
	switch {
	case noMinute && (!noDay || u.Opened.Add(minute).After(u.dayEnd())):
		return u.decide(l, now, "minute")
	case noDay:
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

// Refund takes an admitted request back, from each of its windows that is not
// over.
func (u *Usage) Refund(t Ticket, now time.Time) {
	u.roll(now)
	if u.Minute > 0 && t.Opened.Equal(u.Opened) {
		u.Minute--
	}
	if u.Day > 0 && t.DayOf == u.DayOf {
		u.Day--
	}
}

// Look says how things stand without counting.
func (u Usage) Look(l Limits, now time.Time) Decision {
	u.roll(now)
	return u.decide(l, now, "")
}

// apart is how far the clocks of two nodes may differ, as each may be five
// minutes off the database's.
const apart = 10 * time.Minute

// roll starts new windows where the old ones are over. A clock that steps back
// a little never reopens a window. One that steps back further was wrong
// before, and would lock the workspace out until its old time comes again:
// what was counted then is void.
func (u *Usage) roll(now time.Time) {
	if age := now.Sub(u.Opened); u.Minute > 0 && (age >= minute || age < -apart) {
		u.Minute = 0
	}
	if day := dayOf(now); day > u.DayOf || dayOf(now.Add(apart)) < u.DayOf {
		u.DayOf, u.Day = day, 0
	}
}

// overtaken is how long a request may be on its way from the clock to the
// counter.
const overtaken = time.Second

// given is the time of a decision. Of two requests the later one may be
// counted first and open the window: the other one is then as late as that,
// or it would be told to wait 61 seconds for the end of a minute.
func (u *Usage) given(now time.Time) time.Time {
	for _, opened := range [...]time.Time{u.Opened, time.Unix(u.DayOf*86400, 0)} {
		if early := opened.Sub(now); early > 0 && early < overtaken {
			now = opened
		}
	}
	return now
}

func dayOf(t time.Time) int64 { return t.Unix() / 86400 }

func (u *Usage) dayEnd() time.Time { return time.Unix((u.DayOf+1)*86400, 0) }

func (u *Usage) decide(l Limits, now time.Time, refused string) Decision {
	now = u.given(now)
	d := Decision{OK: refused == "", Now: now, Policy: refused}
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
	switch refused {
	case "minute":
		d.Wait = d.Minute.Reset.Sub(now)
	case "day":
		d.Wait = d.Day.Reset.Sub(now)
	}
	return d
}
