package connection

import "fanfare/internal/body"

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
	for i := range c.Accounts {
		c.Accounts[i].Reports = nil
	}
	if c.Status == StatusConnected && len(c.enabled()) > 0 {
		s.enqueue(c, s.newRun(c, ch.Cause, Request{Mode: ModeFull}, TriggerInitial, ch.At), ch)
	}
}
