package connection

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"fanfare/internal/clock"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/record"
)

// DataLost is the code of the status reason of a connection whose facts were
// lost and are not all there again.
const DataLost = "data_lost"

// Unread are the days that have to be read again from a platform after its
// facts were lost. No day is left if First is after Last.
type Unread struct {
	First clock.Date `json:"first"`
	Last  clock.Date `json:"last"`
	// Stored is the first day that had facts before the loss, 0 if none had.
	Stored clock.Date `json:"stored,omitzero"`
}

func (u *Unread) done() bool { return u.First > u.Last }

// read removes days from either end. Days in the middle stay, so that the rest
// is one range.
func (u *Unread) read(first, last clock.Date) {
	switch {
	case first > last:
	case first <= u.First && last >= u.First:
		u.First = last + 1
	case first <= u.Last && last >= u.Last:
		u.Last = first - 1
	}
}

// Lost notes that all facts of a connection are gone, or are those of an older
// backup. Facts of a platform are read again from the first day that had any,
// and the runs that have written to the facts that are gone are canceled. Own
// data has to be sent again, so answers that are stored under idempotency keys
// are removed. Every loss raises the version, so that no caller who has not seen
// it can end it. Lost reports whether the connection had facts and whether they
// are read again. Repeated calls are safe; each is a loss of its own.
func (s *Recovery) Lost(ctx context.Context, cause record.Cause, id ident.ID) (lost, resyncs bool, err error) {
	_, err = s.change(ctx, cause, id, record.Match{}, func(c *Connection, ch *Change) error {
		resyncs = c.syncs() == nil && c.Status != StatusPending
		if lost = !c.Private.Purged && (resyncs || c.DataLostAt != nil || c.Sync.LastSuccessAt != nil || c.Private.HadFacts); !lost {
			return errSame
		}
		before := *c
		ch.Forget, c.Private.HadFacts = !resyncs, true
		ch.Jobs = append(ch.Jobs, spendJob(c.WorkspaceID, c.WorkspaceID, ch.At))
		if resyncs {
			c.Private.Unread = s.unread(c, ch.At)
		}
		c.DataLostAt = &ch.At
		c.forgetDays()
		s.explainLoss(c, ch.At)
		if resyncs {
			if err := s.stop(ctx, c, ch); err != nil {
				return err
			}
			if c.ready() == nil {
				s.enqueue(c, s.newRun(c, ch.Cause, Request{Mode: ModeFull}, TriggerInitial, ch.At), ch)
			}
		}
		if previous := record.Diff(&before, c); len(previous) > 0 {
			ch.Events = append(ch.Events, record.Event{Type: "connection.updated", Previous: previous})
		}
		return nil
	})
	return lost, resyncs, err
}

// forgetDays removes what the record says about stored facts.
func (c *Connection) forgetDays() {
	c.Sync.LastSuccessAt, c.Sync.DataThrough, c.Sync.BackfilledSince, c.Health.LagSeconds = nil, nil, nil, nil
	c.Private.Whole, c.Private.Deep = 0, 0
	c.Accounts = slices.Clone(c.Accounts)
	for i := range c.Accounts {
		c.Accounts[i].Reports = nil
	}
}

// unread returns the days to read again: those of a new connection, and all
// days that had facts.
func (s *Recovery) unread(c *Connection, now clock.Instant) *Unread {
	today := c.today(now)
	u := &Unread{First: today - clock.Date(max(s.HistoryDays, fullDays)) + 1, Last: today}
	earlier := func(d clock.Date) {
		if d != 0 && (u.Stored == 0 || d < u.Stored) {
			u.Stored = d
		}
	}
	if before := c.Private.Unread; before != nil && c.DataLostAt != nil {
		earlier(before.Stored)
	}
	if d := c.Sync.BackfilledSince; d != nil {
		earlier(*d)
	}
	if u.Stored != 0 {
		u.First = min(u.First, u.Stored)
	}
	return u
}

// reread notes the lost days that a run has read again. The loss ends when all
// days of all accounts are there again.
func (s *Recovery) reread(c *Connection, run *Run, ch *Change) {
	if c.DataLostAt == nil {
		return
	}
	u := c.Private.Unread
	if u == nil {
		u = s.unread(c, ch.At)
		c.Private.Unread = u
	}
	if first, ok := run.readSince(c); ok {
		u.read(first, run.Window.EndDate)
	}
	if u.done() && s.unreadable(c, ch.At) == "" {
		c.endLoss(ch)
		return
	}
	s.explainLoss(c, ch.At)
}

