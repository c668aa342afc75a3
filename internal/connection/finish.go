package connection

import (
	"context"
	"hash/fnv"
	"slices"
	"time"

	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/ident"
	"fanfare/internal/record"
)

// end notes how a run has ended, and with it how the connection stands and when
// it is synced next, all together.
func (e *execution) end(ctx context.Context, status RunStatus, why *RunError) error {
	_, err := record.Retry(ctx, func() (record.Doc, error) {
		c, err := e.s.store.Load(ctx, e.run.WorkspaceID, e.run.ConnectionID)
		if err != nil {
			return record.Doc{}, err
		}
		if c.Sync.CurrentRunID == nil || *c.Sync.CurrentRunID != e.run.ID {
			return record.Doc{}, errLost
		}
		run := *e.run
		now := clock.At(e.s.now())
		if why == nil {
			why = run.worst()
		}
		run.finish(status, why, now)
		run.Touch(now, 1)
		ch := &Change{Cause: system(c), At: now, Connection: c, Push: status == RunSucceeded || status == RunPartial}
		if run.Totals.RecordsWritten > 0 {
			ch.FactsWritten, ch.Jobs = true, []record.Job{spendJob(c.WorkspaceID, c.WorkspaceID, now)}
		}
		ch.Runs = []RunChange{{Run: &run, Events: run.events()}}
		c.cover(&run)
		c.switchOffChanged(&run)
		c.coverSwitchedOff(now)
		c.conclude(&run, now, &ch.Events)
		e.s.reread(c, &run, ch)
		e.s.history(c, &run, ch)
		if c.Status == StatusReauthRequired {
			url := e.s.PublicURL + "/connections/" + string(c.ID)
			c.ReauthURL = &url
			if err := e.s.stop(ctx, c, ch); err != nil {
				return record.Doc{}, err
			}
		}
		c.Touch(now, len(ch.Events))
		return e.s.apply(ctx, ch)
	})
	return err
}

// worst is the error of a part that was given up.
func (r *Run) worst() *RunError {
	for i := range r.Plan {
		if r.Plan[i].Status == partFailed {
			return r.Plan[i].Error
		}
	}
	return nil
}

func (r *Run) events() []record.Event {
	list := []record.Event{{Type: "sync." + string(r.Status)}}
	if len(r.RestatedDays) > 0 {
		list = append(list, record.Event{Type: "metrics.restated"})
	}
	return list
}

// conclude brings the connection in line with a run that is over.
func (c *Connection) conclude(run *Run, now clock.Instant, events *[]record.Event) {
	c.release(run.ID)
	next := c.next(now)
	c.Sync.NextRunAt = &next
	ok := run.Status == RunSucceeded || run.Status == RunPartial
	week := now.Add(-7 * 24 * time.Hour)
	c.Private.Outcomes = slices.DeleteFunc(append(slices.Clone(c.Private.Outcomes), Outcome{now, run.Status == RunSucceeded}), func(o Outcome) bool { return o.At < week })
	c.Health.SuccessRate7d = rate(c.Private.Outcomes)
	c.Sync.LastError = run.Error
	if ok {
		c.succeed(run, now)
	}
	before := c.Status
	c.setStatusAfterRun(run, ok, now)
	if c.Status != before {
		*events = append(*events, record.Event{Type: "connection." + string(c.Status), Previous: map[string]any{"status": before}})
	}
}

// rate is the part of runs that worked, to four digits.
func rate(list []Outcome) *float64 {
	good := 0
	for _, o := range list {
		if o.OK {
			good++
		}
	}
	r := float64(good*10_000/len(list)) / 10_000
	return &r
}

// succeed notes how far figures have come.
func (c *Connection) succeed(run *Run, now clock.Instant) {
	f := &FeedResult{}
	for _, s := range run.Streams {
		if s.Name == StreamMetrics && s.CursorFrom != nil {
			f.First, f.Last, f.Rows = *s.CursorFrom, *s.CursorTo, 1
		}
	}
	c.applyFeed(f, now)
	if f.Rows == 0 {
		return
	}
	// What could not be read is a gap of its account and is read again by itself.
	if run.Window.EndDate-run.Window.StartDate >= clock.Date(c.Sync.LookbackDays) && run.Mode != ModeBackfill {
		c.Private.Whole = now
		if c.Private.Deep == 0 || c.Private.Deep.Add(7*24*time.Hour) <= now {
			c.Private.Deep = now
		}
	}
}

