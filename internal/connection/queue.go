package connection

import (
	"context"
	"slices"

	"fanfare/internal/clock"
	"fanfare/internal/ident"
	"fanfare/internal/record"
)

// newRun makes a run. Its days are those of the first account's zone; each
// account has its own today when it is read.
func (s *Queue) newRun(c *Connection, cause record.Cause, r Request, trigger string, now clock.Instant) *Run {
	run := &Run{
		ID: ident.New(ident.Sync, s.now(), s.random), ConnectionID: c.ID, Trigger: trigger, Mode: r.Mode, Status: RunQueued, RequestedBy: cause.Actor,
		Streams: []*Stream{}, RestatedDays: []clock.Date{}, Drift: []TotalDrift{}, Attempt: 1,
		Common: record.Common{WorkspaceID: c.WorkspaceID, Version: 1, CreatedBy: cause.Actor, CreatedAt: now, UpdatedAt: now},
	}
	today := c.today(now)
	switch {
	case r.First != nil:
		run.Window = Days{*r.First, min(*r.Last, today)}
	case r.Mode == ModeFull:
		run.Window = Days{today - fullDays + 1, today}
	case trigger == TriggerScheduled && !c.whole(now):
		run.Window = Days{today - recentDays + 1, today}
	default:
		run.Window = Days{today - clock.Date(c.Sync.LookbackDays), today}
	}
	for _, name := range Streams {
		if len(r.Streams) == 0 || slices.Contains(r.Streams, name) {
			run.Streams = append(run.Streams, &Stream{Name: name, Status: partPending})
		}
	}
	return run
}

// same finds a run for the same that is not over.
func (s *Queue) same(ctx context.Context, c *Connection, run *Run) (*Run, error) {
	ids := slices.Clone(c.Private.Queue)
	if c.Sync.CurrentRunID != nil {
		ids = append(ids, *c.Sync.CurrentRunID)
	}
	for _, id := range ids {
		other, err := s.Runs.Load(ctx, c.WorkspaceID, id)
		if err != nil {
			return nil, err
		}
		if !other.over() && other.covers(run) {
			return other, nil
		}
	}
	return nil, nil
}

// covers reports whether a run brings all that another would.
func (r *Run) covers(other *Run) bool {
	for _, s := range other.Streams {
		if !slices.ContainsFunc(r.Streams, func(t *Stream) bool { return t.Name == s.Name }) {
			return false
		}
	}
	return r.Window.StartDate <= other.Window.StartDate && r.Window.EndDate >= other.Window.EndDate
}

// enqueue puts a new run behind those that wait.
func (s *Queue) enqueue(c *Connection, run *Run, ch *Change) {
	run.progress()
	c.Private.Queue = append(slices.Clip(c.Private.Queue), run.ID)
	ch.Runs = append(ch.Runs, RunChange{Run: run})
	if c.Sync.State != SyncRunning {
		c.Sync.State = SyncQueued
		ch.scheduleWork(c, ch.At)
	}
}

// stop ends all runs of a connection.
func (s *Queue) stop(ctx context.Context, c *Connection, ch *Change) error {
	ids := slices.Clone(c.Private.Queue)
	if c.Sync.CurrentRunID != nil {
		ids = append(ids, *c.Sync.CurrentRunID)
	}
	for _, id := range ids {
		run, err := s.Runs.Load(ctx, c.WorkspaceID, id)
		if err != nil {
			return err
		}
		if run.over() {
			continue
		}
		run.finish(RunCanceled, nil, ch.At)
		run.Touch(ch.At, 1)
		c.outdated(run)
		ch.Runs = append(ch.Runs, RunChange{Run: run})
		s.hands.let(id)
	}
	c.Private.Queue, c.Sync.CurrentRunID, c.Sync.State = nil, nil, SyncIdle
	return nil
}

// release takes a run out of the connection's hands.
func (c *Connection) release(id ident.ID) {
	c.Private.Queue = slices.DeleteFunc(slices.Clone(c.Private.Queue), func(q ident.ID) bool { return q == id })
	if c.Sync.CurrentRunID != nil && *c.Sync.CurrentRunID == id {
		c.Sync.CurrentRunID = nil
		c.Sync.LastRunID = &id
	}
	switch {
	case c.Sync.CurrentRunID != nil:
	case len(c.Private.Queue) > 0:
		c.Sync.State = SyncQueued
	default:
		c.Sync.State = SyncIdle
	}
}
