package sync_test

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"fanfare/internal/adplatform/sandbox"
	"fanfare/internal/clock"
	"fanfare/internal/fact"
)

// comparedDays returns the number of days of the last comparison.
func comparedDays() clock.Date {
	if isFull() {
		return 40
	}
	return 7
}

// check compares the days of the last run, if it ran today.
func (d *agencyDrill) check(c *agencyConnection) {
	d.Helper()
	s := c.state()
	if s.Sync.Last == "" || s.Sync.Last == c.checked {
		return
	}
	r := c.readRun(s.Sync.Last)
	if !d.isOfToday(r) || r.Trigger == "backfill" || c.repaired {
		return
	}
	c.checked = s.Sync.Last
	d.counts.checks++
	// Breakdowns are read once a day.
	d.compare(c, s, max(r.Window.First, d.today()-comparedDays()), r.Window.Last, fact.Base)
}

// isOfToday reports whether a run has ended, and began today: the platform's
// numbers are others on other days.
func (d *agencyDrill) isOfToday(r syncRun) bool {
	d.Helper()
	if !r.hasEnded() || r.Status == "canceled" || r.Status == "failed" || r.Started == nil {
		return false
	}
	now := d.sandbox.Now()
	return d.dayOf(r.Started.Time()) == d.dayOf(now) && clock.DateIn(r.Started.Time(), time.UTC) == clock.DateIn(now, time.UTC)
}

// last reads all days again, first with other behaviors and then without, and
// compares every account and report. Without behaviors nothing may be missing.
func (d *agencyDrill) last() {
	d.Helper()
	d.switchBehaviors()
	d.readAll(dayWait())
	d.turnAllOff()
	d.later(25 * time.Hour)
	warned, unread := d.counts.warned, d.counts.unread
	d.readAll(maxWait)
	if d.counts.warned != warned || d.counts.unread != unread {
		d.Errorf("got %d incomplete values and %d connections that cannot be read want none without behaviors", d.counts.warned-warned, d.counts.unread-unread)
	}
}

// readAll reads the compared days of every connection and compares them. A
// connection that cannot be read says so.
func (d *agencyDrill) readAll(wait time.Duration) {
	d.Helper()
	left, tries := d.connections, 8
	if !isFull() {
		tries = 2
	}
	for try := 0; len(left) > 0; try++ {
		if try > 0 {
			d.later(6 * time.Hour)
		}
		var again []*agencyConnection
		first := d.today() - comparedDays()
		runs := d.readDays(left, first, wait)
		for _, c := range left {
			s := c.state()
			switch r := runs[c]; {
			case r != "" && d.isOfToday(c.readRun(r)):
				d.counts.checks++
				d.compare(c, s, first, d.today(), fact.Base, fact.Geo, fact.Demographic, fact.Device)
			case try < tries:
				again = append(again, c)
			case s.Reason == nil && s.Sync.Error == nil && (r == "" || d.hasEnded(c, r)):
				d.Errorf("%s: got no reason for %+v want one, because it cannot be read with %+v", c.platform, s, d.rules)
			default:
				// It has a reason or an error, or its run still waits or tries again.
				d.counts.unread++
			}
		}
		left = again
	}
}

// hasEnded reports whether a run of a connection has ended.
func (d *agencyDrill) hasEnded(c *agencyConnection, run string) bool {
	d.Helper()
	r := c.readRun(run)
	return r.hasEnded()
}

// readDays has connections read days since the first, and returns the runs.
func (d *agencyDrill) readDays(connections []*agencyConnection, first clock.Date, wait time.Duration) map[*agencyConnection]string {
	d.Helper()
	runs := map[*agencyConnection]string{}
	for _, c := range connections {
		d.repair(c)
		c.cancel(func(syncRun) bool { return true })
		var r syncRun
		body := fmt.Sprintf(`{"mode":"backfill","start_date":%q,"end_date":%q}`, first, d.today())
		if c.ask(http.MethodPost, "/v1/connections/"+c.id+"/sync", body, &r) == http.StatusAccepted {
			runs[c] = r.ID
		}
	}
	d.runDay(0, wait)
	return runs
}

