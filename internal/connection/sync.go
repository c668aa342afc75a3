package connection

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"fanfare/internal/body"
	"fanfare/internal/clock"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/page"
	"fanfare/internal/record"
)

// Request is what a sync is asked for.
type Request struct {
	Mode    string
	Streams []string
	// First and Last are the days of a backfill.
	First, Last *clock.Date
}

const (
	// fullDays is how far back the first sync and a full one read.
	fullDays = 90
	// recentDays is what a run reads between those that read all days which
	// may still change.
	recentDays = 2
)

// Sync has a connection synced as the body says. Where a run for the same is not
// over yet, that one is the answer. The precondition counts only for an invalid
// body; see invalid.
func (s *Syncer) Sync(ctx context.Context, cause record.Cause, id ident.ID, match record.Match, sent *body.Value) (record.Doc, error) {
	f := body.NewReader(sent, false)
	r := readRequest(f)
	return s.change(ctx, cause, id, record.Match{}, func(c *Connection, ch *Change) error {
		if err := c.invalid(f, match); err != nil {
			return err
		}
		if err := c.ready(); err != nil {
			return err
		}
		run := s.newRun(c, cause, r, TriggerManual, ch.At)
		same, err := s.same(ctx, c, run)
		if err != nil {
			return err
		}
		ch.AnswerRun = true
		if same != nil {
			// Only the answer says so: the run is in other hands.
			same.Coalesced = true
			ch.Connection, ch.Answer = nil, same
			return nil
		}
		s.enqueue(c, run, ch)
		return nil
	})
}

// ready refuses to sync what cannot be synced.
func (c *Connection) ready() error {
	if err := c.syncs(); err != nil {
		return err
	}
	if c.Status == StatusReauthRequired {
		return fault.New(fault.ConnectionReauthRequired, "The platform does not accept the stored access any more. Grant it anew.", fault.Detail{
			Code: string(fault.ConnectionReauthRequired), Message: "Call POST /v1/connections/{id}/reconnect.",
		})
	}
	if c.Status == StatusPending {
		return fault.New(fault.InvalidState, "Nobody has granted access yet.", c.stateDetail("Not possible while pending."))
	}
	if !slices.ContainsFunc(c.Accounts, func(a Account) bool { return a.Enabled }) {
		return fault.New(fault.InvalidState, "No account of the connection is switched on.", fault.Detail{
			Code: string(fault.InvalidState), Message: "Switch an account on with PATCH /v1/connections/{id}.",
		})
	}
	return nil
}

// today is the day in the zone of the account that is furthest ahead: no
// account loses its today for another's.
func (c *Connection) today(now clock.Instant) clock.Date {
	var latest clock.Date
	for _, a := range c.Accounts {
		latest = max(latest, a.today(now))
	}
	if latest == 0 {
		latest = clock.DateIn(now.Time(), time.UTC)
	}
	return latest
}

func (a *Account) today(now clock.Instant) clock.Date {
	zone, err := clock.Zone(a.Timezone)
	if err != nil {
		zone = time.UTC
	}
	return clock.DateIn(now.Time(), zone)
}

// nightly is when, in the first account's zone, all days are read again.
const nightly = 4 * time.Hour

// whole reports whether all days that may still change are due: once a day,
// after four in the morning.
func (c *Connection) whole(now clock.Instant) bool {
	zone := time.UTC
	if len(c.Accounts) > 0 {
		if z, err := clock.Zone(c.Accounts[0].Timezone); err == nil {
			zone = z
		}
	}
	shifted := func(at clock.Instant) clock.Date { return clock.DateIn(at.Time().Add(-nightly), zone) }
	return c.Private.Whole == 0 || shifted(c.Private.Whole) < shifted(now)
}

// GetRun returns a run as it is stored.
func (s *Syncer) GetRun(ctx context.Context, workspace, id ident.ID) (record.Doc, error) {
	return s.Runs.Doc(ctx, workspace, id)
}

// ListRuns returns one page of the runs of a connection.
func (s *Syncer) ListRuns(ctx context.Context, workspace, id ident.ID, q page.Query) (page.Page, error) {
	q.Filters = append(slices.Clip(q.Filters), page.Filter{Name: "connection_id", Values: []string{string(id)}})
	return s.Runs.List(ctx, workspace, q)
}

// Cancel stops a run. What it has brought in already stays.
func (s *Syncer) Cancel(ctx context.Context, cause record.Cause, id ident.ID, match record.Match) (record.Doc, error) {
	return record.Retry(ctx, func() (record.Doc, error) {
		run, err := s.Runs.Load(ctx, cause.Workspace, id)
		if err != nil {
			return record.Doc{}, err
		}
		if err := match.Check(run.Version); err != nil {
			return record.Doc{}, err
		}
		if run.over() {
			return record.Doc{}, fault.New(fault.InvalidState, fmt.Sprintf("The sync run is %s; cancel needs %s.", run.Status, record.JoinStatuses(openRun)), fault.Detail{
				Code: string(fault.InvalidState), Message: fmt.Sprintf("Not possible while %s.", run.Status),
				Meta: fault.Meta{"current_status": run.Status, "required_status": openRun},
			})
		}
		c, err := s.store.Load(ctx, cause.Workspace, run.ConnectionID)
		if err != nil {
			return record.Doc{}, err
		}
		now := clock.At(s.now())
		ch := &Change{Cause: cause, At: now, Connection: c, Runs: []RunChange{{Run: run}}, AnswerRun: true}
		run.finish(RunCanceled, nil, now)
		run.Touch(now, 1)
		c.outdated(run)
		c.release(id)
		if run.Trigger == TriggerBackfill {
			c.Private.History = false
		}
		if c.Sync.NextRunAt == nil {
			// Who cancels the first run does not want another in its place.
			at := c.next(now)
			c.Sync.NextRunAt = &at
		}
		if c.Sync.State != SyncRunning {
			ch.scheduleWork(c, now)
		}
		c.Touch(now, 0)
		d, err := s.apply(ctx, ch)
		if err == nil {
			s.hands.let(id)
		}
		return d, err
	})
}