// setStatusAfterRun sets the status of the connection after a run.
func (c *Connection) setStatusAfterRun(run *Run, ok bool, now clock.Instant) {
	reason := func(code, message, remedy string) {
		if c.StatusReason == nil || c.StatusReason.Code != code {
			c.StatusReason = &Reason{Code: code, Message: message, Since: now, Remediation: &remedy}
		}
	}
	switch {
	case ok:
		c.Private.Failures, c.Status = 0, StatusConnected
		if at := c.CredentialsExpireAt; at != nil && at.Add(-notice) <= now {
			reason("credentials_expiring", "Access ends soon.", "Grant access anew before "+at.String()+".")
			return
		}
		next := c.listingReason(now)
		if next == nil {
			next = c.incomplete(now)
		}
		if old := c.StatusReason; next != nil && old != nil && old.Code == next.Code {
			next.Since = old.Since
		}
		c.StatusReason = next
	case run.Error != nil && run.Error.Class == "auth":
		c.Private.Failures++
		c.Status = StatusReauthRequired
		c.Sync.NextRunAt = nil
		reason(run.Error.Code, run.Error.Message, run.Error.remedyOr(grantAgain))
	case run.Status == RunFailed:
		if c.Private.Failures++; c.Private.Failures >= mostFailures {
			c.Status = StatusError
			reason(run.Error.Code, run.Error.Message, run.Error.remedyOr("Look at the last runs; syncing goes on by itself."))
		}
	}
}

// next is when a connection is synced again: after its interval, a little
// earlier or later than others. Connections of one grant are synced together, so
// that they share answers: at the times that are Phase after a multiple of the
// interval.
func (c *Connection) next(now clock.Instant) clock.Instant {
	interval := c.interval()
	if c.Private.Phase == 0 {
		return now.Add(interval - interval/20 + time.Duration(spread(string(c.ID))%100)*interval/1000)
	}
	latest := now.Add(interval + interval/20)
	return latest.Add(-(latest.Time().Sub(c.Private.Phase.Time()) % interval))
}

// spread returns a number that differs for most names.
func spread(name string) uint32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(name))
	return h.Sum32()
}

// historyDays returns for how many days a platform has metrics.
func (s *shared) historyDays(platform string) int {
	for _, about := range s.Registry.About() {
		if about.Platform == platform {
			return about.HistoryDays
		}
	}
	return 0
}

// lacksHistory reports whether an account that is read has not been read as far
// back as first, or as far back as its platform has metrics.
func (c *Connection) lacksHistory(first clock.Date, now clock.Instant, days func(platform string) int) bool {
	return slices.ContainsFunc(c.Accounts, func(a Account) bool {
		start := first
		if n := days(a.Platform); n > 0 {
			start = max(start, a.today(now)-clock.Date(n)+1)
		}
		reached, ok := a.report(fact.Base).reached()
		return a.Enabled && ok && reached > start
	})
}

// history has the rest of the past read in the background while an account
// lacks some of it, or lost days are left.
func (s *Syncer) history(c *Connection, after *Run, ch *Change) {
	today := c.today(ch.At)
	first, last := today-clock.Date(s.HistoryDays)+1, today-fullDays
	done := after.Status == RunSucceeded || after.Status == RunPartial
	c.Private.History = c.Private.History || done && after.Trigger == TriggerInitial
	switch u := c.Private.Unread; {
	case u != nil && !u.done() && done && after.Trigger != TriggerBackfill && len(c.Private.Queue) == 0:
		first, last = u.First, u.Last
	case u == nil && done && c.Private.History && len(c.Private.Queue) == 0 && c.lacksHistory(first, ch.At, s.historyDays):
	default:
		return
	}
	run := s.newRun(c, ch.Cause, Request{Mode: ModeBackfill, First: &first, Last: &last, Streams: []string{StreamMetrics}}, TriggerBackfill, ch.At)
	c.Private.Queue = append(slices.Clip(c.Private.Queue), run.ID)
	c.Sync.State = SyncQueued
	run.progress()
	ch.Runs = append(ch.Runs, RunChange{Run: run})
}

// purged notes that the caller had all facts erased, so none can be lost.
func (c *Connection) purged(ch *Change) {
	c.Private.Purged = true
	c.forgetDays()
	c.endLoss(ch)
	c.StatusReason = nil
}

// purge takes out all figures of a connection and has campaigns told.
func (s *Connector) purge(ctx context.Context, workspace, id ident.ID) error {
	s.hands.let(id)()
	// A worker of another node may be writing. Then it finds that its run was
	// stopped.
	ctx, unlock, err := s.Lock(ctx, factsLock(id))
	if err != nil {
		return err
	}
	defer unlock()
	if err := s.Begin(ctx, workspace, id); err != nil {
		return err
	}
	if err := s.Facts.Erase(ctx, workspace, id); err != nil {
		return err
	}
	return s.store.Enqueue(ctx, spendJob(workspace, id, clock.At(s.now())))
}