// endLoss marks the lost facts as restored and schedules an update of the spend
// of campaigns.
func (c *Connection) endLoss(ch *Change) {
	c.DataLostAt, c.Private.Unread = nil, nil
	ch.Jobs = append(ch.Jobs, spendJob(c.WorkspaceID, c.WorkspaceID, ch.At))
	if c.StatusReason != nil && c.StatusReason.Code == DataLost {
		c.StatusReason = c.switchedOffReason(ch.At)
	}
}

// readSince returns the first day since which a run has read every day of its
// window for all enabled accounts of the connection.
func (r *Run) readSince(c *Connection) (first clock.Date, ok bool) {
	for _, s := range r.Streams {
		ok = ok || s.Name == StreamMetrics
	}
	planned := map[string]bool{}
	first = r.Window.StartDate
	for i := range r.Plan {
		p := &r.Plan[i]
		planned[p.Account] = true
		if !p.Entities && p.Status != partDone {
			first = max(first, p.Last+1)
		}
	}
	for _, id := range c.enabled() {
		ok = ok && planned[id]
	}
	return first, ok && len(planned) > 0
}

// unreadable says which lost facts a sync cannot read again, and is empty if it
// can read all.
func (s *Recovery) unreadable(c *Connection, now clock.Instant) string {
	var off []string
	first := clock.Date(0)
	for i := range c.Accounts {
		a := &c.Accounts[i]
		if !a.Enabled {
			off = append(off, a.ExternalID)
		}
		client, ok := s.Registry.Client(a.Platform, c.Platform == PlatformSandbox)
		if !ok {
			continue
		}
		if days := client.About().HistoryDays; days > 0 {
			if oldest := a.today(now) - clock.Date(days) + 1; first == 0 || oldest < first {
				first = oldest
			}
		}
	}
	var list []string
	if len(off) > 0 {
		list = append(list, fmt.Sprintf("The accounts %s are switched off and were not read again.", strings.Join(off, ", ")))
	}
	if stored := c.Private.Unread.Stored; stored != 0 && stored < first {
		list = append(list, fmt.Sprintf("The platform no longer reports days before %s.", first))
	}
	return strings.Join(list, " ")
}

// explainLoss sets the status reason of a connection whose facts were lost. A
// connection that does not work keeps the reason for that.
func (s *Recovery) explainLoss(c *Connection, now clock.Instant) {
	if c.DataLostAt == nil || c.Status != StatusConnected && c.Status != StatusDisconnected {
		return
	}
	const accept = "set data_lost_at to null with PATCH /v1/connections/{id}"
	remedy := "Send all data that matters again, then " + accept + ". That also accepts the loss of what you do not send."
	switch u := c.Private.Unread; {
	case c.Status == StatusDisconnected:
		remedy = "The connection is disconnected, so nothing can be read or sent again. To accept the loss, " + accept + "."
	case c.syncs() != nil || u == nil:
	case !u.done():
		remedy = "None is needed: the metrics are read again from the platform."
	default:
		remedy = s.unreadable(c, now) + " To accept the loss, " + accept + "."
	}
	c.StatusReason = &Reason{Code: DataLost, Message: "Metrics of this connection were lost on the server and are incomplete.", Since: *c.DataLostAt, Remediation: &remedy}
}

// accept ends the loss because the caller says that all data that matters was
// sent again, or that the loss is accepted.
func (c *Connection) accept(ch *Change) error {
	if c.DataLostAt == nil {
		return nil
	}
	if u := c.Private.Unread; c.syncs() == nil && u != nil && !u.done() {
		const message = "The lost metrics are read again from the platform; data_lost_at becomes null when all of them are stored. If access to the platform has ended, grant it anew with POST /v1/connections/{id}/reconnect. If the platform cannot be read any more, disconnect it first."
		return fault.New(fault.InvalidState, message, fault.Detail{
			Field: "data_lost_at", In: "body", Code: string(fault.InvalidState), Message: message,
			Meta: fault.Meta{"current_status": c.Status, "required_status": []Status{StatusDisconnected}},
		})
	}
	c.endLoss(ch)
	return nil
}
