package connection

import (
	"slices"

	"fanfare/internal/body"
	"fanfare/internal/clock"
)

// Limits of the events that count as conversions.
const (
	maxConversionEvents = 50
	maxConversionEvent  = 200
)

// readConversionEvents reads the events that count as conversions, nil if the
// body does not have them.
func readConversionEvents(f *body.Reader) *[]string {
	if f.Object.Get("conversion_events") == nil {
		return nil
	}
	events := f.Texts("conversion_events", maxConversionEvents, maxConversionEvent)
	return &events
}

// checkConversionEvents reports events for a connection that no platform reports
// to.
func (c *Connection) checkConversionEvents(f *body.Reader, u *Update) {
	if u.ConversionEvents != nil && len(*u.ConversionEvents) > 0 && c.Sync.IntervalMinutes == nil {
		f.Bad("conversion_events", "read_only", "cannot be changed: this connection takes what you send.", nil)
	}
}

// readAgain has all days of all accounts read again, because their numbers mean
// something else now. Until a day is read, queries say that it is incomplete.
func (s *Connector) readAgain(c *Connection, ch *Change) {
	c.Private.ReadAgainAt = ch.At
	c.Accounts = slices.Clone(c.Accounts)
	for i := range c.Accounts {
		a := &c.Accounts[i]
		a.Reports = slices.Clone(a.Reports)
		for j := range a.Reports {
			a.Reports[j].redefine()
		}
	}
	if c.Status == StatusConnected && len(c.enabled()) > 0 {
		s.enqueue(c, s.newRun(c, ch.Cause, Request{Mode: ModeFull}, TriggerInitial, ch.At), ch)
	}
}

// conversionsChanged is the code of days whose conversions and revenue are of
// the events that were chosen before.
const conversionsChanged = "conversions_changed"

// redefine notes that no day was read with the events that count now. The days
// that have numbers are a gap until they are read again.
func (r *AccountReport) redefine() {
	var first, last *clock.Date
	if reached, ok := r.reached(); ok {
		first, last = &reached, r.Through
	}
	for i := range r.Gaps {
		if g := &r.Gaps[i]; g.Code == conversionsChanged {
			first, last = earliest(first, g.StartDate), latest(last, g.EndDate)
		}
	}
	*r = AccountReport{Report: r.Report, Gaps: []Gap{}}
	if first != nil {
		metric := "conversions"
		r.Gaps = append(r.Gaps, Gap{
			StartDate: *first, EndDate: *last, Code: conversionsChanged, Metric: &metric,
			Message: "Conversions are of the events that were chosen before. The days are read again.",
		})
	}
}

func earliest(a *clock.Date, b clock.Date) *clock.Date {
	if a == nil || b < *a {
		return &b
	}
	return a
}

func latest(a *clock.Date, b clock.Date) *clock.Date {
	if a == nil || b > *a {
		return &b
	}
	return a
}