// Wait waits for what goes on in the background.
func (s *shared) Wait() { s.hands.wg.Wait() }

// Work does the next thing that is to be done for a connection, one run at the
// most, and returns when it wants to be called again. It may be called at any
// time and by several at once.
func (s *Syncer) Work(ctx context.Context, workspace, id ident.ID) (*clock.Instant, error) {
	ctx, done, ok := s.hands.take(ctx, id)
	if !ok {
		again := clock.At(s.now()).Add(time.Second)
		return &again, nil
	}
	defer done()
	c, err := s.store.Load(ctx, workspace, id)
	if fault.Is(err, fault.NotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	run, again, err := s.next(ctx, c)
	if run == nil || err != nil {
		return again, err
	}
	if again, err = s.run(ctx, run); again != nil || err != nil && !errors.Is(err, errLost) {
		return again, err
	}
	if ctx.Err() != nil {
		return nil, fmt.Errorf("sync %s: %w", id, context.Cause(ctx))
	}
	now := clock.At(s.now())
	return &now, nil
}

// next finds or makes the run that is to go on, or says when there may be one.
func (s *Syncer) next(ctx context.Context, c *Connection) (*Run, *clock.Instant, error) {
	now := clock.At(s.now())
	if c.Status == StatusDisconnected || c.Status == StatusReauthRequired {
		return nil, nil, nil
	}
	if c.Status == StatusPending {
		if at := c.CreatedAt.Add(pendingTime); at > now {
			return nil, &at, nil
		}
		return nil, nil, s.expire(ctx, c)
	}
	if id := c.Sync.CurrentRunID; id != nil {
		run, err := s.Runs.Load(ctx, c.WorkspaceID, *id)
		if err != nil {
			return nil, nil, err
		}
		if run.Status == RunWaiting && run.WaitingUntil != nil && *run.WaitingUntil > now {
			return nil, run.WaitingUntil, nil
		}
		return s.begin(ctx, c, run, now)
	}
	if len(c.Private.Queue) > 0 {
		run, err := s.first(ctx, c)
		if err != nil {
			return nil, nil, err
		}
		return s.begin(ctx, c, run, now)
	}
	if at := c.Sync.NextRunAt; at != nil && *at > now {
		return nil, at, nil
	}
	run := s.newRun(c, system(c), Request{Mode: ModeIncremental}, TriggerScheduled, now)
	return s.begin(ctx, c, run, now)
}

// first is the run whose turn it is: the oldest, but history waits for
// everything else.
func (s *Syncer) first(ctx context.Context, c *Connection) (*Run, error) {
	var history *Run
	for _, id := range c.Private.Queue {
		run, err := s.Runs.Load(ctx, c.WorkspaceID, id)
		if err != nil {
			return nil, err
		}
		if run.Trigger != TriggerBackfill {
			return run, nil
		}
		if history == nil {
			history = run
		}
	}
	return history, nil
}

// begin marks a run as the one that is being done.
func (s *Syncer) begin(ctx context.Context, c *Connection, run *Run, now clock.Instant) (*Run, *clock.Instant, error) {
	ch := &Change{Cause: record.Cause{Workspace: c.WorkspaceID, Actor: run.RequestedBy}, At: now, Connection: c}
	change := RunChange{Run: run}
	switch {
	case run.StartedAt == nil:
		run.StartedAt = &now
		change.Events = []record.Event{{Type: "sync.started"}}
	case run.Status == RunRunning:
		run.Attempt++
	case run.WaitingUntil != nil:
		run.Totals.ThrottledSeconds += int64(max(0, now-run.UpdatedAt)) / 1_000_000
	}
	run.Status, run.WaitingUntil = RunRunning, nil
	if run.Stored().JSON != nil {
		run.Touch(now, 1)
	}
	c.Private.Queue = slices.DeleteFunc(slices.Clone(c.Private.Queue), func(id ident.ID) bool { return id == run.ID })
	c.Sync.State, c.Sync.CurrentRunID = SyncRunning, &run.ID
	c.Touch(now, 0)
	ch.Runs = []RunChange{change}
	if _, err := s.apply(ctx, ch); err != nil {
		if errors.Is(err, record.ErrRace) {
			again := now
			return nil, &again, nil
		}
		return nil, nil, err
	}
	started, err := s.Runs.Load(ctx, c.WorkspaceID, run.ID)
	return started, nil, err
}
