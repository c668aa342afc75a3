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
	// Minute and Day are the windows; a Limit of 0 is no policy.
	Minute, Day Window
	// Wait is how long to wait when the answer is no.
	Wait time.Duration
	// Policy is what said no: minute or day.
	Policy string
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
// refused request is not counted. The day window wins over the minute window,
// because waiting a minute would not help.
func (u *Usage) Take(l Limits, now time.Time) Decision {
	u.roll(now)
	switch {
	case l.PerDay > 0 && u.Day >= l.PerDay:
		return u.decide(l, now, "day")
	case l.PerMinute > 0 && u.Minute >= l.PerMinute:
		return u.decide(l, now, "minute")
	}
	if u.Minute == 0 {
		u.Opened = now
	}
	u.Minute++
	u.Day++
	return u.decide(l, now, "")
}

// Refund takes one request back that was taken at a moment, unless its window
// is over.
func (u *Usage) Refund(taken, now time.Time) {
	u.roll(now)
	if u.Minute > 0 && !taken.Before(u.Opened) {
		u.Minute--
	}
	if u.Day > 0 && dayOf(taken) == u.DayOf {
		u.Day--
	}
}

// Look says how things stand without counting.
func (u Usage) Look(l Limits, now time.Time) Decision {
	u.roll(now)
	return u.decide(l, now, "")
}

// roll starts new windows where the old ones are over. A clock that steps back
// never reopens a window.
func (u *Usage) roll(now time.Time) {
	if u.Minute > 0 && now.Sub(u.Opened) >= minute {
		u.Minute = 0
	}
	if day := dayOf(now); day > u.DayOf {
		u.DayOf, u.Day = day, 0
	}
}

func dayOf(t time.Time) int64 { return t.Unix() / 86400 }

func (u *Usage) decide(l Limits, now time.Time, refused string) Decision {
	d := Decision{OK: refused == "", Policy: refused}
	if l.PerMinute > 0 {
		opened := u.Opened
		if u.Minute == 0 {
			opened = now
		}
		d.Minute = Window{Limit: l.PerMinute, Remaining: max(0, l.PerMinute-u.Minute), Reset: opened.Add(minute)}
	}
	if l.PerDay > 0 {
		d.Day = Window{Limit: l.PerDay, Remaining: max(0, l.PerDay-u.Day), Reset: time.Unix((u.DayOf+1)*86400, 0)}
	}
	switch refused {
	case "minute":
		d.Wait = d.Minute.Reset.Sub(now)
	case "day":
		d.Wait = d.Day.Reset.Sub(now)
	}
	return d
}