// compare compares the days of all accounts of a connection with the truth, ten
// days at a time because a warning names no more.
func (d *agencyDrill) compare(c *agencyConnection, s state, first, last clock.Date, families ...fact.Family) {
	d.Helper()
	for i, a := range s.Accounts {
		known, there := d.sandbox.Account(customerOf(a.ID))
		if !there {
			d.Fatalf("account %s is none of the sandbox's", a.ID)
		}
		if !a.Enabled {
			if c.chose(i) {
				d.compareSwitchedOff(c, s, a, known)
			}
			continue
		}
		for from := first; from <= last; from += 10 {
			to := min(from+9, last)
			truth := d.sandbox.Truth(known, from, to)
			for _, family := range families {
				if days := truth.Families[family.String()]; days != nil {
					stored, incomplete := c.stored(a.ID, a.Platform, family, from, to)
					d.compareOrWarned(a, family, days, stored, incomplete)
				}
			}
		}
	}
}

// customerOf returns the platform's id of an account that is reached through a
// manager: ours has the manager too.
func customerOf(account string) string {
	customer, _, _ := strings.Cut(account, "@")
	return customer
}

// compareSwitchedOff compares the days of an account that the service has switched
// off: those after the last sync that read it, and those that could still change
// then.
func (d *agencyDrill) compareSwitchedOff(c *agencyConnection, s state, a accountState, known *sandbox.Account) {
	d.Helper()
	today := d.sandbox.Today(known) // of the account: LinkedIn's days are those of UTC
	for _, r := range a.Reports {
		family := fact.Family(slices.Index(fact.Families, r.Report))
		d.counts.off++
		first, warned := today-comparedDays(), false
		if r.Last != nil {
			first = max(first, *r.Last-clock.Date(s.Sync.Lookback)+1)
		}
		for from := first; from <= today; from += 10 {
			to := min(from+9, today)
			stored, incomplete := c.stored(a.ID, a.Platform, family, from, to)
			d.compareOrWarned(a, family, d.sandbox.Truth(known, from, to).Families[r.Report], stored, incomplete)
			warned = warned || incomplete[today]
		}
		if !warned {
			d.Errorf("%s %s %s: got no warning about today of an account that is switched off", a.Platform, a.ID, family)
		}
	}
}

// switchOffAccounts has the service switch accounts off: grants open fewer than
// before, and properties of GA4 have another time zone. Their days are compared on
// the day on which the service notices, and a day later.
func (d *agencyDrill) switchOffAccounts() {
	d.Helper()
	d.turnAllOff()
	for platform, n := range d.size {
		if n > 1 {
			d.turnOn(sandbox.BehaviorRule{Platform: platform, Switch: sandbox.BehaviorAccounts, Value: strconv.Itoa(n - 1)})
		}
	}
	d.turnOn(sandbox.BehaviorRule{Platform: sandbox.GA4, Switch: "timezone_changed"})
	before := d.counts.off
	for range 2 {
		d.later(25 * time.Hour)
		d.runDay(0, dayWait())
		for _, c := range d.connections {
			c.repaired = false
			d.check(c)
		}
	}
	if d.counts.off == before {
		d.Error("got no account that is switched off want some")
	}
}

// redefinitions are the switches with which an account counts other events as
// conversions than those of the truth.
var redefinitions = []string{"conversion_setting_changed", "result_events"}

// compareOrWarned compares days of a report. A day with other numbers must be one
// that the answer calls incomplete.
func (d *agencyDrill) compareOrWarned(a accountState, family fact.Family, truth []sandbox.TruthDay, stored map[clock.Date]fact.Values, incomplete map[clock.Date]bool) {
	d.Helper()
	var on []sandbox.BehaviorRule
	for _, r := range d.rules {
		if r.Platform == a.Platform && (r.Account == "" || r.Account == customerOf(a.ID)) {
			on = append(on, r)
		}
	}
	redefined := slices.ContainsFunc(on, func(r sandbox.BehaviorRule) bool { return slices.Contains(redefinitions, r.Switch) })
	wrong := map[fact.Measure]bool{}
	for i := range truth {
		have, date := stored[truth[i].Date], truth[i].Date
		for _, m := range comparedMeasures {
			if redefined && (m == fact.Conversions || m == fact.Revenue) {
				continue
			}
			got, _ := have.Get(m)
			var want int64
			if v := truthValue(&truth[i], m); v != nil {
				want = *v
			}
			d.counts.compared++
			switch {
			case got == want:
				d.counts.equal++
			case incomplete[date]:
				d.counts.warned++
			case !wrong[m]:
				wrong[m] = true
				d.Errorf("%s %s %s on %s: got %s %d want %d or a warning, with %+v", a.Platform, a.ID, family, date, m, got, want, on)
			}
		}
	}
}
